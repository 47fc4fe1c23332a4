//! Finds when an idle drive starts garbage collection: after longer and longer rests, reads meet busy dies.

use std::ops::Range;

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::procedure::Ended;
use likenew_core::quantity::Latency;
use likenew_core::units::Nanos;
use likenew_core::workload::{Arrival, InterArrival, Stream, Until, Workload};
use likenew_procedure_support::series::axis;
use likenew_stats::summary::quantile;

use super::experiment::{Context, Steps, latencies, random_reads, sampled};
use super::property::{Key, Property, Reason};
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
const ASKING: RestQuery = RestQuery { shortest: 25e6, longest: 45e9, busy: 1.4, work: Work::Dies };

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

    fn rests(&self) -> Rests {
        let awake_ns = self.usual.unwrap_or(f64::INFINITY);
        Rests::new(ASKING, self.answers.iter().map(|[rest, latency]| [*rest, latency / awake_ns]).collect())
    }

    pub(super) fn property(&self, context: &Context<'_>) -> Option<Property> {
        let rests = self.rests();
        let longest = rests.longest()?;
        rests.property(context).or_else(|| {
            let reason = rests.without_effect()?;
            Some(if 2.0 * longest >= ASKING.longest && !context.is_busy() {
                Property::absent(Key::IdleCollectionNs, 0.9, reason)
            } else {
                Property::undecided(Key::IdleCollectionNs, reason)
            })
        })
    }

    pub(super) fn picture(&self) -> Option<Series> {
        self.rests().picture()
    }
}

fn keep_awake(holding: Range<u64>) -> Workload {
    let arrival = Arrival::Open { per_second: AWAKE_PER_S, inter_arrival: InterArrival::Even, depth_max: 4 };
    let stream = Stream { arrival, ..random_reads(holding, READ, 1) };
    let workload = Workload::new("keep-awake reads", Until::elapsed(CALMING), vec![stream]);
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
pub(super) struct RestQuery {
    /// Rests double from the first to the second, in nanoseconds.
    pub(super) shortest: f64,
    pub(super) longest: f64,
    /// Least ratio of the latency of reads that meet the drive at work to the usual one.
    pub(super) busy: f64,
    /// The work that they meet.
    pub(super) work: Work,
}

/// The work that an idle drive starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
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
    pub(super) fn new(asking: RestQuery, mut rests_tried: Vec<[f64; 2]>) -> Self {
        rests_tried.sort_by(|first, other| first[0].total_cmp(&other[0]));
        Self { asking, rests_tried }
    }

    /// The longest rest after which nothing had started, and the shortest after which work had.
    pub(super) fn bracket(&self) -> Option<(f64, f64)> {
        let begun = self.rests_tried.iter().position(|[_, ratio]| *ratio >= self.asking.busy)?;
        let short = self.rests_tried[..begun].last().map_or(0.0, |[rest, _]| *rest);
        Some((short, self.rests_tried[begun][0]))
    }

    /// The next rest to try, in nanoseconds, if the work is known to take at least `lasts`; `None` once
    /// enough were tried.
    pub(super) fn next(&self, lasts: Option<f64>) -> Option<f64> {
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

    /// When the work starts; undecided if answers contradict each other. `None` if nothing had started after
    /// any rest.
    pub(super) fn property(&self, context: &Context<'_>) -> Option<Property> {
        let key = Key::IdleCollectionNs;
        let (short, long) = self.bracket()?;
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
            Property::undecided(key, wording::contradictory_idling(reason))
        })
    }

    /// The longest rest, in nanoseconds; `None` if none was tried.
    pub(super) fn longest(&self) -> Option<f64> {
        self.rests_tried.last().map(|[rest, _]| *rest)
    }

    /// The reason if nothing had started after any rest; `None` if none was tried.
    pub(super) fn without_effect(&self) -> Option<Reason> {
        self.longest().map(|longest| wording::idle_without_effect(Latency(longest)))
    }

    pub(super) fn picture(&self) -> Option<Series> {
        let (idle, latency) = (axis("idle time", "ns").logarithmic(), axis("latency over usual", "1"));
        let series = Series::new(wording::READS_AFTER_REST, Shape::Scatter, idle, latency);
        (!self.rests_tried.is_empty()).then(|| series.lines([Line::new("reads", self.rests_tried.clone())]))
    }
}

#[cfg(test)]
mod tests {
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
}
