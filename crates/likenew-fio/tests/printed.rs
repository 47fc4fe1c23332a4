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

/// IOPS without a fraction.
#[track_caller]
fn iops_agree(printed: &Segment, json: &Segment, op: Op, off: f64) {
    let per_s = |segment: &Segment| segment.ios(op) as f64 / segment.elapsed().as_secs_f64();
    assert!((per_s(printed) - per_s(json)).abs() <= off, "{op}: {} {}", per_s(printed), per_s(json));
}

#[test]
fn terse_output_of_every_version_agrees_with_json() {
    let folder = folder();
    for version in 2..=5 {
        let terse = format!("--terse-version={version}");
        let text = fio(folder.path(), &[&["--output-format=terse,json", &terse][..], &JOBS].concat());
        let json = import(&text).unwrap();
        let printed = import_any(text.split("\n{").next().unwrap()).unwrap();
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
    let printed = import_any(&format!("{head}\n{after}")).unwrap();
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
