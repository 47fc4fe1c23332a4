//! Finds stalls, times in which a drive answered no I/O, from slow I/Os that overlap. Also finds values that
//! stand out at equal distances, such as pauses of a drive that erases after a fixed number of bytes.

use super::interval::{Interval, rate_interval};
use super::summary::median;

/// A slow I/O is one that took at least `latency_ns_min`, and at least `factor` times the typical latency.
///
/// The floor keeps microseconds on a fast drive from being called stalls; the factor does that for usual
/// latencies on a slow one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// No latency below this is a stall, in nanoseconds.
    pub latency_ns_min: u64,
    /// How many times the typical latency a stall takes.
    pub factor: f64,
}

impl Default for Rule {
    /// 100 ms, the limit up to which a person takes an answer as instantaneous (Nielsen, "Usability Engineering",
    /// 1993, chapter 5, after Miller 1968), and ten times the typical latency.
    fn default() -> Self {
        Self { latency_ns_min: 100_000_000, factor: 10.0 }
    }
}

impl Rule {
    /// The latency from which on an I/O is slow, in nanoseconds: `max(latency_ns_min, factor × typical)`.
    ///
    /// # Panics
    /// When the factor is negative or not a number.
    pub fn threshold_ns(&self, latency_ns_typical: u64) -> u64 {
        assert!(self.factor >= 0.0, "a stall takes some times the typical latency, not {}", self.factor);
        self.latency_ns_min.max((self.factor * latency_ns_typical as f64).round() as u64)
    }
}

/// When an I/O was waited for, and where it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// When the I/O was due, in nanoseconds.
    pub start_ns: u64,
    /// When the I/O ended, in nanoseconds.
    pub end_ns: u64,
    /// Where, in bytes: the address, or the amount moved so far.
    pub position: u64,
}

/// One pause of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When the first of its I/Os was due, in nanoseconds.
    pub start_ns: u64,
    /// From `start_ns` until the last of its I/Os ended, in nanoseconds.
    pub duration_ns: u64,
    /// Where the first of its I/Os went, in bytes.
    pub position: u64,
    /// Slow I/Os that waited in it.
    pub ios: usize,
}

/// The stalls among these I/Os, in order of time: slow ones that overlap or touch are one stall. `latency_ns_typical`
/// is the median latency of all I/Os, the slow ones included.
///
/// # Panics
/// When an I/O ends before it starts.
pub fn stalls(waits: &[Wait], latency_ns_typical: u64, rule: Rule) -> Vec<Stall> {
    let threshold_ns = rule.threshold_ns(latency_ns_typical);
    let mut slow: Vec<Wait> =
        waits.iter().filter(|wait| duration_ns(wait) >= threshold_ns).copied().collect();
    slow.sort_unstable_by_key(|wait| (wait.start_ns, wait.end_ns, wait.position));
    let mut stalls: Vec<Stall> = Vec::new();
    for wait in slow {
        match stalls.last_mut() {
            Some(stall) if wait.start_ns - stall.start_ns <= stall.duration_ns => {
                stall.duration_ns = stall.duration_ns.max(wait.end_ns - stall.start_ns);
                stall.ios += 1;
            }
            _ => stalls.push(Stall {
                start_ns: wait.start_ns,
                duration_ns: duration_ns(&wait),
                position: wait.position,
                ios: 1,
            }),
        }
    }
    stalls
}

/// All stalls together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    /// How many there were.
    pub count: usize,
    /// How many to expect when the same work is done again, if stalls are independent of one another:
    /// [`rate_interval`]. Stalls that come in bursts vary more.
    pub count_interval: Interval,
    /// How long the drive answered no I/O, in nanoseconds.
    pub duration_ns: u64,
    /// Duration of the longest stall, in nanoseconds; zero when there was none.
    pub duration_ns_max: u64,
}

