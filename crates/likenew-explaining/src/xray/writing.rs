//! Tools of experiments that write: the time of writing by bytes written, areas that are written
//! sequentially, and writes each followed by a flush, which shows the latency of the medium behind any
//! buffer. Compares two areas, or two ways to write, that differ in one thing, with their I/Os side by side.

use std::ops::Range;

use likenew_core::io::{DataClass, Op, Sample};
use likenew_core::segment::Segment;
use likenew_core::workload::{AccessPattern, Arrival, Mix, Stream, Workload};
use likenew_stats::interval::{CONFIDENCE_99, Interval, median_interval};
use likenew_stats::summary::median;

use super::experiment::{Context, bytes_written, random_reads, sampled, sequential_writes};

/// One point of the progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    /// Bytes written up to here.
    pub(super) bytes: f64,
    /// Time taken up to here, in nanoseconds.
    pub(super) ns: f64,
}

/// Marks from the start, which is at 0 bytes and 0 ns, in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WriteProgress {
    pub(super) marks: Vec<Mark>,
}

impl WriteProgress {
    /// The progress of workloads that write, by windows along bytes. Time between them does not count.
    pub(super) fn from_segments<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Self {
        let (mut bytes, mut ns) = (0.0, 0.0);
        let mut marks = Vec::new();
        for segment in segments {
            let mut before = segment.started_at;
            for cell in segment.gigabytes.cells.iter().filter(|cell| cell.ios > 0) {
                bytes += cell.bytes as f64;
                ns += cell.last.since(before.min(cell.last)).0 as f64;
                before = before.max(cell.last);
                marks.push(Mark { bytes, ns });
            }
        }
        Self { marks }
    }

    /// The progress with `cost` nanoseconds per byte in the steps that begin between two points.
    #[must_use]
    pub(super) fn without_trend(&self, between: Range<f64>, cost: f64) -> Self {
        let (mut bytes, mut ns) = (0.0, 0.0);
        let step = |(mark, step_cost): (&Mark, f64)| {
            let is_between = between.start <= bytes && bytes < between.end;
            ns += (mark.bytes - bytes) * if is_between { cost } else { step_cost };
            bytes = mark.bytes;
            Mark { bytes, ns }
        };
        Self { marks: self.marks.iter().zip(self.costs()).map(step).collect() }
    }

    /// The bytes from each mark to the next.
    pub(super) fn steps(&self) -> impl Iterator<Item = Range<f64>> {
        let ends = self.marks.iter().map(|mark| mark.bytes);
        std::iter::once(0.0).chain(ends.clone()).zip(ends).map(|(from, to)| from..to)
    }

    /// Nanoseconds per byte from each mark to the next.
    pub(super) fn costs(&self) -> Vec<f64> {
        let start = Mark { bytes: 0.0, ns: 0.0 };
        let before = std::iter::once(&start).chain(&self.marks);
        before.zip(&self.marks).map(|(from, to)| (to.ns - from.ns) / (to.bytes - from.bytes)).collect()
    }

    /// Nanoseconds per byte between two points, each moved to the nearest mark; `None` if no bytes are
    /// between them.
    pub(super) fn cost_between(&self, from: f64, to: f64) -> Option<f64> {
        let (from, to) = (self.mark_at(from)?, self.mark_at(to)?);
        (to.bytes > from.bytes).then(|| (to.ns - from.ns) / (to.bytes - from.bytes))
    }

    /// The mark nearest to this many bytes.
    pub(super) fn mark_at(&self, bytes: f64) -> Option<Mark> {
        let next = self.marks.partition_point(|mark| mark.bytes < bytes);
        let near = [next.checked_sub(1), Some(next)].into_iter().flatten();
        let near = near.filter_map(|index| self.marks.get(index));
        near.min_by(|a, b| (a.bytes - bytes).abs().total_cmp(&(b.bytes - bytes).abs())).copied()
    }

    /// Bytes in all.
    pub(super) fn bytes(&self) -> f64 {
        self.marks.last().map_or(0.0, |mark| mark.bytes)
    }

    /// Nanoseconds in all.
    pub(super) fn ns(&self) -> f64 {
        self.marks.last().map_or(0.0, |mark| mark.ns)
    }

    /// `[bytes, bytes/s]` of at most this many pieces.
    pub(super) fn speeds(&self, pieces: usize) -> Vec<[f64; 2]> {
        let mut before = Mark { bytes: 0.0, ns: 0.0 };
        let each = self.marks.len().div_ceil(pieces.max(1)).max(1);
        let ends = self.marks.chunks(each).filter_map(<[Mark]>::last);
        let speed = |end: &Mark| {
            let (bytes, ns) = (end.bytes - before.bytes, end.ns - before.ns);
            before = *end;
            (ns > 0.0).then(|| [end.bytes, bytes / ns * 1e9])
        };
        ends.filter_map(speed).collect()
    }
}

