//! Traces, replayed as a user does it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use likenew_archive::SampleReader;
use serde_json::Value;

use crate::support::{Sandbox, names};

/// Lines of a trace at this interval in microseconds. A compiler that reads and an assembler that writes take
/// turns; every 25th I/O is a flush.
fn recording(ios: u64, gap_us: u64, latency_us: u64) -> String {
    let mut text = String::from("# likenew trace 1\n# capacity_bytes: 1073741824\n");
    text.push_str("at_ns,op,offset,length,latency_ns,application\n");
    for io in 0..ios {
        let at = io * gap_us * 1000;
        let latency = (latency_us + io % 7) * 1000;
        // A step coprime to the number of places visits them all.
        let offset = io * 7919 % 16_384 * 4096;
        match io % 25 {
            24 => writeln!(text, "{at},flush,0,0,{latency},as"),
            place if place % 3 == 2 => writeln!(text, "{at},write,{offset},4096,{latency},as"),
            _ => writeln!(text, "{at},read,{offset},{},{latency},cc1", 4096 << (io % 4)),
        }
        .unwrap();
    }
    writeln!(text, "# end: {ios}").unwrap();
    text
}

fn with_recording(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("day.csv"), text).unwrap();
    sandbox
}

fn row<'a>(document: &'a Value, table: &str, key: &str, value: &str) -> &'a Value {
    let rows = document["tables"][table].as_array().unwrap_or_else(|| panic!("no {table}"));
    rows.iter().find(|row| row[key] == value).unwrap_or_else(|| panic!("no {value} in {rows:#?}"))
}

#[test]
fn three_drives_of_the_catalog_are_put_in_order() {
    let sandbox = with_recording(&recording(400, 5000, 3000));
    let drives = ["sim:wd6400aaks", "sim:intel-x25-m-80gb", "sim:tlc-nvme-1tb"];
    let replay = [&["replay"][..], &drives, &["--trace", "day.csv"]].concat();
    let ran = sandbox.run(&[&replay[..], &["--json", "all.json"]].concat());
    let shown = ran.code(0).stdout();
    let ranking = shown.split("Ranking, shortest waits first:").nth(1).expect("there is a ranking");
    let place = |name: &str| ranking.find(name).unwrap_or_else(|| panic!("no {name} in {ranking}"));
    assert!(place("tlc-nvme") < place("intel-x25") && place("intel-x25") < place("wd6400"), "{ranking}");
    let all: Value =
        serde_json::from_str(&std::fs::read_to_string(sandbox.work().join("all.json")).unwrap()).unwrap();
    for (document, drive) in all.as_array().unwrap().iter().zip(drives) {
        assert_eq!(document["target"]["name"], drive);
        let day = &document["tables"]["summary"][0];
        assert_eq!(day["ios"], 400);
        assert_eq!(day["recorded_waiting_ns"], (0..400u64).map(|io| (3000 + io % 7) * 1000).sum::<u64>());
        let of = |name: &str| row(document, "applications", "application", name)["ios"].as_u64().unwrap();
        assert_eq!((of("cc1") + of("as"), of("as")), (400, 16 + 128));
        let sum = |key: &str| -> u64 {
            let rows = document["tables"]["applications"].as_array().unwrap().iter();
            rows.map(|row| row[key].as_u64().unwrap()).sum()
        };
        assert_eq!(
            (sum("waiting_ns"), sum("bytes")),
            (day["waiting_ns"].as_u64().unwrap(), day["bytes"].as_u64().unwrap())
        );
        assert!(
            day["busy_ns"].as_u64().unwrap() <= sum("busy_ns"),
            "together no longer than one after the other"
        );
        let answer = &document["answers"][0];
        assert_eq!((&answer["id"], &answer["standing"]), (&"waiting_time".into(), &"unknown".into()));
        let is_less = answer["answer"].as_str().unwrap().contains("less than recorded");
        assert_eq!(is_less, drive != drives[0], "{drive}: {answer}");
    }
    let runs = sandbox.runs();
    let paths: Vec<&str> = runs.iter().map(|run| run.to_str().unwrap()).collect();
    assert_eq!(paths.len(), 3, "each is a run of its own");
    let report = sandbox.run(&[&["report"][..], &paths].concat()).code(0).stdout();
    assert_eq!(report.split("Ranking").nth(1), shown.split("Ranking").nth(1));
}

#[test]
fn a_replay_is_the_same_each_time_and_judged_again_without_drive_and_recording() {
    let sandbox = with_recording(&recording(300, 500, 100));
    for mode in ["dependent", "timed", "fast"] {
        let replay = ["replay", "sim:tiny-flash", "--trace", "day.csv", "--mode", mode, "--json", "-"];
        let first = sandbox.run(&replay).code(0).stdout();
        assert_eq!(sandbox.run(&replay).code(0).stdout(), first, "{mode}");
    }
    std::fs::remove_file(sandbox.work().join("day.csv")).unwrap();
    for run in sandbox.runs() {
        let path = run.to_str().unwrap();
        let judged = sandbox.run(&["judge", path, "--json", "-"]).code(0).stdout();
        assert_eq!(judged, sandbox.run(&["report", path, "--json", "-"]).code(0).stdout());
    }
}

