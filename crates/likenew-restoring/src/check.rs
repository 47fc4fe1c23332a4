//! The procedure `check`: measures a drive, compares it, and says whether it is slow, why, and what fixes it.

mod answers;
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
use likenew_core::region::Region;
use likenew_core::units::size_text;
use likenew_diagnosis::{
    Case, Diagnosis, EvidenceItem, Indicator, Measured, Measurements, Reference, Site, diagnose,
};
use likenew_measuring::commits::Commits;
use likenew_measuring::data::files::FileScan;
use likenew_procedure_support::options::options;
use likenew_stats::peers::AmongPeers;
use serde::{Deserialize, Serialize};
use serde_with::apply;

use crate::site::{add_failed_ios, add_table, has_failed, is_default, site};
use answers::Answers;
use experiment::Experiment;
use references::{Kin, classes_to_buy};
use results::CheckResults;
use wording::error;

pub(crate) use answers::harmful_causes;
pub use answers::problems;
pub use likenew_diagnosis::{Metric, Origin};
pub use references::{BaselineFile, CheckHistory, CheckMetrics, DriveModel, RatedMetric, RatedMetrics};
pub use upgrade::{DriveOption, MixOption, RecordingOption, Role, UpgradeOptions, Waits};
pub use wording::among_peers;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "check",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("check.md"),
};

/// The settings of a check.
#[apply(_ => #[serde(skip_serializing_if = "is_default")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckOptions {
    /// Most bytes to write; 0 for none.
    #[serde(with = "size_text::optional")]
    pub bytes: Option<u64>,
    /// Whether the check may take minutes and write tens of gigabytes, which some causes need.
    pub thorough: bool,
    /// Region of a simulated drive without files of the owner.
    pub free: Option<Region>,
    /// Date and time of the baseline, if there is one.
    pub baseline_date: Option<String>,
    /// Date of the check of another drive of the model, if it is compared with one.
    pub other_drive_date: Option<String>,
    /// Whether the drive is on another machine, known only by outputs of programs.
    pub from_outputs: bool,
    /// Metrics that programs on that machine measured.
    pub measured: Vec<MeasuredOption>,
    /// What other drives of the model reach.
    pub peers: Vec<PeersOption>,
    /// The references of metrics.
    #[serde(rename = "reference")]
    pub references: Vec<ReferenceOption>,
    /// The catalog entry of a real drive.
    pub catalog_match: Option<CatalogMatch>,
    /// The normal value of each indicator.
    pub normal: Vec<IndicatorOption>,
    /// Contents of the user's files, from a scan.
    pub files: Option<FileScan>,
    /// Whether a new drive is worth it.
    pub upgrade: Option<UpgradeOptions>,
}

/// The catalog entry that matches a real drive's model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogMatch {
    /// The model that the drive reports.
    pub model: String,
    /// The name of the entry.
    pub entry: String,
}

/// A metric that another program measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredOption {
    /// Which metric.
    pub metric: Metric,
    /// In bytes a second; for small I/Os in IOPS.
    pub per_s: f64,
}

/// A metric of other drives of the same model, each by its latest check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeersOption {
    /// Which metric.
    pub metric: Metric,
    /// In bytes a second; for small I/Os in IOPS.
    pub per_s: Vec<f64>,
}

/// The normal value of an indicator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndicatorOption {
    /// Which indicator.
    pub indicator: Indicator,
    /// Its normal value.
    pub value: f64,
}

/// The reference of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceOption {
    /// Which metric.
    pub metric: Metric,
    /// Its origin.
    pub origin: Origin,
    /// In bytes a second; for small I/Os in IOPS.
    pub per_s: f64,
    /// How much it varies between checks of an unchanged drive: standard deviation of its logarithm.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeatability: f64,
}

impl CheckOptions {
    /// Default limit of bytes written.
    pub const BYTES: u64 = 2 << 30;
    /// Default limit of bytes written by a thorough check.
    pub const BYTES_THOROUGH: u64 = 64 << 30;
    /// Sequential writes get one in so many of the allowed bytes; the rest is for writing parts of the area
    /// again.
    pub const PARTS: u64 = 4;
    /// Smallest area that shows anything, in bytes.
    pub const AREA_LEAST: u64 = 32 << 20;
    /// Fewest allowed bytes with which writes show anything.
    pub const BYTES_LEAST: u64 = Self::AREA_LEAST * Self::PARTS;
    /// Smallest read-only target that shows anything, in bytes, because regions of a smaller one would overlap.
    pub const READABLE_LEAST: u64 = 16 << 20;
    /// The area is a multiple of this.
    pub const AREA_STEP: u64 = 4 << 20;

