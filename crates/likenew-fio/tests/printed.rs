//! fio prints one run in several forms, and all are read as its JSON is.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

use std::path::Path;
use std::process::Command;

use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_fio::{import, import_any};

/// Runs fio in the folder, and gives what it printed.
fn fio(folder: &Path, arguments: &[&str]) -> String {
    let mut fio = Command::new("fio");
    fio.current_dir(folder).args(["--filename=drive.bin", "--size=16m"]).args(arguments);
    let out = fio.output().expect("fio is installed: make test does that");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

const JOBS: [&str; 11] = [
    "--name=first; reads",
    "--rw=randread",
    "--bs=4k",
    "--runtime=1",
    "--time_based",
    "--name=mix",
    "--stonewall",
    "--rw=randrw",
    "--rwmixread=70",
    "--bs=16k",
    "--io_size=16m",
];

/// IOPS that were printed to within `off`, of which whole I/Os were made.
#[track_caller]
fn iops_agree(printed: &Segment, json: &Segment, op: Op, off: f64) {
    let per_s = |segment: &Segment| segment.ios(op) as f64 / segment.elapsed().as_secs_f64();
    let off = off + 0.5 / json.elapsed().as_secs_f64();
    assert!((per_s(printed) - per_s(json)).abs() <= off, "{op}: {} {}", per_s(printed), per_s(json));
}

#[test]
fn terse_output_of_every_version_agrees_with_json() {
    let folder = folder();
    for version in 2..=5 {
        let terse = format!("--terse-version={version}");
        let text = fio(folder.path(), &[&["--output-format=terse,json", &terse][..], &JOBS].concat());
        let json = import(&text).unwrap();
        let printed = import_any(text.split("\n{").next().unwrap(), "").unwrap();
        assert_eq!(printed.segments.len(), 2, "version {version}");
        for (printed, json) in printed.segments.iter().zip(&json.segments) {
            let name = format!("version {version}, {}", json.workload.name);
            assert_eq!(printed.workload.name, json.workload.name, "{name}");
            assert_eq!((printed.elapsed(), printed.stop), (json.elapsed(), json.stop), "{name}");
            assert_eq!(
                printed.workload.streams[0].op.writes(),
                json.workload.streams[0].op.writes(),
                "{name}"
            );
            for op in Op::ALL {
                assert!(json.bytes(op) - printed.bytes(op) < 1024, "{name} {op}");
                iops_agree(printed, json, op, 1.01);
                let (printed, json) = (printed.total_of(op), json.total_of(op));
                assert!((printed.latency_ns_mean() - json.latency_ns_mean()).abs() < 10.0, "{name} {op}");
                for share in [0.5, 0.99] {
                    let ns = |tally: &likenew_core::tally::Tally| tally.latency.quantile(share).0;
                    assert!(ns(&printed).abs_diff(ns(&json)) < 1000, "{name} {op} {share}");
                }
            }
        }
    }
}

#[test]
fn normal_output_agrees_with_json() {
    let folder = folder();
    let text = fio(folder.path(), &[&["--output-format=normal,json"][..], &JOBS].concat());
    let json = import(&text).unwrap();
    let (head, rest) = text.split_once("\n{").unwrap();
    let after = rest.split_once("\n}\n").unwrap_or_default().1;
    let printed = import_any(&format!("{head}\n{after}"), "").unwrap();
    let whole = json.segments.iter().flat_map(|segment| {
        let tallies = segment.tallies.iter();
        tallies
            .map(move |tally| (format!("{} {}", segment.workload.name, tally.op.name()), segment, tally.op))
    });
    let whole: Vec<_> = whole.collect();
    assert_eq!(printed.segments.len(), whole.len());
    for (printed, (name, json, op)) in printed.segments.iter().zip(whole) {
        assert_eq!(printed.workload.name, name);
        let per_s = |segment: &Segment| segment.bytes(op) as f64 / segment.elapsed().as_secs_f64();
        // Three digits.
        assert!((per_s(printed) / per_s(json) - 1.0).abs() < 0.006, "{name}");
        let (printed, json) = (printed.total_of(op).latency_ns_mean(), json.total_of(op).latency_ns_mean());
        assert!((printed / json - 1.0).abs() < 0.006, "{name}: {printed} {json}");
    }
}

/// A run with logs of this name, and the log of this kind beside its JSON.
fn logged(folder: &Path, arguments: &[&str], kinds: &[&str]) -> (Vec<Segment>, Segment) {
    const ALWAYS: [&str; 5] = [
        "--output-format=json",
        "--write_bw_log=log",
        "--write_iops_log=log",
        "--write_lat_log=log",
        "--name=job",
    ];
    let json = import(&fio(folder, &[&ALWAYS[..], arguments].concat())).unwrap();
    let log = |kind: &&str| {
        let name = format!("log_{kind}.1.log");
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let mut imported = import_any(&text, &name).unwrap();
        assert_eq!(imported.segments.len(), 1);
        imported.segments.remove(0)
    };
    (kinds.iter().map(log).collect(), json.segments[0].clone())
}

#[test]
fn logs_of_single_ios_agree_with_json() {
    let folder = folder();
    let job = ["--rw=randrw", "--bs=4k", "--io_size=4m"];
    let (logs, json) = logged(folder.path(), &job, &["lat", "clat", "bw", "iops"]);
    for log in &logs {
        for op in [Op::Read, Op::Write] {
            assert_eq!((log.ios(op), log.bytes(op)), (json.ios(op), json.bytes(op)));
        }
        let cells: u64 = log.seconds.cells.iter().map(|cell| cell.bytes).sum();
        assert_eq!(cells, json.total().bytes);
    }
    for op in [Op::Read, Op::Write] {
        let mean = |segment: &Segment| segment.total_of(op).latency_ns_mean();
        assert!((mean(&logs[0]) - mean(&json)).abs() < 1.0, "{} {}", mean(&logs[0]), mean(&json));
        assert!(mean(&logs[1]) < mean(&logs[0]) && logs[2].total().latency_ns_mean() == 0.0);
    }
    // Times of a log are whole milliseconds, and a busy machine takes a while to end a job.
    let (elapsed, of_json) = (logs[0].elapsed().as_secs_f64(), json.elapsed().as_secs_f64());
    assert!((elapsed - of_json).abs() < 0.1 + of_json / 10.0, "{elapsed} s for {of_json} s");
}

#[test]
fn logs_of_means_agree_with_json() {
    let folder = folder();
    // Nothing but fio's own pace decides how much is done.
    let job = [
        "--ioengine=null",
        "--rw=randrw",
        "--bs=4k",
        "--rate=8m,4m",
        "--runtime=3",
        "--time_based",
        "--log_avg_msec=500",
    ];
    let (logs, json) = logged(folder.path(), &job, &["bw", "iops"]);
    let within = |found: f64, expected: f64| {
        // The log begins before the first I/O and leaves out the end after its last whole time.
        assert!((found / expected - 1.0).abs() < 0.2, "{found} for {expected}");
    };
    for op in [Op::Read, Op::Write] {
        let per_s = |count: u64, segment: &Segment| count as f64 / segment.elapsed().as_secs_f64();
        within(per_s(logs[0].bytes(op), &logs[0]), per_s(json.bytes(op), &json));
        within(per_s(logs[1].ios(op), &logs[1]), per_s(json.ios(op), &json));
    }
    assert_eq!(logs[1].total().bytes, 0, "the log has no length");
    assert!(logs[0].seconds.cells.len() >= 3);
    let text = std::fs::read_to_string(folder.path().join("log_lat.1.log")).unwrap();
    let refusal = import_any(&text, "log_lat.1.log").unwrap_err().to_string();
    assert!(refusal.contains("mean latencies"), "{refusal}");
}
