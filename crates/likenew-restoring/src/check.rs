//! Is the drive slow, compared with what, why, and what fixes it?

mod answers;
mod check_options;
mod history;
mod rated_metric;
mod reading;
mod results;
mod shares;
mod tables;
mod upgrade;
mod wording;
mod workload_plan;
mod writing;

use std::borrow::Cow;

use likenew_core::drive::Kind;
use likenew_core::facts::Facts;
use likenew_core::findings::Findings;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_diagnosis::{Case, Diagnosis, EvidenceItem, Indicator, Measured, Reference, Site, diagnose};

use crate::site::{add_failed_ios, has_failed, site};
use answers::Answers;
use results::CheckResults;
use wording::workload_names::WRITES;
use workload_plan::WorkloadPlan;

pub(crate) use answers::harmful_causes;
pub use answers::problems;
pub use check_options::{CatalogMatch, CheckOptions, IndicatorOption, ReferenceOption};
pub use history::{CheckHistory, CheckMetrics};
pub use likenew_diagnosis::{Metric, Origin};
pub use rated_metric::{RatedMetric, RatedMetrics};
pub use upgrade::{DriveOption, MixOption, RecordingOption, Role, UpgradeOptions, Waits};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "check",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("check.md"),
};

/// The procedure.
pub struct Check {
    options: CheckOptions,
    /// Whether sequential writes continue until they show how fast sustained writes are. Not before a repair, which on a small drive
    /// would take what they have just restored for fast.
    pub(crate) continues_writes: bool,
}

impl Check {
    /// From the settings of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        CheckOptions::from_table(table).map(|options| Self { options, continues_writes: true })
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: CheckOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options, continues_writes: true })
    }

    fn references(&self, facts: Option<&Facts>) -> Vec<Reference> {
        let mut references = self.options.references();
        let ceiling = facts.and_then(|facts| match facts.drives.as_slice() {
            [drive] => drive.link.ceiling_bytes_per_s.get(),
            _ => None,
        });
        if let Some(ceiling) = ceiling.filter(|ceiling| *ceiling > 0) {
            let of = |metric| Reference {
                metric,
                origin: Origin::Link,
                value: ceiling as f64,
                repeatability: 0.0,
            };
            references.extend([Metric::SequentialRead, Metric::SequentialWrite].map(of));
        }
        references
    }
}

impl Check {
    /// The evidence that belongs to the diagnosis.
    fn without_mix<'a>(&self, evidence: &'a Evidence) -> Cow<'a, Evidence> {
        if self.options.upgrade.as_ref().is_none_or(|upgrade| upgrade.mix.is_none()) {
            return Cow::Borrowed(evidence);
        }
        let mut without_mix = evidence.clone();
        without_mix.segments.retain(|segment| !MixOption::is_part(segment));
        Cow::Owned(without_mix)
    }
}

impl Procedure for Check {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    /// One file that is written sequentially and then in part again.
    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.area(u64::MAX).max(CheckOptions::AREA_STEP) }
    }

    fn bytes_written_max(&self, evidence: &Evidence, planned: &[Step]) -> Option<u64> {
        let step =
            |step: &Step| Some(step.bytes_written_max()?.saturating_add(self.beyond_dry_run(evidence, step)));
        planned.iter().try_fold(0u64, |sum, of| Some(sum.saturating_add(step(of)?)))
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let mut plan = WorkloadPlan::new(&self.options, evidence);
        plan.continues_writes = self.continues_writes;
        let step = plan.next();
        Ok(match step {
            Step::Run(mut workload) => {
                workload.seed = evidence.plan.seed_of(evidence.segments.len());
                Step::Run(workload)
            }
            other => other,
        })
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let without_mix = self.without_mix(evidence);
        self.with_diagnosis(&without_mix, |case, diagnosis| {
            self.findings(evidence, &without_mix, case, diagnosis)
        })
    }
}

/// Speed of writing places again over their first writes, from which the places were slow. Chosen: above the scatter of a check.
const REWRITTEN_FASTER: f64 = 1.15;
/// Probability, in 0..1, from which that is certain. Chosen: the usual 95%.
const SURE: f64 = 0.95;

