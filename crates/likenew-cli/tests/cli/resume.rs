//! Interrupted runs, resumed.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{CommandOutput, Sandbox, names};

const FILL: [&str; 7] =
    ["fill", "sim:tiny-flash?state=used", "--files", "12", "--file-size", "10MiB", "--json"];

fn fill(sandbox: &Sandbox) -> (std::path::PathBuf, String) {
    let whole = sandbox.run(&[&FILL[..], &["-"]].concat());
    whole.code(10);
    let runs = sandbox.runs();
    let [run] = runs.as_slice() else { panic!("{runs:?}") };
    (run.clone(), whole.stdout())
}

/// Leaves the first lines of the segments and half of the next one, as a kill does.
fn cut(run: &Path, lines: usize) -> String {
    let file = run.join("segments.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    let kept: usize = whole.lines().take(lines).map(|line| line.len() + 1).sum();
    fs::write(&file, &whole[..kept + 100]).unwrap();
    fs::remove_file(run.join("findings.json")).unwrap();
    whole
}

fn resume(sandbox: &Sandbox, run: &Path) -> CommandOutput {
    sandbox.run(&["resume", run.to_str().unwrap(), "--json", "-"])
}

#[test]
fn a_simulated_drive_goes_on_to_the_byte() {
    let sandbox = Sandbox::new();
    let (run, report) = fill(&sandbox);
    for lines in [0, 1, 7] {
        let whole = cut(&run, lines);
        let resumed = resume(&sandbox, &run);
        resumed.code(10).says("Resuming after");
        assert_eq!(resumed.stdout(), report, "after {lines} files");
        assert_eq!(fs::read_to_string(run.join("segments.jsonl")).unwrap(), whole);
    }
    resume(&sandbox, &run).code(2).says("is complete, so there is nothing to resume");
}

#[test]
fn without_a_name_the_latest_interrupted_run_goes_on() {
    let sandbox = Sandbox::new();
    let (run, report) = fill(&sandbox);
    cut(&run, 3);
    sandbox.run(&["bench", "sim:tiny-flash", "--passes", "1"]).code(0);
    let resumed = sandbox.run(&["resume", "--json", "-"]);
    resumed.code(10).says(&format!("resuming {}", run.display()));
    assert_eq!(resumed.stdout(), report);
    sandbox.run(&["resume"]).code(2).says("nothing to resume");
}

#[test]
fn another_drive_than_the_one_measured_is_refused() {
    let sandbox = Sandbox::new();
    let (run, _) = fill(&sandbox);
    cut(&run, 3);
    let text = fs::read_to_string(run.join("segments.jsonl")).unwrap();
    let changed = text.replacen("\"latency_ns_sum\":", "\"latency_ns_sum\":1", 1);
    assert_ne!(text, changed);
    fs::write(run.join("segments.jsonl"), &changed).unwrap();
    resume(&sandbox, &run).code(3).says("did not come out as recorded");
    let plan = fs::read_to_string(run.join("plan.toml")).unwrap();
    fs::write(run.join("plan.toml"), plan.replace("sim:tiny-flash?state=used", "sim:usb-stick-16gb"))
        .unwrap();
    resume(&sandbox, &run).code(3).says("start a new run");
    resume(&sandbox, &sandbox.work()).code(2).says("not a run folder");
}

#[test]
fn a_killed_fill_of_a_folder_goes_on_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    let folder = sandbox.work().join("folder");
    fs::create_dir(&folder).unwrap();
    let mut child = sandbox.start(&[
        "fill",
        folder.to_str().unwrap(),
        "--files",
        "400",
        "--file-size",
        "1MiB",
        "--block",
        "64k",
    ]);
    let begun = Instant::now();
    let run = loop {
        assert!(begun.elapsed() < Duration::from_secs(60), "it measures nothing");
        let lines = |run: &std::path::PathBuf| {
            fs::read_to_string(run.join("segments.jsonl")).map_or(0, |text| text.lines().count())
        };
        if let Some(run) = sandbox.runs().into_iter().find(|run| lines(run) >= 3) {
            break run;
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = fs::read_to_string(run.join("segments.jsonl")).unwrap();
    let kept: Vec<&str> = kept.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
    assert!(kept.len() < 400, "it was not killed in the middle");
    let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--yes", "--json", "-"]);
    resumed.says("An earlier run has left").says("Resuming after");
    let report = resumed.json();
    assert_eq!(report["tables"]["files"].as_array().unwrap().len(), 400);
    assert!(report["target"]["caveats"].to_string().contains("was interrupted and resumed once"));
    assert_eq!(report["bytes_written"], 400 << 20);
    let after = fs::read_to_string(run.join("segments.jsonl")).unwrap();
    assert!(after.starts_with(&kept.concat()), "what was measured before stays as it was");
    let started_at: Vec<u64> = after
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["started_at"].as_u64().unwrap())
        .collect();
    assert!(started_at.is_sorted(), "time goes on");
    assert_eq!(names(&folder), Vec::<String>::new());
}

#[test]
fn a_run_goes_on_with_the_reserve_and_the_engine_it_began_with() {
    let sandbox = Sandbox::new();
    let folder = sandbox.work().join("folder");
    fs::create_dir(&folder).unwrap();
    let settings = ["--reserve", "1MiB", "--engine", "posix", "--samples"];
    let fill = ["fill", folder.to_str().unwrap(), "--files", "4", "--file-size", "1MiB", "--yes"];
    sandbox.run(&[&fill[..], &settings].concat());
    let run = sandbox.runs().remove(0);
    let lines = fs::read_to_string(run.join("segments.jsonl")).unwrap().lines().count();
    cut(&run, lines - 1);
    let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--json", "-", "--yes"]);
    let report = resumed.says("Resuming after").json();
    assert_eq!(report["target"]["engine"], "posix", "{report:#}");
    let machine = fs::read_to_string(run.join("machine.json")).unwrap();
    let machine: serde_json::Value = serde_json::from_str(&machine).unwrap();
    assert_eq!(
        machine["settings"],
        serde_json::json!({"engine": "posix", "reserve_bytes": 1 << 20, "samples": true})
    );
    assert!(run.join("samples-2.parquet").exists(), "every I/O is kept after the break, too");
}
