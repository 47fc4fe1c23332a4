//! Runs a test of SNIA's specification: prepares the drive, then round after round until a window is steady.

use likenew_core::access_pattern::AccessPattern;
use likenew_core::answer::{Answer, Standing};
use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::procedure::{Evidence, Layout, Step};
use likenew_core::quantity::Size;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::target::Geometry;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};
use likenew_stats::steady_state::{ROUNDS, Window};

use likenew_procedure_support::rerun::Rerun;

use super::snia_plan::{PREPARE_FILLS, Phase, Point, ROUND, SPAN_UNIT, SniaOptions, SniaTest, TrackedMetric};
use super::{Endure, wording};

/// The procedure of one test.
pub(super) struct Snia {
    pub(super) test: SniaTest,
    pub(super) options: SniaOptions,
}

/// Why a phase is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Steady,
    /// All rounds were made.
    Rounds,
    /// All bytes were written.
    Bytes,
}

/// The progress of a phase.
pub(super) struct Progress<'a> {
    pub(super) phase: Phase,
    /// The segments of each whole round.
    pub(super) rounds: Vec<&'a [Segment]>,
    /// Segments of the run before the first of them.
    pub(super) rounds_start: usize,
    /// Segments of the preparation.
    preparation: usize,
    /// Segments of the round under way.
    round_segments: usize,
    pub(super) ending: Option<Ending>,
}

impl Snia {
    pub(super) fn new(test: SniaTest, options: SniaOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { test, options })
    }

    /// Bytes that are tested.
    pub(super) fn span(&self, geometry: &Geometry) -> u64 {
        let span = self.options.span.unwrap_or(geometry.capacity);
        span - span % SPAN_UNIT
    }

    /// The phases that have begun, and the next one if they are over.
    pub(super) fn progress<'a>(&self, segments: &'a [Segment], geometry: &Geometry) -> Vec<Progress<'a>> {
        let span = self.span(geometry);
        let (mut start, mut round_segments) = (0, Vec::new());
        for phase in self.test.phases(&self.options, geometry.block) {
            let progress = Progress::from_segments(phase, segments, start, span);
            start = progress.rounds_start + progress.rounds.len() * progress.phase.points.len();
            let over = progress.ending.is_some();
            round_segments.push(progress);
            if !over {
                break;
            }
        }
        round_segments
    }

    /// Adds the test as it is specified to an answer that a shorter one left open.
    pub(super) fn with_rerun(&self, answer: Answer, evidence: &Evidence) -> Answer {
        if answer.standing != Standing::Unknown {
            return answer;
        }
        let again = SniaOptions { round: ROUND, rounds: None, ..self.options.clone() };
        let text = again.arguments(self.test);
        let again = Rerun::new(evidence, &text, Endure::new(self.test.with_options(again)));
        answer.action(wording::full_rounds(&again))
    }

    /// Writes the span once sequentially.
    fn prepare(&self, turn: usize, block: u32, span: u64) -> Workload {
        let place = AccessPattern::Sequential(Region::bytes(0..span));
        let stream =
            Stream::closed(Mix::Only(Op::Write), block, place, self.options.depth, self.options.data);
        let name = format!("prepare {}/{PREPARE_FILLS}", turn + 1);
        let workload = Workload::new(name, Until::bytes(span), vec![stream]);
        Workload { lanes: self.options.threads, ..workload }
    }

    fn point(&self, round: usize, point: &Point, span: u64) -> Workload {
        let Point { test, op } = point;
        let region = Region::bytes(0..span);
        let place =
            if test.random { AccessPattern::Random(region) } else { AccessPattern::Sequential(region) };
        let stream = Stream::closed(*op, test.block, place, test.depth, self.options.data);
        let name = format!("round {} {test} {op}", round + 1);
        let workload = Workload::new(name, Until::elapsed(self.options.round), vec![stream]);
        Workload { lanes: test.threads, ..workload }
    }
}

impl Snia {
    /// The layout of a folder for it.
    pub(super) fn layout(&self) -> Layout {
        let span = self.options.span.unwrap_or(1 << 30);
        Layout { files: 1, file_bytes: span - span % SPAN_UNIT }
    }

