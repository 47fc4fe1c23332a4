//! Baselines: the same drive in its first check, and old files on it, checked and rewritten.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{CommandOutput, Sandbox};

fn check(sandbox: &Sandbox, more: &[&str]) -> CommandOutput {
    let of = ["check", ".", "--bytes", "128MiB", "--reserve", "1MiB", "--json", "-"];
    sandbox.run(&[&of, more].concat())
}

fn references(document: &Value) -> Vec<&str> {
    let figures = document["tables"]["metrics"].as_array().unwrap();
    figures.iter().filter_map(|row| row["reference"].as_str()).collect()
}

fn compared_with(document: &Value) -> &str {
    let mut answers = document["answers"].as_array().unwrap().iter();
    answers.find(|answer| answer["id"] == "compared_with").unwrap()["answer"].as_str().unwrap()
}

#[test]
fn a_real_drive_is_compared_with_its_first_check_which_nobody_has_to_name() {
    let sandbox = Sandbox::new();
    let first = check(&sandbox, &[]).json();
    assert!(references(&first).iter().all(|reference| *reference != "baseline"));
    let again = check(&sandbox, &[]).json();
    assert!(references(&again).contains(&"baseline"), "{}", again["tables"]["metrics"]);
    let (then, now) = (&first["tables"]["metrics"][0], &again["tables"]["metrics"][0]);
    assert_eq!(then["measured_per_s"], now["reference_per_s"], "{now}");
    assert_eq!(compared_with(&again).matches("its baseline, first checked on").count(), 1);
    // Judged again it is the same, even with more runs since.
    let run = sandbox.runs().pop().unwrap();
    let judged = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]).json();
    assert_eq!((&judged["summary"], &judged["answers"]), (&again["summary"], &again["answers"]));

    let plan = |more: &[&str]| sandbox.run(&[&["check", ".", "--plan"], more].concat()).code(0).stdout();
    assert!(plan(&[]).contains("baseline") && !plan(&["--baseline", "none"]).contains("baseline"));
    // Layers over the same drive are other targets.
    if let Some(Aged { device, point }) = &Aged::new(&sandbox, &[]) {
        fs::create_dir(point.join("folder")).unwrap();
        let image = sandbox.work().join("image");
        for target in [device.as_str(), point.join("folder").to_str().unwrap(), image.to_str().unwrap()] {
            let plan = sandbox.run(&["check", target, "--plan"]).code(0).stdout();
            assert!(!plan.contains("baseline"), "{target}: {plan}");
        }
    }
    let wrong = check(&sandbox, &["--baseline", "nowhere"]);
    assert!(wrong.code(2).stderr().contains("nowhere"), "{}", wrong.stderr());
}

#[test]
fn a_simulated_drive_is_compared_with_a_run_only_where_it_is_named() {
    let sandbox = Sandbox::new();
    sandbox.run(&["check", "sim:tiny-flash?fill=0.5"]).code(0);
    let run = sandbox.runs().pop().unwrap();
    let slow = ["check", "sim:tiny-flash?fill=0.5&crypt=100MB/s", "--no-archive", "--json", "-"];
    assert!(!references(&sandbox.run(&slow).json()).contains(&"baseline"));
    let named = sandbox.run(&[&slow[..], &["--baseline", run.to_str().unwrap()]].concat()).code(10).json();
    assert!(references(&named).contains(&"baseline"));
}

#[test]
fn a_baseline_travels_to_other_drives_of_the_model() {
    let sandbox = Sandbox::new();
    sandbox.run(&["check", "sim:tiny-flash?state=new"]).code(0);
    let run = sandbox.runs().pop().unwrap();
    let run = run.to_str().unwrap();
    let made = sandbox.run(&["export", run, "flash.toml", "--baseline"]).code(0).stdout();
    assert!(made.contains("check TARGET --baseline flash.toml"), "{made}");
    assert!(sandbox.run(&["export", run, "flash.toml", "--baseline"]).code(2).stderr().contains("exists"));

    let used = ["check", "sim:tiny-flash?state=used", "--json", "-", "--baseline"];
    let document = sandbox.run(&[&used[..], &["flash.toml"]].concat()).code(10).json();
    // Its reads met blank addresses, which are answered without flash: they are nobody's baseline.
    let metrics = document["tables"]["metrics"].as_array().unwrap();
    let of_other = |row: &Value| row["reference"] == "other_drive";
    let is_write = |row: &Value| row["metric"].as_str().unwrap().ends_with("write");
    assert!(metrics.iter().all(|row| of_other(row) == is_write(row)), "{metrics:#?}");
    let summary = document["summary"].as_str().unwrap();
    assert!(summary.contains("of what another drive of its model did"), "{summary}");
    assert!(compared_with(&document).contains("another drive of its model, checked on 20"));

    // A slow drive is nobody's baseline, and other drives have another one.
    let slow = sandbox.runs().pop().unwrap();
    let refused =
        sandbox.run(&["export", slow.to_str().unwrap(), "slow.toml", "--baseline"]).code(2).stderr();
    assert!(refused.contains("found a problem") && !sandbox.work().join("slow.toml").exists(), "{refused}");
    let other = sandbox.run(&["check", "sim:crucial-m4-128gb", "--baseline", "flash.toml"]).code(2).stderr();
    assert!(other.contains("Tiny Flash 1 GiB (1 GiB), and this drive is a Crucial m4 128 GB"), "{other}");
    fs::write(sandbox.work().join("bad.toml"), "[metrics]\nsequential_read = \"fast\"\n").unwrap();
    let bad = sandbox.run(&[&used[..], &["bad.toml"]].concat()).code(2).stderr();
    assert!(bad.contains("bad.toml: line 2"), "{bad}");
}

