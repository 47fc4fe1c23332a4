//! The share of RAM in a speed, on simulated drives, a real file system and read-only targets; and the
//! remarks of other commands about a number that is not the drive's.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::filesystem::{Ext4, Tmpfs};
use crate::support::{Sandbox, names};

/// The rows of a level and operation.
fn rows<'a>(document: &'a Value, level: &str, op: &str) -> Vec<&'a Value> {
    let rows = document["tables"]["levels"].as_array().unwrap();
    rows.iter().filter(|row| row["level"] == level && row["op"] == op).collect()
}

fn ram(document: &Value, level: &str, op: &str) -> Vec<f64> {
    rows(document, level, op).iter().map(|row| row["ram_percent"].as_f64().unwrap()).collect()
}

/// The standing of the answer of this id.
fn standing(document: &Value, id: &str) -> Option<String> {
    let answers = document["answers"].as_array().unwrap();
    let found = answers.iter().find(|answer| answer["id"] == id)?;
    Some(found["standing"].as_str().unwrap().to_owned())
}

const MISSING: &str = "device_bytes_missing";
const EXTRA: &str = "device_bytes_extra";

#[test]
fn a_simulated_drive_answers_always_the_same_and_goes_on_to_the_byte() {
    let sandbox = Sandbox::new();
    let arguments = ["cache", "sim:tiny-flash?state=used", "--span", "16MiB", "--json", "-"];
    let whole = sandbox.run(&arguments);
    let document = whole.code(0).json();
    let schema: Value = serde_json::from_str(include_str!("../../../../schema/report.schema.json")).unwrap();
    assert!(jsonschema::draft202012::new(&schema).unwrap().is_valid(&document));
    assert_eq!(rows(&document, "null", "read").len(), 0, "the instrument costs nothing on a virtual clock");
    assert_eq!(ram(&document, "direct", "read"), [0.0, 0.0]);
    assert_eq!(ram(&document, "second_buffered", "read"), [100.0, 100.0]);
    let run = &sandbox.runs()[0];
    let file = run.join("segments.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"device_counters\":{\"reads\":"));
    // During a first read, and between it and the second one.
    for lines in [3, 4, 20] {
        let kept: usize = text.lines().take(lines).map(|line| line.len() + 1).sum();
        fs::write(&file, &text[..kept + 50]).unwrap();
        fs::remove_file(run.join("findings.json")).unwrap();
        let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--json", "-"]);
        assert_eq!(resumed.code(0).stdout(), whole.stdout(), "after {lines} workloads");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn what_was_recorded_before_anybody_counted_is_read_and_gone_on_with() {
    let sandbox = Sandbox::new();
    let arguments = ["bench", "sim:tiny-flash", "--span", "8MiB", "--passes", "1", "--json", "-"];
    let whole = sandbox.run(&arguments);
    whole.code(0);
    let run = &sandbox.runs()[0];
    let file = run.join("segments.jsonl");
    let old: Vec<String> = fs::read_to_string(&file).unwrap().lines().take(3).map(without_counts).collect();
    fs::write(&file, old.join("\n") + "\n").unwrap();
    let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--json", "-"]);
    assert_eq!(resumed.code(0).stdout(), whole.stdout());
}

fn without_counts(line: &str) -> String {
    let mut segment: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
    assert!(segment.remove("device_counters").is_some(), "{line}");
    serde_json::to_string(&segment).unwrap()
}

#[test]
fn a_file_systems_counts_agree_with_what_was_moved_on_both_engines() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    for engine in ["uring", "posix"] {
        let quick = ["--span", "64MiB", "--time", "500ms", "--engine", engine, "--json", "-"];
        let ran = sandbox.run(&[&["cache", ext4.path()], &quick[..]].concat());
        let document = ran.code(0).json();
        let levels_text = document["tables"]["levels"].to_string();
        let all = |level: &str, op: &str, range: std::ops::RangeInclusive<f64>| {
            let found = ram(&document, level, op);
            assert!(
                found.iter().all(|ram| range.contains(ram)) && found.len() == 2,
                "{level} {op}: {levels_text}"
            );
        };
        all("direct", "read", 0.0..=0.5);
        all("direct", "write", 0.0..=0.5);
        // One in 32 random I/Os repeats an address.
        all("buffered_flushed", "write", 0.0..=6.0);
        all("first_buffered", "read", 0.0..=6.0);
        // Other programs may take some of the memory.
        all("second_buffered", "read", 80.0..=100.0);
        // Other programs may cause early write-back.
        all("buffered", "write", 20.0..=100.0);
        assert_eq!(standing(&document, "direct_io").as_deref(), Some("good"));
        assert_eq!(standing(&document, MISSING), None);
        for (level, op) in [("null", "read"), ("null", "write")] {
            assert!(
                rows(&document, level, op).iter().all(|row| row["ram_percent"].is_null()),
                "{levels_text}"
            );
        }
        let moved = |row: &Value| row["moved_bytes"].as_u64().unwrap();
        let written: u64 = ["buffered", "buffered_flushed", "direct"]
            .iter()
            .flat_map(|level| rows(&document, level, "write"))
            .map(moved)
            .sum();
        assert_eq!(document["bytes_written"], written + (64 << 20), "what went nowhere was not written");
        assert_eq!(names(ext4.path().as_ref()), ["lost+found"]);
    }
}

