"""How drives changed from check to check."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

from . import _native
from ._native import Table
from .comparison import archive_words
from .drive import SimulatedDrive, to_json
from .errors import in_family
from .frames import Frames
from .plan import Target


@dataclass(frozen=True)
class History(Frames):
    """Drives over time, by the checks that are kept. Dates are text in ISO 8601, in UTC.

    As a whole, it is the table of `metrics` for other libraries: `polars.DataFrame(history)`, `to_pandas()`.
    """

    document: Mapping[str, Any]
    """Everything, as `likenew history --json` writes it."""

    def __repr__(self) -> str:
        return f"<likenew.History: {len(self._drives)} drives>"

    @cached_property
    def drives(self) -> Table:
        """One row for each drive: its `key`, what was checked of it, and what the last check found."""
        return _table(_plain(drive) for drive in self._drives)

    @cached_property
    def metrics(self) -> Table:
        """One row for each drive and metric: `now_per_s` and `baseline_per_s` in `unit` (`bytes/s`, or `1/s` for I/Os).

        With `peers`, the value is `value_per_s`, `ratio` that to the median of others of its model, and `slow` the verdict.
        """
        return _table(_whose(drive) | _plain(metric) for drive in self._drives for metric in drive["metrics"])

    @cached_property
    def changes(self) -> Table:
        """One row for each lasting change: of which metric, since when, and its `ratio` with the interval at 95%."""
        return _table(
            _whose(drive) | {"metric": metric["metric"]} | change
            for drive in self._drives
            for metric in drive["metrics"]
            for change in metric.get("changes", ())
        )

    @cached_property
    def checks(self) -> Table:
        """Of one drive: one row for each check and metric, with `per_s` in `unit` and its interval at 95%."""
        return _table(
            _whose(drive) | _plain(check) | metric
            for drive in self._drives
            for check in drive.get("checks", ())
            for metric in check["metrics"]
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.metrics.__arrow_c_stream__(requested_schema)

    @property
    def _drives(self) -> list[dict[str, Any]]:
        drives: list[dict[str, Any]] = self.document.get("drives", [self.document])
        return drives


@in_family()
def history(
    target: Target | None = None,
    *,
    peers: bool = False,
    archive: str | PathLike[str] | None = None,
    history: str | PathLike[str] | None = None,
) -> History:
    """How drives changed from check to check, as `likenew history` shows it.

    `target` is a drive as it was checked, or the beginning of its key; of one drive there are its `checks`, too. Without it, all
    drives of the kept runs are listed. `peers` compares each drive with others of its model instead. `archive` is the folder of
    runs, and `history` their index, where these are not the command line's.

    >>> import tempfile
    >>> from likenew import Check, SimulatedDrive, run
    >>> drive = SimulatedDrive("tiny-flash")
    >>> folder = tempfile.mkdtemp()
    >>> for _ in range(2):
    ...     _ = run(Check(drive), archive=folder)
    >>> [check["metric"] for check in history(drive, archive=folder).checks.to_rows()][:2]
    ['sequential_read', 'sequential_write']

    Raises `UsageError` where no kept run is of the target, or runs of several drives are.
    """
    words = ["history", "--json=-", *archive_words(archive, history)]
    words += ["--peers"] if peers else []
    if target is not None:
        words += ["--", target.target if isinstance(target, SimulatedDrive) else str(target)]
    return History(json.loads(_native.run_command(words)))


def _whose(drive: Mapping[str, Any]) -> dict[str, Any]:
    return {"key": drive["key"], "target": drive["target"]}


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if not isinstance(value, list) and key != "schema"}


def _table(rows: Iterable[dict[str, Any]]) -> Table:
    return Table.from_rows(to_json(list(rows)))
