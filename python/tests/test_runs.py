"""Runs: what was found and what was measured."""

import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pandas as pd
import polars as pl
import psutil
import pyarrow as pa
import pytest

import likenew
from likenew import SimulatedDrive, Workloads
from likenew.workload import Random, Stream, Workload

DRIVE = SimulatedDrive("tiny-flash")
READS = Workloads(DRIVE, [Workload("reads", [Stream("read", "4k", Random(), depth=4)], ops=2000)])


def test_equal_plans_give_equal_documents() -> None:
    plan = likenew.Bench(SimulatedDrive("tiny-flash", state="used"), passes=2, time=0.5).plan()
    assert likenew.run(plan).document == likenew.run(plan).document
    command = [sys.executable, "-m", "likenew", "bench", plan.target, "--passes=2", "--time=500ms", "--no-archive", "--json=-"]
    program = subprocess.run(command, check=True, capture_output=True, text=True)
    assert likenew.run(plan)._native.document() == program.stdout, "as the program writes it"


def test_samples_are_every_io_and_agree_with_the_segments() -> None:
    run = likenew.run(READS, samples=True)
    assert run.samples is not None
    samples = pl.DataFrame(run.samples)
    (segment,) = run.segments.to_rows()
    assert len(samples) == segment["ios"] == 2000
    assert samples["outcome"].to_list() == samples["length"].to_list() == [4096] * 2000
    latency = samples["done_ns"] - samples["due_ns"]
    assert latency.mean() == pytest.approx(segment["latency_ns_mean"]) and latency.max() == pytest.approx(
        segment["latency_ns_max"], rel=1e-3
    )
    assert likenew.run(READS).samples is None


def test_tables_go_to_every_library_without_a_copy() -> None:
    run = likenew.run(likenew.Bench(DRIVE, passes=2, time=0.2), samples=True)
    results, samples = run.tables["results"], run.samples
    assert samples is not None
    rows = results.to_rows()
    assert pa.table(results).to_pylist() == rows == pl.DataFrame(results).to_dicts()
    assert pd.DataFrame.from_arrow(results).equals(results.to_pandas()) and results.to_polars().equals(pl.DataFrame(results))
    for table in (results, samples, run.segments, run.windows()):
        frame = table.to_pandas()
        # What is not known is no number there.
        known = frame.astype(object).where(frame.notna(), None)
        assert known.to_dict("list") == table.to_dict() == table.to_polars().to_dict(as_series=False)
    connection = duckdb.connect()
    connection.register("ios", pa.table(samples))
    assert connection.sql("select count(*), max(done_ns) from ios").fetchall() == [(len(samples), max(samples["done_ns"]))]
    # Two exports show the same memory.
    address = [pa.table(samples)["done_ns"].chunk(0).buffers()[1].address for _ in range(2)]
    assert address[0] == address[1]


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        ("pandas", "to_pandas needs pandas: pip install pandas pyarrow"),
        ("pyarrow", "to_pandas needs pyarrow: pip install pandas pyarrow"),
        ("polars", "to_polars needs polars: pip install polars"),
    ],
)
def test_what_is_not_installed_is_named(missing: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError) as error:
        getattr(likenew.run(READS).segments, says.split()[0])()
    assert isinstance(error.value, likenew.LikenewError) and str(error.value) == says


def test_nothing_optional_is_imported_before_it_is_asked_for() -> None:
    code = "import sys, likenew; likenew.diagnose('sim:tiny-flash')._repr_html_(); print({'pandas', 'polars', 'pyarrow'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "set()\n"


def test_a_notebook_shows_the_first_screen_escaped() -> None:
    for run in (likenew.run(READS), likenew.run(likenew.Bench(DRIVE, passes=1, time=0.2)), likenew.xray(DRIVE)):
        assert parsed(run._repr_html_())[0] == run.summary
    found = likenew.diagnose(SimulatedDrive("tiny-flash", state="used"))
    texts = parsed(found._repr_html_())
    assert texts[:2] == [found.summary, f"Cause: {found.answers[1].answer}"]
    row = texts.index("sustained write")
    assert texts[row + 1].endswith(" MB/s") and texts[row + 3] == "17%"
    evil = Workloads(DRIVE, [Workload("<script>&", [Stream("read", "4k")], ops=10)])
    assert "&lt;script&gt;&amp;" in likenew.run(evil)._repr_html_()


