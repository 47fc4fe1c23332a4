//! When a drive that is left alone begins to work by itself: reads after a long enough rest meet dies that are at it.

use std::ops::Range;

use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::size::Size;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::verdict::{Line, Series, Shape};
use likenew_core::workload::{Arrivals, Pace, Stream, Workload};
use likenew_stats::summary::{median, quantile};

use super::property::{Key, Property};
use super::scene::{Scene, latencies, own_name, random_reads};
use crate::series::axis;

const CALM: &str = "keep it awake";
const GAP: &str = "leave it alone";
const ASK: &str = "ask";

const READ: u32 = 4096;
const READS: u32 = 24;
/// Left over work ends while the drive is kept from resting.
const CALMING: Nanos = Nanos::from_secs(4);
const AWAKE_PER_S: f64 = 100.0;
/// Rests are doubled from here to there.
const SHORTEST: f64 = 25e6;
const LONGEST: f64 = 45e9;
/// Rests so near to each other are near enough.
const NEAR: f64 = 1.1;
/// Steps are this share of what the work takes.
const SEEN: f64 = 0.7;
/// A drive whose answers contradict each other is not asked for ever.
const ASKS_MAX: usize = 40;
/// Reads that meet a die at work take at least so many times as long as usual.
const BUSY: f64 = 1.4;

/// Rests of one past and what came after them.
pub(super) struct Idle<'a> {
    /// Rest in nanoseconds, and how many times as long as usual the reads after it took.
    asked: Vec<[f64; 2]>,
    asks: usize,
    last: Option<&'a Segment>,
}

impl<'a> Idle<'a> {
    /// Of those that a probe has run. `None` while nothing was asked.
    pub(super) fn of(own: &[&'a Segment]) -> Self {
        let calm = own.iter().filter(|segment| own_name(segment) == CALM);
        let usual = calm.filter_map(|segment| {
            // The last of them, when what was left over is done.
            let all = latencies(segment);
            quantile(&all[all.len() - all.len() / 4..], 0.5)
        });
        let usual = usual.fold(f64::INFINITY, f64::min);
        let asked = own.windows(3).filter_map(|three| {
            let [before, gap, ask] = three else { return None };
            if own_name(gap) != GAP || own_name(ask) != ASK {
                return None;
            }
            // From the end of the last I/O before the rest to the first one after it.
            let rest = ask.samples.first()?.sent.since(before.samples.last()?.done);
            Some([rest.0 as f64, median(&latencies(ask))? / usual])
        });
        let mut asked: Vec<[f64; 2]> = asked.collect();
        asked.sort_by(|one, other| one[0].total_cmp(&other[0]));
        let asks = own.iter().filter(|segment| own_name(segment) == ASK).count();
        Self { asked, asks, last: own.last().copied() }
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
        if self.asks >= ASKS_MAX {
            return None;
        }
        let last = self.last.map(own_name).unwrap_or_default();
        let rest = self.rest(lasts)?;
        match last {
            CALM => Some(Workload { name: GAP.into(), ..Workload::rest(Nanos(rest as u64)) }),
            GAP => {
                let stream = random_reads(holding, READ, 1);
                let workload = Workload::new(ASK, Until::ops(READS.into()), vec![stream]);
                Some(Workload { samples: READS, ..workload })
            }
            ASK if self.bracket().is_some() => again().or_else(|| Some(calm(holding))),
            // Nothing has begun, and the reads have ended the rest.
            ASK => Some(Workload { name: GAP.into(), ..Workload::rest(Nanos(rest as u64)) }),
            _ => Some(calm(holding)),
        }
    }

    /// The longest rest after which nothing had begun, and the shortest after which something had.
    fn bracket(&self) -> Option<(f64, f64)> {
        let begun = self.asked.iter().position(|[_, ratio]| *ratio >= BUSY)?;
        let short = self.asked[..begun].last().map_or(0.0, |[rest, _]| *rest);
        Some((short, self.asked[begun][0]))
    }

    fn rest(&self, lasts: Option<f64>) -> Option<f64> {
        match self.bracket() {
            None => {
                // Longer steps could miss work that begins after the shorter rest and has ended by the end of the longer one.
                let step = |rest: f64| rest.min(lasts.map_or(f64::INFINITY, |lasts| SEEN * lasts));
                let next = self.asked.last().map_or(SHORTEST, |[rest, _]| rest + step(*rest));
                (next < LONGEST).then_some(next)
            }
            Some((short, long)) if short > 0.0 && long > NEAR * short => Some((short * long).sqrt()),
            Some(_) => None,
        }
    }

    pub(super) fn property(&self, scene: &Scene<'_>) -> Option<Property> {
        let key = Key::IdleCollectionNs;
        let longest = self.asked.last()?;
        if let Some((short, long)) = self.bracket() {
            let told = format!(
                "after rests of {} and less reads took as long as ever, after {} and more they met dies at work",
                Nanos(short as u64),
                Nanos(long as u64)
            );
            let after = self.asked.iter().filter(|[rest, _]| *rest >= long);
            let orderly = after.clone().filter(|[_, ratio]| *ratio >= BUSY).count() * 2 > after.count();
            if short <= 0.0 || !orderly || long > 1.5 * short || scene.is_busy() {
                return Some(Property::undecided(key, told));
            }
            return Some(Property::number(key, (short * long).sqrt(), (short, long), 0.95, told));
        }
        let told = format!("even after {} reads took as long as ever", Nanos(longest[0] as u64));
        Some(match 2.0 * longest[0] >= LONGEST && !scene.is_busy() {
            true => Property::absent(key, 0.9, told),
            false => Property::undecided(key, told),
        })
    }

    pub(super) fn picture(&self) -> Option<Series> {
        let title = "How long do reads take after a rest, as a multiple of the usual?";
        let series =
            Series::new(title, Shape::Scatter, axis("rest", "ns").logarithmic(), axis("latency", "1"));
        (!self.asked.is_empty()).then(|| series.lines([Line::new("reads", self.asked.clone())]))
    }
}

fn calm(holding: Range<u64>) -> Workload {
    let pace = Pace::Open { per_second: AWAKE_PER_S, arrivals: Arrivals::Even, depth_max: 4 };
    let place = Place::Uniform(Region::bytes(holding));
    let stream =
        Stream { op: Mix::Only(Op::Read), size: Size::fixed(READ), place, pace, data: DataClass::Random };
    let workload = Workload::new(CALM, Until::elapsed(CALMING), vec![stream]);
    Workload { samples: 2 * (AWAKE_PER_S * CALMING.as_secs_f64()) as u32, ..workload }
}
