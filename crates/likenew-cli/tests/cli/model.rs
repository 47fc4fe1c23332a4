//! Models of drives: a simulated one, a folder, and read-only targets.

use serde_json::Value;

use crate::support::{Sandbox, is_valid, names};

/// Quick settings: few bytes, short visits.
const QUICK: [&str; 6] = ["--bytes", "256MiB", "--visit", "20ms", "--json", "-"];

fn row<'a>(document: &'a Value, op: &str, pattern: &str) -> &'a Value {
    let rows = document["tables"]["fit"].as_array().unwrap();
    rows.iter().find(|row| row["op"] == op && row["pattern"] == pattern).unwrap()
}

#[test]
fn a_simulated_drive_is_modeled_always_the_same_and_goes_on_to_the_byte() {
    let sandbox = Sandbox::new();
    let mut arguments = vec!["model", "sim:tiny-flash?state=used"];
    arguments.extend(QUICK);
    let whole = sandbox.run(&arguments);
    let document = whole.code(0).json();
    is_valid(&document);
    let read = row(&document, "read", "random");
    let (throughput, access) = (read["throughput_bytes_per_s"].as_f64(), read["access_time_ns"].as_f64());
    assert!(
        throughput.is_some_and(|throughput| throughput > 1e7) && access.is_some_and(|access| access > 1e4),
        "{read}"
    );
    assert!(read["throughput_bytes_per_s_low"].as_f64() <= throughput);
    let series = document["series"].as_object().unwrap();
    for name in
        ["read_by_length", "read_by_length_linear", "read_residuals", "write_by_length", "by_depth", "bursts"]
    {
        assert!(series.contains_key(name), "{name}");
    }
    assert!(document["bytes_written"].as_u64().unwrap() <= 256 << 20);
    let run = &sandbox.runs()[0];
    let file = run.join("segments.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    for lines in [1, 40] {
        let kept: usize = text.lines().take(lines).map(|line| line.len() + 1).sum();
        std::fs::write(&file, &text[..kept + 50]).unwrap();
        std::fs::remove_file(run.join("findings.json")).unwrap();
        let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--json", "-"]);
        assert_eq!(resumed.code(0).stdout(), whole.stdout(), "after {lines} workloads");
    }
    let judged = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]);
    assert_eq!(judged.code(0).json()["tables"], document["tables"]);
}

#[test]
fn a_folder_is_modeled_with_own_files_that_are_gone_afterwards() {
    let sandbox = Sandbox::new();
    let settings = ["--span", "48MiB", "--bytes", "96MiB", "--time", "2s", "--visit", "10ms", "--json", "-"];
    let mut arguments = vec!["model", "."];
    arguments.extend(settings);
    let document = sandbox.run(&arguments).code(0).json();
    is_valid(&document);
    assert!(!document["tables"]["points"].as_array().unwrap().is_empty());
    assert!(names(&sandbox.work()).is_empty(), "{:?}", names(&sandbox.work()));
}

#[test]
fn what_may_only_be_read_is_read_and_nonsense_is_refused() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("file"), vec![1u8; 8 << 20]).unwrap();
    let read = sandbox.run(&["model", "file", "--time", "1s", "--visit", "10ms", "--json", "-"]);
    let document = read.code(0).json();
    assert!(read.stderr().contains("Reads only"), "{}", read.stderr());
    assert_eq!(document["bytes_written"], 0);
    sandbox.run(&["model", "file", "--op", "write"]).code(3);
    sandbox.run(&["model", "sim:tiny-flash", "--longest", "3MiB"]).code(2).says("power of two");
    sandbox.run(&["model", "sim:tiny-flash", "--depth", "0"]).code(2).says("depth");
    sandbox.run(&["model", "sim:tiny-flash", "--bytes", "1k"]).code(2).says("16MiB");
}

#[test]
fn few_bytes_end_it_before_more_is_written() {
    let sandbox = Sandbox::new();
    for bytes in ["16MiB", "24MiB", "64MiB", "100MiB"] {
        let ran = sandbox.run(&["model", "sim:tiny-flash", "--bytes", bytes, "--json", "-"]);
        let document = ran.code(0).json();
        let most = likenew_core::units::parse_size(bytes).unwrap();
        assert!(document["bytes_written"].as_u64().unwrap() <= most, "{bytes}: {document:#}");
    }
}
