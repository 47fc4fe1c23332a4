//! What TRIM is worth: random writes with it over random writes without.

use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_core::units::{amount, three_digits};
use likenew_core::verdict::{Row, Standing, Verdict};
use likenew_stats::interval::{Interval, ratio_interval};
use serde::Serialize;

use super::trim_evidence::TrimEvidence;
use super::trim_steps::TrimStep;
use super::workload_plan::WorkloadPlan;
use crate::CONFIDENCE;
use crate::rows::{LatencyColumns, row};

/// A difference that is smaller than this is none.
const RATIO_INSIGNIFICANT: f64 = 1.05;
/// Where at least this share of the medium is given up, a drive that heard of it has so much more room that its random writes have
/// to gain by it, unless it never had to collect garbage.
const MUCH: f64 = 0.25;

/// What was measured.
pub(super) struct Worth<'e> {
    passes: Vec<(bool, &'e Segment)>,
    measured: bool,
    /// Why TRIM could not be sent.
    refusal: Option<String>,
    released_bytes: u64,
    released_share: Option<f64>,
}

#[derive(Serialize)]
struct WorthRow {
    test: &'static str,
    without_bytes_per_s: f64,
    with_bytes_per_s: f64,
    ratio: f64,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    freed_bytes: u64,
    freed_percent: Option<f64>,
}

#[derive(Serialize)]
struct PassRow {
    trim: &'static str,
    pass: usize,
    bytes_per_s: Option<f64>,
    iops: Option<f64>,
    #[serde(flatten)]
    latency: LatencyColumns,
}

/// Passes that did not fail.
fn measured_passes(mut passes: Vec<(bool, &Segment)>) -> Vec<(bool, &Segment)> {
    passes.retain(|(_, segment)| segment.measurement_error().is_none());
    passes
}

impl<'e> Worth<'e> {
    pub(super) fn from_evidence(
        workload_plan: &WorkloadPlan<'_>,
        trim_evidence: &TrimEvidence<'e>,
        evidence: &'e Evidence,
    ) -> Self {
        let medium = trim_evidence.path.and_then(|path| path.ok()?.medium_bytes);
        let released_bytes = workload_plan.half();
        let unsent = evidence.observations.iter().find_map(|observation| {
            match (&observation.probe, &observation.result) {
                (Probe::Release { .. }, ProbeResult::Unknown(reason)) => Some(reason.clone()),
                _ => None,
            }
        });
        Self {
            passes: if workload_plan.measures() {
                measured_passes(workload_plan.passes(evidence))
            } else {
                Vec::new()
            },
            measured: workload_plan.measures(),
            refusal: trim_evidence.refusal().map(str::to_owned).or(unsent),
            released_bytes,
            released_share: medium.map(|medium| released_bytes as f64 / medium.max(1) as f64),
        }
    }

    /// Speeds of the passes with or without, in bytes a second.
    pub(super) fn speeds(&self, trimmed: bool) -> Vec<f64> {
        let of = self.passes.iter().filter(|(with, _)| *with == trimmed);
        of.filter_map(|(_, segment)| segment.bytes_per_s()).collect()
    }

    fn ratio(&self) -> Option<f64> {
        let mean = |speeds: Vec<f64>| speeds.iter().sum::<f64>() / speeds.len() as f64;
        let ratio = mean(self.speeds(true)) / mean(self.speeds(false));
        ratio.is_finite().then_some(ratio)
    }

    fn interval(&self) -> Option<Interval> {
        // What could not be sent made no difference, whatever was measured.
        let sent = self.refusal.is_none();
        let interval =
            sent.then(|| ratio_interval(&self.speeds(true), &self.speeds(false), CONFIDENCE)).flatten();
        // No speed is negative, whatever a few passes that scatter leave possible.
        interval.map(|interval| Interval { low: interval.low.max(0.0), ..interval })
    }

    /// Whether random writes gain by it.
    pub(super) fn standing(&self) -> Standing {
        match self.interval() {
            Some(interval) if interval.low > RATIO_INSIGNIFICANT => Standing::Holds,
            Some(interval) if interval.high < RATIO_INSIGNIFICANT => Standing::Fails,
            _ => Standing::Undecided,
        }
    }

