//! Whether overwritten blocks stay in place. On a disk with overlapping tracks they go to a log elsewhere,
//! and reading sequentially moves the arm there and back for each (Aghayev and Desnoyers, "Skylight: a window
//! on shingled disk operation", FAST 2015).

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::findings::{Line, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};

use super::super::context::ExperimentContext;
use super::super::reason::Reason;
use super::super::wording;
use likenew_core::quantity::Latency;
use likenew_procedure_support::series::axis;

const READ_BEFORE: &str = "sequential before";
const OVERWRITE: &str = "overwrite pieces";
const READ_AFTER: &str = "sequential after";
/// Bytes read sequentially, the length of those reads, and how many blocks among them are overwritten.
const STRETCH: u64 = 8 << 20;
const LENGTH: u32 = 64 << 10;
const PIECES: u64 = 32;
/// Time of the sequential read over that before, as a ratio, from which blocks have moved. Chosen: each moved
/// block costs two seeks.
const MOVED_FACTOR: f64 = 2.5;
/// The same, up to which they are in place. Chosen: head changes and retries.
const IN_PLACE_FACTOR: f64 = 1.4;

/// A region read sequentially before and after some of its blocks were overwritten.
pub(super) struct Pieces<'a> {
    before: &'a Segment,
    after: &'a Segment,
}

impl<'a> Pieces<'a> {
    /// The next workload of this test, if the writes are allowed.
    pub(super) fn next(context: &ExperimentContext<'_>) -> Option<Workload> {
        let block = context.block().max(4096);
        if context.span < 2 * STRETCH || !context.may_write(PIECES * u64::from(block)) {
            return None;
        }
        let region = Region::bytes(stretch(context.span));
        let in_order = |name: &str| {
            let place = AccessPattern::Sequential(region);
            let stream = Stream::closed(Mix::Only(Op::Read), LENGTH, place, 1, DataClass::Random);
            let workload = Workload::new(name, Until::bytes(STRETCH), vec![stream]);
            Workload { samples: (STRETCH / u64::from(LENGTH)) as u32, ..workload }
        };
        match (context.segment(READ_BEFORE), context.segment(OVERWRITE), context.segment(READ_AFTER)) {
            (None, ..) => Some(in_order(READ_BEFORE)),
            (_, None, _) => {
                let place = AccessPattern::Random(region);
                let stream = Stream::closed(Mix::Only(Op::Write), block, place, 1, DataClass::Random);
                Some(Workload { flush: true, ..Workload::new(OVERWRITE, Until::ops(PIECES), vec![stream]) })
            }
            (.., None) => Some(in_order(READ_AFTER)),
            _ => None,
        }
    }

    /// The result, once all of it ran.
    pub(super) fn from_segments(context: &ExperimentContext<'a>) -> Option<Self> {
        let (before, after) = (context.segment(READ_BEFORE)?, context.segment(READ_AFTER)?);
        let pieces = Self { before, after };
        (!before.samples.is_empty() && !after.samples.is_empty() && pieces.times().0 > 0.0).then_some(pieces)
    }

    /// Nanoseconds to read the region sequentially, before and after.
    fn times(&self) -> (f64, f64) {
        (self.before.elapsed().0 as f64, self.after.elapsed().0 as f64)
    }

    /// Whether the blocks have moved.
    pub(super) fn has_moved(&self) -> bool {
        self.times().1 > MOVED_FACTOR * self.times().0
    }

    /// Whether the blocks are in place.
    pub(super) fn has_stayed(&self) -> bool {
        self.times().1 < IN_PLACE_FACTOR * self.times().0
    }

    /// The reason from seek times, and what this test adds.
    pub(super) fn reason(
        &self,
        seeks: Reason,
        wording: fn(Reason, Latency, Latency, u64) -> Reason,
    ) -> Reason {
        let (before, after) = self.times();
        wording(seeks, Latency(before), Latency(after), PIECES)
    }

    /// Latency along the region, before and after.
    pub(super) fn picture(&self) -> Series {
        let line = |name: &str, segment: &Segment| {
            let start = segment.samples.iter().map(|sample| sample.offset).min().unwrap_or(0);
            let point = |sample: &likenew_core::sample::Sample| {
                [(sample.offset - start) as f64, sample.latency().0 as f64]
            };
            Line::new(name, segment.samples.iter().map(point).collect())
        };
        let (offset, latency) = (axis("offset", "bytes"), axis("latency", "ns").logarithmic());
        Series::new(wording::READS_IN_ORDER, Shape::Line, offset, latency)
            .lines([line("before", self.before), line("after", self.after)])
    }
}

/// In the middle of the span, far from a log at either end.
fn stretch(span: u64) -> Range<u64> {
    let start = span / 2 - span / 2 % STRETCH;
    start..start + STRETCH
}
