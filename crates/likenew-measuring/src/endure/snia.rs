//! The tests of SNIA's Solid State Storage Performance Test Specification: as data, and how they run. A test prepares the
//! drive, then runs round after round until its tracked metrics are steady.

use likenew_core::findings::{Answer, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Ended, Evidence, Layout, Steps};
use likenew_core::quantity::Size;
use likenew_core::segment::Segment;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, exact_duration, exact_size, size_text};
use likenew_core::workload::{Mix, Stream, Until, Workload};
use likenew_procedure_support::options::{Arguments, check_range, check_time};
use likenew_procedure_support::profile::Test;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::workloads::sequential_write;
use likenew_stats::steady_state::{ROUNDS, ROUNDS_MAX, Window};
use serde::{Deserialize, Serialize};

use super::Endure;
use super::wording::{self, Ending};

/// The options of a test of the specification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SniaOptions {
    /// Bytes of address space, from the start of the drive (ActiveRange). None: the whole of a simulated drive.
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub span: Option<u64>,
    /// Time of one point of a round.
    #[serde(with = "duration_text")]
    pub round: Nanos,
    /// Rounds after which it ends without steady state. `None`: as the specification says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Queue depth of each thread (OIO). The latency test has 1.
    pub depth: u32,
    /// Threads (TC). The latency test has one.
    pub threads: u32,
    /// Content of writes.
    pub data: DataClass,
}

impl Default for SniaOptions {
    /// What the specification recommends for enterprise drives: QD32 on each of 4 threads over everything.
    fn default() -> Self {
        Self { span: None, round: ROUND, rounds: None, depth: 32, threads: 4, data: DataClass::Random }
    }
}

/// One minute, as the specification says.
pub const ROUND: Nanos = Nanos::from_secs(60);
/// The span is a multiple of this: the largest block of any test.
pub const SPAN_UNIT: u64 = 1 << 20;
/// The write saturation test ends after six hours of rounds.
const SATURATION_ROUNDS_MAX: u32 = 360;
/// Every 31st round of the write saturation test counts for the steady state: one minute in each half hour.
const SATURATION_SAMPLE: usize = 31;
/// The write saturation test ends once the span was written this many times.
const SATURATION_FILLS: u64 = 4;
const THREADS_MAX: u32 = 256;
const DEPTH_MAX: u32 = 1024;
const ROUNDS_LIMIT: u32 = 10_000;

/// The test, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(prefix = "snia-", serialize_all = "lowercase")]
pub(super) enum SniaTest {
    Iops,
    Throughput,
    Latency,
    #[strum(to_string = "wsat")]
    WriteSaturation,
}

/// The metric that must become steady, by its name in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum TrackedMetric {
    Iops,
    BytesPerS,
    #[strum(to_string = "latency_ns_mean")]
    LatencyNs,
}

/// One measurement of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) test: Test,
    pub(super) op: Mix,
}

/// A part of a test with its own preparation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phase {
    /// Block of the preparation, which writes the span twice sequentially (workload-independent
    /// preconditioning). `None`: no preparation.
    pub(super) prepare: Option<u32>,
    /// The points of a round, in the order they run.
    pub(super) points: Vec<Point>,
    /// The metrics that must become steady in the same window, each with its point.
    pub(super) tracked_metrics: Vec<(usize, TrackedMetric)>,
    /// Every n-th round counts for the steady state.
    pub(super) sample: usize,
    /// Rounds after which it ends.
    pub(super) rounds_max: usize,
    /// It also ends once its rounds have written the span this many times.
    pub(super) fills_max: Option<u64>,
}

/// How often a preparation writes the span (definition 2.1.18 of PTS 2.0.2).
pub(super) const PREPARE_FILLS: usize = 2;

const K: u32 = 1 << 10;
const SEQUENTIAL: u32 = 128 * K;
const IOPS_BLOCKS: [u32; 8] = [1024 * K, 128 * K, 64 * K, 32 * K, 16 * K, 8 * K, 4 * K, 512];
const IOPS_READS: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
const LATENCY_BLOCKS: [u32; 3] = [8 * K, 4 * K, 512];
const LATENCY_READS: [u8; 3] = [100, 65, 0];
const THROUGHPUT_BLOCKS: [u32; 2] = [128 * K, 1024 * K];

