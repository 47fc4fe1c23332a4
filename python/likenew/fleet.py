"""Many drives at once, on a Dask cluster: studies of simulated drives, and measurements of the drives of many hosts.

Needs `pip install likenew[fleet]`. Dask schedules, retries and moves data; each task runs a plan in this package, outside of the
interpreter's lock. Results are folders of Parquet files, which DuckDB, Polars and Spark read as they are.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from dask import bag
from distributed import Client, as_completed
from scipy import stats

from . import _native
from ._native import SCHEMA, VERSION, JoinedTables
from .drive import SimulatedDrive, Value, plain
from .errors import LikenewError, UnfinishedError, UsageError, in_family
from .frames import Frames
from .page import html_of
from .plan import AnyPlan
from .plans import Check, Workloads
from .progress import shown, text_of_drives
from .run import run
from .workload import Workload

StudyProgress = Callable[[int, int], None] | bool | None
"""A function that takes how many drives are done, and of how many; or `True` for a line on standard error."""


@dataclass(frozen=True)
class Between:
    """A parameter drawn between two ends, in equal shares of their distance, or of their ratio with `log`."""

    low: float
    high: float
    log: bool = False

    def at(self, position: float) -> float:
        """The value at a position in 0..1."""
        if self.log:
            return float(self.low * (self.high / self.low) ** position)
        return self.low + (self.high - self.low) * position


@dataclass(frozen=True)
class Case:
    """One drive of a study, and what makes it differ from the others."""

    drive: SimulatedDrive
    parameters: Mapping[str, Value] = field(default_factory=dict)
    plan: AnyPlan | Workloads | None = None
    """Its own plan, in place of the study's."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", {key: plain(value) for key, value in self.parameters.items()})


@in_family()
def draw(base: SimulatedDrive, parameters: Mapping[str, Between | Sequence[Value]], count: int, *, seed: int = 0) -> list[Case]:
    """Drives with drawn parameters, spread evenly over their ranges (a Latin hypercube).

    A key with a dot is a parameter of the drive's file, such as `nand.program_ns`; any other is a setting of its state, such as
    `fill`. Values of a list are drawn with equal chances. Whole numbers stay whole.

    >>> cases = draw(SimulatedDrive("tiny-flash"), {"nand.program_ns": Between(4e5, 2e6, log=True), "fill": [0.5, 1]}, 4)
    >>> sorted(case.parameters["fill"] for case in cases)
    [0.5, 0.5, 1, 1]
    """
    known = base.parameters
    positions = stats.qmc.LatinHypercube(max(len(parameters), 1), rng=seed).random(count)
    cases = []
    for row in positions:
        values: dict[str, Value] = {}
        for (key, choice), position in zip(parameters.items(), row):
            if isinstance(choice, Between):
                value = choice.at(float(position))
                is_whole = key in known and isinstance(known[key].value, int)
                values[key] = round(value) if is_whole else value
            else:
                values[key] = choice[int(position * len(choice))]
        settings: dict[str, Any] = {key: value for key, value in values.items() if "." not in key}
        cases.append(Case(base.replace({k: v for k, v in values.items() if "." in k}, **settings), values))
    return cases


ROWS_SHOWN = 10
"""In a notebook."""


@dataclass(frozen=True)
class Study(Frames):
    """The results of a study: a folder with a folder of Parquet files for each table.

    `drives` has a row for each drive: its number, parameters, the summary of its run, or its error. The tables of the runs have
    the column `drive` to join them by. As a whole, it is the table `drives` for other libraries: `to_pandas()`.
    """

    folder: Path

    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
        return sorted({path.parent.name for path in self.folder.glob(f"*/{FILES}")})

    @in_family()
    def table(self, name: str) -> pa.Table:
        """A table of all drives."""
        parts = [pq.read_table(path) for path in sorted((self.folder / name).glob(FILES))]
        return pa.concat_tables(parts, promote_options="permissive").replace_schema_metadata(None)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table("drives").__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """How many drives, what was found, and the first of them, for a notebook."""
        drives = self.table("drives")
        failed = len(drives) - drives["error"].null_count
        problems = pc.sum(drives["found_problem"]).as_py() or 0
        summary = f"{len(drives):,} drives: {problems:,} with a problem, {failed:,} not measured"
        first = drives.slice(0, ROWS_SHOWN).to_pylist()
        rows = [[str(row.get("drive", row.get("host"))), row["target"], row["error"] or row["summary"]] for row in first]
        return html_of(summary, [f"Tables: {', '.join(self.tables)}"], ["", "target", "found"], rows)

    def files(self, name: str) -> str:
        """The pattern of a table's files, for DuckDB, Polars and Spark."""
        return str(self.folder / name / FILES)


