//! Turns an application's published I/O into workloads on a drive.

use std::ops::Range;

use likenew_core::io::{DataClass, Op};
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Arrival, Mix, Size, Stream, Until, Workload};
use likenew_procedure_support::pattern::Pattern;

use super::application::{Application, Part, Side};

/// Where applications work. The first half of their zone holds the files that are read and changed in place; the
/// second takes sequential writes. Both are assumed, because no publication says where I/Os went.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    files: Range<u64>,
    new_files: Range<u64>,
    block: u32,
    length_max: u32,
    data: DataClass,
}

/// How much of an application is replayed, and its time limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// Share of its I/Os.
    pub scale: f64,
    /// Time limit, if there is one.
    pub time: Option<Nanos>,
    /// Whether it keeps its recorded think times, if these are known.
    pub thinks: bool,
}

/// Halves of a zone begin on multiples of this.
const STEP: u64 = 1 << 20;

impl Stage {
    /// The stage in this zone of a drive.
    pub fn new(zone: &Range<u64>, geometry: &Geometry, data: DataClass) -> Self {
        let half = (zone.end - zone.start) / 2;
        let middle = zone.start + half - half % STEP.min(half.max(1));
        // A length must be a power of two that divides a folder's files.
        let divides = geometry.boundary.map_or(31, |bytes| bytes.trailing_zeros().min(30));
        Self {
            files: zone.start..middle,
            new_files: middle..zone.end,
            block: geometry.block,
            length_max: 1 << divides.min(30),
            data,
        }
    }

    /// The workloads of one pass of an application, one for each of its depths, called `name`; if there are several,
    /// with the depth after a comma. The search for its lengths is slow: call this once for many passes.
    pub fn workloads(&self, application: &Application, name: &str, amount: Amount) -> Vec<Workload> {
        let kinds = self.kinds(application, amount.scale);
        let ios: u64 = kinds.iter().map(|kind| kind.ios).sum();
        let per_second = application.duration_s.as_ref().filter(|_| amount.thinks);
        let per_second = per_second.map(|duration| ios as f64 / (duration.value * amount.scale).max(1e-6));
        let shares = application.depth.value.shares();
        let sum: u32 = shares.iter().map(|(_, weight)| weight).sum();
        let mut before = 0;
        let mut workloads = Vec::new();
        for (depth, weight) in shares {
            let (from, to) =
                (f64::from(before) / f64::from(sum), f64::from(before + weight) / f64::from(sum));
            before += weight;
            let dealt =
                |kind: &Kind| (kind.ios as f64 * to).round() as u64 - (kind.ios as f64 * from).round() as u64;
            let streams: Vec<Stream> = kinds
                .iter()
                .filter(|kind| dealt(kind) > 0)
                .map(|kind| kind.stream(dealt(kind), *depth, per_second, self.data))
                .collect();
            let ops: u64 = kinds.iter().map(dealt).sum();
            if ops == 0 {
                continue;
            }
            let of_time = |time: Nanos| Nanos((time.0 as f64 * ops as f64 / ios as f64) as u64).max(Nanos(1));
            let elapsed = amount.time.filter(|_| per_second.is_none()).map(of_time);
            let name = if shares.len() > 1 { format!("{name}, depth {depth}") } else { name.to_owned() };
            workloads.push(Workload::new(name, Until { elapsed, ops: Some(ops), bytes: None }, streams));
        }
        workloads
    }

    /// The kinds of I/O that occur in this share of the application; at least the most frequent one.
    fn kinds(&self, application: &Application, scale: f64) -> Vec<Kind> {
        let kinds_of = |op: Op, side: &Option<Side>| -> Vec<(f64, Kind)> {
            let Some(side) = side else { return Vec::new() };
            side.parts().into_iter().map(|part| self.kind(op, side, part, scale)).collect()
        };
        let kinds =
            [kinds_of(Op::Read, &application.reads), kinds_of(Op::Write, &application.writes)].concat();
        let most = kinds.iter().map(|(ios, _)| *ios).fold(0.0, f64::max);
        let whole = |(ios, mut kind): (f64, Kind)| {
            let least = u64::from(ios >= most);
            kind.ios = (ios.round() as u64).clamp(least, u64::from(u32::MAX) >> 1);
            (kind.ios > 0).then_some(kind)
        };
        kinds.into_iter().filter_map(whole).collect()
    }

