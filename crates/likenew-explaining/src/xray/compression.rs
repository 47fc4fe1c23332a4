//! Finds whether the controller compresses: writes zeros and incompressible data, and reads both back.
//! Compressed data needs fewer programs and less time on the flash bus.

use std::ops::Range;

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::io::DataClass;
use likenew_core::procedure::Ended;
use likenew_core::quantity::{Latency, Share};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_stats::summary::{median, quantile};

use super::experiment::{Context, Finding, Steps};
use super::property::{Key, Property, Reason, Remedy};
use super::wording;
use super::writing::{MedianComparison, reads_of_both, stream_latencies, write_in_order};
use likenew_procedure_support::series::axis;

const AREA: u64 = 2 << 20;
const AREAS: [Range<u64>; 2] = [0..AREA, AREA..2 * AREA];
/// Which of the two areas is written; this order makes a linear drift affect both alike.
const ORDER: [usize; 4] = [1, 0, 0, 1];
/// Most rounds, each after a rest in which the drive can finish its work.
const ROUNDS: usize = 4;
/// Rest before a round. Chosen: longer than a write buffer takes to empty.
const REST: Nanos = Nanos::from_secs(2);
const READS: u32 = 128;
const READ: u32 = 16 << 10;
/// Least share by which reads of compressed data are faster. Chosen: twice `SAME`.
const FASTER: f64 = 0.03;
/// Most time to write zeros, as a multiple of the time for random data, for reads to count. Chosen: noise of
/// a few writes.
const WRITTEN_SLOWER_MAX: f64 = 1.05;
/// Difference of latencies, as a share, up to which zeros read like other data. Chosen: what medians of the
/// reads resolve.
const SAME: f64 = 0.015;
/// Time to write zeros over that of random data, as a ratio, below which they are stored shorter, whatever
/// reads show.
const ZERO_WRITE_RATIO_MAX: f64 = 0.6;
/// Limit of the write ratio for single rounds, and of the read ratio. Chosen: halfway between
/// `ZERO_WRITE_RATIO_MAX` and noise.
const CLEARLY: f64 = 0.7;
/// Middle 80% of read latencies over their median, as a ratio, above which reads scatter by nature. Chosen:
/// flash stays below it, disks and networks above.
const SCATTERS: f64 = 0.25;

/// Writes zeros and random data in turns, then reads both.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    context.expect_room(4 * AREA)?;
    context.expect_long_files(AREA)?;
    let mut rounds = Vec::new();
    let _ended = measure(steps, &mut rounds);
    let Some(last) = rounds.last() else { return Ok(Finding::default()) };
    Ok(Finding::single(infer_property(&rounds), ("zeros_and_random_data", picture(last))))
}

/// Goes through rounds until one gives an answer.
fn measure(steps: &mut Steps<'_>, rounds: &mut Vec<Round>) -> Result<(), Ended> {
    for round in 0..ROUNDS {
        let mut write_times = [[0.0; 2]; 2];
        for (step, area) in order(round).into_iter().enumerate() {
            let (name, data) = [("zeros", DataClass::Zero), ("random data", DataClass::Random)][area];
            let workload =
                write_in_order(&format!("{name} {round}.{step}"), areas(round)[area].clone(), data);
            write_times[area][step / 2] = within_budget(steps, workload)?.elapsed().0 as f64;
        }
        let rest = || Workload { name: format!("rest {round}"), ..Workload::rest(REST) };
        // Data read right after it was written was not relocated in between.
        let rests_before = round % 2 == 1;
        if rests_before {
            within_budget(steps, rest())?;
        }
        let reads =
            within_budget(steps, reads_of_both(&format!("reads {round}"), areas(round), READ, READS))?;
        rounds.extend(Round::new(reads, write_times));
        if rounds.last().is_some_and(|round| round.word().is_some()) {
            break;
        }
        if !rests_before {
            within_budget(steps, rest())?;
        }
    }
    Ok(())
}

/// Runs a workload if the budget allows writing another area.
fn within_budget<'a>(steps: &mut Steps<'a>, workload: Workload) -> Result<&'a Segment, Ended> {
    if steps.may_write(AREA) { steps.run(workload) } else { Err(Ended) }
}

/// The order of a round. It alternates, because the first write after a rest may differ.
fn order(round: usize) -> [usize; 4] {
    if round < 2 { ORDER } else { ORDER.map(|data| 1 - data) }
}

/// Where zeros and random data go in a round. They swap places, so that addresses do not matter.
fn areas(round: usize) -> [Range<u64>; 2] {
    let [first, second] = AREAS;
    if round.is_multiple_of(2) { [first, second] } else { [second, first] }
}

/// The result of one round.
struct Round {
    /// Reads of zeros compared with random data.
    reads: MedianComparison,
    /// Whether read latencies spread like those of a disk or a network.
    scatters: bool,
    /// Nanoseconds to write zeros and random data, each twice.
    write_times: [[f64; 2]; 2],
}

impl Round {
    fn new(reads: &Segment, write_times: [[f64; 2]; 2]) -> Option<Self> {
        let latencies: Vec<f64> = stream_latencies(reads, 1);
        let spread = quantile(&latencies, 0.9)? - quantile(&latencies, 0.1)?;
        let reads = MedianComparison::in_segment(reads)?;
        Some(Self { reads, scatters: spread > SCATTERS * reads.second, write_times })
    }