impl SniaOptions {
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { span, round, depth, threads, rounds, .. } = *self;
        if let Some(span) = span.filter(|span| *span < SPAN_UNIT) {
            return Err(wording::span_below_minimum(span, SPAN_UNIT));
        }
        check_time("round", round)?;
        check_range("depth", depth, 1..=DEPTH_MAX)?;
        check_range("threads", threads, 1..=THREADS_MAX)?;
        if let Some(rounds) = rounds {
            check_range("rounds", rounds, 1..=ROUNDS_LIMIT)?;
        }
        Ok(())
    }

    /// Whether it runs fewer or shorter rounds than the specification.
    pub(super) fn is_shorter_than_specified(&self, test: SniaTest) -> bool {
        self.round < ROUND || self.rounds.is_some_and(|rounds| rounds < test.rounds_max())
    }

    /// The options of the command line that differ from its defaults.
    pub(super) fn arguments(&self, test: SniaTest) -> String {
        let defaults = Self::default();
        Arguments::default()
            .add(true, "test", test)
            .add_known("span", self.span.map(exact_size))
            .add(self.round != defaults.round, "round", exact_duration(self.round))
            .add_known("rounds", self.rounds)
            .add(self.depth != defaults.depth, "depth", self.depth)
            .add(self.threads != defaults.threads, "threads", self.threads)
            .add(self.data != defaults.data, "data", self.data)
            .text()
    }

    /// Sentences about options that deviate from the specification.
    pub(super) fn deviations(&self, test: SniaTest, block: u32) -> Vec<String> {
        let (round, right) = (exact_duration(self.round), exact_duration(ROUND));
        let fewer_rounds = self.rounds.filter(|rounds| *rounds < test.rounds_max());
        let lacks_512 = block > 512 && matches!(test, SniaTest::Iops | SniaTest::Latency);
        let sentences = [
            (self.round != ROUND).then(|| wording::deviates_in_round(&round, &right)),
            (self.data != DataClass::Random).then(|| wording::deviates_in_data(&self.data.to_string())),
            fewer_rounds.map(|rounds| wording::deviates_in_rounds(rounds, test.rounds_max())),
            lacks_512.then(|| wording::leaves_out_512(Size(block.into()))),
        ];
        sentences.into_iter().flatten().collect()
    }
}

impl SniaTest {
    fn rounds_max(self) -> u32 {
        if self == Self::WriteSaturation { SATURATION_ROUNDS_MAX } else { ROUNDS_MAX as u32 }
    }

    /// Its phases on a target with this block size.
    pub(super) fn phases(self, options: &SniaOptions, block: u32) -> Vec<Phase> {
        let (depth, threads) = (options.depth, options.threads);
        let random = |size| Test { random: true, block: size, depth, threads };
        let single = |size| Test { random: true, block: size, depth: 1, threads: 1 };
        let whole = |prepare, points| Phase {
            prepare: Some(prepare),
            points,
            tracked_metrics: Vec::new(),
            sample: 1,
            rounds_max: options.rounds.unwrap_or(self.rounds_max()) as usize,
            fills_max: None,
        };
        match self {
            Self::Iops => {
                let points = points(&IOPS_READS, &IOPS_BLOCKS, block, random);
                let tracked_metrics = [(0, 4 * K), (65, 64 * K), (100, 1024 * K)]
                    .into_iter()
                    .filter_map(|(reads, size)| {
                        place(&points, reads, size).map(|at| (at, TrackedMetric::Iops))
                    })
                    .collect();
                vec![Phase { tracked_metrics, ..whole(SEQUENTIAL, points) }]
            }
            Self::Throughput => THROUGHPUT_BLOCKS
                .into_iter()
                .map(|size| {
                    let test = Test { random: false, ..random(size) };
                    let points = [Op::Read, Op::Write].map(|op| Point { test, op: Mix::Only(op) }).to_vec();
                    Phase { tracked_metrics: vec![(1, TrackedMetric::BytesPerS)], ..whole(size, points) }
                })
                .collect(),
            Self::Latency => {
                let points = points(&LATENCY_READS, &LATENCY_BLOCKS, block, single);
                let tracked_metrics =
                    place(&points, 0, 4 * K).map(|at| (at, TrackedMetric::LatencyNs)).into_iter().collect();
                vec![Phase { tracked_metrics, ..whole(SEQUENTIAL, points) }]
            }
            Self::WriteSaturation => vec![Phase {
                prepare: None,
                tracked_metrics: vec![(0, TrackedMetric::Iops)],
                sample: SATURATION_SAMPLE,
                fills_max: Some(SATURATION_FILLS),
                ..whole(SEQUENTIAL, points(&[0], &[4 * K], block, random))
            }],
        }
    }
}