#[test]
fn what_may_only_be_read_has_only_levels_of_reading() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let file = std::path::Path::new(ext4.path()).join("photo.raw");
    fs::write(&file, vec![7u8; 24 << 20]).unwrap();
    fs::File::open(&file).unwrap().sync_all().unwrap();
    for target in [file.to_str().unwrap(), &ext4.device] {
        let quick = ["--span", "16MiB", "--time", "300ms", "--json", "-"];
        let document = sandbox.run(&[&["cache", target], &quick[..]].concat()).code(0).json();
        let levels = document["tables"]["levels"].as_array().unwrap();
        assert_eq!(levels.len(), 8, "{levels:?}");
        assert!(levels.iter().all(|row| row["op"] == "read") && document["bytes_written"] == 0);
        assert!(ram(&document, "direct", "read").iter().all(|ram| *ram < 0.5), "{levels:?}");
        // Other programs may take some of the memory.
        assert!(ram(&document, "second_buffered", "read").iter().all(|ram| *ram > 80.0), "{levels:?}");
    }
    assert_eq!(fs::read(&file).unwrap(), vec![7u8; 24 << 20]);
}

#[test]
fn where_nobody_counts_nothing_is_claimed() {
    let sandbox = Sandbox::new();
    let Some(tmpfs) = Tmpfs::mount(&sandbox, 128 << 10) else { return };
    let point = tmpfs.0.to_str().unwrap();
    let quick = ["--span", "8MiB", "--time", "100ms", "--reserve", "1MiB", "--json", "-"];
    let document = sandbox.run(&[&["cache", point], &quick[..]].concat()).code(0).json();
    for id in ["sequential_repeated_read", "random_buffered_write", "direct_io"] {
        assert_eq!(standing(&document, id).as_deref(), Some("unknown"), "{id}");
    }
    assert!(document["tables"]["levels"][0]["counted_bytes"].is_null());
    // No other command has a remark either.
    let bench = ["--span", "64MiB", "--passes", "1", "--time", "100ms", "--reserve", "1MiB", "--json", "-"];
    let document = sandbox.run(&[&["bench", point], &bench[..]].concat()).json();
    assert_eq!((standing(&document, MISSING), standing(&document, EXTRA)), (None, None));
}

#[test]
fn a_run_that_was_killed_goes_on() {
    let sandbox = Sandbox::new();
    let archive = sandbox.work().join("runs");
    let folder = sandbox.work().join("folder");
    fs::create_dir(&folder).unwrap();
    let (archive_text, folder_text) = (archive.to_str().unwrap(), folder.to_str().unwrap());
    let plan = ["--span", "16MiB", "--time", "300ms", "--reserve", "64MiB", "--archive", archive_text];
    let mut child = sandbox.start(&[&["cache", folder_text], &plan[..]].concat());
    let run = loop {
        std::thread::sleep(Duration::from_millis(20));
        let Some(run) = fs::read_dir(&archive).ok().and_then(|mut runs| runs.next()) else { continue };
        let run = run.unwrap().path();
        let lines = fs::read_to_string(run.join("segments.jsonl")).map_or(0, |text| text.lines().count());
        if lines > 7 || child.try_wait().unwrap().is_some() {
            break run;
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let resume = ["resume", run.to_str().unwrap(), "--yes", "--reserve", "64MiB", "--json", "-"];
    let resumed = sandbox.run(&resume);
    let document = resumed.code(0).json();
    assert_eq!(standing(&document, "completed"), None);
    assert_eq!(document["tables"]["levels"].as_array().unwrap().len(), 16);
    assert!(names(&folder).is_empty());
    // Judged again without the drive, the result is the same.
    let judged = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]);
    assert_eq!(judged.json()["answers"], document["answers"]);
}

