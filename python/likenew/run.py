"""Runs: plans that were carried out, what was found and what was measured."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from . import _native
from ._native import Table
from .drive import to_json
from .errors import UsageError, in_family
from .page import html_of, screen_table
from .plan import AnyPlan, Plan, Target, text_of
from .plans import Check, Model, Workloads, Xray
from .program import run_program
from .progress import Progress, ProgressOption, shown, text_of_event

Standing = Literal["good", "problem", "unknown", "info"]


@dataclass(frozen=True)
class Estimate:
    """A number with the interval that it can be trusted to."""

    value: float
    low: float | None
    """`None` where nothing bounds it."""
    high: float | None
    unit: str


@dataclass(frozen=True)
class Action:
    """Something that the owner can do."""

    id: str
    why: str
    command: str | None = None
    undo: str | None = None
    time_s: float | None = None
    bytes_written: int | None = None
    loses: Literal["nothing", "deleted_files", "everything"] = "nothing"


@dataclass(frozen=True)
class Answer:
    """What was found, and what it rests on."""

    id: str
    question: str
    answer: str
    standing: Standing
    estimate: Estimate | None
    evidence: tuple[str, ...]
    caveats: tuple[str, ...]
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class Cause:
    """A cause of slowness, and how likely it is."""

    name: str
    probability: float
    answer: Answer | None


class Tables(Mapping[str, Table]):
    """The tables of a run by name."""

    def __init__(self, run: _native.Run) -> None:
        self._run = run

    def __getitem__(self, name: str) -> Table:
        return self._run.table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.table_names())

    def __len__(self) -> int:
        return len(self._run.table_names())

    def __repr__(self) -> str:
        return f"<likenew tables: {', '.join(self)}>"


class Findings:
    """What was found: a document with its answers and tables."""

    def __init__(self, native: _native.Run) -> None:
        self._native = native

    def __repr__(self) -> str:
        procedure, target = self.document["procedure"], self.document["target"]["name"]
        return f"<likenew.{type(self).__name__}: {procedure} of {target}: {self.summary}>"

    def _repr_html_(self) -> str:
        """The first screen, for a notebook."""
        return html_of(self.summary, self._lines(), *screen_table(self.document["overview"].get("table")))

    def _lines(self) -> list[str]:
        """What stands between the summary and the table."""
        ids = self.document["overview"].get("answers", ())
        return [f"{one.question}: {one.answer}" for one in self.answers if one.id in ids]

    @functools.cached_property
    def document(self) -> dict[str, Any]:
        """Everything that was found, as `likenew --json` writes it."""
        document: dict[str, Any] = json.loads(self._native.document())
        return document

    @property
    def summary(self) -> str:
        """The result in one or two sentences."""
        return str(self.document["summary"])

    @functools.cached_property
    def answers(self) -> tuple[Answer, ...]:
        """What was found, the most important first."""
        return tuple(_answer(answer) for answer in self.document["answers"])

    def answer(self, id: str) -> Answer:
        """The first answer with this name, such as `sequential_write`."""
        for answer in self.answers:
            if answer.id == id:
                return answer
        raise KeyError(id)

    @property
    def tables(self) -> Tables:
        """The tables of the findings by name, such as `results`."""
        return Tables(self._native)

    def html(self) -> str:
        """The report as a page that works offline."""
        return self._native.html()


class Run(Findings):
    """A run that is over."""

    @property
    def plan(self) -> Plan:
        """The plan that was carried out."""
        return Plan.from_dict(self.document["plan"])

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes of slowness that a check found, the most likely first, with the answer that names one."""
        if "causes" not in self.tables:
            return ()
        named = {answer.id.removeprefix("cause_"): answer for answer in self.answers}
        return tuple(
            Cause(row["cause"], row["probability_percent"] / 100, named.get(row["cause"]))
            for row in self.tables["causes"].to_rows()
        )

    @property
    def found_problem(self) -> bool:
        """Whether an answer is a problem of the drive: exit code 10 of the command line."""
        return any(answer["standing"] == "problem" for answer in self.document["answers"])

    @property
    def is_interrupted(self) -> bool:
        """Whether it was stopped before its end."""
        return self._native.is_interrupted

    @property
    def folder(self) -> Path | None:
        """The folder of the run, if it is kept."""
        return self._native.folder

    @functools.cached_property
    def segments(self) -> Table:
        """One row for each operation of each workload: IOPS, bytes a second, latencies, counters of the flash."""
        return self._native.segments()

    def windows(self, along: Literal["time", "bytes"] = "time") -> Table:
        """Speed and latency along the time or the bytes of each workload, in windows."""
        return self._native.windows(along)

    @functools.cached_property
    def samples(self) -> Table | None:
        """One row for each I/O, if they were kept; `outcome` is the number of bytes moved, or the negated error number."""
        return self._native.samples()