impl Check {
    /// Most bytes that are written because of what a step finds, beyond a dry run.
    pub(crate) fn beyond_dry_run(&self, evidence: &Evidence, step: &Step) -> u64 {
        match step {
            Step::Run(workload) if workload.name == WRITES => {
                WorkloadPlan::new(&self.options, evidence).bytes_beyond_dry_run()
            }
            _ => 0,
        }
    }

    /// The site that fixes are applied to.
    fn site<'a>(&self, evidence: &'a Evidence, facts: Option<&'a Facts>) -> Site<'a> {
        let feasibility = evidence.observations.iter().find_map(|observation| match &observation.result {
            ProbeResult::Feasibility(feasibility) => Some(feasibility),
            _ => None,
        });
        site(evidence, self.options.free, facts, feasibility)
    }

    /// The diagnosis of a check's evidence, for procedures that need more than its findings.
    pub(crate) fn with_diagnosis<R>(
        &self,
        evidence: &Evidence,
        say: impl FnOnce(&Case<'_>, &Diagnosis) -> R,
    ) -> R {
        let facts: Vec<&Facts> = evidence
            .observations
            .iter()
            .filter_map(|observation| match &observation.result {
                ProbeResult::Facts(facts) => Some(&**facts),
                _ => None,
            })
            .collect();
        let (first, last) = (facts.first().copied(), facts.last().copied());
        let delta = first.zip(last).filter(|_| facts.len() > 1).map(|(first, last)| last.since(first));
        let delta = delta.as_ref().and_then(|delta| match delta.drives.as_slice() {
            [drive] => Some(drive),
            _ => None,
        });
        let measurements = CheckResults::new(evidence).measurements();
        let references = self.references(last);
        let normal: Vec<(Indicator, f64)> =
            self.options.normal.iter().map(|of| (of.indicator, of.value)).collect();
        let site = Some(self.site(evidence, last));
        let case = Case {
            measurements: &measurements,
            facts: last,
            delta,
            references: &references,
            normal: &normal,
            site,
        };
        say(&case, &diagnose(&case))
    }

    /// The outcome of every piece of evidence, for fitting weights.
    pub fn evidence_items(&self, evidence: &Evidence) -> Vec<(&'static str, EvidenceItem)> {
        self.with_diagnosis(evidence, |case, _| likenew_diagnosis::evidence(case))
    }

    /// The metric that heads the answers: of those that are a problem, the one that fell farthest.
    pub(crate) fn worst_metric(&self, evidence: &Evidence) -> Option<Metric> {
        self.with_diagnosis(evidence, answers::worst_metric)
    }

    /// How fast existing data is read sequentially, in bytes a second: old files of a folder, all regions of other
    /// targets.
    pub(crate) fn old_data(&self, evidence: &Evidence) -> Option<Measured> {
        CheckResults::new(evidence).old_data()
    }

    /// How fast new data is read sequentially, in bytes a second.
    pub(crate) fn fresh_data(&self, evidence: &Evidence) -> Option<f64> {
        CheckResults::new(evidence).fresh_data()
    }

    /// Sustained write speed by the closest reference, in bytes per second; the link is none, as it says nothing of the
    /// drive.
    pub(crate) fn sustained_goal(&self, evidence: &Evidence) -> Option<f64> {
        self.with_diagnosis(evidence, |case, _| {
            let measured = case.shortfall(Metric::SustainedWrite).map(|(_, reference)| reference);
            let all = case.references.iter().filter(|of| of.metric == Metric::SustainedWrite);
            let goal = measured.or_else(|| all.min_by_key(|of| of.origin).copied());
            goal.filter(|of| of.origin != Origin::Link).map(|of| of.value)
        })
    }

    /// How fast sustained writes are, in bytes per second.
    pub(crate) fn sustained_write(&self, evidence: &Evidence) -> Option<Measured> {
        CheckResults::new(evidence).measurements().metric(Metric::SustainedWrite)
    }

    /// How fast places were written again, in bytes per second, if that is certainly faster than their first writes.
    pub(crate) fn rewritten(&self, evidence: &Evidence) -> Option<Measured> {
        let measurements = CheckResults::new(evidence).measurements();
        let gain =
            measurements.gain_by_writing().filter(|gain| gain.chance_above(REWRITTEN_FASTER) >= SURE)?;
        Some(gain.scale_by(measurements.metric(Metric::SustainedWrite)?.value))
    }

    /// Whether writing places again has certainly shown nothing to gain.
    pub(crate) fn gains_nothing_rewritten(&self, evidence: &Evidence) -> bool {
        let gain = CheckResults::new(evidence).measurements().gain_by_writing();
        gain.is_some_and(|gain| gain.chance_above(REWRITTEN_FASTER) <= 1.0 - SURE)
    }

    /// Metrics of writes that are certainly slower than they should be: than `least` of what this drive reached
    /// before or reaches when new (a share in 0..1), or, by any other reference, than is healthy.
    pub(crate) fn slow_writes(&self, evidence: &Evidence, least: f64) -> Vec<Metric> {
        let writes = [Metric::SequentialWrite, Metric::SustainedWrite, Metric::RandomWrite];
        let is_slow = |case: &Case<'_>, metric: Metric| {
            case.shortfall(metric).is_some_and(|(share, reference)| {
                let least = match reference.origin {
                    Origin::Baseline | Origin::Simulated => least,
                    Origin::Advertised | Origin::SimulatedModel | Origin::Link => {
                        reference.origin.share_least()
                    }
                };
                share.high < least
            })
        };
        self.with_diagnosis(evidence, |case, _| {
            writes.into_iter().filter(|metric| is_slow(case, *metric)).collect()
        })
    }