    /// Time to write zeros over that of random data.
    fn write_ratio(&self) -> f64 {
        self.write_times[0].iter().sum::<f64>() / self.write_times[1].iter().sum::<f64>()
    }

    /// The round's own answer, if it is clear.
    fn word(&self) -> Option<&'static str> {
        if self.scatters {
            return None;
        }
        if self.reads.is_less(FASTER) && self.write_ratio() < WRITTEN_SLOWER_MAX {
            Some("yes")
        } else {
            self.reads.is_same(SAME).then_some("no").filter(|_| self.write_ratio() > ZERO_WRITE_RATIO_MAX)
        }
    }
}

fn infer_property(rounds: &[Round]) -> Property {
    let key = Key::Compression;
    let word = rounds.iter().find_map(|round| round.word().map(|word| (word, round)));
    let last = word.map_or_else(|| rounds.last().expect("there is a round"), |(_, round)| round);
    let (zeros, random) = (Latency(last.reads.first), Latency(last.reads.second));
    let reason = |how| Reason::new(how, wording::zeros_and_random(zeros, random, Share(last.write_ratio())));
    let how = |word| if word == "yes" { wording::ZEROS_FASTER } else { wording::ZEROS_NO_FASTER };
    if let Some((word, _)) = word {
        return Property::word(key, word, 0.98, reason(how(word)));
    }
    let unclear = || reason(wording::ZEROS_UNCLEAR).decided_by(Remedy::Quiet);
    let pairs: Vec<f64> = rounds
        .iter()
        .flat_map(|round| {
            round.write_times[0].iter().zip(&round.write_times[1]).map(|(zeros, random)| zeros / random)
        })
        .collect();
    if pairs.len() < 2 * ROUNDS {
        return Property::undecided(key, unclear());
    }
    let middle = median(&pairs).expect("there are several");
    let with_pairs = |reason: Reason| reason.and(wording::write_pairs(pairs.len(), Share(middle)));
    let reads = median(&rounds.iter().map(|round| round.reads.ratio()).collect::<Vec<_>>()).expect("several");
    // Zeros that read slower, or only partly write faster, are not compression.
    let word = if pairs.iter().all(|ratio| *ratio < CLEARLY) && reads < 1.0 {
        "yes"
    } else if middle > CLEARLY && reads > CLEARLY {
        "no"
    } else {
        return Property::undecided(key, with_pairs(unclear()));
    };
    Property::word(key, word, 0.97, with_pairs(reason(how(word))))
}

fn picture(round: &Round) -> Series {
    let points = |area: usize, read: f64| {
        let block = f64::from(READ) / AREA as f64;
        let write_times = round.write_times[area].iter().map(|ns| ns * block);
        write_times.chain([read]).enumerate().map(|(index, ns)| [index as f64, ns]).collect()
    };
    Series::new(wording::ZEROS_AND_RANDOM_DATA, Shape::Bars, axis("", ""), axis("time of 16 KiB", "ns"))
        .categories(["written", "written again", "read"])
        .lines([
            Line::new("zeros", points(0, round.reads.first)),
            Line::new("random data", points(1, round.reads.second)),
        ])
}

#[cfg(test)]
mod tests {
    use super::super::property::State;
    use super::*;

    fn round(zeros: f64, random: f64, spread: f64, write_ratio: f64) -> Round {
        let around = |level: f64| -> Vec<f64> {
            (0..128).map(|index| level + spread * f64::from(index % 16 - 8)).collect()
        };
        let reads = MedianComparison::from_times(&around(zeros), &around(random)).unwrap();
        Round {
            reads,
            scatters: 14.0 * spread > SCATTERS * random,
            write_times: [[write_ratio, 1.1 * write_ratio], [1.0, 1.0]],
        }
    }

    #[test]
    fn both_ways_have_to_agree_on_compression() {
        let state = |round: Round| infer_property(&[round]).state;
        assert_eq!(state(round(80_000.0, 100_000.0, 100.0, 0.5)), State::Word("yes"));
        assert_eq!(state(round(100_000.0, 100_000.0, 100.0, 1.0)), State::Word("no"));
        assert_eq!(state(round(80_000.0, 100_000.0, 100.0, 1.5)), State::Undecided, "slower to write");
        assert_eq!(state(round(100_000.0, 100_000.0, 100.0, 0.2)), State::Undecided, "only written faster");
    }

    #[test]
    fn noise_takes_several_rounds_and_is_no_compression() {
        let noisy = |write_ratio: [f64; 4]| {
            infer_property(&write_ratio.map(|write_ratio| round(9e6, 1e7, 9e5, write_ratio))).state
        };
        assert_eq!(infer_property(&[round(9e6, 1e7, 9e5, 0.5)]).state, State::Undecided);
        assert_eq!(noisy([0.9, 1.3, 1.0, 0.8]), State::Word("no"));
        assert_eq!(noisy([0.2, 0.3, 0.2, 0.3]), State::Word("yes"));
        assert_eq!(noisy([0.2, 1.3, 0.2, 0.3]), State::Undecided);
    }
}
