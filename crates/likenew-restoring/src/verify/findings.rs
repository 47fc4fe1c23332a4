//! The findings of a verification: answers, tables and a series.

use likenew_core::answer::Standing;
use likenew_core::damage::{Damage, DamagedRange};
use likenew_core::findings::Findings;
use likenew_core::overview::Overview;
use likenew_core::procedure::Evidence;
use serde::Serialize;

use super::VerifyOptions;
use super::answers::{Conclusion, conclude};
use super::capacity::Capacity;
use super::parts;
use super::wording;
use super::workload_plan::{NarrowStep, Task, WorkloadPlan};
use likenew_procedure_support::refusals::refusals;
use likenew_procedure_support::rows::row;

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

/// From the evidence, however little it is.
pub(super) fn findings(
    options: &VerifyOptions,
    workload_plan: &WorkloadPlan<'_>,
    evidence: &Evidence,
) -> Findings {
    let mut findings = Findings::default();
    if workload_plan.history.is_empty() {
        findings.summary = wording::not_begun();
        return findings;
    }
    let capacity = Capacity::from_evidence(workload_plan, evidence);
    let found = DamageSummary::collect(workload_plan);
    let Conclusion { summary, answers, total } = conclude(workload_plan, evidence, &capacity, &found);
    let rows = parts::rows(workload_plan);
    let speeds = parts::speeds(workload_plan, &rows);
    findings.overview = Overview {
        // The summary contains the first one. The other adds something only if data is damaged or in doubt, and
        // the capacity is in doubt only if an address did not answer.
        answers: answers
            .iter()
            .skip(1)
            .filter(|answer| answer.id == wording::INTEGRITY && answer.standing != Standing::Good)
            .map(|answer| answer.id.clone())
            .collect(),
        table: match total.bytes() {
            0 => (!speeds.is_empty()).then(|| wording::speed_table(&speeds)),
            _ => Some(wording::damage_table(&total)),
        },
        series: (total.bytes() == 0 && !rows.is_empty()).then(|| "parts".into()),
        ..Overview::default()
    };
    (findings.summary, findings.answers) = (summary, answers);
    findings.answers.extend(refusals(&evidence.segments));
    if !rows.is_empty() {
        findings.series.insert("parts".into(), parts::picture(&rows, options.passes));
    }
    findings.tables.insert("capacity".into(), vec![row(capacity)]);
    findings.tables.insert("damage".into(), found.rows().map(row).collect());
    findings.tables.insert("slowest".into(), parts::slowest(&rows).into_iter().map(row).collect());
    findings.tables.insert("parts".into(), rows.into_iter().map(row).collect());
    findings
}

/// Damage found by the probes and by each pass.
pub(super) struct DamageSummary {
    /// Damage in probes and spot checks.
    pub(super) probe_damage: Damage,
    /// Damage in each pass.
    pub(super) passes: Vec<(u32, Damage)>,
}

impl DamageSummary {
    fn collect(workload_plan: &WorkloadPlan<'_>) -> Self {
        let mut found = Self { probe_damage: Damage::default(), passes: Vec::new() };
        for (task, segment) in &workload_plan.history {
            let Some(damage) = segment.damage.clone() else { continue };
            match task {
                // Rounds read blocks that they expect to be missing.
                Task::NarrowStep(_, NarrowStep::Read) => {}
                Task::Part { pass, .. } => match found.passes.last_mut() {
                    Some((last, all)) if last == pass => all.merge(damage),
                    _ => found.passes.push((*pass, damage)),
                },
                _ => found.probe_damage.merge(damage),
            }
        }
        found
    }

    /// The total damage.
    pub(super) fn total(&self) -> Damage {
        let mut total = self.probe_damage.clone();
        // Ranges of several passes are separate.
        total.ranges.clear();
        total.unlisted_bytes = 0;
        for (_, damage) in &self.passes {
            total.merge(Damage { ranges: Vec::new(), unlisted_bytes: 0, ..damage.clone() });
        }
        total
    }

    /// Every range: of the passes if there were any, otherwise of what was found early.
    fn listed_ranges(&self) -> impl Iterator<Item = (Option<u32>, &DamagedRange)> {
        let probe_damage =
            self.probe_damage.ranges.iter().filter(|_| self.passes.is_empty()).map(|range| (None, range));
        let passes = self
            .passes
            .iter()
            .flat_map(|(pass, damage)| damage.ranges.iter().map(|range| (Some(*pass), range)));
        probe_damage.chain(passes)
    }

    /// The first range in the list.
    pub(super) fn first(&self) -> Option<&DamagedRange> {
        self.listed_ranges().next().map(|(_, range)| range).or(self.probe_damage.ranges.first())
    }

    fn rows(&self) -> impl Iterator<Item = DamageRow> {
        self.listed_ranges().map(|(pass, range)| DamageRow {
            pass,
            from_byte: range.from,
            to_byte: range.to,
            kind: range.kind.name(),
            bits: (range.bits > 0).then_some(range.bits),
            written_for_byte: range.content.address,
            written_in_pass: range.content.pass,
            written_with_key: range.content.key,
            first_bytes: range.content.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }
}