impl Total {
    /// The total of these stalls.
    ///
    /// # Panics
    /// When `confidence` is not between 0 and 1.
    pub fn sum(stalls: &[Stall], confidence: f64) -> Self {
        Self {
            count: stalls.len(),
            count_interval: rate_interval(stalls.len() as u64, confidence),
            duration_ns: stalls.iter().map(|stall| stall.duration_ns).sum(),
            duration_ns_max: stalls.iter().map(|stall| stall.duration_ns).max().unwrap_or(0),
        }
    }
}

fn duration_ns(wait: &Wait) -> u64 {
    assert!(wait.start_ns <= wait.end_ns, "{wait:?} ends before it starts");
    wait.end_ns - wait.start_ns
}

/// Spikes at equal distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Spikes {
    /// Distance between neighbors, in the unit of the places.
    pub period: f64,
    /// Standard error of the period.
    pub error: f64,
    /// Their places, in ascending order; some periods may have none.
    pub places: Vec<f64>,
    /// Size of the smallest spike.
    pub threshold: f64,
}

/// Fewest spikes of a series.
pub const SPIKES_MIN: usize = 4;
/// Most splits into spikes and other values that are tried: those with the widest gaps.
const PARTINGS: usize = 12;
/// Spikes are at most this share of all values. Chosen: what stands out more often is no spike.
const SHARE_MAX: f64 = 0.2;
/// Least ratio of the smallest spike to the largest other value. Chosen: noise has smaller gaps.
const RATIO_MIN: f64 = 1.1;
/// A split counts if its gap is at least this share of the widest one with regular spikes. Chosen: spikes of
/// one cause differ in size.
const COMPARABLE: f64 = 0.25;
/// Share of the distances that must be one period. Chosen: a spike is missed or doubled now and then.
const REGULAR: f64 = 0.8;
/// Share of the period within which a distance counts as one. Chosen: places scatter a little.
const NEAR: f64 = 0.06;

/// Finds spikes that come regularly, at least `period_min` apart, in a series of sizes at ascending places.
/// Steps between the places limit how well a distance is known.
///
/// # Panics
/// When `places` and `sizes` differ in length, or one of them is not a number.
pub fn spikes(places: &[f64], sizes: &[f64], period_min: f64) -> Option<Spikes> {
    assert_eq!(places.len(), sizes.len(), "each size has a place");
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_unstable_by(|one, other| sizes[*other].total_cmp(&sizes[*one]));
    let most = (sizes.len() as f64 * SHARE_MAX) as usize;
    let ratio = |count: usize| sizes[order[count - 1]] / sizes[order[count]].max(f64::MIN_POSITIVE);
    let mut partings: Vec<usize> =
        (SPIKES_MIN..=most).filter(|count| *count < order.len() && ratio(*count) >= RATIO_MIN).collect();
    partings.sort_unstable_by(|one, other| ratio(*other).total_cmp(&ratio(*one)));
    let step = median(&places.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>())?;
    let candidates = partings.into_iter().take(PARTINGS).filter_map(|count| {
        let mut chosen: Vec<f64> = order[..count].iter().map(|index| places[*index]).collect();
        chosen.sort_unstable_by(f64::total_cmp);
        let spikes = regular(join_segments(&chosen, step), step, sizes[order[count - 1]]);
        Some((ratio(count), spikes.filter(|spikes| spikes.period >= period_min)?))
    });
    let candidates: Vec<(f64, Spikes)> = candidates.collect();
    let (widest, _) = candidates.first()?;
    let comparable = (widest - 1.0) * COMPARABLE;
    let best = candidates.iter().filter(|(ratio, _)| ratio - 1.0 >= comparable);
    best.map(|(_, spikes)| spikes).max_by_key(|spikes| spikes.places.len()).cloned()
}

/// Joins adjacent values to one spike.
fn join_segments(places: &[f64], step: f64) -> Vec<f64> {
    let mut joined: Vec<f64> = Vec::with_capacity(places.len());
    for place in places {
        match joined.last() {
            Some(last) if place - last <= 2.5 * step => {}
            _ => joined.push(*place),
        }
    }
    joined
}

