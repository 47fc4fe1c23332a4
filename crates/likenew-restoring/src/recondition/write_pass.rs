//! A pass over addresses in order, and how fast they were written along it.

use likenew_core::fix::{FixReport, WriteSpeed};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;

/// A pass over all addresses of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WritePass {
    /// The speed against bytes written in address order.
    pub(super) speeds: Vec<WriteSpeed>,
    /// Bytes written, and time that passed.
    pub(super) bytes: u64,
    pub(super) elapsed_ns: u64,
    /// The speed of the probe of each span, in bytes a second.
    pub(super) probes: Vec<Option<f64>>,
    /// Spans that were fast already.
    pub(super) fast_spans: usize,
    /// The longest I/O, where single ones were measured.
    pub(super) latency_max: Option<Nanos>,
}

/// What reaches this share of the speed that it should have is fast. Chosen: what is called restored.
pub(super) const FAST: f64 = 0.95;

impl WritePass {
    /// Adds what was rewritten in place.
    pub(super) fn add(&mut self, report: &FixReport) {
        self.speeds.extend(report.write_speeds.points());
        self.bytes += report.bytes_written;
        self.elapsed_ns += report.elapsed.0;
    }

    /// Adds sequential writes; nothing of the speed of those that failed.
    pub(super) fn add_segment(&mut self, segment: &Segment) {
        self.bytes += segment.total().bytes;
        self.elapsed_ns += segment.elapsed().0;
        if segment.measurement_error().is_some() {
            return;
        }
        self.latency_max = self.latency_max.max(Some(segment.latencies().max()));
        let mut from = segment.started_at;
        for cell in segment.gigabytes.cells.iter().filter(|cell| cell.bytes > 0) {
            let last = cell.last.max(from);
            self.speeds.push(WriteSpeed { bytes: cell.bytes, elapsed: last.since(from) });
            from = last;
        }
        // The flush belongs to what was written before it.
        if let Some(last) = self.speeds.last_mut() {
            last.elapsed += segment.ended_at.since(from);
        }
    }

    /// All of it, in bytes a second.
    pub(super) fn bytes_per_s(&self) -> Option<f64> {
        let (bytes, ns) =
            self.speeds.iter().fold((0, 0), |(bytes, ns), point| (bytes + point.bytes, ns + point.elapsed.0));
        (ns > 0).then(|| bytes as f64 / (ns as f64 * 1e-9))
    }

    /// The points as speed in bytes a second against bytes that were written in this pass up to their ends.
    pub(super) fn points(&self) -> Vec<[f64; 2]> {
        let mut written = 0;
        let mut points = Vec::with_capacity(self.speeds.len());
        for point in &self.speeds {
            written += point.bytes;
            points.extend(point.bytes_per_s().map(|speed| [written as f64, speed]));
        }
        points
    }
}
