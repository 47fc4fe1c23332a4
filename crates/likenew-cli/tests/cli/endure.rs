//! `likenew endure` on simulated drives: its documents, its flags, and resumed runs.

use std::fs;

use crate::support::Sandbox;

const LOOP: [&str; 11] = [
    "endure",
    "sim:tiny-flash",
    "--span",
    "64MiB",
    "--profile",
    "real",
    "--fills",
    "3",
    "--trim",
    "on",
    "--json",
];
const LATENCY: [&str; 10] = [
    "endure",
    "sim:tiny-flash",
    "--test",
    "snia-latency",
    "--span",
    "64MiB",
    "--round",
    "50ms",
    "--yes",
    "--json",
];

#[test]
fn its_reports_keep_to_the_schema() {
    let sandbox = Sandbox::new();
    let schema =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/report.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let saturation = [&LATENCY[..3], &["snia-wsat"], &LATENCY[4..]].concat();
    for arguments in [&LOOP[..], &LATENCY[..], &saturation[..]] {
        let document = sandbox.run(&[arguments, &["-"]].concat()).code(0).json();
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{arguments:?}: {errors:?}");
        assert!(!document["answers"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_run_that_was_cut_off_goes_on_to_the_byte() {
    for (arguments, cuts) in [(&LOOP[..], &[0, 1, 7, 20][..]), (&LATENCY[..], &[1, 2, 30])] {
        let sandbox = Sandbox::new();
        let whole = sandbox.run(&[arguments, &["-"]].concat()).code(0).stdout();
        let [run] = &sandbox.runs()[..] else { panic!("one run was kept") };
        for lines in cuts {
            let file = run.join("segments.jsonl");
            let text = fs::read_to_string(&file).unwrap();
            let kept: usize = text.lines().take(*lines).map(|line| line.len() + 1).sum();
            fs::write(&file, &text[..kept + 100]).unwrap();
            let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--json", "-"]);
            assert_eq!(resumed.code(0).stdout(), whole, "{arguments:?} after {lines} workloads");
        }
    }
}

#[test]
fn flags_that_the_test_has_no_use_for_are_refused() {
    let sandbox = Sandbox::new();
    for (arguments, word) in [
        (&["--round", "1s"][..], "--round is for the tests of SNIA's"),
        (&["--test", "snia-iops", "--fills", "2"], "--fills is for --test loop"),
        (&["--test", "dance"], "dance"),
        (&["--span", "120%"], "is not an extent"),
        (&["--span", "1MiB"], "does not fit"),
        (&["--span", "4GiB"], "--span"),
        (&["--fills", "2", "--bytes", "1GiB"], "cannot be used with"),
        (&["--file-size", "1000"], "file_size"),
    ] {
        sandbox.run(&[&["endure", "sim:tiny-flash"], arguments].concat()).code(2).says(word);
    }
}

#[test]
fn what_may_only_be_read_is_refused() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.work().join("mine"), [0; 8192]).unwrap();
    sandbox.run(&["endure", "mine"]).code(3).says("refused for safety");
}