fn regular(places: Vec<f64>, step: f64, threshold: f64) -> Option<Spikes> {
    if places.len() < SPIKES_MIN {
        return None;
    }
    let distances: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let median_distance = median(&distances)?;
    let tolerance = (NEAR * median_distance).max(1.5 * step);
    let near = distances.iter().filter(|distance| (**distance - median_distance).abs() <= tolerance).count();
    if median_distance < 5.0 * step || (near as f64) < REGULAR * distances.len() as f64 {
        return None;
    }
    let (numbers, places) = number_spikes(&places, median_distance, tolerance);
    // Least squares of the places over their numbers.
    let count = places.len() as f64;
    if places.len() < SPIKES_MIN {
        return None;
    }
    let (mean_x, mean_y) = (numbers.iter().sum::<f64>() / count, places.iter().sum::<f64>() / count);
    let sum_xx: f64 = numbers.iter().map(|x| (x - mean_x).powi(2)).sum();
    let sum_xy: f64 = numbers.iter().zip(&places).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let period = sum_xy / sum_xx;
    let residual = |x: &f64, y: &f64| y - mean_y - period * (x - mean_x);
    let squares: f64 = numbers.iter().zip(&places).map(|(x, y)| residual(x, y).powi(2)).sum();
    // A place is known no better than the step between places.
    let variance = squares / (count - 2.0) + step * step / 12.0;
    Some(Spikes { period, error: (variance / sum_xx).sqrt(), places, threshold })
}

