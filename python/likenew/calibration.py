"""Simulated drives made from runs of real ones."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from . import _native
from .drive import SimulatedDrive, files_of, target_of
from .errors import UsageError, in_family
from .run import Run

RunOrFolder = Run | str | PathLike[str]


@dataclass(frozen=True)
class Estimate:
    """A parameter of a calibrated drive, and the interval that holds its true value nine times in ten."""

    key: str
    name: str
    base: float
    value: float
    low: float
    high: float
    standing: Literal["determined", "rough", "combined", "undetermined"]


@dataclass(frozen=True)
class Calibration:
    """A simulated drive that does what the measured one does."""

    drive: SimulatedDrive
    estimates: tuple[Estimate, ...]
    document: dict[str, Any]
    """Everything that was found, as `likenew sim calibrate --json` writes it: combinations, predictions of the held-out runs."""

    def estimate(self, key: str) -> Estimate:
        """The estimate of one parameter, such as `nand.read_ns`."""
        for estimate in self.estimates:
            if estimate.key == key:
                return estimate
        raise KeyError(key)


@in_family()
def calibrate(
    runs: Sequence[RunOrFolder],
    *,
    held_out: Sequence[RunOrFolder] = (),
    like: SimulatedDrive | str | None = None,
    candidates: int | None = None,
) -> Calibration:
    """Fits the parameters of a simulated drive to kept runs of a real one, such as a sweep, a fill and a bench.

    `held_out` runs are predicted and not fitted; with three runs or more and none held out, the last is. `like` is the drive to
    begin with, in the state that the runs began in. Raises `UsageError` where the runs tell too little or are of several drives.
    """
    if not runs:
        raise UsageError("calibrate takes one run or more")
    with tempfile.TemporaryDirectory(prefix="likenew-") as folder:
        file = Path(folder, "calibrated.toml")
        words = ["sim", "calibrate", *map(_folder, runs), f"--output={file}", "--json=-"]
        target, drive = target_of(like or "")
        words += [f"--like={target.removeprefix('sim:')}"] if like is not None else []
        words += [f"--candidates={candidates}"] if candidates is not None else []
        words += ["--held-out", *map(_folder, held_out)] if held_out else []
        document = json.loads(_native.run_command(words, files_of(target, drive)))
        text = file.read_text(encoding="utf-8")
    names = {field: None for field in Estimate.__dataclass_fields__}
    estimates = tuple(Estimate(**{name: value for name, value in one.items() if name in names}) for one in document["estimates"])
    return Calibration(SimulatedDrive("calibrated.toml", text=text), estimates, document)


def _folder(run: RunOrFolder) -> str:
    if not isinstance(run, Run):
        return os.fspath(run)
    if run.folder is None:
        raise UsageError("a run is calibrated from its folder: run it with archive=FOLDER")
    return str(run.folder)
