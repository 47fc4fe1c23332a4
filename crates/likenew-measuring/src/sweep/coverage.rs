//! What a sweep could not measure, or not as precisely as asked.

use likenew_core::answer::Answer;
use likenew_stats::precision::Precision;

use super::LISTED_MAX;
use super::results::{Matrix, MeasuredCell};
use super::schedule::Schedule;
use super::wording;
use likenew_procedure_support::precision_goal::{self, MeanPrecision};

/// Whether every cell is as precise as asked; `None` if no precision was asked for.
pub(super) fn precision(matrix: &Matrix<'_>) -> Option<Answer> {
    let goal = matrix.goal?;
    if matrix.cells.is_empty() {
        return None;
    }
    let open = matrix.cells.iter().filter(|one| one.precision == Some(Precision::More)).count();
    let mut means: Vec<MeanPrecision> = matrix.cells.iter().map(mean_precision).collect();
    means.sort_by(|a, b| b.share.total_cmp(&a.share));
    let has_wide = means.iter().any(|mean| !mean.enough);
    let mut answer = if open > 0 && !has_wide {
        wording::run_ended_early(open, matrix.cells.len())
    } else {
        precision_goal::answer(&goal, &means)
    };
    let named = answer.evidence.len();
    if named > LISTED_MAX {
        answer.evidence.truncate(LISTED_MAX);
        answer = answer.with_evidence(wording::and_more(named - LISTED_MAX));
    }
    if open > 0 && has_wide {
        answer = answer.caveat(wording::open_cells(open));
    }
    Some(answer)
}

/// A cell without enough passes at the end of the run has no known precision yet.
fn mean_precision(one: &MeasuredCell<'_>) -> MeanPrecision {
    MeanPrecision {
        name: wording::name_of_mean(one.cell),
        passes: one.segments.len(),
        share: half_width(one),
        enough: !matches!(one.precision, Some(Precision::Unreachable(_))),
    }
}

/// Half the width of the interval over the mean; 0 if the mean is 0.
fn half_width(one: &MeasuredCell<'_>) -> f64 {
    match one.interval {
        Some(interval) if one.speed() > 0.0 => (interval.high - interval.low) / 2.0 / one.speed(),
        _ => 0.0,
    }
}

/// What this drive cannot do, and what the run did not reach.
pub(super) fn complete(matrix: &Matrix<'_>, schedule: &Schedule<'_>) -> Option<Answer> {
    let wanted = schedule.cells().count();
    let done = matrix.cells.iter().filter(|one| one.segments.len() >= matrix.passes).count();
    if schedule.skips.is_empty() && done == wanted {
        return None;
    }
    let answer = if done < wanted {
        wording::some_cells_unfinished(done, wanted)
    } else {
        wording::some_cells_left_out(wanted)
    };
    let skips = schedule.skips.iter();
    Some(skips.fold(answer, |answer, reason| answer.with_evidence(wording::left_out(reason))))
}
