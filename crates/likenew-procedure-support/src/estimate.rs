//! Means and ratios of passes with their intervals, and whether they are clearly above or below a bound.

use likenew_core::findings::Answer;
use likenew_core::io::Op;
use likenew_core::segment::{Segment, Stop};
use likenew_core::tally::Tally;
use likenew_core::units::Nanos;
use likenew_stats::interval::{
    CONFIDENCE_95, Goal, Interval, Precision, mean_interval, precision, ratio_interval,
};
use likenew_stats::summary::mean;

/// A mean of passes, or a ratio of two means, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The interval, at 95% unless stated otherwise; `None` for a single pass.
    pub interval: Option<Interval>,
}

impl From<f64> for Estimate {
    /// A number that was measured once.
    fn from(value: f64) -> Self {
        Self { value, interval: None }
    }
}

/// What an estimate shows about a bound or a range. It is clear only if the whole interval agrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More than the bound.
    Above,
    /// Less than the bound.
    Below,
    /// Within a range that makes no difference.
    Alike,
    /// The interval lies on both sides of the bound.
    Unclear,
    /// A single pass has no interval.
    OnePass,
}

impl Verdict {
    /// Whether the whole interval agrees.
    pub fn is_clear(self) -> bool {
        matches!(self, Self::Above | Self::Below | Self::Alike)
    }
}

impl Estimate {
    /// The mean of some passes; `None` without any.
    pub fn of_passes(passes: &[f64]) -> Option<Self> {
        Some(Self { value: mean(passes)?, interval: mean_interval(passes, CONFIDENCE_95) })
    }

    /// The ratio of two means. Its interval follows from a formula, so that equal plans give equal results.
    pub fn of_ratio(passes: &[f64], others: &[f64]) -> Option<Self> {
        Some(Self {
            value: mean(passes)? / mean(others)?,
            interval: ratio_interval(passes, others, CONFIDENCE_95),
        })
    }

    /// Converts value and interval, for example to a percentage or to the share that was lost.
    #[must_use]
    pub fn map(self, form: impl Fn(f64) -> f64) -> Self {
        let interval = self.interval.map(|Interval { low, high }| {
            let (one, other) = (form(low), form(high));
            Interval { low: one.min(other), high: one.max(other) }
        });
        Self { value: form(self.value), interval }
    }

    /// Cuts the interval at 0, for values that are never negative, such as speeds.
    #[must_use]
    pub fn not_negative(self) -> Self {
        let clamped = |Interval { low, high }| Interval { low: f64::max(low, 0.0), high };
        Self { interval: self.interval.map(clamped), ..self }
    }

    /// The lower end of the interval.
    pub fn low(&self) -> Option<f64> {
        self.interval.map(|interval| interval.low)
    }

    /// The upper end of the interval.
    pub fn high(&self) -> Option<f64> {
        self.interval.map(|interval| interval.high)
    }

    /// Both ends of the interval; for a single pass, the number itself.
    pub fn ends(&self) -> [f64; 2] {
        self.interval.map_or([self.value; 2], |interval| [interval.low, interval.high])
    }

    /// Half the width of the interval.
    pub fn half_width(&self) -> Option<f64> {
        self.interval.map(|interval| (interval.high - interval.low) / 2.0)
    }

    /// Adds the estimate to an answer, unless it is of a single pass.
    pub fn put(&self, answer: Answer, unit: &str) -> Answer {
        match self.interval {
            Some(Interval { low, high }) => answer.estimate(self.value, low, high, unit),
            None => answer,
        }
    }

    /// Which side of `bound` the estimate is on.
    pub fn against(&self, bound: f64) -> Verdict {
        match self.interval {
            None => Verdict::OnePass,
            Some(Interval { low, .. }) if low >= bound => Verdict::Above,
            Some(Interval { high, .. }) if high < bound => Verdict::Below,
            Some(_) => Verdict::Unclear,
        }
    }

    /// Whether the estimate is inside or outside of a range that makes no difference.
    pub fn within(&self, low: f64, high: f64) -> Verdict {
        match (self.against(low), self.against(high)) {
            (Verdict::Above, Verdict::Below) => Verdict::Alike,
            (Verdict::Below, _) => Verdict::Below,
            (_, Verdict::Above) => Verdict::Above,
            (Verdict::OnePass, _) => Verdict::OnePass,
            _ => Verdict::Unclear,
        }
    }

    /// Whether a ratio is inside a range about 1 that makes no difference; if not, on which side of 1 it is.
    pub fn differs(&self, low: f64, high: f64) -> Verdict {
        match self.within(low, high) {
            Verdict::Alike => Verdict::Alike,
            _ => self.against(1.0),
        }
    }
}

