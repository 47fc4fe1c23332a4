//! Run folders made from one template, so that thousands of them take seconds.

use std::fs;
use std::path::{Path, PathBuf};

use likenew_archive::{Archive, Machine};
use likenew_core::drive::{Identity, TargetKind};
use likenew_core::facts::{Drive, Fact, Facts, Identity as DriveIdentity, Serial};
use likenew_core::findings::Findings;
use likenew_core::instrument::Instrument;
use likenew_core::probe::{Observation, Probe, ProbeResult};
use likenew_core::procedure::Plan;
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::Nanos;
use likenew_history::{History, Location, Page};
use serde_json::json;
use tempfile::TempDir;

/// Words of the template that each run has of its own.
const DATE: &str = "2000-01-01T00:00:00.000Z";
const TARGET: &str = "/dev/template";
const SERIAL: &str = "5e71a1";
/// The same for its speed, as a number.
const READ: &str = "123456789.5";

/// A synthetic check.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) day: usize,
    pub(crate) target: String,
    /// The hash of a serial number; empty if it could not be read.
    pub(crate) serial: String,
    pub(crate) read: f64,
}

impl Run {
    pub(crate) fn new(day: usize, serial: &str, read: f64) -> Self {
        Self { day, target: "/dev/sda".into(), serial: serial.into(), read }
    }

    fn date(&self) -> String {
        format!(
            "{:04}-{:02}-{:02}T12:00:00.000Z",
            2026 + self.day / 336,
            self.day / 28 % 12 + 1,
            self.day % 28 + 1
        )
    }

    pub(crate) fn name(&self) -> String {
        let serial = if self.serial.is_empty() { "unknown" } else { &self.serial };
        format!("{}-check-{}-{serial}", self.date().replace(':', "-"), self.target.replace('/', "-"))
    }
}

/// A folder of runs.
pub(crate) struct Runs {
    folder: TempDir,
    template: Vec<(String, String)>,
}

impl Runs {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let template = Archive::new(folder.path().join("template"));
        let mut run = template.create(&plan(), &machine()).unwrap();
        run.push_observation(&observation()).unwrap();
        run.conclude(&findings()).unwrap();
        let files = fs::read_dir(run.path()).unwrap().map(|file| file.unwrap().path());
        let file = |path: PathBuf| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap())
        };
        let template = files.map(file).collect();
        fs::create_dir(folder.path().join("runs")).unwrap();
        Self { folder, template }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    pub(crate) fn archive(&self) -> Archive {
        Archive::new(self.root())
    }

    pub(crate) fn put(&self, run: &Run) -> PathBuf {
        let folder = self.root().join(run.name());
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in &self.template {
            let text = text
                .replace(DATE, &run.date())
                .replace(TARGET, &run.target)
                .replace(READ, &run.read.to_string());
            let text = if run.serial.is_empty() {
                text.replace(
                    &format!(r#""serial":{{"value":{{"hash":"{SERIAL}"}},"origin":"VPD"}}"#),
                    r#""serial":{"unknown":"not root","origin":"VPD"}"#,
                )
            } else {
                text.replace(SERIAL, &run.serial)
            };
            fs::write(folder.join(name), text).unwrap();
        }
        folder
    }

    /// The history beside the runs.
    pub(crate) fn open(&self) -> History {
        open(&Location::beside(&self.root()), &self.root())
    }
}

pub(crate) fn open(location: &Location, root: &Path) -> History {
    History::open(location, Archive::new(root), "machine").unwrap()
}

/// Everything that a history shows.
pub(crate) fn everything(history: &mut History) -> String {
    let all = Page { offset: 0, rows: u32::MAX };
    let drives = history.drives(all).unwrap();
    let checks: Vec<_> = drives.iter().map(|drive| history.checks(drive).unwrap()).collect();
    format!(
        "{drives:#?}\n{checks:#?}\n{:#?}\n{:#?}",
        history.runs(None, all).unwrap(),
        history.damaged().unwrap()
    )
}

fn plan() -> Plan {
    Plan::new("check", Some(TARGET.into()), u64::MAX >> 11, toml::Table::new())
}

fn machine() -> Machine {
    let identity = Identity {
        name: TARGET.into(),
        kind: TargetKind::Device,
        model: Some("Example 870".into()),
        engine: "posix".into(),
        capacity_bytes: 1 << 40,
        block_bytes: 512,
        facts: Vec::new(),
        caveats: Vec::new(),
        accounting: None,
    };
    let geometry = Geometry {
        capacity: 1 << 40,
        block: 512,
        boundary: None,
        writable: false,
        trims: false,
        carries_data: true,
        clock: Clock::Wall,
    };
    let instrument = Instrument {
        version: "0.1.0".into(),
        clock: Clock::Wall,
        engine: "posix".into(),
        system: None,
        calibration: None,
    };
    Machine::new(DATE, identity, geometry, instrument)
}

fn observation() -> Observation {
    let identity = DriveIdentity {
        model: Fact::new("Example 870".to_owned(), "sysfs"),
        serial: Fact::new(Serial { hash: SERIAL.into(), plain: None }, "VPD"),
        capacity_bytes: Fact::new(1 << 40, "sysfs"),
        ..DriveIdentity::default()
    };
    let facts = Facts { drives: vec![Drive { identity, ..Drive::default() }], ..Facts::default() };
    Observation {
        probe: Probe::Facts,
        result: ProbeResult::Facts(Box::new(facts)),
        after: 0,
        started_at: Nanos::ZERO,
        ended_at: Nanos::ZERO,
        after_interruption: false,
        accounting: None,
    }
}

fn findings() -> Findings {
    let read: f64 = READ.parse().unwrap();
    let row = |metric: &str, unit: &str, value: f64| {
        let row = json!({"metric": metric, "unit": unit, "measured_per_s": value, "low_per_s": value, "high_per_s": value,
            "reference_per_s": 1e9, "reference": "baseline", "percent": 12.0});
        row.as_object().unwrap().clone()
    };
    let metrics =
        ["sequential_read", "sequential_write", "sustained_write"].map(|name| row(name, "bytes/s", read));
    let small = ["random_read", "random_write", "random_read_qd32"].map(|name| row(name, "1/s", 5_000.0));
    let mut findings = Findings { summary: "Nothing is slow.".into(), ..Findings::default() };
    findings.tables.insert("metrics".into(), [metrics, small].concat());
    findings
}
