"""Measures the package: `cargo xtask bench python`.

Ratios of runs that take turns, so that what else the machine does falls on all of them alike.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable

from distributed import Client, LocalCluster

import likenew
from likenew import Random, SimulatedDrive, Stream, Workload, Workloads, _native
from likenew.fleet import Between, Case, draw, study

BASE = SimulatedDrive("tiny-flash")
DRIVES = 2000
ROUNDS = 5


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def call_overhead() -> None:
    """A simulation of about a second: through the package, and the part of it that is native code."""
    writes = [Stream("write", "4k", Random(), depth=8)]
    ops = 100_000
    elapsed = seconds(lambda: likenew.run(Workloads(BASE, [Workload("one", writes, ops=ops)])))
    plan = Workloads(BASE, [Workload("one", writes, ops=int(ops / elapsed))])
    text = plan.plan().to_json()
    ratios = []
    for _ in range(4 * ROUNDS):
        native = seconds(lambda: _native.simulate([text]))
        whole = seconds(lambda: likenew.run(plan).document)
        ratios.append(whole / native)
    # What Python itself does, measured alone: making the plan, and reading the document.
    run = likenew.run(plan)
    alone = seconds(lambda: (plan.plan().to_json(), json.loads(run._native.document())))
    print(f"one simulation of {native:.2f} s: with Python {spread(ratios)} × without; Python's part alone {alone / native:.2%}")


def scale_out() -> None:
    """A study with one worker and with two, and the bare loop."""
    cases = draw(BASE, {"nand.program_ns": Between(4e5, 2e6, log=True), "fill": [0.5, 1]}, DRIVES)
    plan = Workloads(BASE, [Workload("writes", [Stream("write", "4k", Random(), depth=8)], ops=10_000)])
    speedups, overheads = [], []
    for _ in range(ROUNDS):
        bare = seconds(lambda: loop(cases, plan))
        one, two = (cluster_seconds(workers, cases, plan) for workers in (1, 2))
        speedups.append(one / two)
        overheads.append(one / bare)
        print(f"  {DRIVES} drives: bare loop {bare:.1f} s, one worker {one:.1f} s, two {two:.1f} s")
    print(f"two workers: {spread(speedups)} × one; one worker takes {spread(overheads)} × the bare loop")


def loop(cases: list[Case], plan: Workloads) -> None:
    for case in cases:
        run = likenew.run(plan.on(case.drive))
        _ = run.document, run.segments


def cluster_seconds(workers: int, cases: list[Case], plan: Workloads) -> float:
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client, tempfile.TemporaryDirectory() as folder:
        study(cases[:workers], plan, f"{folder}/warm", client=client, batch=1)
        return seconds(lambda: study(cases, plan, f"{folder}/study", client=client))


def spread(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.3f} [{min(ratios):.3f} … {max(ratios):.3f}]"


if __name__ == "__main__":
    call_overhead()
    scale_out()
