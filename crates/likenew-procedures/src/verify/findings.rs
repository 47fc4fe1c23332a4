//! Everything that a verification has found, as verdicts, tables and a picture.

use likenew_core::damage::{Damage, Damaged};
use likenew_core::procedure::Evidence;
use likenew_core::verdict::Findings;
use serde::Serialize;

use super::VerifyOptions;
use super::capacity::Capacity;
use super::course::{Course, Narrow, Task};
use super::parts;
use super::verdicts;
use crate::refusals::refusals;
use crate::rows::row;

/// A row of the table `damage`.
#[derive(Serialize)]
struct DamageRow {
    pass: Option<u32>,
    from_byte: u64,
    to_byte: u64,
    kind: &'static str,
    bits: Option<u64>,
    written_for_byte: Option<u64>,
    written_in_pass: Option<u32>,
    written_with_key: Option<u64>,
    first_bytes: String,
}

/// Out of what was done, however little it is.
pub(super) fn findings(options: &VerifyOptions, course: &Course<'_>, evidence: &Evidence) -> Findings {
    let mut findings = Findings::default();
    if course.done.is_empty() {
        return findings;
    }
    let capacity = Capacity::of(course, evidence);
    let found = Found::of(course);
    findings.verdicts = verdicts::verdicts(course, evidence, &capacity, &found);
    findings.verdicts.extend(refusals(&evidence.segments));
    let rows = parts::rows(course);
    if !rows.is_empty() {
        findings.series.insert("parts".into(), parts::picture(&rows, options.passes));
    }
    findings.tables.insert("capacity".into(), vec![row(capacity)]);
    findings.tables.insert("damage".into(), found.rows().map(row).collect());
    findings.tables.insert("slowest".into(), parts::slowest(&rows).into_iter().map(row).collect());
    findings.tables.insert("parts".into(), rows.into_iter().map(row).collect());
    findings
}

/// What the probes, and each pass, found wrong.
pub(super) struct Found {
    /// Of the probes and looks back.
    pub(super) early: Damage,
    /// Of each pass.
    pub(super) passes: Vec<(u32, Damage)>,
}

impl Found {
    fn of(course: &Course<'_>) -> Self {
        let mut found = Self { early: Damage::default(), passes: Vec::new() };
        for (task, segment) in &course.done {
            let Some(damage) = segment.damage.clone() else { continue };
            match task {
                // Rounds read what they expect not to find.
                Task::Narrow(_, Narrow::Read) => {}
                Task::Part { pass, .. } => match found.passes.last_mut() {
                    Some((last, all)) if last == pass => all.merge(damage),
                    _ => found.passes.push((*pass, damage)),
                },
                _ => found.early.merge(damage),
            }
        }
        found
    }

    /// All of it, as one.
    pub(super) fn total(&self) -> Damage {
        let mut total = self.early.clone();
        // Ranges of several passes are not one range.
        total.ranges.clear();
        total.unlisted_bytes = 0;
        for (_, damage) in &self.passes {
            total.merge(Damage { ranges: Vec::new(), unlisted_bytes: 0, ..damage.clone() });
        }
        total
    }

    /// Every range: of the passes where there were any, otherwise of what was found early.
    fn listed(&self) -> impl Iterator<Item = (Option<u32>, &Damaged)> {
        let early = self.early.ranges.iter().filter(|_| self.passes.is_empty()).map(|range| (None, range));
        let passes = self
            .passes
            .iter()
            .flat_map(|(pass, damage)| damage.ranges.iter().map(|range| (Some(*pass), range)));
        early.chain(passes)
    }

    /// The first range in the list.
    pub(super) fn first(&self) -> Option<&Damaged> {
        self.listed().next().map(|(_, range)| range).or(self.early.ranges.first())
    }

    fn rows(&self) -> impl Iterator<Item = DamageRow> {
        self.listed().map(|(pass, range)| DamageRow {
            pass,
            from_byte: range.from,
            to_byte: range.to,
            kind: range.kind.name(),
            bits: (range.bits > 0).then_some(range.bits),
            written_for_byte: range.found.address,
            written_in_pass: range.found.pass,
            written_with_key: range.found.key,
            first_bytes: range.found.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }
}
