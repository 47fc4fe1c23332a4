//! Drives over time, runs as files, and what is new since the last check.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::Sandbox;

const CHECK: [&str; 6] = ["check", ".", "--bytes", "128MiB", "--reserve", "1MiB"];

/// Rewrites the findings of a kept run.
pub(crate) fn change_findings(run: &Path, change: impl Fn(&mut Value)) {
    let path = run.join("findings.json");
    let mut findings: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut findings);
    fs::write(path, findings.to_string()).unwrap();
}

/// As if its sequential reads had been so many times as fast.
pub(crate) fn times_reads(findings: &mut Value, factor: f64) {
    for row in findings["tables"]["metrics"].as_array_mut().unwrap() {
        if row["metric"] == "sequential_read" {
            for key in ["measured_per_s", "low_per_s", "high_per_s"] {
                row[key] = (row[key].as_f64().unwrap() * factor).into();
            }
        }
    }
}

#[test]
fn an_interrupted_check_is_no_baseline_and_no_check_of_the_history() {
    let sandbox = Sandbox::new();
    let check = || sandbox.run(&[&CHECK[..], &["--json", "-"]].concat()).json();
    let is_compared = |document: &Value| {
        let rows = document["tables"]["metrics"].as_array().unwrap();
        rows.iter().any(|row| row["reference"] == "baseline")
    };
    check();
    let first = sandbox.runs().pop().unwrap();
    change_findings(&first, |findings| findings["is_interrupted"] = true.into());
    assert!(!is_compared(&check()));
    sandbox.run(&["check", ".", "--baseline", first.to_str().unwrap()]).code(2).says("not a finished check");
    assert!(is_compared(&check()), "the second one is");
    let drive = sandbox.run(&["history", ".", "--json", "-"]).code(0).json();
    assert_eq!((&drive["runs"], &drive["check_count"]), (&3.into(), &2.into()));
}

#[test]
fn what_ctrl_c_ends_is_kept_as_interrupted() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.start(&["bench", ".", "--span", "64MiB", "--time", "60s", "--reserve", "1MiB"]);
    while sandbox.runs().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let run = sandbox.runs().pop().unwrap();
    let findings: Value = serde_json::from_slice(&fs::read(run.join("findings.json")).unwrap()).unwrap();
    assert_eq!(findings["is_interrupted"], true);
}

#[test]
fn runs_are_compared_by_folder_by_name_and_by_drive() {
    let sandbox = Sandbox::new();
    for target in ["sim:tiny-flash", "sim:tiny-flash?state=used"] {
        sandbox.run(&["check", target, "-q"]);
    }
    let names = sandbox.runs();
    let name = |at: usize| names[at].file_name().unwrap().to_str().unwrap();
    let ways = [
        ["sim:tiny-flash", "sim:tiny-flash?state=used"],
        [name(0), name(1)],
        [names[0].to_str().unwrap(), names[1].to_str().unwrap()],
    ];
    let compared = ways.map(|[first, other]| {
        let document = sandbox.run(&["compare", first, other, "--json", "-"]).code(0).json();
        crate::support::is_valid(&document);
        document
    });
    assert!(compared.iter().all(|document| *document == compared[0]));
    let speeds = compared[0]["tables"]["speeds"].as_array().unwrap();
    let of = |name: &str| speeds.iter().find(|row| row["speed"] == name).unwrap();
    assert_eq!(
        (&of("sequential read")["difference"], &of("sustained write")["difference"]),
        (&"same".into(), &"slower".into())
    );
    let estimate = &compared[0]["answers"][0]["estimate"];
    assert!(estimate["low"].as_f64() > Some(0.1) && estimate["high"].as_f64() < Some(0.25), "{estimate}");

    sandbox.run(&["bench", "sim:tiny-flash", "--passes", "1", "-q"]).code(0);
    sandbox.run(&["compare", "--last", "2"]).code(2).says("only runs of one command");
    sandbox.run(&["compare", name(0)]).code(2).says("two runs or more");
    sandbox.run(&["compare", "/dev/nowhere", name(0)]).code(2).says("is no run");
}

