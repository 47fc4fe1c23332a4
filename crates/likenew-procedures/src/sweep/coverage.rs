//! What a sweep could not measure, or not as precisely as it was asked to.

use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::precision::Precision;

use super::results::{Matrix, MeasuredCell};
use super::schedule::Schedule;
use crate::precision_goal::PrecisionGoal;

/// So many cells are named; all stand in the matrix.
const LISTED_MAX: usize = 6;

/// Whether every cell is known as precisely as it was asked for; nothing where no precision was.
pub(super) fn precision(matrix: &Matrix<'_>) -> Option<Verdict> {
    let goal = matrix.goal?;
    if matrix.cells.is_empty() {
        return None;
    }
    let claim = format!("The mean speed of every cell is known to ± {}.", PrecisionGoal(goal.share));
    let open = matrix.cells.iter().filter(|one| one.precision == Some(Precision::More)).count();
    let is_out = |one: &&MeasuredCell<'_>| matches!(one.precision, Some(Precision::Unreachable(_)));
    let mut out: Vec<&MeasuredCell<'_>> = matrix.cells.iter().filter(is_out).collect();
    out.sort_by(|a, b| width(b).total_cmp(&width(a)));
    if out.is_empty() && open == 0 {
        let most = matrix.cells.iter().map(|one| one.segments.len()).max().unwrap_or(0);
        return Some(Verdict::new(claim, Standing::Holds).with_evidence(format!(
            "each took {} to {most} passes",
            matrix.cells.iter().map(|one| one.segments.len()).min().unwrap_or(0)
        )));
    }
    let standing = if out.is_empty() { Standing::Undecided } else { Standing::Fails };
    let mut verdict = out.iter().take(LISTED_MAX).fold(Verdict::new(claim, standing), |verdict, one| {
        let passes = one.segments.len();
        verdict.with_evidence(format!(
            "{}: ± {:.1} % after {passes} passes",
            one.cell.describe(),
            width(one) * 100.0
        ))
    });
    if out.len() > LISTED_MAX {
        verdict = verdict.with_evidence(format!("and {} more", out.len() - LISTED_MAX));
    }
    if open > 0 {
        verdict =
            verdict.with_evidence(format!("the run ended before {open} cells were measured often enough"));
    }
    Some(verdict)
}

/// Half the width of the interval over the mean; 0 where the mean is.
fn width(one: &MeasuredCell<'_>) -> f64 {
    match one.interval {
        Some(interval) if one.speed() > 0.0 => (interval.high - interval.low) / 2.0 / one.speed(),
        _ => 0.0,
    }
}

/// What was left out because this drive can not be asked for it, and what the run did not come to.
pub(super) fn complete(matrix: &Matrix<'_>, schedule: &Schedule<'_>) -> Option<Verdict> {
    let wanted = schedule.cells().count();
    let done = matrix.cells.iter().filter(|one| one.segments.len() >= matrix.passes).count();
    if schedule.skips.is_empty() && done == wanted {
        return None;
    }
    let verdict = Verdict::new("Every cell that was asked for was measured.", Standing::Fails);
    let verdict = schedule
        .skips
        .iter()
        .fold(verdict, |verdict, reason| verdict.with_evidence(format!("left out: {reason}")));
    Some(if done < wanted {
        verdict.with_evidence(format!("{done} of {wanted} cells have all their passes"))
    } else {
        verdict
    })
}
