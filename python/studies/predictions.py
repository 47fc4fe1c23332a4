"""What is predicted of the studies' flash drives, as intervals over everything that is not known of them, and which of it decides.

`cargo xtask reproduce --predictions` writes docs/explanation/predictions.md.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from lab import GIB, MIB, capacity, maps_pages, measure, number, sequential, table, workload
from scipy.stats import norm, spearmanr

import likenew
from likenew import Random, SimulatedDrive, Stream

PAGE = Path(__file__).parents[2] / "docs/explanation/predictions.md"
IOS_MAX = 1_200_000
"""No more random writes than this, which are 4.9 GB: drives that do so many in less than three minutes are fast."""
LEVEL_SECONDS = 20
"""New drives keep their speed as long as erased blocks last, and overwritten ones have none left: enough for both."""

SEQUENTIAL = "sequential write, new, MB/s"
NEW, FILLED, USED = (f"random write, {state}, MB/s" for state in ("new", "filled", "overwritten"))
STATES: dict[str, dict[str, Any]] = {NEW: {"state": "new"}, FILLED: {"state": "new", "fill": 1}, USED: {"state": "used"}}
"""The past of a drive: nothing; every address written once in sequence; that, and overwrites at random."""
AMPLIFICATION = "write amplification of that"

RANDOM_PUBLISHED = {
    "intel-x25-m-80gb": ("39.3", 39.3),
    "intel-x25-e-32gb": ("31.7", 31.7),
    "ocz-vertex": ("8.2", 8.2),
    "ocz-summit": ("12.8", 12.8),
    "samsung-slc": ("2.61", 2.61),
    "jmicron-jmf602b": ("0.02", 0.02),
    "jmicron-jmf602bx2": ("0.03", 0.03),
}
SEQUENTIAL_PUBLISHED = {"intel-x25-m-80gb": ("76–77", 76.5), "intel-520-120gb": ("193", 193.0)}
FITTED = {("intel-x25-m-80gb", SEQUENTIAL)}
"""A parameter was chosen to agree with exactly this rated figure."""
DRIVES = list(RANDOM_PUBLISHED | SEQUENTIAL_PUBLISHED)


def published(drive: str, metric: str) -> tuple[str, float] | None:
    """A figure as printed, and as a number; none where a study's figure is not known here."""
    if metric == SEQUENTIAL:
        return SEQUENTIAL_PUBLISHED[drive]
    return RANDOM_PUBLISHED[drive] if metric == NEW else None


@dataclass(frozen=True)
class Effort:
    """How much is drawn, and for how long and how far random writes are spread."""

    draws: int
    seconds: float
    span: int


WHOLE = Effort(64, 180, 8 * GIB)
QUICK = Effort(12, 1, 256 * MIB)


