//! Decides whether a list of speeds is one cluster or two.
//!
//! All work is on the logarithms, because ratios of speeds are what matters. A straight slope along the order
//! (a disk's zones) is removed. The values are split where two clusters of equal spread separate best. Then
//! two questions decide. How many standard deviations are between the levels? And how likely are so few
//! values in the valley between them, if the density there were no lower than beside it, as in any
//! distribution with one peak? `docs/explanation/method.md` has the formulas and the counted errors.

use statrs::distribution::{Binomial, DiscreteCDF as _};

use crate::interval::{CONFIDENCE_95, Interval, median_interval, share_interval};
use crate::summary::{median, quantile_of_sorted, sorted};
use crate::trend::{Runs, SpeedPattern, runs_test, speed_pattern};

/// One level of speed, or two.
#[derive(Clone, Debug, PartialEq)]
pub enum Modality {
    /// One cluster. A share of up to [`OUTLIERS_SHARE`] may stand apart from it.
    One,
    /// Two clusters with a valley between them.
    Two(Levels),
    /// Too few values, too few of them in one group, or a valley that chance may have made.
    Undecided,
}

/// Two levels of speed.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// Median of the slower values.
    pub low: f64,
    /// Median of the faster values.
    pub high: f64,
    /// Share of the values that belong to the slower level.
    pub share_low: f64,
    /// The interval of `low` at 95 %; `None` below six values.
    pub low_interval: Option<Interval>,
    /// The interval of `high` at 95 %; `None` below six values.
    pub high_interval: Option<Interval>,
    /// The interval of `share_low` at 95%. Like the intervals of the medians, it assumes independent values,
    /// and is too narrow when slow ones come in [`runs`](Self::runs).
    pub share_low_interval: Interval,
    /// Distance between the levels over the spread of the values around them, in logarithms: D of Ashman,
    /// Bird and Zepf, "Detecting bimodality in astronomical datasets", Astronomical Journal 108 (1994)
    /// 2348–2361.
    pub separation: f64,
    /// Which of the values belong to the slower level, in the order they were given.
    pub slow: Vec<bool>,
    /// Whether slow values come one after another more often than by chance.
    pub runs: Runs,
}

/// With fewer values the answer is [`Modality::Undecided`].
pub const VALUES_MIN: usize = 10;
/// A group of at most this share of all values counts as outliers, not as a level. Chosen: one value in 33
/// says little about a level.
pub const OUTLIERS_SHARE: f64 = 0.03;
/// Levels closer than this ratio count as one. Chosen: a user of the drive would not notice the difference.
pub const RATIO_MIN: f64 = 1.25;

/// Fewest values of a level: one or two that stand apart are none.
const LEVEL_MIN: usize = 3;
/// A valley is real when chance makes it with at most this probability, and the levels are [`SEPARATION`] or
/// more apart. Chosen so that at most 1% of series of one level are taken for two (counted in
/// `docs/explanation/method.md`).
const SIGNIFICANCE: f64 = 0.01;
/// Separation (Ashman's D) for [`SIGNIFICANCE`], which falls to a tenth with each 1 below it. Chosen with it.
const SEPARATION: f64 = 7.0;
/// A valley is possible up to this probability, provided the levels are [`SEPARATION_DOUBT`] apart. Chosen: a
/// tenth of all series of one level may stay undecided.
const DOUBT: f64 = 0.1;
/// Least separation of two levels, and of an undecided answer up to [`DOUBT`]. Chosen: a uniform distribution
/// has 3.2, and some scatter above.
const SEPARATION_DOUBT: f64 = 4.0;
/// Probability up to which levels closer than [`SEPARATION_DOUBT`] stay undecided. Chosen: they need better
/// evidence.
const DOUBT_CLOSE: f64 = 0.001;
/// Least separation of any valley, however empty. Chosen: a uniform distribution, cut in the middle, has 3.2.
const SEPARATION_UNIFORM: f64 = 3.5;
/// Differences below this share are not resolved, so that exactly equal values have a spread. Chosen: smaller
/// ones do not matter to a user.
const RESOLUTION: f64 = 0.01;
/// Values further than this ratio from the median are clipped to it, so that zero has a logarithm. Chosen:
/// far beyond any real speed.
const RATIO_MAX: f64 = 1_000.0;