#[test]
fn a_drive_is_the_one_by_which_a_check_finds_its_baseline() {
    let sandbox = Sandbox::new();
    sandbox.run(&["history"]).code(0).says("no drive was checked yet");
    let check = |more: &[&str]| sandbox.run(&[&CHECK[..], &["--json", "-"], more].concat()).json();
    check(&[]);
    let second = check(&[]);
    sandbox.run(&["bench", "sim:tiny-flash", "--passes", "1", "-q"]).code(0);
    let all = sandbox.run(&["history", "--json", "-"]).code(0).json();
    let [real, simulated] = &all["drives"].as_array().unwrap()[..] else { panic!("{all:#}") };
    assert_eq!((&real["check_count"], &real["runs"], &simulated["runs"]), (&2.into(), &2.into(), &1.into()));
    assert_eq!((&real["access"], &simulated["target"]), (&"folder".into(), &"sim:tiny-flash".into()));
    let baseline = |document: &Value| {
        let row = document["tables"]["metrics"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["reference"] == "baseline");
        row.map(|row| (row["metric"].clone(), row["reference_per_s"].clone()))
    };
    let (metric, per_s) = baseline(&second).expect("the first check is its baseline");
    let found = real["metrics"].as_array().unwrap().iter().find(|row| row["metric"] == metric).unwrap();
    assert_eq!(found["baseline_per_s"], per_s, "{found}");

    // By the name that was typed, by the path, and by the key.
    let key = &real["key"].as_str().unwrap()[..8];
    for typed in [".", sandbox.work().to_str().unwrap(), key] {
        let one = sandbox.run(&["history", typed, "--json", "-"]).code(0).json();
        assert_eq!((&one["key"], one["checks"].as_array().unwrap().len()), (&real["key"], 2), "{typed}");
    }
    sandbox.run(&["history", "."]).code(0).says("2 checks since ");
    sandbox.run(&["history", "/dev/nowhere"]).code(2).says("likenew history lists all drives");
}

#[test]
fn the_first_screen_says_since_when_a_drive_is_slow() {
    let sandbox = Sandbox::new();
    for _ in 0..5 {
        sandbox.run(&["check", "sim:tiny-flash", "-q"]).code(0);
    }
    for (index, run) in sandbox.runs().iter().take(3).enumerate() {
        change_findings(run, |findings| times_reads(findings, 1.5 + index as f64 / 100.0));
    }
    let list = sandbox.run(&["history"]).code(0).stdout();
    assert!(list.contains("✗ Sequential reads are 34% slower (") && list.lines().count() == 4, "{list}");
    let one = sandbox.run(&["history", "sim:tiny-flash"]).code(0).stdout();
    assert!(one.contains("34% slower") && one.contains("67%↓") && one.lines().count() <= 24, "{one}");
    assert!(one.lines().all(|line| line.chars().count() <= 80), "{one}");
    // The index is made again from the folders alone.
    fs::remove_file(sandbox.runs()[0].join("../../history.sqlite")).unwrap();
    assert_eq!(sandbox.run(&["history", "--rebuild"]).says("Indexed 5 runs.").stdout(), list);
    fs::write(sandbox.runs()[1].join("machine.json"), "{").unwrap();
    let segments = sandbox.runs()[1].join("segments.jsonl");
    fs::write(&segments, fs::read_to_string(&segments).unwrap() + " ").unwrap();
    sandbox.run(&["history"]).code(0).says("1 run cannot be read");
    sandbox.run(&["history", "--details"]).code(0).says("machine.json");
}

#[test]
fn only_what_is_new_is_said() {
    let sandbox = Sandbox::new();
    let changes = || sandbox.run(&["check", "sim:tiny-flash?state=used", "--changes"]);
    let first = changes();
    first.code(10);
    assert!(
        first.stdout().starts_with("✗ sim:tiny-flash?state=used: Writes are slow: "),
        "{}",
        first.stdout()
    );
    assert_eq!(first.stdout().lines().count(), 1);
    let again = changes();
    again.code(0);
    assert_eq!(
        (again.stdout().as_str(), again.stderr().as_str()),
        ("", ""),
        "it is still slow, and that is no news"
    );
    for run in sandbox.runs() {
        change_findings(&run, |findings| times_reads(findings, 2.0));
    }
    // Named as soon as it is certain, and once only.
    let said: Vec<_> = (0..3).map(|_| changes()).map(|ran| (ran.status(), ran.stdout())).collect();
    let news: Vec<_> =
        said.iter().filter(|(_, text)| text.contains("sequential reads are 50% slower (")).collect();
    assert!(matches!(news[..], [(Some(10), _)]), "{said:?}");
    assert_eq!(said.iter().filter(|(code, text)| *code == Some(0) && text.is_empty()).count(), 2, "{said:?}");
    let good = |findings: &mut Value| {
        for answer in findings["answers"].as_array_mut().unwrap() {
            answer["standing"] = "good".into();
        }
    };
    change_findings(sandbox.runs().last().unwrap(), good);
    changes().code(10).says("Writes are slow");
    // A second problem is named, and the one before it is not named again.
    let failing = |findings: &mut Value| {
        let answer = serde_json::json!({"id": "health", "question": "Drive health", "standing": "problem",
            "answer": "sda reports that it is failing", "estimate": null, "evidence": [], "caveats": [], "actions": []});
        findings["answers"].as_array_mut().unwrap().insert(0, answer);
    };
    change_findings(sandbox.runs().last().unwrap(), |findings| {
        let slow = findings["answers"].as_array_mut().unwrap();
        slow.retain(|answer| answer["id"] != "slow");
        failing(findings);
    });
    let more = changes();
    assert!(more.code(10).stdout().contains(": sustained writes run at "), "{}", more.stdout());
    change_findings(sandbox.runs().last().unwrap(), failing);
    assert_eq!(changes().code(0).stdout(), "", "a problem of several that is gone is no news");
    // Another drive's checks say nothing of this one.
    let other = sandbox.run(&["check", "sim:tiny-flash", "--changes"]);
    assert_eq!(other.code(0).stdout(), "");
    sandbox.run(&["check", "sim:tiny-flash", "--changes", "--no-archive"]).code(2);
}

