//! One drive that is checked when new, checked as it is, and reconditioned.

use anyhow::Context as _;
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::findings::{Findings, Row};
use likenew_core::region::Region;
use likenew_core::units::Nanos;
use likenew_procedures::check::{CheckMetrics, CheckOptions, Metric, Origin, ReferenceOption};
use likenew_procedures::recondition::{ReconditionOptions, StepName};
use likenew_sim::generator::Family;
use likenew_sim::truth::causes;
use likenew_sim::{SimDrive, Spec};

use crate::case_run::{ask, no_files};

/// A drive is restored from this share on (goal of the project) of new, or of what it reaches when new and
/// rewritten, if that is less. No step that keeps data brings back what erased spare blocks give on the first
/// day.
const RESTORED: f64 = 0.97;
/// A drive that writes faster than this share of new has not fallen: there is nothing to restore.
const FALLEN: f64 = 0.9;
/// A check may write one part in this many of the drive, so that it does not restore what it measures.
const CHECK_PART: u64 = 4;
/// Least that a check may write, in bytes; its limit is a multiple of this.
const CHECK_BYTES_MIN: u64 = CheckOptions::BYTES_LEAST;
/// Idle time after a step. Chosen: longer than firmware waits before garbage collection.
const IDLE: Nanos = Nanos::from_secs(10);

/// What happened to a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Its mapping is out of order, which TRIM or rewriting undoes.
    Fixable,
    /// It is slow for a reason that lies outside of its data.
    Unfixable,
}

/// Uses that leave a drive without free blocks: the first holds only files, on the second many were deleted.
const FIXABLE: [&str; 2] = ["state=used&trim=off", "state=used&fill=0.95&deleted=0.4"];
/// Situations with a cause outside of the mapping, and its name.
const UNFIXABLE: [(&str, &str); 7] = [
    ("link=usb2", "slow_usb"),
    ("throttle=0.2", "heat"),
    ("crypt=20MB/s", "encryption"),
    ("wear=0.95", "worn_out"),
    ("firmware=500ms", "firmware"),
    ("crc=100", "link_errors"),
    ("busy=200", "background_io"),
];

impl Use {
    /// The target after such a use, chosen by the seed. `None` if no such cause can be at work on it.
    pub(super) fn target(self, drive: &str, seed: u64) -> Option<String> {
        match self {
            Self::Fixable => Some(format!("{drive}?{}", FIXABLE[(seed / 3) as usize % FIXABLE.len()])),
            Self::Unfixable => (0..UNFIXABLE.len()).find_map(|index| {
                let (setting, cause) = UNFIXABLE[(seed as usize + index) % UNFIXABLE.len()];
                let target = format!("{drive}?state=new&fill=0.6&{setting}");
                let spec = Spec::parse(&target).ok()?;
                let model = spec.model(no_files).ok()?;
                spec.explain(no_files).ok()?;
                causes(&spec, &model).contains(&cause).then_some(target)
            }),
        }
    }
}

/// A drive that was reconditioned.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) target: String,
    pub(super) family: Family,
    pub(super) usage: Use,
    capacity: u64,
    /// Share of new of each metric of writes, before and after.
    pub(super) writes: Vec<WriteShare>,
    /// Whether a step is said to have helped.
    pub(super) helped: bool,
    /// Steps that were run.
    pub(super) steps: Vec<String>,
    /// Bytes that the steps wrote.
    bytes_written: u64,
    /// What recondition says in short.
    pub(super) summary: String,
}

/// A metric over its value when new.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteShare {
    pub(super) metric: Metric,
    pub(super) before: f64,
    pub(super) after: f64,
    /// What the same drive reaches with the same files, when new and then rewritten.
    pub(super) attainable: f64,
}

impl Case {
    /// Checks the drive when new and as it is, and reconditions it. An unfixable drive is rewritten whatever
    /// the check says, because a step that is not run claims nothing.
    ///
    /// # Errors
    /// The drive cannot be opened, or a run ended early.
    pub(super) fn run(target: &str, family: Family, usage: Use, seed: u64) -> anyhow::Result<Self> {
        let spec = Spec::parse(target)?;
        let new = spec.as_new().context("a drive of a bench was not saved")?;
        let capacity = spec.open(no_files)?.geometry().capacity;
        let bytes = (capacity / CHECK_PART / CHECK_BYTES_MIN * CHECK_BYTES_MIN).max(CHECK_BYTES_MIN);
        let mut check = CheckOptions { bytes: Some(bytes), ..CheckOptions::default() };
        let when_new = run_check(&new, seed, &check)?;
        check.normal = when_new.indicators;
        let origin = Origin::Simulated;
        let reference = |&(metric, per_s)| ReferenceOption { metric, origin, per_s, repeatability: 0.0 };
        check.references = when_new.metrics.iter().map(reference).collect();
        let before = run_check(&spec, seed, &check)?;
        let free = spec.free(capacity);
        let options = ReconditionOptions {
            step: (usage == Use::Unfixable).then_some(StepName::Rewrite),
            idle: IDLE,
            free: (!free.is_empty()).then(|| Region::bytes(free)),
            check: check.clone(),
            ..ReconditionOptions::default()
        };
        let mut drive = spec.open(no_files)?;
        let reconditioned = ask(&mut drive, "recondition", seed, toml::Table::try_from(&options)?)?;
        let findings = reconditioned.findings.with_context(|| spec.text.clone())?;
        let rewritten = match usage {
            Use::Fixable => Some(check_rewritten(&spec, seed, &check)?),
            Use::Unfixable => None,
        };
        let steps = rows(&findings, "steps");
        let writes = [Metric::SustainedWrite, Metric::SequentialWrite, Metric::RandomWrite];
        let shares = writes.into_iter().filter_map(|metric| {
            let new = value(&when_new.metrics, metric)?;
            let before = value(&before.metrics, metric)? / new;
            let after = after(&findings, metric).map_or(before, |after| after / new);
            let attainable = rewritten.as_ref().and_then(|check| value(&check.metrics, metric));
            Some(WriteShare { metric, before, after, attainable: attainable.map_or(1.0, |rate| rate / new) })
        });
        Ok(Self {
            target: target.to_owned(),
            family,
            usage,
            capacity,
            writes: shares.collect(),
            helped: steps.iter().any(|row| row["effect"] == "yes"),
            steps: steps.iter().filter_map(|row| row["step"].as_str().map(str::to_owned)).collect(),
            bytes_written: steps.iter().filter_map(|row| row["bytes_written"].as_u64()).sum(),
            summary: findings.summary,
        })
    }