/// Numbers spikes by periods, and returns their places. Keeps those whole periods after the one before, from
/// the first that another follows after one period.
fn number_spikes(places: &[f64], period: f64, tolerance: f64) -> (Vec<f64>, Vec<f64>) {
    let mut pairs = places.windows(2);
    let first = pairs.position(|pair| (pair[1] - pair[0] - period).abs() <= tolerance).unwrap_or(0);
    let (mut numbers, mut kept) = (vec![0.0], vec![places[first]]);
    for place in &places[first + 1..] {
        let (number, last) = (numbers[numbers.len() - 1], kept[kept.len() - 1]);
        let periods = ((place - last) / period).round();
        if periods >= 1.0 && (place - last - periods * period).abs() <= tolerance * periods.sqrt() {
            numbers.push(number + periods);
            kept.push(*place);
        }
    }
    (numbers, kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn wait(start_ms: u64, end_ms: u64) -> Wait {
        Wait { start_ns: start_ms * MS, end_ns: end_ms * MS, position: start_ms }
    }

    #[test]
    fn overlapping_slow_ios_are_one_stall() {
        let waits =
            [wait(900, 1000), wait(0, 300), wait(100, 500), wait(500, 620), wait(650, 655), wait(120, 220)];
        let stalls = stalls(&waits, 2 * MS, Rule::default());
        assert_eq!(
            stalls,
            [
                Stall { start_ns: 0, duration_ns: 620 * MS, position: 0, ios: 4 },
                Stall { start_ns: 900 * MS, duration_ns: 100 * MS, position: 900, ios: 1 },
            ]
        );
    }

    #[test]
    fn the_total_of_two_stalls_and_of_none() {
        let stalls = stalls(&[wait(0, 300), wait(200, 620), wait(900, 1000)], 2 * MS, Rule::default());
        let total = Total::sum(&stalls, 0.95);
        assert_eq!((total.count, total.duration_ns, total.duration_ns_max), (2, 720 * MS, 620 * MS));
        assert_eq!(total.count_interval, rate_interval(2, 0.95));
        let none = Total::sum(&[], 0.95);
        assert_eq!(
            (none.count, none.duration_ns, none.duration_ns_max, none.count_interval.low),
            (0, 0, 0, 0.0)
        );
    }

    #[test]
    fn what_is_slow_depends_on_what_is_typical() {
        let rule = Rule::default();
        assert_eq!(
            (rule.threshold_ns(0), rule.threshold_ns(10 * MS), rule.threshold_ns(50 * MS)),
            (100 * MS, 100 * MS, 500 * MS)
        );
        assert_eq!(rule.threshold_ns(u64::MAX), u64::MAX);
        assert_eq!(stalls(&[wait(0, 200)], 50 * MS, rule), []);
        assert_eq!(stalls(&[], 0, rule), []);
    }

    #[test]
    #[should_panic(expected = "ends before it starts")]
    fn time_that_goes_back_is_a_mistake() {
        let _ = stalls(&[wait(2, 1)], 0, Rule::default());
    }

    proptest! {
        #[test]
        fn stalls_are_apart_and_count_every_slow_io(spans in prop::collection::vec((0u64..5000, 0u64..400), 0..60)) {
            let waits: Vec<Wait> = spans.iter().map(|(start, length)| wait(*start, start + length)).collect();
            let stalls = stalls(&waits, MS, Rule::default());
            prop_assert_eq!(stalls.iter().map(|stall| stall.ios).sum::<usize>(), spans.iter().filter(|(_, length)| *length >= 100).count());
            prop_assert!(stalls.windows(2).all(|pair| pair[0].start_ns + pair[0].duration_ns < pair[1].start_ns));
            prop_assert!(stalls.iter().all(|stall| stall.duration_ns >= 100 * MS));
        }
    }

    fn noise(index: usize) -> f64 {
        // Weyl's sequence: even, and without any period that matters here.
        (index as f64 * 0.618_033_988_75).fract()
    }

    fn series(period: f64, count: usize, height: f64) -> (Vec<f64>, Vec<f64>) {
        let places: Vec<f64> = (1..=count).map(|index| index as f64).collect();
        let crosses = |place: f64| (place / period).floor() > ((place - 1.0) / period).floor();
        let sizes = places.iter().enumerate();
        let sizes =
            sizes.map(|(index, place)| 1.0 + noise(index) + if crosses(*place) { height } else { 0.0 });
        (places.clone(), sizes.collect())
    }

    #[test]
    fn the_period_is_known_better_than_a_step() {
        for (period, count) in [(37.4, 400), (96.0, 600), (211.7, 2000)] {
            let (places, sizes) = series(period, count, 3.0);
            let spikes = spikes(&places, &sizes, 10.0).unwrap();
            assert!((spikes.period - period).abs() < 3.0 * spikes.error.max(0.01), "{period}: {spikes:?}");
            assert!(spikes.error < 0.25, "{spikes:?}");
        }
    }

    #[test]
    fn missing_and_additional_spikes_do_not_matter() {
        let (places, mut sizes) = series(50.0, 1500, 3.0);
        sizes[249] = 1.0;
        sizes[777] = 4.5;
        let spikes = spikes(&places, &sizes, 10.0).unwrap();
        assert!((spikes.period - 50.0).abs() < 0.2, "{spikes:?}");
    }

    #[test]
    fn small_ripples_do_not_hide_what_stands_out() {
        let (places, mut sizes) = series(180.0, 2000, 9.0);
        // A ripple that comes more often, and not as regularly.
        (0..2000).step_by(45).for_each(|index| sizes[index + index % 4] += 1.2);
        let spikes = spikes(&places, &sizes, 10.0).unwrap();
        assert!((spikes.period - 180.0).abs() < 0.5, "{spikes:?}");
    }

    #[test]
    fn noise_and_hiccups_are_no_period() {
        let (places, sizes) = series(1e9, 1000, 0.0);
        assert_eq!(spikes(&places, &sizes, 10.0), None);
        let mut hiccups = sizes;
        for index in [3, 110, 117, 402, 415, 800] {
            hiccups[index] = 9.0;
        }
        assert_eq!(spikes(&places, &hiccups, 10.0), None);
        assert_eq!(spikes(&[], &[], 10.0), None);
    }
}
