//! The levels between a program and a drive, and what was measured at each.

use likenew_core::findings::{Line, Row, Series, Shape};
use likenew_core::io::Op;
use likenew_core::row;
use likenew_core::segment::{Segment, Stop};
use likenew_core::tally::Tally;
use likenew_core::workload::Access;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::series::{axis, speed};
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::summary::mean;
use serde::Serialize;

use super::{CacheOptions, wording};
use crate::data::Test;

/// Where an I/O ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Level {
    /// Nowhere: the limit of likenew itself.
    #[serde(rename = "null")]
    Null,
    /// In the page cache.
    #[serde(rename = "buffered")]
    Buffered,
    /// In the page cache, then made durable by a flush whose time counts.
    #[serde(rename = "buffered_flushed")]
    Flushed,
    /// Through a page cache without this data, if likenew may drop its pages.
    #[serde(rename = "first_buffered")]
    First,
    /// Through the page cache again, which now holds the data.
    #[serde(rename = "second_buffered")]
    Second,
    /// At the drive.
    #[serde(rename = "direct")]
    Direct,
}

impl Level {
    /// Every level, from the program to the drive.
    const ALL: [Self; 6] =
        [Self::Null, Self::Buffered, Self::Flushed, Self::First, Self::Second, Self::Direct];

    /// What each pass measures for a pattern, in this order: reads come after writes have filled the page cache.
    pub(super) const OF_A_PASS: [(Self, Op); 8] = [
        (Self::Null, Op::Write),
        (Self::Null, Op::Read),
        (Self::Buffered, Op::Write),
        (Self::Flushed, Op::Write),
        (Self::First, Op::Read),
        (Self::Second, Op::Read),
        (Self::Direct, Op::Read),
        (Self::Direct, Op::Write),
    ];

    /// What workloads call it; tables have an identifier.
    pub(super) fn name(self) -> &'static str {
        ["null", "buffered", "buffered, flushed", "first buffered", "second buffered", "direct"]
            [self as usize]
    }

    /// The path of its I/Os, as the first screen and the chart name it.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::First => "buffered, 1st read",
            Self::Second => "buffered, 2nd read",
            level => level.name(),
        }
    }

    pub(super) fn access(self) -> Access {
        match self {
            Self::Null => Access::Null,
            Self::Direct => Access::Direct,
            _ => Access::Buffered,
        }
    }

    /// Whether it begins with an empty page cache, if likenew may empty it.
    pub(super) fn is_cold(self) -> bool {
        matches!(self, Self::Buffered | Self::Flushed | Self::First)
    }
}

/// One pass of an operation at a level.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    /// Counted from 1.
    pub(super) number: u32,
    pub(super) test: Test,
    pub(super) level: Level,
    pub(super) op: Op,
    pub(super) segment: &'a Segment,
}

impl Pass<'_> {
    /// Whether its speed counts. After an interruption, a second read no longer finds its data in memory.
    pub(super) fn is_complete(&self) -> bool {
        let is_lost = self.segment.after_interruption && self.level == Level::Second;
        self.segment.bytes_per_s().is_some()
            && self.bytes_moved() > 0
            && self.segment.stop == Stop::Reached
            && !is_lost
    }

    fn bytes_per_s(&self) -> f64 {
        self.segment.bytes_per_s().expect("a complete pass has a speed")
    }

    fn bytes_moved(&self) -> u64 {
        self.segment.bytes(self.op)
    }

    fn device_bytes(&self) -> Option<u64> {
        self.segment.device_counters?.bytes(self.op)
    }

    /// The share of the bytes that did not reach the device during the run; `None` for I/O to nowhere, which was not
    /// in memory either.
    fn ram(&self) -> Option<f64> {
        let device_bytes = self.device_bytes().filter(|_| self.level != Level::Null)?;
        Some((1.0 - device_bytes as f64 / self.bytes_moved() as f64).max(0.0))
    }

    pub(super) fn row(&self) -> Row {
        let flush = self.segment.total_of(Op::Flush);
        row! {
            pass: self.number,
            level: self.level,
            op: self.op,
            pattern: self.test.pattern,
            bytes_per_s: self.bytes_per_s(),
            moved_bytes: self.bytes_moved(),
            counted_bytes: self.device_bytes(),
            ram_percent: self.ram().map(percent),
            flush_ns: (flush.ios > 0).then_some(flush.latency_ns_sum),
        }
    }
}