#[test]
fn the_file_of_a_simulated_drive_is_a_baseline_for_its_model() {
    let sandbox = Sandbox::new();
    let catalog = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml");
    let used = ["check", "sim:tiny-flash?state=used", "--json", "-", "--baseline", catalog];
    let document = sandbox.run(&used).code(10).json();
    assert!(references(&document).contains(&"simulated_model"), "{:?}", references(&document));
    // It is as full as this one, so that no read is compared with one of a blank address.
    let metrics = document["tables"]["metrics"].as_array().unwrap();
    let random_read = metrics.iter().find(|row| row["metric"] == "random_read").unwrap();
    assert!(random_read["percent"].as_f64().unwrap() > 95.0, "{random_read}");
    let other = sandbox.run(&["check", "sim:crucial-m4-128gb", "--baseline", catalog]).code(2).stderr();
    assert!(other.contains("it is of a Tiny Flash 1 GiB"), "{other}");
}

/// An ext4 with some files dated 2025, mounted for as long as this lives.
struct Aged {
    device: String,
    point: PathBuf,
}

impl Aged {
    /// `None` if it cannot be made, with a message.
    fn new(sandbox: &Sandbox, old: &[&str]) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("not root: no file system can be mounted, so this test shows nothing");
            return None;
        }
        let at = |name: &str| sandbox.work().join(name).to_str().unwrap().to_owned();
        let (content, image, point) = (at("content"), at("image"), at("mnt"));
        fs::create_dir(&content).unwrap();
        fs::create_dir(&point).unwrap();
        for (index, name) in old.iter().chain(&["young"]).enumerate() {
            fs::write(format!("{content}/{name}"), vec![index as u8 + 1; 10 << 20]).unwrap();
        }
        fs::File::create(&image).unwrap().set_len(320 << 20).unwrap();
        succeeds("mkfs.ext4", &["-q", "-F", "-b", "4096", "-d", &content, &image])?;
        for name in old {
            for time in ["crtime", "mtime", "ctime"] {
                succeeds(
                    "debugfs",
                    &["-w", "-R", &format!("set_inode_field /{name} {time} 20250101"), &image],
                )?;
            }
        }
        let device = succeeds("losetup", &["--find", "--show", &image])?.trim().to_owned();
        let aged = Self { device, point: point.into() };
        succeeds("mount", &["-o", "noatime", &aged.device, aged.point.to_str().unwrap()])?;
        Some(aged)
    }
}

impl Drop for Aged {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.point).status();
        let _ = Command::new("losetup").args(["--detach", &self.device]).status();
    }
}

/// Its output; `None` if it is missing or refuses, with a message.
fn succeeds(program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).unwrap()),
        Ok(output) => {
            eprintln!("{program}: {}, so this test shows nothing", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            eprintln!("{program}: {error}, so this test shows nothing");
            None
        }
    }
}

#[test]
fn files_that_have_lain_long_are_read_beside_what_is_written() {
    let sandbox = Sandbox::new();
    let Some(aged) = Aged::new(&sandbox, &["a", "b", "c", "d"]) else { return };
    let point = aged.point.to_str().unwrap();
    let arguments = ["check", point, "--bytes", "128MiB", "--reserve", "1MiB", "--json", "-"];
    let document = sandbox.run(&arguments).json();
    let message = document["answers"][0]["evidence"].to_string();
    assert!(message.contains("4 pieces from 4 files, "), "{message}");
    let shapes = document["tables"]["indicators"].as_array().unwrap();
    assert!(shapes.iter().any(|row| row["indicator"] == "new_over_old_data"), "{shapes:?}");
    for (index, name) in ["a", "b", "c", "d", "young"].iter().enumerate() {
        assert_eq!(fs::read(aged.point.join(name)).unwrap(), vec![index as u8 + 1; 10 << 20], "{name}");
    }
    // Nothing else is left, and no file name is kept.
    let mut names: Vec<_> =
        fs::read_dir(&aged.point).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "b", "c", "d", "lost+found", "young"]);
    let kept = fs::read_to_string(sandbox.runs().pop().unwrap().join("observations.jsonl")).unwrap();
    assert!(kept.contains("old_files") && !kept.contains("young"), "{kept}");
}

#[test]
fn files_that_have_lain_long_and_are_fast_are_not_written_again() {
    let sandbox = Sandbox::new();
    let Some(aged) = Aged::new(&sandbox, &["a", "b", "c", "d"]) else { return };
    let point = aged.point.to_str().unwrap();
    let how = ["--step", "refresh", "--bytes", "128MiB", "--reserve", "1MiB", "--idle", "0s", "--json", "-"];
    let document = sandbox.run(&[&["recondition", point], &how[..]].concat()).json();
    assert!(!document["summary"].as_str().unwrap().is_empty(), "{document:#}");
    // A file on the computer's own disk is as fast as a new one, or the first four show that rewriting
    // changes nothing.
    let observations = fs::read_to_string(sandbox.runs().pop().unwrap().join("observations.jsonl")).unwrap();
    assert!(observations.contains("refresh_files") && !observations.contains("/a\""), "{observations}");
    for (index, name) in ["a", "b", "c", "d", "young"].iter().enumerate() {
        assert_eq!(fs::read(aged.point.join(name)).unwrap(), vec![index as u8 + 1; 10 << 20], "{name}");
    }
    assert_eq!(crate::support::names(&aged.point), ["a", "b", "c", "d", "lost+found", "young"]);
}
