"""Plans as classes and as files."""

from datetime import timedelta

import pytest

import likenew
from likenew import Bench, Plan, SimulatedDrive, Workloads
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
    ],
)
def test_what_makes_no_sense_is_named(plan: object, says: str) -> None:
    assert callable(plan)
    with pytest.raises(likenew.UsageError) as error:
        likenew.run(plan()) if isinstance(plan, Plan) else plan() and likenew.run(plan())
    assert says in str(error.value)
