"""Simulated drives made from runs of real ones."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .drive import SimulatedDrive, target_of
from .errors import UsageError, in_family
from .program import run_program
from .progress import ProgressOption, shown, text_of_event
from .run import RunOrFolder, kept_folders


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
    progress: ProgressOption = None,
) -> Calibration:
    """Fits the parameters of a simulated drive to kept runs of a real one, such as a sweep, a fill and a bench.

    `held_out` runs are predicted and not fitted; with three runs or more and none held out, the last is. `like` is the drive to
    begin with, in the state that the runs began in. A simulated run that was not kept is repeated for this. `progress` is as of
    `run`: a line says how far it is after a second, and then every ten. Raises `UsageError` where the runs tell too little or are
    of several drives.
    """
    if not runs:
        raise UsageError("calibrate takes one run or more")
    with (
        kept_folders(runs) as fitted,
        kept_folders(held_out) as predicted,
        tempfile.TemporaryDirectory(prefix="likenew-") as folder,
    ):
        found, document = Path(folder, "calibrated.toml"), Path(folder, "calibrated.json")
        words = ["sim", "calibrate", *fitted, f"--output={found}", f"--json={document}"]
        words += [f"--like={_begin_with(like, folder)}"] if like is not None else []
        words += [f"--candidates={candidates}"] if candidates is not None else []
        words += ["--held-out", *predicted] if predicted else []
        with shown(progress, text_of_event) as follow:
            run_program(words, follow)
        return _calibration(json.loads(document.read_text(encoding="utf-8")), found.read_text(encoding="utf-8"))


def _begin_with(like: SimulatedDrive | str, folder: str) -> str:
    """The name of a drive for the command line, and its file where no folder has it."""
    target, drive = target_of(like)
    name = target.removeprefix("sim:")
    if drive is None:
        return name
    file, question_mark, settings = name.partition("?")
    path = Path(folder, "like", Path(file).name)
    path.parent.mkdir()
    path.write_text(drive, encoding="utf-8")
    return f"{path}{question_mark}{settings}"


def _calibration(document: dict[str, Any], text: str) -> Calibration:
    names = Estimate.__dataclass_fields__
    estimates = tuple(Estimate(**{name: value for name, value in one.items() if name in names}) for one in document["estimates"])
    return Calibration(SimulatedDrive("calibrated.toml", text=text), estimates, document)
