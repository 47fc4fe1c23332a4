//! Overwrites space sequentially, again and again, until its speed no longer changes: this restores a drive
//! that takes no TRIM.
//!
//! The method of "Reconditioning a solid state drive" (2009–2010): one huge file over all free space, whose
//! erase blocks go stale as wholes.

use std::ops::Range;

use likenew_core::fix::{FixReport, WriteSpeed};
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::Probe;
use likenew_core::procedure::{Ended, Steps};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_stats::least_squares::approach;
use likenew_stats::summary::quantile;

use super::step::{Attempt, ReconditionStep, StepContext, StepName};
use super::wording;

/// Overwrites free space.
pub(super) struct Overwrite;
/// Overwrites everything.
pub(super) struct OverwriteAll;

/// Block and queue depth of the writes: deep enough to keep a drive busy.
const BLOCK: u32 = 1 << 20;
const DEPTH: u32 = 4;
/// Windows of a pass.
const WINDOWS: u64 = 128;
/// A pass is written in parts of this many bytes or more, and in so many at most: no more is written than pays.
const PART_BYTES_MIN: u64 = 1 << 30;
const PARTS_MAX: u64 = 64;
/// So many parts in a row that are fast end a pass, not before this part of the space: the spare blocks of a drive take the first
/// writes at full speed whatever lies on it.
const FAST_PARTS: usize = 2;
const WARM_UP_PART: u64 = 16;
/// Gain left after a pass, as a share of the speed it converges to, below which it is the last. Chosen: 1% is
/// not worth a pass.
const REMAINING_GAIN_MIN: f64 = 0.01;
/// Time limit for the file system to send TRIM for deleted files. Chosen: some send it seconds later.
const RELEASE_WAIT: Nanos = Nanos::from_secs(6);

impl ReconditionStep for Overwrite {
    fn caveat(&self, context: &StepContext<'_>) -> Option<String> {
        context.virtual_by().map(wording::image_would_grow)
    }

    fn bytes(&self, context: &StepContext<'_>) -> Option<u64> {
        let free = context.free()?;
        Some((free.end - free.start) * u64::from(context.options.passes))
    }

    fn run(&self, attempt: &mut Attempt<'_>, steps: &mut Steps<'_>) -> Result<(), Ended> {
        attempt.context.free().map_or(Ok(()), |free| overwrite(attempt, steps, &free))
    }
}

impl ReconditionStep for OverwriteAll {
    fn bytes(&self, context: &StepContext<'_>) -> Option<u64> {
        Some(context.evidence.geometry.capacity * u64::from(context.options.passes))
    }

    fn run(&self, attempt: &mut Attempt<'_>, steps: &mut Steps<'_>) -> Result<(), Ended> {
        let whole = 0..attempt.context.evidence.geometry.capacity >> 20 << 20;
        overwrite(attempt, steps, &whole)
    }
}

/// Whether this many passes were enough, judged by the speed that they converge to, if any measured one.
fn is_enough(passes: usize, speeds: &[f64], most: usize) -> bool {
    passes >= most || is_steady(speeds)
}

/// Whether another pass would change little.
pub(super) fn is_steady(speeds: &[f64]) -> bool {
    approach(speeds).is_some_and(|found| found.remaining <= REMAINING_GAIN_MIN)
}

/// Pass after pass, until another would change little.
fn overwrite(attempt: &mut Attempt<'_>, steps: &mut Steps<'_>, space: &Range<u64>) -> Result<(), Ended> {
    let context = attempt.context;
    let bytes = space.end - space.start;
    let release = || Probe::Release { offset: space.start, bytes, wait: RELEASE_WAIT };
    let most = context.options.passes as usize;
    loop {
        let is_fast = overwrite_once(attempt, steps, space)?;
        // Some file systems never write in place, so each pass in a folder begins by deleting the files.
        if context.is_folder() {
            steps.probe(release)?;
        }
        let speeds: Vec<f64> = attempt.passes.iter().filter_map(WritePass::bytes_per_s).collect();
        if is_fast || is_enough(attempt.passes.len(), &speeds, most) {
            break;
        }
    }
    // A drive that takes TRIM is not left full.
    if context.evidence.geometry.trims && !context.is_folder() {
        steps.probe(release)?;
    }
    attempt.idle(steps)
}

