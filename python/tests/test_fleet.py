"""Studies and hosts on a real cluster of processes."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest
from distributed import Client, LocalCluster

import likenew
from likenew import SimulatedDrive, Workloads, fleet
from likenew.fleet import Between, Case, draw, study
from likenew.workload import Random, Stream, Workload

BASE = SimulatedDrive("tiny-flash")
WRITES = Workloads(BASE, [Workload("writes", [Stream("write", "4k", Random(), depth=8)], ops=3000)])


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


def test_a_study_is_the_bare_loop(client: Client, tmp_path: Path) -> None:
    cases = draw(BASE, {"nand.program_ns": Between(4e5, 2e6, log=True), "fill": [0.5, 1]}, 30)
    seen: list[tuple[int, int]] = []
    result = study(cases, WRITES, tmp_path, client=client, progress=lambda *done: seen.append(done))
    assert seen[-1] == (30, 30) and result.tables == ["drives", "segments", "workloads"]
    bare = [likenew.run(WRITES.on(case.drive)).segments.to_rows()[0]["bytes_per_s"] for case in cases]
    segments = result.table("segments").sort_by("drive").to_pydict()
    assert segments["drive"] == list(range(30)) and segments["bytes_per_s"] == bare
    drives = result.table("drives").sort_by("drive")
    assert drives["nand.program_ns"].to_pylist() == [case.parameters["nand.program_ns"] for case in cases]
    pattern = result.files("drives")
    assert duckdb.connect().sql(f"select count(*) from '{pattern}'").fetchall() == [(30,)]
    assert pl.read_parquet(pattern)["fill"].dtype == pl.Float64


def test_a_worker_that_dies_loses_nothing(client: Client, tmp_path: Path) -> None:
    cases = draw(BASE, {"nand.program_ns": Between(4e5, 2e6)}, 60)
    victim = min(client.run(os.getpid).values())
    done = threading.Event()

    def kill() -> None:
        done.wait()
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    result = study(cases, WRITES, tmp_path, client=client, batch=2, progress=lambda *_: done.set())
    killer.join()
    assert victim not in client.run(os.getpid).values(), "it is dead"
    assert sorted(result.table("drives")["drive"].to_pylist()) == list(range(60))
    assert sorted(result.table("segments")["drive"].to_pylist()) == list(range(60))


def test_a_study_continues_where_it_stopped(client: Client, tmp_path: Path) -> None:
    cases = draw(BASE, {"nand.program_ns": Between(4e5, 2e6)}, 20)
    study(cases, WRITES, tmp_path, client=client, batch=5)
    (tmp_path / "drives/part-00000005.parquet").unlink()
    kept = (tmp_path / "drives/part-00000000.parquet").stat().st_mtime_ns
    result = study(cases, WRITES, tmp_path, client=client, batch=5)
    assert (tmp_path / "drives/part-00000000.parquet").stat().st_mtime_ns == kept
    assert sorted(result.table("drives")["drive"].to_pylist()) == list(range(20))
    other = study(cases, Workloads(BASE, WRITES.workloads, seed=1), tmp_path, client=client, batch=5)
    assert (tmp_path / "drives/part-00000000.parquet").stat().st_mtime_ns > kept, "another plan is another study"
    assert len(other.table("drives")) == 20


def test_a_smaller_study_leaves_nothing_of_the_larger_one(client: Client, tmp_path: Path) -> None:
    study(draw(BASE, {}, 20), WRITES, tmp_path, client=client, batch=5)
    assert len(study(draw(BASE, {}, 5), WRITES, tmp_path, client=client, batch=5).table("drives")) == 5


def test_a_drive_that_cannot_be_measured_costs_no_other(client: Client, tmp_path: Path) -> None:
    too_far = Workloads(BASE, [Workload("far", [Stream("read", "4k", Random("0..8TiB"))], ops=1)])
    result = study([Case(BASE), Case(BASE, plan=too_far), Case(BASE)], WRITES, tmp_path, client=client, batch=3)
    errors = result.table("drives").sort_by("drive")["error"].to_pylist()
    assert errors[0] is None and errors[2] is None and "far" in errors[1]
    assert result.table("segments")["drive"].to_pylist() == [0, 2]


def test_spare_space_lowers_write_amplification(client: Client, tmp_path: Path) -> None:
    fill = Workload("fill", [Stream("write", "1M", Random(), depth=8)], bytes="2GiB")
    steady = Workload("steady", [Stream("write", "4k", Random(), depth=8)], bytes="256MiB")
    shares = fleet.spare_space(BASE, Workloads(BASE, [fill, steady]), [0, 0.2], tmp_path, seeds=3, client=client)
    assert [share.share for share in shares] == [0, 0.2]
    assert shares[1].write_amplification_high < 0.6 * shares[0].write_amplification
    assert shares[1].bytes_per_s_low > 1.5 * shares[0].bytes_per_s
    reads = Workloads(BASE, [Workload("reads", [Stream("read", "4k")], ops=10)])
    with pytest.raises(likenew.UsageError, match="write nothing"):
        fleet.spare_space(BASE, reads, [0], tmp_path / "reads", seeds=1, client=client)


def test_every_host_measures_its_drives(client: Client, tmp_path: Path) -> None:
    (folder := tmp_path / "drive").mkdir()

    def command(target: str) -> likenew.Bench:
        return likenew.Bench(target, span="8MiB", passes=1, time=0.05, op="read" if target != str(folder) else None)

    result = fleet.measure_hosts(
        tmp_path / "results",
        client=client,
        command=command,
        targets=["sim:tiny-flash", str(tmp_path / "missing")],
        archive=tmp_path / "runs",
        each_worker=True,
    )
    drives = result.table("drives").to_pylist()
    assert len({row["host"] for row in drives}) == 2 and len(drives) == 4
    errors = {row["target"]: row["error"] for row in drives}
    assert errors.pop("sim:tiny-flash") is None
    assert [error is not None and "does not exist" in error for error in errors.values()] == [True]
    hosts = result.table("hosts").to_pylist()
    # One machine has one clock.
    assert all(abs(host["clock_offset_ns"]) <= host["clock_error_ns"] for host in hosts)
    alone = fleet.measure_hosts(
        tmp_path / "one", client=client, command=command, targets=[str(folder)], archive=tmp_path / "runs"
    )
    assert alone.table("drives")["error"].to_pylist() == [None] and list(folder.iterdir()) == []


def test_a_cluster_is_started_where_there_is_none(tmp_path: Path) -> None:
    assert len(study([BASE] * 4, WRITES, tmp_path).table("drives")) == 4


def test_parameters_of_one_kind_only(client: Client, tmp_path: Path) -> None:
    with pytest.raises(likenew.UsageError, match="all numbers"):
        study([Case(BASE, {"x": 1}), Case(BASE, {"x": "one"})], WRITES, tmp_path, client=client)