@in_family()
def study(
    cases: Iterable[Case | SimulatedDrive],
    plan: AnyPlan | Workloads,
    output: str | PathLike[str],
    *,
    client: Client | None = None,
    tables: Sequence[str] | None = None,
    batch: int | None = None,
    retries: int = 3,
    progress: StudyProgress = None,
) -> Study:
    """Carries out the same plan on many simulated drives.

    `plan` is of any of them. A `Plan` is the same for all; of a class such as `Bench`, each drive gets its own defaults. Without a
    `client`, a cluster of a process for each core is started and ended. With one, all workers have to reach the folder `output`.

    A drive whose results are complete is not measured again, so that a study that was interrupted, or lost its cluster, continues
    when it is called again, also on another cluster. `batch` drives are a task; Dask decides, if nothing is said. What a worker
    that dies was measuring is measured by another one. A drive that cannot be measured has its error in the table `drives` and
    costs none of the others. `tables` limits which tables of the runs are kept; `segments` is what was measured. `progress=True` shows
    a line on standard error, also in a notebook; a function is called with the drives that are done, and all of them.

    A folder with the results of another study, or of another version of likenew, is refused, and other files in it are left alone.
    """
    numbered = [(str(number), case if isinstance(case, Case) else Case(case)) for number, case in enumerate(cases)]
    if not numbered:
        raise UsageError("a study takes one drive or more")
    folder = Path(output).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    task = _Task(plan, folder, None if tables is None else sorted(tables), _drive_schema([case for _, case in numbered]))
    wanted = {number: task.fingerprint(case) for number, case in numbered}
    kept = _kept(folder, wanted)
    left = bag.from_sequence([one for one in numbered if one[0] not in kept], partition_size=batch)
    done, failure = len(kept), None
    own = Client(threads_per_worker=1, dashboard_address="127.0.0.1:0") if client is None else nullcontext(client)
    with own as cluster, shown(progress, text_of_drives) as report:
        report(done, len(numbered))
        futures = cluster.compute(left.map_partitions(task.measure).to_delayed(), retries=retries) if done < len(numbered) else []
        for future in as_completed(futures):
            failure = failure or future.exception()
            done += len(future.result()) if future.status == "finished" else 0
            future.release()
            report(done, len(numbered))
    if failure is not None:
        missing = len(numbered) - len(_kept(folder, wanted))
        raise UnfinishedError(
            f"{missing} of {len(numbered)} drives were not measured ({failure}); {folder} keeps the others, "
            "and the same study measures the rest"
        ) from failure
    return Study(folder)


def _drive_schema(cases: Sequence[Case]) -> pa.Schema:
    """The columns of the table of drives: the same for all tasks, whatever values they have."""
    keys = dict.fromkeys(key for case in cases for key in case.parameters)
    try:
        parameters = [(key, pa.array([case.parameters.get(key) for case in cases]).type) for key in keys]
    except pa.ArrowException:
        raise UsageError("the values of a parameter are all numbers, all words, or all on and off") from None
    found = [("summary", pa.string()), ("found_problem", pa.bool_()), ("error", pa.string())]
    return pa.schema([("drive", pa.int64()), ("target", pa.string()), *parameters, *found])


@dataclass(frozen=True)
class _Task:
    """Measures drives of a study and writes their tables."""

    plan: AnyPlan | Workloads
    folder: Path
    tables: list[str] | None
    schema: pa.Schema

    def plan_of(self, case: Case) -> AnyPlan | Workloads:
        return (case.plan or self.plan).on(case.drive)

    def fingerprint(self, case: Case) -> str:
        """Tells the results of a drive from any others."""
        asked = (VERSION, SCHEMA, self.plan_of(case), case.drive.text, dict(case.parameters), self.tables)
        return hashlib.sha256(repr(asked).encode()).hexdigest()

    def measure(self, cases: Iterable[tuple[str, Case]]) -> list[str]:
        whose: dict[str, str] = {}
        drives: list[dict[str, Any]] = []
        found = JoinedTables()
        for number, case in cases:
            whose[number] = self.fingerprint(case)
            row: dict[str, Any] = {"drive": int(number), "target": case.drive.target, **case.parameters}
            try:
                ended = run(self.plan_of(case))
            except LikenewError as error:
                drives.append({**row, "error": str(error)})
                continue
            drives.append({**row, "summary": ended.summary, "found_problem": ended.found_problem})
            found.add(int(number), ended._native, self.tables)
        first = drives[0]["drive"]
        for name, table in found.tables("drive").items():
            _write(pa.table(table), self.folder / name, first, whose)
        # The table of the drives comes last: it completes the others.
        _write(pa.Table.from_pylist(drives, schema=self.schema), self.folder / "drives", first, whose)
        return list(whose)


FILES = "likenew-*.parquet"
"""The files of a table."""

