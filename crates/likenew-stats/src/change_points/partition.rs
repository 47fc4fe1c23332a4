//! Where the squares around levels and slopes, plus a penalty for each, are least.

use std::ops::Range;

use statrs::distribution::{Binomial, DiscreteCDF as _};

use super::LEVEL_MIN;
use super::sums::Sums;

/// Penalties of a line. Chosen: it has one number more than a level, but no place to search for, as a second
/// level would have …
const PENALTIES_OF_A_LINE: f64 = 1.75;
/// … and those of a parabola. Chosen: it has one number more.
const PENALTIES_OF_A_PARABOLA: f64 = 2.25;
/// A level that may be a few values of a neighboring one, brought together by chance, does not count; this is
/// the probability of that anywhere in the series. Chosen: one series in a hundred.
const CHANCE_MAX: f64 = 0.01;

/// The stretches of a series, where each level or slope costs a penalty and changes count from this share on.
///
/// Optimal partitioning (Jackson et al., "An algorithm for optimal partitioning of data on an interval", IEEE Signal
/// Processing Letters 12 (2005) 105–108), first into levels, and then, between the boundaries found, into levels, lines
/// and parabolas.
pub(super) fn partition(logs: &[f64], sums: &Sums, penalty: f64, least_change: f64) -> Vec<Range<usize>> {
    if logs.is_empty() {
        return Vec::new();
    }
    let places: Vec<usize> = (0..=logs.len()).collect();
    let stairs = best(&places, LEVEL_MIN, |range| sums.squares_of_level(range) + penalty);
    let boundaries: Vec<usize> = std::iter::once(0).chain(stairs.iter().map(|range| range.end)).collect();
    // Steps too small to count deviate from their line with this variance.
    let forgiven = least_change * least_change / 12.0;
    let segments = best(&boundaries, 1, |range| {
        let (line, bent) = sums.squares_of_curves(range);
        let curve = |squares: f64, penalties: f64| {
            (squares - range.len() as f64 * forgiven).max(0.0) + penalties * penalty
        };
        (sums.squares_of_level(range) + penalty)
            .min(curve(line, PENALTIES_OF_A_LINE))
            .min(curve(bent, PENALTIES_OF_A_PARABOLA))
    });
    let least = (1.0 + least_change).ln();
    // As a doubt: how much smaller a change is than the least that counts, and how likely chance put a level together.
    let small = |a: &Range<usize>, b: &Range<usize>| least - (sums.mean(a) - sums.mean(b)).abs();
    let segments = join_segments(segments, 0.0, small);
    join_segments(segments, CHANCE_MAX / logs.len() as f64, |a, b| chance(logs, a, b))
}

/// The cheapest way to cut at some of the places into stretches of at least so many places each.
fn best(places: &[usize], length_min: usize, cost: impl Fn(&Range<usize>) -> f64) -> Vec<Range<usize>> {
    // The cost up to each place, and where the last stretch up to it starts. What is too short is in one piece.
    let mut cheapest = vec![(0.0f64, 0)];
    for end in 1..places.len() {
        let whole = if end < length_min { f64::INFINITY } else { cost(&(places[0]..places[end])) };
        let mut found = (whole, 0);
        for start in length_min..(end + 1).saturating_sub(length_min) {
            let before = cheapest[start].0;
            if before < found.0 {
                let with = before + cost(&(places[start]..places[end]));
                if with < found.0 {
                    found = (with, start);
                }
            }
        }
        cheapest.push(found);
    }
    let (mut parts, mut end) = (Vec::new(), places.len() - 1);
    while end > 0 {
        let start = cheapest[end].1;
        parts.push(places[start]..places[end]);
        end = start;
    }
    parts.reverse();
    parts
}

/// Joins neighboring stretches while there is doubt about them, the most doubtful first, until no doubt is
/// above the limit.
fn join_segments(
    mut parts: Vec<Range<usize>>,
    limit: f64,
    doubt: impl Fn(&Range<usize>, &Range<usize>) -> f64,
) -> Vec<Range<usize>> {
    let mut doubts: Vec<f64> = parts.windows(2).map(|pair| doubt(&pair[0], &pair[1])).collect();
    loop {
        let most = doubts.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((at, _)) = most.filter(|(_, doubt)| *doubt > limit) else { return parts };
        parts[at].end = parts.remove(at + 1).end;
        doubts.remove(at);
        if at > 0 {
            doubts[at - 1] = doubt(&parts[at - 1], &parts[at]);
        }
        if at < doubts.len() {
            doubts[at] = doubt(&parts[at], &parts[at + 1]);
        }
    }
}

/// The probability that as many values of the shorter stretch are on its side of the middle between the two
/// if they were drawn from the longer one: a sign test. The longer one is credited with half a value that it
/// does not have.
fn chance(logs: &[f64], a: &Range<usize>, b: &Range<usize>) -> f64 {
    let level = |of: &Range<usize>| logs[of.clone()].iter().sum::<f64>() / of.len() as f64;
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let (own, other) = (level(short), level(long));
    let middle = (own + other) / 2.0;
    let beyond =
        |of: &Range<usize>| logs[of.clone()].iter().filter(|log| (**log < middle) == (own < other)).count();
    let share = (beyond(long) as f64 + 0.5) / (long.len() as f64 + 1.0);
    match beyond(short) as u64 {
        0 => 1.0,
        hits => Binomial::new(share, short.len() as u64).expect("a share is a probability").sf(hits - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_cut_is_found() {
        // Cost: the squares around the mean of 0 0 0 0 9 9 9, and 1 for each stretch.
        let values = [0.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0];
        let sums = Sums::new(&values);
        let places: Vec<usize> = (0..=values.len()).collect();
        let cost = |range: &Range<usize>| sums.squares_of_level(range) + 1.0;
        assert_eq!(best(&places, 3, cost), [0..4, 4..7]);
        // Stretches of four do not fit twice, so that all are one.
        assert_eq!(best(&places, 4, cost).len(), 1);
        assert_eq!(best(&places[..2], 3, cost).len(), 1);
    }

    #[test]
    fn the_most_doubtful_are_joined_first() {
        let width = |a: &Range<usize>, b: &Range<usize>| 1.0 / (a.len() + b.len()) as f64;
        assert_eq!(join_segments(vec![0..4, 4..5, 5..7, 7..20], 0.2, width), [0..4, 4..7, 7..20]);
        assert_eq!(join_segments(Vec::new(), 0.0, width), []);
    }

    #[test]
    fn three_low_values_may_be_chance_where_a_third_is_low() {
        let mut logs = vec![1.0; 40];
        (30..33).for_each(|index| logs[index] = 0.0);
        assert!(chance(&logs, &(0..30), &(30..33)) < 1e-5);
        (0..30).step_by(3).for_each(|index| logs[index] = 0.0);
        let share: f64 = 10.5 / 31.0;
        assert!((chance(&logs, &(0..30), &(30..33)) - share.powi(3)).abs() < 1e-9);
    }
}
