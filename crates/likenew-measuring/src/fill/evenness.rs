//! What a list of speeds looks like: even, sloping, on two levels, or none of these.

use likenew_core::answer::{Answer, Standing};
use likenew_core::plan::Plan;
use likenew_core::quantity::Rate;
use likenew_stats::bimodality::{Modality, bimodality};
use likenew_stats::interval::{CONFIDENCE_95, window_interval};
use likenew_stats::speed_pattern::{SpeedPattern, speed_pattern};
use likenew_stats::summary::{mean, median, minimum, quantile};

use super::part::Unit;
use super::wording::{self, Scatter, Subject};

/// What the list of speeds looks like; it holds at least one.
pub(super) fn evenness(speeds: &[f64], unit: Unit, subject: Subject, plan: &Plan) -> Answer {
    let of = |metric: Option<f64>| metric.expect("there is a speed");
    let rate = |metric: Option<f64>| Rate(of(metric));
    let scatter = Scatter {
        number: speeds.len(),
        median: rate(median(speeds)),
        low: rate(quantile(speeds, 0.05)),
        high: rate(quantile(speeds, 0.95)),
        slowest: rate(minimum(speeds)),
    };
    let answer = shape(speeds, unit, subject, plan, &scatter).with_evidence(wording::scatter(unit, &scatter));
    // Files that follow one another depend on one another, so the interval is that of the mean of such a series.
    match window_interval(speeds, CONFIDENCE_95) {
        Some(interval) => answer.estimate(of(mean(speeds)), interval.low.max(0.0), interval.high, "bytes/s"),
        None => answer.caveat(wording::no_interval(unit, speeds.len())),
    }
}

fn shape(speeds: &[f64], unit: Unit, subject: Subject, plan: &Plan, scatter: &Scatter) -> Answer {
    let typical = scatter.median;
    if let Some(SpeedPattern::Sloping(trend)) = speed_pattern(speeds) {
        return slope(trend.at(0), trend.at(speeds.len() - 1), subject, plan);
    }
    match (bimodality(speeds), speed_pattern(speeds)) {
        (Modality::Two(levels), _) => wording::two_levels(subject, unit, &levels),
        (Modality::One, Some(SpeedPattern::Flat)) => wording::even(subject, unit, typical),
        (Modality::One, _) => wording::uneven(subject, unit, typical, scatter.low, scatter.high),
        (Modality::Undecided, _) => {
            let answer = wording::too_few(subject, unit, typical, speeds.len());
            answer.action(wording::more_parts(unit, plan))
        }
    }
}

/// A straight line from the first file to the last. Both ends come from a fit, so neither is below zero.
fn slope(first: f64, last: f64, subject: Subject, plan: &Plan) -> Answer {
    let (first, last) = (Rate(first.max(0.0)), Rate(last.max(0.0)));
    if last < first {
        return wording::falls(subject, first, last);
    }
    let answer = wording::rises(subject, first, last);
    let helps = answer.standing == Standing::Problem && subject == Subject::Writes;
    if helps { answer.action(wording::second_pass(plan)) } else { answer }
}