OWN = b"likenew.results"
"""In the metadata of a file that this module wrote: which results it has, as JSON."""


def _kept(folder: Path, wanted: Mapping[str, str]) -> set[str]:
    """The drives of a study whose results are complete. Files of a task that did not come to its end are removed."""
    files = {path: _results(path) for path in folder.glob(f"*/{FILES}")}
    for path, results in files.items():
        if not results.items() <= wanted.items():
            raise UsageError(
                f"{path} is of another study: of other drives, another plan or another version of likenew; "
                "give this study a folder of its own"
            )
    kept = {number for path, results in files.items() if path.parent.name == "drives" for number in results}
    for path, results in files.items():
        if not results.keys() <= kept:
            path.unlink()
    return kept


def _results(path: Path) -> dict[str, str]:
    try:
        return dict(json.loads(pq.read_schema(path).metadata[OWN]))
    except (pa.ArrowException, LookupError, TypeError, ValueError):
        raise UsageError(f"{path} is no file of results; move it away, or give another folder") from None


def _write(table: pa.Table, folder: Path, number: int, results: Mapping[str, str]) -> None:
    """Writes a file whole or not at all, also where two workers write it at once."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILES.replace("*", f"{number:08}")
    part = path.with_name(f".{path.name}.{socket.gethostname()}.{os.getpid()}")
    pq.write_table(table.replace_schema_metadata({OWN: json.dumps(results)}), part, compression="zstd")
    part.replace(path)


@dataclass(frozen=True)
class Host:
    """A host of a cluster."""

    name: str
    worker: str
    """The address of the worker that measures its drives."""
    clock_offset_ns: int
    """How far its clock is ahead of this one."""
    clock_error_ns: int
    """Half the shortest round trip: the offset is known as well as this."""


ROUND_TRIPS = 16
"""Of these the shortest tells the offset of a clock (Cristian's algorithm, 1989)."""


def clock_offset(client: Client, worker: str) -> tuple[int, int]:
    """How far a worker's clock is ahead of this one, and how well that is known, in nanoseconds."""
    best: tuple[int, int] | None = None
    for _ in range(ROUND_TRIPS):
        sent = time.time_ns()
        there = client.run(time.time_ns, workers=[worker])[worker]
        error = (time.time_ns() - sent + 1) // 2
        if best is None or error < best[1]:
            best = (there - sent - error, error)
    assert best is not None
    return best


def find_hosts(client: Client, *, each_worker: bool = False) -> list[Host]:
    """The hosts of a cluster, by their names, each with one worker; with `each_worker`, every worker is a host of its own."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    names = client.run(socket.gethostname)
    chosen: dict[str, str] = {}
    for address in sorted(workers):
        name = f"{names[address]}:{workers[address]['name']}" if each_worker else names[address]
        chosen.setdefault(name, address)
    return [Host(name, address, *clock_offset(client, address)) for name, address in chosen.items()]


@in_family()
def measure_hosts(
    output: str | PathLike[str],
    *,
    client: Client,
    command: Callable[[str], AnyPlan | Workloads] = Check,
    targets: Sequence[str] | None = None,
    archive: str | PathLike[str] | None = None,
    each_worker: bool = False,
) -> Study:
    """Measures the drives of every host of a cluster, each by a worker there.

    `command` makes a plan for a target: a check with reads only, if nothing else is said. `targets` are the same on every host; without
    them, a host measures all of its drives. Nothing is overwritten: a plan that has to write to a device is refused. Hosts keep
    their runs in `archive`, or where the command line keeps runs; the folder `output` is on this machine.

    The table `hosts` has the offset of each host's clock, and `drives` a row for each drive with its summary or its error. A host
    whose worker ends meanwhile is named by an `UnfinishedError`, after what the other hosts measured was written.
    """
    folder = Path(output).absolute()
    if any(folder.glob(f"*/{FILES}")):
        raise UsageError(f"{folder} holds results; give a new folder")
    hosts = find_hosts(client, each_worker=each_worker)
    workers = [host.worker for host in hosts]
    # Not as tasks: one that may run on a single worker waits for ever for a worker that died.
    ended = client.run(_measure_host, command, targets, archive, workers=workers, on_error="return")
    failed = []
    for number, host in enumerate(hosts):
        found = ended[host.worker]
        if isinstance(found, Exception):
            failed.append(f"{host.name}: {found}")
            found = {"drives": pa.table({"error": [str(found)]})}
        for table, rows in found.items():
            rows = rows.add_column(0, "host", pa.array([host.name] * len(rows), pa.string()))
            _write(rows, folder / table, number, {host.name: VERSION})
    _write(pa.Table.from_pylist([vars(host) for host in hosts]), folder / "hosts", 0, {host.name: VERSION for host in hosts})
    if failed:
        raise UnfinishedError(f"hosts did not finish ({'; '.join(failed)}); {folder} keeps what the others measured")
    return Study(folder)


async def _measure_host(*asked: Any) -> dict[str, pa.Table]:
    """Beside the loop of the worker, which has to answer meanwhile."""
    return await asyncio.to_thread(_measure_drives, *asked)


def _measure_drives(
    command: Callable[[str], AnyPlan | Workloads], targets: Sequence[str] | None, archive: str | PathLike[str] | None
) -> dict[str, pa.Table]:
    drives: list[dict[str, Any]] = []
    found = JoinedTables()
    for target in own_drives() if targets is None else targets:
        row = {"target": target, "summary": None, "found_problem": None, "error": None, "started_ns": time.time_ns()}
        try:
            ended = run(command(target), archive=archive)
        except LikenewError as error:
            drives.append({**row, "error": str(error)})
            continue
        drives.append({**row, "summary": ended.summary, "found_problem": ended.found_problem})
        found.add(target, ended._native)
    tables = {name: pa.table(table) for name, table in found.tables("target").items()}
    return {**tables, "drives": pa.Table.from_pylist(drives)}


def own_drives() -> list[str]:
    """The drives of this machine, as `likenew drives` lists them."""
    listed = json.loads(_native.run_command(["drives", "--json=-"]))
    return [drive["path"] for drive in listed["real"] if drive["is_drive"]]


@dataclass(frozen=True)
class Spare:
    """What a share of spare space gives: means over seeds with their intervals at 95%."""

    share: float
    """Of the drive, left unpartitioned and trimmed."""
    write_amplification: float
    write_amplification_high: float
    bytes_per_s: float
    bytes_per_s_low: float
    latency_ns_p99: float


@in_family()
def spare_space(
    drive: SimulatedDrive,
    workloads: Workloads,
    shares: Sequence[float],
    output: str | PathLike[str],
    *,
    seeds: int = 5,
    client: Client | None = None,
    progress: StudyProgress = None,
) -> list[Spare]:
    """How much of a drive to leave unpartitioned for a workload: what each share of spare space gives.

    The last of the workloads is measured; those before it bring the drive into its state. Regions that are `"whole"` become what is
    left of the drive. Each share runs with as many seeds, whose scatter makes the intervals.
    """
    cases = [
        Case(
            drive.replace(fill=round(1 - share, 6)),
            {"share": share, "seed": seed},
            Workloads(drive, [_leave_out(workload, share) for workload in workloads.workloads], seed=seed),
        )
        for share in shares
        for seed in range(seeds)
    ]
    result = study(cases, workloads, output, client=client, tables=("segments",), progress=progress)
    segments = result.table("segments").to_pylist()
    measured: dict[float, list[dict[str, float]]] = {share: [] for share in shares}
    for row in result.table("drives").to_pylist():
        if row["error"] is not None:
            raise LikenewError(row["error"])
        measured[row["share"]].append(_last_writes([one for one in segments if one["drive"] == row["drive"]]))
    return [_spare(share, rows) for share, rows in measured.items()]


def _leave_out(workload: Workload, share: float) -> Workload:
    """The workload on what is left of a drive."""
    left = f"0%..{100 * (1 - share):g}%"
    streams = [
        replace(stream, pattern=replace(stream.pattern, region=left)) if stream.pattern.region == "whole" else stream
        for stream in workload.streams
    ]
    return replace(workload, streams=streams)


def _last_writes(segments: list[dict[str, Any]]) -> dict[str, float]:
    """The writes of the last workload that wrote. The counters of the flash are sums over the run."""
    writes = [row for row in segments if row["op"] == "write"]
    if not writes:
        raise UsageError("the workloads write nothing, so spare space changes nothing")
    last = writes[-1]
    before = [row for row in segments if row["segment"] < last["segment"]]
    start = before[-1] if before else {"host_bytes_written": 0, "flash_bytes_programmed": 0}
    host = last["host_bytes_written"] - start["host_bytes_written"]
    flash = last["flash_bytes_programmed"] - start["flash_bytes_programmed"]
    return {
        "write_amplification": flash / host,
        "bytes_per_s": last["bytes_per_s"],
        "latency_ns_p99": last["latency_ns_p99"],
    }


def _spare(share: float, rows: list[dict[str, float]]) -> Spare:
    amplification = _interval([row["write_amplification"] for row in rows])
    speed = _interval([row["bytes_per_s"] for row in rows])
    latency = _interval([row["latency_ns_p99"] for row in rows])
    return Spare(share, amplification[1], amplification[2], speed[1], speed[0], latency[1])


def _interval(values: list[float]) -> tuple[float, float, float]:
    """Lower end, mean and upper end at 95%, by Student's t; without bounds of one value."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return -math.inf, mean, math.inf
    reach = float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))
    return mean - reach, mean, mean + reach
