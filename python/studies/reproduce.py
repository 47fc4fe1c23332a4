"""Measures simulated drives as five studies measured real ones, and writes docs/explanation/reproduction.md.

`cargo xtask reproduce` builds the package and runs this. Published figures of new drives are compared with simulated ones; what
comes out for used drives is printed as a prediction. All time is the drives' own, so the page is the same on every machine.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import predictions
from lab import (
    GIB,
    MIB,
    amount,
    capacity,
    fact,
    maps_pages,
    measure,
    measured,
    number,
    plan,
    prose,
    sequential,
    table,
    workload,
    write_amplifications,
)

import likenew
from likenew import Plan, Random, Run, SimulatedDrive, Stream, Workloads, Zipf

PAGE = Path(__file__).parents[2] / "docs/explanation/reproduction.md"
HEAD = f"""\
# Five studies, reproduced on simulated drives

Made by `cargo xtask reproduce` of likenew {likenew.__version__}, which runs \
[python/studies/reproduce.py](../../python/studies/reproduce.py); do not edit it by hand. Each study is repeated on the drives of \
[the catalog](../../catalog/README.md) by the loop that `likenew` itself uses. All time is the drives' own, so the page comes out \
the same everywhere.

**Published** figures are of new drives. Of hard disks and the OCZ Core, parameters were chosen to agree with them, and the drive's \
file says so. The other flash drives follow from how they are built, and their assumed parameters state a range: \
[predictions.md](predictions.md) has each figure as an interval over all of them, and what decides it. Everything of used drives \
is a **prediction**: no parameter was chosen to agree with any of it.
"""


Results = tuple[Sequence[float | None], str]
"""For each published figure the simulated one, if there is one, and the predictions in Markdown."""


@dataclass(frozen=True)
class Study:
    """A published study: its figures of new drives, and the experiment that repeats it."""

    title: str
    source: str
    """Where its figures are from, and how they were measured."""
    published: Sequence[tuple[str, str, str, float]]
    """Drive, what was measured, the figure as printed, and as a number to divide by."""
    experiment: Callable[[bool], Results]
    """Takes whether to be quick."""
    note: str = ""
    """What the figures leave to say."""

    def page(self, quick: bool) -> str:
        """The study's part of the page."""
        simulated, predicted = self.experiment(quick)
        rows = [
            (drive, what, printed, number(value) if value is not None else "none", f"{value / figure:.2f}" if value else "–")
            for (drive, what, printed, figure), value in zip(self.published, simulated, strict=True)
        ]
        compared = pl.DataFrame(rows, ["drive", "what", "published (new)", "simulated", "ratio"], orient="row")
        note = f"{prose(self.note)}\n\n" if self.note else ""
        return (
            f"\n## Study {STUDIES.index(self) + 1}: {self.title}\n\n{self.source}\n\n{table(compared)}\n{note}"
            f"### Predictions\n\n{predicted.rstrip()}\n"
        )


# Study 1: months of small files on a drive without TRIM, and what restores it.

X25_M = "Intel X25-M 80 GB"
OLD_FILES = 34 / 74
"""Of 74 GB, 40 were free."""
FILES_PER_WEEK = 30_000 * 24 * 7
"""Tens of thousands of files, dozens of times a day."""
FILE_SIZES = "4KiB:50,8KiB:20,16KiB:15,32KiB:10,64KiB:5"
"""Half of all files are no larger than 4 KiB (Agrawal, Bolosky, Douceur and Lorch, FAST 2007); the rest is assumed."""
PARTS = 100
"""In which a file of the whole capacity is measured."""


def whole_mib(size: int) -> int:
    return size // MIB * MIB


