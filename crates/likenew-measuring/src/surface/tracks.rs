//! Maps addresses to tracks.
//!
//! A disk turns at a constant speed, so each of its tracks takes equally long to transfer. The distance of
//! the heads from the outer edge is therefore the time to transfer everything outside: the transfer curve
//! shows where the tracks are.

use super::access_sample::AccessSample;
use super::curve::Curve;

/// The distance of an address from the first track, as a share of the way to the last.
pub(super) struct Tracks {
    /// Address and share, both rising, from (0, 0) to (span, 1).
    marks: Vec<(f64, f64)>,
    /// Nanoseconds that it takes to transfer all of the span.
    whole_ns: f64,
}

impl Tracks {
    /// From the fit of the curve; points without one are skipped.
    pub(super) fn new(curve: &Curve<'_>) -> Self {
        let span = curve.span as f64;
        let middle = |range: &std::ops::Range<u64>| (range.start + range.end) as f64 / 2.0;
        let courses = curve.points.iter().map(|point| (middle(&point.range), point.expected));
        let slowness: Vec<(f64, f64)> =
            courses.filter(|(_, speed)| *speed > 0.0).map(|(at, speed)| (at, 1e9 / speed)).collect();
        let (Some(first), Some(last)) = (slowness.first(), slowness.last()) else {
            return Self { marks: vec![(0.0, 0.0), (span, 1.0)], whole_ns: 0.0 };
        };
        let (mut at, mut slow, mut time) = (0.0, first.1, 0.0);
        let mut marks = vec![(0.0, 0.0)];
        for (next, next_slow) in slowness.iter().copied().chain([(span, last.1)]) {
            time += (next - at) * f64::midpoint(slow, next_slow);
            (at, slow) = (next, next_slow);
            marks.push((at, time));
        }
        marks.iter_mut().for_each(|mark| mark.1 /= time);
        Self { marks, whole_ns: time }
    }

    /// The seek distance from one address to another, as a share of the full stroke.
    pub(super) fn position(&self, from: u64, to: u64) -> f64 {
        (self.share(to) - self.share(from)).abs()
    }

    /// Time to transfer the bytes of a probe, in nanoseconds.
    pub(super) fn transfer_ns(&self, probe: &AccessSample) -> f64 {
        self.position(probe.offset, probe.offset + u64::from(probe.length)) * self.whole_ns
    }

    fn share(&self, address: u64) -> f64 {
        let address = address as f64;
        let next = self.marks.partition_point(|(at, _)| *at <= address).clamp(1, self.marks.len() - 1);
        let ((from, before), (to, after)) = (self.marks[next - 1], self.marks[next]);
        if to <= from { after } else { before + (after - before) * ((address - from) / (to - from)).min(1.0) }
    }
}
