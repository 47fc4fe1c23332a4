//! When an idle drive starts garbage collection: reads after a long enough rest meet busy dies.

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::findings::Series;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::size::Size;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Arrival, InterArrival, Stream, Workload};
use likenew_stats::summary::quantile;

use super::context::{ExperimentContext, latencies, own_name, random_reads};
use super::property::{Key, Property};
use super::rests::{RestQuery, Rests, Work};

const CALM: &str = "keep-awake reads";
const GAP: &str = "idle";
const ASK: &str = "probe read";

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
/// The quantile after a rest that must stay within it if nothing has started: work on a few dies meets few of
/// the reads. Chosen: below `AWAKE`.
const RESTED_SHARE: f64 = 0.85;
/// A die is busy for long compared with a read.
const ASKING: RestQuery = RestQuery { shortest: 25e6, longest: 45e9, busy: 1.4, work: Work::Dies };

/// The rests of one run and the reads after them.
pub(super) struct Idle<'a> {
    rests: Rests,
    probe_reads: usize,
    last: Option<&'a Segment>,
}

impl<'a> Idle<'a> {
    /// From the segments of a test. `None` while there are none.
    pub(super) fn from_segments(segments: &[&'a Segment]) -> Self {
        let calm = segments.iter().filter(|segment| own_name(segment) == CALM);
        let usual = calm.filter_map(|segment| {
            // The last quarter of them, when earlier work is done.
            let all = latencies(segment);
            quantile(&all[all.len() - all.len() / 4..], AWAKE)
        });
        let usual = usual.fold(f64::INFINITY, f64::min);
        let rests_tried = segments.windows(3).filter_map(|three| {
            let [before, gap, ask] = three else { return None };
            if own_name(gap) != GAP || own_name(ask) != ASK {
                return None;
            }
            // From the end of the last I/O before the rest to the first one after it.
            let rest = ask.samples.first()?.sent.since(before.samples.last()?.done);
            Some([rest.0 as f64, quantile(&latencies(ask), RESTED_SHARE)? / usual])
        });
        let rests = Rests::new(ASKING, rests_tried.collect());
        let probe_reads = segments.iter().filter(|segment| own_name(segment) == ASK).count();
        Self { rests, probe_reads, last: segments.last().copied() }
    }

    /// The next workload: keeps the drive awake until earlier work is done, leaves it idle, and reads.
    /// `again` makes new work each time that collection has started and takes at least `lasts` nanoseconds,
    /// if that is known. Reads keep to addresses that hold data.
    pub(super) fn next(
        &self,
        holding: Range<u64>,
        lasts: Option<f64>,
        again: impl FnOnce() -> Option<Workload>,
    ) -> Option<Workload> {
        if self.probe_reads >= ASKS_MAX {
            return None;
        }
        let last = self.last.map(own_name).unwrap_or_default();
        let rest = self.rests.next(lasts)?;
        match last {
            CALM => Some(self.gap(rest)),
            GAP => {
                let stream = random_reads(holding, READ, 1);
                let workload = Workload::new(ASK, Until::ops(READS.into()), vec![stream]);
                Some(Workload { samples: READS, ..workload })
            }
            ASK if self.rests.bracket().is_some() => again().or_else(|| Some(calm(holding))),
            // Nothing has started, and the reads have ended the rest.
            ASK => Some(self.gap(rest)),
            _ => Some(calm(holding)),
        }
    }

    /// Leaves the drive idle for this many nanoseconds, some of which have passed since the last read.
    fn gap(&self, rest: f64) -> Workload {
        let passed = self.last.and_then(|last| Some(last.ended_at.since(last.samples.last()?.done)));
        let left = Nanos(rest as u64).since(passed.unwrap_or(Nanos::ZERO));
        Workload { name: GAP.into(), ..Workload::rest(left) }
    }

    pub(super) fn property(&self, context: &ExperimentContext<'_>) -> Option<Property> {
        let longest = self.rests.longest()?;
        self.rests.property(context).or_else(|| {
            let reason = self.rests.without_effect()?;
            Some(match 2.0 * longest >= ASKING.longest && !context.is_busy() {
                true => Property::absent(Key::IdleCollectionNs, 0.9, reason),
                false => Property::undecided(Key::IdleCollectionNs, reason),
            })
        })
    }

    pub(super) fn picture(&self) -> Option<Series> {
        self.rests.picture()
    }
}

fn calm(holding: Range<u64>) -> Workload {
    let arrival = Arrival::Open { per_second: AWAKE_PER_S, inter_arrival: InterArrival::Even, depth_max: 4 };
    let pattern = AccessPattern::Random(Region::bytes(holding));
    let stream = Stream {
        op: Mix::Only(Op::Read),
        size: Size::fixed(READ),
        pattern,
        arrival,
        data: DataClass::Random,
    };
    let workload = Workload::new(CALM, Until::elapsed(CALMING), vec![stream]);
    Workload { samples: 2 * (AWAKE_PER_S * CALMING.as_secs_f64()) as u32, ..workload }
}
