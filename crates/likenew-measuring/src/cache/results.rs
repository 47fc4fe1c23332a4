//! The measurements at each level, and the device counters.

use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Stop;
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::summary::mean;
use serde::Serialize;

use super::CacheOptions;
use super::level::{Cell, Level};
use super::workload_plan::{Turn, WorkloadPlan};
use crate::data::Test;
use likenew_procedure_support::pattern::Pattern;

/// Every measured level of every pattern, in the order of the table.
pub(super) struct CacheResults<'a> {
    pub(super) levels: Vec<MeasuredLevel<'a>>,
    passes: Vec<Pass<'a>>,
}

/// All passes of one operation at one level.
pub(super) struct MeasuredLevel<'a> {
    pub(super) test: Test,
    pub(super) cell: Cell,
    passes: Vec<Pass<'a>>,
}

#[derive(Clone, Copy)]
struct Pass<'a> {
    turn: Turn,
    segment: &'a Segment,
    bytes_per_s: f64,
}

#[derive(Serialize)]
pub(super) struct LevelRow {
    level: Level,
    op: Op,
    pattern: Pattern,
    bytes_per_s: f64,
    bytes_per_s_low: Option<f64>,
    bytes_per_s_high: Option<f64>,
    iops: f64,
    latency_ns_mean: f64,
    latency_ns_p50: u64,
    moved_bytes: u64,
    counted_bytes: Option<u64>,
    ram_percent: Option<f64>,
    ram_percent_low: Option<f64>,
    ram_percent_high: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct PassRow {
    pass: u32,
    level: Level,
    op: Op,
    pattern: Pattern,
    bytes_per_s: f64,
    moved_bytes: u64,
    counted_bytes: Option<u64>,
    ram_percent: Option<f64>,
    /// The time of the flush at the end, if there is one.
    flush_ns: Option<u64>,
}

impl<'a> Pass<'a> {
    /// From a complete segment. After an interruption, data read before it is no longer in memory.
    fn from_segment(turn: Turn, segment: &'a Segment) -> Option<Self> {
        let lost = segment.after_interruption && turn.cell.level == Level::Second;
        let bytes_per_s = segment.bytes_per_s()?;
        let has_moved = segment.bytes(turn.cell.op) > 0 && segment.stop == Stop::Reached;
        (has_moved && !lost).then_some(Self { turn, segment, bytes_per_s })
    }

    fn bytes_moved(&self) -> u64 {
        self.segment.bytes(self.turn.cell.op)
    }

    fn device_bytes(&self) -> Option<u64> {
        self.segment.device_counters?.bytes(self.turn.cell.op)
    }

    /// The share of the bytes moved that did not reach the device during the run. I/O to nowhere was not in
    /// memory either.
    fn ram(&self) -> Option<f64> {
        let device_bytes = self.device_bytes().filter(|_| self.turn.cell.level != Level::Null)?;
        Some((1.0 - device_bytes as f64 / self.bytes_moved() as f64).max(0.0))
    }

    fn row(&self) -> PassRow {
        let Turn { pass, test, cell } = self.turn;
        let flush = self.segment.total_of(Op::Flush);
        PassRow {
            pass,
            level: cell.level,
            op: cell.op,
            pattern: test.pattern,
            bytes_per_s: self.bytes_per_s,
            moved_bytes: self.bytes_moved(),
            counted_bytes: self.device_bytes(),
            ram_percent: self.ram().map(percent),
            flush_ns: (flush.ios > 0).then_some(flush.latency_ns_sum),
        }
    }
}

impl MeasuredLevel<'_> {
    /// Mean of the passes, in bytes a second.
    pub(super) fn speed(&self) -> f64 {
        mean(&self.speeds()).expect("a level has a pass")
    }

    pub(super) fn speed_interval(&self) -> Option<Interval> {
        let interval = mean_interval(&self.speeds(), CONFIDENCE_95)?;
        Some(Interval { low: interval.low.max(0.0), high: interval.high })
    }

    /// The mean share of RAM over the passes; `None` if any of them was not counted.
    pub(super) fn ram(&self) -> Option<f64> {
        mean(&self.rams()?)
    }

    /// The interval of that; `None` for a single pass.
    pub(super) fn ram_interval(&self) -> Option<Interval> {
        let interval = mean_interval(&self.rams()?, CONFIDENCE_95)?;
        Some(Interval { low: interval.low.max(0.0), high: interval.high.min(1.0) })
    }

    fn speeds(&self) -> Vec<f64> {
        self.passes.iter().map(|pass| pass.bytes_per_s).collect()
    }

    fn rams(&self) -> Option<Vec<f64>> {
        self.passes.iter().map(Pass::ram).collect()
    }

    fn row(&self) -> LevelRow {
        let Cell { level, op } = self.cell;
        let mut total = Tally::new(0, op);
        self.passes.iter().for_each(|pass| total.merge(&pass.segment.total_of(op)));
        let seconds: f64 = self.passes.iter().map(|pass| pass.segment.elapsed().as_secs_f64()).sum();
        let (speed, ram) = (self.speed_interval(), self.ram_interval());
        LevelRow {
            level,
            op,
            pattern: self.test.pattern,
            bytes_per_s: self.speed(),
            bytes_per_s_low: speed.map(|interval| interval.low),
            bytes_per_s_high: speed.map(|interval| interval.high),
            iops: if seconds > 0.0 { total.done_ios() as f64 / seconds } else { 0.0 },
            latency_ns_mean: total.latency_ns_mean(),
            latency_ns_p50: total.latency.quantile(0.5).0,
            moved_bytes: total.bytes,
            counted_bytes: self.passes.iter().map(Pass::device_bytes).sum(),
            ram_percent: self.ram().map(percent),
            ram_percent_low: ram.map(|interval| percent(interval.low)),
            ram_percent_high: ram.map(|interval| percent(interval.high)),
        }
    }
}

fn percent(share: f64) -> f64 {
    100.0 * share
}

impl<'a> CacheResults<'a> {
    pub(super) fn from_evidence(
        options: &CacheOptions,
        workload_plan: &WorkloadPlan<'_>,
        evidence: &'a Evidence,
    ) -> Self {
        let turns = evidence.segments.iter().enumerate().filter_map(|(index, segment)| {
            let turn = workload_plan.turn(index)?;
            Pass::from_segment(turn, segment)
        });
        let passes: Vec<Pass<'a>> = turns.collect();
        let mut levels: Vec<MeasuredLevel<'a>> = Vec::new();
        for pass in &passes {
            let Turn { test, cell, .. } = pass.turn;
            match levels.iter_mut().find(|level| level.test == test && level.cell == cell) {
                Some(level) => level.passes.push(*pass),
                None => levels.push(MeasuredLevel { test, cell, passes: vec![*pass] }),
            }
        }
        // In the order of the settings, even if the first pass lacks something.
        let place = |of: &MeasuredLevel<'_>| options.tests.iter().position(|test| *test == of.test);
        levels.sort_by_key(|level| (place(level), level.cell.level, level.cell.op));
        Self { levels, passes }
    }

    pub(super) fn level(&self, pattern: Pattern, level: Level, op: Op) -> Option<&MeasuredLevel<'a>> {
        self.levels.iter().find(|of| of.test.pattern == pattern && of.cell == Cell { level, op })
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = LevelRow> {
        self.levels.iter().map(MeasuredLevel::row)
    }

    pub(super) fn pass_rows(&self) -> impl Iterator<Item = PassRow> {
        self.passes.iter().map(Pass::row)
    }
}
