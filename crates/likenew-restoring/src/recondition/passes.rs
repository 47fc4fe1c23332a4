//! Steps that write all of a space in passes, which restores a drive that takes no TRIM.
//!
//! Free space is overwritten sequentially until its speed no longer changes. That is the method of "Reconditioning a
//! solid state drive" (2009–2010): one huge file over all free space, whose erase blocks go stale as wholes.
//!
//! Existing data is rewritten in place, in address order, so nothing is lost. Data written in one go goes stale in one
//! go, and collecting it copies nothing. The addresses are divided into spans. The first part of each span, its probe,
//! is rewritten; the rest follows only if the probe was slow. A second pass begins with the same probes, which show the
//! gain of each span.

use std::ops::Range;

use likenew_core::drive::TargetKind;
use likenew_core::fix::{AddressRange, Fix, FixEnd, RewriteSettings, WriteSpeed};
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Ended, Steps};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_stats::least_squares::approach;
use likenew_stats::summary::quantile;

use super::step::{Attempt, ReconditionStep, SlowWrites, StepContext, WritePass, apply};
use super::step_name::StepName;
use super::wording::{self, RewriteEnd};

/// Overwrites free space.
pub(super) struct Overwrite;
/// Overwrites everything.
pub(super) struct OverwriteAll;

/// Bytes of a write; its queue depth, `DEPTH`, keeps a drive busy.
const BLOCK: u32 = 1 << 20;
const DEPTH: u32 = 4;
/// Windows of a pass.
const WINDOWS: u64 = 128;
/// Fewest bytes of a part, after which a pass may end so that no more is written than pays. A pass has `PARTS_MAX` parts at most.
const PART_BYTES_MIN: u64 = 1 << 30;
const PARTS_MAX: u64 = 64;
/// Fast parts in a row that end a pass, once one in `WARM_UP_PART` of the space is written: the spare blocks
/// of a drive take the first writes at full speed whatever lies on it.
const FAST_PARTS: usize = 2;
const WARM_UP_PART: u64 = 16;
/// Gain left after a pass, as a share of the speed that passes converge to, below which no pass follows.
/// Chosen: 1% is not worth a pass.
const REMAINING_GAIN_MIN: f64 = 0.01;
/// Time limit for the file system to send TRIM for deleted files. Chosen: some send it seconds later.
const RELEASE_WAIT: Nanos = Nanos::from_secs(6);

impl ReconditionStep for Overwrite {
    fn caveat(&self, context: &StepContext<'_>) -> Option<String> {
        context.virtual_by().map(wording::image_would_grow)
    }

    fn bytes(&self, context: &StepContext<'_>) -> Option<u64> {
        context.site().free_bytes.map(|free| free * u64::from(context.options.passes))
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

/// Whether so many passes are enough: no more are allowed, or their speeds have converged.
fn is_enough(passes: usize, speeds: &[f64], most: usize) -> bool {
    passes >= most || is_steady(speeds)
}

/// Whether another pass would change little.
pub(super) fn is_steady(speeds: &[f64]) -> bool {
    approach(speeds).is_some_and(|approach| approach.remaining <= REMAINING_GAIN_MIN)
}

/// Overwrites a space pass after pass, until another pass would change little.
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
    // A drive that takes TRIM is not left full. Deleting files sends it only if the file system is mounted for that.
    if context.is_folder() {
        if context.obstacle(StepName::Trim).is_none() {
            apply(steps, || Fix::TrimFree)?;
        }
    } else if context.evidence.geometry.trims {
        steps.probe(release)?;
    }
    attempt.idle(steps)
}

/// One pass, part by part. It ends early, and is the last, once more would gain nothing: its parts are as
/// fast as addresses that were written again, and the spare blocks of the drive are used up.
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

/// Whether a part is as fast as the goal, and as its own fastest quarter: a goal that was measured on a busy
/// machine may be too low.
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

/// Share of the goal from which a write is fast. Chosen: what is called restored.
pub(super) const FAST: f64 = 0.95;

pub(super) struct Rewrite;

/// Most passes over the drive.
const PASSES: usize = 2;
/// Most spans of a drive, and fewest of a small one (`SPANS_MIN`); between these, a span has `SPAN_BYTES`.
const SPANS_MAX: u64 = 128;
const SPANS_MIN: u64 = 16;
const SPAN_BYTES: u64 = 1 << 30;
/// One in so many bytes of a span is its probe, `PROBE_BYTES_MIN` at least: longer than the caches of most drives (assumed).
const PROBE_SHARE: u64 = 16;
const PROBE_BYTES_MIN: u64 = 16 << 20;
/// Share of the spans, at the beginning, that are rewritten even if their probes are fast: the spare blocks
/// of a drive, up to some 7% of it, take the first writes at full speed.
const WARM_UP_SHARE: f64 = 1.0 / 16.0;
/// Share of the fastest tenth of all parts from which a probe is fast, if no goal is known: speeds on a real
/// drive scatter, and writes into scattered data reach less than half.
const FAST_BY_OTHERS: f64 = 0.5;
/// Shares of a pass at which its speed is compared with its slowest quarter so far, and has to reach
/// `GAIN_LEAST` times that once. A page-mapped drive whose valid data is evenly spread over its erase blocks
/// is 1.2 times as fast or more after a quarter, with up to 28% of spare flash. A drive that still becomes
/// slower uses up what was stale before, so it has until the last checkpoint.
const CHECKPOINTS: [f64; 3] = [0.25, 0.375, 0.5];
const GAIN_LEAST: f64 = 1.05;
/// Probes that are written again if checkpoints show no gain, and have to be `TRIAL_GAIN_LEAST` times as
/// fast: a drive that maps whole erase blocks becomes faster only where it was rewritten.
const TRIALS: usize = 4;
const TRIAL_GAIN_LEAST: f64 = 1.1;

impl ReconditionStep for Rewrite {
    /// A folder needs no consent.
    fn caveat(&self, context: &StepContext<'_>) -> Option<String> {
        if context.evidence.identity.kind == TargetKind::Device {
            return Some(wording::owner_must_name_it());
        }
        context.virtual_by().map(wording::host_decides)
    }

