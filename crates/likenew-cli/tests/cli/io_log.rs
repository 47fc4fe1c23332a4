//! `--log`: what each second of a run did, written while it runs.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Sandbox;

/// The lines of a log, each by its columns; a last one that is torn is left out.
fn lines(path: &Path) -> Vec<csv::StringRecord> {
    let mut log = csv::Reader::from_path(path).unwrap();
    let head = log.headers().unwrap().iter().collect::<Vec<_>>().join(",");
    let latencies = "latency_ns_mean,latency_ns_p50,latency_ns_p99,latency_ns_max";
    let counts = "duration_s,ios,bytes,bytes_per_s";
    assert_eq!(head, format!("time_s,wall_clock,step,workload,op,{counts},{latencies},errors"));
    log.records().map_while(Result::ok).collect()
}

fn number(line: &csv::StringRecord, column: usize) -> f64 {
    line[column].parse().unwrap_or_else(|_| panic!("{line:?}"))
}

fn ns(line: &csv::StringRecord, column: usize) -> u64 {
    (number(line, column) * 1e9).round() as u64
}

fn segments(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("segments.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every second of each workload, and all its I/Os: the sums are the totals of the run.
fn adds_up(log: &Path, run: &Path) -> Vec<csv::StringRecord> {
    let (lines, segments) = (lines(log), segments(run));
    assert!(!segments.is_empty());
    for (index, segment) in segments.iter().enumerate() {
        let step = (index + 1).to_string();
        let of: Vec<_> = lines.iter().filter(|line| line[2] == *step).collect();
        let tallies = segment["tallies"].as_array().unwrap();
        for op in ["read", "write", "trim", "flush"] {
            let of_op: Vec<_> = of.iter().filter(|line| &line[4] == op).collect();
            let sum = |column| of_op.iter().map(|line| number(line, column) as u64).sum::<u64>();
            let total = |keys: &[&str]| {
                let tallies = tallies.iter().filter(|tally| tally["op"] == op);
                tallies.flat_map(|tally| keys.iter().map(|key| tally[*key].as_u64().unwrap())).sum::<u64>()
            };
            let totals = [total(&["ios"]), total(&["bytes"]), total(&["errors", "short"])];
            assert_eq!([sum(6), sum(7), sum(13)], totals, "step {step}, {op}");
        }
        let Some(first) = of.first() else { continue };
        assert_eq!(first[3], *segment["workload"]["name"].as_str().unwrap());
        let at = |key: &str| segment[key].as_u64().unwrap();
        let mut seconds: Vec<(u64, u64)> = of.iter().map(|line| (ns(line, 0), ns(line, 5))).collect();
        seconds.dedup();
        let end = seconds.iter().fold(seconds[0].0, |end, (begin, length)| {
            assert!(*begin == end && (1..=1_000_000_000).contains(length), "step {step}: {seconds:?}");
            begin + length
        });
        assert!(end == at("ended_at") && (seconds[0].0 - at("started_at")).is_multiple_of(1_000_000_000));
    }
    assert!(lines.iter().all(|line| (1..=segments.len() as u64).contains(&line[2].parse().unwrap())));
    lines
}

const FILL: [&str; 8] =
    ["fill", "sim:tiny-flash?state=used", "--files", "9", "--file-size", "100MiB", "--quiet", "--log"];

#[test]
fn the_log_of_a_simulated_drive_adds_up_and_is_the_same_each_time() {
    let sandbox = Sandbox::new();
    let logs = ["one.csv", "two.csv"].map(|name| sandbox.work().join(name));
    for log in &logs {
        sandbox.run(&[&FILL[..], &[log.to_str().unwrap()]].concat());
    }
    let lines = adds_up(&logs[0], &sandbox.runs()[0]);
    assert!(lines.len() > 18, "several seconds of each file: {}", lines.len());
    assert!(lines.iter().all(|line| line[1].is_empty()), "simulated time has no date");
    for line in lines.iter().filter(|line| number(line, 6) > 0.0) {
        let latencies = [number(line, 10), number(line, 11), number(line, 12)];
        assert!(latencies.is_sorted() && number(line, 9) > 0.0, "{line:?}");
        assert!((number(line, 8) - number(line, 7) / number(line, 5)).abs() <= 0.5, "{line:?}");
    }
    assert_eq!(fs::read(&logs[0]).unwrap(), fs::read(&logs[1]).unwrap());
}

#[test]
fn every_kind_of_io_and_a_second_without_any_has_a_line() {
    let sandbox = Sandbox::new();
    let plan = r#"
procedure = "run"
target = "sim:tiny-flash"
seed = 0
[options]
[[options.workload]]
name = "a, b"
until = { elapsed = "4500ms" }
[[options.workload.stream]]
op = "mix:50"
size = "4k"
pattern.random = "whole"
arrival.open = { per_second = 1.0, inter_arrival = "poisson", depth_max = 8 }
"#;
    fs::write(sandbox.work().join("plan.toml"), plan).unwrap();
    sandbox.run(&["run", "plan.toml", "--log", "log.csv", "--quiet"]).code(0);
    let lines = adds_up(&sandbox.work().join("log.csv"), &sandbox.runs()[0]);
    let kinds: Vec<&str> = lines.iter().map(|line| &line[4]).collect();
    assert_eq!(kinds[..4], ["read", "write", "read", "write"]);
    let still: Vec<_> = lines.iter().filter(|line| &line[6] == "0").collect();
    assert!(!still.is_empty() && still.iter().all(|line| line[9].is_empty() && &line[8] == "0"), "{lines:?}");
}

#[test]
fn standard_output_takes_the_log_alone() {
    let sandbox = Sandbox::new();
    let bench = ["bench", "sim:tiny-flash", "--span", "64MiB", "--passes", "1"];
    let run = sandbox.run(&[&bench[..], &["--log", "-", "--json", "report.json"]].concat());
    let log = sandbox.work().join("log.csv");
    fs::write(&log, run.code(0).stdout()).unwrap();
    adds_up(&log, &sandbox.runs()[0]);
    assert!(sandbox.work().join("report.json").exists());
    let both = [&bench[..], &["--log", "-", "--json", "-"]].concat();
    sandbox.run(&both).code(2).says("--json - and --log - would both write to standard output");
}

#[test]
fn a_resumed_run_goes_on_in_the_log_that_it_began() {
    let sandbox = Sandbox::new();
    let log = sandbox.work().join("log.csv");
    sandbox.run(&[&FILL[..], &[log.to_str().unwrap()]].concat());
    let run = sandbox.runs().remove(0);
    let whole = fs::read_to_string(&log).unwrap();
    let file = run.join("segments.jsonl");
    let kept = fs::read_to_string(&file).unwrap();
    for (steps, log_ends_at) in [(3, whole.len() / 2), (8, whole.len()), (0, 0)] {
        let measured: String = kept.split_inclusive('\n').take(steps).collect();
        fs::write(&file, measured).unwrap();
        fs::remove_file(run.join("findings.json")).unwrap();
        // A line may be torn.
        fs::write(&log, &whole[..log_ends_at.max(whole.find('\n').unwrap() + 1)]).unwrap();
        sandbox.run(&["resume", run.to_str().unwrap(), "--quiet", "--log", "log.csv"]).says("Resuming after");
        assert_eq!(fs::read_to_string(&log).unwrap(), whole, "after {steps} files");
        adds_up(&log, &run);
    }
    let measured: String = kept.split_inclusive('\n').take(3).collect();
    fs::write(&file, &measured).unwrap();
    fs::remove_file(run.join("findings.json")).unwrap();
    let changed = whole.replacen(",write,1,", ",write,1,1", 1);
    assert_ne!(changed, whole);
    for other in ["name,age\nAnna,7\n", &changed] {
        fs::write(&log, other).unwrap();
        let refused = sandbox.run(&["resume", run.to_str().unwrap(), "--log", "log.csv"]);
        refused.code(2).says("log.csv is not the log of this run; give --log the file");
        assert_eq!(fs::read_to_string(&log).unwrap(), other);
        assert_eq!(fs::read_to_string(&file).unwrap(), measured);
    }
    sandbox.run(&["resume", run.to_str().unwrap(), "--quiet", "--log", "rest.csv"]).says("Resuming after");
    let rest = fs::read_to_string(sandbox.work().join("rest.csv")).unwrap();
    let (head, rest) = rest.split_at(rest.find('\n').unwrap() + 1);
    assert!(whole.starts_with(head) && whole.ends_with(rest) && rest.contains("file 4"), "{rest}");
}

#[test]
fn the_log_of_a_real_drive_is_there_while_it_runs_and_after_a_kill() {
    let sandbox = Sandbox::new();
    let folder = sandbox.work().join("folder");
    fs::create_dir(&folder).unwrap();
    let log = sandbox.work().join("log.csv");
    let fill = ["fill", "folder", "--files", "400", "--file-size", "1MiB", "--block", "64k", "--yes"];
    let mut child = sandbox.start(&[&fill[..], &["--log", "log.csv"]].concat());
    let begun = Instant::now();
    while !log.exists() || lines(&log).len() < 5 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is logged");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let run = sandbox.runs().remove(0);
    assert!(segments(&run).len() < 400, "it was not killed in the middle");
    let before = lines(&log);
    sandbox.run(&["resume", run.to_str().unwrap(), "--yes", "--quiet", "--log", "log.csv"]);
    let all = adds_up(&log, &run);
    assert_eq!((&all[..4], segments(&run).len()), (&before[..4], 400));
    for line in &all {
        let is_date = line[1].starts_with("20") && line[1].ends_with('Z') && line[1].len() == 24;
        assert!(is_date && number(line, 9) > 0.0, "{line:?}");
    }
    let times: Vec<f64> = all.iter().map(|line| number(line, 0)).collect();
    assert!(times.is_sorted(), "time goes on");
}

#[test]
fn lanes_are_counted_together() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.work().join("folder")).unwrap();
    let job = "[j]\nrw=randrw\nbs=4k\nsize=16m\nruntime=2500ms\ntime_based=1\nnumjobs=3\nthinktime=1000\nfilename=f\n";
    fs::write(sandbox.work().join("job.fio"), job).unwrap();
    let run = sandbox.run(&["run", "job.fio", "folder", "--yes", "--log", "log.csv", "--json", "-"]);
    run.code(0);
    let lines = adds_up(&sandbox.work().join("log.csv"), &sandbox.runs()[0]);
    assert!(lines.len() >= 6, "two kinds for three seconds: {lines:?}");
}

