//! Axes of charts: their ranges and labels.

use likenew_core::findings::{Axis, Scale as Wanted};

use crate::unit::Unit;

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    unit: Unit,
    /// Distance between ticks, if the ends were chosen to fit it.
    step: Option<f64>,
    /// Whether round values are powers of two.
    binary: bool,
}

/// Ratio of the highest to the lowest value from which their axis is logarithmic. Chosen: three powers of ten
/// do not fit a linear axis.
const LOGARITHMIC_FROM: f64 = 1000.0;
/// Ratio of the last to the first position from which their axis is logarithmic, if they also crowd. Chosen:
/// six doublings, as in a list of block sizes.
const LOGARITHMIC_POSITIONS_FROM: f64 = 64.0;
/// Positions crowd if half of them are within this share of the axis. Chosen: a tenth of the axis hides differences.
const CROWDED: f64 = 0.1;

impl Scale {
    /// The axis of values: from 0 (or the lowest value below 0) to a round number above the highest. It is logarithmic from the
    /// lowest to the highest if requested, or if needed to tell values apart. `None` without values.
    pub(crate) fn of_values(
        values: impl Iterator<Item = f64>,
        axis: &Axis,
        ticks_max: usize,
    ) -> Option<Self> {
        let [low, high] = range(values)?;
        let unit = Unit::parse(&axis.unit);
        let binary = unit == Unit::Amount;
        let wanted = axis.scale == Wanted::Log && high > low;
        if low > 0.0 && (wanted || high / low >= LOGARITHMIC_FROM) {
            return Some(Self {
                low,
                high: decimals_apart(low, high),
                logarithmic: true,
                unit,
                step: None,
                binary,
            });
        }
        let low = low.min(0.0);
        let high = decimals_apart(low, high);
        let step = step(high - low, ticks_max, &unit);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Some(Self { low, high, logarithmic: false, unit, step: Some(step), binary })
    }

    /// The axis of positions, exactly from the first to the last. `None` without positions.
    pub(crate) fn of_positions(positions: impl Iterator<Item = f64>, axis: &Axis) -> Option<Self> {
        let mut sorted: Vec<f64> = positions.collect();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted[sorted.len() / 2];
        let crowded = high / low >= LOGARITHMIC_POSITIONS_FROM && (middle - low) < CROWDED * (high - low);
        let logarithmic = low > 0.0 && (axis.scale == Wanted::Log || crowded);
        let unit = Unit::parse(&axis.unit);
        let binary =
            unit == Unit::Amount || unit == Unit::Plain && sorted.iter().all(|x| is_power_of_two(*x));
        Some(Self { low, high: decimals_apart(low, high), logarithmic, unit, step: None, binary })
    }

    /// Both ends, as positions on the axis.
    pub(crate) fn bounds(&self) -> [f64; 2] {
        [self.place(self.low), self.place(self.high)]
    }

    /// The position of a value on the axis.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        if self.logarithmic { value.log10() } else { value }
    }

    /// The position of a value along the axis, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let [low, high] = self.bounds();
        (self.place(value) - low) / (high - low)
    }

    /// At most this many round values on the axis with their labels, each label once.
    pub(crate) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let values = if self.logarithmic { self.powers(most) } else { self.multiples(most) };
        let mut ticks: Vec<(f64, String)> =
            values.into_iter().map(|value| (value, self.label(value))).collect();
        // On an axis of a single value, all ticks are closer together than their labels can tell.
        ticks.dedup_by(|next, before| next.1 == before.1);
        ticks
    }

    fn label(&self, value: f64) -> String {
        // Times are spelled in minutes from two minutes on; on an axis of minutes, one minute is, too.
        let is_minute = self.unit == Unit::Span && value == 60e9;
        if is_minute { "1 min".into() } else { trim_zeros(&self.unit.spell(value)) }
    }

    fn multiples(&self, most: usize) -> Vec<f64> {
        let step = self.step.unwrap_or_else(|| step(self.high - self.low, most, &self.unit));
        let first = (self.low / step).ceil() as i64;
        // The tolerance keeps a last multiple that rounding put just above the end.
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|multiple| multiple as f64 * step).collect()
    }

    /// Round values of a logarithmic axis: powers, with 2 and 5 times the powers if these are too few. An
    /// axis that is too short even for those has multiples.
    fn powers(&self, most: usize) -> Vec<f64> {
        let most = most.max(2);
        let finest = if self.binary {
            self.multiples_between(2.0, &[1.0])
        } else {
            self.multiples_between(10.0, &[1.0, 2.0, 5.0])
        };
        let strides: &[i32] =
            if self.binary { &[1, 2, 4, 10, 20] } else { &[1, 2, 3, 4, 5, 10, 20, 50, 100] };
        let base: f64 = if self.binary { 2.0 } else { 10.0 };
        let coarser = strides.iter().map(|stride| self.multiples_between(base.powi(*stride), &[1.0]));
        let fitting = std::iter::once(finest).chain(coarser).find(|ticks| ticks.len() <= most);
        fitting.filter(|ticks| ticks.len() > 1).unwrap_or_else(|| self.multiples(most))
    }

    /// All powers of `base` times these digits on the axis.
    fn multiples_between(&self, base: f64, digits: &[f64]) -> Vec<f64> {
        let power = |value: f64| value.log10() / base.log10();
        let powers = (power(self.low).floor() as i32)..=(power(self.high).ceil() as i32);
        let values = powers.flat_map(|power| digits.iter().map(move |digit| digit * base.powi(power)));
        // The tolerance keeps powers that rounding put just beyond an end.
        values.filter(|value| (self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9)).contains(value)).collect()
    }
}