/// The latest addresses that were written sequentially and not changed otherwise since.
pub(super) fn written_in_order(context: &Context<'_>, segments: &[Segment]) -> Option<Range<u64>> {
    let geometry = &context.evidence.geometry;
    let mut ground: Option<Range<u64>> = None;
    for segment in segments.iter().filter(|segment| segment.workload.writes()) {
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

/// Whether a workload does nothing but write sequentially.
pub(super) fn writes_in_order(segment: &Segment) -> bool {
    let [stream] = &segment.workload.streams[..] else { return false };
    stream.op == Mix::Only(Op::Write) && matches!(stream.pattern, AccessPattern::Sequential(_))
}

/// The part that a workload wrote in its first round, if it ran alone and sequentially.
fn in_order(segment: &Segment, regions: &[Range<u64>]) -> Option<Range<u64>> {
    let [region] = regions else { return None };
    let stream = segment.workload.streams.iter().find(|stream| stream.op.writes())?;
    let is_forward = matches!(stream.pattern, AccessPattern::Sequential(_))
        && matches!(stream.op, Mix::Only(Op::Write))
        && segment.workload.lanes == 1;
    let end = region.end.min(region.start + bytes_written(segment));
    (is_forward && end > region.start).then_some(region.start..end)
}

/// Writes of `block` bytes at `place` and as many flushes, in random turns at QD1.
pub(super) fn synced_writes(
    name: impl Into<String>,
    block: u32,
    place: AccessPattern,
    writes: u32,
) -> Workload {
    let stream = |op, block| Stream {
        arrival: Arrival::Interleaved { weight: 1, depth: 1, per_second: None },
        ..Stream::closed(Mix::Only(op), block, place, 1, DataClass::Random)
    };
    sampled(name, vec![stream(Op::Write, block), stream(Op::Flush, block)], 2 * writes, None)
}

/// Latencies of single writes until the flush after them completed, in nanoseconds: those alone between two
/// flushes.
pub(super) fn synced_times(segment: &Segment) -> Vec<f64> {
    let alone = |three: &[Sample]| {
        let ops = [three[0].op, three[1].op, three[2].op];
        (ops == [Op::Flush, Op::Write, Op::Flush]).then(|| three[2].done.since(three[1].sent).0 as f64)
    };
    segment.samples.windows(3).filter_map(alone).collect()
}

/// Random reads of `block` bytes in both areas at QD1, `each` of them in random turns, so that a drift
/// affects both alike.
pub(super) fn reads_of_both(name: &str, areas: [Range<u64>; 2], block: u32, each: u32) -> Workload {
    let arrival = Arrival::Interleaved { weight: 1, depth: 1, per_second: None };
    let stream = |area| Stream { arrival, ..random_reads(area, block, 1) };
    sampled(name, areas.map(stream).into(), 2 * each, None)
}

/// Writes an area once sequentially, then flushes it.
pub(super) fn write_in_order(name: &str, area: Range<u64>, data: DataClass) -> Workload {
    let block = (64 << 10).min(area.end - area.start) as u32;
    let mut workload = Workload { flush: true, ..sequential_writes(name, area, block, 4) };
    workload.streams[0].data = data;
    workload
}

/// Latencies of the kept I/Os of a stream, in nanoseconds.
pub(super) fn stream_latencies(segment: &Segment, stream: u16) -> Vec<f64> {
    let samples = segment.samples.iter().filter(|sample| sample.stream == stream && sample.op != Op::Flush);
    samples.map(|sample| sample.latency().0 as f64).collect()
}

/// The medians of two sets of latencies, and the interval of their ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MedianComparison {
    pub(super) first: f64,
    pub(super) second: f64,
    one_interval: Interval,
    other_interval: Interval,
}

impl MedianComparison {
    /// Compares two sets of latencies; `None` if there are fewer than eight, or no time passed.
    pub(super) fn from_times(first: &[f64], second: &[f64]) -> Option<Self> {
        Some(Self {
            first: median(first).filter(|first| *first > 0.0)?,
            second: median(second).filter(|second| *second > 0.0)?,
            one_interval: median_interval(first, CONFIDENCE_99)?,
            other_interval: median_interval(second, CONFIDENCE_99)?,
        })
    }

    /// Compares the first two streams of a segment.
    pub(super) fn in_segment(segment: &Segment) -> Option<Self> {
        Self::from_times(&stream_latencies(segment, 0), &stream_latencies(segment, 1))
    }

    /// The first median over the second.
    pub(super) fn ratio(&self) -> f64 {
        self.first / self.second
    }

    /// Whether the first median is less, by at least this share of the second and beyond chance.
    pub(super) fn is_less(&self, share: f64) -> bool {
        self.first < (1.0 - share) * self.second && self.one_interval.high < self.other_interval.low
    }

    /// Whether the medians are the same within this share of the second and chance.
    pub(super) fn is_same(&self, share: f64) -> bool {
        let Interval { low, high } = self.one_interval;
        let within = |value: f64| (value / self.second - 1.0).abs() <= share;
        (self.ratio() - 1.0).abs() <= share
            || (low <= self.other_interval.high
                && self.other_interval.low <= high
                && within(low)
                && within(high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_count_beyond_chance_only() {
        let even = |level: f64, spread: f64| -> Vec<f64> {
            (0..64).map(|index| level + spread * f64::from(index % 9 - 4)).collect()
        };
        let compared =
            |first: Vec<f64>, second: Vec<f64>| MedianComparison::from_times(&first, &second).unwrap();
        let apart = compared(even(80.0, 1.0), even(100.0, 1.0));
        assert!(apart.is_less(0.05) && !apart.is_same(0.05));
        assert!(!apart.is_less(0.25), "not by as much as that");
        let same = compared(even(100.0, 1.0), even(100.5, 1.0));
        assert!(!same.is_less(0.0) && same.is_same(0.02));
        let noisy = compared(even(80.0, 30.0), even(100.0, 30.0));
        assert!(!noisy.is_less(0.05) && !noisy.is_same(0.05), "noise decides nothing");
        assert_eq!(MedianComparison::from_times(&[0.0; 20], &[1.0; 20]), None, "a rehearsal has no times");
    }
}