/// Decides whether speeds have one level or two. They are in the order they were measured, in any unit.
///
/// A series that falls or rises along a line has one level. Three or more levels are split into the two
/// groups that separate best.
///
/// # Panics
/// When a speed is negative or not a number.
pub fn bimodality(speeds: &[f64]) -> Modality {
    assert!(speeds.iter().all(|speed| *speed >= 0.0), "a speed is a number of at least zero");
    let center = median(speeds).unwrap_or(0.0);
    if speeds.len() < VALUES_MIN || center == 0.0 || !center.is_finite() {
        return Modality::Undecided;
    }
    let (least, most) = (center / RATIO_MAX, center * RATIO_MAX);
    let clamped: Vec<f64> = speeds.iter().map(|speed| speed.clamp(least, most)).collect();
    let logs: Vec<f64> = without_slope(clamped).into_iter().map(f64::ln).collect();
    let ascending = sorted(&logs);
    let split = Split::best(&ascending);
    match split.standing() {
        Standing::Valley => Modality::Two(split.levels(&logs, speeds)),
        Standing::None if !few_stand_apart(&ascending) => Modality::One,
        _ => Modality::Undecided,
    }
}

/// Divides the speeds by the line they follow, if they follow one.
fn without_slope(speeds: Vec<f64>) -> Vec<f64> {
    match speed_pattern(&speeds) {
        Some(SpeedPattern::Sloping(line)) if line.at(0).min(line.at(speeds.len() - 1)) > 0.0 => {
            speeds.iter().enumerate().map(|(index, speed)| speed / line.at(index)).collect()
        }
        _ => speeds,
    }
}

/// How far a split can be trusted.
enum Standing {
    None,
    Doubtful,
    Valley,
}

/// Ascending logarithms in two groups.
struct Split<'a> {
    low: &'a [f64],
    high: &'a [f64],
}

impl<'a> Split<'a> {
    /// The best split if both groups are normal with one variance: the classification likelihood of Symons,
    /// "Clustering criteria and multivariate normal mixtures", Biometrics 37 (1981) 35–43. On equal groups it
    /// is Otsu's threshold. No group is small enough to be outliers. The likelihood moves outliers in to the
    /// values beside them; otherwise one file that hung would attract the split.
    fn best(logs: &'a [f64]) -> Self {
        let count = logs.len();
        let outliers = (OUTLIERS_SHARE * count as f64) as usize;
        let group_min = LEVEL_MIN.max(outliers + 1);
        let near = |value: &f64| value.clamp(logs[outliers], logs[count - 1 - outliers]);
        let mean = logs.iter().map(near).sum::<f64>() / count as f64;
        let squares: f64 = logs.iter().map(|value| (near(value) - mean).powi(2)).sum();
        let (mut sum, mut best) = (0.0, (f64::NEG_INFINITY, group_min));
        for at in 1..=count - group_min {
            sum += near(&logs[at - 1]) - mean;
            let share = at as f64 / count as f64;
            let between = sum * sum / (count as f64 * share * (1.0 - share));
            let variance = ((squares - between) / count as f64).max(RESOLUTION * RESOLUTION);
            let likelihood = share * share.ln() + (1.0 - share) * (1.0 - share).ln() - 0.5 * variance.ln();
            if at >= group_min && likelihood > best.0 {
                best = (likelihood, at);
            }
        }
        let (low, high) = logs.split_at(best.1);
        Self { low, high }
    }

    fn standing(&self) -> Standing {
        let (separation, chance) = (self.separation(), self.chance());
        // Each unit that the levels are closer costs a factor of ten, because few values of a uniform distribution
        // easily look further apart than they are.
        let chance_max = SIGNIFICANCE * 10f64.powf((separation - SEPARATION).min(0.0));
        let doubt = if separation < SEPARATION_DOUBT { DOUBT_CLOSE } else { DOUBT };
        if self.distance() < RATIO_MIN.ln() || separation < SEPARATION_UNIFORM || chance > doubt {
            Standing::None
        } else if separation < SEPARATION_DOUBT || chance > chance_max {
            Standing::Doubtful
        } else {
            Standing::Valley
        }
    }

    /// Distance of the two levels.
    fn distance(&self) -> f64 {
        at_share(self.high, 0.5) - at_share(self.low, 0.5)
    }

    /// Ashman's D.
    fn separation(&self) -> f64 {
        self.distance() / ((deviation(self.low).powi(2) + deviation(self.high).powi(2)) / 2.0).sqrt()
    }

