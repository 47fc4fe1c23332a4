"""Progress of long work: for a function of the caller, or as a line on standard error, in a terminal or a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVarTuple

Progress = Callable[[Mapping[str, Any]], None]
"""Takes events as `likenew --progress json` writes them, one by one: `run`, `step`, `progress`; and `message`, a line for people."""

ProgressOption = Progress | bool | None
"""The same, or `True` for a line on standard error."""

Told = TypeVarTuple("Told")


@contextmanager
def shown(progress: Callable[[*Told], None] | bool | None, text: Callable[[*Told], str]) -> Iterator[Callable[[*Told], None]]:
    """What takes progress: the function of the caller, or with `True` a line that shows `text` of it and goes in the end."""
    if not isinstance(progress, bool):
        yield progress or _nowhere
        return
    if not progress:
        yield _nowhere
        return
    width = 0

    def show(line: str) -> None:
        nonlocal width
        sys.stderr.write(f"\r{line:{width}}")
        sys.stderr.flush()
        width = len(line)

    def take(*told: *Told) -> None:
        if line := text(*told):
            show(line[:COLUMNS])

    try:
        yield take
    finally:
        show("")
        sys.stderr.write("\r")
        sys.stderr.flush()


COLUMNS = 79
"""Of a terminal that is as narrow as they usually are: a longer line would not be overwritten."""


def _nowhere(*_: object) -> None:
    pass


def text_of_event(event: Mapping[str, Any]) -> str:
    """One line for an event, or nothing.

    >>> text_of_event({"step": {"name": "prepare"}})
    'prepare'
    >>> text_of_event({"progress": {"step": "read", "share": 0.5, "left_ns": 90e9, "bytes_done": 2e9, "bytes_per_s": 68.7e6}})
    'read · 50% · 2.00 GB · 68.7 MB/s · 90 s left'
    """
    if "progress" not in event:
        told = event.get("step") or event.get("message") or {}
        return str(told.get("name") or told.get("text") or "")
    now = event["progress"]
    parts = [now["step"]]
    parts += [f"{now['share']:.0%}"] if now["share"] is not None else []
    parts += [_bytes(now["bytes_done"], "B")] if now["bytes_done"] else []
    parts += [_bytes(now["bytes_per_s"], "B/s")] if now["bytes_per_s"] else []
    parts += [_time_left(now["left_ns"] / 1e9)] if now["left_ns"] is not None else []
    return " · ".join(parts)


def text_of_drives(done: int, total: int) -> str:
    """One line for a study.

    >>> text_of_drives(1200, 3000)
    '1,200 of 3,000 drives · 40%'
    """
    return f"{done:,} of {total:,} drives · {done / max(total, 1):.0%}"


def _bytes(count: float, unit: str) -> str:
    """In powers of 1000, with three digits."""
    prefixes = ["", "k", "M", "G", "T", "P"]
    while count >= 999.5 and len(prefixes) > 1:
        count /= 1000
        del prefixes[0]
    digits = 0 if count >= 99.95 else 1 if count >= 9.995 else 2
    return f"{count:.{digits}f} {prefixes[0]}{unit}"


def _time_left(seconds: float) -> str:
    return f"{seconds:.0f} s left" if seconds < 120 else f"{seconds / 60:.0f} min left"
