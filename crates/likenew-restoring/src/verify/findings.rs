//! The findings of a verification: answers, tables and a series.

use likenew_core::answer::{Answer, Standing};
use likenew_core::findings::Findings;
use likenew_core::overview::Overview;
use likenew_core::procedure::Evidence;

use super::VerifyOptions;
use super::answers::{Conclusion, conclude};
use super::capacity::Capacity;
use super::damage_summary::DamageSummary;
use super::parts;
use super::wording;
use super::workload_plan::WorkloadPlan;
use crate::failed_ios::{add_failed_ios, has_failed};
use likenew_procedure_support::rows::row;

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
    let has_failed = has_failed(evidence);
    let Conclusion { summary, answers, total } =
        conclude(workload_plan, evidence, &capacity, &found, has_failed);
    let unreadable = found.unreadable();
    let rows = parts::rows(workload_plan);
    let speeds = parts::speeds(workload_plan, &rows);
    let listed = |answer: &&Answer| match has_failed && total.bytes() == 0 {
        // The summary is about failed I/Os and what of them could not be read.
        true => answer.id == wording::CAPACITY,
        false => answer.id == wording::INTEGRITY && answer.standing != Standing::Good,
    };
    findings.overview = Overview {
        // The summary contains the first one. The other adds something only if data is damaged or in doubt, and
        // the capacity is in doubt only if an address did not answer.
        answers: answers
            .iter()
            .skip(usize::from(!has_failed))
            .filter(listed)
            .map(|answer| answer.id.clone())
            .collect(),
        table: match total.bytes() {
            0 if unreadable.bytes > 0 => Some(wording::unreadable_table(&unreadable)),
            0 => (!speeds.is_empty()).then(|| wording::speed_table(&speeds)),
            _ => Some(wording::damage_table(&total)),
        },
        series: (total.bytes() == 0 && !rows.is_empty()).then(|| "parts".into()),
        ..Overview::default()
    };
    (findings.summary, findings.answers) = (summary, answers);
    add_failed_ios(evidence, &mut findings);
    if !rows.is_empty() {
        findings.series.insert("parts".into(), parts::picture(&rows, options.passes));
    }
    findings.tables.insert("capacity".into(), vec![row(capacity)]);
    findings.tables.insert("damage".into(), found.rows().collect());
    findings.tables.insert("slowest".into(), parts::slowest(&rows).into_iter().map(row).collect());
    findings.tables.insert("parts".into(), rows.into_iter().map(row).collect());
    findings
}
