//! Where the squares around levels and slopes, plus a penalty for each, are least.

use std::ops::Range;

use super::LEVEL_MIN;
use super::noise::running_median;

/// A stretch of the series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    pub(super) range: Range<usize>,
    /// Mean of the logarithms.
    pub(super) level: f64,
    /// Whether a line explains it, rather than a level.
    pub(super) slopes: bool,
}

/// Running sums, by which the squares around a level or a line are known at once for any stretch.
pub(super) struct Sums {
    logs: Vec<f64>,
    /// Sums of the logarithms and of their squares before each index.
    level: Vec<[f64; 2]>,
    /// Sums, before each index, of what a line through the values weighted by their size needs.
    line: Vec<[f64; 6]>,
}

impl Sums {
    pub(super) fn of(logs: &[f64]) -> Self {
        let centre = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        let mut level = vec![[0.0; 2]];
        let mut line = vec![[0.0; 6]];
        for (index, (log, smooth)) in logs.iter().zip(running_median(logs)).enumerate() {
            let log = log - centre;
            let place = index as f64 / logs.len() as f64;
            let weight = (centre - smooth).exp();
            let value = log.exp() * weight;
            let terms = [
                value * value,
                value * weight,
                value * weight * place,
                weight * weight,
                weight * weight * place,
                weight * weight * place * place,
            ];
            level.push(plus(level[index], [log, log * log]));
            line.push(plus(line[index], terms));
        }
        Self { logs: logs.to_vec(), level, line }
    }

    pub(super) fn count(&self) -> usize {
        self.logs.len()
    }

    /// Squares of the logarithms around their mean.
    fn squares_of_level(&self, range: &Range<usize>) -> f64 {
        let [sum, squares] = minus(self.level[range.end], self.level[range.start]);
        (squares - sum * sum / range.len() as f64).max(0.0)
    }

    /// Squares of the relative distances from the best line through the values.
    fn squares_of_line(&self, range: &Range<usize>) -> f64 {
        let [vv, vw, vwx, ww, wwx, wwxx] = minus(self.line[range.end], self.line[range.start]);
        let determinant = ww * wwxx - wwx * wwx;
        if determinant <= 1e-12 * ww * wwxx {
            return f64::INFINITY;
        }
        let start = (vw * wwxx - vwx * wwx) / determinant;
        let slope = (vwx * ww - vw * wwx) / determinant;
        (vv - start * vw - slope * vwx).max(0.0)
    }

    /// Squares of the logarithms around the level of a segment.
    pub(super) fn squares_around(&self, range: Range<usize>, segment: &Segment) -> f64 {
        self.logs[range].iter().map(|log| (log - segment.level).powi(2)).sum()
    }

    fn segment(&self, range: Range<usize>, slopes: bool) -> Segment {
        let level = self.logs[range.clone()].iter().sum::<f64>() / range.len() as f64;
        Segment { range, level, slopes }
    }
}

fn plus<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|index| a[index] + b[index])
}

fn minus<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|index| a[index] - b[index])
}

/// The stretches of a series. Optimal partitioning (Jackson et al., "An algorithm for optimal partitioning of data on an
/// interval", IEEE Signal Processing Letters 12 (2005) 105–108) in two passes: first into levels, then, between the
/// boundaries found, into levels and lines.
pub(super) fn partition(sums: &Sums, penalty: f64, least_change: f64) -> Vec<Segment> {
    if sums.count() == 0 {
        return Vec::new();
    }
    let places: Vec<usize> = (0..=sums.count()).collect();
    let stairs = best(&places, |range| {
        (range.len() >= LEVEL_MIN).then(|| (sums.squares_of_level(range) + penalty, false))
    });
    let boundaries: Vec<usize> =
        std::iter::once(0).chain(stairs.iter().map(|(range, _)| range.end)).collect();
    // A staircase of steps that do not count lies around its line with a third of a step's half as standard deviation.
    let forgiven = least_change * least_change / 12.0;
    let parts = best(&boundaries, |range| {
        let level = sums.squares_of_level(range) + penalty;
        let line = (sums.squares_of_line(range) - range.len() as f64 * forgiven).max(0.0) + 2.0 * penalty;
        Some((level.min(line), line < level))
    });
    let segments = parts.into_iter().map(|(range, slopes)| sums.segment(range, slopes)).collect();
    without_small_changes(sums, segments, least_change)
}

/// The cheapest way to cut at some of the places, and for each stretch what its cost came with.
fn best(places: &[usize], cost: impl Fn(&Range<usize>) -> Option<(f64, bool)>) -> Vec<(Range<usize>, bool)> {
    let mut cheapest = vec![(0.0, 0, false)];
    for end in 1..places.len() {
        let mut found = (f64::INFINITY, 0, false);
        for start in 0..end {
            let before: f64 = cheapest[start].0;
            if before < found.0
                && let Some((own, kind)) = cost(&(places[start]..places[end]))
                && before + own < found.0
            {
                found = (before + own, start, kind);
            }
        }
        cheapest.push(found);
    }
    let (mut parts, mut end) = (Vec::new(), places.len() - 1);
    if cheapest[end].0.is_infinite() {
        return vec![(places[0]..places[end], false)];
    }
    while end > 0 {
        let (_, start, kind) = cheapest[end];
        parts.push((places[start]..places[end], kind));
        end = start;
    }
    parts.reverse();
    parts
}

/// Joins neighbours whose levels are too close, the closest first, and slopes that go on as slopes.
fn without_small_changes(sums: &Sums, mut segments: Vec<Segment>, least_change: f64) -> Vec<Segment> {
    let least = (1.0 + least_change).ln();
    let change = |pair: &[Segment]| (pair[0].level - pair[1].level).abs();
    loop {
        let closest = segments.windows(2).map(change).enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((at, _)) = closest.filter(|(_, change)| *change < least) else { return segments };
        let joined = segments[at].range.start..segments[at + 1].range.end;
        let slopes = segments[at].slopes || segments[at + 1].slopes;
        segments.splice(at..at + 2, [sums.segment(joined, slopes)]);
    }
}
