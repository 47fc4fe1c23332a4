//! What the system and drives report: on this machine whatever it is, and on simulated drives.

use std::process::Command;

use serde_json::Value;

use crate::serve::mounted::Attached;
use crate::support::{CommandOutput, Sandbox, is_valid};

fn rows(document: &Value) -> Vec<&Value> {
    document["tables"]["facts"].as_array().unwrap().iter().collect()
}

fn value<'a>(document: &'a Value, section: &str, fact: &str) -> &'a Value {
    let row = rows(document).into_iter().find(|row| row["section"] == section && row["fact"] == fact);
    &row.unwrap_or_else(|| panic!("{section} has {fact}"))["value"]
}

/// Fine, or a drive of this machine reports that it is failing.
#[track_caller]
fn finished(ran: &CommandOutput) -> &CommandOutput {
    assert!(matches!(ran.status(), Some(0 | 10)), "{}", ran.stderr());
    ran
}

#[test]
fn a_folder_is_described_from_its_file_system_down_and_nothing_is_made_in_it() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["facts", ".", "--json", "-"]);
    let document = finished(&ran).json();
    is_valid(&document);
    assert_eq!(document["procedure"], "facts");
    assert_eq!(document["bytes_written"], 0);
    assert!(value(&document, "machine", "kernel").is_string());
    assert!(value(&document, "file_system", "total_bytes").as_u64().unwrap() > 0);
    for row in rows(&document) {
        assert!(row["value"].is_null() || row["unknown"].is_null(), "known or unknown: {row}");
        assert!(row["value"] != Value::Null || row["unknown"].is_string(), "every gap has its reason: {row}");
    }
    assert_eq!(std::fs::read_dir(sandbox.work()).unwrap().count(), 0);
}

#[test]
fn a_run_of_facts_is_judged_again_without_the_drive() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(&["facts", "sim:tiny-flash", "--json", "-"]);
    let run = sandbox.runs().pop().unwrap();
    let again = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]);
    assert_eq!(first.code(0).json(), again.code(0).json());
    let plan = sandbox.run(&["facts", "sim:tiny-flash", "--plan"]).code(0).stdout();
    std::fs::write(sandbox.work().join("plan.toml"), plan).unwrap();
    let planned = sandbox.run(&["run", "plan.toml", "--json", "-"]);
    assert_eq!(planned.code(0).json()["tables"], first.json()["tables"]);
}

#[test]
fn a_simulated_drive_says_what_its_layers_announce_and_nothing_else() {
    let sandbox = Sandbox::new();
    let document =
        sandbox.run(&["facts", "sim:wd-caviar-se16", "--no-archive", "--json", "-"]).code(0).json();
    assert_eq!(value(&document, "stack", "rotates"), true);
    assert!(value(&document, "identity", "capacity_bytes").as_u64().unwrap() > 0);
    assert!(value(&document, "link", "ceiling_bytes_per_s").as_u64().unwrap() > 0);
    assert_eq!(value(&document, "health", "failing"), false);
    // It has no family of models, and it reports that nothing warns of it.
    let is_database = |row: &&Value| row["section"] == "database";
    assert!(rows(&document).into_iter().filter(is_database).all(|row| row["fact"] == "warning"));
    let stick = sandbox.run(&["facts", "sim:usb-stick-16gb", "--no-archive", "--json", "-"]).code(0).json();
    assert!(value(&stick, "health", "failing").is_null(), "nothing passes its health data");
}

