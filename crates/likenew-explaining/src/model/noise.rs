//! How much a point differs from visit to visit, and which I/Os stalled: what a busy or noisy target does to
//! a model.

use likenew_core::findings::{Answer, Standing};
use likenew_core::io::Sample;
use likenew_core::procedure::Evidence;
use likenew_core::units::Nanos;
use likenew_stats::stalls::{Rule, Wait, stalls};
use likenew_stats::summary::{maximum, median, quantile};

use super::point::VisitName;
use super::wording::{self, Stalls};
use super::workload_plan::WorkloadPlan;

/// Median difference between visits of a point, as a share, above which intervals become wide. Chosen: a
/// quiet drive repeats within a few percent.
const DIFFER: f64 = 0.1;
/// A quarter of the points differing by more than this share means that the others were only visited at
/// better moments. Chosen: far above the spread of a quiet drive.
const QUARTER_DIFFERS: f64 = 0.3;
/// Fewer points than this show little.
const POINTS_MIN: usize = 4;

/// Whether the drive gave the same result at every visit.
pub(super) struct Steadiness {
    pub(super) is_steady: bool,
    pub(super) answer: Answer,
}

/// How steady the drive was; `None` if there are too few points.
pub(super) fn steadiness(workload_plan: &WorkloadPlan<'_>, evidence: &Evidence) -> Option<Steadiness> {
    let short = workload_plan.points.iter().filter(|of| !workload_plan.is_run(&of.point));
    let spreads: Vec<f64> = short.filter_map(|of| of.spread()).collect();
    let (typical, worst) = (median(&spreads)?, maximum(&spreads)?);
    if spreads.len() < POINTS_MIN {
        return None;
    }
    let is_steady = typical <= DIFFER && quantile(&spreads, 0.75)? <= QUARTER_DIFFERS;
    let stalls = small_read_stalls(evidence);
    let answer = wording::steadiness(is_steady, spreads.len(), (typical, worst), stalls.as_ref());
    Some(Steadiness { is_steady, answer })
}

/// Lowers the confidence of an answer about an unsteady drive.
pub(super) fn in_doubt(answer: Answer) -> Answer {
    Answer { standing: Standing::Unknown, answer: wording::in_doubt(&answer.answer), ..answer }
}

/// Stalls within visits of reads of about one block, and the longest.
fn small_read_stalls(evidence: &Evidence) -> Option<Stalls> {
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
    Some(Stalls { count: found.len(), longest: Nanos(found.iter().copied().max()?) })
}
