"""What the studies share: plans of measurements, and numbers and tables as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

import likenew
from likenew import Plan, Run, Sequential, SimulatedDrive, Stream, Workload, Workloads

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SEED = 1


def plan(procedure: str, drive: SimulatedDrive, **options: Any) -> Plan:
    """A plan of a procedure with its own defaults, which are the studies' settings; the command line's depend on the drive."""
    return Plan(procedure, drive.target, SEED, options, drive.text)


def workload(streams: Sequence[Stream], **limits: Any) -> Workload:
    """Streams with the same random addresses in every study."""
    return Workload("reproduction", streams, seed=SEED, **limits)


def sequential(op: str, start: int, end: int, block: int = MIB) -> Workload:
    """A range once from its start to its end, at QD1."""
    return workload([Stream(op, block, Sequential(f"{start}..{end}"))], bytes=end - start)


def measure(drive: SimulatedDrive, *workloads: Workload) -> pl.DataFrame:
    """One row for each workload, run one after the other."""
    return measured(likenew.run(Workloads(drive, workloads)))


def measured(run: Run) -> pl.DataFrame:
    """One row for each workload of a run: speed, latency, and what the flash programmed for each byte written."""
    streams = pl.DataFrame(run.segments)
    assert not any(streams["errors"]), run
    seconds = (pl.col("ended_ns").first() - pl.col("started_ns").first()) / 1e9
    rows = streams.group_by("segment", maintain_order=True).agg(
        bytes=pl.col("bytes").sum(),
        mb_per_s=pl.col("bytes").sum() / 1e6 / seconds,
        iops=pl.col("ios").sum() / seconds,
        mean_ms=(pl.col("latency_ns_mean") * pl.col("ios")).sum() / pl.col("ios").sum() / 1e6,
        max_ms=pl.col("latency_ns_max").max() / 1e6,
        flash_bytes_programmed=pl.col("flash_bytes_programmed").first(),
        host_bytes_written=pl.col("host_bytes_written").first(),
    )
    return rows.with_columns(write_amplification=WRITE_AMPLIFICATION)


WRITE_AMPLIFICATION = (pl.col("flash_bytes_programmed") - pl.col("flash_bytes_programmed").shift(1, fill_value=0)) / (
    pl.col("host_bytes_written") - pl.col("host_bytes_written").shift(1, fill_value=0)
)
"""What the flash programmed for each byte written since the row before; a drive counts both from when it was opened."""


def write_amplifications(runs: Sequence[Run]) -> list[float]:
    """Of each of some runs in turn on one drive."""
    totals = pl.DataFrame([run.document["target"]["accounting"] for run in runs])
    return totals.select(WRITE_AMPLIFICATION).to_series().to_list()


def capacity(drive: SimulatedDrive) -> int:
    """Bytes of a drive."""
    return int(drive.parameters["identity.capacity_bytes"].value)


def maps_pages(drive: SimulatedDrive) -> bool:
    """Whether it is flash with a map of pages, and not of whole blocks."""
    family = drive.parameters.get("map.family")
    return family is not None and family.value == "page"


def fact(run: Run, name: str) -> str:
    """What the drive's description says under a name that begins so; nothing if it says nothing."""
    return next((value for key, value in run.document["target"]["facts"] if key.startswith(name)), "")


def number(value: float | None) -> str:
    """Three significant digits, and all digits before the point.

    >>> [number(value) for value in (0, 0.0229, 0.5, 1, 8.6, 76.51, 247.3, 2101, None)]
    ['0.00', '0.0229', '0.500', '1.00', '8.60', '76.5', '247', '2101', '–']
    """
    if value is None:
        return "–"
    size = abs(value)
    if 0 < size < 0.995:
        return f"{value:.{min(2 - math.floor(math.log10(size)), 9)}f}"
    return f"{value:.{2 if size < 9.995 else 1 if size < 99.95 else 0}f}"


def amount(size: float) -> str:
    """Bytes in binary units, a round number without decimals.

    >>> [amount(size) for size in (512, 1 << 20, 1000 << 30, 1.09 * 2**40)]
    ['512 B', '1 MiB', '1,000 GiB', '1.09 TiB']
    """
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    unit = 0
    while size >= (1024 if unit == 0 else 1023.5) and unit + 1 < len(units):
        size, unit = size / 1024, unit + 1
    if size == int(size):
        return f"{int(size):,} {units[unit]}"
    text = f"{round(size, -1):,.0f}" if size >= 999.5 else number(size)
    whole, _, decimals = text.partition(".")
    return f"{text if decimals.strip('0') else whole} {units[unit]}"


def table(rows: pl.DataFrame, head: Sequence[str] = ()) -> str:
    """Markdown of a frame. `head` names the columns where a frame cannot, as two of a table may have the same name.

    >>> print(table(pl.DataFrame({"drive": ["A"], "MB/s": [76.51], "stalls": [0]})), end="")
    | drive | MB/s | stalls |
    |---|---|---|
    | A | 76.5 | 0 |
    """
    lines = [head or rows.columns, *(map(_cell, row) for row in rows.iter_rows())]
    head_line, *others = ["| " + " | ".join(line) + " |\n" for line in lines]
    return "".join([head_line, "|" + "---|" * rows.width + "\n", *others])


def _cell(value: str | int | float | None) -> str:
    return str(value) if isinstance(value, str | int) else number(value)


def prose(text: str) -> str:
    """A paragraph in one line, as the pages have it."""
    return " ".join(text.split())