#[test]
fn a_person_reads_subjects_and_what_would_help() {
    let sandbox = Sandbox::new();
    let screen = sandbox.run(&["facts", "sim:tiny-flash", "--no-archive"]).code(0).stdout();
    assert!(screen.lines().count() <= 30 && screen.contains("No drive reports a failure"), "{screen}");
    let ran = sandbox.run(&["facts", "sim:tiny-flash", "--no-archive", "--origins", "--details"]);
    let text = ran.code(0).stdout();
    for words in [
        "stack · drive",
        "identity · drive",
        "Unavailable",
        "a simulated drive does not report it",
        "(announced by",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    assert!(sandbox.runs().is_empty());
}

#[test]
fn every_drive_of_the_machine_can_be_reported() {
    if let Err(error) = std::fs::read_dir("/sys/block") {
        eprintln!("SKIPPED: this machine lists no block devices: {error}");
        return;
    }
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["facts", "--all", "--json", "-"]);
    assert!(value(&finished(&ran).json(), "machine", "root").is_boolean());
}

#[test]
fn a_kept_run_is_shown_as_the_command_has_shown_it() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run(&["facts", "sim:tiny-flash", "--details"]).code(0).stdout();
    let run = sandbox.runs().pop().unwrap();
    let run = run.to_str().unwrap();
    assert!(shown.contains("stack · drive"), "{shown}");
    for again in [&["report", run][..], &["report", "--last", "1"], &["judge", run]] {
        let again = [again, &["--details"]].concat();
        assert_eq!(sandbox.run(&again).code(0).stdout(), shown, "{again:?}");
    }
    sandbox.run(&["facts", "sim:usb-stick-16gb"]).code(0).says("Drive health unknown (");
    // Among others a run of facts is a table like theirs.
    sandbox.run(&["report", "--last", "2"]).code(0).says("facts");
}

#[test]
fn who_may_read_nothing_learns_what_anybody_may_know() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not root: nobody can be played, so this test shows nothing");
        return;
    }
    let sandbox = Sandbox::new();
    let binary = sandbox.command(&[]).get_program().to_owned();
    let all: Vec<&str> = "--reuid=65534 --regid=65534 --clear-groups".split(' ').collect();
    let output = Command::new("setpriv").args(all).arg(&binary).args(["facts", "/", "--json", "-"]).output();
    let Ok(output) = output else {
        eprintln!("setpriv is not installed, so this test shows nothing");
        return;
    };
    if output.status.code() == Some(126) || output.status.code() == Some(127) {
        eprintln!("nobody may start {}, so this test shows nothing", binary.display());
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value(&document, "machine", "root"), false);
}

#[test]
fn what_is_no_target_is_reported_in_words() {
    let sandbox = Sandbox::new();
    for (arguments, words) in [
        (&["facts", "/nowhere"][..], "/nowhere"),
        (&["facts", "/dev/null"], "/dev/null"),
        (&["facts"], "TARGET"),
        (&["facts", ".", "--all"], "--all"),
        (&["facts", "sim:no-such-drive"], "no-such-drive"),
    ] {
        sandbox.run(arguments).code(2).says(words);
    }
}

/// A smartctl that reaches a drive only with `-d sat`, in a folder for PATH.
fn smartctl_that_needs_sat(sandbox: &Sandbox) -> String {
    let folder = sandbox.work().join("programs");
    std::fs::create_dir(&folder).unwrap();
    let body = r#"#!/bin/sh
case "$*" in
*"-d sat"*) echo '{"smartctl":{"version":[7,4]},"device":{"type":"sat"},"model_name":"X","smart_status":{"passed":true},"power_on_time":{"hours":77}}' ;;
*) echo '{"smartctl":{"version":[7,4],"messages":[{"string":"Unknown USB bridge [0x152d:0x0578]"}],"exit_status":1}}' ;;
esac
"#;
    std::fs::write(folder.join("smartctl"), body).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.join("smartctl"), executable).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[test]