    /// Sustained writes if they fell, as the goal is about them; else the metric that fell farthest.
    pub(super) fn worst(&self) -> Option<WriteShare> {
        let sustained = self.writes.iter().find(|share| share.metric == Metric::SustainedWrite);
        let worst = self.writes.iter().min_by(|one, other| one.before.total_cmp(&other.before));
        sustained.filter(|share| share.before < FALLEN).or(worst).copied()
    }

    /// Whether its writes are slower than when new.
    pub(super) fn has_fallen(&self) -> bool {
        self.worst().is_some_and(|share| share.before < FALLEN)
    }

    /// Whether the worst metric is back at what the drive can reach with its data.
    pub(super) fn is_restored(&self) -> bool {
        self.worst().is_some_and(|share| share.after >= RESTORED * share.attainable.min(1.0))
    }

    /// Whether the worst metric is back at what the drive reached on its first day.
    pub(super) fn is_as_new(&self) -> bool {
        self.worst().is_some_and(|share| share.after >= RESTORED)
    }

    /// Bytes that the steps wrote, over the capacity.
    pub(super) fn capacities_written(&self) -> f64 {
        self.bytes_written as f64 / self.capacity as f64
    }
}

fn rows<'a>(findings: &'a Findings, table: &str) -> &'a [Row] {
    findings.tables.get(table).map(Vec::as_slice).unwrap_or_default()
}

fn value(metrics: &[(Metric, f64)], metric: Metric) -> Option<f64> {
    metrics.iter().find(|(known, _)| *known == metric).map(|(_, value)| *value)
}

/// A metric after the last step, if any was run.
fn after(findings: &Findings, metric: Metric) -> Option<f64> {
    let words = metric.words();
    rows(findings, "before_and_after").iter().rfind(|row| row["metric"] == words)?["after_per_s"].as_f64()
}

fn run_check(spec: &Spec, seed: u64, check_options: &CheckOptions) -> anyhow::Result<CheckMetrics> {
    checked(&mut spec.open(no_files)?, spec, seed, check_options)
}

fn checked(
    drive: &mut SimDrive,
    spec: &Spec,
    seed: u64,
    options: &CheckOptions,
) -> anyhow::Result<CheckMetrics> {
    let result = ask(drive, "check", seed, toml::Table::try_from(options)?)?;
    Ok(CheckMetrics::from_findings(&result.findings.with_context(|| spec.text.clone())?))
}

/// Checks the drive when new, after the same files were written once more in address order: the best that a
/// step which keeps data can reach. If the drive takes TRIM, deleted data is gone.
fn check_rewritten(spec: &Spec, seed: u64, check_options: &CheckOptions) -> anyhow::Result<CheckMetrics> {
    let (name, _) = spec.text.split_once('?').unwrap_or((&spec.text, ""));
    let can_trim = spec.trim != Some(false) && spec.model(no_files)?.mechanism.can_trim();
    let share = if can_trim { spec.in_use() } else { spec.filled_share() };
    let rewritten = Spec::parse(&format!("{name}?state=new&fill={share}"))?;
    let mut drive = rewritten.open(no_files)?;
    let bytes = (drive.geometry().capacity as f64 * share) as u64 >> 20 << 20;
    let fill = format!("files = 1\nfile_size = '{bytes}'\nblock = '1MiB'\ndepth = 1");
    // The effects of a first check must not count as those of the use.
    checked(&mut drive, &rewritten, seed, check_options)?;
    ask(&mut drive, "fill", seed, fill.parse()?)?.findings.with_context(|| rewritten.text.clone())?;
    let requirements = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    if let Some(mut lane) = drive.lanes(&requirements)?.pop() {
        let until = lane.now() + IDLE;
        lane.wait(until, &mut Vec::new())?;
    }
    checked(&mut drive, &rewritten, seed, check_options)
}
