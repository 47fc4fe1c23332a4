//! Finds when an idle drive starts work of its own: after longer and longer rests, reads meet busy dies, or the arm of
//! a shingled disk.

use std::ops::Range;

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::io::Op;
use likenew_core::procedure::Ended;
use likenew_core::quantity::Latency;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{Until, Workload};
use likenew_procedure_support::series::axis;
use likenew_stats::summary::{median, quantile};

use super::experiment::{Context, Finding, Steps, latencies, paced, random, random_reads, sampled};
use super::medium::reads_alone;
use super::property::{Key, Property, Reason, Remedy};
use super::wording;

const READ: u32 = 4096;
const READS: u32 = 24;
/// Time of reads that keep the drive awake, until work left over is done. Chosen: a few times the longest
/// stall of such work.
const CALMING: Nanos = Nanos::from_secs(4);
/// Rate of those reads, in IOPS. Chosen: 10 ms apart, shorter than any idle time after which firmware starts.
const AWAKE_PER_S: f64 = 100.0;
/// Most rests tried, for a drive whose answers contradict each other.
const ASKS_MAX: usize = 40;
/// Quantile of latencies, in 0..1, that stands for a drive kept awake. Chosen: its slowest usual read.
const AWAKE: f64 = 0.95;
/// Quantile of latencies after a rest that stays within that of [`AWAKE`] if nothing has started. Work on a
/// few dies meets few of the reads. Chosen: below `AWAKE`.
const RESTED_SHARE: f64 = 0.85;
/// A die at work is busy for long compared with a read.
const COLLECTION: RestQuery = RestQuery { shortest: 25e6, longest: 45e9, busy: 1.4, work: Work::Dies };

/// The rests of one run and the reads after them.
#[derive(Default)]
pub(super) struct Idle {
    /// A slow usual latency of reads that keep the drive awake; the shortest of several.
    usual: Option<f64>,
    /// Rest in nanoseconds, and latency after it, also in nanoseconds.
    answers: Vec<[f64; 2]>,
    /// Reads after a rest, whether or not they were measured.
    probe_reads: usize,
}

impl Idle {
    /// Keeps the drive awake until earlier work is done, leaves it idle for longer and longer, and reads.
    /// `again` makes new work each time that collection has started, which takes at least `lasts` nanoseconds
    /// if that is known. It returns the addresses with data, or `None` if no more can follow.
    pub(super) fn measure<'a>(
        &mut self,
        steps: &mut Steps<'a>,
        mut holding: Range<u64>,
        lasts: Option<f64>,
        mut again: impl FnMut(&mut Steps<'a>) -> Result<Option<Range<u64>>, Ended>,
    ) -> Result<(), Ended> {
        let mut last = None;
        while self.next(lasts).is_some() {
            let before = match last {
                // Nothing has started, and the reads have ended the rest.
                Some(last) if self.rests().bracket().is_none() => last,
                _ => {
                    if last.is_some() {
                        let Some(now) = again(steps)? else { break };
                        holding = now;
                    }
                    let calm = steps.run(keep_awake(holding.clone()))?;
                    // The last quarter of the reads, when earlier work is done.
                    let latencies = latencies(calm);
                    let awake_ns = quantile(&latencies[latencies.len() - latencies.len() / 4..], AWAKE);
                    self.usual = self.usual.into_iter().chain(awake_ns).reduce(f64::min);
                    calm
                }
            };
            let Some(rest) = self.next(lasts) else { break };
            // Part of the rest has passed since the last read.
            let passed = before.samples.last().map(|sample| before.ended_at.since(sample.done));
            let rest = Nanos(rest as u64).since(passed.unwrap_or(Nanos::ZERO));
            steps.rest("idle", rest)?;
            let stream = random_reads(holding.clone(), READ, 1);
            let reads = steps.run(sampled("probe read", vec![stream], READS, None))?;
            self.probe_reads += 1;
            // The time from the end of the last I/O before the rest to the first one after it.
            if let (Some(end), Some(begin)) = (before.samples.last(), reads.samples.first())
                && let Some(latency) = quantile(&latencies(reads), RESTED_SHARE)
            {
                self.answers.push([begin.sent.since(end.done).0 as f64, latency]);
            }
            last = Some(reads);
        }
        Ok(())
    }

    /// The next rest to try, in nanoseconds.
    fn next(&self, lasts: Option<f64>) -> Option<f64> {
        self.rests().next(lasts).filter(|_| self.probe_reads < ASKS_MAX)
    }

    /// The rests and the latency after each.
    pub(super) fn rests(&self) -> Rests {
        let awake_ns = self.usual.unwrap_or(f64::INFINITY);
        Rests::new(
            COLLECTION,
            self.answers.iter().map(|[rest, latency]| [*rest, latency / awake_ns]).collect(),
        )
    }
}

fn keep_awake(holding: Range<u64>) -> Workload {
    let reads = paced(random_reads(holding, READ, 1), AWAKE_PER_S, 4);
    let workload = Workload::new("keep-awake reads", Until::elapsed(CALMING), vec![reads]);
    Workload { samples: 2 * (AWAKE_PER_S * CALMING.as_secs_f64()) as u32, ..workload }
}

