"""Runs side by side, and drives over time."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import likenew
from likenew import Bench, Check, SimulatedDrive

DRIVE = SimulatedDrive("tiny-flash")
SLOW = DRIVE.replace({"nand.read_ns": 200_000})
READS = Bench(DRIVE, op="read", passes=2, time=0.2)


def program(*words: str) -> str:
    """What the program prints."""
    return subprocess.run([sys.executable, "-m", "likenew", *words], check=True, capture_output=True, text=True).stdout


def test_runs_are_compared_as_the_program_compares_them(tmp_path: Path) -> None:
    runs = [likenew.run(READS.on(drive), archive=tmp_path) for drive in (DRIVE, SLOW, DRIVE)]
    compared = likenew.compare(*runs)
    folders = [str(run.folder) for run in runs]
    assert compared.document == json.loads(program("compare", "--json=-", *folders))
    assert likenew.compare(*folders).document == compared.document, "their folders"
    names = [Path(folder).name for folder in folders]
    assert likenew.compare(*names, archive=tmp_path).document == compared.document, "their names"
    assert likenew.compare(last=3, archive=tmp_path).document == compared.document
    rows = {(row["other"], row["speed"]): row for row in compared.speeds.to_rows()}
    others = list(dict.fromkeys(row["other"] for row in rows.values()))
    slower, same = (rows[run, "RND4K Q1T1 read"] for run in others)
    assert slower["difference"] == "slower" and slower["ratio_low"] <= slower["ratio"] <= slower["ratio_high"] < 0.6
    assert (same["ratio"], same["difference"], same["unit"]) == (1, "same", "bytes/s")
    assert [answer.question for answer in compared.answers] == [f"{run} against {slower['first']}" for run in others]
    estimate = compared.answers[0].estimate
    assert estimate is not None and estimate.unit == "×" and estimate.value < 1


def test_runs_that_nobody_kept_are_compared_too(tmp_path: Path) -> None:
    one, two = likenew.run(READS), likenew.run(READS.on(SLOW), progress=lambda _: None)
    assert one.folder is None and two.folder is None
    kept = [likenew.run(run.plan, archive=tmp_path) for run in (one, two)]
    assert likenew.compare(one, two).document == likenew.compare(*kept).document
    turns = likenew.run_in_turn([Bench(DRIVE, passes=1, time=0.1)] * 2)
    with pytest.raises(likenew.UsageError, match="archive=FOLDER"):
        likenew.compare(*turns)
    kept = likenew.run_in_turn([Bench(DRIVE, passes=1, time=0.1)] * 2, archive=tmp_path / "turns")
    assert len(likenew.compare(*kept).speeds) == 10


def test_results_of_other_programs_are_compared(tmp_path: Path) -> None:
    for name, seconds in (("before", 2), ("after", 4)):
        text = f"1000000000 bytes (1.0 GB, 954 MiB) copied, {seconds}.0 s, {1000 // seconds} MB/s\n"
        (tmp_path / f"{name}.txt").write_text(f"954+0 records in\n954+0 records out\n{text}")
    (row,) = likenew.compare(tmp_path / "before.txt", str(tmp_path / "after.txt")).speeds.to_rows()
    assert row["ratio"] == 0.5 and row["difference"] == "slower"


def test_a_comparison_goes_to_other_libraries_and_travels(tmp_path: Path) -> None:
    compared = likenew.compare(*(likenew.run(READS.on(drive), archive=tmp_path) for drive in (DRIVE, SLOW)))
    rows = compared.speeds.to_rows()
    assert pa.table(compared).to_pylist() == rows == pl.DataFrame(compared).to_dicts() == compared.to_polars().to_dicts()
    frame = compared.to_pandas()
    assert isinstance(frame, pd.DataFrame) and frame["ratio"].tolist() == compared.speeds["ratio"]
    assert pickle.loads(pickle.dumps(compared)).document == compared.document
    assert "<html" in compared.html() and repr(compared).startswith("<likenew.Comparison: compare of sim:")
    shown = compared._repr_html_()
    assert "A = sim:tiny-flash" in shown and "RND4K Q1T1 read" in shown and "slower" in shown


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        ((), "two runs or more"),
        ((READS,), "two runs or more"),
        ((READS, Check(DRIVE)), "bench"),
        ((READS, "missing"), "missing"),
    ],
)
def test_what_cannot_be_compared_is_named(runs: tuple[Bench | Check | str, ...], says: str, tmp_path: Path) -> None:
    done = [run if isinstance(run, str) else likenew.run(run, archive=tmp_path) for run in runs]
    with pytest.raises(likenew.UsageError, match=says):
        likenew.compare(*done, archive=tmp_path)


def test_the_history_is_that_of_the_program(tmp_path: Path) -> None:
    used = DRIVE.replace(state="used")
    for drive in (DRIVE, used, used):
        likenew.run(Check(drive), archive=tmp_path)
    found = likenew.history(archive=tmp_path)
    assert found.document == json.loads(program("history", "--json=-", f"--archive={tmp_path}"))
    drives = {row["target"]: row for row in found.drives.to_rows()}
    assert drives[DRIVE.target]["standing"] == "good" and drives[used.target]["standing"] == "problem"
    assert drives[used.target]["check_count"] == 2 and repr(found) == "<likenew.History: 2 drives>"
    metrics = found.to_polars()
    assert metrics.to_dicts() == found.metrics.to_rows() and metrics.equals(pl.DataFrame(found))
    assert set(metrics["target"]) == set(drives) and set(metrics["unit"]) == {"bytes/s", "1/s"}
    assert found.to_pandas()["now_per_s"].tolist() == found.metrics["now_per_s"]
    assert len(found.changes) == len(found.checks) == 0

    one = likenew.history(used, archive=tmp_path)
    assert one.document == json.loads(program("history", "--json=-", f"--archive={tmp_path}", used.target))
    checks = one.checks.to_rows()
    assert len({row["run"] for row in checks}) == 2 and {row["target"] for row in checks} == {used.target}
    assert all(row["low_per_s"] <= row["per_s"] <= row["high_per_s"] for row in checks)
    assert likenew.history(drives[used.target]["key"][:8], archive=tmp_path).document == one.document
    assert likenew.history(peers=True, archive=tmp_path).drives["target"] == found.drives["target"]


def test_a_history_without_runs_is_empty_and_an_unknown_drive_is_named(tmp_path: Path) -> None:
    assert len(likenew.history(archive=tmp_path).drives) == 0
    with pytest.raises(likenew.UsageError, match="no kept run"):
        likenew.history("/dev/none", archive=tmp_path)


def test_a_lasting_change_has_its_date_and_size(tmp_path: Path) -> None:
    drive = tmp_path / "drive.toml"
    for parameters, checks in (({}, 4), ({"nand.read_ns": 200_000}, 4)):
        drive.write_text(DRIVE.replace(parameters).file)
        for _ in range(checks):
            likenew.run(Check(f"sim:{drive}?fill=1", bytes=0), archive=tmp_path / "runs")
    found = likenew.history(archive=tmp_path / "runs")
    changes = {row["metric"]: row for row in found.changes.to_rows()}
    change = changes["random_read"]
    assert change["ratio_low"] <= change["ratio"] <= change["ratio_high"] < 1 and change["since"].startswith("20")