RunOrFolder = Run | str | PathLike[str]
"""A run, its folder, or its name where the command line keeps runs."""


def _answer(answer: dict[str, Any]) -> Answer:
    estimate = answer["estimate"]
    return Answer(
        id=answer["id"],
        question=answer["question"],
        answer=answer["answer"],
        standing=answer["standing"],
        estimate=None if estimate is None else Estimate(**estimate),
        evidence=tuple(answer["evidence"]),
        caveats=tuple(answer["caveats"]),
        actions=tuple(Action(**action) for action in answer["actions"]),
    )


def run(
    plan: AnyPlan | Workloads,
    *,
    samples: bool = False,
    archive: str | PathLike[str] | None = None,
    consent: str | None = None,
    destroy: Sequence[str] | str = (),
    progress: ProgressOption = None,
) -> Run:
    """Carries out a plan.

    A simulated drive is simulated in this process, and other Python threads run meanwhile; nothing is stored unless `archive`
    names a folder of runs. A real drive is measured by the program in a process of its own, which keeps the run in `archive` or
    where the command line keeps runs. A folder is measured with temporary files; a file or block device is only read, unless
    `consent` is its serial number or name and `destroy` names what it carries, as on the command line.

    `samples` keeps every I/O. `progress=True` shows a line on standard error, also in a notebook; a function is called with each
    event of `likenew --progress json`, such as `{"progress": {"step": "read", "share": 0.5, "left_ns": 9e9, …}}`, in which a
    `share` is from 0 to 1, or `None` while it is a guess. A simulated drive, too, is then simulated in a process of its own.

    Raises `UsageError` for a plan that makes no sense, `RefusedError` where a safety check refused, `UnfinishedError` where a
    run could not finish, and `KeyboardInterrupt` on Ctrl-C, with what was measured until then kept in the archive. What a
    function for progress raises ends the run, too.
    """
    with in_family():
        whole = plan.plan()
    is_simulated = whole.target.startswith("sim:") and whole.procedure != "replay"
    if is_simulated and consent is not None:
        raise UsageError(f"{whole.target} is a simulated drive and needs no consent")
    if is_simulated and not progress:
        with in_family():
            return Run(_native.simulate([whole.to_json()], samples, archive)[0])
    words = ["--samples"] if samples else []
    words += [f"--archive={text_of(archive)}"] if archive is not None else []
    words += [f"--consent={consent}"] if consent is not None else []
    words += [f"--destroy={text_of(destroy)}"] if destroy else []
    with shown(progress, text_of_event) as follow:
        return _run_apart(whole, words, follow, is_kept=archive is not None or not is_simulated)