/// A plan whose first workload leaves 64 MiB in memory, which the drive writes while the second one reads
/// past it.
const LEFT_BEHIND: &str = r#"
schema = 1
procedure = "run"

[options]
file_size = "64MiB"

[[options.workload]]
name = "left behind"
access = "buffered"
until.bytes = "64MiB"
[[options.workload.stream]]
op = "write"
size = "1MiB"
pattern.sequential = "0..64MiB"
arrival.closed.depth = 1

[[options.workload]]
name = "meanwhile"
until.bytes = "64MiB"
[[options.workload.stream]]
op = "read"
size = "1MiB"
pattern.sequential = "0..64MiB"
arrival.closed.depth = 1
"#;

#[test]
fn every_command_says_when_a_number_is_not_the_drives_alone() {
    let sandbox = Sandbox::new();
    let plan = |target: &str| {
        let text = LEFT_BEHIND.replace("procedure", &format!("target = \"{target}\"\nprocedure"));
        fs::write(sandbox.work().join("plan.toml"), text).unwrap();
        sandbox.run(&["run", "plan.toml", "--json", "-"])
    };
    let ran = plan("sim:tiny-flash?state=used");
    let document = ran.code(0).json();
    assert_eq!(
        (standing(&document, MISSING), standing(&document, EXTRA).as_deref()),
        (None, Some("unknown"))
    );
    let run = sandbox.runs()[0].to_str().unwrap().to_owned();
    for again in ["judge", "report"] {
        assert_eq!(sandbox.run(&[again, &run, "--json", "-"]).stdout(), ran.stdout(), "{again}");
    }
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let document = plan(ext4.path()).code(0).json();
    assert_eq!(standing(&document, EXTRA).as_deref(), Some("unknown"), "{}", document["answers"]);
    // A file with only a hole: reading it needs no I/O.
    let file = std::path::Path::new(ext4.path()).join("hole");
    fs::File::create(&file).unwrap().set_len(64 << 20).unwrap();
    let bench = || {
        let quick = ["--span", "64MiB", "--passes", "1", "--time", "500ms", "--json", "-"];
        sandbox.run(&[&["bench", file.to_str().unwrap()], &quick[..]].concat()).code(0).json()
    };
    let document = bench();
    assert_eq!(standing(&document, MISSING).as_deref(), Some("unknown"));
    assert!(document["answers"].to_string().contains("likenew cache"));
    fs::write(&file, vec![1u8; 64 << 20]).unwrap();
    fs::File::open(&file).unwrap().sync_all().unwrap();
    let document = bench();
    assert_eq!((standing(&document, MISSING), standing(&document, EXTRA)), (None, None));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let sandbox = Sandbox::new();
    let case = |arguments: &[&str], words: &str| {
        sandbox.run(&[&["cache"], arguments, &["--no-archive"]].concat()).code(2).says(words);
    };
    case(&["nop:"], "no page cache");
    case(&["sim:tiny-flash?data=on"], "remove data=on");
    case(&["sim:tiny-flash?memory=1k"], "1MiB to 16TiB");
    case(&["sim:tiny-flash", "--block", "4k,4k,4k"], "--block has 3 values");
    case(&["sim:tiny-flash", "--pattern", "random,random"], "once each");
    case(&["sim:tiny-flash", "--span", "100k"], "span");
    case(&["sim:tiny-flash", "--span", "64GiB"], "exceeds the target's 1 GiB");
    let plan = sandbox.run(&["cache", "sim:tiny-flash", "--depth", "4", "--data", "zero", "--plan"]);
    plan.code(0).says("depth = 4").says("data = \"zero\"").says("span = \"256MiB\"");
    let null = LEFT_BEHIND.replace("access = \"buffered\"", "access = \"null\"");
    let null = null.replace("procedure", "target = \"sim:tiny-flash\"\nprocedure");
    fs::write(sandbox.work().join("plan.toml"), null).unwrap();
    sandbox.run(&["run", "plan.toml", "--no-archive"]).code(2).says("access null measures nothing");
}
