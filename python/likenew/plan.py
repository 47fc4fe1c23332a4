"""Plans: everything that decides a run."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from os import PathLike
from typing import Any, ClassVar

from . import _native
from .drive import SimulatedDrive, target_of

Target = SimulatedDrive | str | PathLike[str]
"""A simulated drive; or what the command line takes: a folder, a file, a block device, `sim:NAME`."""

Size = int | str
"""Bytes, or a text such as `"1GiB"` or `"4k"`."""

Time = float | str | timedelta
"""Seconds, or a text such as `"500ms"` or `"2min"`."""


@dataclass(frozen=True)
class Plan:
    """A plan with all its settings, as `likenew run PLAN.toml` takes it."""

    procedure: str
    target: str
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict, repr=False)
    """Files of simulated drives that come from memory, by name."""

    @classmethod
    def from_toml(cls, text: str, target: Target | None = None) -> Plan:
        """Reads what `to_toml` or `likenew COMMAND --plan` wrote; `target` replaces the one that it names."""
        try:
            plan = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise _native.UsageError(f"the plan is not TOML: {error}") from None
        if not isinstance(plan.get("procedure"), str):
            raise _native.UsageError('the plan names no procedure, such as procedure = "bench"')
        found, files = target_of(target) if target is not None else (plan.get("target"), {})
        if found is None:
            raise _native.UsageError("the plan names no target: give one to Plan.from_toml")
        return cls(plan["procedure"], found, plan.get("seed", 0), plan.get("options", {}), files)

    def to_json(self) -> str:
        """The plan as JSON."""
        return json.dumps({"procedure": self.procedure, "target": self.target, "seed": self.seed, "options": self.options})

    def to_toml(self) -> str:
        """The plan as TOML, as `likenew run PLAN.toml` reads it."""
        return _native.plan_toml(self.to_json())

    def on(self, target: Target) -> Plan:
        """The same plan on another target."""
        name, files = target_of(target)
        return replace(self, target=name, files=files)

    def with_seed(self, seed: int) -> Plan:
        """The same plan with other randomness."""
        return replace(self, seed=seed)


@dataclass(frozen=True)
class Command:
    """What the classes of plans have in common: a target, and a seed of all randomness."""

    command: ClassVar[str]

    target: Target
    seed: int | None = field(default=None, kw_only=True)

    def plan(self) -> Plan:
        """The plan, with every setting that was left open as the command line sets it on this target."""
        name, files = target_of(self.target)
        words = [self.command, *self._options(), "--plan", "--", name]
        return replace(Plan.from_toml(_native.run_command(words, files)), files=files)

    def on(self, target: Target) -> Command:
        """The same command on another target, whose plan may have other defaults."""
        return replace(self, target=target)

    def _options(self) -> Iterable[str]:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if setting.name == "target" or value is None or value is False:
                continue
            name = f"--{setting.name.rstrip('_').replace('_', '-')}"
            is_time = setting.type.startswith("Time")
            yield name if value is True else f"{name}={seconds(value) if is_time else _text(value)}"


AnyPlan = Plan | Command
"""What `run` takes."""


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case PathLike():
            return str(value)
        case Iterable():
            return ",".join(map(_text, value))
        case _:
            return str(value)


def seconds(value: Time) -> str:
    """A time as plans spell it."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    return value if isinstance(value, str) else f"{value}s"