def measure_all(name: str, drive: SimulatedDrive, effort: Effort) -> dict[str, float]:
    """Every metric of a drive of the catalog, or of one that was drawn around it."""
    metrics: dict[str, float] = {}
    if name in SEQUENTIAL_PUBLISHED:
        written = sequential("write", 0, min(2 * GIB, capacity(drive) // 4))
        metrics[SEQUENTIAL] = measure(drive.replace(state="new", trim="off"), written)["mb_per_s"][0]
    if name in RANDOM_PUBLISHED:
        rows = {metric: random_writes(drive.replace(**state, trim="off"), metric, effort) for metric, state in STATES.items()}
        metrics |= {metric: row["mb_per_s"][0] for metric, row in rows.items()}
        metrics[AMPLIFICATION] = rows[USED]["write_amplification"][0]
    return metrics


def random_writes(drive: SimulatedDrive, metric: str, effort: Effort) -> pl.DataFrame:
    """Random writes as in study 3, in one row."""
    # Maps of whole blocks fill their log blocks only after a while, and take few writes until then.
    keeps_level = metric != FILLED and maps_pages(drive)
    seconds = min(effort.seconds, LEVEL_SECONDS) if keeps_level else effort.seconds
    region = Random(f"0..{min(effort.span, capacity(drive))}")
    return measure(drive, workload([Stream("write", "4KiB", region, depth=3)], elapsed=seconds, ops=IOS_MAX))


def deciding(positions: pl.DataFrame, results: pl.Series) -> list[tuple[str, float]]:
    """The parameters whose order is the order of the results most of all, at most three, with Spearman's ρ; only those whose 95%
    interval excludes no order at all.

    The interval is that of Fisher's transformation with the variance of Bonett and Wright, Psychometrika 65 (2000) 23–28.
    """
    rhos = {parameter.name: float(spearmanr(parameter, results).statistic) for parameter in positions}
    reach = norm.ppf(0.975) / math.sqrt(len(results) - 3)
    clear = {key: rho for key, rho in rhos.items() if abs(rho) >= 1 or abs(math.atanh(rho)) > reach * math.sqrt(1 + rho**2 / 2)}
    return sorted(clear.items(), key=lambda item: -abs(item[1]))[:3]


@dataclass(frozen=True)
class Prediction:
    """A metric of the draws: the median, what 90% of them lie within, and what decides it."""

    drive: str
    metric: str
    catalogued: float
    drawn: pl.Series
    positions: pl.DataFrame

    @property
    def interval(self) -> tuple[float, float]:
        low, high = (self.drawn.quantile(share, "linear") for share in (0.05, 0.95))
        assert low is not None and high is not None
        return low, high

    @property
    def deciding(self) -> list[tuple[str, float]]:
        return deciding(self.positions, self.drawn)

    def row(self) -> dict[str, str | float]:
        """A row of the drive's table."""
        low, high = self.interval
        figure = published(self.drive, self.metric)
        parameters = ", ".join(f"`{key}` {rho:+.2f}" for key, rho in self.deciding)
        return {
            "metric": self.metric,
            "published": figure[0] if figure else "–",
            "predicted: median (5–95%)": f"{number(self.drawn.quantile(0.5, 'linear'))} ({number(low)}–{number(high)})",
            "with the catalog's values": number(self.catalogued),
            "basis": "fitted" if (self.drive, self.metric) in FITTED else "predicted",
            "decided by (rank correlation)": parameters or "nothing that was drawn",
        }

    def miss(self) -> str:
        """Names a published figure that lies outside of what is predicted."""
        low, high = self.interval
        figure = published(self.drive, self.metric)
        if figure is None or low <= figure[1] <= high:
            return ""
        side = "below" if figure[1] < low else "above"
        first = next((f"`{key}` decides it" for key, _ in self.deciding), "no parameter that was drawn decides it")
        return f"\nMissed: {self.metric}.\n{figure[0]} is {side} what 90% of the draws reach; {first}.\n"


def predict(name: str, effort: Effort) -> list[Prediction]:
    """Measures the draws of a drive, on all processors, and the drive as the catalog has it."""
    print(f"  {name}: {effort.draws} draws", file=sys.stderr)
    drive = SimulatedDrive(name)
    draws = drive.draw(effort.draws)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        catalogued, *drawn = pool.map(lambda one: measure_all(name, one, effort), [drive, *(draw.drive for draw in draws)])
    results, positions = pl.DataFrame(drawn), pl.DataFrame([draw.positions for draw in draws])
    return [Prediction(name, metric, value, results[metric], positions) for metric, value in catalogued.items()]


def page(effort: Effort, names: list[str]) -> Iterator[str]:
    """The page in parts, a drive at a time."""
    yield f"""\
# What the studies' flash drives are predicted to do

Made by `cargo xtask reproduce --predictions` of likenew {likenew.__version__}, which runs
[python/studies/predictions.py](../../python/studies/predictions.py); do not edit it by hand.

Nobody publishes how these drives work inside. Each file of
[the catalog](../../catalog/README.md) states what an assumed parameter may be. {effort.draws} drives are drawn
from these ranges (a Latin hypercube with a fixed seed), and each is measured as the studies
measured. A prediction is the median of them, with the range that holds 90%. It is decided by the
parameters whose order is nearest to the order of the results (Spearman's ρ, only where its 95%
interval excludes 0).

- *Random write*: 4 KiB over 8 GiB, 3 in flight, 3 minutes or 1.2 million writes. Where the speed
  does not change meanwhile (new and overwritten drives with a page map), 20 seconds.
- *Filled*: every address was written once in sequence, which is "used" in study 3.
- *Overwritten*: filled, then written at random as `?state=used` says.
- *Fitted*: a parameter was chosen to agree with exactly this rated figure.
  Everything else is predicted.

Published figures of used drives are not given here, and no parameter was chosen to agree with any.
"""
    for name in names:
        found = predict(name, effort)
        rows = pl.DataFrame([prediction.row() for prediction in found])
        yield f"\n## {name}\n\n{table(rows)}" + "".join(prediction.miss() for prediction in found)


def write(quick: bool, part: str, draws: int | None) -> None:
    """Writes the page, or prints what is no whole one."""
    effort = QUICK if quick else WHOLE
    effort = replace(effort, draws=draws or effort.draws)
    names = [name for name in DRIVES if part in name]
    if quick or part:
        print("".join(page(effort, names)))
        return
    text = ""
    for drive in page(effort, names):
        text += drive
        # After each drive, because all of them take hours.
        PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)
