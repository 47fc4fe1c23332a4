//! When a drive that is left alone begins to work by itself: reads after a long enough rest meet dies that are at it.

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
/// Left over work ends while the drive is kept from resting.
const CALMING: Nanos = Nanos::from_secs(4);
const AWAKE_PER_S: f64 = 100.0;
/// A drive whose answers contradict each other is not asked for ever.
const ASKS_MAX: usize = 40;
/// Within this quantile's time a drive answers that is kept awake …
const AWAKE: f64 = 0.95;
/// … and after a rest within this one's where nothing has begun: work on a few of its dies meets few of the reads.
const RESTED_SHARE: f64 = 0.85;
/// A die is at work for long against what a read takes.
const ASKING: RestQuery = RestQuery { shortest: 25e6, longest: 45e9, busy: 1.4, work: Work::Dies };

/// Rests of one past and what came after them.
pub(super) struct Idle<'a> {
    rests: Rests,
    probe_reads: usize,
    last: Option<&'a Segment>,
}

impl<'a> Idle<'a> {
    /// Of those that a probe has run. `None` while nothing was asked.
    pub(super) fn from_segments(segments: &[&'a Segment]) -> Self {
        let calm = segments.iter().filter(|segment| own_name(segment) == CALM);
        let usual = calm.filter_map(|segment| {
            // The last of them, when what was left over is done.
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

    /// The next workload: the drive is kept awake until what was left over is done, left alone, and asked. `again` makes work for it
    /// after each time that it has begun, and that takes at least `lasts` nanoseconds, if that is known. Reads keep to addresses that
    /// hold data.
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
            // Nothing has begun, and the reads have ended the rest.
            ASK => Some(self.gap(rest)),
            _ => Some(calm(holding)),
        }
    }

    /// Leaves it alone until it has rested for so many nanoseconds, of which some have passed since the last read.
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