/// Read shares in the outer loop, blocks in the inner one, as in the specification; blocks that the target
/// does not support are left out.
fn points(reads: &[u8], blocks: &[u32], least: u32, test: impl Fn(u32) -> Test) -> Vec<Point> {
    let inner = |reads: u8| {
        let fitting = blocks.iter().filter(|size| **size >= least);
        fitting.map(|size| Point { test: test(*size), op: mix(reads) }).collect::<Vec<Point>>()
    };
    reads.iter().flat_map(|reads| inner(*reads)).collect()
}

fn place(points: &[Point], reads: u8, block: u32) -> Option<usize> {
    points.iter().position(|point| point.op == mix(reads) && point.test.block == block)
}

/// The operation with this percentage of reads.
pub(super) fn mix(reads: u8) -> Mix {
    match reads {
        0 => Mix::Only(Op::Write),
        100 => Mix::Only(Op::Read),
        between => Mix::Reads(between),
    }
}

/// The percentage of reads.
pub(super) fn read_percent(op: Mix) -> u8 {
    match op {
        Mix::Only(Op::Read) => 100,
        Mix::Only(_) => 0,
        Mix::Reads(percent) => percent,
    }
}

/// The procedure of one test.
pub(super) struct Snia {
    pub(super) test: SniaTest,
    pub(super) options: SniaOptions,
}

/// A phase, as far as it was measured.
pub(super) struct Progress<'a> {
    pub(super) phase: Phase,
    pub(super) preparation: Vec<&'a Segment>,
    /// The segments of each whole round.
    pub(super) rounds: Vec<Vec<&'a Segment>>,
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

    /// Adds a run of the test as specified to an answer that a shorter test left open.
    pub(super) fn with_rerun(&self, answer: Answer, evidence: &Evidence) -> Answer {
        if answer.standing != Standing::Unknown {
            return answer;
        }
        let again = SniaOptions { round: ROUND, rounds: None, ..self.options.clone() };
        let text = again.arguments(self.test);
        let again = Self::new(self.test, again).map(|snia| Endure { test: super::Test::Snia(snia) });
        let again = Rerun::new(evidence, &text, again);
        answer.action(again.action("full_rounds", wording::FULL_ROUNDS))
    }

    /// Writes the span once sequentially.
    fn prepare(&self, turn: usize, block: u32, span: u64) -> Workload {
        let SniaOptions { depth, threads, data, .. } = self.options;
        let name = format!("prepare {}/{PREPARE_FILLS}", turn + 1);
        Workload { lanes: threads, ..sequential_write(name, 0..span, block, depth, data) }
    }

    fn point(&self, round: usize, point: &Point, span: u64) -> Workload {
        let Point { test, op } = point;
        let stream = Stream::closed(*op, test.block, test.over(0..span), test.depth, self.options.data);
        let name = format!("round {} {test} {op}", round + 1);
        let workload = Workload::new(name, Until::elapsed(self.options.round), vec![stream]);
        Workload { lanes: test.threads, ..workload }
    }

    /// The layout of a folder for it.
    pub(super) fn layout(&self) -> Layout {
        let span = self.options.span.unwrap_or(1 << 30);
        Layout { files: 1, file_bytes: span - span % SPAN_UNIT }
    }

    /// The phases that have begun.
    ///
    /// # Errors
    /// A sentence, when the plan does not fit the drive.
    pub(super) fn run<'a>(&self, steps: &mut Steps<'a>) -> Result<Vec<Progress<'a>>, String> {
        let geometry = &steps.evidence().geometry;
        let (span, there) = (self.span(geometry), geometry.capacity);
        let least = SPAN_UNIT * u64::from(self.options.threads);
        if span > there || span < least {
            return Err(wording::span_does_not_fit(Size(span), Size(least), Size(there)));
        }
        let mut phases = Vec::new();
        let _ended = self.measure(steps, span, &mut phases);
        Ok(phases)
    }

    /// Prepares the drive for each phase, then runs rounds until the phase is over.
    fn measure<'a>(
        &self,
        steps: &mut Steps<'a>,
        span: u64,
        phases: &mut Vec<Progress<'a>>,
    ) -> Result<(), Ended> {
        for phase in self.test.phases(&self.options, steps.evidence().geometry.block) {
            let (preparation, rounds) = (Vec::new(), Vec::new());
            phases.push(Progress { phase, preparation, rounds, ending: None });
            let progress = phases.last_mut().expect("one was just added");
            if let Some(block) = progress.phase.prepare {
                for turn in 0..PREPARE_FILLS {
                    progress.preparation.push(steps.run_seeded(|| self.prepare(turn, block, span))?);
                }
            }
            let (mut written, mut samples) = (0, vec![Vec::new(); progress.phase.tracked_metrics.len()]);
            while progress.ending.is_none() {
                let mut round = Vec::new();
                for point in &progress.phase.points {
                    round.push(steps.run_seeded(|| self.point(progress.rounds.len(), point, span))?);
                }
                written += round.iter().map(|segment| segment.bytes(Op::Write)).sum::<u64>();
                progress.rounds.push(round);
                progress.ending = progress.ending(written / span, &mut samples);
            }
        }
        Ok(())
    }
}