@in_family()
def run_in_turn(
    plans: Sequence[AnyPlan | Workloads], *, samples: bool = False, archive: str | PathLike[str] | None = None
) -> list[Run]:
    """Carries out plans one after the other on one simulated drive, each on the drive as the one before left it.

    `samples` keeps every I/O, and `archive` names a folder in which the runs are kept. Raises `UsageError` for plans of several
    drives or of a real one.

    >>> from likenew import Sequential, SimulatedDrive, Stream, Workload, Workloads
    >>> drive = SimulatedDrive("tiny-flash", trim=False)
    >>> written = Workloads(drive, [Workload("all", [Stream("write", "1MiB", Sequential())], bytes="1GiB")])
    >>> first, second = run_in_turn([written, written])
    >>> second.document["target"]["accounting"]["host_bytes_written"] >> 30
    2
    """
    whole = [plan.plan() for plan in plans]
    if not whole or not whole[0].target.startswith("sim:") or any(plan.procedure == "replay" for plan in whole):
        raise UsageError("plans that run in turn are of a simulated drive, and are no replays")
    if len({(plan.target, plan.drive) for plan in whole}) > 1:
        raise UsageError("plans that run in turn are of the same drive in the same state; give all of them the same target")
    return [Run(native) for native in _native.simulate([plan.to_json() for plan in whole], samples, archive)]


def _run_apart(plan: Plan, words: list[str], progress: Progress, *, is_kept: bool) -> Run:
    """Runs a plan with the program, which keeps the run, here for a moment unless it is told where."""
    with tempfile.TemporaryDirectory(prefix="likenew-") as scratch:
        path = Path(scratch, "plan.toml")
        with in_family():
            path.write_text(plan.to_toml(), encoding="utf-8")
        words = ["run", str(path), "--progress=json", "--quiet", *words]
        folder = run_program(words if is_kept else [*words, f"--archive={scratch}"], progress)
        assert folder is not None, "the program keeps every run"
        native = _native.load(folder)
        return Run(native) if is_kept else _in_memory(native)


def _in_memory(native: _native.Run) -> Run:
    """The run without its folder, which is about to go."""
    (text,) = native.__getnewargs__()
    run = Run(_native.Run(to_json({**json.loads(text), "folder": None}).encode()))
    run.samples = native.samples()
    return run


@contextmanager
def kept_folders(runs: Sequence[RunOrFolder]) -> Iterator[list[str]]:
    """The folders of runs, for commands that read those. A simulated run that nobody kept is repeated in a temporary one."""
    with tempfile.TemporaryDirectory(prefix="likenew-") as scratch:
        yield [_kept_folder(run, scratch) for run in runs]


def _kept_folder(run: RunOrFolder, scratch: str) -> str:
    if not isinstance(run, Run):
        return os.fspath(run)
    if run.folder is not None:
        return str(run.folder)
    again = _native.simulate([run.plan.to_json()], archive=scratch)[0]
    if again.document() != run._native.document() or again.folder is None:
        raise UsageError("this run is not what its plan gives alone, and was not kept: run it with archive=FOLDER")
    return str(again.folder)


@in_family()
def load(folder: str | PathLike[str]) -> Run:
    """Reads a kept run. One that was killed is judged by what it had measured."""
    return Run(_native.load(folder))


def diagnose(target: Target, *, progress: ProgressOption = None, **settings: Any) -> Run:
    """Is the drive slow, and why? The run of a `Check`, whose `causes` are what it found.

    >>> from likenew import SimulatedDrive
    >>> found = diagnose(SimulatedDrive("tiny-flash", state="used"))
    >>> [cause.name for cause in found.causes]
    ['scattered_data']

    The settings are those of `Check`, and `progress` is as of `run`.
    """
    return run(Check(target, **settings), progress=progress)


def xray(target: Target, *, progress: ProgressOption = None, **settings: Any) -> Run:
    """What is inside: medium, mapping, dies, caches, over-provisioning. The settings are those of `Xray`, and `progress` is as of `run`."""
    return run(Xray(target, **settings), progress=progress)


def fit(target: Target, *, progress: ProgressOption = None, **settings: Any) -> Run:
    """Fits an access time model: seek, throughput, parallelism. The settings are those of `Model`, and `progress` is as of `run`."""
    return run(Model(target, **settings), progress=progress)