fn is_power_of_two(value: f64) -> bool {
    value >= 1.0 && value.log2().fract() == 0.0
}

/// `high`, or a value above `low` if they are too close to tell apart on an axis.
fn decimals_apart(low: f64, high: f64) -> f64 {
    let least = (low.abs() * 1e-9).max(f64::MIN_POSITIVE);
    if high - low >= least { high } else { low + least.max(1.0) }
}

/// Whether a number can be drawn: no measurement comes near the limit.
pub(crate) fn is_drawable(value: f64) -> bool {
    value.abs() < 1e30
}

/// The least and the largest of some values.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    values.map(|value| [value; 2]).reduce(|[low, high], [value, _]| [low.min(value), high.max(value)])
}

/// The smallest round step with which at most `most` ticks, including both ends, cover `span`.
fn step(span: f64, most: usize, unit: &Unit) -> f64 {
    let least = span / (most.max(2) - 1) as f64;
    /// Nanoseconds of a minute.
    const MINUTE_NS: f64 = 60e9;
    /// Nanoseconds of an hour.
    const HOUR_NS: f64 = 60.0 * MINUTE_NS;
    if *unit == Unit::Span && least > 5e9 {
        let times = [1e10, 2e10, 3e10]
            .into_iter()
            .chain([1.0, 2.0, 5.0, 10.0, 20.0, 30.0].map(|minutes| minutes * MINUTE_NS))
            .chain([1.0, 2.0, 4.0, 8.0, 12.0, 24.0].map(|hours| hours * HOUR_NS));
        if let Some(step) = times.into_iter().find(|step| *step >= least) {
            return step;
        }
    }
    if *unit == Unit::Amount && least > 1.0 {
        return 2_f64.powi(least.log2().ceil() as i32);
    }
    let power = 10_f64.powi(least.log10().floor() as i32);
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step >= least * 0.999_999)
        .unwrap_or(least)
}