    fn bytes(&self, context: &StepContext<'_>) -> Option<u64> {
        if context.is_folder() {
            return context.file_bytes(false);
        }
        let used = context.in_use();
        Some((used.end - used.start) * PASSES as u64)
    }

    fn bytes_least(&self, context: &StepContext<'_>) -> Option<u64> {
        // How much of its file system's data lies in a folder is not known until it was read.
        self.bytes(context).filter(|_| !context.is_folder()).map(|bytes| bytes / PASSES as u64)
    }

    fn run(&self, attempt: &mut Attempt<'_>, steps: &mut Steps<'_>) -> Result<(), Ended> {
        let context = attempt.context;
        let settings = RewriteSettings { bytes_per_s_max: context.options.rate };
        if context.is_folder() {
            rewrite_files(attempt, steps, settings)?;
        } else {
            attempt.rewrite_end = Some(RewriteEnd::Unfinished);
            let goal = context.sustained_goal_bytes_per_s.or_else(|| context.rewritten_bytes_per_s());
            let shows_gain = context.slow_writes != SlowWrites::SmallOnly;
            let mut walk = Walk { steps, settings, goal, shows_gain, passes: &mut attempt.passes };
            attempt.rewrite_end = Some(match walk.passes(&spans(&context.in_use())) {
                Ok(end) => end,
                Err(Break::Ended(ended)) => return Err(ended),
                Err(Break::Failed) => RewriteEnd::Failed,
            });
        }
        attempt.idle_if_fixed(steps)
    }
}

/// Rewrites all files of a folder in one pass, which resumes where it was stopped.
fn rewrite_files(
    attempt: &mut Attempt<'_>,
    steps: &mut Steps<'_>,
    settings: RewriteSettings,
) -> Result<(), Ended> {
    attempt.rewrite_end = Some(RewriteEnd::Complete);
    let mut pass = WritePass::default();
    let mut from = 0;
    loop {
        let result = steps.probe(|| Probe::Fix(Fix::RewriteFiles { settings, from }))?;
        let Some(report) = result.fix_report() else { return Ok(()) };
        pass.add(report);
        attempt.passes = vec![pass.clone()];
        from = from.max(report.stopped_at.unwrap_or(0));
        match report.end {
            FixEnd::Stopped => {}
            FixEnd::Complete => return Ok(()),
            FixEnd::Failed => {
                attempt.rewrite_end = Some(RewriteEnd::Failed);
                return Ok(());
            }
        }
    }
}

impl Attempt<'_> {
    /// The speed at the beginning and at the end of the first pass, in bytes a second: medians of an eighth of its points.
    pub(super) fn first_gain(&self) -> Option<(f64, f64)> {
        let speeds: Vec<f64> = self.passes.first()?.points().into_iter().map(|[_, speed]| speed).collect();
        let part = speeds.len() / 8;
        (part > 0).then_some(())?;
        Some((quantile(&speeds[..part], 0.5)?, quantile(&speeds[speeds.len() - part..], 0.5)?))
    }

