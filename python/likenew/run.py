"""Runs: plans that were carried out, what was found and what was measured."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from . import _native
from ._native import Table
from .errors import RefusedError, UnfinishedError, UsageError, in_family
from .plan import AnyPlan, Plan, Target, text_of
from .plans import Check, Model, Workloads, Xray

Standing = Literal["good", "problem", "unknown", "info"]
Progress = Callable[[Mapping[str, Any]], None]
"""Takes the lines of `likenew --progress json`, one by one."""


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


class Run:
    """A run that is over."""

    def __init__(self, native: _native.Run) -> None:
        self._native = native

    def __repr__(self) -> str:
        return f"<likenew.Run: {self.document['procedure']} of {self.document['target']['name']}: {self.summary}>"

    def _repr_markdown_(self) -> str:
        lines = "\n".join(f"- {answer.question}: {answer.answer}" for answer in self.answers)
        return f"**{self.summary}**\n\n{lines}"

    @functools.cached_property
    def document(self) -> dict[str, Any]:
        """Everything that was found, as `likenew --json` writes it."""
        document: dict[str, Any] = json.loads(self._native.document())
        return document

    @property
    def summary(self) -> str:
        """The result in one or two sentences."""
        return str(self.document["summary"])

    @property
    def plan(self) -> Plan:
        """The plan that was carried out."""
        return Plan.from_dict(self.document["plan"])

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
        return None if self._native.folder is None else Path(self._native.folder)

    @property
    def tables(self) -> Tables:
        """The tables of the findings by name, such as `results`."""
        return Tables(self._native)

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

    def html(self) -> str:
        """The report as a page that works offline."""
        return self._native.html()


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
    progress: Progress | None = None,
) -> Run:
    """Carries out a plan.

    A simulated drive is simulated in this process, and other Python threads run meanwhile; nothing is stored unless `archive`
    names a folder of runs. A real drive is measured by the program in a process of its own, which keeps the run in `archive` or
    where the command line keeps runs. A folder is measured with temporary files; a file or block device is only read, unless
    `consent` is its serial number or name and `destroy` names what it carries, as on the command line.

    `samples` keeps every I/O. `progress` is called with lines of progress of a real drive.

    Raises `UsageError` for a plan that makes no sense, `RefusedError` where a safety check refused, `UnfinishedError` where a
    run could not finish, and `KeyboardInterrupt` on Ctrl-C, with what was measured until then kept in the archive.
    """
    with in_family():
        whole = plan.plan()
    is_simulated = whole.target.startswith("sim:")
    if is_simulated and whole.procedure != "replay":
        if consent is not None:
            raise UsageError(f"{whole.target} is a simulated drive and needs no consent")
        with in_family():
            return Run(_native.simulate([whole.to_json()], samples, archive)[0])
    words = [f"--archive={text_of(archive)}"] if archive is not None else []
    words += ["--samples"] if samples else []
    words += [f"--consent={consent}"] if consent is not None else []
    words += [f"--destroy={text_of(destroy)}"] if destroy else []
    return Run(_native.load(_run_program(whole, words, progress)))


@in_family()
def run_in_turn(plans: Sequence[AnyPlan | Workloads], *, samples: bool = False) -> list[Run]:
    """Carries out plans one after the other on one simulated drive, each on the drive as the one before left it.

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
    return [Run(native) for native in _native.simulate([plan.to_json() for plan in whole], samples)]


def _run_program(plan: Plan, words: list[str], progress: Progress | None) -> str:
    """Runs a plan with the program, and returns the folder of its run."""
    with tempfile.TemporaryDirectory(prefix="likenew-") as folder:
        path = Path(folder, "plan.toml")
        with in_family():
            path.write_text(plan.to_toml(), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "likenew.child",
            str(os.getpid()),
            "run",
            str(path),
            "--progress=json",
            "--quiet",
            *words,
        ]
        # In a group of its own, Ctrl-C in a terminal does not reach it, so that it gets one signal, from here.
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        ) as child:
            kept, message = _follow(child, progress)
    match child.returncode:
        case 0 | 10 if kept is not None:
            return kept
        case 2:
            raise UsageError(message)
        case 3:
            raise RefusedError(message)
        case 130:
            raise KeyboardInterrupt
        case _:
            raise UnfinishedError(message)


def _follow(child: subprocess.Popen[str], progress: Progress | None) -> tuple[str | None, str]:
    """Reads progress until the program ends: the folder of the run, and everything else that it said."""
    assert child.stderr is not None
    kept, said = None, []
    try:
        for line in child.stderr:
            try:
                event = json.loads(line)
            except ValueError:
                said.append(line)
                continue
            kept = event.get("run", {}).get("folder", kept)
            if progress is not None:
                progress(event)
    except BaseException:
        # The program keeps what it measured and removes its files.
        child.send_signal(signal.SIGINT)
        child.communicate()
        raise
    return kept, "".join(said).strip().removeprefix("likenew: ").removeprefix("refused for safety: ")


@in_family()
def load(folder: str | PathLike[str]) -> Run:
    """Reads a kept run. One that was killed is judged by what it had measured."""
    return Run(_native.load(folder))


def diagnose(target: Target, **settings: Any) -> Run:
    """Is the drive slow, and why? The run of a `Check`, whose `causes` are what it found.

    >>> from likenew import SimulatedDrive
    >>> found = diagnose(SimulatedDrive("tiny-flash", state="used"))
    >>> [cause.name for cause in found.causes]
    ['scattered_data']
    """
    return run(Check(target, **settings))


def xray(target: Target, **settings: Any) -> Run:
    """What is inside: medium, mapping, dies, caches, over-provisioning."""
    return run(Xray(target, **settings))


def fit(target: Target, **settings: Any) -> Run:
    """Fits an access time model: seek, throughput, parallelism."""
    return run(Model(target, **settings))