#[test]
fn what_is_wrong_with_a_recording_is_found_before_anything_is_measured() {
    let text = recording(100, 500, 100);
    let broken = text.replacen("\n25000000,", "\nsoon,", 1);
    assert_ne!(broken, text);
    let sandbox = with_recording(&broken);
    let replay = ["replay", "sim:tiny-flash", "--trace", "day.csv"];
    sandbox.run(&replay).code(2).says("day.csv, line 54").says("soon");
    std::fs::write(sandbox.work().join("day.csv"), "").unwrap();
    sandbox.run(&replay).code(2).says("day.csv");
    sandbox.run(&["replay", "sim:tiny-flash", "--trace", "no.csv"]).code(2).says("no.csv");
    sandbox.run(&["replay", "sim:tiny-flash", "--trace", "-"]).code(2).says("save it first");
    assert!(sandbox.runs().is_empty());
    std::fs::write(sandbox.work().join("day.csv"), recording(10, 500, 100)).unwrap();
    sandbox
        .run(&[&replay[..], &["--speed", "0"]].concat())
        .code(2)
        .says("'--speed <FACTOR>': it takes a number from 0.001");
    sandbox.run(&[&replay[..], &["--mode", "soon"]].concat()).code(2).says("dependent, timed or fast");
    sandbox.run(&[&replay[..], &["--export", "fio"]].concat()).code(2).says("cannot be expressed in fio");
    let plan = sandbox.run(&[&replay[..], &["--plan"]].concat()).code(0).stdout();
    assert!(plan.contains("digest = \"xxh3-64:"), "{plan}");
    std::fs::write(sandbox.work().join("plan.toml"), plan).unwrap();
    sandbox.run(&["run", "plan.toml"]).code(0).says("Programs would wait");
}

#[test]
fn a_file_is_only_read_and_a_folder_keeps_what_is_in_it() {
    let sandbox = with_recording(&recording(200, 50, 30));
    let disk = sandbox.work().join("disk.img");
    std::fs::write(&disk, vec![7; 8 << 20]).unwrap();
    let file = ["replay", "disk.img", "--trace", "day.csv"];
    sandbox.run(&file).code(3).says("--reads-only");
    let read = sandbox.run(&[&file[..], &["--reads-only", "--json", "-"]].concat()).code(0).json();
    assert_eq!(
        (&read["bytes_written"], &read["tables"]["summary"][0]["ios"]),
        (&Value::from(0), &Value::from(128))
    );
    assert!(read["answers"][0]["caveats"].to_string().contains("Only reads were replayed"));
    assert!(std::fs::read(&disk).unwrap().iter().all(|byte| *byte == 7));
    std::fs::create_dir(sandbox.work().join("folder")).unwrap();
    std::fs::write(sandbox.work().join("folder/photo.raw"), "the only copy").unwrap();
    let folder =
        ["replay", "folder", "--trace", "day.csv", "--reserve", "64MiB", "--span", "64MiB", "--json", "-"];
    let document = sandbox.run(&folder).code(0).json();
    assert_eq!(document["tables"]["summary"][0]["ios"], 200);
    assert!(document["bytes_written"].as_u64().unwrap() > 0 && document["tables"]["timing"][0]["ios"] == 200);
    assert_eq!(names(&sandbox.work().join("folder")), ["photo.raw"]);
}

fn segments(run: &Path) -> usize {
    std::fs::read_to_string(run.join("segments.jsonl")).map_or(0, |text| text.lines().count())
}

