"""Plans as classes and as files."""

import json
import pydoc
import re
import subprocess
import sys
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likenew
from likenew import Bench, Plan, SimulatedDrive, Workloads, _native
from likenew.plan import Command
from likenew.workload import Random, Rate, Sequential, Stream, Strided, Workload, Zipf

DRIVE = SimulatedDrive("tiny-flash")


def test_a_plan_has_every_default_of_the_command_line() -> None:
    plan = Bench(DRIVE, passes=2, time=timedelta(seconds=1.5), op=["read", "mix:70"], span=1 << 28).plan()
    assert plan.options["passes"] == 2 and plan.options["time"] == "1500ms"
    assert plan.options["ops"] == ["read", "mix:70"] and plan.options["span"] == "256MiB"
    assert plan.options["data"] == "random", "a default"


def test_a_plan_is_the_same_after_a_file() -> None:
    plan = likenew.Sweep(DRIVE, block="4k..16k", depth=[1, 32], seed=5).plan()
    assert Plan.from_toml(plan.to_toml()) == plan and plan.seed == 5
    assert plan.on(SimulatedDrive("disk-2tb")).target == "sim:disk-2tb"


def test_a_drive_from_memory_is_part_of_its_plan(tmp_path: Path) -> None:
    drive = DRIVE.replace({"nand.read_ns": 300_000})
    run = likenew.run(Bench(drive, passes=1, time=0.1, op="read"), archive=tmp_path)
    assert run.folder is not None
    file = run.folder / "plan.toml"
    assert Plan.from_toml(file.read_text()) == run.plan == likenew.load(run.folder).plan
    for plan in (run.plan, likenew.load(run.folder).plan, Plan.from_toml(run.plan.to_toml())):
        assert likenew.run(plan).document == run.document
    command = [sys.executable, "-m", "likenew", "run", str(file), "--no-archive", "--json=-"]
    program = subprocess.run(command, check=True, capture_output=True, text=True, cwd="/")
    assert program.stdout == run._native.document()
    assert run.plan.on(DRIVE).drive is None


def test_numbers_of_numpy_are_numbers() -> None:
    n: Any = np.int64
    x: Any = np.float64
    plans = [
        Bench(DRIVE, passes=kind(2), time=real(1.5), span=kind(1 << 28), seed=kind(3), profile="default").plan()
        for kind, real in ((int, float), (n, x))
    ]
    assert plans[0] == plans[1]
    assert likenew.Sweep(DRIVE, depth=list(n([1, 2]))).plan() == likenew.Sweep(DRIVE, depth=[1, 2]).plan()
    drive = SimulatedDrive("tiny-flash", fill=x(0.5), trim=x(1) > 2).replace({"nand.read_ns": n(60_000)})
    assert drive == SimulatedDrive("tiny-flash", fill=0.5, trim=False).replace({"nand.read_ns": 60_000})
    streams = [
        Stream("read", n(4096), Zipf(x(0.5).astype("f4")), depth=n(2)),
        Stream("read", n(4096), Strided(n(65536)), rate=Rate(x(100), depth_max=n(4))),
    ]
    workloads = [
        Workload("ops", streams, ops=n(5), lanes=n(1)),
        Workload("time", streams, elapsed=x(0.5).astype("f4")),
        Workload("bytes", streams, bytes=n(65536)),
    ]
    assert likenew.run(Workloads(DRIVE, workloads, seed=n(4))).plan.seed == 4
    assert likenew.run(Plan("bench", "sim:tiny-flash", n(3), {"passes": n(2)})).plan.options["passes"] == 2


def test_workloads_of_every_kind_run() -> None:
    streams = [
        Stream("read", "4k", Sequential("0..64MiB")),
        Stream("write", 4096, Random(), depth=4),
        Stream("mix:70", "4KiB:3,64KiB:1", Zipf(0.9, "0..64MiB"), rate=Rate(500, "poisson")),
        Stream("read", "512B", Strided("64KiB", "50%..75%"), data="0.5"),
    ]
    workloads = [Workload("all", streams, elapsed=0.2), Workload("idle", elapsed="1s"), Workload("few", streams[:1], ops=10)]
    segments = likenew.run(Workloads(DRIVE, workloads, seed=3)).segments.to_rows()
    assert {row["stream"] for row in segments if row["workload"] == "all"} == {0, 1, 2, 3}
    assert [row["ios"] for row in segments if row["workload"] == "few"] == [10]
    paced = [row for row in segments if row["stream"] == 2]
    assert 400 < sum(row["iops"] for row in paced) < 600


