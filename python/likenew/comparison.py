"""How much runs differ, and whether that is more than chance."""

from __future__ import annotations

import json
from os import PathLike
from string import ascii_uppercase
from typing import Any

from . import _native
from ._native import Table
from .drive import to_json
from .errors import in_family
from .frames import Frames
from .plan import text_of
from .run import Findings, RunOrFolder, kept_folders


class Comparison(Findings, Frames):
    """How later runs differ from the first, which are called B, C, … and A.

    Its table goes to other libraries as a whole: `polars.DataFrame(comparison)`, `to_pandas()`.
    """

    @property
    def speeds(self) -> Table:
        """One row for each speed that the first run and a later one have.

        `first_per_s` and `other_per_s` are in `unit` (`bytes/s`, or `1/s` for I/Os); `ratio` is of the later run to the first, with
        its interval at 95% from `ratio_low` to `ratio_high`. `difference` is the verdict: `same` (within 5%), `slower`, `faster`,
        or `unclear`.
        """
        return self.tables["speeds"]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.speeds.__arrow_c_stream__(requested_schema)

    def _lines(self) -> list[str]:
        runs = self.document["plan"]["options"]["runs"]
        return [f"{letter} = {name}" for letter, name in zip(ascii_uppercase, runs)]


@in_family()
def compare(
    *runs: RunOrFolder,
    last: int | None = None,
    archive: str | PathLike[str] | None = None,
    history: str | PathLike[str] | None = None,
) -> Comparison:
    """Compares runs of one command, the earlier first, as `likenew compare` does.

    A run is a `Run`, its folder, its name in the folder `archive`, a drive, whose last check is taken, or the path of what fio,
    CrystalDiskMark, dd or another program printed (`likenew compare --help` lists them). In place of runs, `last` takes that many of the
    newest. `history` names another index of runs than the one beside them. A simulated run that was not kept is repeated for this,
    which takes as long as it did.

    >>> from likenew import Bench, SimulatedDrive, run
    >>> drive = SimulatedDrive("tiny-flash")
    >>> plan = Bench(drive, op="read", passes=2, time=0.5)
    >>> compared = compare(run(plan), run(plan.on(drive.replace({"nand.read_ns": 200_000}))))
    >>> [(row["speed"], round(row["ratio"], 2), row["difference"]) for row in compared.speeds.to_rows()][-1]
    ('RND4K Q1T1 read', 0.48, 'slower')

    Raises `UsageError` for fewer than two runs, runs of different commands, and files that hold no result.
    """
    words = ["compare", "--json=-", *archive_words(archive, history)]
    words += [f"--last={last}"] if last is not None else []
    with kept_folders(runs) as folders:
        document = json.loads(_native.run_command([*words, "--", *folders]))
    return Comparison(native_of(document))


def archive_words(archive: str | PathLike[str] | None, history: str | PathLike[str] | None) -> list[str]:
    """Where kept runs and their index are, as the command line takes it."""
    places = {"archive": archive, "history": history}
    return [f"--{name}={text_of(place)}" for name, place in places.items() if place is not None]


def native_of(document: dict[str, Any]) -> _native.Run:
    """A document that no run of its own stands behind."""
    run: dict[str, Any] = {"document": document, "segments": [], "samples": None, "folder": None, "is_interrupted": False}
    return _native.Run(to_json(run).encode())
