//! What explains a drive: access time, throughput, partial clusters, zones, memory and parallelism, fitted to what was measured.

mod account;
mod burst;
mod clusters;
mod course;
mod form;
mod ground;
mod model_options;
mod noise;
mod pictures;
mod point;
mod points;
mod specifications;
mod visit;
mod zones;

use likenew_core::io::Op;
use likenew_core::procedure::{Card, Evidence, Layout, Procedure, Step};
use likenew_core::units::amount;
use likenew_core::verdict::{Findings, Standing, Verdict};
use likenew_core::workload::Workload;

use crate::options::options;
use crate::refusals::refusals;
use crate::rows::row;
use account::Account;
use course::Course;
use form::Form;
use ground::Ground;
pub use ground::STEP as SPAN_STEP;
pub use model_options::{ModelOptions, SPAN_OF_FOLDER};
use point::Curve;
use specifications::Specification;
use zones::Zones;

/// What it asks and costs.
pub static CARD: Card = Card {
    name: "model",
    question: "What explains it: access time, throughput, clusters, memory, parallelism?",
    writes: "own files in a folder, or where consent was given; reads only, with --op read",
    manual: include_str!("model.md"),
};

/// The procedure.
pub struct Model {
    options: ModelOptions,
}

impl Model {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("model", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: ModelOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options })
    }

    fn workload(&self, evidence: &Evidence) -> Result<Option<Workload>, String> {
        let ground = match Ground::of(&self.options, evidence)? {
            Err(first) => return Ok(Some(first)),
            Ok(ground) => ground,
        };
        let course = Course::new(&self.options, evidence, &ground);
        let next = course.next();
        let writes = self.options.wants(Op::Write, evidence.geometry.writable);
        Ok(next.or_else(|| writes.then(|| burst::next(&self.options, evidence, &ground)).flatten()))
    }
}

impl Procedure for Model {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span.unwrap_or(SPAN_OF_FOLDER) }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        if self.options.wants(Op::Write, evidence.geometry.writable) && !evidence.geometry.writable {
            return Err(
                "it would write, and this target may only be read: add --op read, or give a folder".into()
            );
        }
        let seed = evidence.plan.seed_of(evidence.segments.len());
        let workload = self.workload(evidence)?;
        Ok(workload.map_or(Step::Enough, |workload| Step::Run(Workload { seed, ..workload })))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let mut findings = Findings::default();
        findings.verdicts.extend(refusals(&evidence.segments));
        let Ok(Ok(ground)) = Ground::of(&self.options, evidence) else { return findings };
        let course = Course::new(&self.options, evidence, &ground);
        let zones = zones(&course);
        let accounts: Vec<Account> =
            course.curves().into_iter().map(|curve| account(&course, &zones, curve)).collect();
        let mut specifications: Vec<Specification> = accounts
            .iter()
            .filter(|of| !matches!(of.curve, Curve::Depth(_)))
            .filter_map(|account| Specification::of(account, &self.options))
            .collect();
        bound_clusters(&mut specifications);
        let bursts = burst::bursts(evidence);
        let random = |of: &&Specification| matches!(of.curve, Curve::Random(_));
        let summary = specifications.iter().filter(random).map(|of| with_ground(of.verdict(), &ground));
        let mut verdicts: Vec<Verdict> = summary.collect();
        verdicts.extend(specifications.iter().filter_map(Specification::penalty_verdict));
        verdicts.extend(accounts.iter().filter_map(Account::verdict));
        verdicts.extend(zones.iter().filter_map(Zones::verdict));
        verdicts.extend(burst::verdict(&bursts, gain_by_depth(&accounts, Op::Write)));
        let noise = noise::verdict(&course, evidence);
        if noise.as_ref().is_some_and(|noise| noise.standing == Standing::Fails) {
            verdicts = verdicts.into_iter().map(noise::in_doubt).collect();
        }
        findings.verdicts.extend(verdicts);
        findings.verdicts.extend(noise);
        findings.tables.insert("fit".into(), specifications.iter().map(|of| row(of.row())).collect());
        findings.tables.insert("models".into(), accounts.iter().flat_map(Account::rows).map(row).collect());
        findings.tables.insert(
            "bursts".into(),
            bursts.iter().enumerate().map(|(pass, of)| row(of.row(pass + 1))).collect(),
        );
        findings.tables.insert("points".into(), points::rows(&course, &accounts).map(row).collect());
        for op in [Op::Read, Op::Write] {
            findings.series.extend(pictures::of_op(op, &accounts));
        }
        let others = [
            ("by_depth", pictures::depths(&accounts)),
            ("by_address", pictures::zones(&zones, evidence.geometry.capacity)),
            ("bursts", pictures::bursts(&bursts)),
        ];
        findings
            .series
            .extend(others.into_iter().filter_map(|(name, series)| Some((name.to_owned(), series?))));
        findings
    }
}

/// The rates along the addresses, of each operation. What a run takes beside its transfer is the access time of the plain model, which
/// needs no zones to be known well.
fn zones(course: &Course<'_>) -> Vec<Zones> {
    let random = course.curves().into_iter().filter(|curve| matches!(curve, Curve::Random(_)));
    let of = random.filter_map(|curve| {
        let plain = Form::Plain.fit(&course.observations(curve), course.grain())?;
        Zones::of(curve.op(), course, plain.coefficient(0).0)
    });
    of.collect()
}

/// A curve as it would be if every visit had been where the rate is the mean one, and what explains it.
fn account(course: &Course<'_>, zones: &[Zones], curve: Curve) -> Account {
    let zones = zones.iter().find(|zones| zones.op == curve.op() && zones.is_zoned());
    let observations = zones.map_or_else(|| course.observations(curve), |zones| zones.at_mean(course, curve));
    Account::new(curve, observations, course.grain())
}

/// Reads say how fast a cluster is read.
fn bound_clusters(specifications: &mut [Specification]) {
    let read = specifications.iter().position(|of| of.curve == Curve::Random(Op::Read));
    if let Some(index) = read {
        let (throughput, read) = (specifications[index].throughput, index);
        for (_, of) in specifications.iter_mut().enumerate().filter(|(index, _)| *index != read) {
            of.bound_cluster(throughput);
        }
    }
}

/// How many times as much the deepest queue does as one at a time.
fn gain_by_depth(accounts: &[Account], op: Op) -> Option<f64> {
    let account = accounts.iter().find(|of| of.curve == Curve::Depth(op))?;
    let (first, last) = (account.observations.first()?, account.observations.last()?);
    (last.point.depth > first.point.depth).then(|| first.ns / last.ns)
}

/// Where was measured, as far as that limits what is said.
fn with_ground(verdict: Verdict, ground: &Ground) -> Verdict {
    if ground.is_part {
        verdict.caveat(format!(
            "the drive was empty: {} were written and measured, of {}",
            amount(ground.region.end),
            amount(ground.span)
        ))
    } else if !ground.is_known {
        verdict.caveat("what was never written may be answered without reading any flash: an empty drive looks faster than it is")
    } else {
        verdict
    }
}