    /// What to run next.
    ///
    /// # Errors
    /// A sentence, when the plan does not fit the drive.
    pub(super) fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let (span, there) = (self.span(&evidence.geometry), evidence.geometry.capacity);
        let least = SPAN_UNIT * u64::from(self.options.threads);
        if span > there || span < least {
            return Err(wording::span_does_not_fit(Size(span), Size(least), Size(there)));
        }
        let progress = self.progress(&evidence.segments, &evidence.geometry);
        let last = progress.last().expect("a test has a phase");
        if last.ending.is_some() {
            return Ok(Step::Done);
        }
        let workload = match last.phase.prepare.filter(|_| last.preparation < PREPARE_FILLS) {
            Some(block) => self.prepare(last.preparation, block, span),
            None => self.point(last.rounds.len(), &last.phase.points[last.round_segments], span),
        };
        Ok(Step::Run(Workload { seed: evidence.plan.seed_of(evidence.segments.len()), ..workload }))
    }
}

impl<'a> Progress<'a> {
    /// The progress of the phase whose first segment is `segments[start]`; segments after its end do not
    /// count.
    fn from_segments(phase: Phase, segments: &'a [Segment], start: usize, span: u64) -> Self {
        let preparation = phase.prepare.map_or(0, |_| PREPARE_FILLS.min(segments.len() - start));
        let rounds_start = start + preparation;
        let mut progress =
            Self { phase, rounds: Vec::new(), rounds_start, preparation, round_segments: 0, ending: None };
        let mut written = 0;
        let mut samples = vec![Vec::new(); progress.phase.tracked_metrics.len()];
        for round in segments[rounds_start..].chunks(progress.phase.points.len()) {
            if round.len() < progress.phase.points.len() {
                progress.round_segments = round.len();
                break;
            }
            progress.rounds.push(round);
            written += round.iter().map(|segment| segment.bytes(Op::Write)).sum::<u64>();
            progress.ending = progress.update(round, written / span, &mut samples);
            if progress.ending.is_some() {
                break;
            }
        }
        progress
    }

    /// Whether the phase is over after this round.
    fn update(&self, round: &[Segment], fills: u64, samples: &mut [Vec<f64>]) -> Option<Ending> {
        let count = self.rounds.len();
        if count.is_multiple_of(self.phase.sample) && round.iter().all(was_measured) {
            for (values, (point, metric)) in samples.iter_mut().zip(&self.phase.tracked_metrics) {
                values.extend(metric.value(&round[*point]));
            }
            if is_steady(samples) {
                return Some(Ending::Steady);
            }
        }
        if self.phase.fills_max.is_some_and(|most| fills >= most) {
            return Some(Ending::Bytes);
        }
        (count >= self.phase.rounds_max).then_some(Ending::Rounds)
    }

    /// The values of a tracked metric, from each round that counts.
    pub(super) fn samples(&self, index: usize) -> Vec<f64> {
        let (point, metric) = self.phase.tracked_metrics[index];
        let step = self.phase.sample;
        self.rounds
            .iter()
            .skip(step - 1)
            .step_by(step)
            .filter_map(|round| metric.value(&round[point]))
            .collect()
    }

    /// The rounds that give the results: the last five; if a steady state ended the phase, of those that
    /// count.
    pub(super) fn window(&self) -> Vec<&'a [Segment]> {
        let step = if self.ending == Some(Ending::Steady) { self.phase.sample } else { 1 };
        let counting: Vec<&[Segment]> = self.rounds.iter().skip(step - 1).step_by(step).copied().collect();
        counting[counting.len().saturating_sub(ROUNDS)..].to_vec()
    }
}

/// A dry run has counts and no latencies. Nothing becomes steady there, so the wear and time that it reports
/// are upper bounds.
fn was_measured(segment: &Segment) -> bool {
    segment.measurement_error().is_none() && segment.tallies.iter().any(|tally| tally.latency_ns_sum > 0)
}

/// Whether all tracked metrics are steady in the same window: the last five rounds that count.
fn is_steady(samples: &[Vec<f64>]) -> bool {
    !samples.is_empty()
        && samples.iter().all(|values| Window::last(values).is_some_and(|window| window.is_steady()))
}

impl TrackedMetric {
    /// The value at a point; `None` if it failed.
    pub(super) fn value(self, segment: &Segment) -> Option<f64> {
        match self {
            Self::Iops => segment.iops(),
            Self::BytesPerS => segment.bytes_per_s(),
            Self::LatencyNs => {
                let ios: u64 = segment.tallies.iter().map(|tally| tally.ios).sum();
                let sum: u64 = segment.tallies.iter().map(|tally| tally.latency_ns_sum).sum();
                (ios > 0 && segment.measurement_error().is_none()).then(|| sum as f64 / ios as f64)
            }
        }
    }

    /// Its name, with the unit.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::BytesPerS => "bytes_per_s",
            Self::LatencyNs => "latency_ns_mean",
        }
    }
}
