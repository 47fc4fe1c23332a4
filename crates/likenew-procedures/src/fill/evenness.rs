//! What a list of speeds looks like: even, sloping, on two levels, or none of these.

use likenew_core::units::rate;
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::bimodality::{Levels, Modality, bimodality};
use likenew_stats::interval::{Interval, window_interval};
use likenew_stats::speed_pattern::{SpeedPattern, speed_pattern};
use likenew_stats::summary::{mean, median, minimum, quantile};

use crate::CONFIDENCE;

/// The word for what was read back.
pub(super) const READ: &str = "read";

/// What was done to what, in the words of a sentence.
#[derive(Clone, Copy)]
pub(super) struct SentenceParts {
    /// `file` or `part`.
    pub(super) noun: &'static str,
    /// `written` or `read`.
    pub(super) verb: &'static str,
}

/// What the list of speeds looks like, in words; at least one.
pub(super) fn evenness(speeds: &[f64], words: SentenceParts) -> Verdict {
    let SentenceParts { noun, verb } = words;
    let typical = median(speeds).expect("there is a speed");
    let within = |verdict| with_figures(verdict, speeds, noun);
    if let Some(SpeedPattern::Sloping(trend)) = speed_pattern(speeds) {
        return within(slope(trend.at(0), trend.at(speeds.len() - 1), verb));
    }
    match (bimodality(speeds), speed_pattern(speeds)) {
        (Modality::Two(levels), _) => within(two_levels(&levels, noun)),
        (Modality::One, Some(SpeedPattern::Flat)) => within(Verdict::new(
            format!("Every {noun} was {verb} at about {}.", rate(typical)),
            Standing::Holds,
        )),
        (Modality::One, _) => within(Verdict::new(
            format!(
                "The {noun}s were {verb} at uneven speeds around {}, with no two clear levels.",
                rate(typical)
            ),
            Standing::Holds,
        )),
        (Modality::Undecided, _) => within(
            Verdict::new(format!("The {noun}s were {verb} at one speed."), Standing::Undecided).caveat(
                format!("more of them would tell whether there are two levels: give --{noun}s 100 or more"),
            ),
        ),
    }
}

/// Files that follow one another depend on one another, so the interval is that of the mean of such a series.
fn with_figures(verdict: Verdict, speeds: &[f64], noun: &str) -> Verdict {
    let of = |metric: Option<f64>| metric.expect("there is a speed");
    let average = of(mean(speeds));
    let verdict = verdict.with_evidence(format!(
        "the median of {} {noun}s is {}, nine in ten lie within {} and {}, the slowest is {}",
        speeds.len(),
        rate(of(median(speeds))),
        rate(of(quantile(speeds, 0.05))),
        rate(of(quantile(speeds, 0.95))),
        rate(of(minimum(speeds)))
    ));
    match window_interval(speeds, CONFIDENCE) {
        Some(interval) => verdict.estimate(average, interval.low.max(0.0), interval.high, "bytes/s"),
        None => verdict.caveat(format!("{} {noun}s are too few for an interval", speeds.len())),
    }
}

/// A straight line from the first file to the last. Both ends come from a fit, so neither is below zero.
fn slope(first: f64, last: f64, verb: &str) -> Verdict {
    let (first, last) = (first.max(0.0), last.max(0.0));
    if last < first {
        return Verdict::new(
            format!("The speed falls steadily from {} to {} along the space.", rate(first), rate(last)),
            Standing::Holds,
        )
        .with_evidence("a disk does so by design, as its outer tracks hold more; flash does not");
    }
    let rises =
        format!("The speed rises steadily from {} to {} as the space is {verb}.", rate(first), rate(last));
    if verb == READ {
        return Verdict::new(rises, Standing::Holds)
            .problem()
            .with_evidence("what lies at the start is read more slowly than what lies at the end: neither flash nor a disk is built so");
    }
    Verdict::new(rises, Standing::Holds)
    .problem()
    .with_evidence("writing in order gives a flash drive whole erase blocks back, so the slow start was stale data in its way")
    .caveat("a second pass would tell how much of it has come back for good: give --passes 2")
}

fn two_levels(levels: &Levels, noun: &str) -> Verdict {
    let claim = format!(
        "The {noun}s fall into two groups: {:.0} % at about {}, the rest at about {}, {} times as fast.",
        levels.share_low * 100.0,
        rate(levels.low),
        rate(levels.high),
        likenew_core::units::three_digits(levels.high / levels.low)
    );
    let order = if levels.runs.is_clustered() {
        "the slow ones come in runs, so whole stretches of the drive are slow"
    } else {
        "slow and fast ones alternate without order"
    };
    let share = levels.share_low_interval;
    let verdict = Verdict::new(claim, Standing::Holds).problem().with_evidence(order).with_evidence(format!(
        "the slow ones are {:.0} % to {:.0} % of all, with 95 % confidence",
        share.low * 100.0,
        share.high * 100.0
    ));
    let level = |name: &str, interval: Interval| {
        format!("the median of the {name} ones is between {} and {}", rate(interval.low), rate(interval.high))
    };
    let medians = [("slow", levels.low_interval), ("fast", levels.high_interval)];
    medians
        .into_iter()
        .filter_map(|(name, interval)| Some(level(name, interval?)))
        .fold(verdict, Verdict::with_evidence)
}
