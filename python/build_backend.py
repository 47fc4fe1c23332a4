"""Builds the wheel with maturin, and adds likenew/plans.py, which the built command line's own grammar decides.

pip calls the hooks of PEP 517 below. `python python/build_backend.py NATIVE PLANS` writes that file alone, from a native module
that was built already: `cargo xtask python` does so for the tests.
"""

import json
import keyword
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader, SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

TYPES = {"SIZE": "Size", "TIME": "Time", "N": "int", "OP": "str", "FILE": "str | PathLike[str]", "DIR": "str | PathLike[str]"}
UNITS = {"SIZE": 'bytes, or a text such as "64k"', "TIME": 'seconds, or a text such as "500ms"', "N": "a number"}
"""What a setting takes, for readers."""

EXAMPLE = "sim:tiny-flash"
"""The drive whose plans tell the defaults that depend on no drive; `OTHER` tells which those are."""
OTHER = "sim:disk-2tb"
TRACE = "fio version 3 iolog\n0 /x add\n0 /x open\n1 /x read 0 4096\n2 /x close\n"
"""Without a recording there is no plan of a replay."""

HEAD = '''"""Plans as classes, one for each command that makes a plan.

A setting that is left out is as the command line sets it; `plan()` shows all of them.

Written by `python/build_backend.py` from the command line's grammar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar, Literal

from .drive import target_of
from .errors import in_family
from .plan import Command, Plan, Size, Target, Time
from .workload import Workload

'''
TAIL = '''
@dataclass(frozen=True)
class Workloads:
    """Workloads of your own, one after the other.

    >>> from likenew import Random, SimulatedDrive, Stream, Workload
    >>> mail = Workload("mail", [Stream("mix:70", "4k", Random("0..64MiB"), depth=8)], elapsed=2)
    >>> Workloads(SimulatedDrive("tiny-flash"), [mail]).plan().options["workload"][0]["name"]
    'mail'
    """

    target: Target
    workloads: Sequence[Workload]
    seed: int = field(default=0, kw_only=True)

    @in_family()
    def plan(self) -> Plan:
        """The plan."""
        name, drive = target_of(self.target)
        return Plan("run", name, self.seed, {"workload": [workload.to_dict() for workload in self.workloads]}, drive)

    def on(self, target: Target) -> Workloads:
        """The same workloads on another target."""
        return Workloads(target, self.workloads, seed=self.seed)
'''


def unit_of(option: dict[str, Any]) -> str:
    """The word for what an option takes, such as `SIZE`."""
    return str(option["kind"]["text"]).removesuffix(",..").split("|")[0].split(".")[0]


def type_of(option: dict[str, Any]) -> str:
    kind = option["kind"]
    if kind == "switch":
        return "bool"
    if "choice" in kind:
        return f"Literal[{', '.join(json.dumps(word) for word in kind['choice'])}]"
    return TYPES.get(unit_of(option), "str")


def meaning_of(option: dict[str, Any]) -> str:
    """What it takes, for readers."""
    kind = option["kind"]
    if kind == "switch":
        return "True or False"
    if "choice" in kind:
        words = [f'"{word}"' for word in kind["choice"]]
        taken = f"{', '.join(words[:-1])} or {words[-1]}"
    else:
        taken = UNITS.get(unit_of(option), "a path" if "PathLike" in type_of(option) else "a text")
    return f"{taken}; or several" if option["is_list"] else taken


def name_of(option: dict[str, Any]) -> str:
    name = str(option["name"]).replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def field_of(option: dict[str, Any]) -> str:
    kind = type_of(option)
    if kind == "bool":
        return f"    {name_of(option)}: bool = field(default=False, kw_only=True)"
    many = f"Sequence[{kind}] | {kind}" if option["is_list"] else kind
    many = many if not option["is_list"] or "str" in kind or kind in ("Size", "Time") else f"{many} | str"
    return f"    {name_of(option)}: {many} | None = field(default=None, kw_only=True)"


def help_of(option: dict[str, Any], defaults: dict[str, str], in_python: Callable[[str], str]) -> str:
    """The sentence of an option, and its default."""
    text: str = in_python(option["help"])
    default = defaults.get(option["name"])
    if default is not None and "default: " not in text:
        text += f" [default: {default}]"
    return text if text.endswith("?") else f"{text}."