#[test]
fn a_run_travels_as_a_file() {
    let (here, there) = (Sandbox::new(), Sandbox::new());
    here.run(&["check", "sim:tiny-flash", "-q"]).code(0);
    let run = here.runs().pop().unwrap();
    let file = there.work().join("check.likenew");
    let (run, file) = (run.to_str().unwrap(), file.to_str().unwrap());
    here.run(&["export", run, file]).code(0).says("Wrote ");
    here.run(&["export", run, file]).code(2).says("nothing is overwritten");
    let place = ["export", run, "new.likenew", "--archive", "none/runs"];
    here.run(&place).code(2).says("could not read none/runs");
    assert!(!here.work().join("none").exists());
    here.run(&["export", "nowhere", "new.likenew"]).code(2).says("does not exist");
    there.run(&["import", "run", file]).code(0).says("likenew report ");
    there.run(&["import", "run", file]).code(2).says("is kept already");
    let report = |sandbox: &Sandbox| sandbox.run(&["report", "--json", "-"]).code(0).stdout();
    assert_eq!(report(&here), report(&there));
    there.run(&["history", "sim:tiny-flash"]).code(0).says("1 check since ");
    fs::write(there.work().join("text"), "text").unwrap();
    there.run(&["import", "run", "text"]).code(2).says("not imported");
    there.run(&["import", "run", "missing"]).code(2);
}

#[test]
fn a_history_can_be_elsewhere() {
    let sandbox = Sandbox::new();
    sandbox.run(&["check", "sim:tiny-flash", "-q"]).code(0);
    sandbox.run(&["history", "--history", "here.sqlite"]).code(0).says("sim:tiny-flash");
    assert!(sandbox.work().join("here.sqlite").exists());
    let of_variable = sandbox.command(&["history"]).env("LIKENEW_HISTORY", "there.sqlite").output().unwrap();
    assert!(of_variable.status.success() && sandbox.work().join("there.sqlite").exists());
    assert!(!sandbox.runs()[0].join("../../history.sqlite").exists(), "beside the runs there is none");
    sandbox.run(&["history", "--html", "drives.html"]).code(0).says("Page: drives.html");
    sandbox.run(&["history", "--history", "mysql://host/db"]).code(2).says("postgres://");
    fs::write(sandbox.work().join("text"), "not a database, but longer than the header of one is ".repeat(9))
        .unwrap();
    sandbox.run(&["history", "--history", "text"]).code(1).says("not a database");
}

/// As Nagios and Icinga start it: a line, numbers after a bar, and their exit codes.
#[test]
fn a_check_is_a_plugin_of_nagios() {
    let sandbox = Sandbox::new();
    let fine = sandbox.run(&["check", "sim:tiny-flash", "--nagios"]);
    let line = fine.code(0).stdout();
    assert!(
        line.starts_with("LIKENEW OK - sim:tiny-flash: As fast as new") && line.lines().count() == 1,
        "{line}"
    );
    let (_, numbers) = line.trim_end().split_once(" | ").unwrap();
    assert!(
        numbers
            .split(' ')
            .any(|number| number.starts_with("sequential_read=279") && number.ends_with("B;;;0")),
        "{line}"
    );
    let both = sandbox.run(&["check", "sim:tiny-flash", "sim:tiny-flash?state=used", "--nagios"]);
    let lines = both.code(2).stdout();
    assert!(lines.starts_with("LIKENEW CRITICAL - ") && lines.contains("\nLIKENEW OK - "), "{lines}");
    let missing = sandbox.run(&["check", "nowhere", "--nagios"]);
    // What lies on no drive is not in the history, and silence would be taken for health.
    let memory = sandbox.run(&["check", "nop:", "--nagios"]);
    assert!(!memory.stdout().is_empty(), "{}", memory.stderr());
    assert!(missing.code(3).stdout().starts_with("LIKENEW UNKNOWN - "), "{}", missing.stdout());
}