#[test]
fn what_a_log_is_not_for_is_refused_with_what_to_give() {
    let sandbox = Sandbox::new();
    let bench = ["bench", "sim:tiny-flash", "--span", "64MiB", "--passes", "1", "--log"];
    sandbox.run(&[&bench[..], &["log.csv"]].concat()).code(0);
    let run = sandbox.runs().remove(0);
    let compared = sandbox.run(&["compare", run.to_str().unwrap(), "log.csv"]);
    compared.code(2).says("it is the log of a run, second by second; give the folder of the run");
    sandbox
        .run(&[&bench[..], &["no/such/log.csv"]].concat())
        .code(2)
        .says("the folder no/such does not exist");
    let several = ["check", "sim:tiny-flash", "sim:disk-2tb", "--log", "log.csv"];
    sandbox.run(&several).code(2).says("--log takes one target");
    sandbox.run(&[&bench[..], &["plan.csv", "--plan"]].concat()).code(0);
    assert!(!sandbox.work().join("plan.csv").exists(), "a plan that is printed measures nothing");
}

#[test]
fn a_log_that_cannot_be_written_ends_the_run_and_keeps_what_it_measured() {
    let sandbox = Sandbox::new();
    // No file may be larger than 1 KiB; the run itself is not kept.
    let fill = format!("ulimit -f 1; trap '' XFSZ; exec \"$0\" {} log.csv --no-archive", FILL.join(" "));
    let fill = fill.replace("sim:tiny-flash?state=used", "'sim:tiny-flash?state=used'");
    let mut command = sandbox.command(&[]);
    let program = command.get_program().to_owned();
    command = std::process::Command::new("bash");
    let out = command.args(["-c", &fill]).arg(program).current_dir(sandbox.work()).output().unwrap();
    let message = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{message}");
    assert!(message.contains("could not write log.csv: File too large"), "{message}");
}
