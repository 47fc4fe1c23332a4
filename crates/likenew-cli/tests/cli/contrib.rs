//! The units of systemd that packages ship: as systemd sees them, and as the documentation quotes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::program;

const UNITS: [&str; 2] = ["likenew-check.service", "likenew-check.timer"];
/// The exposure that systemd gives a service without a sandbox is 96, of 100.
const EXPOSURE_MAX: &str = "40";

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn unit(name: &str) -> String {
    fs::read_to_string(repository("contrib/systemd").join(name)).unwrap()
}

/// The blocks of code on a page, without their indentation.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut fence = None;
    for line in page.lines() {
        let indent = line.len() - line.trim_start().len();
        match fence {
            _ if line.trim_start().starts_with("```") => {
                fence = if fence.is_none() { Some(indent) } else { None };
                if fence.is_some() {
                    blocks.push(String::new());
                }
            }
            Some(indent) => *blocks.last_mut().unwrap() += &format!("{}\n", line.get(indent..).unwrap_or("")),
            None => {}
        }
    }
    blocks
}

#[test]
fn the_page_about_timers_quotes_the_units_that_are_shipped() {
    let page = fs::read_to_string(repository("docs/howto/check-on-a-timer.md")).unwrap();
    let blocks = blocks(&page);
    for name in UNITS {
        assert!(blocks.contains(&unit(name)), "{name} is another on the page: {blocks:#?}");
    }
}

#[test]
fn systemd_finds_nothing_in_the_units_and_a_sandbox_around_the_service() {
    const PROGRAM: &str = "/usr/bin/systemd-analyze";
    if !Path::new(PROGRAM).exists() {
        eprintln!("{PROGRAM} is not installed, so this test shows nothing");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in UNITS {
        let program = format!("ExecStart={}", Path::new(&program()).display());
        let text = unit(name).replace("ExecStart=/usr/bin/likenew", &program);
        fs::write(folder.path().join(name), text).unwrap();
    }
    let analyze = |arguments: &[&str]| {
        let paths =
            UNITS.iter().take(if arguments.len() > 1 { 1 } else { 2 }).map(|name| folder.path().join(name));
        let output = Command::new(PROGRAM).args(arguments).args(paths).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        said.into_owned()
    };
    let said = analyze(&["verify"]);
    assert!(!said.contains("likenew-check"), "{said}");
    analyze(&["security", "--offline=true", "--threshold", EXPOSURE_MAX]);
}

#[test]
fn the_service_runs_a_command_that_only_reads() {
    let service = unit(UNITS[0]);
    let command = service.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/likenew ")).unwrap();
    assert_eq!(command, "check --all --changes --wait-for-drive $LIKENEW_CHECK_OPTIONS");
    assert!(service.lines().any(|line| line == "DeviceAllow=block-* r"), "{service}");
}
