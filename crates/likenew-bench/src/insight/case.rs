//! One X-rayed drive: its truth, the answers, and the cost.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context as _, anyhow, bail};
use likenew_core::drive::Drive as _;
use likenew_core::findings::Findings;
use likenew_core::io::Op;
use likenew_core::procedure::{Evidence, Plan};
use likenew_core::segment::{Recorder, Segment};
use likenew_core::units::Nanos;
use likenew_procedures::all::from_plan;
use likenew_run::runner::{End, Observer, run_procedure};
use likenew_sim::generator::{Family, generate};
use likenew_sim::truth::{TrueValue, Truth};
use likenew_sim::{SimDrive, Spec};

use super::answer::{PropertyResult, answers};
use super::mark::{Mark, mark};
use crate::case_run::{no_files, user_time};

/// The noise on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noise {
    /// Another program uses it.
    Busy,
    /// The same from another computer, so that no kernel counter shows it.
    Unseen,
    /// Single I/Os take long.
    Outliers,
    /// It is slow for a part of the time.
    Throttled,
}

impl Noise {
    pub(super) const ALL: [Self; 4] = [Self::Busy, Self::Unseen, Self::Outliers, Self::Throttled];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Unseen => "unseen",
            Self::Outliers => "outliers",
            Self::Throttled => "throttled",
        }
    }

    /// As a setting of a target: enough to show, while the drive still does other work.
    pub(super) fn setting(self, family: Family) -> String {
        match (self, family) {
            (Self::Unseen, _) => format!("{}&facts=off", Self::Busy.setting(family)),
            (Self::Busy, Family::Disk | Family::ShingledDisk) => "busy=15".into(),
            (Self::Busy, Family::Volume) => "busy=40".into(),
            (Self::Busy, Family::BlockMap | Family::Bast | Family::Fast) => "busy=5".into(),
            (Self::Busy, _) => "busy=200".into(),
            (Self::Outliers, _) => "outliers=300".into(),
            (Self::Throttled, _) => "throttle=0.1".into(),
        }
    }
}

/// How to X-ray every drive of a round.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    /// Tests; all of them if none is named.
    pub(super) only: Vec<String>,
    /// The noise on the drive.
    pub(super) noise: Option<Noise>,
}

/// One property: truth, answer and mark.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) unit: &'static str,
    pub(super) true_value: TrueValue,
    pub(super) answer: PropertyResult,
    pub(super) mark: Mark,
}

/// An X-rayed drive.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) seed: u64,
    pub(super) target: String,
    pub(super) family: Family,
    /// In the order of the table.
    pub(super) rows: Vec<Row>,
    /// The findings, or why there are none.
    pub(super) findings: Result<Findings, String>,
    /// Bytes written over the capacity.
    pub(super) capacities_written: f64,
    /// The same by the steps of tests, such as `fill: piece`, in the order in which they first wrote.
    pub(super) written_by_step: Vec<(String, f64)>,
    /// User time of the thread.
    pub(super) cpu: Nanos,
    /// Time on the drive's own clock.
    pub(super) elapsed: Nanos,
}

impl Case {
    /// X-rays the drive of a seed.
    ///
    /// # Errors
    /// The drive cannot be opened, or the answers have another form.
    pub(super) fn run(seed: u64, query: &Query) -> anyhow::Result<Self> {
        let drive = generate(seed);
        let target = match query.noise {
            Some(noise) => format!("{}?{}", drive.target(), noise.setting(drive.family)),
            None => drive.target(),
        };
        let spec = Spec::parse(&target)?;
        let truth = Truth::from_spec(&spec, &drive.model()?);
        let before = user_time()?;
        let mut opened = spec.open(no_files)?;
        let capacity = opened.geometry().capacity;
        let mut settings = toml::Table::new();
        if !query.only.is_empty() {
            settings.insert("only".into(), query.only.clone().into());
        }
        let asked = catch_unwind(AssertUnwindSafe(|| ask(&mut opened, "xray", seed, settings)));
        let asked = asked.unwrap_or_else(|panic| bail!("panicked: {}", panic_text(&*panic)));
        let (findings, segments) = match asked {
            Ok(asked) => (asked.findings.map_err(|error| format!("{error:#}")), asked.evidence.segments),
            Err(error) => (Err(format!("{error:#}")), Vec::new()),
        };
        let written: u64 = segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
        let rows = match &findings {
            Ok(findings) => rows(&truth, &answers(findings)?)?,
            Err(_) => Vec::new(),
        };
        Ok(Self {
            seed,
            target,
            family: drive.family,
            rows,
            findings,
            capacities_written: written as f64 / capacity as f64,
            written_by_step: written_by_step(&segments, capacity),
            cpu: user_time()?.since(before),
            elapsed: segments.last().map_or(Nanos::ZERO, |segment| segment.ended_at),
        })
    }
}

/// Capacities written by each step of a test that wrote: its segments' names without their numbers.
fn written_by_step(segments: &[Segment], capacity: u64) -> Vec<(String, f64)> {
    let mut written: Vec<(String, f64)> = Vec::new();
    for segment in segments.iter().filter(|segment| segment.bytes(Op::Write) > 0) {
        let is_number = |letter: char| letter.is_ascii_digit() || letter == ' ' || letter == '.';
        let step = segment.workload.name.trim_end_matches(is_number);
        let capacities = segment.bytes(Op::Write) as f64 / capacity as f64;
        match written.iter_mut().find(|(name, _)| name == step) {
            Some((_, sum)) => *sum += capacities,
            None => written.push((step.to_owned(), capacities)),
        }
    }
    written
}

/// The result of a procedure.
pub(crate) struct QueryResult {
    /// Its findings, unless the run ended early.
    pub(crate) findings: anyhow::Result<Findings>,
    /// Its evidence.
    pub(crate) evidence: Evidence,
}

/// Runs a procedure on a drive, like `likenew` itself.
///
/// # Errors
/// There is no such procedure, or its settings do not fit.
pub(crate) fn ask(
    drive: &mut SimDrive,
    procedure: &str,
    seed: u64,
    options: toml::Table,
) -> anyhow::Result<QueryResult> {
    let plan = Plan::new(procedure, None, seed, options);
    let asked = from_plan(&plan).map_err(anyhow::Error::msg)?;
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    let findings = match run_procedure(drive, &*asked, &mut evidence, &mut SilentObserver) {
        Ok(End::Complete) => Ok(asked.judge(&evidence)),
        Ok(end) => Err(anyhow!("it ended early: {end:?}")),
        Err(error) => Err(error.into()),
    };
    Ok(QueryResult { findings, evidence })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Each property of the truth beside its answer.
fn rows(truth: &Truth, answers: &[PropertyResult]) -> anyhow::Result<Vec<Row>> {
    let row = |(key, unit, true_value): (&'static str, &'static str, TrueValue)| {
        let answer = answers.iter().find(|answer| answer.property == key);
        let answer = answer.with_context(|| format!("the X-ray says nothing of {key}"))?.clone();
        let mark = mark(true_value, &answer);
        Ok(Row { unit, true_value, answer, mark })
    };
    truth.rows().into_iter().map(row).collect()
}

/// An observer that does nothing.
struct SilentObserver;

impl Observer for SilentObserver {
    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        Box::new(())
    }

    fn on_end(&mut self, _: &Segment) -> Result<(), String> {
        Ok(())
    }
}