COMMANDS = [one for one in vars(likenew).values() if isinstance(one, type) and issubclass(one, Command)]


def test_every_command_that_makes_a_plan_is_there() -> None:
    grammar = {command["name"] for command in json.loads(_native.command_grammar())}
    assert {command.command for command in COMMANDS} == grammar


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_each_setting_with_its_meaning_unit_and_default(command: type[Command]) -> None:
    shown = pydoc.plain(pydoc.render_doc(command))
    for setting in fields(command):
        if setting.name != "target":
            assert f" |  {setting.name}: " in shown, setting.name
    options = set(re.findall(r"--[a-z][a-z-]*", shown))
    assert options <= {"--baseline"}, "that of likenew export"


def test_defaults_are_shown_with_units() -> None:
    shown = " ".join((Bench.__doc__ or "").split())
    assert 'time: seconds, or a text such as "500ms" Time limit of a pass;' in shown and "the span holds [default: 5s]." in shown
    assert "passes: a number Passes of each test [default: 5]." in shown
    assert "Address space to test [default: 1GiB, or what there is]." in shown
    assert 'erase: "user-data" or "key"' in (likenew.Recondition.__doc__ or "")
    plan = Bench(DRIVE).plan().options
    assert (plan["time"], plan["passes"], plan["span"]) == ("5s", 5, "1GiB"), "as they are shown"


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (lambda: Bench(DRIVE, passes=0).plan(), "passes"),
        (lambda: likenew.run(Plan("bench", "sim:tiny-flash", options={"passes": "x"})), "whole number"),
        (lambda: likenew.run(Plan("banch", "sim:tiny-flash")), "bench"),
        (lambda: Plan.from_toml("procedure = 1"), "procedure"),
        (lambda: Plan.from_toml("nonsense ="), "not TOML"),
        (lambda: Plan.from_toml('procedure = "bench"'), "target"),
        (lambda: likenew.run(Workloads(DRIVE, [Workload("endless", [Stream("read", "4k")])])), "endless"),
        (lambda: Bench(DRIVE, passes="many").plan(), 'passes takes a whole number, not "many"'),  # type: ignore[arg-type]
        (lambda: likenew.Model(DRIVE, op="reed").plan(), "'reed' for op"),  # type: ignore[arg-type]
        (lambda: likenew.Age(DRIVE, trim=True).plan(), "trim; use on, off"),  # type: ignore[arg-type]
        (lambda: likenew.Suits(DRIVE, for_=["etcd", "excel"]).plan(), "'excel' for for_"),  # type: ignore[list-item]
        (lambda: Bench(DRIVE, time="soon").plan(), "invalid value 'soon' for time: \"soon\" is not a duration"),
        (lambda: likenew.Data(DRIVE, block="4k,4k,4k").plan(), "block has 3 values"),
        (lambda: Bench("a\udc00b").plan(), "surrogates"),
        (lambda: Plan("bench", "sim:tiny-flash", options={"passes": object()}).to_toml(), "object"),
        (lambda: Workloads(DRIVE, [Workload("half", [Stream("read", 4096)], bytes=4096.5)]).plan(), "float"),  # type: ignore[arg-type]
        (lambda: Workloads(DRIVE, ["x"]).plan(), "to_dict"),  # type: ignore[list-item]
        (lambda: likenew.run("bench"), "plan"),  # type: ignore[arg-type]
        (lambda: likenew.load(5), "int"),  # type: ignore[arg-type]
        (lambda: likenew.calibrate([]), "one run or more"),
    ],
)
def test_what_makes_no_sense_is_named(plan: object, says: str) -> None:
    assert callable(plan)
    with pytest.raises(likenew.UsageError) as error:
        likenew.run(plan()) if isinstance(plan, Plan) else plan() and likenew.run(plan())
    assert says in str(error.value) and "--" not in str(error.value)
