//! Reads the latencies in fio's JSON.

use likenew_core::tally::Latencies;

use super::ImportError;
use super::document::{COUNT_MAX, Node};
use crate::wording::expected;
use crate::wording::{Note, Notes};

/// The latency of one operation of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Latency {
    /// Mean in nanoseconds; 0 without a measurement.
    pub(super) mean_ns: f64,
    /// Maximum in nanoseconds.
    max_ns: u64,
    /// Latencies in nanoseconds and how often each occurred, ascending; empty if the distribution is unknown.
    counts: Vec<(u64, u64)>,
}

impl Latency {
    /// Reads `read`, `write` or the like. Mean and maximum are of the total latency, as in our own segments, or else of
    /// the completion latency. The distribution comes from whichever of the two has one.
    pub(super) fn read(side: &Node<'_>, job: &str, notes: &mut Notes) -> Result<Self, ImportError> {
        let ios = side.need("total_ios", expected::IO_COUNT)?.count()?;
        let whole = Times::read(&side.need("lat_ns", expected::LATENCY)?, ios)?;
        // fio gives flushes a total latency only.
        let completion = match side.get("clat_ns") {
            None if side.get("slat_ns").is_none() && side.get("clat").is_none() => Times::default(),
            _ => Times::read(&side.need("clat_ns", expected::LATENCY)?, ios)?,
        };
        let summed = match (whole.count, completion.count) {
            (0, 0) => {
                notes.add(Note::NoLatency, job);
                return Ok(Self::default());
            }
            (0, _) => {
                notes.add(Note::NoTotal, job);
                &completion
            }
            _ => &whole,
        };
        let spread = if whole.spread == Spread::Unknown { &completion } else { &whole };
        match spread.spread {
            Spread::Unknown => notes.add(Note::MeanOnly, job),
            Spread::Percentiles(_) => notes.add(Note::Interpolated, job),
            Spread::Bins(_) => {}
        }
        if whole.count > 0 && whole.spread == Spread::Unknown && spread.spread != Spread::Unknown {
            notes.add(Note::CompletionOnly, job);
        }
        Ok(Self { mean_ns: summed.mean, max_ns: summed.max, counts: spread.counts() })
    }

    /// The distribution of latencies.
    pub(super) fn distribution(&self) -> Latencies {
        Latencies::given(self.max_ns, self.counts.iter().copied())
    }

    /// Splits the latency into this share and the rest, both with the same distribution.
    pub(super) fn divide(self, share: f64) -> (Self, Self) {
        let mut carried = 0.0;
        let (mut first, mut second) =
            (Self { counts: Vec::new(), ..self }, Self { counts: Vec::new(), ..self });
        for (ns, count) in self.counts {
            let wanted = count as f64 * share + carried;
            let part = (wanted.round().max(0.0) as u64).min(count);
            carried = wanted - part as f64;
            first.counts.push((ns, part));
            second.counts.push((ns, count - part));
        }
        (first, second)
    }
}

/// One of the latencies that fio measures (`lat_ns`, `clat_ns`), in nanoseconds.
#[derive(Debug, Default)]
struct Times {
    count: u64,
    mean: f64,
    min: u64,
    max: u64,
    spread: Spread,
}

#[derive(Debug, Default, PartialEq)]
enum Spread {
    #[default]
    Unknown,
    /// Each latency and how often it occurred.
    Bins(Vec<(u64, u64)>),
    /// Each share of all I/Os and the latency that this share did not exceed.
    Percentiles(Vec<(f64, u64)>),
}

impl Times {
    fn read(node: &Node<'_>, ios: u64) -> Result<Self, ImportError> {
        let mean = node.need("mean", expected::MEAN)?.number()?;
        let count = match node.get("N") {
            Some(count) => count.count()?,
            // fio before 3.18 gives no count. A mean above zero then covers all I/Os.
            None if mean > 0.0 => ios,
            None => 0,
        };
        let (min, max) = (
            node.need("min", expected::NANOSECONDS)?.count()?,
            node.need("max", expected::NANOSECONDS)?.count()?,
        );
        let spread = match (node.get("bins"), node.get("percentile")) {
            _ if count == 0 => Spread::Unknown,
            (Some(bins), _) => Spread::Bins(read_bins(&bins)?),
            (None, Some(percentiles)) => Spread::Percentiles(read_percentiles(&percentiles)?),
            (None, None) => Spread::Unknown,
        };
        Ok(Self { count, mean, min, max, spread })
    }

