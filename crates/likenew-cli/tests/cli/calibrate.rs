//! `likenew sim calibrate`: a drive whose values are known, found again from its runs.

use std::path::PathBuf;

use crate::support::Sandbox;

/// A drive like tiny-flash with slower programs and a slower link, and three runs of it.
fn runs_of_my_drive(sandbox: &Sandbox) -> Vec<PathBuf> {
    let text = include_str!("../../../../catalog/tiny-flash.toml")
        .replace("program_ns = { value = 900000", "program_ns = { value = 1400000")
        .replace("bytes_per_s = { value = 280000000", "bytes_per_s = { value = 230000000");
    std::fs::write(sandbox.work().join("mine.toml"), text).unwrap();
    for arguments in [
        &["sweep", "sim:mine.toml", "--profile", "quick", "--span", "64MiB", "--bytes", "2MiB"][..],
        &["fill", "sim:mine.toml", "--files", "8", "--file-size", "16MiB"],
        &["bench", "sim:mine.toml", "--span", "64MiB", "--passes", "2", "--time", "50ms"],
    ] {
        sandbox.run(arguments).code(0);
    }
    sandbox.runs()
}

#[test]
fn a_drive_is_found_from_its_runs_and_never_written_over_another() {
    let sandbox = Sandbox::new();
    let runs = runs_of_my_drive(&sandbox);
    let names: Vec<&str> = runs.iter().map(|run| run.to_str().unwrap()).collect();
    let command =
        ["sim", "calibrate", names[0], names[1], names[2], "--like", "tiny-flash", "--output", "found.toml"];
    let with = |more: &[&str]| sandbox.run(&[&command[..], more].concat());
    let screen = with(&["--candidates", "20", "--json", "found.json"]).code(0).stdout();
    assert!(screen.starts_with("✓ The simulated drive predicts the held-out run within "), "{screen}");
    assert!(screen.lines().count() <= 24, "{screen}");
    assert!(screen.contains("Try it: likenew bench sim:found.toml"), "{screen}");

    let json = std::fs::read_to_string(sandbox.work().join("found.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (key, truth) in [("nand.program_ns", 1_400_000.0), ("link.bytes_per_s", 230_000_000.0)] {
        let estimates = json["estimates"].as_array().unwrap();
        let found = estimates.iter().find(|estimate| estimate["key"] == key).unwrap();
        let ratio = found["value"].as_f64().unwrap() / truth;
        assert!((0.93..1.07).contains(&ratio), "{key}: {found}");
    }
    let shown = sandbox.run(&["sim", "show", "found.toml", "--sources"]).code(0).stdout();
    assert!(shown.contains("calibrated to ") && shown.contains("90% range"), "{shown}");
    sandbox.run(&["bench", "sim:found.toml", "--span", "64MiB", "--passes", "1", "--no-archive"]).code(0);

    let before = std::fs::read(sandbox.work().join("found.toml")).unwrap();
    with(&[]).code(3).says("found.toml exists");
    assert_eq!(std::fs::read(sandbox.work().join("found.toml")).unwrap(), before);
}

#[test]
fn what_cannot_be_calibrated_is_explained() {
    let sandbox = Sandbox::new();
    sandbox.run(&["bench", "sim:tiny-flash", "--span", "64MiB", "--passes", "1"]).code(0);
    sandbox.run(&["bench", "sim:wd6400aaks", "--span", "64MiB", "--passes", "1", "--time", "1s"]).code(0);
    sandbox.run(&["facts", "sim:tiny-flash"]);
    let runs = sandbox.runs();
    let of = |words: &str| {
        let found = runs.iter().find(|run| run.to_str().unwrap().contains(words));
        found.unwrap_or_else(|| panic!("no run {words} in {runs:?}")).to_str().unwrap()
    };
    let calibrate = |runs: &[&str]| sandbox.run(&[&["sim", "calibrate"], runs].concat());
    calibrate(&[of("bench-sim-tiny-flash"), of("wd6400aaks")]).code(2).says("give runs of one drive");
    calibrate(&["nowhere"]).code(2);
    calibrate(&[of("facts")]).code(2).says("nothing in");
}
