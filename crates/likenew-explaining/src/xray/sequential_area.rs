//! Which addresses this run has written, and how.

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::Op;
use likenew_core::segment::Segment;

use super::context::{ExperimentContext, bytes_written};

/// The latest addresses that were written sequentially and not changed otherwise since.
pub(super) fn written_in_order(context: &ExperimentContext<'_>) -> Option<Range<u64>> {
    let geometry = &context.evidence.geometry;
    let mut ground: Option<Range<u64>> = None;
    for segment in context.evidence.segments.iter().filter(|segment| segment.workload.writes()) {
        let regions = segment.workload.streams.iter().filter(|stream| stream.op.writes());
        let regions =
            regions.filter_map(|s| s.pattern.region().resolve(geometry.capacity, geometry.block).ok());
        let regions: Vec<Range<u64>> = regions.collect();
        let in_order = in_order(segment, &regions);
        let joins = |old: &Range<u64>| in_order.as_ref().is_some_and(|new| new.start == old.end);
        let cuts = |old: &Range<u64>| regions.iter().any(|new| new.start < old.end && old.start < new.end);
        ground = match (ground, in_order.clone()) {
            (Some(old), Some(new)) if joins(&old) => Some(old.start..new.end),
            (Some(old), Some(new)) if cuts(&old) || length(&new) >= length(&old) => Some(new),
            (Some(old), None) if cuts(&old) => None,
            (Some(old), _) => Some(old),
            (None, new) => new,
        };
    }
    ground
}

fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}

/// The part that a workload wrote in its first round, if it ran alone and sequentially.
fn in_order(segment: &Segment, regions: &[Range<u64>]) -> Option<Range<u64>> {
    let [region] = regions else { return None };
    let stream = segment.workload.streams.iter().find(|stream| stream.op.writes())?;
    let is_forward = matches!(stream.pattern, AccessPattern::Sequential(_))
        && matches!(stream.op, likenew_core::mix::Mix::Only(Op::Write))
        && segment.workload.lanes == 1;
    let end = region.end.min(region.start + bytes_written(segment));
    (is_forward && end > region.start).then_some(region.start..end)
}
