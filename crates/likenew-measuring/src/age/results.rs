//! The metrics of each phase, from the segments of a run.

use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Stop;
use likenew_core::segment::Segment;

use super::comparison::{Better, Comparison, Summary};
use super::phase::{Phase, Test, pass_name};
use super::wording;
use crate::apps::library::default_set;
use crate::apps::score::{PassTotals, geometric_mean};

/// The name of the score in tables.
pub(super) const SCORE: &str = "application score";

/// The segments of a run, by what they measured. A pass that was stopped before its own bound is left out,
/// and so is one that failed.
pub(super) struct AgeResults<'a> {
    segments: Vec<&'a Segment>,
    passes: u32,
}

impl<'a> AgeResults<'a> {
    /// From the evidence up to now.
    pub(super) fn from_evidence(evidence: &'a Evidence, passes: u32) -> Self {
        let is_whole =
            |segment: &&Segment| segment.stop == Stop::Reached && segment.measurement_error().is_none();
        Self { segments: evidence.segments.iter().filter(is_whole).collect(), passes }
    }

    /// The passes of a test in a phase, in the order they ran.
    pub(super) fn test(&self, phase: Phase, test: Test) -> Vec<&'a Segment> {
        (1..=self.passes).flat_map(|pass| self.pass(phase, test.name(), pass)).collect()
    }

    /// The segments of one pass.
    fn pass(&self, phase: Phase, test: &str, pass: u32) -> Vec<&'a Segment> {
        let name = pass_name(phase, test, pass, self.passes);
        let belongs = |segment: &&&Segment| {
            segment
                .workload
                .name
                .strip_prefix(&name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
        };
        self.segments.iter().filter(belongs).copied().collect()
    }

    /// An application in each pass.
    fn application(&self, phase: Phase, name: &str) -> Vec<Option<PassTotals>> {
        (1..=self.passes).map(|pass| PassTotals::from_segments(self.pass(phase, name, pass))).collect()
    }

    /// The rows of the table, in its order.
    pub(super) fn comparisons(&self) -> Vec<Comparison> {
        let mut comparisons = vec![self.rate(Test::RandomWrites)];
        comparisons.extend(self.latencies());
        comparisons.extend(
            [Test::SequentialWrites, Test::RandomReads, Test::SequentialReads].map(|test| self.rate(test)),
        );
        comparisons.push(self.score());
        comparisons
    }

    /// The applications one by one.
    pub(super) fn applications(&self) -> Vec<Comparison> {
        let scores = |test: &'static str| Comparison {
            test,
            unit: "points",
            better: Better::Higher,
            summary: Summary::Mean,
            passes: Phase::ALL.map(|phase| {
                self.application(phase, test).into_iter().flatten().map(|played| played.score()).collect()
            }),
        };
        default_set().map(|entry| scores(&entry.application.name)).collect()
    }

    fn rate(&self, test: Test) -> Comparison {
        let summary = if test.is_in_sequence() { Summary::MeanOfPairs } else { Summary::Mean };
        self.of_passes(test, test.name(), "bytes/s", Better::Higher, summary, Segment::bytes_per_s)
    }

    /// Mean, p99 and maximum of the latency of random writes.
    fn latencies(&self) -> [Comparison; 3] {
        let writes = Test::RandomWrites;
        let row = |name, summary, metric: fn(&Segment) -> Option<f64>| {
            self.of_passes(writes, name, "ns", Better::Lower, summary, metric)
        };
        [
            row(wording::LATENCY_MEAN, Summary::Mean, |segment| {
                Some(segment.total_of(Op::Write).latency_ns_mean())
            }),
            row(wording::LATENCY_P99, Summary::Mean, |segment| {
                Some(segment.latencies().quantile(0.99).0 as f64)
            }),
            row(wording::LATENCY_MAX, Summary::Longest, |segment| Some(segment.latencies().max().0 as f64)),
        ]
    }

    fn of_passes(
        &self,
        of: Test,
        test: &'static str,
        unit: &'static str,
        better: Better,
        summary: Summary,
        metric: impl Fn(&Segment) -> Option<f64>,
    ) -> Comparison {
        let passes = Phase::ALL.map(|phase| {
            let segments = self.test(phase, of).into_iter().filter(|segment| segment.total().ios > 0);
            segments.filter_map(&metric).collect()
        });
        Comparison { test, unit, better, summary, passes }
    }

    fn score(&self) -> Comparison {
        let passes = Phase::ALL.map(|phase| {
            let played: Vec<Vec<Option<PassTotals>>> =
                default_set().map(|entry| self.application(phase, &entry.application.name)).collect();
            let of = |pass: usize| {
                geometric_mean(
                    &played.iter().map(|of| of[pass].map(|played| played.score())).collect::<Vec<_>>(),
                )
            };
            (0..self.passes as usize).filter_map(of).collect()
        });
        Comparison { test: SCORE, unit: "points", better: Better::Higher, summary: Summary::Mean, passes }
    }
}
