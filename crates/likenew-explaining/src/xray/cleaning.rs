//! Finds when an idle shingled disk starts to move blocks from its log to their bands: reads after a long
//! enough rest wait for an arm that is busy at a band (Aghayev and Desnoyers, "Skylight: a window on shingled
//! disk operation", FAST 2015).

use std::ops::Range;

use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Ended;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::workload::{AccessPattern, Arrival, InterArrival, Mix, Stream, Until, Workload};
use likenew_stats::summary::median;

use super::experiment::{Context, Experiment, Finding, Steps, latencies, random_reads, sampled};
use super::idle::{RestQuery, Rests, Work};
use super::medium::reads_alone;
use super::property::{Key, Property};

/// Blocks that are overwritten all over the disk before each rest, most of them in separate bands: cleaning a
/// band takes some tenths of a second, so the work lasts as long as the reads.
const PLACES: u64 = 48;
/// Reads after rests of one length, within this many bytes in the middle of the disk.
const READS: u32 = 8;
const STRETCH: u64 = 1 << 30;
/// Cleaning reads and writes whole bands, each of which takes many times as long as a read; a read from the
/// log does not.
const ASKING: RestQuery = RestQuery { shortest: 1e8, longest: 3e10, busy: 2.0, work: Work::Head };
/// Most rests tried, for a disk whose answers contradict each other.
const ASKS_MAX: usize = 24;

/// Leaves a shingled disk idle for longer and longer.
pub(super) struct CleaningExperiment;

impl Experiment for CleaningExperiment {
    fn name(&self) -> &'static str {
        "cleaning"
    }

    fn run<'a>(&self, context: &Context<'a>, steps: &mut Steps<'a>) -> Finding {
        let mut recoveries = Vec::new();
        if context.inferences.word(Key::Medium) == Some("shingled_disk") {
            let _ended = measure(context, steps, &mut recoveries);
        }
        let rests = Rests::new(ASKING, recoveries);
        let Some(without_effect) = rests.without_effect() else { return Finding::default() };
        let property = rests
            .property(context)
            .unwrap_or_else(|| Property::undecided(Key::IdleCollectionNs, without_effect));
        Finding::single(property, rests.picture().map(|picture| ("reads_after_rest", picture)))
    }
}

/// Overwrites blocks all over the disk, then reads after rests of one length; again with longer rests. Adds
/// rests to `recoveries`, with the latency after each over that of reads all over the disk.
fn measure(
    context: &Context<'_>,
    steps: &mut Steps<'_>,
    recoveries: &mut Vec<[f64; 2]>,
) -> Result<(), Ended> {
    steps.end_at_errors();
    let block = context.block().max(4096);
    let typical_ns = reads_alone(context).and_then(|reads| median(&latencies(reads)));
    for _ in 0..ASKS_MAX {
        let Some(rest) = Rests::new(ASKING, recoveries.clone()).next(None) else { break };
        if !steps.may_write(PLACES * u64::from(block)) {
            break;
        }
        let place = AccessPattern::Random(Region::bytes(0..context.span));
        let stream = Stream::closed(Mix::Only(Op::Write), block, place, 1, DataClass::Random);
        let workload = Workload::new("scatter", Until::ops(PLACES), vec![stream]);
        steps.run(Workload { flush: true, ..workload })?;
        let reads = random_reads(middle(context.span), block, 1);
        let reads = steps.run(spaced_reads(reads, rest))?;
        recoveries.extend(typical_ns.and_then(|typical_ns| recovery(reads, typical_ns)));
    }
    Ok(())
}

/// Reads sent `rest` nanoseconds apart, so that the disk rests between them.
fn spaced_reads(reads: Stream, rest: f64) -> Workload {
    let arrival = Arrival::Open { per_second: 1e9 / rest, inter_arrival: InterArrival::Even, depth_max: 1 };
    sampled("paced reads", vec![Stream { arrival, ..reads }], READS, None)
}

fn middle(span: u64) -> Range<u64> {
    let length = STRETCH.min(span);
    let start = (span - length) / 2;
    let start = start - start % (1 << 20);
    start..start + length
}

/// A rest in nanoseconds, and the latency after it as a multiple of `typical_ns`. The second longest counts,
/// because a single one may be chance, and some come while the arm is returning.
fn recovery(segment: &Segment, typical_ns: f64) -> Option<[f64; 2]> {
    let pairs = segment.samples.windows(2);
    let mut reads: Vec<[f64; 2]> = pairs
        .map(|pair| {
            // Measured from when it was sent, not due: a read that waits longer than the interval delays the
            // one after it.
            let elapsed = pair[1].done.since(pair[1].sent).0 as f64;
            [pair[1].sent.since(pair[0].done).0 as f64, elapsed / typical_ns]
        })
        .collect();
    reads.sort_by(|first, other| other[1].total_cmp(&first[1]));
    let times = reads.get(1)?[1];
    // A read that waited also shortened the rest before the next one. If some met the disk at work, only
    // rests before these count.
    let counts = |read: &&[f64; 2]| times < ASKING.busy || read[1] >= ASKING.busy;
    let rests: Vec<f64> = reads.iter().filter(counts).map(|[rest, _]| *rest).collect();
    Some([median(&rests)?, times])
}

#[cfg(test)]
mod tests {
    use likenew_core::io::{Outcome, Sample};
    use likenew_core::segment::{SegmentRecorder, Stop};
    use likenew_core::units::Nanos;

    use super::*;

    /// Reads due every 500 ms that took this many milliseconds after they were sent, which is when the one
    /// before had ended.
    fn reads(elapsed: [u64; 8]) -> Segment {
        let workload = Workload::new("w", Until::ops(1), Vec::new());
        let mut segment = SegmentRecorder::join(vec![SegmentRecorder::default()], &workload, Stop::Reached);
        let mut free = Nanos::ZERO;
        for (index, elapsed) in elapsed.into_iter().enumerate() {
            let due = Nanos::from_millis(500 * index as u64);
            let sent = due.max(free);
            free = sent + Nanos::from_millis(elapsed);
            let (op, outcome) = (Op::Read, Outcome::Done);
            let sample = Sample { stream: 0, op, outcome, length: 4096, offset: 0, due, sent, done: free };
            segment.samples.push(sample);
        }
        segment
    }

    fn millis(rested: Option<[f64; 2]>) -> (u64, u64) {
        let [rest, times] = rested.unwrap();
        ((rest / 1e6) as u64, (times * 10.0) as u64)
    }

    #[test]
    fn reads_that_wait_for_a_band_say_how_long_they_had_rested() {
        // One read is slow by chance.
        assert_eq!(millis(recovery(&reads([10, 8, 12, 9, 90, 11, 10, 9]), 1e7)), (490, 12));
        // A read of 600 ms is still under way when the next one is due, which then waits for nothing else.
        assert_eq!(millis(recovery(&reads([10, 200, 9, 600, 10, 11, 150, 10]), 1e7)), (490, 200));
        assert_eq!(recovery(&Segment { samples: Vec::new(), ..reads([1; 8]) }, 1e7), None);
    }

    #[test]
    fn it_is_read_in_the_middle() {
        assert_eq!(middle(10 << 30), (9 << 29)..(11 << 29));
        assert_eq!(middle(16 << 20), 0..16 << 20);
    }
}