def class_of(command: dict[str, Any], defaults: dict[str, str], in_python: Callable[[str], str]) -> str:
    about = f"{command['about']}.".replace("?.", "?")
    lines = ["@dataclass(frozen=True)", f"class {command['name'].title()}(Command):", f'    """{about}', ""]
    lines += ["    Settings, of which those that are left out are as on the command line:", ""]
    helps = [help_of(option, defaults, in_python).replace("\\", "\\\\") for option in command["options"]]
    for option, text in zip(command["options"], helps):
        lines.append(f"    {name_of(option)}: {meaning_of(option)}")
        lines += textwrap.wrap(text, 112, initial_indent=" " * 8, subsequent_indent=" " * 8)
    lines += ["    seed: a number", "        Of all randomness [default: 0].", '    """', ""]
    lines += [f'    command: ClassVar[str] = "{command["name"]}"', ""]
    for option, text in zip(command["options"], helps):
        lines.append(field_of(option))
        lines += [f"    {line}" for line in textwrap.wrap(f'"""{text}"""', 112)]
    return "\n".join(lines) + "\n"


def defaults_of(native: ModuleType, command: dict[str, Any]) -> dict[str, str]:
    """What a plan says of options that were left out, wherever two drives are alike in it."""
    with tempfile.NamedTemporaryFile("w", suffix=".log") as trace:
        trace.write(TRACE)
        trace.flush()
        words = [command["name"], *([f"--trace={trace.name}"] if command["name"] == "replay" else []), "--plan", "--"]
        one, other = (tomllib.loads(native.run_command([*words, target]))["options"] for target in (EXAMPLE, OTHER))

    def default(option: dict[str, Any]) -> str | None:
        name = option["name"].replace("-", "_")
        value = next((one[key] for key in (name, f"{name}s") if key in one and one[key] == other.get(key)), None)
        if isinstance(value, list):
            return ",".join(map(str, value))
        if isinstance(value, bool):
            return None if option["kind"] == "switch" else "on" if value else "off"
        return None if value is None or option["name"] == "trace" else str(value)

    return {option["name"]: text for option in command["options"] if (text := default(option)) is not None}


def module_at(name: str, loader: ExtensionFileLoader | SourceFileLoader) -> ModuleType:
    """A module of the package without the package, which is not whole yet."""
    spec = spec_from_loader(name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def plans_of(native: Path) -> str:
    """The text of likenew/plans.py for a built native module."""
    module = module_at("likenew._native", ExtensionFileLoader("likenew._native", str(native)))
    sources = Path(__file__).with_name("likenew")
    errors = module_at("likenew.errors", SourceFileLoader("likenew.errors", str(sources / "errors.py")))
    commands = json.loads(module.command_grammar())
    classes = [class_of(command, defaults_of(module, command), errors.in_python) for command in commands]
    return HEAD + "\n" + "\n\n".join(classes) + "\n" + TAIL


def build_wheel(folder: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """PEP 517."""
    import maturin

    name: str = maturin.build_wheel(folder, settings, metadata)
    with tempfile.TemporaryDirectory() as temporary:
        wheel("unpack", f"--dest={temporary}", str(Path(folder) / name))
        (unpacked,) = Path(temporary).iterdir()
        (native,) = (unpacked / "likenew").glob("_native*.so")
        (unpacked / "likenew/plans.py").write_text(plans_of(native))
        wheel("pack", f"--dest-dir={folder}", str(unpacked))
    return name


def get_requires_for_build_wheel(settings: dict[str, Any] | None = None) -> list[str]:
    """PEP 517."""
    import maturin

    return list(maturin.get_requires_for_build_wheel(settings))


def prepare_metadata_for_build_wheel(folder: str, settings: dict[str, Any] | None = None) -> str:
    """PEP 517."""
    import maturin

    return str(maturin.prepare_metadata_for_build_wheel(folder, settings))


def build_sdist(folder: str, settings: dict[str, Any] | None = None) -> str:
    """PEP 517."""
    import maturin

    return str(maturin.build_sdist(folder, settings))


def wheel(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "wheel", *words], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(plans_of(Path(sys.argv[1])))