def parsed(html: str) -> list[str]:
    """The texts of a piece of a page, which is whole, small, and in the colors of what is around it."""
    root = ElementTree.fromstring(html)
    assert {one.tag for one in root.iter()} <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert "color" not in html and len(html) < 5000
    return [text for text in root.itertext() if text]


def test_windows_add_up_to_the_segments() -> None:
    run = likenew.run(likenew.Bench(DRIVE, passes=1, time=0.5))
    for along in ("time", "bytes"):
        windows = pl.DataFrame(run.windows(along))
        assert windows["bytes"].sum() == sum(run.segments["bytes"])
    with pytest.raises(ValueError, match="time"):
        run.windows("depth")  # type: ignore[arg-type]


def test_a_diagnosis_names_the_cause_and_what_fixes_it() -> None:
    run = likenew.diagnose(SimulatedDrive("tiny-flash", state="used"))
    assert run.found_problem and run.causes[0].name == "scattered_data" and run.causes[0].probability > 0.9
    cause = run.causes[0].answer
    assert cause is not None and cause.actions[0].loses == "nothing"
    assert not likenew.diagnose(DRIVE).found_problem


def test_the_inside_of_a_drive_is_found() -> None:
    assert likenew.xray(DRIVE).answers[0].standing in ("info", "good")
    fit = likenew.fit(SimulatedDrive("disk-2tb"), op="read")
    assert "fit" in fit.tables and len(fit.tables["fit"]) >= 1


def test_a_kept_run_reads_back(tmp_path: Path) -> None:
    run = likenew.run(READS, archive=tmp_path)
    assert run.folder is not None and run.folder.parent == tmp_path
    again = likenew.load(run.folder)
    assert again.document == run.document and again.segments.to_rows() == run.segments.to_rows()
    (run.folder / "findings.json").unlink()
    judged = likenew.load(run.folder)
    assert judged.is_interrupted and judged.summary == run.summary
    (run.folder / "segments.jsonl").write_text("nonsense\n")
    with pytest.raises(likenew.UnfinishedError, match=r"segments\.jsonl"):
        likenew.load(run.folder)


def test_a_folder_is_measured_with_files_that_are_deleted(tmp_path: Path) -> None:
    (folder := tmp_path / "drive").mkdir()
    events: list[str] = []
    run = likenew.run(
        likenew.Bench(folder, span="16MiB", passes=1, time=0.1),
        archive=tmp_path / "runs",
        samples=True,
        progress=lambda event: events.extend(event),
    )
    assert run.document["instrument"]["clock"] == "wall" and list(folder.iterdir()) == []
    assert run.samples is not None and len(run.samples) == sum(run.segments["ios"])
    assert "run" in events and "step" in events


