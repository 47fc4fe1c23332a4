//! The procedure `check`: measures a drive, compares it, and says whether it is slow, why, and what fixes it.

mod answers;
mod baseline_file;
mod check_options;
mod experiment;
mod references;
mod results;
mod tables;
mod upgrade;
mod wording;

use std::cell::OnceCell;

use likenew_core::drive::TargetKind;
use likenew_core::facts::{Facts, FactsDelta};
use likenew_core::findings::Findings;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Place, Procedure, Step, Steps};
use likenew_diagnosis::{
    Case, Diagnosis, EvidenceItem, Indicator, Measured, Measurements, Reference, Site, diagnose,
};

use likenew_measuring::commits::Commits;
use likenew_stats::peers::AmongPeers;

use crate::kin::{self, Kin};
use crate::site::{add_failed_ios, add_table, has_failed, site};
use answers::Answers;
use experiment::Experiment;
use results::CheckResults;

pub(crate) use answers::harmful_causes;
pub use answers::problems;
pub use baseline_file::{BaselineFile, DriveModel};
pub use check_options::{
    CatalogMatch, CheckOptions, IndicatorOption, MeasuredOption, PeersOption, ReferenceOption,
};
pub use likenew_diagnosis::{Metric, Origin};
pub use references::{CheckHistory, CheckMetrics, RatedMetric, RatedMetrics};
pub use upgrade::{DriveOption, MixOption, RecordingOption, Role, UpgradeOptions, Waits};
pub use wording::among_peers;

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
    /// Whether the check belongs to a repair. It then skips continued sequential writes, which on a small
    /// drive restore what they measure, and durable writes, which no step restores.
    pub(crate) is_of_repair: bool,
}

impl Check {
    /// From the settings of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        CheckOptions::from_table(table).map(|options| Self { options, is_of_repair: false })
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: CheckOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options, is_of_repair: false })
    }

    /// Follows the check from its first step: what it measured, and whether it ended early. `before` is where
    /// it begins among the steps of the run.
    pub(crate) fn follow<'a>(
        &self,
        steps: &mut Steps<'a>,
        before: Place,
    ) -> (CheckResults<'a>, Result<(), Ended>) {
        Experiment::follow(&self.options, steps, before, self.is_of_repair)
    }

    /// Diagnoses what the check measured.
    pub(crate) fn diagnose<'a>(&'a self, results: CheckResults<'a>) -> DiagnosedCheck<'a> {
        DiagnosedCheck::new(&self.options, results)
    }

    /// Most bytes that a check writes beyond its dry run because of what this step finds.
    fn beyond_dry_run(&self, evidence: &Evidence, step: &Step) -> u64 {
        match step {
            Step::Run(workload) if workload.name == wording::workload_names::WRITES => {
                experiment::bytes_beyond_dry_run(&self.options, evidence)
            }
            _ => 0,
        }
    }

    /// The outcome of every piece of evidence, for fitting weights.
    pub fn evidence_items(&self, evidence: &Evidence) -> Vec<(&'static str, EvidenceItem)> {
        let (results, _) = self.follow(&mut Steps::recorded(evidence), Place::default());
        likenew_diagnosis::evidence(&self.diagnose(results).case())
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
        let bytes_of =
            |step: &Step| Some(step.bytes_written_max()?.saturating_add(self.beyond_dry_run(evidence, step)));
        planned.iter().try_fold(0u64, |sum, step| Some(sum.saturating_add(bytes_of(step)?)))
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let (results, _ended) = self.follow(steps, Place::default());
        Ok(steps.conclude(|_| self.diagnose(results).findings()))
    }
}

/// Second over first write speed of the same addresses, from which they were slow. Chosen: above the scatter of a check.
const REWRITTEN_FASTER: f64 = 1.15;
/// Probability, in 0..1, from which something is certain. Chosen: the usual 95%.
const SURE: f64 = 0.95;

/// A check, and what it shows.
pub(crate) struct DiagnosedCheck<'a> {
    options: &'a CheckOptions,
    pub(crate) results: CheckResults<'a>,
    measurements: OnceCell<Measurements>,
    facts: Option<&'a Facts>,
    /// What changed between the first and the last facts.
    delta: Option<FactsDelta>,
    references: Vec<Reference>,
    kin: Kin,
    normal: Vec<(Indicator, f64)>,
    site: Site<'a>,
    diagnosis: OnceCell<Diagnosis>,
}

