//! Values that stand out of a series at equal distances: pauses of a drive that erases after every so many
//! bytes.
//!
//! No threshold for spikes is given. The values are split at the widest gaps in size, and of the splits whose
//! larger values come regularly and stand out about as far as any, the one with the most of them counts.

use crate::summary::median;

/// Spikes at equal distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Spikes {
    /// Distance from one to the next, in the unit of the places.
    pub period: f64,
    /// Standard error of the period.
    pub error: f64,
    /// Their places, in ascending order; some periods may have none.
    pub places: Vec<f64>,
    /// The smallest of them.
    pub threshold: f64,
}

/// Fewer spikes than this are no series.
pub const SPIKES_MIN: usize = 4;
/// Splits that are tried: those with the widest gaps.
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

/// The spikes of a series of sizes at ascending places, if there are any that come regularly, and no sooner than after
/// `period_min`. Steps between the places limit how well a distance is known.
///
/// # Panics
/// When there are not as many places as sizes, or one of them is not a number.
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
    let found = partings.into_iter().take(PARTINGS).filter_map(|count| {
        let mut chosen: Vec<f64> = order[..count].iter().map(|index| places[*index]).collect();
        chosen.sort_unstable_by(f64::total_cmp);
        let spikes = regular(join_segments(&chosen, step), step, sizes[order[count - 1]]);
        Some((ratio(count), spikes.filter(|spikes| spikes.period >= period_min)?))
    });
    let found: Vec<(f64, Spikes)> = found.collect();
    let (widest, _) = found.first()?;
    let comparable = (widest - 1.0) * COMPARABLE;
    let best = found.iter().filter(|(ratio, _)| ratio - 1.0 >= comparable);
    best.map(|(_, spikes)| spikes).max_by_key(|spikes| spikes.places.len()).cloned()
}

/// Adjacent values are one spike.
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
    let usual = median(&distances)?;
    let tolerance = (NEAR * usual).max(1.5 * step);
    let near = distances.iter().filter(|distance| (**distance - usual).abs() <= tolerance).count();
    if usual < 5.0 * step || (near as f64) < REGULAR * distances.len() as f64 {
        return None;
    }
    let (numbers, places) = number_spikes(&places, usual, tolerance);
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
    // A place is not known better than to the step it is in.
    let variance = squares / (count - 2.0) + step * step / 12.0;
    Some(Spikes { period, error: (variance / sum_xx).sqrt(), places, threshold })
}

/// Which period each spike begins, of those that are whole periods after the one before; the first is the
/// first that another follows after one period.
fn number_spikes(places: &[f64], usual: f64, tolerance: f64) -> (Vec<f64>, Vec<f64>) {
    let mut pairs = places.windows(2);
    let first = pairs.position(|pair| (pair[1] - pair[0] - usual).abs() <= tolerance).unwrap_or(0);
    let (mut numbers, mut kept) = (vec![0.0], vec![places[first]]);
    for place in &places[first + 1..] {
        let (number, last) = (numbers[numbers.len() - 1], kept[kept.len() - 1]);
        let periods = ((place - last) / usual).round();
        if periods >= 1.0 && (place - last - periods * usual).abs() <= tolerance * periods.sqrt() {
            numbers.push(number + periods);
            kept.push(*place);
        }
    }
    (numbers, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let found = spikes(&places, &sizes, 10.0).unwrap();
            assert!((found.period - period).abs() < 3.0 * found.error.max(0.01), "{period}: {found:?}");
            assert!(found.error < 0.25, "{found:?}");
        }
    }

    #[test]
    fn missing_and_additional_spikes_do_not_matter() {
        let (places, mut sizes) = series(50.0, 1500, 3.0);
        sizes[249] = 1.0;
        sizes[777] = 4.5;
        let found = spikes(&places, &sizes, 10.0).unwrap();
        assert!((found.period - 50.0).abs() < 0.2, "{found:?}");
    }

    #[test]
    fn small_ripples_do_not_hide_what_stands_out() {
        let (places, mut sizes) = series(180.0, 2000, 9.0);
        // A ripple that comes more often, and not as regularly.
        (0..2000).step_by(45).for_each(|index| sizes[index + index % 4] += 1.2);
        let found = spikes(&places, &sizes, 10.0).unwrap();
        assert!((found.period - 180.0).abs() < 0.5, "{found:?}");
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
