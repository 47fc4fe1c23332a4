//! What the segments of a run say of each figure in each phase.

use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Stop;
use likenew_core::segment::Segment;

use super::application_mix::{ApplicationMix, MIXES, score};
use super::comparison::{Better, Comparison, Summary};
use super::phase::{Phase, Test, pass_name};

/// The name of the score in tables.
pub(super) const SCORE: &str = "application score";

/// The segments of a run, by what they measured. A pass that was stopped before its own bound is left out.
pub(super) struct Measured<'a> {
    segments: Vec<&'a Segment>,
    passes: u32,
}

impl<'a> Measured<'a> {
    /// Of what has been run.
    pub(super) fn of(evidence: &'a Evidence, passes: u32) -> Self {
        let segments = evidence.segments.iter().filter(|segment| segment.stop == Stop::Reached).collect();
        Self { segments, passes }
    }

    /// The passes of a test in a phase, in order.
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

    /// The rate of an application in each pass, in bytes a second.
    fn application(&self, phase: Phase, mix: &ApplicationMix) -> Vec<Option<f64>> {
        let expected = mix.parts();
        let rate = |pass| {
            let segments = self.pass(phase, mix.name, pass);
            let bytes: u64 = segments.iter().map(|segment| segment.total().bytes).sum();
            let seconds: f64 = segments.iter().map(|segment| segment.elapsed().as_secs_f64()).sum();
            (segments.len() == expected && seconds > 0.0).then(|| bytes as f64 / seconds)
        };
        (1..=self.passes).map(rate).collect()
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
        let rates = |mix: &'static ApplicationMix| Comparison {
            test: mix.name,
            unit: "bytes/s",
            better: Better::Higher,
            summary: Summary::Mean,
            passes: Phase::ALL.map(|phase| self.application(phase, mix).into_iter().flatten().collect()),
        };
        MIXES.iter().map(rates).collect()
    }

    fn rate(&self, test: Test) -> Comparison {
        let summary = if test.is_in_sequence() { Summary::MeanOfTwins } else { Summary::Mean };
        self.of_passes(test, test.name(), "bytes/s", Better::Higher, summary, Segment::bytes_per_s)
    }

    /// Mean, the 99 % quantile and the longest, of random writes.
    fn latencies(&self) -> [Comparison; 3] {
        let writes = Test::RandomWrites;
        let row = |name, summary, figure: fn(&Segment) -> f64| {
            self.of_passes(writes, name, "ns", Better::Lower, summary, figure)
        };
        [
            row("random write latency, mean", Summary::Mean, |segment| {
                segment.total_of(Op::Write).latency_ns_mean()
            }),
            row("random write latency, 99 %", Summary::Mean, |segment| {
                segment.latencies().quantile(0.99).0 as f64
            }),
            row("random write latency, longest", Summary::Longest, |segment| {
                segment.latencies().max().0 as f64
            }),
        ]
    }

    fn of_passes(
        &self,
        of: Test,
        test: &'static str,
        unit: &'static str,
        better: Better,
        summary: Summary,
        figure: impl Fn(&Segment) -> f64,
    ) -> Comparison {
        let passes = Phase::ALL.map(|phase| {
            let segments = self.test(phase, of).into_iter().filter(|segment| segment.total().ios > 0);
            segments.map(&figure).collect()
        });
        Comparison { test, unit, better, summary, passes }
    }

    fn score(&self) -> Comparison {
        let passes = Phase::ALL.map(|phase| {
            let rates: Vec<Vec<Option<f64>>> = MIXES.iter().map(|mix| self.application(phase, mix)).collect();
            let of = |pass: usize| score(&rates.iter().filter_map(|of| of[pass]).collect::<Vec<_>>());
            (0..self.passes as usize).filter_map(of).collect()
        });
        Comparison { test: SCORE, unit: "bytes/s", better: Better::Higher, summary: Summary::Mean, passes }
    }
}
