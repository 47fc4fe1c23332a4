//! One drive that was X-rayed: its truth, what was said of it, and what that has cost.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anyhow::{Context as _, bail};
use likenew_core::drive::Drive as _;
use likenew_core::io::Op;
use likenew_core::plan::Plan;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Recorder;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::verdict::Findings;
use likenew_procedures::all::from_plan;
use likenew_run::conduct::{End, Observer, conduct};
use likenew_sim::drawn::{Family, drawn};
use likenew_sim::truth::{Inside, Truth};
use likenew_sim::{SimDrive, Spec};

use super::answer::{Answer, answers};
use super::mark::{Mark, mark};
use crate::bench::ours::user_time;

/// How every drive of a round is asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    /// Probes; all of them if none is named.
    pub(super) only: Vec<String>,
    /// What disturbs it, as a setting of the target, such as `busy=200`.
    pub(super) noise: Option<String>,
}

/// One property: what is inside, what was said, and what to think of that.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) unit: &'static str,
    pub(super) inside: Inside,
    pub(super) answer: Answer,
    pub(super) mark: Mark,
}

/// A drive that was X-rayed.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) seed: u64,
    pub(super) target: String,
    pub(super) family: Family,
    /// In the order of the table.
    pub(super) rows: Vec<Row>,
    /// What was found, to be read; or why nothing was.
    pub(super) findings: Result<Findings, String>,
    /// Bytes written over the capacity.
    pub(super) capacities_written: f64,
    /// User time of the thread.
    pub(super) cpu: Nanos,
    /// Time on the drive's own clock.
    pub(super) lasted: Nanos,
}

impl Case {
    /// X-rays the drive of a seed.
    ///
    /// # Errors
    /// The drive can not be made, or the answers have another form.
    pub(super) fn run(seed: u64, query: &Query) -> anyhow::Result<Self> {
        let drive = drawn(seed);
        let target = match &query.noise {
            Some(noise) => format!("{}?{noise}", drive.target()),
            None => drive.target(),
        };
        let spec = Spec::parse(&target)?;
        let truth = Truth::of(&spec, &drive.model()?);
        let before = user_time()?;
        let mut opened = spec.open(no_files)?;
        let capacity = opened.geometry().capacity;
        let mut plan =
            Plan { schema: 1, procedure: "xray".into(), target: None, seed, options: toml::Table::new() };
        if !query.only.is_empty() {
            plan.options.insert("only".into(), query.only.clone().into());
        }
        let mut evidence = Evidence::new(plan, opened.identity(), opened.geometry());
        let asked = AssertUnwindSafe(|| ask(&mut opened, &mut evidence));
        let findings = catch_unwind(asked)
            .unwrap_or_else(|panic| bail!("panicked: {}", panic_text(&*panic)))
            .map_err(|error| format!("{error:#}"));
        let written: u64 = evidence.segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
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
            cpu: user_time()?.since(before),
            lasted: evidence.segments.last().map_or(Nanos::ZERO, |segment| segment.ended),
        })
    }
}

fn no_files(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}

fn ask(drive: &mut SimDrive, evidence: &mut Evidence) -> anyhow::Result<Findings> {
    let procedure = from_plan(&evidence.plan).map_err(anyhow::Error::msg)?;
    match conduct(drive, &*procedure, evidence, &mut Nobody)? {
        End::Complete => Ok(procedure.judge(evidence)),
        end => bail!("the X-ray ended early: {end:?}"),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Each property of the truth beside its answer.
fn rows(truth: &Truth, answers: &[Answer]) -> anyhow::Result<Vec<Row>> {
    let row = |(key, unit, inside): (&'static str, &'static str, Inside)| {
        let answer = answers.iter().find(|answer| answer.property == key);
        let answer = answer.with_context(|| format!("the X-ray says nothing of {key}"))?.clone();
        let mark = mark(inside, &answer);
        Ok(Row { unit, inside, answer, mark })
    };
    truth.rows().into_iter().map(row).collect()
}

/// Looks on and does nothing.
struct Nobody;

impl Observer for Nobody {
    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        Box::new(())
    }

    fn ended(&mut self, _: &Segment) -> Result<(), String> {
        Ok(())
    }
}