/// The passes of one cell of a grid that measured something, and their mean.
#[derive(Clone)]
pub struct Passes<'a> {
    /// The passes, in the order they ran.
    pub segments: Vec<&'a Segment>,
    /// Bytes a second of each pass.
    pub speeds: Vec<f64>,
    /// The I/Os of all passes together.
    pub total: Tally,
    /// Mean of the passes, in bytes a second.
    pub rate: Estimate,
    /// Whether the mean is known as precisely as was asked for; `None` if nothing was asked.
    pub precision: Option<Precision>,
}

impl<'a> Passes<'a> {
    /// `None` if no segment measured anything. `goal`: the precision of the mean, if one was asked for.
    pub fn new(segments: impl IntoIterator<Item = &'a Segment>, goal: Option<&Goal>) -> Option<Self> {
        let measured = segments.into_iter().filter_map(|segment| Some((segment, segment.bytes_per_s()?)));
        let (segments, speeds): (Vec<&Segment>, Vec<f64>) = measured.unzip();
        let mut rate = Estimate::of_passes(&speeds)?;
        let precision = goal.map(|goal| precision(&speeds, goal));
        if let Some(Precision::Reached(interval) | Precision::Unreachable(interval)) = precision {
            rate.interval = Some(interval);
        }
        let mut total = Tally::new(0, Op::Read);
        segments.iter().for_each(|segment| total.merge(&segment.total()));
        Some(Self { segments, speeds, total, rate, precision })
    }

    /// Mean of the passes, in IOPS.
    pub fn iops(&self) -> Estimate {
        let passes: Vec<f64> = self.segments.iter().filter_map(|segment| segment.iops()).collect();
        Estimate::of_passes(&passes).expect("a cell has a pass")
    }

    /// Total time of the passes.
    pub fn elapsed(&self) -> Nanos {
        Nanos(self.segments.iter().map(|segment| segment.elapsed().0).sum())
    }

    /// Whether there is a single pass, which does not show how much results vary.
    pub fn is_one(&self) -> bool {
        self.segments.len() < 2
    }
}

/// Whether a workload ran to its own bound and measured something.
pub fn is_whole(segment: &Segment) -> bool {
    segment.stop == Stop::Reached && segment.measurement_error().is_none()
}

/// Groups values by key, in order of first appearance.
pub fn grouped<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// The values without repeats, in order of first appearance.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    grouped(values.into_iter().map(|value| (value, ()))).into_iter().map(|(value, _)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_clear_only_where_its_interval_is() {
        let ratio = |low, high| Estimate { value: 1.0, interval: Some(Interval { low, high }) };
        assert_eq!(ratio(0.9, 0.94).against(0.95), Verdict::Below);
        assert_eq!(ratio(0.95, 1.0).against(0.95), Verdict::Above);
        assert_eq!(ratio(0.9, 1.0).against(0.95), Verdict::Unclear);
        assert_eq!(Estimate { value: 1.0, interval: None }.against(0.95), Verdict::OnePass);
        for (low, high, within, differs) in [
            (0.96, 1.04, Verdict::Alike, Verdict::Alike),
            (1.01, 1.2, Verdict::Unclear, Verdict::Above),
            (1.06, 1.2, Verdict::Above, Verdict::Above),
            (0.5, 0.9, Verdict::Below, Verdict::Below),
            (0.8, 1.2, Verdict::Unclear, Verdict::Unclear),
        ] {
            assert_eq!(ratio(low, high).within(0.95, 1.05), within, "{low} to {high}");
            assert_eq!(ratio(low, high).differs(0.95, 1.05), differs, "{low} to {high}");
        }
        assert_eq!(Estimate { value: 1.0, interval: None }.within(0.95, 1.05), Verdict::OnePass);
    }

    #[test]
    fn what_is_lost_has_the_ends_of_what_is_left_the_other_way_round() {
        let left = Estimate { value: 0.75, interval: Some(Interval { low: 0.5, high: 1.25 }) };
        let lost = left.map(|share| 1.0 - share);
        assert_eq!((lost.value, lost.low(), lost.high()), (0.25, Some(-0.25), Some(0.5)));
        assert_eq!(lost.not_negative().low(), Some(0.0));
    }

    #[test]
    fn groups_are_in_order_of_first_appearance() {
        assert_eq!(grouped([('b', 1), ('a', 2), ('b', 3)]), [('b', vec![1, 3]), ('a', vec![2])]);
        assert_eq!(distinct([2, 1, 2]), [2, 1]);
    }
}