    /// The distribution, interpolated if fio listed percentiles.
    fn counts(&self) -> Vec<(u64, u64)> {
        match &self.spread {
            Spread::Unknown => Vec::new(),
            Spread::Bins(bins) => bins.clone(),
            Spread::Percentiles(percentiles) => interpolate(percentiles, self.count, self.min, self.max),
        }
    }
}

fn read_bins(node: &Node<'_>) -> Result<Vec<(u64, u64)>, ImportError> {
    let (mut bins, mut sum) = (Vec::new(), 0u64);
    for (ns, count) in node.entries()? {
        let ns = ns.parse::<u64>().ok().filter(|ns| *ns <= COUNT_MAX);
        let ns = ns.ok_or_else(|| count.unexpected_error(expected::BIN))?;
        sum = sum.saturating_add(count.count()?);
        if sum > COUNT_MAX {
            return Err(node.unexpected_error(expected::BIN_SUM));
        }
        bins.push((ns, count.count()?));
    }
    bins.sort_unstable();
    Ok(bins)
}

fn read_percentiles(node: &Node<'_>) -> Result<Vec<(f64, u64)>, ImportError> {
    let mut percentiles = Vec::new();
    for (percent, ns) in node.entries()? {
        let share = percent.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
        let share = share.ok_or_else(|| ns.unexpected_error(expected::PERCENTILE))? / 100.0;
        percentiles.push((share, ns.count()?));
    }
    percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(percentiles)
}

/// Steps between two listed percentiles.
const STEPS: u64 = 16;

/// Makes `count` latencies from the listed percentiles. For each share, fio lists the k-th latency, k = ⌈share·count⌉
/// (`calc_clat_percentiles` in its `stat.c`). Shortest and longest fill the ends; latencies between two known ones are
/// spread evenly.
fn interpolate(percentiles: &[(f64, u64)], count: u64, min: u64, max: u64) -> Vec<(u64, u64)> {
    let rank = |share: f64| ((share * count as f64).ceil() as u64).clamp(1, count);
    // fio lists the middle of a bin, which can lie outside of shortest and longest.
    let mut known = vec![(1, percentiles.first().map_or(min, |(_, ns)| min.min(*ns)))];
    for (share, ns) in percentiles {
        match known.last_mut().filter(|last| last.0 == rank(*share)) {
            Some(last) => last.1 = *ns,
            None => known.push((rank(*share), *ns)),
        }
    }
    let (last, longest) = known[known.len() - 1];
    if last < count {
        known.push((count, max.max(longest)));
    }
    let mut counts = vec![(known[0].1, 1)];
    for pair in known.windows(2) {
        let ((from, low), (to, high)) = (pair[0], pair[1]);
        let between = to - from - 1;
        let steps = STEPS.min(between);
        for step in 0..steps {
            let share = (step as f64 + 0.5) / steps as f64;
            let ns = low as f64 + (high as f64 - low as f64) * share;
            counts.push((ns as u64, between / steps + u64::from(step < between % steps)));
        }
        counts.push((high, 1));
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn listed_percentiles_come_out_as_listed() {
        let listed = [(0.5, 100_000), (0.9, 200_000), (0.99, 400_000), (0.999, 3_000_000)];
        let counts = interpolate(&listed, 100_000, 50_000, 9_000_000);
        let latency = Latency { mean_ns: 0.0, max_ns: 9_000_000, counts }.distribution();
        assert_eq!((latency.count(), latency.max().0), (100_000, 9_000_000));
        for (share, ns) in listed {
            assert_eq!(latency.quantile(share).0, ns, "{share}");
        }
    }

    proptest! {
        #[test]
        fn interpolation_counts_every_latency(
            listed in prop::collection::vec((0.0f64..=1.0, 0u64..1 << 40), 0..20),
            count in 1u64..1 << 50, min in 0u64..1 << 40, more in 0u64..1 << 40,
        ) {
            let mut listed = listed;
            listed.sort_by(|a, b| a.0.total_cmp(&b.0));
            let counts = interpolate(&listed, count, min, min + more);
            prop_assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), count);
            let latency = Latency { mean_ns: 1.0, max_ns: min + more, counts };
            let (first, second) = latency.divide(0.7);
            let count_of = |latency: Latency| latency.counts.iter().map(|(_, count)| count).sum::<u64>();
            prop_assert_eq!(count_of(first) + count_of(second), count);
        }
    }
}
