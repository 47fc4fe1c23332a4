//! The baseline of a drive, and its variation, from the runs in the archive.

use std::path::{Path, PathBuf};

use likenew_archive::{Archive, DriveSignature, Record, keys_by_place};
use likenew_core::plan::Plan;
use likenew_procedures::all::{from_plan, judge};
use likenew_procedures::check::{CheckHistory, CheckMetrics, CheckOptions, ReferenceOption};

use crate::arguments::Baseline;
use crate::exit::Failure;
use crate::resolved_target::TargetFacts;
use crate::wording;

/// Number of the latest checks that show how much metrics vary.
const LATEST: usize = 15;

/// A baseline from the archive.
pub(crate) struct SavedBaseline {
    /// Metrics of comparable tests.
    pub(crate) references: Vec<ReferenceOption>,
    /// Date and time of the check.
    pub(crate) started_at: String,
}

/// The earliest check of a real drive below `root`, or the named one.
///
/// # Errors
/// The named run is not a completed check.
pub(crate) fn find(
    baseline: Option<&Baseline>,
    root: Option<&Path>,
    facts: Option<&TargetFacts>,
    asked: &CheckOptions,
) -> Result<Option<SavedBaseline>, Failure> {
    let signature = facts.and_then(|known| DriveSignature::new(&known.identity, Some(&known.facts)));
    let records = match baseline {
        Some(Baseline::None) => return Ok(None),
        Some(Baseline::Run(folder)) => vec![open_check(folder)?],
        None => root.zip(signature.as_ref()).map_or_else(Vec::new, |(root, of)| earlier_checks(root, of)),
    };
    let known = records
        .iter()
        .filter_map(|record| Some((&record.header.machine.started_at, answers(record, asked)?)));
    let (dates, checks): (Vec<&String>, Vec<CheckMetrics>) = known.unzip();
    let is_virtual = signature.is_some_and(|of| of.is_virtual);
    Ok(dates.first().map(|first| SavedBaseline {
        started_at: (*first).clone(),
        references: CheckHistory { checks, is_virtual }.references(),
    }))
}

fn open_check(folder: &Path) -> Result<Record, Failure> {
    let record = Archive::open(folder).map_err(|error| Failure::Usage(error.to_string()))?;
    if is_whole(&record) {
        return Ok(record);
    }
    Err(Failure::Usage(wording::not_a_finished_check(folder)))
}

fn is_whole(record: &Record) -> bool {
    let is_complete = record.findings.as_ref().is_some_and(|findings| !findings.is_interrupted);
    record.header.plan.procedure == "check" && is_complete
}

/// The first check, and the latest ones. Runs that cannot be read are skipped.
fn earlier_checks(root: &Path, signature: &DriveSignature) -> Vec<Record> {
    let runs = Archive::new(root).list().unwrap_or_default();
    let candidates: Vec<(PathBuf, DriveSignature)> = runs
        .into_iter()
        .filter_map(|run| Some((run.header.ok().filter(|of| of.plan.procedure == "check")?, run.path)))
        .filter_map(|(header, path)| {
            let of = DriveSignature::read(&path, &header.machine).ok()??;
            Some((path, of))
        })
        .collect();
    let keys = keys_by_place(candidates.iter().map(|(_, of)| of).chain([signature]));
    let key_of = |of: &DriveSignature| of.key(&keys[&of.place()]);
    let key = key_of(signature);
    let mut checks = candidates
        .iter()
        .filter(|(_, of)| key_of(of) == key)
        .filter_map(|(path, _)| Archive::open(path).ok())
        .filter(is_whole);
    let first = checks.next();
    let mut latest: Vec<Record> = checks.rev().take(LATEST).collect();
    latest.reverse();
    first.into_iter().chain(latest).collect()
}

/// Judged again with this version.
fn answers(record: &Record, asked: &CheckOptions) -> Option<CheckMetrics> {
    let Plan { options, .. } = &record.header.plan;
    let then = CheckOptions::from_table(options).ok()?;
    let procedure = from_plan(&record.header.plan).ok()?;
    let mut answers = CheckMetrics::from_findings(&judge(&*procedure, &record.evidence()));
    answers.metrics.retain(|(metric, _)| then.bytes_of(*metric) == asked.bytes_of(*metric));
    Some(answers)
}