    /// The speeds of the same probes in the first and in the second pass, in bytes a second.
    pub(super) fn probes_before_and_after(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let [first, second, ..] = self.passes.as_slice() else { return None };
        let pairs: Vec<(f64, f64)> = first
            .probes
            .iter()
            .zip(&second.probes)
            .filter_map(|(before, after)| before.zip(*after))
            .collect();
        (!pairs.is_empty()).then(|| pairs.into_iter().unzip())
    }
}

/// Why rewriting stops before its end.
enum Break {
    Ended(Ended),
    Failed,
}

impl From<Ended> for Break {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

/// Rewrites span by span.
struct Walk<'a, 'b, 'c> {
    steps: &'b mut Steps<'a>,
    settings: RewriteSettings,
    goal: Option<f64>,
    /// Whether the speed of rewriting shows its gain. It does not if only small writes are slow; then
    /// everything is rewritten once.
    shows_gain: bool,
    passes: &'c mut Vec<WritePass>,
}

impl Walk<'_, '_, '_> {
    fn passes(&mut self, spans: &[Range<u64>]) -> Result<RewriteEnd, Break> {
        let passes = if self.shows_gain { PASSES } else { 1 };
        for _ in 0..passes {
            self.passes.push(WritePass::default());
            if !self.pass(spans)? {
                return Ok(RewriteEnd::NoGain);
            }
            if self.pass_mut().fast_spans == spans.len() {
                break;
            }
        }
        Ok(RewriteEnd::Complete)
    }

    fn pass_mut(&mut self) -> &mut WritePass {
        self.passes.last_mut().expect("a pass was just begun")
    }

    /// Rewrites the spans once; false if it was not worth going on.
    fn pass(&mut self, spans: &[Range<u64>]) -> Result<bool, Break> {
        let warm_up = (spans.len() as f64 * WARM_UP_SHARE).ceil() as usize;
        let is_first = self.passes.len() == 1;
        let mut speeds = Vec::new();
        let (mut checkpoints, mut trend) = (0, Trend::Flat);
        for (index, span) in spans.iter().enumerate() {
            let (probe, remainder) = parts(span);
            let before = self.pass_mut().speeds.len();
            let speed = self.piece(probe)?;
            self.pass_mut().probes.push(speed);
            if self.shows_gain && !(is_first && index < warm_up) && self.is_fast(speed) {
                self.pass_mut().fast_spans += 1;
                continue;
            }
            if let Some(remainder) = remainder {
                self.piece(remainder)?;
            }
            if index >= warm_up {
                speeds.extend(self.pass_mut().speeds[before..].iter().filter_map(WriteSpeed::bytes_per_s));
            }
            let is_checkpoint = |share: &f64| index + 1 == (spans.len() as f64 * share).ceil() as usize;
            if self.shows_gain && CHECKPOINTS.iter().any(is_checkpoint) {
                checkpoints += 1;
                trend = trend.max(Trend::of(&speeds));
                let is_due = match trend {
                    Trend::Flat => checkpoints >= 2,
                    Trend::Falling => checkpoints == CHECKPOINTS.len(),
                    Trend::Rising => false,
                };
                if is_due && !self.trial_gains(spans)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether the first spans are written faster now than they were.
    fn trial_gains(&mut self, spans: &[Range<u64>]) -> Result<bool, Break> {
        let mut gains = Vec::new();
        for (index, span) in spans.iter().enumerate().take(TRIALS) {
            let again = self.piece(parts(span).0)?;
            let before = self.pass_mut().probes[index];
            gains.extend(again.zip(before).map(|(again, before)| again / before));
        }
        Ok(quantile(&gains, 0.5).is_none_or(|gain| gain >= TRIAL_GAIN_LEAST))
    }

    /// Rewrites a piece, and returns its speed if that is known.
    fn piece(&mut self, piece: AddressRange) -> Result<Option<f64>, Break> {
        let settings = self.settings;
        match apply(self.steps, || Fix::Rewrite { pieces: vec![piece], settings })? {
            ProbeResult::FixReport(report) => {
                self.pass_mut().add(report);
                match report.end {
                    FixEnd::Failed => Err(Break::Failed),
                    FixEnd::Complete | FixEnd::Stopped => Ok(report.write_speeds.bytes_per_s()),
                }
            }
            _ if self.steps.is_assumed() => Ok(None),
            _ => Err(Break::Failed),
        }
    }

    /// Whether writing is as fast as it should be. Without a goal, a second pass compares it with the fastest
    /// parts.
    fn is_fast(&self, speed: Option<f64>) -> bool {
        let least = match self.goal {
            Some(goal) => Some(FAST * goal),
            None if self.passes.len() > 1 => {
                let points = self.passes.iter().flat_map(|pass| &pass.speeds);
                let speeds: Vec<f64> = points.filter_map(WriteSpeed::bytes_per_s).collect();
                quantile(&speeds, 0.9).map(|fastest| FAST_BY_OTHERS * fastest)
            }
            None => None,
        };
        // Zeros are skipped and have no speed; what comes after them may be slow.
        speed.zip(least).is_some_and(|(speed, least)| speed >= least)
    }
}

/// How the speed of a pass changes along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trend {
    Flat,
    Falling,
    Rising,
}

impl Trend {
    /// Compares the medians of the quarters, because other programs may have delayed single writes. Too few
    /// speeds count as rising, because they do not show that nothing is gained.
    fn of(speeds: &[f64]) -> Self {
        let part = speeds.len() / 4;
        let median = |quarter: usize| quantile(&speeds[quarter * part..(quarter + 1) * part], 0.5);
        let (Some(first), Some(second), Some(third), Some(last)) =
            (median(0), median(1), median(2), median(3))
        else {
            return Self::Rising;
        };
        if last >= GAIN_LEAST * first.min(second).min(third) {
            Self::Rising
        } else if last * GAIN_LEAST <= third {
            Self::Falling
        } else {
            Self::Flat
        }
    }
}

/// All addresses in whole MiB, divided evenly.
fn spans(used: &Range<u64>) -> Vec<Range<u64>> {
    let bytes = used.end - used.start;
    let length = SPAN_BYTES.min(bytes / SPANS_MIN).max(bytes / SPANS_MAX).max(PROBE_BYTES_MIN);
    let length = length.next_multiple_of(1 << 20);
    (used.start..used.end).step_by(length as usize).map(|start| start..used.end.min(start + length)).collect()
}

/// The probe of a span, and what is left of it.
fn parts(span: &Range<u64>) -> (AddressRange, Option<AddressRange>) {
    let bytes = span.end - span.start;
    let probe = (bytes / PROBE_SHARE).next_multiple_of(1 << 20).max(PROBE_BYTES_MIN).min(bytes);
    let remainder = AddressRange { offset: span.start + probe, bytes: bytes - probe };
    (AddressRange { offset: span.start, bytes: probe }, (remainder.bytes > 0).then_some(remainder))
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

    #[test]
    fn spans_hold_every_byte_once() {
        for gib in [1, 2, 80, 500, 4000] {
            let used = 0..gib << 30;
            let spans = spans(&used);
            assert!((16..=160).contains(&spans.len()), "{gib} GiB: {}", spans.len());
            let mut at = 0;
            for span in &spans {
                let (probe, remainder) = parts(span);
                let bytes = probe.bytes + remainder.map_or(0, |remainder| remainder.bytes);
                assert_eq!((span.start, probe.offset, bytes), (at, at, span.end - span.start));
                assert!(remainder.is_none_or(|remainder| remainder.offset == probe.offset + probe.bytes));
                at = span.end;
            }
            assert_eq!(at, used.end);
        }
        // A drive that is smaller than a probe is a single probe.
        assert_eq!(parts(&(0..4 << 20)), (AddressRange { offset: 0, bytes: 4 << 20 }, None));
    }

    #[test]
    fn a_pass_gains_when_it_is_faster_than_its_slowest_quarter() {
        let speeds = |quarters: [f64; 4]| quarters.map(|speed| vec![speed; 10]).concat();
        assert_eq!(Trend::of(&[]), Trend::Rising);
        assert_eq!(Trend::of(&speeds([20.0, 20.0, 25.0, 30.0])), Trend::Rising);
        assert_eq!(Trend::of(&speeds([20.0; 4])), Trend::Flat);
        // What was stale before is used up first.
        assert_eq!(Trend::of(&speeds([60.0, 45.0, 30.0, 27.0])), Trend::Falling);
        assert_eq!(Trend::of(&speeds([60.0, 30.0, 27.0, 31.0])), Trend::Rising);
        // A single write that waited for another program decides nothing.
        let mut with_pause = speeds([20.0; 4]);
        with_pause[38] = 1.0;
        with_pause[2] = 80.0;
        assert_eq!(Trend::of(&with_pause), Trend::Flat);
    }
}