    /// From the settings of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_table(table: &toml::Table) -> Result<Self, String> {
        let parsed: Self = options("check", table)?;
        parsed.check().map(|()| parsed)
    }

    /// Whether these settings make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(crate) fn check(&self) -> Result<(), String> {
        let is_wrong = |value: f64| !(value.is_finite() && value > 0.0);
        if let Some(reference) = self.references.iter().find(|reference| is_wrong(reference.per_s)) {
            return Err(error::above_zero("reference.per_s", reference.per_s));
        }
        let mut repeatabilities = self.references.iter().map(|reference| reference.repeatability);
        if let Some(wrong) = repeatabilities.find(|value| !(value.is_finite() && *value >= 0.0)) {
            return Err(error::not_negative("reference.repeatability", wrong));
        }
        let peers = self.peers.iter().flat_map(|peers| &peers.per_s).map(|per_s| ("peers.per_s", *per_s));
        let measured = self.measured.iter().map(|measured| ("measured.per_s", measured.per_s));
        let normal = self.normal.iter().map(|normal| ("normal.value", normal.value));
        if let Some((setting, value)) =
            peers.chain(measured).chain(normal).find(|(_, value)| is_wrong(*value))
        {
            return Err(error::above_zero(setting, value));
        }
        self.files.as_ref().map_or(Ok(()), FileScan::check)?;
        self.upgrade.as_ref().map_or(Ok(()), UpgradeOptions::check)
    }

    /// Most bytes to write.
    pub fn budget(&self) -> u64 {
        self.bytes.unwrap_or(if self.thorough { Self::BYTES_THOROUGH } else { Self::BYTES })
    }

    /// The limit of bytes that this metric depends on: sustained writes are a different test with fewer bytes.
    pub fn bytes_of(&self, metric: Metric) -> Option<u64> {
        (metric == Metric::SustainedWrite).then(|| self.budget())
    }

    /// Bytes to write sequentially on a drive with this many writable bytes.
    pub fn area(&self, writable_bytes: u64) -> u64 {
        self.area_within(writable_bytes / 2)
    }

    /// Bytes to write sequentially on the open drive; in a folder, the size of its temporary files.
    fn area_of(&self, evidence: &Evidence) -> u64 {
        let capacity = evidence.geometry.capacity;
        match evidence.identity.kind {
            TargetKind::Folder => self.area_within(capacity),
            _ => self.area(capacity),
        }
    }

    fn area_within(&self, most: u64) -> u64 {
        let area = (self.budget() / Self::PARTS).min(most);
        area - area % Self::AREA_STEP
    }

    /// Why writes are not tested, if they are not.
    fn obstacle(&self, evidence: &Evidence) -> Option<String> {
        let area = self.area_of(evidence);
        if !evidence.geometry.writable {
            Some(wording::read_only())
        } else if area < Self::AREA_LEAST {
            Some(wording::too_small(area, Self::AREA_LEAST))
        } else {
            None
        }
    }

    /// The references of metrics in the plan.
    fn references(&self) -> Vec<Reference> {
        let reference = |option: &ReferenceOption| {
            let ReferenceOption { metric, origin, per_s, repeatability } = *option;
            Reference { repeatability, ..Reference::new(metric, origin, per_s) }
        };
        self.references.iter().map(reference).collect()
    }
}

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
        // The first writes may find something that makes a check write more than its dry run.
        let beyond = |step: &Step| match step {
            Step::Run(workload) if workload.name == wording::workload_names::WRITES => {
                experiment::bytes_beyond_dry_run(&self.options, evidence)
            }
            _ => 0,
        };
        let bytes_of = |step: &Step| Some(step.bytes_written_max()?.saturating_add(beyond(step)));
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
    measurements: Measurements,
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
        let probed = || results.past.observations.iter().map(|observation| &observation.result);
        let feasibility = probed().find_map(ProbeResult::feasibility);
        let all_facts: Vec<&Facts> = probed().filter_map(ProbeResult::facts).collect();
        let facts = all_facts.last().copied();
        let delta = match all_facts[..] {
            [first, .., last] => Some(last.since(first)),
            _ => None,
        };
        let kin = Kin::new(facts);
        let measurements = if options.from_outputs {
            results::reported_measurements(&options.measured)
        } else {
            results.measurements()
        };
        Self {
            options,
            measurements,
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
        let fault = self.kin.fault.as_ref().filter(|(fault, _)| fault.data_at_risk);
        Case {
            measurements: &self.measurements,
            facts: self.facts,
            delta: self.delta.as_ref().filter(|delta| delta.drives.len() == 1).map(|delta| &delta.drives[0]),
            references: &self.references,
            normal: &self.normal,
            firmware_fault: fault.map(|(_, text)| &**text),
            site: Some(self.site),
        }
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
        self.measurements.metric(Metric::SustainedWrite)
    }

    /// Speed at which the same addresses are written again, in bytes per second; `None` unless certainly faster than at first.
    pub(crate) fn rewritten(&self) -> Option<Measured> {
        let gain = self.measurements.gain_by_writing();
        let gain = gain.filter(|gain| gain.chance_above(REWRITTEN_FASTER) >= SURE)?;
        Some(gain.scale_by(self.sustained_write()?.value))
    }

    /// Whether writes are faster after TRIM of what the check wrote; `None` if that was not measured, or is unclear.
    pub(crate) fn gains_by_trim(&self) -> Option<bool> {
        let chance = self.results.start_after_trim()?.chance_above(REWRITTEN_FASTER);
        let is_clear = chance >= SURE || chance <= 1.0 - SURE;
        is_clear.then(|| chance >= SURE && !self.results.trim_undoes_check())
    }

    /// Whether writing the same addresses again certainly gains nothing.
    pub(crate) fn gains_nothing_rewritten(&self) -> bool {
        let gain = self.measurements.gain_by_writing();
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
            let classes = classes_to_buy(capacity.unwrap_or(evidence.geometry.capacity));
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
