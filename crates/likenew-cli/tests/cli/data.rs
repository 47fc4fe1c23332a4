//! Speed by compressibility, and the scan of a user's files.

use std::path::{Path, PathBuf};

use crate::support::{Sandbox, names};

/// A folder beside the measured one: a film that does not compress, and a diary that does.
fn belongings(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.work().join("belongings");
    std::fs::create_dir(&folder).unwrap();
    let mut state = 1u64;
    let noise: Vec<u8> = (0..3 << 20)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    std::fs::write(folder.join("secret-wedding.mp4"), noise).unwrap();
    let diary: String = (0..30_000).map(|day| format!("Day {day}: nothing happened again.\n")).collect();
    std::fs::write(folder.join("secret-diary.txt"), diary).unwrap();
    folder
}

fn everything_in(folder: &Path) -> String {
    let texts = names(folder).into_iter().map(|name| std::fs::read(folder.join(name)).unwrap_or_default());
    texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

#[test]
fn files_are_described_without_measuring_and_without_names() {
    let sandbox = Sandbox::new();
    belongings(&sandbox);
    let scan = [
        "data",
        ".",
        "--files",
        "belongings",
        "--scan-only",
        "--sample",
        "4MiB",
        "--reserve",
        "64MiB",
        "--json",
        "-",
    ];
    let document = sandbox.run(&scan).code(0).json();
    let rows = document["tables"]["file_types"].as_array().unwrap();
    assert_eq!((&rows[0]["type"], &rows[0]["bytes"]), (&"video".into(), &(3 << 20).into()));
    assert_eq!(rows[0]["compresses_to_percent"], 100.0);
    assert_eq!(rows[1]["type"], "source and text");
    assert!(rows[1]["compresses_to_percent"].as_f64().unwrap() < 20.0);
    assert_eq!(document["bytes_written"], 0);
    let kept = everything_in(&sandbox.runs()[0]);
    assert!(kept.contains("video") && !kept.contains("secret") && !document.to_string().contains("secret"));
    assert_eq!(names(&sandbox.work()), ["belongings"]);
    // Its folder can be judged again.
    let run = sandbox.runs()[0].to_str().unwrap().to_owned();
    assert_eq!(sandbox.run(&["judge", &run, "--json", "-"]).json()["tables"], document["tables"]);
}

#[test]
fn what_files_can_expect_of_a_drive_that_compresses() {
    let sandbox = Sandbox::new();
    belongings(&sandbox);
    let quick = ["--steps", "6", "--span", "96MiB", "--pattern", "sequential", "--sample", "4MiB"];
    let files = ["--files", "belongings", "--json", "-", "--no-archive"];
    let arguments = [&["data", "sim:intel-520-120gb"], &quick[..], &files[..]].concat();
    let document = sandbox.run(&arguments).code(0).json();
    let row = &document["tables"]["expected"][0];
    assert_eq!(row["advertised_bytes_per_s"], 500e6);
    let share = row["share_of_zeros_percent"].as_f64().unwrap();
    assert!((35.0..60.0).contains(&share), "{row}");
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../schema/report.schema.json")).unwrap();
    assert!(jsonschema::draft202012::new(&schema).unwrap().is_valid(&document));
    assert_eq!(sandbox.run(&arguments).json(), document);
}

#[test]
fn a_folder_is_measured_and_left_as_it_was() {
    let sandbox = Sandbox::new();
    let quick = ["--steps", "3", "--span", "12MiB", "--time", "50ms", "--passes", "2", "--reserve", "64MiB"];
    let arguments = [&["data", "."], &quick[..], &["--json", "-", "--no-archive"]].concat();
    let document = sandbox.run(&arguments).code(0).json();
    assert_eq!(document["tables"]["compressibility"].as_array().unwrap().len(), 3 * 4);
    assert!(names(&sandbox.work()).is_empty());
}

#[test]
fn flags_make_a_plan_that_runs() {
    let sandbox = Sandbox::new();
    belongings(&sandbox);
    let flags = ["--files", "belongings", "--sample", "1MiB", "--block", "64k,4k", "--depth", "2", "--plan"];
    let plan =
        sandbox.run(&[&["data", "sim:tiny-flash", "--steps", "2", "--span", "64MiB"], &flags[..]].concat());
    plan.code(0).says("block = \"64KiB\"").says("depth = 2").says("type = \"video\"");
    std::fs::write(sandbox.work().join("plan.toml"), plan.stdout()).unwrap();
    sandbox
        .run(&["run", "plan.toml", "--no-archive"])
        .code(0)
        .says("Compressibility does not change the speed");
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.work().join("empty")).unwrap();
    std::fs::write(sandbox.work().join("photo.raw"), "the only copy").unwrap();
    let case = |arguments: &[&str], code: i32, words: &str| {
        sandbox
            .run(&[&["data", "sim:tiny-flash", "--no-archive"], arguments].concat())
            .code(code)
            .says(words);
    };
    case(&["--files", "missing"], 2, "does not exist");
    case(&["--files", "photo.raw"], 2, "is not a folder");
    case(&["--files", "empty"], 2, "holds no files");
    case(&["--files", "/proc"], 2, "virtual file system without files");
    case(&["--files", ".", "--sample", "1k"], 2, "--sample");
    case(&["--files", ".", "--scan-time", "0s"], 2, "--scan-time");
    case(&["--scan-only"], 2, "--files");
    case(&["--steps", "1"], 2, "1 is not in 2..=101");
    case(&["--op", "trim"], 2, "neither read nor write");
    case(&["--pattern", "zigzag"], 2, "unknown pattern");
    case(&["--pattern", "random,random"], 2, "once each");
    case(&["--block", "4k,4k,4k"], 2, "--block has 3 values for 2 patterns");
    case(&["--block", "3k"], 2, "power of two");
    case(&["--span", "4MiB"], 2, "too small for 11 steps");
    case(&["--span", "64GiB"], 2, "exceeds the target's 1 GiB");
    sandbox.run(&["data", "photo.raw"]).code(3).says("existing file");
    assert_eq!(std::fs::read_to_string(sandbox.work().join("photo.raw")).unwrap(), "the only copy");
}