def test_nothing_is_overwritten_without_consent(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.write_bytes(b"only copy" * 10_000_000)
    before = photos.stat().st_mtime_ns
    with pytest.raises(likenew.RefusedError):
        likenew.run(likenew.Bench(photos, op="write", span="16MiB").plan())
    with pytest.raises(likenew.LikenewError, match="read-only"):
        likenew.run(likenew.Plan("bench", str(photos), options={"ops": ["write"], "span": "16MiB"}), archive=tmp_path / "runs")
    assert photos.stat().st_mtime_ns == before and photos.read_bytes() == b"only copy" * 10_000_000
    with pytest.raises(likenew.UsageError, match="consent"):
        likenew.run(READS, consent="X")


ENDLESS = """
import likenew, signal, sys
# Who starts programs in the background has them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from likenew.workload import Stream, Random, Workload
plan = likenew.Workloads("sim:tiny-flash", [Workload("long", [Stream("write", "4k", Random())], elapsed="10h")])
print("begun", flush=True)
likenew.run(plan, archive=sys.argv[1])
"""


def test_ctrl_c_stops_a_run_and_keeps_what_it_measured(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    while not list(tmp_path.glob("*/machine.json")):
        time.sleep(0.01)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in said and "panicked" not in said
    (folder,) = tmp_path.iterdir()
    run = likenew.load(folder)
    assert run.is_interrupted and sum(run.segments["ios"]) > 0


def test_ctrl_c_stops_the_making_of_a_drive(tmp_path: Path) -> None:
    slow = ENDLESS.replace("sim:tiny-flash", "sim:tlc-nvme-1tb?state=used")
    child = subprocess.Popen(
        [sys.executable, "-c", slow, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=10)
    assert "KeyboardInterrupt" in said and "panicked" not in said and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_this_process_alone_ends_the_program_too(tmp_path: Path, sent: signal.Signals) -> None:
    (folder := tmp_path / "drive").mkdir()
    measure = f"likenew.run(likenew.Bench({str(folder)!r}, span='16MiB', passes=30, time=10), archive={str(tmp_path / 'runs')!r})"
    ours = f"import likenew, signal; signal.signal(signal.SIGINT, signal.default_int_handler); {measure}"
    with subprocess.Popen([sys.executable, "-c", ours], stderr=subprocess.PIPE, text=True) as caller:
        while not list(tmp_path.glob("runs/*/machine.json")):
            assert caller.poll() is None, "it could not begin"
            time.sleep(0.01)
        (program,) = psutil.Process(caller.pid).children()
        time.sleep(0.3)
        caller.send_signal(sent)
        caller.wait(timeout=15)
        psutil.wait_procs([program], timeout=15)
        assert not program.is_running() and list(folder.iterdir()) == []
    (kept,) = (tmp_path / "runs").iterdir()
    assert likenew.load(kept).is_interrupted


def test_progress_that_fails_ends_the_program(tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError

    started = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        likenew.run(likenew.Bench(tmp_path, span="16MiB", passes=30, time=10), archive=tmp_path / "runs", progress=fail)
    assert time.monotonic() - started < 30


def test_runs_and_tables_travel_between_processes(tmp_path: Path) -> None:
    kept = likenew.run(likenew.Bench(SimulatedDrive("tiny-flash", state="used"), passes=2, time=0.2), archive=tmp_path)
    for run in (kept, likenew.run(READS, samples=True), likenew.diagnose(DRIVE)):
        again = pickle.loads(pickle.dumps(run))
        assert again.document == run.document and again.folder == run.folder and again.plan == run.plan
        assert (again.samples is None) == (run.samples is None)
        for table in (*run.tables.values(), run.segments, run.windows("bytes"), *([run.samples] if run.samples else [])):
            copy = pickle.loads(pickle.dumps(table))
            assert copy.to_rows() == table.to_rows() and pa.table(copy).schema == pa.table(table).schema
    for stream in (b"", b"nonsense"):
        with pytest.raises(likenew.LikenewError):
            likenew.Table(stream)


def test_other_threads_run_meanwhile() -> None:
    counted, is_over = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not is_over.wait(0.001):
            counted += 1

    counter = threading.Thread(target=count)
    counter.start()
    started = time.monotonic()
    likenew.run(Workloads(DRIVE, [Workload("writes", [Stream("write", "4k", Random())], ops=200_000)]))
    elapsed = time.monotonic() - started
    is_over.set()
    counter.join()
    # With the lock held there would be none; a busy machine gives fewer than one a millisecond.
    assert elapsed < 0.05 or counted > 3


def test_runs_of_threads_do_not_mix() -> None:
    plans = [READS.plan().with_seed(seed) for seed in range(6)]
    alone = [likenew.run(plan).segments.to_rows() for plan in plans]
    together: dict[int, object] = {}

    def work(seed: int) -> None:
        together[seed] = likenew.run(plans[seed]).segments.to_rows()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    [thread.start() for thread in threads]  # type: ignore[func-returns-value]
    [thread.join() for thread in threads]  # type: ignore[func-returns-value]
    assert [together[seed] for seed in range(6)] == alone


def test_joined_tables_are_the_tables_of_each_run() -> None:
    writes = Workloads(DRIVE, [Workload("writes", [Stream("write", "4k", Random())], ops=500), READS.workloads[0]])
    runs = {"reads": likenew.run(READS), "both": likenew.run(writes), "check": likenew.diagnose(DRIVE)}
    joined = likenew._native.JoinedTables()
    for name, run in runs.items():
        joined.add(name, run._native)
    tables = joined.tables("run")
    assert set(tables) == {"segments"}.union(*(run.tables for run in runs.values()))
    for table in tables:
        each = {name: run.segments if table == "segments" else run.tables.get(table) for name, run in runs.items()}
        rows = [{"run": name, **row} for name, found in each.items() if found is not None for row in found.to_rows()]
        keys = tables[table].column_names
        assert keys[0] == "run" and tables[table].to_rows() == [{key: row.get(key) for key in keys} for row in rows]


def test_joined_tables_number_runs_and_leave_out_what_nobody_wants() -> None:
    joined = likenew._native.JoinedTables()
    run = likenew.run(READS)._native
    for number in (3, 5):
        joined.add(number, run, ["segments"])
    (table,) = joined.tables("drive").values()
    assert table["drive"] == [3, 5] and table["op"] == ["read", "read"]
