//! X-rays as the command prints them and as scripts read them.

use std::fs;

use serde_json::Value;

use crate::filesystem::{Ext4, Tmpfs};
use crate::support::{Sandbox, is_valid, names};

const TINY: [&str; 4] = ["xray", "sim:tiny-flash", "--json", "-"];

fn property<'a>(report: &'a Value, key: &str) -> &'a Value {
    let rows = report["tables"]["properties"].as_array().unwrap();
    rows.iter().find(|row| row["property"] == key).unwrap_or_else(|| panic!("no {key} in {rows:?}"))
}

#[test]
fn an_xray_repeats_itself_goes_on_to_the_byte_and_is_judged_again() {
    let sandbox = Sandbox::new();
    let whole = sandbox.run(&TINY);
    let report = whole.code(0).json();
    is_valid(&report);
    assert_eq!(property(&report, "medium")["word"], "flash");
    let run = sandbox.runs().remove(0);
    let judged = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]).json();
    assert_eq!((&judged["answers"], &judged["tables"]), (&report["answers"], &report["tables"]));
    assert!(report["overview"]["table"]["rows"].as_array().unwrap().len() <= 18);
    let file = run.join("segments.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let all = text.lines().count();
    for lines in [3, all / 2, all - 1] {
        let kept: usize = text.lines().take(lines).map(|line| line.len() + 1).sum();
        fs::write(&file, &text[..kept + 50]).unwrap();
        let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--json", "-"]);
        assert_eq!(resumed.code(0).stdout(), whole.stdout(), "after {lines} workloads");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn no_more_is_written_than_was_allowed() {
    let sandbox = Sandbox::new();
    let mut decided_counts = Vec::new();
    for bytes in [0u64, 64 << 20, 2 << 30] {
        let ran = sandbox.run(&[&TINY[..], &["--bytes", &bytes.to_string()]].concat());
        let report = ran.code(0).json();
        let written = report["bytes_written"].as_u64().unwrap();
        assert!(written <= bytes, "{written} of {bytes}");
        let rows = report["tables"]["properties"].as_array().unwrap();
        decided_counts.push(rows.iter().filter(|row| row["state"] != "undecided").count());
    }
    assert!(
        decided_counts.is_sorted() && decided_counts[0] >= 1 && decided_counts[2] > decided_counts[0],
        "{decided_counts:?}"
    );
}

#[test]
fn what_may_only_be_read_is_only_read() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let file = std::path::Path::new(ext4.path()).join("photo.raw");
    fs::write(&file, vec![7u8; 24 << 20]).unwrap();
    fs::File::open(&file).unwrap().sync_all().unwrap();
    for target in [file.to_str().unwrap(), &ext4.device] {
        let report = sandbox.run(&["xray", target, "--json", "-"]).code(0).json();
        is_valid(&report);
        assert_eq!(report["bytes_written"], 0);
        for key in ["over_provisioning_percent", "slc_cache_bytes", "write_buffer_bytes"] {
            assert_eq!(property(&report, key)["state"], "undecided", "{key}");
        }
        // More writes would need consent, for which there is no command to paste.
        let actions = report["answers"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|answer| answer["actions"].as_array().unwrap());
        for action in actions.filter(|actions| actions["id"] == "consent") {
            assert!(action["command"].is_null() && action["loses"] == "everything", "{action}");
        }
    }
    assert_eq!(fs::read(&file).unwrap(), vec![7u8; 24 << 20]);
}

#[test]
fn a_folder_is_inspected_and_left_as_it_was() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let before = names(ext4.path().as_ref());
    let limits = ["--span", "64MiB", "--bytes", "100MiB", "--json", "-"];
    let report = sandbox.run(&[&["xray", ext4.path()][..], &limits].concat()).code(0).json();
    is_valid(&report);
    assert_eq!(names(ext4.path().as_ref()), before);
    // A property of a whole drive cannot be measured on a part of one.
    assert_eq!(property(&report, "over_provisioning_percent")["state"], "undecided");
    assert!(report["bytes_written"].as_u64().unwrap() <= 100 << 20);
}

#[test]
fn what_makes_no_sense_is_named() {
    let sandbox = Sandbox::new();
    sandbox.run(&["xray", "sim:tiny-flash", "--only", "color"]).code(2).says("color").says("medium");
    sandbox.run(&["xray", "sim:tiny-flash", "--span", "1MiB"]).code(2).says("too little");
    sandbox.run(&["xray", "sim:tiny-flash", "--span", "1TiB"]).code(2).says("exceeds");
}

#[test]
fn a_folder_in_memory_is_called_that() {
    let sandbox = Sandbox::new();
    let Some(memory) = Tmpfs::mount(&sandbox, 128 << 10) else { return };
    for more in [&[][..], &["--engine", "posix"], &["--only", "medium"]] {
        let of = ["xray", memory.0.to_str().unwrap(), "--reserve", "1MiB", "--json", "-"];
        let report = sandbox.run(&[&of, more].concat()).code(0).json();
        assert_eq!(property(&report, "medium")["word"], "memory");
        assert!(report["bytes_written"].as_u64().unwrap() <= 128 << 20);
        assert!(!report.to_string().contains("I/O error"), "{}", report["answers"]);
    }
}
