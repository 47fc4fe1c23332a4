//! How far the same point differs from visit to visit, and which I/Os stood apart: what a busy or noisy target does to a model.

use likenew_core::procedure::Evidence;
use likenew_core::sample::Sample;
use likenew_core::units::Nanos;
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::stalls::{Rule, Wait, stalls};
use likenew_stats::summary::{maximum, median, quantile};

use super::curve_fit::percent;
use super::point::VisitName;
use super::workload_plan::WorkloadPlan;

/// Visits at different moments that differ by more than this make wide intervals.
const DIFFER: f64 = 0.1;
/// Where a quarter of the points differ by more than this, the others were only met at better moments.
const QUARTER_DIFFERS: f64 = 0.3;
/// Fewer points say little of all.
const POINTS_MIN: usize = 4;

/// Whether the drive was the same at every visit.
pub(super) fn verdict(workload_plan: &WorkloadPlan<'_>, evidence: &Evidence) -> Option<Verdict> {
    let short = workload_plan.points.iter().filter(|of| !workload_plan.is_run(&of.point));
    let spreads: Vec<f64> = short.filter_map(|of| of.spread()).collect();
    let (typical, worst) = (median(&spreads)?, maximum(&spreads)?);
    if spreads.len() < POINTS_MIN {
        return None;
    }
    let is_same = typical <= DIFFER && quantile(&spreads, 0.75)? <= QUARTER_DIFFERS;
    let standing = if is_same { Standing::Holds } else { Standing::Fails };
    let mut verdict = Verdict::new("It is the same from moment to moment.", standing).with_evidence(format!(
        "{} points were visited at different moments, which differ by {} typically and by {} at worst",
        spreads.len(),
        percent(typical),
        percent(worst)
    ));
    if let Some((count, longest)) = slow_points(evidence) {
        verdict = verdict.with_evidence(format!(
            "it answered nobody {count} times while small reads were measured, for {longest} at the longest; that time counts"
        ));
    }
    if standing == Standing::Fails {
        verdict = verdict.caveat(
            "something else uses the drive, or it has work of its own: all intervals are as wide as that, and a quieter moment gives \
             narrower ones",
        );
    }
    Some(verdict)
}

/// What is said of a drive that was not the same from moment to moment: nothing of it is sure.
pub(super) fn in_doubt(verdict: Verdict) -> Verdict {
    let caveat =
        "the drive was not the same from moment to moment, so that this may be the work of something else";
    Verdict { standing: Standing::Undecided, ..verdict }.caveat(caveat)
}

/// Stalls within visits of reads of one block or so, and the longest.
fn slow_points(evidence: &Evidence) -> Option<(usize, Nanos)> {
    let visits = evidence.segments.iter().filter(|segment| {
        let name = segment.workload.name.parse::<VisitName>();
        name.is_ok_and(|name| name.point.bytes <= 4096 && name.point.depth == 1 && !segment.workload.writes())
    });
    let found = visits.flat_map(|segment| {
        let wait =
            |sample: &Sample| Wait { start_ns: sample.due.0, end_ns: sample.done.0, position: sample.offset };
        let waits: Vec<Wait> = segment.slowest.iter().map(wait).collect();
        stalls(&waits, segment.latencies().quantile(0.5).0, Rule::default())
    });
    let found: Vec<u64> = found.map(|stall| stall.duration_ns).collect();
    Some((found.len(), Nanos(found.iter().copied().max()?)))
}
