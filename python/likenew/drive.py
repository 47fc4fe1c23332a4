"""Simulated drives as values: from the catalog, from a dict, or with other parameters."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from . import _native
from .errors import LikenewError, UsageError, in_family

Value = bool | int | float | str
"""A parameter of a drive, or a setting of its state."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a simulated drive, and where its value comes from."""

    value: Value
    source: str
    is_assumed: bool


def catalog() -> list[str]:
    """Names of the simulated drives that come with the package."""
    return _native.catalog()


@dataclass(frozen=True)
class SimulatedDrive:
    """A simulated drive and the state it is in.

    >>> drive = SimulatedDrive("tiny-flash", state="used", fill=0.8)
    >>> drive.target
    'sim:tiny-flash?state=used&fill=0.8'
    >>> slow = drive.replace({"nand.program_ns": 2_000_000})
    >>> slow.parameters["nand.program_ns"].value
    2000000

    `name` is one of `catalog()`, `generated-17` for any seed, or the path of a drive's file. The settings are those behind the
    question mark of a target; `likenew help sim` lists them. Drives can be compared, hashed and sent to other processes.
    """

    name: str
    settings: tuple[tuple[str, Value], ...]
    text: str | None = field(repr=False)
    """The drive's file, where it differs from the one that `name` names."""

    @in_family()
    def __init__(self, name: str, /, *, text: str | None = None, **settings: Value) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "settings", tuple((key, plain(value)) for key, value in settings.items()))
        object.__setattr__(self, "text", text)
        _native.check_target(self.target, text)

    @classmethod
    @in_family()
    def from_dict(
        cls, sections: Mapping[str, Any], /, *, name: str = "from-dict", source: str = "given", **settings: Value
    ) -> SimulatedDrive:
        """A drive from the sections of its file: `{"kind": "flash", "nand": {"read_ns": 50_000, …}, …}`.

        A value stands alone, and its source is then `source`, or with its own: `{"value": 50_000, "source": "data sheet"}`.
        """
        sourced = {
            key: {
                name: entry if isinstance(entry, Mapping) else {"value": entry, "source": source}
                for name, entry in section.items()
            }
            if isinstance(section, Mapping)
            else section
            for key, section in sections.items()
        }
        return cls(f"{name}.toml", text=_native.to_toml(to_json(sourced)), **settings)

    @property
    def target(self) -> str:
        """The drive as the command line names it."""
        query = "&".join(f"{key}={_setting(value)}" for key, value in self.settings)
        return f"sim:{self.name}" + (f"?{query}" if query else "")

    @property
    def file(self) -> str:
        """The drive's file, as TOML. Written to a file, it is a drive for the command line: `sim:FILE.toml`."""
        return self.text if self.text is not None else _native.drive_file(self.name)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """All parameters by key, such as `nand.program_ns`."""
        values = {
            f"{section}.{key}": entry["value"]
            for section, entries in tomllib.loads(self.file).items()
            if isinstance(entries, dict)
            for key, entry in entries.items()
            if isinstance(entry, dict) and "value" in entry
        }
        return {
            key: Parameter(values.get(key, text), source, is_assumed)
            for key, text, source, is_assumed in _native.drive_parameters(self.name, self.file)
        }

    def to_dict(self) -> dict[str, Any]:
        """The sections of its file, as `from_dict` takes them."""
        return tomllib.loads(self.file)

    @in_family()
    def replace(self, parameters: Mapping[str, Value] | None = None, /, **settings: Value) -> SimulatedDrive:
        """The same drive with other parameters, such as `{"nand.read_ns": 60_000}`, or other settings."""
        name, text = self.name, self.text
        if parameters:
            name = name if name.endswith(".toml") else f"{name}.toml"
            text = _native.to_toml(to_json(_replace(self.to_dict(), parameters, self.name)))
        changed: dict[str, Any] = {**dict(self.settings), **settings}
        return SimulatedDrive(name, text=text, **changed)

    @in_family()
    def draw(self, count: int, *, seed: int = 1) -> list[Draw]:
        """So many drives with other values of what is assumed of this one, spread evenly over the ranges that its file states.

        >>> draws = SimulatedDrive("intel-x25-m-80gb").draw(10)
        >>> sorted(int(10 * one.positions["firmware.write_command_ns"]) for one in draws)
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        """
        draws = _native.draw_parameters(self.name, self.file, count, seed)
        return [
            Draw(
                self.replace({key: tomllib.loads(f"value = {text}")["value"] for key, text, _ in drawn}),
                {key: position for key, _, position in drawn},
            )
            for drawn in draws
        ]


@dataclass(frozen=True)
class Draw:
    """A drive whose assumed parameters were drawn, and the position of each in its range, from 0 to 1."""

    drive: SimulatedDrive
    positions: Mapping[str, float]


def _replace(sections: dict[str, Any], parameters: Mapping[str, Value], drive: str) -> dict[str, Any]:
    """The sections of a drive's file with other values, each of which is said to be given."""
    for key, value in parameters.items():
        section, _, name = key.partition(".")
        known = [f"{table}.{entry}" for table, entries in sections.items() if isinstance(entries, dict) for entry in entries]
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f'; did you mean "{near[0]}"?' if near else ": its `parameters` lists them"
            raise UsageError(f'{drive} has no parameter "{key}"{hint}')
        sections[section][name] = {"value": value, "source": "given"}
    return sections


def target_of(target: SimulatedDrive | str | PathLike[str]) -> tuple[str, str | None]:
    """A target as the command line names it, and the drive's file, if no folder has it."""
    return (target.target, target.text) if isinstance(target, SimulatedDrive) else (str(target), None)


def files_of(target: str, drive: str | None) -> dict[str, str]:
    """The file of a drive by the name that its target has for it."""
    return {} if drive is None else {target.removeprefix("sim:").partition("?")[0]: drive}


def _setting(value: Value) -> str:
    return str(value) if not isinstance(value, bool) else "on" if value else "off"


def plain(value: Any) -> Any:
    """A value as Python's own, if it is one of NumPy."""
    return value.tolist() if hasattr(value, "tolist") else value


def to_json(value: Any) -> str:
    """Numbers, words, lists and tables as JSON."""

    def other(value: Any) -> Any:
        if plain(value) is value:
            raise UsageError(f"{value!r} is no number, text, list or table")
        return plain(value)

    try:
        return json.dumps(value, default=other, allow_nan=False)
    except LikenewError:
        raise
    except ValueError as error:
        raise UsageError(f"a plan or a drive has a number that is not finite, or holds itself: {error}") from None
