"""Plans: everything that decides a run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from os import PathLike
from typing import Any, ClassVar, SupportsFloat, SupportsIndex

from . import _native
from .drive import SimulatedDrive, files_of, plain, target_of, to_json
from .errors import UsageError, in_family

Target = SimulatedDrive | str | PathLike[str]
"""A simulated drive; or what the command line takes: a folder, a file, a block device, `sim:NAME`."""

Size = SupportsIndex | str
"""Bytes, or a text such as `"1GiB"` or `"4k"`."""

Time = SupportsFloat | str | timedelta
"""Seconds, or a text such as `"500ms"` or `"2min"`."""


@dataclass(frozen=True)
class Plan:
    """A plan with all its settings, as `likenew run PLAN.toml` takes it."""

    procedure: str
    target: str
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    drive: str | None = field(default=None, repr=False)
    """The file of the simulated drive, if no folder has it."""

    @classmethod
    @in_family()
    def from_toml(cls, text: str, target: Target | None = None) -> Plan:
        """Reads what `to_toml` or `likenew COMMAND --plan` wrote; `target` replaces the one that it names."""
        try:
            plan = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"the plan is not TOML: {error}") from None
        return cls.from_dict(plan, target)

    @classmethod
    def from_dict(cls, plan: Mapping[str, Any], target: Target | None = None) -> Plan:
        """The same of a plan that was read, such as that in the document of a run."""
        if not isinstance(plan.get("procedure"), str):
            raise UsageError('the plan names no procedure, such as procedure = "bench"')
        name, drive = (plan.get("target"), plan.get("drive")) if target is None else target_of(target)
        if name is None:
            raise UsageError("the plan names no target: give one to Plan.from_toml")
        return cls(plan["procedure"], name, plan.get("seed", 0), plan.get("options", {}), drive)

    @in_family()
    def to_json(self) -> str:
        """The plan as JSON."""
        return to_json({key: value for key, value in vars(self).items() if value is not None})

    def to_toml(self) -> str:
        """The plan as TOML, as `likenew run PLAN.toml` reads it."""
        return _native.to_toml(self.to_json())

    def plan(self) -> Plan:
        """The plan itself, as the classes of plans give theirs."""
        return self

    def on(self, target: Target) -> Plan:
        """The same plan on another target."""
        name, drive = target_of(target)
        return replace(self, target=name, drive=drive)

    def with_seed(self, seed: int) -> Plan:
        """The same plan with other randomness."""
        return replace(self, seed=seed)


@dataclass(frozen=True)
class Command:
    """What the classes of plans have in common: a target, and a seed of all randomness."""

    command: ClassVar[str]

    target: Target
    seed: int | None = field(default=None, kw_only=True)

    @in_family()
    def plan(self) -> Plan:
        """The plan, with every setting that was left open as the command line sets it on this target."""
        name, drive = target_of(self.target)
        words = [self.command, *self._options(), "--plan", "--", name]
        return replace(Plan.from_toml(_native.run_command(words, files_of(name, drive))), drive=drive)

    def on(self, target: Target) -> Command:
        """The same command on another target, whose plan may have other defaults."""
        return replace(self, target=target)

    def _options(self) -> Iterable[str]:
        for setting in fields(self):
            value = plain(getattr(self, setting.name))
            if setting.name == "target" or value is None or value is False:
                continue
            name = f"--{setting.name.rstrip('_').replace('_', '-')}"
            is_time = setting.type.startswith("Time")
            yield name if value is True else f"{name}={seconds(value) if is_time else text_of(value)}"


AnyPlan = Plan | Command
"""What `run` takes."""


def text_of(value: Any) -> str:
    """A value of an option as the command line takes it."""
    match value:
        case str():
            return value
        case PathLike():
            return str(value)
        case Iterable():
            return ",".join(map(text_of, value))
        case _:
            return str(value)


def seconds(value: Time) -> str:
    """A time as plans spell it."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    return value if isinstance(value, str) else f"{plain(value)}s"