/// `1.50 s` as `1.5 s`: round values need no trailing zeros.
fn trim_zeros(label: &str) -> String {
    let digits = label.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(label.len());
    let (number, unit) = label.split_at(digits);
    if !number.contains('.') {
        return label.to_owned();
    }
    format!("{}{unit}", number.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axis(unit: &str) -> Axis {
        Axis::new("", unit)
    }

    fn labels(scale: Option<Scale>, most: usize) -> Vec<String> {
        scale.unwrap().ticks(most).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn values_start_at_zero_and_end_round() {
        let rates = Scale::of_values([30e6, 251e6].into_iter(), &axis("bytes/s"), 4);
        assert_eq!(labels(rates, 4), ["0 MB/s", "100 MB/s", "200 MB/s", "300 MB/s"]);
        let latencies = Scale::of_values([8e4, 4e8].into_iter(), &axis("ns"), 4);
        assert_eq!(labels(latencies, 4), ["100 µs", "1 ms", "10 ms", "100 ms"]);
        let signed = Scale::of_values([-3.0, 5.0].into_iter(), &axis(""), 5);
        assert_eq!(labels(signed, 5), ["-4", "-2", "0", "2", "4", "6"]);
    }

    #[test]
    fn positions_are_labeled_in_the_steps_of_their_unit() {
        let minutes = Scale::of_positions([0.0, 3e11, 6e11].into_iter(), &axis("ns"));
        assert_eq!(labels(minutes, 4), ["0 ns", "5 min", "10 min"]);
        let short = Scale::of_positions([0.0, 125e9].into_iter(), &axis("ns"));
        assert_eq!(labels(short, 4), ["0 ns", "1 min", "2 min"]);
        let sizes = Scale::of_positions((9..=27).map(|power| 2_f64.powi(power)), &axis("bytes"));
        assert_eq!(labels(sizes, 4), ["4 KiB", "64 KiB", "1 MiB", "16 MiB"]);
        let fill = Scale::of_positions((1..=200).map(f64::from), &axis(""));
        assert_eq!(labels(fill, 6), ["50", "100", "150", "200"]);
        let written = Scale::of_positions((1..=1800).map(|gib| f64::from(gib) * 1e9), &axis("bytes"));
        assert_eq!(labels(written, 5), ["512 GiB", "1 TiB", "1.5 TiB"]);
    }

    #[test]
    fn a_logarithmic_axis_is_labeled_in_powers() {
        let along = |positions: &[f64], unit: &str, most: usize| {
            labels(Scale::of_positions(positions.iter().copied(), &axis(unit).logarithmic()), most)
        };
        assert_eq!(along(&[4096.0, 65536.0], "bytes", 8), ["4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB"]);
        assert_eq!(along(&[512.0, 8_388_608.0], "bytes", 5), ["4 KiB", "64 KiB", "1 MiB"]);
        assert_eq!(along(&[1.0, 2.0, 8.0, 32.0], "", 6), ["1", "2", "4", "8", "16", "32"], "depths");
        assert_eq!(along(&[10.0, 90.0], "", 6), ["10", "20", "50"]);
        assert_eq!(along(&[1e3, 1e6], "", 6), ["1,000", "10,000", "100,000", "1,000,000"]);
        assert_eq!(along(&[80e3, 30e6], "ns", 5), ["100 µs", "1 ms", "10 ms"]);
        assert_eq!(
            along(&[110e3, 140e3], "ns", 4),
            ["110 µs", "120 µs", "130 µs", "140 µs"],
            "no power in it"
        );
        assert_eq!(along(&[0.0, 10.0], "", 3), ["0", "5", "10"], "nothing has no logarithm");
        let speeds = Scale::of_values([20e6, 900e6].into_iter(), &axis("bytes/s").logarithmic(), 5);
        assert_eq!(labels(speeds, 5), ["20 MB/s", "50 MB/s", "100 MB/s", "200 MB/s", "500 MB/s"]);
    }

    #[test]
    fn extremes_that_can_be_drawn_have_an_axis() {
        for pair in [[-9e29, 9e29], [1e-300, 2e-300], [9e29, 9e29], [1e-300, 9e29], [1e18, 1e18 + 256.0]] {
            let scale = Scale::of_values(pair.into_iter(), &axis(""), 4).unwrap();
            let along = Scale::of_positions(pair.into_iter(), &axis("bytes")).unwrap();
            for value in pair {
                assert!((0.0..=1.0).contains(&scale.share(value)), "{pair:?}");
                assert!((0.0..=1.0).contains(&along.share(value)), "{pair:?}");
            }
            assert!(scale.ticks(4).len() <= 6 && along.ticks(4).len() <= 6, "{pair:?}");
        }
        assert!(!is_drawable(f64::MAX) && !is_drawable(f64::NAN) && is_drawable(-1e18));
    }

    #[test]
    fn nothing_and_a_single_value_are_no_trouble() {
        assert_eq!(Scale::of_values([].into_iter(), &axis("bytes/s"), 4), None);
        assert_eq!(Scale::of_positions([].into_iter(), &axis("bytes/s")), None);
        let zero = Scale::of_values([0.0].into_iter(), &axis(""), 3).unwrap();
        assert_eq!(zero.share(0.0), 0.0);
        let single = Scale::of_positions([7.0].into_iter(), &axis("")).unwrap();
        assert_eq!(single.share(7.0), 0.0);
    }

    #[test]
    fn equal_positions_are_labeled_once() {
        let same = Scale::of_positions([5e8, 5e8].into_iter(), &axis("ns"));
        assert_eq!(labels(same, 6), ["500 ms"]);
    }

    proptest! {
        #[test]
        fn every_value_lies_on_the_axis(values in prop::collection::vec(-1e12f64..1e12, 1..50), most in 0usize..12) {
            for unit in ["bytes/s", "bytes", "ns", ""] {
                for axis in [axis(unit), axis(unit).logarithmic()] {
                    let scale = Scale::of_values(values.iter().copied(), &axis, most).unwrap();
                    let along = Scale::of_positions(values.iter().copied(), &axis).unwrap();
                    prop_assert!(scale.ticks(most).len() <= most.max(2) + 1);
                    prop_assert!(along.ticks(most).len() <= most.max(2) + 1);
                    for value in &values {
                        prop_assert!((0.0..=1.0).contains(&scale.share(*value)));
                        prop_assert!((0.0..=1.0).contains(&along.share(*value)));
                    }
                }
            }
        }

        #[test]
        fn a_logarithmic_axis_has_ticks_between_its_ends(low in 1e-3f64..1e9, times in 1.01f64..1e9, most in 2usize..12) {
            for unit in ["bytes/s", "bytes", "ns", ""] {
                let ends = [low, low * times];
                let scale = Scale::of_positions(ends.into_iter(), &axis(unit).logarithmic()).unwrap();
                let ticks = scale.ticks(most);
                prop_assert!(ticks.windows(2).all(|pair| pair[0].0 < pair[1].0), "{ticks:?}");
                prop_assert!(ticks.iter().all(|(at, _)| (ends[0] * 0.999..=ends[1] * 1.001).contains(at)), "{ticks:?}");
                prop_assert!(ticks.len() <= most + 1);
            }
        }
    }
}
