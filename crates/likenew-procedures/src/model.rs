//! What explains a drive: access time, throughput, partial clusters, zones, memory and parallelism, fitted to what was measured.

mod burst;
mod clusters;
mod curve_fit;
mod form;
mod measured_region;
mod model_options;
mod noise;
mod pictures;
mod point;
mod points;
mod specifications;
mod visit;
mod workload_plan;
mod zones;

use likenew_core::io::Op;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::units::amount;
use likenew_core::verdict::{Findings, Standing, Verdict};
use likenew_core::workload::Workload;

use crate::options::options;
use crate::refusals::refusals;
use crate::rows::row;
use curve_fit::CurveFit;
use form::Form;
use measured_region::MeasuredRegion;
pub use measured_region::STEP as SPAN_STEP;
pub use model_options::{ModelOptions, SPAN_OF_FOLDER};
use point::Curve;
use specifications::Specification;
use workload_plan::WorkloadPlan;
use zones::Zones;

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
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
        let region = match MeasuredRegion::choose(&self.options, evidence)? {
            Err(first) => return Ok(Some(first)),
            Ok(region) => region,
        };
        let workload_plan = WorkloadPlan::new(&self.options, evidence, &region);
        let next = workload_plan.next();
        let writes = self.options.includes(Op::Write, evidence.geometry.writable);
        Ok(next.or_else(|| writes.then(|| burst::next(&self.options, evidence, &region)).flatten()))
    }
}

impl Procedure for Model {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span.unwrap_or(SPAN_OF_FOLDER) }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        if self.options.includes(Op::Write, evidence.geometry.writable) && !evidence.geometry.writable {
            return Err(
                "it would write, and this target may only be read: add --op read, or give a folder".into()
            );
        }
        let seed = evidence.plan.seed_of(evidence.segments.len());
        let workload = self.workload(evidence)?;
        Ok(workload.map_or(Step::Done, |workload| Step::Run(Workload { seed, ..workload })))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let mut findings = Findings::default();
        findings.verdicts.extend(refusals(&evidence.segments));
        let Ok(Ok(region)) = MeasuredRegion::choose(&self.options, evidence) else { return findings };
        let workload_plan = WorkloadPlan::new(&self.options, evidence, &region);
        let zones = zones(&workload_plan);
        let accounts: Vec<CurveFit> = workload_plan
            .curves()
            .into_iter()
            .map(|curve| curve_fit(&workload_plan, &zones, curve))
            .collect();
        let mut specifications: Vec<Specification> = accounts
            .iter()
            .filter(|of| !matches!(of.curve, Curve::Depth(_)))
            .filter_map(|curve_fit| Specification::from_curve_fit(curve_fit, &self.options))
            .collect();
        bound_clusters(&mut specifications);
        let bursts = burst::bursts(evidence);
        let random = |of: &&Specification| matches!(of.curve, Curve::Random(_));
        let summary = specifications.iter().filter(random).map(|of| with_region(of.verdict(), &region));
        let mut verdicts: Vec<Verdict> = summary.collect();
        verdicts.extend(specifications.iter().filter_map(Specification::penalty_verdict));
        verdicts.extend(accounts.iter().filter_map(CurveFit::verdict));
        verdicts.extend(zones.iter().filter_map(Zones::verdict));
        verdicts.extend(burst::verdict(&bursts, gain_by_depth(&accounts, Op::Write)));
        let noise = noise::verdict(&workload_plan, evidence);
        if noise.as_ref().is_some_and(|noise| noise.standing == Standing::Fails) {
            verdicts = verdicts.into_iter().map(noise::in_doubt).collect();
        }
        findings.verdicts.extend(verdicts);
        findings.verdicts.extend(noise);
        findings.tables.insert("fit".into(), specifications.iter().map(|of| row(of.row())).collect());
        findings.tables.insert("models".into(), accounts.iter().flat_map(CurveFit::rows).map(row).collect());
        if !bursts.is_empty() {
            let rows = bursts.iter().enumerate().map(|(pass, of)| row(of.row(pass + 1)));
            findings.tables.insert("bursts".into(), rows.collect());
        }
        findings.tables.insert("points".into(), points::rows(&workload_plan, &accounts).map(row).collect());
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
fn zones(workload_plan: &WorkloadPlan<'_>) -> Vec<Zones> {
    let random = workload_plan.curves().into_iter().filter(|curve| matches!(curve, Curve::Random(_)));
    let of = random.filter_map(|curve| {
        let plain = Form::Plain.fit(&workload_plan.data_points(curve), workload_plan.grain())?;
        Zones::from_visits(curve.op(), workload_plan, plain.coefficient(0).0)
    });
    of.collect()
}

/// A curve as it would be if every visit had been where the rate is the mean one, and what explains it.
fn curve_fit(workload_plan: &WorkloadPlan<'_>, zones: &[Zones], curve: Curve) -> CurveFit {
    let zones = zones.iter().find(|zones| zones.op == curve.op() && zones.is_zoned());
    let data_points =
        zones.map_or_else(|| workload_plan.data_points(curve), |zones| zones.at_mean(workload_plan, curve));
    CurveFit::new(curve, data_points, workload_plan.grain())
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
fn gain_by_depth(accounts: &[CurveFit], op: Op) -> Option<f64> {
    let curve_fit = accounts.iter().find(|of| of.curve == Curve::Depth(op))?;
    let (first, last) = (curve_fit.data_points.first()?, curve_fit.data_points.last()?);
    (last.point.depth > first.point.depth).then(|| first.ns / last.ns)
}

/// Where was measured, as far as that limits what is said.
fn with_region(verdict: Verdict, region: &MeasuredRegion) -> Verdict {
    if region.is_part {
        verdict.caveat(format!(
            "the drive was empty: {} were written and measured, of {}",
            amount(region.region.end),
            amount(region.span)
        ))
    } else if !region.is_known {
        verdict.caveat("what was never written may be answered without reading any flash: an empty drive looks faster than it is")
    } else {
        verdict
    }
}