/// One pass, part by part. It ends early, and is the last, where what comes next would gain nothing: its last parts were as fast as
/// places that were written before, and the spare blocks of the drive are used up.
fn overwrite_once(
    attempt: &mut Attempt<'_>,
    steps: &mut Steps<'_>,
    space: &Range<u64>,
) -> Result<bool, Ended> {
    let goal_bytes_per_s = attempt.context.rewritten_bytes_per_s();
    let bytes = space.end - space.start;
    let number = attempt.passes.len() + 1;
    let (mut written, mut fast) = (0, 0);
    loop {
        let segment = steps.run_seeded(|| part(attempt.name, number, space, written))?;
        if written == 0 {
            attempt.passes.push(WritePass::default());
        }
        attempt.passes[number - 1].add_segment(segment);
        written += segment.workload.until.bytes.unwrap_or(bytes);
        fast = if goal_bytes_per_s.is_some_and(|goal| is_fast(segment, goal)) { fast + 1 } else { 0 };
        let is_whole = written >= bytes;
        let is_fast = fast >= if is_whole { 1 } else { FAST_PARTS } && written > bytes / WARM_UP_PART;
        if is_whole || is_fast {
            return Ok(is_fast);
        }
    }
}

/// Whether a part was as fast as the goal, and all of it as fast as its fastest quarter: a goal that was measured on a busy machine may
/// be too low.
fn is_fast(part: &Segment, goal_bytes_per_s: f64) -> bool {
    let mut pass = WritePass::default();
    pass.add_segment(part);
    let speeds: Vec<f64> = pass.points().into_iter().map(|[_, speed]| speed).collect();
    let goal = quantile(&speeds, 0.75).unwrap_or(f64::INFINITY).max(goal_bytes_per_s);
    pass.bytes_per_s().is_some_and(|speed| speed >= FAST * goal)
}

/// A part of a pass, from this many bytes on.
fn part(step: StepName, pass: usize, space: &Range<u64>, written: u64) -> Workload {
    let bytes = space.end - space.start;
    let length = (bytes / PARTS_MAX).max(PART_BYTES_MIN).next_multiple_of(PART_BYTES_MIN);
    let start = space.start + written;
    let end = if space.end - start < length + PART_BYTES_MIN { space.end } else { start + length };
    let place = AccessPattern::Sequential(Region::bytes(start..end));
    let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
    let name = match written {
        0 => step.step(&format!("pass {pass}")),
        _ => step.step(&format!("pass {pass}, part {}", written / length + 1)),
    };
    Workload {
        name,
        flush: true,
        window: Some((bytes / WINDOWS).max(BLOCK.into())),
        ..Workload::new("", Until::bytes(end - start), vec![stream])
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_end_when_the_next_one_would_change_little() {
        let is_enough = |speeds: &[f64], most: usize| is_enough(speeds.len(), speeds, most);
        assert!(!is_enough(&[], 8) && !is_enough(&[39.5], 8) && !is_enough(&[39.5, 75.2], 8));
        assert!(is_enough(&[39.5, 75.2, 75.3], 8));
        assert!(is_enough(&[75.0, 75.1], 8), "nothing has fallen");
        assert!(is_enough(&[10.0, 20.0], 2) && !is_enough(&[10.0, 20.0, 29.0], 8));
        // The last gain, 3%, is not below the limit; the gain that is left is.
        assert!(is_enough(&[40.0, 70.0, 79.0, 79.6], 8));
    }

    #[test]
    fn passes_that_failed_count_and_do_not_settle_anything() {
        assert!(is_enough(8, &[], 8) && !is_enough(3, &[39.5], 8));
    }
}
