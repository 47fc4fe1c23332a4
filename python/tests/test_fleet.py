"""Studies and hosts on a real cluster of processes."""

import html
import io
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
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
    assert result.to_polars().to_dict(as_series=False) == result.table("drives").to_pydict() and len(result.to_pandas()) == 30
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


def contents(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_study_continues_where_it_stopped_with_tasks_of_any_size(client: Client, tmp_path: Path) -> None:
    cases = draw(BASE, {"nand.program_ns": Between(4e5, 2e6)}, 20)
    study(cases, WRITES, tmp_path, client=client, batch=5)
    (tmp_path / "drives/likenew-00000005.parquet").unlink()
    kept = {path: time for path, time in contents(tmp_path).items() if "00000005" not in path.name}
    result = study(cases, WRITES, tmp_path, client=client)
    assert kept.items() <= contents(tmp_path).items()
    for table in ("drives", "segments"):
        assert sorted(result.table(table)["drive"].to_pylist()) == list(range(20))
    complete = contents(tmp_path)
    study(cases, WRITES, tmp_path, batch=7)
    assert contents(tmp_path) == complete, "a cluster of another size measures nothing again"


def test_files_of_others_stay(client: Client, tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    for name in ("events", "drives"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"x": [1]}), tmp_path / name / "part-00000.parquet")
    others = contents(tmp_path)
    cases = draw(BASE, {}, 4)
    for count in (4, 4):
        result = study(cases[:count], WRITES, tmp_path, client=client)
        assert len(result.table("drives")) == 4 and result.tables == ["drives", "segments", "workloads"]
    assert others.items() <= contents(tmp_path).items() and (tmp_path / "inbox").is_dir()
    shutil.copy(tmp_path / "events/part-00000.parquet", tmp_path / "events/likenew-00000000.parquet")
    with pytest.raises(likenew.UsageError, match="no file of results"):
        study(cases, WRITES, tmp_path, client=client)


def test_another_study_is_refused(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = draw(BASE, {}, 3)
    study(cases, WRITES, tmp_path, client=client)
    before = contents(tmp_path)
    others: list[Callable[[], object]] = [
        lambda: study(cases[:2], WRITES, tmp_path, client=client),
        lambda: study(cases, Workloads(BASE, WRITES.workloads, seed=1), tmp_path, client=client),
        lambda: study(cases, WRITES, tmp_path, client=client, tables=["segments"]),
        lambda: study([BASE.replace({"nand.read_ns": 60_000})] * 3, WRITES, tmp_path, client=client),
        lambda: fleet.measure_hosts(tmp_path, client=client, targets=[]),
    ]
    for other in others:
        with pytest.raises(likenew.UsageError, match="folder"):
            other()
    for name, value in (("VERSION", "0.0.1"), ("SCHEMA", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(fleet, name, value)
            with pytest.raises(likenew.UsageError, match="another version"):
                study(cases, WRITES, tmp_path, client=client)
    assert contents(tmp_path) == before


def test_a_study_with_numbers_of_numpy(client: Client, tmp_path: Path) -> None:
    one: Any = np.int64(1)
    cases = [Case(BASE.replace(fill=fill), {"fill": fill, "seed": one}) for fill in np.linspace(0.5, 1, 3)]
    drives = study(cases, WRITES, tmp_path, client=client).table("drives")
    assert drives["fill"].to_pylist() == [0.5, 0.75, 1] and drives["seed"].to_pylist() == [1, 1, 1]
    with pytest.raises(likenew.UsageError, match="one drive or more"):
        study([], WRITES, tmp_path / "none", client=client)


def test_a_drive_that_cannot_be_measured_costs_no_other(client: Client, tmp_path: Path) -> None:
    too_far = Workloads(BASE, [Workload("far", [Stream("read", "4k", Random("0..8TiB"))], ops=1)])
    result = study([Case(BASE), Case(BASE, plan=too_far), Case(BASE)], WRITES, tmp_path, client=client, batch=3)
    errors = result.table("drives").sort_by("drive")["error"].to_pylist()
    assert errors[0] is None and errors[2] is None and "far" in errors[1]
    shown = result._repr_html_()
    assert "3 drives: 0 with a problem, 1 not measured" in shown and errors[1] in html.unescape(shown)
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


class Deadly(likenew.Bench):
    """Ends the worker that makes its plan."""

    def plan(self) -> likenew.Plan:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def test_a_host_whose_worker_dies_is_named(tmp_path: Path) -> None:
    with Client(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client:
        victim = min(client.run(os.getpid).values())

        def command(target: str) -> likenew.Bench:
            return (Deadly if os.getpid() == victim else likenew.Bench)(target, passes=1, time=0.05)

        with pytest.raises(likenew.UnfinishedError, match=r"(?s):[01]: .*keeps what the others") as error:
            fleet.measure_hosts(
                tmp_path, client=client, command=command, targets=["sim:tiny-flash"], archive=tmp_path, each_worker=True
            )
    drives = fleet.Study(tmp_path).table("drives").to_pylist()
    (dead,) = (row["host"] for row in drives if row["error"] is not None)
    assert dead in str(error.value) and [row["summary"] is None for row in drives].count(False) == 1


@pytest.mark.long
def test_a_study_that_ends_every_worker_says_what_is_missing(tmp_path: Path) -> None:
    # Dask gives up what waits on such a worker, too.
    cases = [Case(BASE)] * 6 + [Case(BASE, plan=Deadly(BASE))]
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        Client(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client,
        pytest.raises(likenew.UnfinishedError, match="of 7 drives were not measured") as error,
    ):
        study(cases, WRITES, tmp_path, client=client)
    kept = fleet.Study(tmp_path).table("drives")["drive"].to_pylist()
    assert 6 not in kept and str(error.value).startswith(f"{7 - len(kept)} of 7")


def test_a_cluster_is_started_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := io.StringIO())
    assert len(study([BASE] * 4, WRITES, tmp_path, progress=True).table("drives")) == 4
    lines = [line.strip() for line in screen.getvalue().split("\r")]
    assert "0 of 4 drives · 0%" in lines and "4 of 4 drives · 100%" in lines and lines[-1] == ""


def test_parameters_of_one_kind_only(client: Client, tmp_path: Path) -> None:
    with pytest.raises(likenew.UsageError, match="all numbers"):
        study([Case(BASE, {"x": 1}), Case(BASE, {"x": "one"})], WRITES, tmp_path, client=client)
