//! Tables of a recondition.

use likenew_core::findings::{Findings, Row};
use likenew_core::row;
use likenew_stats::interval::{CONFIDENCE_95, window_interval};

use super::comparison::Change;
use super::outcome::StepOutcome;
use super::overwrite::WritePass;
use super::step::{Attempt, StepContext, StepName, implementation};
use super::wording;
use crate::site::likenew;

/// The work of each step: bytes that it covers, and bytes that it wrote.
pub(super) fn step_rows(taken: &[StepOutcome<'_>]) -> Vec<Row> {
    let of = |taken: &StepOutcome<'_>| {
        let attempt = taken.attempt;
        let fix_reports = || attempt.fix_reports();
        let passed: Vec<u64> = attempt.overwritten().iter().map(|pass| pass.bytes).collect();
        let segments = attempt.past.segments.iter().map(|segment| segment.elapsed().0);
        row! {
            step: attempt.name.text(),
            effect: taken.effect.text(),
            bytes: fix_reports().map(|report| report.bytes).sum::<u64>() + passed.iter().max().unwrap_or(&0),
            skipped_bytes: fix_reports().flat_map(|report| &report.skips).map(|left| left.bytes).sum::<u64>(),
            bytes_written: fix_reports().map(|report| report.bytes_written).sum::<u64>()
                + passed.iter().sum::<u64>(),
            elapsed_ns: fix_reports().map(|report| report.elapsed.0).chain(segments).sum::<u64>(),
        }
    };
    taken.iter().map(of).collect()
}

/// Before and after, step by step.
pub(super) fn change_rows(taken: &[StepOutcome<'_>]) -> Vec<Row> {
    let rows =
        taken.iter().flat_map(|of| of.changes.iter().map(|change| change_row(of.attempt.name, change)));
    rows.collect()
}

fn change_row(name: StepName, change: &Change) -> Row {
    let goal = change.reference.map(|goal| goal.value);
    let percent = |value: f64| goal.map(|goal| 100.0 * value / goal);
    let ratio = change.ratio();
    row! {
        step: name.text(),
        metric: wording::measure(change.measure),
        unit: change.measure.unit(),
        before_per_s: change.before.value,
        after_per_s: change.after.value,
        ratio: ratio.value,
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        reference_per_s: goal,
        before_of_reference_percent: percent(change.before.value),
        after_of_reference_percent: percent(change.after.value),
    }
}

/// The passes of a step. The speed is that of the whole pass; the interval bounds the mean of its windows, in
/// which a slow one counts for less than its time.
pub(super) fn pass_rows(attempt: &Attempt<'_>) -> impl Iterator<Item = Row> {
    let with_interval = |(index, pass): (usize, &WritePass)| {
        let speeds: Vec<f64> = pass.points().into_iter().map(|[_, speed]| speed).collect();
        let interval = window_interval(&speeds, CONFIDENCE_95);
        row! {
            step: attempt.name.text(),
            pass: index + 1,
            bytes_per_s: pass.bytes_per_s(),
            bytes_per_s_low: interval.map(|interval| interval.low.max(0.0)),
            bytes_per_s_high: interval.map(|interval| interval.high),
            bytes: pass.bytes,
            elapsed_ns: pass.elapsed_ns,
            latency_ns_max: pass.latency_max.map(|latency| latency.0),
        }
    };
    attempt.passes.iter().enumerate().map(with_interval)
}

/// All steps, and why some were not run.
pub(super) fn step_plan_rows(
    context: &StepContext<'_>,
    attempts: &[Attempt<'_>],
    is_helpful: &dyn Fn(StepName) -> bool,
) -> Vec<Row> {
    let of = |name: StepName| {
        let reason = match attempts.iter().find(|attempt| attempt.name == name) {
            Some(attempt) => attempt.idle_reason().map(str::to_owned),
            None => Some(not_run_reason(context, name, is_helpful)),
        };
        row! {
            step: name.text(),
            what_it_does: wording::instruction(name),
            data_lost: name.data_lost(),
            bytes_written_max: implementation(name).bytes(context),
            not_run_reason: reason,
        }
    };
    StepName::ALL.into_iter().map(of).collect()
}

/// Why a step was not run.
pub(super) fn not_run_reason(
    context: &StepContext<'_>,
    name: StepName,
    is_helpful: &dyn Fn(StepName) -> bool,
) -> String {
    let doubt = || implementation(name).caveat(context);
    let command = || likenew("recondition", context.evidence, &format!("--step {}", name.text()));
    if let Some(obstacle) = context.obstacle(name) {
        return obstacle;
    }
    if context.options.dry_run {
        return doubt().map_or_else(|| wording::POSSIBLE.into(), |doubt| wording::possible_if(&doubt));
    }
    if !is_helpful(name) {
        return wording::NOT_CALLED_FOR.into();
    }
    if name == StepName::OverwriteAll && context.worn_out().is_some() {
        return wording::WORN_OUT.into();
    }
    if name.destroys() {
        return wording::only_by_name(name);
    }
    match (doubt(), context.options.step) {
        (Some(doubt), _) => wording::only_if_asked(&doubt, &command()),
        (None, Some(named)) if named != name => wording::other_step_named(named),
        (None, _) => wording::GENTLER_FIRST.into(),
    }
}

/// Adds the tables that have rows.
pub(super) fn put(findings: &mut Findings, tables: impl IntoIterator<Item = (&'static str, Vec<Row>)>) {
    for (name, rows) in tables {
        if !rows.is_empty() {
            findings.tables.insert(name.to_owned(), rows);
        }
    }
}
