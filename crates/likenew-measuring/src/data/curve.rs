//! One operation of one test over all steps.

use likenew_core::io::Op;
use likenew_procedure_support::pattern::Pattern;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::summary::mean;
use serde::Serialize;

use super::Test;
use super::wording::{Ends, Speed, Subject};
use super::workload_plan::Pass;

/// Speed over compressibility.
pub(super) struct Curve {
    pub(super) test: Test,
    pub(super) op: Op,
    /// From zeros to random data.
    pub(super) steps: Vec<Speeds>,
    /// As they were run.
    pub(super) passes: Vec<Pass>,
}

/// The speeds of one step.
#[derive(Default)]
pub(super) struct Speeds {
    /// The pass, and bytes a second.
    passes: Vec<(u32, f64)>,
}

#[derive(Serialize)]
pub(super) struct CurveRow {
    pattern: Pattern,
    op: Op,
    compresses_to_percent: f64,
    bytes_per_s: Option<f64>,
    bytes_per_s_low: Option<f64>,
    bytes_per_s_high: Option<f64>,
    share_of_fastest_percent: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct PassRow {
    pattern: Pattern,
    op: Op,
    pass: u32,
    turn: u32,
    compresses_to_percent: f64,
    bytes_per_s: f64,
}

impl Speeds {
    pub(super) fn values(&self) -> Vec<f64> {
        self.passes.iter().map(|(_, speed)| *speed).collect()
    }

    /// The mean of the passes, if there is one.
    pub(super) fn bytes_per_s(&self) -> Option<f64> {
        mean(&self.values())
    }

    /// Of the mean; none of a single pass.
    pub(super) fn interval(&self) -> Option<Interval> {
        let interval = mean_interval(&self.values(), CONFIDENCE_95)?;
        Some(Interval { low: interval.low.max(0.0), high: interval.high })
    }

    fn of_pass(&self, pass: u32) -> Option<f64> {
        self.passes.iter().find(|(known, _)| *known == pass).map(|(_, speed)| *speed)
    }
}

impl Curve {
    pub(super) fn new(test: Test, op: Op, steps: u32, passes: Vec<Pass>) -> Self {
        let mut speeds: Vec<Speeds> = (0..steps).map(|_| Speeds::default()).collect();
        for pass in &passes {
            speeds[pass.step as usize].passes.push((pass.pass, pass.bytes_per_s));
        }
        Self { test, op, steps: speeds, passes }
    }

    /// What the data of a step compresses to, in percent.
    pub(super) fn percent(&self, step: usize) -> f64 {
        100.0 * step as f64 / (self.steps.len() - 1) as f64
    }

    pub(super) fn subject(&self) -> Subject {
        Subject { test: self.test, op: self.op }
    }

    /// Its first and its last step.
    pub(super) fn ends(&self) -> Ends {
        let speed = |step: usize| {
            let speeds = &self.steps[step];
            Some(Speed { bytes_per_s: speeds.bytes_per_s()?, interval: speeds.interval() })
        };
        Ends { zeros: speed(0), random: speed(self.steps.len() - 1) }
    }

    /// Nanoseconds a byte of every step in each pass that has all of them.
    pub(super) fn times(&self) -> Vec<Vec<f64>> {
        let last = self.passes.iter().map(|pass| pass.pass).max().unwrap_or(0);
        let of_pass = |pass| {
            let times = self.steps.iter().map(|step| step.of_pass(pass).map(|speed| 1e9 / speed));
            times.collect::<Option<Vec<f64>>>()
        };
        (1..=last).filter_map(of_pass).collect()
    }

    pub(super) fn rows(&self) -> Vec<CurveRow> {
        let speeds: Vec<Option<f64>> = self.steps.iter().map(Speeds::bytes_per_s).collect();
        let fastest = speeds.iter().flatten().copied().fold(0.0, f64::max);
        let of = |(step, speeds_of): (usize, &Speeds)| {
            let interval = speeds_of.interval();
            CurveRow {
                pattern: self.test.pattern,
                op: self.op,
                compresses_to_percent: self.percent(step),
                bytes_per_s: speeds[step],
                bytes_per_s_low: interval.map(|interval| interval.low),
                bytes_per_s_high: interval.map(|interval| interval.high),
                share_of_fastest_percent: speeds[step].map(|speed| 100.0 * speed / fastest),
            }
        };
        self.steps.iter().enumerate().map(of).collect()
    }

    pub(super) fn pass_rows(&self) -> Vec<PassRow> {
        let of = |pass: &Pass| PassRow {
            pattern: self.test.pattern,
            op: self.op,
            pass: pass.pass,
            turn: pass.turn,
            compresses_to_percent: self.percent(pass.step as usize),
            bytes_per_s: pass.bytes_per_s,
        };
        self.passes.iter().map(of).collect()
    }
}