impl<'a> DiagnosedCheck<'a> {
    fn new(options: &'a CheckOptions, results: CheckResults<'a>) -> Self {
        let all_facts: Vec<&Facts> =
            results.past.observations.iter().filter_map(|observation| observation.result.facts()).collect();
        let feasibility =
            results.past.observations.iter().find_map(|observation| observation.result.feasibility());
        let facts = all_facts.last().copied();
        let delta = match all_facts[..] {
            [first, .., last] => Some(last.since(first)),
            _ => None,
        };
        let kin = Kin::new(facts);
        Self {
            options,
            measurements: OnceCell::new(),
            facts,
            delta,
            references: references(options, &kin, facts),
            kin,
            normal: options.normal.iter().map(|normal| (normal.indicator, normal.value)).collect(),
            site: site(results.evidence, options.free, facts, feasibility),
            results,
            diagnosis: OnceCell::new(),
        }
    }

    pub(crate) fn case(&self) -> Case<'_> {
        Case {
            measurements: self.measurements(),
            facts: self.facts,
            delta: self.delta.as_ref().and_then(|delta| match delta.drives.as_slice() {
                [drive] => Some(drive),
                _ => None,
            }),
            references: &self.references,
            normal: &self.normal,
            firmware_fault: self
                .kin
                .fault
                .as_ref()
                .filter(|(fault, _)| fault.data_at_risk)
                .map(|(_, text)| &**text),
            site: Some(self.site),
        }
    }

    fn measurements(&self) -> &Measurements {
        self.measurements.get_or_init(|| {
            if self.options.from_outputs {
                results::reported_measurements(&self.options.measured)
            } else {
                self.results.measurements()
            }
        })
    }

    pub(crate) fn diagnosis(&self) -> &Diagnosis {
        self.diagnosis.get_or_init(|| diagnose(&self.case()))
    }

    /// The metric of the headline: the problem that fell farthest below its reference.
    pub(crate) fn worst_metric(&self) -> Option<Metric> {
        self.answers(&self.case()).worst_shortfall().map(|worst| worst.metric)
    }

    /// Sustained write speed that the closest reference gives, in bytes per second. A link or a class gives
    /// none, because it says nothing of this drive.
    pub(crate) fn sustained_goal(&self) -> Option<f64> {
        let measured = self.case().shortfall(Metric::SustainedWrite).map(|(_, reference)| reference);
        let references =
            self.references.iter().filter(|reference| reference.metric == Metric::SustainedWrite);
        let goal = measured.or_else(|| references.min_by_key(|reference| reference.origin).copied());
        goal.filter(|goal| goal.origin.is_of_this_drive()).map(|goal| goal.value)
    }

    /// How fast sustained writes are, in bytes per second.
    pub(crate) fn sustained_write(&self) -> Option<Measured> {
        self.measurements().metric(Metric::SustainedWrite)
    }

    /// Speed at which the same addresses are written again, in bytes per second; `None` unless certainly faster than at first.
    pub(crate) fn rewritten(&self) -> Option<Measured> {
        let gain = self.measurements().gain_by_writing();
        let gain = gain.filter(|gain| gain.chance_above(REWRITTEN_FASTER) >= SURE)?;
        Some(gain.scale_by(self.sustained_write()?.value))
    }

    /// Whether writes are certainly faster after TRIM.
    pub(crate) fn gains_by_trim(&self) -> bool {
        self.results.start_after_trim().is_some_and(|gain| gain.chance_above(REWRITTEN_FASTER) >= SURE)
    }

    /// Whether writing the same addresses again certainly gains nothing.
    pub(crate) fn gains_nothing_rewritten(&self) -> bool {
        let gain = self.measurements().gain_by_writing();
        gain.is_some_and(|gain| gain.chance_above(REWRITTEN_FASTER) <= 1.0 - SURE)
    }

    /// Metrics of writes that are certainly too slow: below the share `least` (0..1) of a baseline or a
    /// simulated new drive, or below what another reference calls healthy.
    pub(crate) fn slow_writes(&self, least: f64) -> Vec<Metric> {
        let case = self.case();
        let is_slow = |metric: &Metric| {
            case.shortfall(*metric).is_some_and(|(share, reference)| {
                let least = match reference.origin {
                    Origin::Baseline | Origin::Simulated => least,
                    _ => reference.share_least(),
                };
                share.high < least
            })
        };
        let writes = [Metric::SequentialWrite, Metric::SustainedWrite, Metric::RandomWrite];
        writes.into_iter().filter(is_slow).collect()
    }

    /// Whether the user gave the rated speeds.
    fn has_given_speeds(&self) -> bool {
        let is_rated = |reference: &ReferenceOption| reference.origin == Origin::Advertised;
        self.results.evidence.identity.kind != TargetKind::Simulated
            && self.options.references.iter().any(is_rated)
    }

    fn answers<'b>(&'b self, case: &'b Case<'_>) -> Answers<'b> {
        let CheckResults { evidence, ref past, .. } = self.results;
        let old = past.observations.iter().find_map(|observation| {
            match (&observation.probe, &observation.result) {
                (Probe::OldFiles, ProbeResult::OldFiles(old_files)) => Some(Ok(old_files)),
                (Probe::OldFiles, ProbeResult::Unknown(reason)) => Some(Err(reason.as_str())),
                _ => None,
            }
        });
        Answers {
            case,
            diagnosis: self.diagnosis(),
            options: self.options,
            kin: &self.kin,
            has_given_speeds: self.has_given_speeds(),
            old,
            not_written: self.options.obstacle(evidence).filter(|_| !self.options.from_outputs),
            commits: &self.results.commits,
            longest_stall: self.results.longest_stall(),
            pauses: self.results.pauses(),
        }
    }

    /// Whether I/Os of the check failed.
    pub(crate) fn has_failed(&self) -> bool {
        has_failed(self.results.past.segments.iter().copied())
    }

    pub(crate) fn findings(&self) -> Findings {
        if let Some(facts) =
            self.facts.filter(|_| self.options.from_outputs && self.options.measured.is_empty())
        {
            return crate::facts::judge_without_speed(facts);
        }
        let CheckResults { evidence, ref past, .. } = self.results;
        let segments = || past.segments.iter().copied();
        let (options, case, diagnosis) = (self.options, self.case(), self.diagnosis());
        let mut findings = self.answers(&case).findings();
        if self.has_failed() && !findings.found_problem() {
            // Failed I/Os become the summary; beside them, speeds are no news.
            findings.summary.clear();
        }
        add_failed_ios(evidence, segments(), &mut findings);
        tables::put(&case, diagnosis, &mut findings);
        tables::put_shares(&case, options.files.as_ref(), self.has_given_speeds(), &mut findings);
        add_table(&mut findings, "commits", self.results.commits.iter().map(Commits::row));
        tables::draw(&self.results, &mut findings);
        tables::show_drop(diagnosis, &mut findings);
        if let Some(facts) = self.facts.filter(|_| options.from_outputs) {
            let beside = crate::facts::judge_beside_speed(facts);
            let shown = [crate::facts::REMARKS, crate::facts::NOT_SHOWN];
            let is_there = |id: &&str| beside.iter().any(|answer| answer.id == **id);
            findings.overview.answers.extend(shown.iter().copied().filter(is_there).map(str::to_owned));
            findings.answers.extend(beside);
        }
        if let Some(upgrade) = &options.upgrade {
            upgrade.judge(&past.segments, answers::first_fix(diagnosis), &mut findings);
            let reads = case.measurements.metric(Metric::SequentialRead);
            let capacity = case.drive().and_then(|drive| drive.identity.capacity_bytes.get());
            let classes = kin::classes_to_buy(capacity.unwrap_or(evidence.geometry.capacity));
            findings.answers.extend(reads.and_then(|reads| wording::rated_classes(reads.value, &classes)));
        }
        findings
    }
}

