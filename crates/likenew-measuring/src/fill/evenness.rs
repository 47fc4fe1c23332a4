//! The pattern of a list of speeds: even, sloping, on two levels, or none of these.

use likenew_core::answer::{Answer, Standing};
use likenew_core::procedure::Evidence;
use likenew_core::quantity::Rate;
use likenew_stats::bimodality::{Modality, bimodality};
use likenew_stats::interval::{CONFIDENCE_95, Interval, window_interval};
use likenew_stats::speed_pattern::{SpeedPattern, speed_pattern};
use likenew_stats::summary::{maximum, mean, median, minimum, quantile};

use super::Fill;
use super::wording::{self, Scatter, Subject};

/// Start and end of a slope are this share of the list, each: one in so many, at least one.
const END_SHARE: usize = 10;
/// A fitted line goes through both ends when it misses neither median by more than this share; our choice.
const LINE_MISS_MAX: f64 = 0.1;

/// The interval of the mean of a list that neither rises nor falls; of another one it would be a claim about a level that
/// the list does not have.
pub(super) fn level_interval(speeds: &[f64]) -> Option<Interval> {
    match speed_pattern(speeds) {
        Some(SpeedPattern::Sloping(_) | SpeedPattern::Stepped(_)) => None,
        _ => window_interval(speeds, CONFIDENCE_95),
    }
}

/// The pattern of a list of speeds, which holds at least one.
pub(super) fn evenness(speeds: &[f64], subject: Subject, fill: &Fill, evidence: &Evidence) -> Answer {
    let unit = fill.unit();
    let of = |metric: Option<f64>| metric.expect("there is a speed");
    let rate = |metric: Option<f64>| Rate(of(metric));
    let scatter = Scatter {
        number: speeds.len(),
        median: rate(median(speeds)),
        low: rate(quantile(speeds, 0.05)),
        high: rate(quantile(speeds, 0.95)),
        slowest: rate(minimum(speeds)),
        fastest: rate(maximum(speeds)),
    };
    let answer =
        form(speeds, subject, fill, evidence, &scatter).with_evidence(wording::scatter(unit, &scatter));
    // Neighboring files depend on each other, so the interval is that of the mean of such a series.
    match level_interval(speeds) {
        Some(interval) => answer.estimate(of(mean(speeds)), interval.low.max(0.0), interval.high, "bytes/s"),
        None if window_interval(speeds, CONFIDENCE_95).is_some() => answer,
        None => answer.caveat(wording::no_interval(unit, speeds.len())),
    }
}

fn form(speeds: &[f64], subject: Subject, fill: &Fill, evidence: &Evidence, scatter: &Scatter) -> Answer {
    let (unit, typical) = (fill.unit(), scatter.median);
    if let Some(SpeedPattern::Sloping(trend)) = speed_pattern(speeds) {
        return slope(speeds, [trend.at(0), trend.at(speeds.len() - 1)], subject, evidence);
    }
    match (bimodality(speeds), speed_pattern(speeds)) {
        (Modality::Two(levels), _) => wording::two_levels(subject, unit, &levels),
        (Modality::One, Some(SpeedPattern::Flat)) => wording::even(subject, unit, typical),
        (Modality::One, _) => wording::uneven(subject, unit, typical, scatter.low, scatter.high),
        (Modality::Undecided, _) => {
            let answer = wording::too_few(subject, unit, typical, speeds.len());
            let more =
                fill.more_parts(evidence).map(|(number, again)| wording::more_parts(unit, number, &again));
            more.into_iter().fold(answer, Answer::action)
        }
    }
}

/// Medians of the first tenth and of the last.
fn ends(speeds: &[f64]) -> [f64; 2] {
    let count = (speeds.len() / END_SHARE).max(1);
    let end = |speeds: &[f64]| median(speeds).expect("an end has a speed");
    [end(&speeds[..count]), end(&speeds[speeds.len() - count..])]
}

/// Whether the speeds rise along the list.
pub(super) fn rises(speeds: &[f64]) -> bool {
    let [first, last] = ends(speeds);
    matches!(speed_pattern(speeds), Some(SpeedPattern::Sloping(_))) && first <= last
}

/// From the median of the first tenth to that of the last, as the ends of the fitted `line` may lie where no file ran.
fn slope(speeds: &[f64], line: [f64; 2], subject: Subject, evidence: &Evidence) -> Answer {
    let ends = ends(speeds);
    let is_even = ends.into_iter().zip(line).all(|(end, line)| (line - end).abs() <= LINE_MISS_MAX * end);
    let [first, last] = ends.map(Rate);
    if last < first {
        return wording::falls(subject, first, last, is_even);
    }
    let answer = wording::rises(subject, first, last, is_even);
    let helps = answer.standing == Standing::Problem && subject == Subject::Writes;
    let recondition = wording::recondition(evidence).filter(|_| helps);
    recondition.into_iter().fold(answer, Answer::action)
}
