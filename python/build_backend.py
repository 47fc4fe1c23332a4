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
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

TYPES = {"SIZE": "Size", "TIME": "Time", "N": "int", "OP": "str", "FILE": "str | PathLike[str]", "DIR": "str | PathLike[str]"}
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


def type_of(option: dict[str, Any]) -> str:
    kind = option["kind"]
    if kind == "switch":
        return "bool"
    if "choice" in kind:
        return f"Literal[{', '.join(json.dumps(word) for word in kind['choice'])}]"
    unit = kind["value"].removesuffix(",..").split("|")[0].split(".")[0]
    return TYPES.get(unit, "str")


def field_of(option: dict[str, Any]) -> str:
    name = option["name"].replace("-", "_")
    name = f"{name}_" if keyword.iskeyword(name) else name
    kind = type_of(option)
    if kind == "bool":
        return f"    {name}: bool = field(default=False, kw_only=True)"
    many = f"Sequence[{kind}] | {kind}" if option["is_list"] else kind
    many = many if not option["is_list"] or "str" in kind or kind in ("Size", "Time") else f"{many} | str"
    return f"    {name}: {many} | None = field(default=None, kw_only=True)"


def class_of(command: dict[str, Any]) -> str:
    lines = [
        "@dataclass(frozen=True)",
        f"class {command['name'].title()}(Command):",
        f'    """{command["about"]}."""'.replace("?.", "?"),
        "",
    ]
    lines += [f'    command: ClassVar[str] = "{command["name"]}"', ""]
    for option in command["options"]:
        lines.append(field_of(option))
        help = option["help"].replace("\\", "\\\\")
        end = "" if help.endswith("?") else "."
        text = textwrap.wrap(f'"""{help}{end}"""', 112, subsequent_indent="")
        lines += [f"    {line}" for line in text]
    return "\n".join(lines) + "\n"


def plans_of(native: Path) -> str:
    """The text of likenew/plans.py for a built native module."""
    loader = ExtensionFileLoader("likenew._native", str(native))
    spec = spec_from_loader("likenew._native", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return HEAD + "\n" + "\n\n".join(map(class_of, json.loads(module.command_grammar()))) + "\n" + TAIL


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
