//! What a drive did when it was checked first, and how much that says, out of the runs that are kept.

use std::path::Path;

use likenew_archive::{Archive, Header, Record};
use likenew_core::drive::{Drive as _, Identity, Kind};
use likenew_core::facts::{Drive, Facts};
use likenew_core::look::Seen;
use likenew_core::plan::Plan;
use likenew_procedures::all::{from_plan, judge};
use likenew_procedures::check::{Answers, CheckOptions, Earlier, FigureName, ReferenceOption};
use likenew_real::facts::Glance;

use crate::aim::Aim;
use crate::arguments::Against;
use crate::exit::Failure;

/// So many of the latest checks tell how much figures differ between them.
const LATEST: usize = 15;

/// What it did then.
pub(crate) struct First {
    /// Figures of what was asked in the same way.
    pub(crate) references: Vec<ReferenceOption>,
    /// When: date and time of day.
    pub(crate) began: String,
}

/// The earliest check of a real drive that is kept below `root`, or the one that was named.
///
/// # Errors
/// What was named is no check that came to its end.
pub(crate) fn of(
    against: Option<&Against>,
    root: Option<&Path>,
    aim: &Aim,
    facts: Option<&Facts>,
    asked: &CheckOptions,
) -> Result<Option<First>, Failure> {
    let records = match against {
        Some(Against::Nothing) => return Ok(None),
        Some(Against::Run(folder)) => vec![named(folder)?],
        None => aim
            .path()
            .zip(root)
            .zip(facts)
            .map_or_else(Vec::new, |((path, root), facts)| earlier(path, root, facts)),
    };
    let known =
        records.iter().filter_map(|record| Some((&record.header.machine.began, answers(record, asked)?)));
    let (began, checks): (Vec<&String>, Vec<Answers>) = known.unzip();
    let is_virtual = facts
        .and_then(only_drive)
        .is_some_and(|drive| drive.identity.virtual_by.value().is_some_and(Option::is_some));
    Ok(began.first().map(|first| First {
        began: (*first).clone(),
        references: Earlier { checks, is_virtual }.references(),
    }))
}

fn named(folder: &Path) -> Result<Record, Failure> {
    let record = Archive::open(folder).map_err(|error| Failure::Usage(error.to_string()))?;
    if is_whole(&record) {
        return Ok(record);
    }
    Err(Failure::Usage(format!(
        "{} is no check that came to its end: give the folder of one to --against, or none",
        folder.display()
    )))
}

fn is_whole(record: &Record) -> bool {
    record.header.plan.procedure == "check" && record.findings.is_some()
}

/// The first of them, and the latest ones. Runs that can not be read are somebody else's question.
fn earlier(path: &Path, root: &Path, facts: &Facts) -> Vec<Record> {
    let Ok(identity) = Glance::at(path).map(|glance| glance.identity()) else { return Vec::new() };
    let runs = Archive::new(root).list().unwrap_or_default();
    let is_asked = |header: &Header| {
        header.plan.procedure == "check" && alike(header.machine.identity.kind, identity.kind)
    };
    let mut checks = runs
        .into_iter()
        .filter(|run| run.header.as_ref().is_ok_and(is_asked))
        .filter_map(|run| Archive::open(&run.path).ok())
        .filter(|record| is_whole(record) && is_same(record, &identity, facts));
    let first = checks.next();
    let mut latest: Vec<Record> = checks.rev().take(LATEST).collect();
    latest.reverse();
    first.into_iter().chain(latest).collect()
}

/// Files and devices are read alike; in folders there are own files.
fn alike(one: Kind, other: Kind) -> bool {
    let is_read = |kind| matches!(kind, Kind::File | Kind::Device);
    one == other || (is_read(one) && is_read(other))
}

/// By the drive's serial number where both are known, else by where it is and what.
fn is_same(record: &Record, identity: &Identity, facts: &Facts) -> bool {
    let seen = record.sights.iter().find_map(|sight| match &sight.seen {
        Seen::Facts(facts) => Some(&**facts),
        _ => None,
    });
    let (Some(then), Some(now)) = (seen.and_then(only_drive), only_drive(facts)) else { return false };
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

/// Judged again, by what this version knows.
fn answers(record: &Record, asked: &CheckOptions) -> Option<Answers> {
    let Plan { options, .. } = &record.header.plan;
    let then = CheckOptions::from_table(options).ok()?;
    let procedure = from_plan(&record.header.plan).ok()?;
    let mut answers = Answers::of(&judge(&*procedure, &record.evidence()));
    // How long writes last is another question where less is written.
    answers.figures.retain(|(figure, _)| *figure != FigureName::WriteOn || then.budget() == asked.budget());
    Some(answers)
}