@dataclass(frozen=True)
class Reconditioning:
    """The plans of study 1 for one drive."""

    new: SimulatedDrive
    quick: bool

    @property
    def end(self) -> int:
        """Of the volume."""
        return whole_mib(capacity(self.new))

    @property
    def free(self) -> int:
        """Where the part without files begins."""
        return whole_mib(self.end // 74 * 34)

    @property
    def holding_files(self) -> SimulatedDrive:
        return self.new.replace(fill=OLD_FILES)

    def files(self, drive: SimulatedDrive, start: int) -> Plan:
        """1000 files, from an address to the end of the volume."""
        count = 40 if self.quick else 1000
        each = whole_mib((self.end - start) // count)
        return plan("fill", drive, files=count, file_size=str(each), **{"from": str(start)}, block="1MiB", depth=1)

    def one_file(self, drive: SimulatedDrive, passes: int = 1) -> Plan:
        """One file of the whole capacity."""
        size = PARTS * whole_mib(self.end // PARTS)
        return plan("fill", drive, files=1, parts=PARTS, file_size=str(size), block="1MiB", depth=1, passes=str(passes))

    def use(self) -> Workloads:
        """Small files in the holes of the free space beside the file system's own data; measured after 1, 2 and 4 weeks."""
        weeks, files = ([1, 1], 10_000) if self.quick else ([1, 1, 2], FILES_PER_WEEK)
        streams = [
            Stream("write", FILE_SIZES, Random(f"{self.free}..{self.end}")),
            Stream("write", "4KiB", Zipf(1, f"0..{self.end // 1000 // 4096 * 4096}")),
        ]
        return Workloads(self.holding_files, [workload(streams, ops=2 * files * count) for count in weeks])

    def overwrite_free(self) -> Plan:
        """The fix that keeps every file."""
        check = {"bytes": str(min(self.end - self.free, 2 * GIB))}
        return plan("recondition", self.holding_files, step="overwrite", free=f"{self.free}..{self.end}", check=check)


@dataclass(frozen=True)
class FileList:
    """Files, or parts of one, that were written one after the other."""

    name: str
    run: Run
    write_amplification: float

    @property
    def files(self) -> likenew.Table:
        return self.run.tables["parts" if "parts" in self.run.plan.options else "files"]

    @property
    def speeds(self) -> list[float]:
        return [speed / 1e6 for speed in self.files["bytes_per_s"]]

    @property
    def mb_per_s(self) -> float:
        """Speed of the whole."""
        options = self.run.plan.options
        return float(int(options["file_size"]) * options["files"] / sum(self.files["elapsed_ns"]) * 1e3)

    def row(self, limit: float) -> dict[str, Any]:
        """A row of the table; a file below the limit is slow."""
        slow = [speed for speed in self.speeds if speed < limit]
        others = [speed for speed in self.speeds if speed >= limit]
        return {
            "what was written": self.name,
            "mean, MB/s": self.mb_per_s,
            "5%, 50%, 95% of the files, MB/s": ", ".join(number(quantile(self.speeds, share)) for share in (0.05, 0.5, 0.95)),
            "slow files": f"{len(slow) / len(self.speeds):.1%}",
            "slow, MB/s": quantile(slow, 0.5),
            "others, MB/s": quantile(others, 0.5),
            "write amplification": self.write_amplification,
            "stalls": sum(self.files["stalls"]),
            "max, ms": max(self.files["latency_ns_max"]) / 1e6,
        }

    def tenths(self) -> dict[str, Any]:
        """The median of each tenth of the list."""
        speeds = self.speeds
        width = -(-len(speeds) // 10)
        medians = [quantile(speeds[start : start + width], 0.5) for start in range(0, len(speeds), width)]
        return {"MB/s in each tenth of the list": self.name, **{str(tenth): value for tenth, value in enumerate(medians, 1)}}

    def answers(self) -> str:
        said = " ".join(f"{answer.question}: {answer.answer}." for answer in self.run.answers)
        return f"- *{self.name}*: {said}\n"


def quantile(values: Sequence[float], share: float) -> float | None:
    """One of the values: the quantile by nearest rank."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1] if values else None


def reconditioning(quick: bool) -> Results:
    study = Reconditioning(SimulatedDrive("tiny-flash" if quick else "intel-x25-m-80gb", state="new", trim="off"), quick)
    used, whole = study.holding_files, study.files(study.new, 0)
    read = Workloads(study.new, [sequential("read", 0, study.end // 16, 8 * MIB)])
    filled, read_run = likenew.run_in_turn([whole, read])
    alone = likenew.run(study.one_file(study.new))
    minutes = sum(alone.tables["parts"]["elapsed_ns"]) / 60e9
    fixes = [study.files(used, study.free), study.files(used, 0), study.one_file(used), study.one_file(used)]
    use, *fixed = likenew.run_in_turn([study.use(), *fixes])
    names = [
        "as new: 1000 files",
        "after the use: free space, 1000 files",
        "file system erased: 1000 files",
        "erased again: one file, in 100 parts",
        "one file again, in 100 parts",
    ]
    amplifications = [*write_amplifications([filled]), *write_amplifications([use, *fixed])[1:]]
    lists = [FileList(*part) for part in zip(names, [filled, *fixed], amplifications, strict=True)]
    limit = lists[0].mb_per_s / 2
    simulated = [lists[0].mb_per_s, measured(read_run)["mb_per_s"][0], minutes]
    weeks = measured(use).select(
        pl.Series("weeks of small files", [1, 2, 4][: 2 if quick else 3]),
        (pl.col("bytes") / 1e9).alias("written since the row above, GB"),
        pl.col("write_amplification").alias("write amplification"),
        pl.col("mb_per_s").alias("MB/s"),
        pl.col("max_ms").alias("max, ms"),
    )
    text = f"""The use that ages it:

{table(weeks)}
The fixes in the study's order, each on the drive as the one before left it. Slow files are those below half of the as-new speed, \
{number(limit)} MB/s.

{table(pl.DataFrame([part.row(limit) for part in lists]))}
The same lists from their first file to their last:

{table(pl.DataFrame([part.tenths() for part in lists]))}
What `likenew fill` says of them:

{"".join(part.answers() for part in lists)}
{passes_of_one_file(study)}
{free_space_alone(study)}
"""
    construction = f"""What this follows from: {fact(use, "over-provisioning")} over-provisioning, erase blocks of
        {fact(use, "erase block")} whose pages were written at different times and so go stale at different times, greedy
        collection within each die, and no TRIM. Writing everything sequentially makes whole blocks stale together, so that
        collecting them moves nothing. Assumed of the use: the 34 GB of old files lie in order before the free space; small files
        go to random places of the free space, as the holes that others have left come up; beside each file a 4 KiB page of the
        file system's own data is rewritten, by Zipf's law (θ = 1) within a thousandth of the volume. Deleting tells the drive
        nothing."""
    return simulated, text + prose(construction)


def passes_of_one_file(study: Reconditioning) -> str:
    """Passes of one large file right after the use."""
    _, run = likenew.run_in_turn([study.use(), study.one_file(study.holding_files, passes=4)])
    passes = pl.DataFrame(run.tables["passes"]).select(
        pl.col("pass"),
        (pl.col("bytes_per_s") / 1e6).alias("MB/s"),
        (pl.col("elapsed_ns") / 60e9).alias("minutes"),
        (pl.col("slowest_bytes_per_s") / 1e6).alias("slowest of 100 parts, MB/s"),
        pl.col("stalls"),
        (pl.col("latency_ns_max") / 1e6).alias("max, ms"),
    )
    speeds = passes["MB/s"]
    return f"""Straight from the use to passes of one file of the whole capacity:

{table(passes)}
Pass 2 reaches {speeds[1] / speeds[3]:.1%} of pass 4. `likenew fill` says: {run.summary}
"""


def free_space_alone(study: Reconditioning) -> str:
    """Passes over the free space right after the use, and on a new drive with the same files."""
    _, used = likenew.run_in_turn([study.use(), study.overwrite_free()])
    new = likenew.run(study.overwrite_free())
    used_speeds, new_speeds = (pl.DataFrame(run.tables["passes"])["bytes_per_s"] / 1e6 for run in (used, new))
    columns = [used_speeds.to_frame("after the use, MB/s"), new_speeds.to_frame("new, MB/s")]
    rows = pl.concat(columns, how="horizontal_extend").with_row_index("pass over the free space", 1)
    return f"""\
The fix that keeps every file: `likenew recondition --step overwrite` straight after the use, passes over the free space alone \
until another one would change less than 1%. Beside it the same on a new drive that holds the same old files:

{table(rows)}
It ends at {used_speeds[-1] / new_speeds[-1]:.1%} of what the new drive reaches in the same way, and at \
{used_speeds[-1] / new_speeds[0]:.1%} of that one's first pass, which finds erased blocks: only TRIM or an erase brings those back.
"""


# Study 2: a drive that compresses, over fifteen drive fills.

INTEL_520 = "Intel 520 120 GB"
SEQUENTIAL = "SEQ1M Q1T1"
STANDINGS = {"good": " (OK)", "problem": " (problem)", "unknown": " (unknown)", "info": ""}


@dataclass(frozen=True)
class LoopSet:
    """One set of study 2: a run of `likenew endure`."""

    name: str
    run: Run

    def rows(self, name: str) -> pl.DataFrame:
        """A table of the run, with the test and its operation in one column, too."""
        return pl.DataFrame(self.run.tables[name]).with_columns(name=pl.format("{} {}", "test", "op"))

    def fresh_mb_per_s(self, op: str) -> float:
        """Sequential speed in the first loop."""
        first = self.rows("loops").filter(loop=1, name=f"{SEQUENTIAL} {op}")
        return float(first["bytes_per_s"][0] / 1e6)

    def cliff_gb(self, test: str | None = None) -> float | None:
        """What was written until the first knee of the writes of a test, or of any."""
        knees = self.run.tables["knees"].to_rows()
        cliffs = [knee["at_bytes"] for knee in knees if knee["op"] == "write" and test in (None, knee["test"])]
        return min(cliffs) / 1e9 if cliffs else None

    def page(self) -> str:
        answers = "".join(f"- {a.question}: {a.answer}{STANDINGS[a.standing]}\n" for a in self.run.answers)
        return f"{self.name}:\n\n{answers}\n{self.fills()}\n{self.levels()}\n{self.knees()}\n"

    def fills(self) -> str:
        """Each fill in a row, each test in a column."""
        rows = self.rows("fills").with_columns(pl.col("bytes_per_s") / 1e6)
        speeds = rows.pivot("name", index="fill", values="bytes_per_s").rename({"fill": "fill, MB/s"})
        amplification = rows.group_by("fill", maintain_order=True).first()["write_amplification"]
        return table(speeds.with_columns(amplification.alias("write amplification")))

    def levels(self) -> str:
        return table(
            self.rows("levels").select(
                pl.col("name").alias("test"),
                (pl.col("peak_bytes_per_s") / 1e6).alias("best, MB/s"),
                (pl.col("steady_bytes_per_s") / 1e6).alias("steady, MB/s"),
                pl.col("share_of_peak_percent").map_elements("{:.0f}%".format, pl.String).alias("of the best"),
                pl.col("steady_from_bytes").map_elements(amount, pl.String).alias("steady from"),
                (pl.col("last_bytes_per_s") / 1e6).alias("at the end, MB/s"),
            )
        )

    def knees(self) -> str:
        if len(self.run.tables["knees"]) == 0:
            return "No test has a write cliff.\n"
        return table(
            self.rows("knees").select(
                pl.col("name").alias("knee"),
                pl.col("at_bytes").map_elements(amount, pl.String).alias("written until then"),
                (pl.col("before_bytes_per_s") / 1e6).alias("before, MB/s"),
                (pl.col("after_bytes_per_s") / 1e6).alias("after, MB/s"),
            )
        )


def compression(quick: bool) -> Results:
    def loop(name: str, data: str, trim: bool) -> LoopSet:
        size = {"file_size": "8MiB", "span": "256MiB"} if quick else {"file_size": "1000MiB"}
        drive = SimulatedDrive("intel-520-120gb", state="new", trim=trim)
        return LoopSet(name, likenew.run(plan("endure", drive, data=data, trim=trim, **size)))

    compressible = loop("compressible, TRIM on", "zero", True)
    with_trim = loop("incompressible, TRIM on", "random", True)
    without_trim = loop("incompressible, TRIM off", "random", False)
    steady = with_trim.rows("levels").filter(name=f"{SEQUENTIAL} write")["steady_bytes_per_s"][0]
    simulated = [
        compressible.fresh_mb_per_s("read"),
        compressible.fresh_mb_per_s("write"),
        with_trim.fresh_mb_per_s("write"),
        None if steady is None else steady / 1e6,
        without_trim.cliff_gb(),
        without_trim.cliff_gb(SEQUENTIAL),
    ]
    method = """This is `likenew endure` with its usual settings. A loop makes a file of 1000 MiB ("file"), runs the tests on it and
        deletes it; the file of the next loop takes the addresses after it, round the whole drive, as an allocator does that prefers
        what was free for longest. Each loop moves on by one file and writes nine, so the addresses come round after 8.8 fills. With
        TRIM the deletion reaches the drive. What compresses takes less flash than it has bytes and leaves the rest as spare; what
        does not takes all of it."""
    return simulated, "".join(part.page() for part in (compressible, with_trim, without_trim)) + prose(method)


# Study 3: random writes of new drives, and of the same drives once every address has been written.

ANANDTECH = {
    "Intel X25-E": "intel-x25-e-32gb",
    "Intel X25-M": "intel-x25-m-80gb",
    "JMicron JMF602B MLC": "jmicron-jmf602b",
    "JMicron JMF602Bx2 MLC": "jmicron-jmf602bx2",
    "OCZ Summit": "ocz-summit",
    "OCZ Vertex": "ocz-vertex",
    "Samsung SLC": "samsung-slc",
    "Seagate Momentus 5400.6": "seagate-momentus-5400.6",
    "WD Caviar SE16": "wd-caviar-se16",
    "WD VelociRaptor": "wd-velociraptor",
}
RATE, IOPS, LATENCY = (f"random 4 KiB writes, {unit}" for unit in ("MB/s", "IOPS", "mean latency, ms"))


def age(drive: SimulatedDrive, quick: bool, recipe: str, size: int | None = None) -> Run:
    """The study on a new drive, as `likenew age` has it."""
    options = {"random_span": "64MiB", "time": "2s", "span": "256MiB"} if quick else {"random_span": "8GiB", "time": "180s"}
    if size is not None:
        options["bytes"] = str(size)
    return likenew.run(plan("age", drive, recipe=recipe, **options))


def overwritten_bytes(drive: SimulatedDrive) -> int:
    """What is overwritten at random: half of a page-mapped drive, many times its spare flash. Maps of whole blocks are in a steady
    state once their log blocks are full, and disks at once."""
    return capacity(drive) // 2 // 4096 * 4096 if maps_pages(drive) else GIB


def construction(run: Run) -> str:
    """What decides how a drive falls, from its description."""
    spare, page, block = (fact(run, name) for name in ("over-provisioning", "mapping unit", "erase block"))
    if not spare:
        return "no translation layer: nothing in a disk falls"
    return f"{spare} over-provisioning" + (f", pages of {page}" if page else "") + (f", blocks of {block}" if block else "")


AGE_HEAD = [
    "drive",
    *("random writes new, MB/s", "used", "drop"),
    *("mean latency new, ms", "used", "rise", "max used, ms"),
    *("score new", "used", "drop"),
]


def new_and_used_row(drive: str, run: Run) -> list[str]:
    """New, used and drop of the three values that the study prints."""
    rows = {row["test"]: row for row in run.tables["new_vs_used"].to_rows()}

    def drop(row: dict[str, Any]) -> str:
        low, high = row.get("drop_percent_low"), row.get("drop_percent_high")
        interval = "" if low is None or high is None else f" ({round(low)} to {round(high)})"
        return f"{round(row['drop_percent'])}%{interval}"

    speed, mean, longest = (rows[f"random write{name}"] for name in ("s", " latency, mean", " latency, max"))
    score = rows["application score"]
    return [
        drive,
        *(number(speed["new"] / 1e6), number(speed["used"] / 1e6), drop(speed)),
        *(number(mean["new"] / 1e6), number(mean["used"] / 1e6), drop(mean), number(longest["used"] / 1e6)),
        *(number(score["new"]), number(score["used"]), drop(score)),
    ]


def new_and_used(quick: bool) -> Results:
    drives = {name: SimulatedDrive(drive, state="new") for name, drive in ANANDTECH.items()}
    span, time = (256 * MIB, 1) if quick else (8 * GIB, 180)
    writes = workload([Stream("write", "4KiB", Random(f"0..{span}"), depth=3)], elapsed=time)
    new = {name: likenew.run(Workloads(drive, [writes])) for name, drive in drives.items()}
    values = {name: measured(run).row(0, named=True) for name, run in new.items()}
    column = {RATE: "mb_per_s", IOPS: "iops", LATENCY: "mean_ms"}
    simulated = [values[drive][column[what]] for drive, what, *_ in ANANDTECH_FIGURES]

    filled = {name: age(drive, quick, "fill") for name, drive in drives.items()}
    size = {name: span if quick else overwritten_bytes(drive) for name, drive in drives.items()}
    overwritten = {name: age(drive, quick, "overwrite", size[name]) for name, drive in drives.items()}

    def rows(runs: dict[str, Run]) -> str:
        cells = [new_and_used_row(name, run) for name, run in runs.items()]
        return table(pl.DataFrame(cells, orient="row"), AGE_HEAD)

    built = pl.DataFrame({"drive": list(new), "construction": [construction(run) for run in new.values()]})
    footnote = """The numbers in brackets are 95% intervals in percent, from five equal parts of the three minutes: where a drive falls
        while it is measured they are wide. A drop below zero is a gain; a latency that doubles has risen by 100%. Filled is the
        study's recipe: every address was written once, sequentially. The spare flash is still erased then, less what measuring the
        new drive took of it, so a page-mapped drive falls only once that is used up. Overwritten has no erased spare left, and every
        write waits for the collection of an erase block that still holds valid pages. How many those are follows from the
        over-provisioning; how much flash a small write takes, from the page of the map; how long it takes, from the time to read,
        program and erase. The study's drive lies between the two, as its recipe also put a partition image back. The score is that
        of `likenew apps`: ten mixes of I/O with the published counts and bytes of PCMark 8's traces, all else of them assumed. It is
        no score of PCMark, and only its drop can be held against the study's."""
    text = f"""\
**Filled**: erased, measured, every address written once sequentially, measured again (`likenew age`).

{rows(filled)}
**Overwritten**: the same, but after the fill half of the capacity is overwritten at random, 4 KiB at a time \
(`likenew age --recipe overwrite`; 1 GiB of drives without a map of pages).

{rows(overwritten)}
What that follows from:

{table(built)}
"""
    return simulated, text + prose(footnote)


# Study 4: the sequential speed of a notebook's disk.


def to_ssd_or_not(quick: bool) -> Results:
    drive = SimulatedDrive("wd-scorpio-black-500gb", state="new")
    size = 16 * MIB if quick else 2 * GIB
    places = {"start": 0, "middle": 500, "end": 900}
    starts = [whole_mib(capacity(drive) // 1000 * per_mille) for per_mille in places.values()]
    tests = [sequential(op, start, start + size) for start in starts for op in ("write", "read", "write")]
    speeds = measure(drive, *tests)["mb_per_s"].to_list()
    columns = {"write, MB/s": speeds[0::3], "read, MB/s": speeds[1::3], "write again, MB/s": speeds[2::3]}
    rows = pl.DataFrame({"the file lies at the disk's": list(places), **columns})
    text = """Nobody knows where on the disk the file lay; the ratios above are for the first addresses, by which the disk's outer rate
        was chosen. How far the speed falls inwards follows from the zones alone: the outer tracks hold more in a turn. Nothing in a
        disk falls with use, so the second write is as fast as the first; what the study's second run lost, the file system and other
        programs took."""
    return [speeds[0], speeds[2]], f"{table(rows)}\n{prose(text)}"


# Study 5: throughput by request size, compared with access time and average transfer rate.

CORE, DISK = "OCZ Core 64 GB", "WD6400AAKS"


def curve(name: str, op: str, quick: bool) -> pl.DataFrame:
    """The speed at each request size, smallest first, on a drive full of data."""
    drive = SimulatedDrive(name, state="new", fill=0.1 if quick else 1)
    shifts = range(9, 21, 4) if quick else range(9, 30)
    least, most = (8, 50) if quick else (32, 1000)
    everywhere = Random(f"0..{capacity(drive)}")
    tests = [workload([Stream(op, 1 << shift, everywhere)], ops=min(max(4 * GIB >> shift, least), most)) for shift in shifts]
    speeds = measure(drive, *tests)["mb_per_s"] * 1e6
    return pl.DataFrame({"request": [1 << shift for shift in shifts], "bytes_per_s": speeds})


def beside_model(sizes: pl.DataFrame) -> str:
    """The curve beside what access time and average rate predict."""
    rate = sizes["bytes_per_s"][-1]
    access = max(sizes["request"][0] / sizes["bytes_per_s"][0] - sizes["request"][0] / rate, 0)
    model = pl.col("request") / (access + pl.col("request") / rate)
    ratio = pl.col("bytes_per_s") / model
    rows = sizes.select(
        pl.col("request").map_elements(amount, pl.String),
        (pl.col("bytes_per_s") / MIB).alias("simulated, MiB/s"),
        (model / MIB).alias("model, MiB/s"),
        ratio.map_elements("{:.2f}".format, pl.String).alias("simulated / model"),
    )
    return f"{table(rows)}\nAccess time {number(access * 1e3)} ms, STR {number(rate / MIB)} MiB/s.\n"


def request_sizes(quick: bool) -> Results:
    simulated, text = [], ""
    for drive, name in {CORE: "ocz-core-64gb", DISK: "wd6400aaks"}.items():
        for op in ("read", "write"):
            sizes = curve(name, op, quick)
            simulated += [sizes["bytes_per_s"][-1] / MIB, sizes["bytes_per_s"][0] / 512]
            text += f"{drive}, {op}:\n\n{beside_model(sizes)}\n"
    explanation = """The model has two numbers, both from the ends of the simulated curve: the average rate STR is the speed of the
        largest request, the access time that of a 512 B request less 512/STR. Where the curve lies below size / (access + size/STR),
        something costs more than one access: part of a page or block that has to be read and written again at both ends of a
        request, or the turns that a disk waits for. Where it lies above, a cache answers."""
    return simulated, text + prose(explanation)


ANANDTECH_FIGURES = [
    ("Intel X25-E", RATE, "31.7", 31.7),
    ("Intel X25-M", RATE, "39.3", 39.3),
    ("JMicron JMF602B MLC", RATE, "0.02", 0.02),
    ("JMicron JMF602Bx2 MLC", RATE, "0.03", 0.03),
    ("OCZ Summit", RATE, "12.8", 12.8),
    ("OCZ Vertex", RATE, "8.2", 8.2),
    ("Samsung SLC", RATE, "2.61", 2.61),
    ("Seagate Momentus 5400.6", RATE, "0.81", 0.81),
    ("WD Caviar SE16", RATE, "1.26", 1.26),
    ("WD VelociRaptor", RATE, "1.63", 1.63),
    ("JMicron JMF602B MLC", IOPS, "5.61", 5.61),
    ("JMicron JMF602B MLC", LATENCY, "532.2", 532.2),
    ("Intel X25-M", LATENCY, "below 0.3", 0.3),
    ("OCZ Vertex", LATENCY, "1.43", 1.43),
]

STUDIES = [
    Study(
        "Reconditioning a solid state drive (DiskTester, 2009–2010)",
        '"Reconditioning a solid state drive" (2009–2010). DiskTester on a Mac Pro, an Intel X25-M 80 GB as new.',
        [
            (X25_M, "sequential write, MB/s", "76–77", 76.5),
            (X25_M, "sequential read, MB/s", "251", 251),
            (X25_M, "one file of the whole capacity, minutes", "about 16", 16),
        ],
        reconditioning,
        """Missed: after the use the study's list is bimodal, some files at full speed and others ten to twenty times slower, in runs.
        Simulated, the files rise evenly. It takes blocks that go stale in groups, or collection that goes on for whole runs of files;
        how this firmware chooses what it collects is not published, so that no parameter was set for it. The fall itself is decided by
        `firmware.writes_per_unit` ([predictions.md](predictions.md)).""",
    ),
    Study(
        "Advertised performance against actual (Puget Systems)",
        'Puget Systems, "SSD advertised performance against actual". CrystalDiskMark in a loop, 9.2 GB written each time, to 1.8 TB; '
        "a secure erase between sets.",
        [
            (INTEL_520, "sequential read, compressible, MB/s", "515", 515),
            (INTEL_520, "sequential write, compressible, MB/s", "500", 500),
            (INTEL_520, "sequential write, incompressible, MB/s", "193", 193),
            (INTEL_520, "the same in the long run, TRIM on, MB/s", "about 160", 160),
            (INTEL_520, "first write cliff, incompressible, TRIM off, GB written", "about 40", 40),
            (INTEL_520, "write cliff of sequential writes after that, GB written", "about 380", 380),
        ],
        compression,
        """The write cliffs are missed. A secure erase leaves all 137 GB of this drive's flash erased, a loop moves on by one file of
        1.05 GB for nine that it writes, and greedy collection finds blocks that hold nothing valid. So nothing is copied until the
        files have gone round much of the drive, which makes the first cliff, and writes are slowest once they have gone round all of
        it: the spare and the free space are used up in this order, as the study has it, but later. What would decide it is when
        collection begins and which blocks it takes, or how much of the flash a secure erase really erases. Nobody publishes either for
        this controller, so that no parameter was set for it. With TRIM on, no deleted file is ever copied and nothing falls; the study
        measured 2 to 4% between TRIM on and off.""",
    ),
    Study(
        "New against used (AnandTech, 2009)",
        'AnandTech 2738, "The SSD Anthology". Iometer: 4 KiB random writes over 8 GB, 3 in flight, 3 minutes, after a secure erase.',
        ANANDTECH_FIGURES,
        new_and_used,
        """MB are counted as 10⁶ bytes. With 3 I/Os in flight, rate and mean latency have to obey Little's law: the printed pairs (39.3
        and below 0.3 ms; 8.2 and 1.43 ms) do so if the printed MB are 2²⁰ bytes, so 1.05 is what exact agreement looks like for them.
        No parameter of a flash drive was chosen to agree with these figures: what is far from 1 is what an assumed value is worth.
        Missed by factors of 2 to 4 with the values of the catalog are the Intel X25-E, the OCZ Summit and the OCZ Vertex;
        `firmware.write_command_ns` decides each of them, and the intervals in [predictions.md](predictions.md) hold the published
        figures. 0.02 and 0.03 are printed with one digit: 0.015 to 0.025 and 0.025 to 0.035, or 5.61 IOPS of the first, which stands
        below with more digits.""",
    ),
    Study(
        "To SSD or not to SSD (2012)",
        '"To SSD or not to SSD" (2012). dd on a WD Scorpio Black 500 GB: 2048 blocks of 1 MiB, written twice.',
        [
            ("WD Scorpio Black 500 GB", "first sequential write, MB/s", "71.9", 71.9),
            ("WD Scorpio Black 500 GB", "second sequential write, MB/s", "64.7", 64.7),
        ],
        to_ssd_or_not,
    ),
    Study(
        "How I figured out my OCZ Core 64 GB SSD (2008)",
        '"How I figured out my OCZ Core 64 GB SSD" (2008). Iometer: random requests of 512 B to 512 MiB, one in flight.',
        [
            (CORE, "reads of 512 MiB, MiB/s", "125", 125),
            (CORE, "reads of 512 B, IOPS", "2220", 2220),
            (CORE, "writes of 512 MiB, MiB/s", "72.768", 72.768),
            (CORE, "writes of 512 B, IOPS", "4.07", 4.07),
            (DISK, "reads of 512 MiB, MiB/s", "85", 85),
            (DISK, "reads of 512 B, IOPS", "77.77", 77.77),
            (DISK, "writes of 512 MiB, MiB/s", "85", 85),
            (DISK, "writes of 512 B, IOPS", "143 (cached)", 143),
        ],
        request_sizes,
    ),
]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="cargo xtask reproduce", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--study", type=int, choices=range(1, 6), help="only this study, printed instead of written")
    parser.add_argument("--quick", action="store_true", help="small spans and drives, printed: shows that everything works")
    parser.add_argument("--predictions", action="store_true", help="only docs/explanation/predictions.md")
    parser.add_argument("--drive", default="", help="with --predictions: drives whose name contains this, printed")
    parser.add_argument("--draws", type=int, help="draws of each drive for the predictions")
    options = parser.parse_args()
    if options.quick:
        print("A quick run, with tiny-flash in place of drives that take long to age: these are no results.")
    if options.study is None:
        predictions.write(options.quick, options.drive, options.draws)
    if options.predictions:
        return
    studies = [STUDIES[options.study - 1]] if options.study else STUDIES
    with ThreadPoolExecutor() as pool:
        text = "".join(pool.map(lambda study: study.page(options.quick), studies))
    if options.quick or options.study:
        print(text)
    else:
        PAGE.write_text(HEAD + text, encoding="utf-8")
        print(f"wrote {PAGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