    /// Whether so much was given up that a drive that heard of it shows it.
    pub(super) fn frees_enough(&self) -> bool {
        self.released_share.is_some_and(|share| share >= MUCH)
    }

    pub(super) fn step(&self) -> Option<TrimStep> {
        let ratio = three_digits(self.ratio()?);
        let answer = match self.standing() {
            Standing::Holds => format!("yes: {ratio} times as fast"),
            Standing::Fails => "no".to_owned(),
            Standing::Undecided => "not decided".to_owned(),
        };
        Some(TrimStep {
            step: "effect",
            question: "Do random writes gain by it?",
            answer,
            evidence: self.evidence(),
            decisive: self.standing() == Standing::Holds,
        })
    }

    fn evidence(&self) -> String {
        let (with, without) = (self.speeds(true).len(), self.speeds(false).len());
        let share = self
            .released_share
            .map_or_else(String::new, |share| format!(", {} % of the drive", three_digits(share * 100.0)));
        let interval = self.interval().map_or_else(
            || "no interval".to_owned(),
            |interval| {
                format!("95 % interval {}–{}", three_digits(interval.low), three_digits(interval.high))
            },
        );
        format!(
            "random writes of 4 KiB over {}, {with} passes with TRIM and {without} without, {interval}; what was given up beside it: {}{share}",
            amount(self.released_bytes),
            amount(self.released_bytes)
        )
    }

    /// Whether it is worth anything, if that was asked and could be measured.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let ratio = self.ratio();
        if !self.measured || (ratio.is_none() && self.refusal.is_none()) {
            return None;
        }
        let claim = match (self.standing(), ratio) {
            (Standing::Holds, Some(ratio)) => {
                format!("TRIM makes random writes faster: {} times as fast as without.", three_digits(ratio))
            }
            _ => "TRIM makes random writes faster.".to_owned(),
        };
        let mut verdict = Verdict::new(claim, self.standing());
        if let (Some(ratio), Some(interval)) = (ratio, self.interval()) {
            verdict = verdict.estimate(ratio, interval.low, interval.high, "×");
        }
        if let Some(reason) = &self.refusal {
            return Some(verdict.with_evidence(format!(
                "TRIM could not be sent, so that there is nothing to compare: {reason}"
            )));
        }
        verdict = verdict.with_evidence(self.evidence());
        if self.interval().is_none() {
            verdict = verdict.caveat(
                "fewer than two passes of each say nothing of how the next would differ: give more --passes",
            );
        } else if self.standing() == Standing::Undecided {
            verdict = verdict.caveat("the passes differ too much: give more --passes or more --time");
        }
        if !self.frees_enough() && self.standing() != Standing::Holds {
            verdict = verdict.caveat(
                "a drive that has much other room gains little by so small a part of it: --space gives up more, and writes more",
            );
        }
        Some(verdict)
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let Some(ratio) = self.ratio() else { return Vec::new() };
        let mean = |speeds: Vec<f64>| speeds.iter().sum::<f64>() / speeds.len() as f64;
        let interval = self.interval();
        vec![row(WorthRow {
            test: "RND4K write",
            without_bytes_per_s: mean(self.speeds(false)),
            with_bytes_per_s: mean(self.speeds(true)),
            ratio,
            ratio_low: interval.map(|interval| interval.low),
            ratio_high: interval.map(|interval| interval.high),
            freed_bytes: self.released_bytes,
            freed_percent: self.released_share.map(|share| share * 100.0),
        })]
    }

    pub(super) fn pass_rows(&self) -> Vec<Row> {
        let mut counts = [0; 2];
        let rows = self.passes.iter().map(|(trimmed, segment)| {
            let pass = &mut counts[usize::from(*trimmed)];
            *pass += 1;
            row(PassRow {
                trim: if *trimmed { "with" } else { "without" },
                pass: *pass,
                bytes_per_s: segment.bytes_per_s(),
                iops: segment.iops(),
                latency: LatencyColumns::from(&segment.total()),
            })
        });
        rows.collect()
    }
}