    /// Latency of 4 KiB random reads of new data at QD1, in nanoseconds.
    pub(crate) fn fresh_small_ns(&self, evidence: &Evidence) -> Option<f64> {
        CheckResults::new(evidence).fresh_small_ns()
    }

    /// Whether rated speeds are those that the user named, and not those of a catalog entry.
    fn has_given_speeds(&self, evidence: &Evidence) -> bool {
        let is_of_catalog =
            self.options.catalog_match.as_ref().is_some_and(|entry| entry.advertised_by.is_some());
        evidence.identity.kind != Kind::Simulated && !is_of_catalog
    }

    fn findings(
        &self,
        evidence: &Evidence,
        without_mix: &Evidence,
        case: &Case<'_>,
        diagnosis: &Diagnosis,
    ) -> Findings {
        let old = evidence.observations.iter().find_map(|observation| {
            match (&observation.probe, &observation.result) {
                (Probe::OldFiles, ProbeResult::OldFiles(found)) => Some(Ok(found)),
                (Probe::OldFiles, ProbeResult::Unknown(reason)) => Some(Err(reason.as_str())),
                _ => None,
            }
        });
        let not_written = self.options.obstacle(evidence);
        let measured = CheckResults::new(without_mix);
        let answers = Answers {
            case,
            diagnosis,
            baseline_date: self.options.baseline_date.as_deref(),
            catalog_match: self.options.catalog_match.as_ref(),
            old,
            not_written: not_written.as_deref(),
            is_thorough: self.options.thorough,
            longest_stall: measured.longest_stall(),
            pauses: measured.pauses(),
        };
        let mut findings = answers.findings();
        if has_failed(evidence) && !findings.found_problem() {
            // Failed I/Os become the summary; beside them, speeds are no news.
            findings.summary.clear();
        }
        add_failed_ios(evidence, &mut findings);
        tables::put(case, diagnosis, &mut findings);
        shares::put(case, self.options.files.as_ref(), self.has_given_speeds(evidence), &mut findings);
        tables::draw(&measured, without_mix, &mut findings);
        if let Some(upgrade) = &self.options.upgrade {
            upgrade.judge(&evidence.segments, answers::first_fix(diagnosis), &mut findings);
        }
        findings
    }
}