/// All passes of one operation at one level.
pub(super) struct MeasuredLevel<'a> {
    pub(super) test: Test,
    pub(super) level: Level,
    pub(super) op: Op,
    passes: Vec<Pass<'a>>,
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

    /// The interval of the share of RAM; `None` for a single pass.
    pub(super) fn ram_interval(&self) -> Option<Interval> {
        let interval = mean_interval(&self.rams()?, CONFIDENCE_95)?;
        Some(Interval { low: interval.low.max(0.0), high: interval.high.min(1.0) })
    }

    fn speeds(&self) -> Vec<f64> {
        self.passes.iter().map(Pass::bytes_per_s).collect()
    }

    fn rams(&self) -> Option<Vec<f64>> {
        self.passes.iter().map(Pass::ram).collect()
    }

    pub(super) fn row(&self) -> Row {
        let mut total = Tally::new(0, self.op);
        self.passes.iter().for_each(|pass| total.merge(&pass.segment.total_of(self.op)));
        let seconds: f64 = self.passes.iter().map(|pass| pass.segment.elapsed().as_secs_f64()).sum();
        let (speed, ram) = (self.speed_interval(), self.ram_interval());
        row! {
            level: self.level,
            op: self.op,
            pattern: self.test.pattern,
            bytes_per_s: self.speed(),
            bytes_per_s_low: speed.map(|interval| interval.low),
            bytes_per_s_high: speed.map(|interval| interval.high),
            iops: if seconds > 0.0 { total.done_ios() as f64 / seconds } else { 0.0 },
            latency_ns_mean: total.latency_ns_mean(),
            latency_ns_p50: total.latency.quantile(0.5).0,
            moved_bytes: total.bytes,
            counted_bytes: self.passes.iter().map(Pass::device_bytes).sum::<Option<u64>>(),
            ram_percent: self.ram().map(percent),
            ram_percent_low: ram.map(|interval| percent(interval.low)),
            ram_percent_high: ram.map(|interval| percent(interval.high)),
        }
    }
}

fn percent(share: f64) -> f64 {
    100.0 * share
}

/// Every measured level of every pattern, in the order of the table, even if the first pass lacks some.
pub(super) struct Levels<'a>(pub(super) Vec<MeasuredLevel<'a>>);

impl<'a> Levels<'a> {
    pub(super) fn of(passes: &[Pass<'a>], options: &CacheOptions) -> Self {
        let mut levels = Vec::new();
        for test in &options.tests {
            for level in Level::ALL {
                for op in [Op::Read, Op::Write] {
                    let is_own = |pass: &&Pass<'_>| (pass.test, pass.level, pass.op) == (*test, level, op);
                    let passes: Vec<Pass<'a>> = passes.iter().filter(is_own).copied().collect();
                    if !passes.is_empty() {
                        levels.push(MeasuredLevel { test: *test, level, op, passes });
                    }
                }
            }
        }
        Self(levels)
    }

    pub(super) fn get(&self, pattern: Pattern, level: Level, op: Op) -> Option<&MeasuredLevel<'a>> {
        self.0
            .iter()
            .find(|measured| (measured.test.pattern, measured.level, measured.op) == (pattern, level, op))
    }

    /// Whether nothing was measured twice, so that no speed has an interval.
    pub(super) fn are_of_one_pass(&self) -> bool {
        self.0.iter().all(|level| level.speed_interval().is_none())
    }

    /// Speed from the program to the drive, on a logarithmic axis, because memory and drive differ by powers of
    /// ten; `None` if nothing was measured.
    pub(super) fn chart(&self) -> Option<Series> {
        // I/O that goes nowhere is likenew's own limit, not a level on the way to the drive.
        let drawn = || self.0.iter().filter(|measured| measured.level != Level::Null);
        let mut present = Level::ALL.to_vec();
        present.retain(|level| drawn().any(|measured| measured.level == *level));
        let x = |measured: &MeasuredLevel<'_>| {
            present.iter().position(|level| *level == measured.level).expect("it is one of them") as f64
        };
        let mut lines: Vec<(String, Vec<&MeasuredLevel<'_>>)> = Vec::new();
        for measured in drawn() {
            let name = wording::line_name(measured.test.pattern, measured.op);
            match lines.iter_mut().find(|(known, _)| *known == name) {
                Some((_, line)) => line.push(measured),
                None => lines.push((name, vec![measured])),
            }
        }
        let lines = lines.into_iter().map(|(name, line)| {
            let interval = |measured: &&MeasuredLevel<'_>| {
                let Interval { low, high } = measured.speed_interval()?;
                Some([x(measured), low, high])
            };
            Line::new(name, line.iter().map(|measured| [x(measured), measured.speed()]).collect())
                .band(line.iter().filter_map(interval).collect())
        });
        (!present.is_empty()).then(|| {
            let (level, speed) = (axis(wording::LEVEL_AXIS, ""), speed().logarithmic());
            Series::new(wording::LEVELS_TITLE, Shape::Line, level, speed)
                .categories(present.iter().map(|level| level.path()))
                .lines(lines)
        })
    }
}