    /// The probability of such a valley in a distribution with one peak. Three widths of the valley are
    /// tried: all between the groups, for tight ones; all between their inner quartiles, for groups whose
    /// tails meet; and one in between.
    fn chance(&self) -> f64 {
        let of_width = |cut: f64| {
            let valley = (at_share(self.low, 1.0 - cut), at_share(self.high, cut));
            let beside_low = self.emptiness(valley, (at_share(self.low, cut), valley.0));
            let beside_high = self.emptiness(valley, (valley.1, at_share(self.high, 1.0 - cut)));
            beside_low.max(beside_high)
        };
        [0.0, 0.05, 0.25].map(of_width).into_iter().fold(1.0, f64::min)
    }

    /// The probability of so few values in the valley if its density were that of the flank beside it.
    fn emptiness(&self, valley: (f64, f64), flank: (f64, f64)) -> f64 {
        let values = || self.low.iter().chain(self.high);
        let inside = values().filter(|value| **value > valley.0 && **value < valley.1).count() as u64;
        // A flank's end is one of its own values, which says nothing of the density.
        let beside = values().filter(|value| **value >= flank.0 && **value <= flank.1).count();
        let beside = beside.saturating_sub(1) as u64;
        let (valley_width, flank_width) = (valley.1 - valley.0, (flank.1 - flank.0).max(2.0 * RESOLUTION));
        if valley_width <= 0.0 {
            return 1.0;
        }
        let share = valley_width / (valley_width + flank_width);
        Binomial::new(share, inside + beside).expect("a share is a probability").cdf(inside)
    }

    fn levels(&self, logs: &[f64], speeds: &[f64]) -> Levels {
        let limit = self.high[0];
        let slow: Vec<bool> = logs.iter().map(|value| *value < limit).collect();
        let level = |of_slow: bool| {
            let speeds = speeds.iter().zip(&slow).filter(|(_, slow)| **slow == of_slow);
            let speeds: Vec<f64> = speeds.map(|(speed, _)| *speed).collect();
            (median(&speeds).expect("a level has values"), median_interval(&speeds, CONFIDENCE_95))
        };
        let ((low, low_interval), (high, high_interval)) = (level(true), level(false));
        let (slow_count, count) = (self.low.len() as u64, logs.len() as u64);
        Levels {
            low,
            high,
            share_low: slow_count as f64 / count as f64,
            low_interval,
            high_interval,
            share_low_interval: share_interval(slow_count, count, CONFIDENCE_95).expect("there are values"),
            separation: self.separation(),
            runs: runs_test(&slow).expect("both levels have values"),
            slow,
        }
    }
}

/// Whether one or two values, too many of so few to be called outliers, lie far from all others.
fn few_stand_apart(logs: &[f64]) -> bool {
    let apart = |others: &[f64], gap: f64| gap > RATIO_MIN.ln().max(SEPARATION * deviation(others));
    (1..LEVEL_MIN).filter(|few| *few as f64 > OUTLIERS_SHARE * logs.len() as f64).any(|few| {
        let (from_below, from_above) = (&logs[few..], &logs[..logs.len() - few]);
        apart(from_below, from_below[0] - logs[few - 1])
            || apart(from_above, logs[logs.len() - few] - from_above[from_above.len() - 1])
    })
}

/// The standard deviation from the inner 80 %, which lie within ±1.2816 of it when normal; outliers do not enter.
fn deviation(ascending: &[f64]) -> f64 {
    ((at_share(ascending, 0.9) - at_share(ascending, 0.1)) / (2.0 * 1.281_55)).max(RESOLUTION)
}