    /// One kind of I/O, and its number of I/Os.
    fn kind(&self, op: Op, side: &Side, part: Part, scale: f64) -> (f64, Kind) {
        let lengths = with_mean(&side.lengths.value, part.mean);
        let (lengths, pieces) = fit_lengths(&lengths, self.length_max, self.block);
        let pattern = match (op, part.is_sequential) {
            (Op::Write, true) => Pattern::Sequential.over(self.new_files.clone()),
            (_, true) => Pattern::Sequential.over(self.files.clone()),
            (_, false) => Pattern::Random.over(self.files.clone()),
        };
        (part.ios as f64 * pieces * scale, Kind { op, ios: 0, lengths, pattern })
    }
}

/// One of the four kinds of I/O of an application: reads or writes, sequential or random.
#[derive(Clone)]
struct Kind {
    op: Op,
    ios: u64,
    lengths: Lengths,
    pattern: AccessPattern,
}

impl Kind {
    fn stream(&self, ios: u64, depth: u32, per_second: Option<f64>, data: DataClass) -> Stream {
        let weight = u32::try_from(ios).expect("counts are bounded");
        let arrival = Arrival::Interleaved { weight, depth, per_second };
        Stream::new(Mix::Only(self.op), size(&self.lengths), self.pattern, arrival, data)
    }
}

/// Lengths in bytes and their probabilities, which sum to 1.
pub(super) type Lengths = Vec<(u32, f64)>;

/// The mixture of `shares`' lengths that has the mean `mean` and is otherwise as close to `shares` as
/// possible.
///
/// With q the given shares of the lengths s, the mixture is p ∝ q·exp(−λs), where λ solves Σ p·s = mean. Of all
/// mixtures with this mean, this one has the least Kullback–Leibler divergence from q, so it adds no more
/// than the mean demands (Csiszár, "I-divergence geometry of probability distributions and minimization
/// problems", Ann. Probab. 3 (1975) 146–158). Where nothing is known of the shares, equal ones give the
/// mixture of the largest entropy (Jaynes 1957).
///
/// # Panics
/// When the mean is not between the shortest and the longest.
pub(super) fn with_mean(shares: &Size, mean: f64) -> Lengths {
    let choices = shares.choices();
    let longest = f64::from(shares.max());
    let shortest = choices.iter().map(|(bytes, _)| f64::from(*bytes)).fold(f64::INFINITY, f64::min);
    assert!((shortest..=longest).contains(&mean), "an application is checked before it is used");
    let tilted = |lambda: f64| -> Lengths {
        let exponents = choices.iter().map(|(bytes, _)| -lambda * f64::from(*bytes) / longest);
        let highest = exponents.clone().fold(f64::NEG_INFINITY, f64::max);
        let weights = choices
            .iter()
            .zip(exponents)
            .map(|((_, share), exponent)| f64::from(*share) * (exponent - highest).exp());
        let weights: Lengths =
            choices.iter().zip(weights).map(|((bytes, _), weight)| (*bytes, weight)).collect();
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        weights.into_iter().map(|(bytes, weight)| (bytes, weight / sum)).collect()
    };
    // Newton's method: the mean falls as λ rises, by the variance over `longest`. A step that would leave the
    // interval with the root halves that interval instead.
    let (mut low, mut high, mut lambda) = (-TILT_MAX, TILT_MAX, 0.0);
    let mut lengths = tilted(lambda);
    for _ in 0..STEPS_MAX {
        let reached = mean_of(&lengths);
        if (reached - mean).abs() <= PRECISION * mean {
            break;
        }
        *(if reached > mean { &mut low } else { &mut high }) = lambda;
        let variance: f64 =
            lengths.iter().map(|(bytes, share)| (f64::from(*bytes) - reached).powi(2) * share).sum();
        let next = lambda + (reached - mean) * longest / variance;
        lambda = if next > low && next < high { next } else { f64::midpoint(low, high) };
        lengths = tilted(lambda);
    }
    lengths
}