/// Ratio of the two bounds of the rest at which the search ends. Chosen: a tenth is closer than drives
/// repeat.
const NEAR: f64 = 1.1;
/// Step to the next rest over the time that the work takes, as a ratio. Chosen: below 1, so that no work
/// falls between two rests.
const STEP_SHARE: f64 = 0.7;
/// Ratio of the two bounds above which nothing is claimed. Chosen: a wider range spans drives that differ.
const REST_RATIO_MAX: f64 = 1.5;
/// Confidence, in 0..1, of a start between two bounds. Chosen: all rests agree then.
const SURE: f64 = 0.95;
/// Middle share of the range between the bounds that holds the start in nine of ten drives: the start is
/// equally likely anywhere between them.
const NINE_OF_TEN: f64 = 0.9;

/// Which rests to try.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RestQuery {
    /// Rests double from the first to the second, in nanoseconds.
    shortest: f64,
    longest: f64,
    /// Least ratio of the latency of reads that meet the drive at work to the usual one.
    busy: f64,
    /// The work that they meet.
    work: Work,
}

/// The work that an idle drive starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Garbage collection on dies.
    Dies,
    /// Moving blocks of a shingled disk to their bands.
    Head,
}

/// The rests of one run and the reads after them.
pub(super) struct Rests {
    asking: RestQuery,
    /// Rest in nanoseconds, and latency after it as a multiple of the usual one, sorted by rest.
    rests_tried: Vec<[f64; 2]>,
}

impl Rests {
    /// Creates it from pairs of a rest and the latency after it, in any order.
    fn new(asking: RestQuery, mut rests_tried: Vec<[f64; 2]>) -> Self {
        rests_tried.sort_by(|first, other| first[0].total_cmp(&other[0]));
        Self { asking, rests_tried }
    }

    /// The longest rest after which nothing had started, and the shortest after which work had.
    fn bracket(&self) -> Option<(f64, f64)> {
        let begun = self.rests_tried.iter().position(|[_, ratio]| *ratio >= self.asking.busy)?;
        let short = self.rests_tried[..begun].last().map_or(0.0, |[rest, _]| *rest);
        Some((short, self.rests_tried[begun][0]))
    }

    /// The next rest to try, in nanoseconds, if the work is known to take at least `lasts`; `None` once
    /// enough were tried.
    fn next(&self, lasts: Option<f64>) -> Option<f64> {
        match self.bracket() {
            None => {
                // Longer steps could miss work that starts after the shorter rest and ends before the longer
                // one does.
                let step = |rest: f64| rest.min(lasts.map_or(f64::INFINITY, |lasts| STEP_SHARE * lasts));
                let next =
                    self.rests_tried.last().map_or(self.asking.shortest, |[rest, _]| rest + step(*rest));
                (next < self.asking.longest).then_some(next)
            }
            Some((short, long)) if short > 0.0 && long > NEAR * short => Some((short * long).sqrt()),
            Some(_) => None,
        }
    }

    /// When the work starts; undecided if answers contradict each other. `None` if no rest was tried.
    pub(super) fn property(&self, context: &Context<'_>) -> Option<Property> {
        let key = Key::IdleCollectionNs;
        let longest = self.longest()?;
        let Some((short, long)) = self.bracket() else {
            let reason = wording::idle_without_effect(Latency(longest));
            // A shingled disk has to move its blocks sooner or later.
            let may_never_start = self.asking.work == Work::Dies;
            let is_absent = may_never_start && 2.0 * longest >= self.asking.longest && !context.is_busy();
            return Some(if is_absent {
                Property::absent(key, 0.9, reason)
            } else {
                Property::undecided(key, reason)
            });
        };
        let reason = match self.asking.work {
            Work::Dies => wording::dies_at_work(Latency(short), Latency(long)),
            Work::Head => wording::head_at_work(Latency(short), Latency(long)),
        };
        let after = self.rests_tried.iter().filter(|[rest, _]| *rest >= long);
        let orderly =
            after.clone().filter(|[_, ratio]| *ratio >= self.asking.busy).count() * 2 > after.count();
        let is_told = short > 0.0 && orderly && long <= REST_RATIO_MAX * short && !context.is_busy();
        Some(if is_told {
            let inner = |from: f64, to: f64| from * (to / from).powf((1.0 - NINE_OF_TEN) / 2.0);
            let interval = (inner(short, long), inner(long, short));
            Property::number(key, (short * long).sqrt(), interval, SURE, reason)
        } else {
            Property::undecided(key, reason.but(wording::CONTRADICTORY_IDLING).decided_by(Remedy::Quiet))
        })
    }

    /// The longest rest, in nanoseconds; `None` if none was tried.
    fn longest(&self) -> Option<f64> {
        self.rests_tried.last().map(|[rest, _]| *rest)
    }

