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

    def __init__(self, name: str, /, *, text: str | None = None, **settings: Value) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "settings", tuple(settings.items()))
        object.__setattr__(self, "text", text)
        _native.check_target(self.target, self.files)

    @classmethod
    def from_dict(
        cls, sections: Mapping[str, Any], /, *, name: str = "from-dict", source: str = "given", **settings: Value
    ) -> SimulatedDrive:
        """A drive from the sections of its file: `{"kind": "flash", "nand": {"read_ns": 50_000, …}, …}`.

        A value stands alone, and its source is then `source`, or with its own: `{"value": 50_000, "source": "data sheet"}`.
        """
        return cls(f"{name}.toml", text=_to_toml(sections, source), **settings)

    @property
    def target(self) -> str:
        """The drive as the command line names it."""
        query = "&".join(f"{key}={_setting(value)}" for key, value in self.settings)
        return f"sim:{self.name}" + (f"?{query}" if query else "")

    @property
    def files(self) -> dict[str, str]:
        """The drive's file by name, if it is none that the program finds by itself."""
        return {} if self.text is None else {self.name: self.text}

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

    def replace(self, parameters: Mapping[str, Value] | None = None, /, **settings: Value) -> SimulatedDrive:
        """The same drive with other parameters, such as `{"nand.read_ns": 60_000}`, or other settings."""
        name, text = self.name, self.text
        if parameters:
            name = name if name.endswith(".toml") else f"{name}.toml"
            text = _to_toml(_replace(self.to_dict(), parameters, self.name), "given")
        changed: dict[str, Any] = {**dict(self.settings), **settings}
        return SimulatedDrive(name, text=text, **changed)


def _replace(sections: dict[str, Any], parameters: Mapping[str, Value], drive: str) -> dict[str, Any]:
    """The sections of a drive's file with other values, each of which is said to be given."""
    for key, value in parameters.items():
        section, _, name = key.partition(".")
        known = [f"{table}.{entry}" for table, entries in sections.items() if isinstance(entries, dict) for entry in entries]
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f'; did you mean "{near[0]}"?' if near else ": its `parameters` lists them"
            raise _native.UsageError(f'{drive} has no parameter "{key}"{hint}')
        sections[section][name] = {"value": value, "source": "given"}
    return sections


def target_of(target: SimulatedDrive | str | PathLike[str]) -> tuple[str, dict[str, str]]:
    """A target as the command line names it, and the drives' files that it needs."""
    if isinstance(target, SimulatedDrive):
        return target.target, target.files
    return str(target), {}


def _setting(value: Value) -> str:
    match value:
        case bool():
            return "on" if value else "off"
        case _:
            return str(value)


def _to_toml(sections: Mapping[str, Any], source: str) -> str:
    lines = []
    for name, section in sections.items():
        if not isinstance(section, Mapping):
            lines.append(f"{name} = {_toml_value(section)}")
    for name, section in sections.items():
        if isinstance(section, Mapping):
            lines.append(f"\n[{name}]")
            for key, entry in section.items():
                entry = entry if isinstance(entry, Mapping) else {"value": entry, "source": source}
                lines.append(f"{key} = {_toml_value(entry)}")
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    # Numbers, words and truths are spelled alike in JSON and TOML.
    return json.dumps(value)
