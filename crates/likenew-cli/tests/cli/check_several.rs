//! Checks of several targets: how they end together, and their JSON.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Sandbox, is_valid};

const GOOD: &str = "sim:tiny-flash";
const SLOW: &str = "sim:tiny-flash?state=used";
const MISSING: &str = "nowhere";

/// Ten minutes, which no test waits for.
const REST: &str = r#"
procedure = "run"
target = "folder"

[options]
file_size = "16MiB"

[[options.workload]]
name = "rest"
until = { elapsed = "600s" }
"#;

/// Asserts that an entry is of a target that failed, as the schema describes it.
#[track_caller]
fn is_failed(entry: &Value, target: &str, exit_code: u64, reason: &str) {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/report.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let failed = jsonschema::validator_for(&schema["$defs"]["failed_target"]).unwrap();
    assert!(failed.is_valid(entry), "{entry}");
    assert_eq!((&entry["target"]["name"], &entry["exit_code"]), (&json!(target), &json!(exit_code)));
    assert!(entry["error"].as_str().unwrap().contains(reason), "{entry}");
}

/// The JSON of a check of these targets that ends so: a list.
#[track_caller]
fn check(sandbox: &Sandbox, targets: &[&str], code: i32) -> Vec<Value> {
    let ran = sandbox.run(&[&["check", "--json", "-"], targets].concat());
    let Value::Array(entries) = ran.code(code).json() else { panic!("{}", ran.stdout()) };
    entries
}

#[test]
fn several_targets_are_a_list_and_end_with_the_code_that_matters_most() {
    let sandbox = Sandbox::new();
    let both = check(&sandbox, &[GOOD, "sim:tiny-flash?state=new"], 0);
    assert_eq!(both.len(), 2);
    both.iter().for_each(is_valid);
    for targets in [[GOOD, SLOW], [SLOW, GOOD]] {
        assert_eq!(check(&sandbox, &targets, 10).len(), 2, "a problem counts wherever it stands");
    }
    let one = sandbox.run(&["check", GOOD, "--json", "-"]).code(0).json();
    assert!(one.is_object(), "one target that was named is a document");
}

#[test]
fn a_target_that_cannot_be_opened_hides_no_other_and_stands_with_its_error() {
    let sandbox = Sandbox::new();
    for targets in [[GOOD, MISSING], [MISSING, GOOD]] {
        let entries = check(&sandbox, &targets, 2);
        let [document, failed] = &entries[..] else { panic!("{entries:?}") };
        is_valid(document);
        is_failed(failed, MISSING, 2, MISSING);
    }
    for targets in [[SLOW, MISSING], [MISSING, SLOW]] {
        let entries = check(&sandbox, &targets, 10);
        is_failed(&entries[1], MISSING, 2, MISSING);
    }
}

#[test]
fn without_any_target_that_can_be_checked_the_list_has_all_errors() {
    let sandbox = Sandbox::new();
    let entries = check(&sandbox, &[MISSING, "elsewhere"], 2);
    is_failed(&entries[0], MISSING, 2, MISSING);
    is_failed(&entries[1], "elsewhere", 2, "elsewhere");
    // Nobody can make a folder there, so the run that was possible cannot be kept.
    let entries = check(&sandbox, &[MISSING, GOOD, "--archive", "/sys/likenew"], 1);
    is_failed(&entries[0], MISSING, 2, MISSING);
    is_failed(&entries[1], GOOD, 1, "/sys/likenew");
}

#[test]
fn a_target_that_another_run_uses_is_refused_and_the_others_are_checked() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.work().join("folder")).unwrap();
    fs::write(sandbox.work().join("rest.toml"), REST).unwrap();
    let mut running = sandbox.start(&["run", "rest.toml", "--reserve", "1MiB"]);
    let until = Instant::now() + Duration::from_secs(60);
    while sandbox.runs().is_empty() {
        assert!(Instant::now() < until && running.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    let entries = check(&sandbox, &["folder", GOOD], 3);
    running.kill().unwrap();
    running.wait().unwrap();
    is_valid(&entries[0]);
    is_failed(&entries[1], "folder", 3, "");
}