/// Starts a replay of several passes, and kills it after some of them.
fn killed(sandbox: &Sandbox, target: &str) -> PathBuf {
    let mut child = sandbox.start(&[
        "replay",
        target,
        "--trace",
        "day.csv",
        "--passes",
        "40",
        "--reserve",
        "64MiB",
        "--span",
        "64MiB",
        "--mode",
        "timed",
    ]);
    let begun = Instant::now();
    let run = loop {
        assert!(begun.elapsed() < Duration::from_secs(60), "it measures nothing");
        if let Some(run) = sandbox.runs().into_iter().find(|run| segments(run) >= 3) {
            break run;
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(segments(&run) < 41, "it was not killed in the middle");
    run
}

#[test]
fn a_killed_replay_goes_on_with_its_recording_and_with_no_other() {
    let text = recording(3000, 20, 10);
    let sandbox = with_recording(&text);
    std::fs::create_dir(sandbox.work().join("folder")).unwrap();
    let run = killed(&sandbox, "folder");
    let path = run.to_str().unwrap();
    let resume = ["resume", path, "--yes", "--reserve", "64MiB", "--json", "-"];
    std::fs::write(sandbox.work().join("day.csv"), recording(3000, 20, 11)).unwrap();
    sandbox.run(&resume).code(2).says("is not the trace this run began with");
    std::fs::remove_file(sandbox.work().join("day.csv")).unwrap();
    sandbox.run(&resume).code(2).says("could not read the trace");
    std::fs::write(sandbox.work().join("day.csv"), text).unwrap();
    let resumed = sandbox.run(&resume);
    resumed.code(0).says("Resuming after");
    assert_eq!(resumed.json()["tables"]["summary"].as_array().unwrap().len(), 40);
    assert_eq!(names(&sandbox.work().join("folder")), Vec::<String>::new());
}

#[test]
fn a_simulated_replay_that_was_cut_off_comes_out_as_if_it_was_not() {
    let sandbox = with_recording(&recording(500, 300, 100));
    let replay = ["replay", "sim:tiny-flash", "--trace", "day.csv", "--passes", "3", "--json", "-"];
    let whole = sandbox.run(&replay).code(0).stdout();
    let runs = sandbox.runs();
    let file = runs[0].join("segments.jsonl");
    let lines = std::fs::read_to_string(&file).unwrap();
    for kept in [0, 1, 3] {
        let kept: usize = lines.lines().take(kept).map(|line| line.len() + 1).sum();
        std::fs::write(&file, &lines[..kept + 100]).unwrap();
        std::fs::remove_file(runs[0].join("findings.json")).unwrap();
        let resumed = sandbox.run(&["resume", runs[0].to_str().unwrap(), "--json", "-"]);
        assert_eq!(resumed.code(0).stdout(), whole);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), lines);
    }
}

/// Likenew replays a log of fio like fio itself: the same I/Os in the same order.
#[test]
fn fio_and_likenew_do_the_same_with_the_same_log() {
    let sandbox = Sandbox::new();
    // tmpfs refuses direct I/O on some kernels.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let disk = folder.path().join("disk");
    std::fs::write(&disk, vec![1; 16 << 20]).unwrap();
    let mut log = String::from("fio version 2 iolog\ndisk add\ndisk open\n");
    let expected: Vec<(String, u64, u64)> = (0..500u64)
        .map(|io| {
            let op = if io % 3 == 1 { "write" } else { "read" };
            (op.to_owned(), io * 7919 % 2048 * 8192, 4096 << (io % 2))
        })
        .collect();
    for (op, offset, length) in &expected {
        writeln!(log, "disk {op} {offset} {length}").unwrap();
    }
    log.push_str("disk close\n");
    std::fs::write(sandbox.work().join("day.log"), &log).unwrap();
    std::fs::write(folder.path().join("day.log"), &log).unwrap();

    let mut fio = Command::new("fio");
    fio.current_dir(folder.path());
    fio.args(["--name=replay", "--read_iolog=day.log", "--replay_redirect=disk", "--filename=disk"]);
    fio.args([
        "--direct=1",
        "--ioengine=psync",
        "--write_lat_log=done",
        "--log_offset=1",
        "--output-format=json",
    ]);
    let out = fio.output().expect("fio is installed: make test does that");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let job: Value = serde_json::from_slice(&out.stdout).unwrap();
    let bytes = |op: &str| job["jobs"][0][op]["io_bytes"].as_u64().unwrap();

    let target = folder.path().to_str().unwrap();
    let replay = ["replay", target, "--trace", "day.log", "--mode", "fast", "--depth", "1", "--samples"];
    let document = sandbox
        .run(&[&replay[..], &["--span", "16MiB", "--reserve", "64MiB", "--json", "-"]].concat())
        .code(0)
        .json();
    assert_eq!(document["tables"]["summary"][0]["bytes"].as_u64().unwrap(), bytes("read") + bytes("write"));
    let samples = SampleReader::open(&sandbox.runs()[0].join("samples.parquet")).unwrap();
    // The first workload writes the data to read.
    let ours: Vec<(String, u64, u64)> = samples
        .map(Result::unwrap)
        .filter(|(workload, _)| *workload == 1)
        .map(|(_, sample)| (sample.op.to_string(), sample.offset, u64::from(sample.length)))
        .collect();
    assert_eq!(ours, expected, "one at a time, so that the order of ends is the order of departures");
    // fio writes no log of I/Os while it replays one, but logs where each latency was measured.
    let done = std::fs::read_to_string(folder.path().join("done_lat.1.log")).unwrap();
    let theirs: Vec<(String, u64, u64)> = done
        .lines()
        .map(|line| {
            let fields: Vec<u64> = line.split(", ").take(5).map(|field| field.parse().unwrap()).collect();
            let op = if fields[2] == 0 { "read" } else { "write" };
            (op.to_owned(), fields[4], fields[3])
        })
        .collect();
    assert_eq!(theirs, ours);
}