fn at_share(ascending: &[f64], share: f64) -> f64 {
    quantile_of_sorted(ascending, share).expect("a group has values")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn levels(speeds: &[f64]) -> Levels {
        let Modality::Two(levels) = bimodality(speeds) else {
            panic!("{:?} of {speeds:?}", bimodality(speeds))
        };
        levels
    }

    #[test]
    fn exact_levels_of_a_simulated_drive() {
        let speeds: Vec<f64> = (0..40).map(|index| if index / 5 % 2 == 0 { 76.0 } else { 5.0 }).collect();
        let clustered = levels(&speeds);
        assert_eq!((clustered.low, clustered.high, clustered.share_low), (5.0, 76.0, 0.5));
        assert_eq!(clustered.low_interval, Some(Interval { low: 5.0, high: 5.0 }));
        assert_eq!(clustered.high_interval, Some(Interval { low: 76.0, high: 76.0 }));
        // 20 of 40: the share by Wilson's formula, ½ ± 1.96/(2·√(40 + 1.96²)).
        let half = 1.959_964 / (2.0 * (40.0f64 + 1.959_964f64.powi(2)).sqrt());
        assert!((clustered.share_low_interval.low - (0.5 - half)).abs() < 1e-6);
        assert!(clustered.separation > 100.0 && clustered.runs.is_clustered());
        assert!(clustered.slow.iter().zip(&speeds).all(|(slow, speed)| *slow == (*speed == 5.0)));
        let alternating: Vec<f64> = (0..40).map(|index| if index % 2 == 0 { 76.0 } else { 5.0 }).collect();
        assert!(!levels(&alternating).runs.is_clustered());
    }

    #[test]
    fn equal_few_or_vanishing_speeds() {
        assert_eq!(bimodality(&[76.0; 30]), Modality::One);
        assert_eq!(bimodality(&[76.0; 9]), Modality::Undecided);
        assert_eq!((bimodality(&[]), bimodality(&[0.0; 30])), (Modality::Undecided, Modality::Undecided));
        assert_eq!(bimodality(&[f64::INFINITY; 30]), Modality::Undecided);
    }

    #[test]
    fn a_small_difference_is_no_second_level() {
        let speeds: Vec<f64> = (0..40).map(|index| if index % 2 == 0 { 100.0 } else { 120.0 }).collect();
        assert_eq!(bimodality(&speeds), Modality::One);
    }

    #[test]
    fn a_hanging_file_neither_makes_nor_hides_levels() {
        let even = |index: usize| 76.0 + (index % 7) as f64;
        let mut speeds: Vec<f64> = (0..100).map(even).collect();
        speeds[50] = 0.0;
        assert_eq!(bimodality(&speeds), Modality::One);
        (20..50).for_each(|index| speeds[index] /= 3.0);
        assert_eq!(levels(&speeds).share_low, 0.31);
    }

    #[test]
    fn a_staircase_of_zones_is_one_level_and_slow_files_on_it_are_another() {
        for zones in 3..20 {
            let mut speeds: Vec<f64> =
                (0..240).map(|index| 150.0 - (index * zones / 240 * 75 / zones) as f64).collect();
            assert_eq!(bimodality(&speeds), Modality::One, "{zones} zones");
            (0..240).filter(|index| index / 8 % 4 == 1).for_each(|index| speeds[index] /= 6.0);
            let levels = levels(&speeds);
            assert!(
                levels.slow.iter().enumerate().all(|(index, slow)| *slow == (index / 8 % 4 == 1)),
                "{zones} zones"
            );
        }
    }

    #[test]
    fn two_of_ten_are_too_few_for_a_level_and_too_many_for_outliers() {
        let mut speeds: Vec<f64> = (0..10).map(|index| 76.0 + f64::from(index % 4)).collect();
        assert_eq!(bimodality(&speeds), Modality::One);
        speeds[3] = 7.0;
        assert_eq!(bimodality(&speeds), Modality::Undecided);
        speeds[8] = 8.0;
        assert_eq!(bimodality(&speeds), Modality::Undecided);
        (speeds[3], speeds[8]) = (300.0, 310.0);
        assert_eq!(bimodality(&speeds), Modality::Undecided);
    }

    #[test]
    #[should_panic(expected = "at least zero")]
    fn a_negative_speed_is_a_mistake() {
        let _ = bimodality(&[-1.0; 20]);
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter_and_levels_are_in_order(speeds in prop::collection::vec(prop_oneof![1.0..2.0f64, 20.0..30.0f64], 0..80)) {
            let scaled: Vec<f64> = speeds.iter().map(|speed| speed * 1_048_576.0).collect();
            match (bimodality(&speeds), bimodality(&scaled)) {
                (Modality::Two(unscaled), Modality::Two(scaled)) => {
                    prop_assert!(unscaled.low < unscaled.high && scaled.slow == unscaled.slow);
                    prop_assert!((scaled.low / unscaled.low - 1_048_576.0).abs() < 1e-6);
                    let slow = unscaled.slow.iter().filter(|slow| **slow).count();
                    prop_assert_eq!(unscaled.share_low, slow as f64 / speeds.len() as f64);
                }
                (one, other) => prop_assert_eq!(one, other),
            }
        }
    }
}