/// The references of the plan and the speed of the drive's link. What is known of similar drives adds what
/// the plan does not give.
fn references(options: &CheckOptions, kin: &Kin, facts: Option<&Facts>) -> Vec<Reference> {
    let mut references = options.references();
    for reference in references.iter_mut().filter(|reference| reference.origin == Origin::OtherDrive) {
        reference.least = kin.share_of_other_place();
    }
    references.extend(options.peers.iter().filter_map(|peers| {
        let among = AmongPeers::new(1.0, &peers.per_s)?;
        let least = Some(among.least?);
        Some(Reference { least, ..Reference::new(peers.metric, Origin::Peers, among.median) })
    }));
    let mut known = kin.references();
    known.retain(|reference| {
        references.iter().all(|given| (given.metric, given.origin) != (reference.metric, reference.origin))
    });
    references.extend(known);
    let ceiling = facts.and_then(|facts| match facts.drives.as_slice() {
        [drive] => drive.link.ceiling_bytes_per_s.get(),
        _ => None,
    });
    if let Some(ceiling) = ceiling.filter(|ceiling| *ceiling > 0) {
        let to_reference = |metric| Reference::new(metric, Origin::Link, ceiling as f64);
        references.extend([Metric::SequentialRead, Metric::SequentialWrite].map(to_reference));
    }
    references
}