/// Largest λ. With the shortest two lengths a factor of two apart, e^(−TILT_MAX/512) of the longer one is nothing.
/// Chosen: far beyond that.
const TILT_MAX: f64 = 1e6;
/// Relative error of the mean. Chosen: far below the millionths in which weights are kept.
const PRECISION: f64 = 1e-13;
/// Most steps of the search. Chosen: halvings alone come to the last digit in as many.
const STEPS_MAX: u32 = 80;

/// The mean length in bytes.
pub(super) fn mean_of(lengths: &Lengths) -> f64 {
    lengths.iter().map(|(bytes, share)| f64::from(*bytes) * share).sum()
}

/// Does what an operating system does with I/Os that a target does not take: splits those longer than `longest` into
/// I/Os of that length, and extends others to a multiple of `block`. Also returns how many I/Os one becomes;
/// splitting moves the same bytes.
pub(super) fn fit_lengths(lengths: &Lengths, longest: u32, block: u32) -> (Lengths, f64) {
    let mut fitted = Lengths::new();
    for (bytes, share) in lengths {
        let pieces = (f64::from(*bytes) / f64::from(longest)).max(1.0);
        let bytes = (*bytes).min(longest).next_multiple_of(block);
        match fitted.iter_mut().find(|(other, _)| *other == bytes) {
            Some((_, sum)) => *sum += share * pieces,
            None => fitted.push((bytes, share * pieces)),
        }
    }
    let factor: f64 = fitted.iter().map(|(_, share)| share).sum();
    fitted.iter_mut().for_each(|(_, share)| *share /= factor);
    (fitted, factor)
}

/// The lengths with weights in millionths; rarer lengths are left out.
pub(super) fn size(lengths: &Lengths) -> Size {
    let weights = lengths.iter().map(|(bytes, share)| (*bytes, (share * 1e6).round() as u32));
    Size::mixed(weights.filter(|(_, weight)| *weight > 0).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LENGTHS: &str = "4KiB,8KiB,16KiB,32KiB,64KiB,128KiB";

    proptest! {
        #[test]
        fn the_mean_is_met_whatever_the_shares(mean in 4096.0f64..131_072.0, weights in prop::collection::vec(1u32..1000, 6)) {
            let text: Vec<String> = LENGTHS.split(',').zip(&weights).map(|(length, weight)| format!("{length}:{weight}")).collect();
            let shares: Size = text.join(",").parse().unwrap();
            let lengths = with_mean(&shares, mean);
            prop_assert!((lengths.iter().map(|length| length.1).sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!((mean_of(&lengths) / mean - 1.0).abs() < 1e-9);
            // Each of six weights is rounded by half a millionth at most.
            prop_assert!((size(&lengths).mean() - mean).abs() < 6.0 * 0.5e-6 * 131_072.0 + 1e-6);
            let (split, factor) = fit_lengths(&lengths, 65_536, 512);
            prop_assert!((mean_of(&split) * factor / mean - 1.0).abs() < 1e-9, "splitting moves the same bytes");
        }
    }

    #[test]
    fn shares_that_have_the_mean_already_are_kept() {
        let shares: Size = "4KiB:3,8KiB:1".parse().unwrap();
        let lengths = with_mean(&shares, 5120.0);
        assert!((lengths[0].1 - 0.75).abs() < 1e-9 && (lengths[1].1 - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_single_length_and_the_ends_are_themselves() {
        assert_eq!(size(&with_mean(&"8KiB".parse().unwrap(), 8192.0)), Size::fixed(8192));
        let ends = |mean: f64| size(&with_mean(&LENGTHS.parse().unwrap(), mean)).mean();
        assert!((ends(4096.0) - 4096.0).abs() < 1.0 && (ends(131_072.0) - 131_072.0).abs() < 1.0);
    }

    #[test]
    fn what_a_target_does_not_take_is_split_or_filled_up() {
        assert_eq!(fit_lengths(&vec![(2048, 1.0)], 1 << 20, 4096), (vec![(4096, 1.0)], 1.0));
        let (lengths, factor) = fit_lengths(&vec![(65_536, 0.5), (262_144, 0.5)], 65_536, 512);
        assert_eq!((lengths, factor), (vec![(65_536, 1.0)], 2.5));
    }
}
