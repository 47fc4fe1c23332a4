"""Progress: for functions, and as a line in a terminal or a notebook."""

import io
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import likenew
from likenew import Bench, Fill, SimulatedDrive, Sweep, Workloads
from likenew.workload import Random, Stream, Workload

DRIVE = SimulatedDrive("tiny-flash")
BENCH = Bench(DRIVE, passes=2, time=0.5)


def test_a_run_with_progress_is_the_run_without(tmp_path: Path) -> None:
    told: list[Mapping[str, Any]] = []
    alone, followed = likenew.run(BENCH, samples=True), likenew.run(BENCH, samples=True, progress=told.append)
    assert followed.document == alone.document and followed.segments.to_rows() == alone.segments.to_rows()
    assert alone.samples is not None and followed.samples is not None
    assert followed.samples.to_rows() == alone.samples.to_rows() and followed.folder is None
    steps = [event["step"]["name"] for event in told if "step" in event]
    assert steps[0] == "prepare" and steps[-1] == "fdatasync 8K T8 write 2/2"
    shares = [event["progress"]["share"] for event in told if "progress" in event]
    assert all(share is None or 0 <= share <= 1 for share in shares) and shares
    kept = likenew.run(BENCH, archive=tmp_path, progress=told.append)
    assert kept.folder is not None and kept.folder.parent == tmp_path and kept.document == alone.document


def test_a_drive_from_memory_is_followed_too() -> None:
    plan = BENCH.on(DRIVE.replace({"nand.read_ns": 200_000}))
    assert likenew.run(plan, progress=lambda _: None).document == likenew.run(plan).document


def test_a_line_is_written_over_and_over_and_goes_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := io.StringIO())
    likenew.diagnose(DRIVE, progress=True)
    lines = screen.getvalue().split("\r")
    assert lines[0] == "" and lines[-1] == "" and lines[-2].strip() == "" and "\n" not in screen.getvalue()
    assert len(lines) > 5 and max(map(len, lines)) < 80 and any("MB/s" in line for line in lines)
    assert all(len(line) >= len(before.rstrip()) for before, line in pairwise(lines[1:-1])), "each covers the one before it"
    monkeypatch.setattr(sys, "stderr", screen := io.StringIO())
    likenew.run(BENCH, progress=False)
    assert screen.getvalue() == ""


def test_errors_are_those_without_progress() -> None:
    far = Workloads(DRIVE, [Workload("far", [Stream("read", "4k", Random("0..8TiB"))], ops=1)])
    said = []
    for progress in (None, lambda _: None):
        with pytest.raises(likenew.LikenewError) as error:
            likenew.run(far, progress=progress)
        said.append((type(error.value), str(error.value)))
    assert said[0][0] is said[1][0] and "far" in said[1][1]


def test_a_calibration_tells_how_far_it_is(tmp_path: Path) -> None:
    sweep = Sweep(DRIVE, block=["4k", "1M"], depth=[1, 32], passes=2, time=0.02, span="64MiB")
    like = DRIVE.replace({"nand.program_ns": 1_000_000})
    told: list[str] = []
    calibration = likenew.calibrate(
        [likenew.run(sweep)], like=like, candidates=50, progress=lambda event: told.append(str(event))
    )
    read = calibration.estimate("nand.read_ns")
    assert read.low <= read.value <= read.high and read.base == 50_000 and "%" in told[0]
    with pytest.raises(likenew.UsageError, match="missing"):
        likenew.calibrate([tmp_path / "missing"], progress=True)


FOLLOWED = """
import likenew, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from likenew.workload import Stream, Random, Workload
plan = likenew.Workloads("sim:tiny-flash", [Workload("long", [Stream("write", "4k", Random())], elapsed="10h")])
likenew.run(plan, archive=sys.argv[1], progress=True)
"""


def test_ctrl_c_in_a_terminal_stops_a_run_with_a_line_and_keeps_what_it_measured(tmp_path: Path) -> None:
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, [sys.executable, "-c", FOLLOWED, str(tmp_path)])
    seen = b""
    while b"MB/s" not in seen:
        seen += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    while True:
        try:
            seen += os.read(terminal, 1000)
        except OSError:
            break
    _, status = os.waitpid(process, 0)
    assert b"KeyboardInterrupt" in seen and os.waitstatus_to_exitcode(status) in (1, -signal.SIGINT)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    run = likenew.load(folder)
    assert run.is_interrupted and sum(run.segments["ios"]) > 0


def test_a_signal_stops_a_calibration(tmp_path: Path) -> None:
    run = likenew.run(Fill(DRIVE), archive=tmp_path)
    code = f"""
import likenew, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
likenew.calibrate([{str(run.folder)!r}], like="tiny-flash", candidates=100_000)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in said


@pytest.mark.filterwarnings("ignore")
def test_a_notebook_shows_a_line_and_then_what_was_found(tmp_path: Path) -> None:
    code = "import likenew\nlikenew.diagnose(likenew.SimulatedDrive('tiny-flash', state='used'), progress=True)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = notebook.cells[0].outputs
    shown = "".join(output.text for output in outputs if output.output_type == "stream")
    assert "\r" in shown and "\n" not in shown
    (result,) = (output.data for output in outputs if output.output_type == "execute_result")
    assert "<b>Writes are slow" in result["text/html"]
