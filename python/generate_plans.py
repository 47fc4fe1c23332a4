"""Writes likenew/plans.py from the command line's own grammar.

`python -P python/generate_plans.py`, in an environment with the package: `cargo xtask python` makes one in target/python.
"""

import json
import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any

from likenew import _native

TYPES = {"SIZE": "Size", "TIME": "Time", "N": "int", "OP": "str", "FILE": "str | PathLike[str]", "DIR": "str | PathLike[str]"}
HEAD = '''"""Plans as classes, one for each command that makes a plan.

A setting that is left out is as the command line sets it; `plan()` shows all of them.

Written by `python/generate_plans.py` from the command line's grammar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar, Literal

from .drive import target_of
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

    def plan(self) -> Plan:
        """The plan."""
        name, files = target_of(self.target)
        return Plan("run", name, self.seed, {"workload": [workload.to_dict() for workload in self.workloads]}, files)

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


def text() -> str:
    commands = json.loads(_native.command_grammar())
    return HEAD + "\n" + "\n\n".join(map(class_of, commands)) + "\n" + TAIL


if __name__ == "__main__":
    path = Path(__file__).parent / "likenew/plans.py"
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if path.read_text() == text() else f"{path} is not what the command line takes: run python -P {__file__}")
    path.write_text(text())
