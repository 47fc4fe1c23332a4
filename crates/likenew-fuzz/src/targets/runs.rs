//! Fuzzes run folders: runs on a simulated drive, with one of their files damaged. They are read, judged and shown like
//! `likenew judge` does.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;

use likenew_archive::{Machine, Record};
use likenew_core::drive::Drive as _;
use likenew_core::dry_run::DryRun;
use likenew_core::instrument::Instrument;
use likenew_core::io::Op;
use likenew_core::memory::Memory;
use likenew_core::procedure::{Evidence, Plan, Procedure, Step};
use likenew_core::segment::{Recorder, Segment};
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_procedures::all::{from_plan, judge};
use likenew_report::document::Document;
use likenew_report::labeled_document::label_all;
use likenew_run::runner::{Observer, run_procedure};
use likenew_sim::Spec;

use crate::{Input, Target};

/// Files of a run, in the order of an input's parts.
const FILES: [&str; 5] =
    ["plan.toml", "machine.json", "segments.jsonl", "observations.jsonl", "findings.json"];

/// Procedures, with options that keep a run small.
const PLANS: [(&str, &str); 15] = [
    ("bench", "time = \"2ms\"\npasses = 1\nspan = \"8MiB\""),
    ("surface", "points = 8"),
    ("sweep", ""),
    ("fill", ""),
    ("endure", ""),
    ("age", ""),
    ("data", ""),
    ("cache", ""),
    ("trim", ""),
    ("model", ""),
    ("verify", ""),
    ("check", ""),
    ("recondition", ""),
    ("apps", ""),
    ("xray", ""),
];

/// Options that keep a procedure's run small.
pub(super) fn settings(procedure: &str) -> &'static str {
    let plan = PLANS.iter().find(|(name, _)| *name == procedure);
    plan.map_or_else(
        || OTHERS.iter().find(|(name, _)| *name == procedure).map_or("", |other| other.1),
        |plan| plan.1,
    )
}

/// Other procedures with such options: they need what no simulated drive has, or their evidence is not judged.
const OTHERS: [(&str, &str); 2] = [
    (
        "replay",
        "trace = \"day.csv\"\nsummary = { digest = \"00\", reads = 10, writes = 5, trims = 1, flushes = 1, read_bytes = \"40KiB\", written_bytes = \"20KiB\", longest_bytes = \"4KiB\", extent_bytes = \"1MiB\", ends = 17, elapsed = \"1s\", idle_cut = \"1s\", pauses = \"0s\", applications = [] }",
    ),
    (
        "run",
        "[[options.workload]]\nname = \"reads\"\nuntil = { ops = 5 }\n[[options.workload.stream]]\nop = \"read\"\nsize = \"4KiB\"\npattern.random = \"whole\"\narrival.closed.depth = 1",
    ),
];

pub(super) fn targets() -> Vec<Target> {
    vec![Target::new("run folders", seeds(), judge_bytes)]
}

/// Stops a run after a few steps. Damaged runs should be small, and every procedure can judge a part of one.
struct ShortRun {
    steps: usize,
}

impl Observer for ShortRun {
    fn stop_requested(&self) -> bool {
        self.steps >= 6
    }

    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        Box::new(())
    }

    fn on_end(&mut self, _segment: &Segment) -> Result<(), String> {
        self.steps += 1;
        Ok(())
    }

    fn on_probe_end(&mut self, _observation: &likenew_core::probe::Observation) -> Result<(), String> {
        self.steps += 1;
        Ok(())
    }
}

pub(super) fn seeds() -> Vec<Input> {
    let seeds = PLANS.map(|(procedure, options)| (procedure, seed(procedure, options)));
    let missing: Vec<&str> = seeds.iter().filter(|(_, seed)| seed.is_none()).map(|(name, _)| *name).collect();
    assert!(missing.len() <= 5, "these do not run with their settings: {missing:?}");
    seeds.into_iter().filter_map(|(_, seed)| seed).collect()
}

fn seed(procedure: &str, options: &str) -> Option<Input> {
    let options = toml::from_str(options).expect("the settings are TOML");
    let plan = Plan::new(procedure, Some("sim:tiny-flash".into()), 1, options);
    let procedure = from_plan(&plan).ok()?;
    let nothing = |_: &Path| Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    let mut drive = Spec::parse("sim:tiny-flash?state=used").ok()?.open(nothing).ok()?;
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    run_procedure(&mut drive, &*procedure, &mut evidence, &mut ShortRun { steps: 0 }).ok()?;
    let instrument = Instrument {
        version: "0".into(),
        clock: Clock::Virtual,
        engine: "sim".into(),
        system: None,
        calibration: None,
    };
    let machine = Machine::new(
        "2026-03-14T15:09:26Z",
        evidence.identity.clone(),
        evidence.geometry.clone(),
        instrument,
    );
    let findings = judge(&*procedure, &evidence);
    let lines = |values: Vec<String>| -> Vec<u8> {
        values.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
    };
    let json = |value: Result<String, serde_json::Error>| value.expect("evidence is plain values");
    Some(vec![
        toml::to_string(&evidence.plan).expect("a plan is plain values").into_bytes(),
        json(serde_json::to_string(&machine)).into_bytes(),
        lines(evidence.segments.iter().map(|segment| json(serde_json::to_string(segment))).collect()),
        lines(
            evidence
                .observations
                .iter()
                .map(|observation| json(serde_json::to_string(observation)))
                .collect(),
        ),
        json(serde_json::to_string(&findings)).into_bytes(),
    ])
}

thread_local! {
    /// A folder in memory for inputs.
    static FOLDER: OnceCell<tempfile::TempDir> = const { OnceCell::new() };
}

fn judge_bytes(parts: &[Vec<u8>]) -> bool {
    FOLDER.with(|folder| {
        let folder = folder.get_or_init(super::memory_folder);
        write(folder.path(), parts);
        judge_folder(folder.path())
    })
}

/// Writes an input as the files of a run.
pub(super) fn write(folder: &Path, parts: &[Vec<u8>]) {
    for (name, bytes) in FILES.iter().zip(parts) {
        fs::write(folder.join(name), bytes).expect("a run folder is written");
    }
}

fn judge_folder(folder: &Path) -> bool {
    let Ok(record) = Record::open(folder) else { return false };
    let evidence = record.evidence();
    let Ok(procedure) = from_plan(&evidence.plan) else { return false };
    let findings = judge(&*procedure, &evidence);
    let written = evidence.segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
    let elapsed = evidence.segments.last().map_or(Nanos::ZERO, |segment| segment.ended_at);
    let instrument = record.header.machine.instrument;
    let document = Document::new(evidence.plan, evidence.identity, findings, instrument, written, elapsed);
    let _ = document.to_json();
    super::show_all_views(&label_all(vec![document]));
    true
}

/// Takes the first step of a procedure on a drive of 64 MiB, and a dry run of all steps.
pub(super) fn first_step(procedure: &dyn Procedure, plan: Plan) {
    let drive = Memory::new(64 << 20, Nanos::from_micros(10), 1);
    let evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    let Ok(step) = procedure.next(&evidence) else { return };
    if let Step::Run(workload) = step
        && workload.check(&evidence.geometry).is_err()
    {
        return;
    }
    let _ = DryRun::plan(procedure, &evidence);
}

/// Computes everything that procedures compute from segments.
pub(super) fn summarize(segments: &[Segment]) {
    for segment in segments {
        let _ = (segment.elapsed(), segment.bytes_per_s(), segment.iops(), segment.busy_bytes_per_s());
        let _ = (segment.total(), segment.latencies().max(), segment.errors());
    }
}
