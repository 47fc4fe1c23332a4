//! What check and recondition share: the site of fixes, the commands that answers advise, and answers about
//! failed I/Os. Both use the same site, so a step that one advises is possible in the other.

use std::ops::Range;

use likenew_core::drive::TargetKind;
use likenew_core::facts::Facts;
use likenew_core::findings::{Findings, Loss, OverviewTable, Row, Series, Standing};
use likenew_core::fix::Feasibility;
use likenew_core::procedure::Evidence;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::shell::shell_quote;
use likenew_diagnosis::Site;
use likenew_procedure_support::failures::{failure_answers, spare_failing_drive};

const MIB: u64 = 1 << 20;

/// The site of some evidence. `free` is a region without files of the owner, on a target other than a folder.
pub fn site<'a>(
    evidence: &'a Evidence,
    free: Option<Region>,
    facts: Option<&'a Facts>,
    feasibility: Option<&'a Feasibility>,
) -> Site<'a> {
    if let Some(known) = facts.filter(|facts| facts.reported.is_some()) {
        return site_elsewhere(known);
    }
    let geometry = &evidence.geometry;
    let used = used_space(evidence, free);
    Site {
        target: evidence.plan.target.as_deref().unwrap_or(&evidence.identity.name),
        kind: evidence.identity.kind,
        trims: geometry.trims,
        writable: geometry.writable,
        free_bytes: free_space(evidence, free).map(|free| free.end - free.start),
        used_bytes: used.end - used.start,
        facts,
        feasibility,
    }
}

/// The site on the drive's own machine: a folder there, where the owner types what is advised.
fn site_elsewhere(facts: &Facts) -> Site<'_> {
    let system = facts.file_system.as_ref();
    Site {
        target: system.map_or("FOLDER", |system| &system.point),
        kind: TargetKind::Folder,
        trims: false,
        writable: true,
        free_bytes: system.and_then(|system| system.free_bytes.get()),
        used_bytes: 0,
        facts: Some(facts),
        feasibility: None,
    }
}

/// Space without files of the owner, in whole MiB; in a folder, that of the temporary files.
pub(crate) fn free_space(evidence: &Evidence, free: Option<Region>) -> Option<Range<u64>> {
    let geometry = &evidence.geometry;
    let whole = geometry.capacity / MIB * MIB;
    if evidence.identity.kind == TargetKind::Folder {
        return Some(0..whole);
    }
    let free = free?.resolve(geometry.capacity, geometry.block).ok()?;
    let free = free.start.next_multiple_of(MIB)..free.end.min(whole) / MIB * MIB;
    (!free.is_empty()).then_some(free)
}

/// Space that may hold files of the owner, on a target other than a folder; also if it is only read.
pub(crate) fn used_space(evidence: &Evidence, free: Option<Region>) -> Range<u64> {
    let capacity = match evidence.geometry.capacity {
        0 => evidence.identity.capacity_bytes,
        bytes => bytes,
    };
    let whole = capacity / MIB * MIB;
    match free {
        Some(_) => 0..free_space(evidence, free).map_or(whole, |free| free.start),
        None => 0..whole,
    }
}

/// `likenew PROCEDURE TARGET FLAGS` for the target of some evidence.
pub(crate) fn likenew(procedure: &str, evidence: &Evidence, flags: &str) -> String {
    let target = shell_quote(evidence.plan.target.as_deref().unwrap_or(&evidence.identity.name));
    let flags = if flags.is_empty() { String::new() } else { format!(" {flags}") };
    format!("likenew {procedure} {target}{flags}")
}

/// What writing all of a target loses: a folder's free space and a simulated drive hold nothing of the owner's.
pub(crate) fn loss_of_writing(evidence: &Evidence) -> Loss {
    match evidence.identity.kind {
        TargetKind::Folder | TargetKind::Simulated => Loss::Nothing,
        _ => Loss::Everything,
    }
}

/// Whether a setting is left out of a plan.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A table of the first screen.
pub(crate) fn overview_table<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> OverviewTable {
    let mut table = OverviewTable::new(headings);
    rows.into_iter().for_each(|row| table.push(row));
    table
}

/// Adds a table, if it has rows.
pub(crate) fn add_table(findings: &mut Findings, name: &str, rows: impl IntoIterator<Item = Row>) {
    let rows: Vec<Row> = rows.into_iter().collect();
    if !rows.is_empty() {
        findings.tables.insert(name.to_owned(), rows);
    }
}

/// Adds the lines of a plot that have points, if any has.
pub(crate) fn add_series(findings: &mut Findings, name: &str, mut series: Series) {
    series.lines.retain(|line| !line.points.is_empty());
    if !series.lines.is_empty() {
        findings.series.insert(name.to_owned(), series);
    }
}

/// Whether the drive failed I/Os, which then head the report.
pub(crate) fn has_failed<'a>(segments: impl IntoIterator<Item = &'a Segment, IntoIter: Clone>) -> bool {
    failure_answers(segments).iter().any(|answer| answer.standing == Standing::Problem)
}

/// Adds the answers about failed I/Os. Nothing more is tested on a failing drive.
pub(crate) fn add_failed_ios<'a>(
    evidence: &Evidence,
    segments: impl IntoIterator<Item = &'a Segment, IntoIter: Clone>,
    findings: &mut Findings,
) {
    findings.answers.extend(failure_answers(segments));
    spare_failing_drive(&mut findings.answers, evidence);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_one_word_of_the_shell() {
        let mut evidence = crate::fixtures::evidence();
        evidence.plan.target = Some("/mnt/my drive".into());
        assert_eq!(likenew("verify", &evidence, "--full"), "likenew verify '/mnt/my drive' --full");
        evidence.plan.target = Some("/dev/sda".into());
        assert_eq!(likenew("trim", &evidence, ""), "likenew trim /dev/sda");
    }
}
