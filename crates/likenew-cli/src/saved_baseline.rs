//! The baseline of a drive, and its variation, from the runs in the archive.

use std::path::Path;

use likenew_archive::{Archive, Header, Record};
use likenew_core::drive::{Identity, Kind};
use likenew_core::facts::{Drive, Facts};
use likenew_core::plan::Plan;
use likenew_core::probe::ProbeResult;
use likenew_procedures::all::{from_plan, judge};
use likenew_procedures::check::{CheckHistory, CheckMetrics, CheckOptions, MetricName, ReferenceOption};

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
    let records = match baseline {
        Some(Baseline::None) => return Ok(None),
        Some(Baseline::Run(folder)) => vec![open_check(folder)?],
        None => root.zip(facts).map_or_else(Vec::new, |(root, known)| earlier_checks(root, known)),
    };
    let known = records
        .iter()
        .filter_map(|record| Some((&record.header.machine.started_at, answers(record, asked)?)));
    let (dates, checks): (Vec<&String>, Vec<CheckMetrics>) = known.unzip();
    let is_virtual = facts
        .and_then(|known| only_drive(&known.facts))
        .is_some_and(|drive| drive.identity.virtual_by.value().is_some_and(Option::is_some));
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
    record.header.plan.procedure == "check" && record.findings.is_some()
}

/// The first check, and the latest ones. Runs that cannot be read are skipped.
fn earlier_checks(root: &Path, TargetFacts { identity, facts }: &TargetFacts) -> Vec<Record> {
    let runs = Archive::new(root).list().unwrap_or_default();
    let is_asked = |header: &Header| {
        header.plan.procedure == "check" && same_drive(header.machine.identity.kind, identity.kind)
    };
    let mut checks = runs
        .into_iter()
        .filter(|run| run.header.as_ref().is_ok_and(is_asked))
        .filter_map(|run| Archive::open(&run.path).ok())
        .filter(|record| is_whole(record) && is_same(record, identity, facts));
    let first = checks.next();
    let mut latest: Vec<Record> = checks.rev().take(LATEST).collect();
    latest.reverse();
    first.into_iter().chain(latest).collect()
}

/// Files and devices are read alike; a folder has temporary files.
fn same_drive(one: Kind, other: Kind) -> bool {
    let is_read = |kind| matches!(kind, Kind::File | Kind::Device);
    one == other || (is_read(one) && is_read(other))
}

/// By the drive's serial number if both are known, otherwise by path and kind.
fn is_same(record: &Record, identity: &Identity, facts: &Facts) -> bool {
    let stored_facts = record.observations.iter().find_map(|observation| match &observation.result {
        ProbeResult::Facts(facts) => Some(&**facts),
        _ => None,
    });
    let (Some(then), Some(now)) = (stored_facts.and_then(only_drive), only_drive(facts)) else {
        return false;
    };
    match (then.identity.serial.value(), now.identity.serial.value()) {
        (Some(then), Some(now)) => then == now,
        _ => {
            record.header.machine.identity.name == identity.name
                && then.identity.model.value() == now.identity.model.value()
                && then.identity.capacity_bytes.value() == now.identity.capacity_bytes.value()
        }
    }
}

fn only_drive(facts: &Facts) -> Option<&Drive> {
    match facts.drives.as_slice() {
        [drive] => Some(drive),
        _ => None,
    }
}

/// Judged again with this version.
fn answers(record: &Record, asked: &CheckOptions) -> Option<CheckMetrics> {
    let Plan { options, .. } = &record.header.plan;
    let then = CheckOptions::from_table(options).ok()?;
    let procedure = from_plan(&record.header.plan).ok()?;
    let mut answers = CheckMetrics::from_findings(&judge(&*procedure, &record.evidence()));
    // With fewer bytes written, sustained writes are a different test.
    answers
        .metrics
        .retain(|(metric, _)| *metric != MetricName::SustainedWrite || then.budget() == asked.budget());
    Some(answers)
}