impl<'a> Progress<'a> {
    /// Whether the phase is over after its last round.
    fn ending(&self, fills: u64, samples: &mut [Vec<f64>]) -> Option<Ending> {
        let count = self.rounds.len();
        let round = self.rounds.last().expect("a round was run");
        if count.is_multiple_of(self.phase.sample) && round.iter().all(|segment| was_measured(segment)) {
            for (values, (point, metric)) in samples.iter_mut().zip(&self.phase.tracked_metrics) {
                values.extend(metric.value(round[*point]));
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
            .filter_map(|round| metric.value(round[point]))
            .collect()
    }

    /// The rounds that give the results: the last five. If a steady state ended the phase, only rounds that count for
    /// it are taken.
    pub(super) fn window(&self) -> Vec<&[&'a Segment]> {
        let step = if self.ending == Some(Ending::Steady) { self.phase.sample } else { 1 };
        let counting: Vec<&[&Segment]> =
            self.rounds.iter().skip(step - 1).step_by(step).map(Vec::as_slice).collect();
        counting[counting.len().saturating_sub(ROUNDS)..].to_vec()
    }
}

/// Whether a segment was really measured. A dry run has counts and no latencies, so nothing becomes steady in it, and
/// its bytes and time are upper bounds.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_iops_test_has_56_points_in_the_order_of_the_specification() {
        let phases = SniaTest::Iops.phases(&SniaOptions::default(), 512);
        let points = &phases[0].points;
        assert_eq!((phases.len(), points.len()), (1, 56));
        let message = |at: usize| format!("{} {}", points[at].test, points[at].op);
        assert_eq!(
            [message(0), message(7), message(8)],
            ["RND1M Q32T4 read", "RND512 Q32T4 read", "RND1M Q32T4 mix:95"]
        );
        assert_eq!(message(55), "RND512 Q32T4 write");
        let tracked_metrics: Vec<String> =
            phases[0].tracked_metrics.iter().map(|(at, _)| message(*at)).collect();
        assert_eq!(tracked_metrics, ["RND4K Q32T4 write", "RND64K Q32T4 mix:65", "RND1M Q32T4 read"]);
    }

    #[test]
    fn arguments_are_those_that_differ() {
        let options = SniaOptions { span: Some(1 << 30), depth: 8, ..SniaOptions::default() };
        assert_eq!(options.arguments(SniaTest::Iops), "--test snia-iops --span 1GiB --depth 8");
        assert!(!options.is_shorter_than_specified(SniaTest::Iops));
        let short = SniaOptions { rounds: Some(6), ..options };
        assert!(short.is_shorter_than_specified(SniaTest::Iops));
    }

    #[test]
    fn throughput_prepares_each_block_anew_and_latency_has_one_in_flight() {
        let phases = SniaTest::Throughput.phases(&SniaOptions::default(), 512);
        assert_eq!([phases[0].prepare, phases[1].prepare], [Some(128 << 10), Some(1 << 20)]);
        let latency = &SniaTest::Latency.phases(&SniaOptions::default(), 512)[0];
        assert_eq!(
            (latency.points.len(), latency.tracked_metrics.as_slice()),
            (9, [(7, TrackedMetric::LatencyNs)].as_slice())
        );
        assert!(latency.points.iter().all(|point| point.test.depth == 1 && point.test.threads == 1));
    }

    #[test]
    fn a_target_of_large_blocks_leaves_out_small_ones_and_says_so() {
        let options = SniaOptions::default();
        assert_eq!(SniaTest::Iops.phases(&options, 4096)[0].points.len(), 49);
        assert!(options.deviations(SniaTest::Iops, 4096)[0].contains("512 bytes are left out"));
        assert!(options.deviations(SniaTest::WriteSaturation, 4096).is_empty());
        let short = SniaOptions { round: Nanos::from_secs(1), rounds: Some(5), ..options };
        assert_eq!(short.deviations(SniaTest::Iops, 512).len(), 2);
    }
}
