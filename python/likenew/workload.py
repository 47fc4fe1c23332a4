"""Workloads: streams of I/O that run side by side, as data."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .plan import Size, Time, seconds


@dataclass(frozen=True)
class Sequential:
    """From the start of a region to its end, then again. A region is `"whole"`, `"0..8GiB"` or `"25%..50%"`."""

    region: str = "whole"

    def to_dict(self) -> dict[str, Any]:
        """As plans spell it."""
        return {"sequential": self.region}


@dataclass(frozen=True)
class Random:
    """Uniformly random within a region."""

    region: str = "whole"

    def to_dict(self) -> dict[str, Any]:
        """As plans spell it."""
        return {"random": self.region}


@dataclass(frozen=True)
class Zipf:
    """Random with Zipf's law: the k-th most popular address comes with weight k^−theta."""

    theta: float
    region: str = "whole"

    def to_dict(self) -> dict[str, Any]:
        """As plans spell it."""
        return {"zipf": {"region": self.region, "theta": self.theta}}


@dataclass(frozen=True)
class Strided:
    """Every `step` bytes from the start of a region."""

    step: Size
    region: str = "whole"

    def to_dict(self) -> dict[str, Any]:
        """As plans spell it."""
        return {"strided": {"region": self.region, "step": _size(self.step)}}


Pattern = Sequential | Random | Zipf | Strided


@dataclass(frozen=True)
class Rate:
    """I/Os that are due at a rate, whatever the drive does: latency counts from when one was due."""

    per_second: float
    spacing: Literal["even", "poisson"] = "even"
    depth_max: int = 256


@dataclass(frozen=True)
class Stream:
    """One kind of I/O: what, how long, where, when, and with what data.

    `op` is `"read"`, `"write"`, `"trim"` or `"mix:70"` for 70% reads; `size` one length, or several with weights such as
    `"4KiB:3,64KiB:1"`. `depth` I/Os are in flight; with a `rate`, they leave when they are due instead. `data` is `"random"`,
    `"zero"`, or the share that it compresses to, such as `"0.5"`.
    """

    op: str
    size: Size
    pattern: Pattern = Random()
    depth: int = field(default=1, kw_only=True)
    rate: Rate | None = field(default=None, kw_only=True)
    data: str = field(default="random", kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """As plans spell it."""
        arrival: dict[str, Any] = {"closed": {"depth": self.depth}}
        if self.rate is not None:
            rate = self.rate
            arrival = {
                "open": {
                    "per_second": float(rate.per_second),
                    "inter_arrival": rate.spacing,
                    "depth_max": rate.depth_max,
                }
            }
        return {
            "op": self.op,
            "size": _size(self.size),
            "pattern": self.pattern.to_dict(),
            "arrival": arrival,
            "data": self.data,
        }


@dataclass(frozen=True)
class Workload:
    """Streams that run side by side until the first of its limits is reached; without streams, idle time.

    A workload with a `seed` has the same random addresses whatever the seed of the plan.
    """

    name: str
    streams: Sequence[Stream] = ()
    elapsed: Time | None = field(default=None, kw_only=True)
    bytes: Size | None = field(default=None, kw_only=True)
    ops: int | None = field(default=None, kw_only=True)
    lanes: int = field(default=1, kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """As plans spell it."""
        limits: dict[str, Any] = {}
        if self.elapsed is not None:
            limits["elapsed"] = seconds(self.elapsed)
        if self.bytes is not None:
            limits["bytes"] = _size(self.bytes)
        if self.ops is not None:
            limits["ops"] = self.ops
        streams = [stream.to_dict() for stream in self.streams]
        return {"name": self.name, "lanes": self.lanes, "until": limits, "seed": self.seed, "stream": streams}


def _size(size: Size) -> str:
    return size if isinstance(size, str) else f"{operator.index(size)}B"