    pub(super) fn picture(&self) -> Option<Series> {
        let (idle, latency) = (axis("idle time", "ns").logarithmic(), axis("latency over usual", "1"));
        let series = Series::new(wording::READS_AFTER_REST, Shape::Scatter, idle, latency);
        (!self.rests_tried.is_empty()).then(|| series.lines([Line::new("reads", self.rests_tried.clone())]))
    }
}

// When an idle shingled disk starts to move blocks from its log to their bands: reads after a long enough rest wait
// for an arm that is busy at a band (Aghayev and Desnoyers, "Skylight: a window on shingled disk operation", FAST 2015).

/// Blocks that are overwritten all over the disk before each rest, most of them in separate bands: cleaning a
/// band takes some tenths of a second, so the work lasts as long as the reads.
const PLACES: u64 = 48;
/// Reads after rests of one length, within this many bytes in the middle of the disk.
const SPACED_READS: u32 = 8;
const STRETCH: u64 = 1 << 30;
/// Cleaning reads and writes whole bands, each of which takes many times as long as a read; a read from the
/// log does not.
const CLEANING: RestQuery = RestQuery { shortest: 1e8, longest: 3e10, busy: 2.0, work: Work::Head };
/// Most rests tried, for a disk whose answers contradict each other.
const CLEANINGS_MAX: usize = 24;

/// Leaves a shingled disk idle for longer and longer.
pub(super) fn watch_cleaning<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let mut recoveries = Vec::new();
    if context.is("shingled_disk") {
        let _ended = clean(context, steps, &mut recoveries);
    }
    let rests = Rests::new(CLEANING, recoveries);
    let finding = |(property, picture)| Finding::single(property, ("reads_after_rest", picture));
    Ok(rests.property(context).zip(rests.picture()).map(finding).unwrap_or_default())
}

/// Overwrites blocks all over the disk, then reads after rests of one length; again with longer rests. Adds
/// rests to `recoveries`, with the latency after each over that of reads all over the disk.
fn clean(context: &Context<'_>, steps: &mut Steps<'_>, recoveries: &mut Vec<[f64; 2]>) -> Result<(), Ended> {
    steps.end_at_errors();
    let block = context.block().max(4096);
    let typical_ns = reads_alone(context).and_then(|reads| median(&latencies(reads)));
    for _ in 0..CLEANINGS_MAX {
        let Some(rest) = Rests::new(CLEANING, recoveries.clone()).next(None) else { break };
        if !steps.may_write(PLACES * u64::from(block)) {
            break;
        }
        let writes = random(Op::Write, 0..context.span, block, 1);
        let workload = Workload::new("scatter", Until::ops(PLACES), vec![writes]);
        steps.run(Workload { flush: true, ..workload })?;
        // Sent `rest` nanoseconds apart, so that the disk rests between them.
        let reads = paced(random_reads(middle(context.span), block, 1), 1e9 / rest, 1);
        let reads = steps.run(sampled("paced reads", vec![reads], SPACED_READS, None))?;
        recoveries.extend(typical_ns.and_then(|typical_ns| recovery(reads, typical_ns)));
    }
    Ok(())
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
    let counts = |read: &&[f64; 2]| times < CLEANING.busy || read[1] >= CLEANING.busy;
    let rests: Vec<f64> = reads.iter().filter(counts).map(|[rest, _]| *rest).collect();
    Some([median(&rests)?, times])
}

#[cfg(test)]
mod tests {
    use likenew_core::io::{Outcome, Sample};
    use likenew_core::segment::{SegmentRecorder, Stop};

    use super::*;

    const ASKING: RestQuery = RestQuery { shortest: 1e8, longest: 1e10, busy: 2.0, work: Work::Head };

    /// Tries rests on a drive that starts after this long, until enough were tried.
    fn rests_tried(begins: f64) -> Rests {
        let mut rests = Rests::new(ASKING, Vec::new());
        while let Some(rest) = rests.next(None) {
            let mut rests_tried = rests.rests_tried;
            assert!(rests_tried.len() < 30, "it comes to an end");
            rests_tried.push([rest, if rest > begins { 9.0 } else { 1.0 }]);
            rests = Rests::new(ASKING, rests_tried);
        }
        rests
    }

    #[test]
    fn rests_are_doubled_and_then_halved_between_the_two_that_differ() {
        for begins in [1.5e8, 1e9, 4.7e9] {
            let (short, long) = rests_tried(begins).bracket().unwrap();
            assert!(short <= begins && begins < long && long <= NEAR * short, "{begins}: {short} {long}");
        }
        assert_eq!((rests_tried(1e12).bracket(), rests_tried(1e12).longest()), (None, Some(6.4e9)));
        let first_rest = rests_tried(0.0);
        assert_eq!((first_rest.bracket(), first_rest.rests_tried.len()), (Some((0.0, 1e8)), 1));
    }

    #[test]
    fn short_work_is_not_stepped_over() {
        let rests = Rests::new(ASKING, vec![[4e8, 1.0]]);
        assert_eq!((rests.next(None), rests.next(Some(1e8))), (Some(8e8), Some(4.7e8)));
    }

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