fn the_type_of_a_drive_behind_a_bridge_is_given_once() {
    let sandbox = Sandbox::new();
    let listed = sandbox.run(&["drives", "--json", "-"]).code(0).json();
    // Other tests make loop devices, which are no drives.
    let mut drives = listed["real"].as_array().unwrap().iter().filter_map(|drive| drive["path"].as_str());
    let path = drives.find(|path| !path.starts_with("/dev/loop"));
    let Some(path) = path.filter(|_| rustix::process::geteuid().is_root()) else {
        return eprintln!("SKIPPED: it takes root and a drive");
    };
    let programs = smartctl_that_needs_sat(&sandbox);
    let facts = |arguments: &[&str]| {
        let arguments = [&["facts", path, "--json", "-"], arguments].concat();
        CommandOutput::of(sandbox.command(&arguments).env("PATH", &programs))
    };
    let row = |document: &Value, section: &str, fact: &str| {
        let is_it = |row: &&Value| row["section"] == section && row["fact"] == fact;
        rows(document).into_iter().find(is_it).cloned()
    };
    let memory = sandbox.audit().with_file_name("smartctl-devices.json");

    let wrong = facts(&["--smartctl-device", "megaraid,0"]);
    wrong.code(2).says("--smartctl-device megaraid,0 does not reach").says("Unknown USB bridge");
    assert!(!memory.exists(), "what does not work is not remembered");

    let given = finished(&facts(&["--smartctl-device", "sat"])).json();
    is_valid(&given);
    assert_eq!(row(&given, "health", "failing").unwrap()["value"], false);
    let told = row(&given, "smartctl", "device_type").unwrap();
    assert_eq!((&told["value"], &told["origin"]), (&"sat".into(), &"given now".into()));

    let later = finished(&facts(&[])).json();
    let told = row(&later, "smartctl", "device_type").unwrap();
    assert!(told["origin"].as_str().unwrap().starts_with("remembered since 2"), "{told}");
    assert_eq!(row(&later, "counts", "power_on_hours").unwrap()["value"], 77);
    CommandOutput::of(sandbox.command(&["facts", path]).env("PATH", &programs))
        .says("asked with smartctl -d sat, remembered since 2");

    let forgotten = finished(&facts(&["--smartctl-device", "auto"])).json();
    assert_eq!(row(&forgotten, "smartctl", "device_type"), None);
    assert_eq!(std::fs::read_to_string(&memory).unwrap(), "{}\n");
}

#[test]
fn a_type_of_smartctl_is_for_one_real_drive_and_no_other_word() {
    let sandbox = Sandbox::new();
    for wrong in ["-x", "megaraid", "sat;reboot", ""] {
        let flag = format!("--smartctl-device={wrong}");
        sandbox.run(&["facts", ".", &flag]).code(2).says("--smartctl-device");
    }
    sandbox.run(&["facts", ".", "--smartctl-device", "megaraid,300"]).code(2).says("N is 0 to 127");
    sandbox.run(&["facts", ".", "--smartctl-device", "jmb39x,0"]).code(2).says("writes to a sector");
    let targets: [&[&str]; 3] =
        [&["facts", "sim:tiny-flash"], &["check", "sim:tiny-flash"], &["check", ".", "/", "--bytes", "0"]];
    for target in targets {
        let words = [target, &["--smartctl-device", "sat"]].concat();
        sandbox.run(&words).code(2).says("--smartctl-device takes one target that is on a real drive");
    }
    sandbox.run(&["facts", "--all", "--smartctl-device", "sat"]).code(2).says("--smartctl-device");
}

#[test]
fn a_loop_device_over_a_part_of_its_file_says_where_that_begins() {
    let sandbox = Sandbox::new();
    let image = sandbox.work().join("image");
    std::fs::write(&image, vec![1; 8 << 20]).unwrap();
    for (settings, start) in [
        (&[][..], None),
        (&["--offset", "1048576"], Some(1 << 20)),
        (&["--sizelimit", "2097152"], Some(0)),
        (&["--offset", "1048576", "--sizelimit", "2097152"], Some(1 << 20)),
    ] {
        let Some(part) = Attached::with(&image, settings) else { return };
        let document = finished(&sandbox.run(&["facts", &part.0, "--json", "-"])).json();
        let row = rows(&document).into_iter().find(|row| row["fact"] == "start_bytes");
        assert_eq!(row.and_then(|row| row["value"].as_u64()), start, "{settings:?}");
    }
}
