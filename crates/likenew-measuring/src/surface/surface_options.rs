//! The options of a surface test, and which of them make sense.

use std::ops::Range;

use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::quantity::Size;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, exact_duration, exact_size, size_text};
use likenew_core::workload::SAMPLES_MAX;
use serde::{Deserialize, Serialize};

use likenew_procedure_support::wording::{not_a_multiple, out_of_range, span_too_large};

use super::wording;

/// The options of a surface test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SurfaceOptions {
    /// Read or write.
    pub op: Mix,
    /// Evenly spaced points along the addresses at which speed is measured.
    pub points: u32,
    /// Bytes moved sequentially at each of them.
    #[serde(with = "size_text")]
    pub bytes: u64,
    /// Bytes of one I/O of that.
    #[serde(with = "size_text")]
    pub block: u64,
    /// I/Os in flight.
    pub depth: u32,
    /// Whether to cover every byte once, in as many pieces as there are points, instead of `bytes` at each.
    pub whole: bool,
    /// Bytes of address space, from the start of the drive; all of it by default.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Number of random I/Os at QD1.
    pub probes: u32,
    /// Bytes of each.
    #[serde(with = "size_text")]
    pub probe_block: u64,
    /// Bytes that are moved again and again to measure the drive's cache and its link; 0 for none.
    #[serde(with = "size_text")]
    pub burst: u64,
    /// How often a slow region is measured again.
    pub retests: u32,
    /// Time limit of a point; the probes have ten times as much, and a piece of `whole` has none.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Content of writes.
    pub data: DataClass,
}

impl Default for SurfaceOptions {
    /// 100 points of 8 MiB, 1 MiB at a time at QD2, so that the drive has the next one ready when one ends.
    fn default() -> Self {
        Self {
            op: Mix::Only(Op::Read),
            points: 100,
            bytes: 8 << 20,
            block: 1 << 20,
            depth: 2,
            whole: false,
            span: None,
            probes: 1000,
            probe_block: 4096,
            burst: 256 << 10,
            retests: 2,
            time: Nanos::from_secs(5),
            data: DataClass::Random,
        }
    }
}

/// Default span of a folder.
pub(super) const SPAN_OF_FOLDER: u64 = 1 << 30;
pub(super) const POINTS_MAX: u32 = 5000;
const RETESTS_MAX: u32 = 2;

impl SurfaceOptions {
    /// Whether these options make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        if !matches!(self.op, Mix::Only(Op::Read | Op::Write)) {
            return Err(wording::neither_read_nor_write(self.op));
        }
        if !(2..=POINTS_MAX).contains(&self.points) {
            return Err(out_of_range("points", self.points, 2, POINTS_MAX));
        }
        for (name, bytes) in [("block", self.block), ("probe_block", self.probe_block)] {
            if !(512..=64 << 20).contains(&bytes) {
                return Err(out_of_range(name, exact_size(bytes), "512", "64MiB"));
            }
            if !bytes.is_multiple_of(512) {
                return Err(not_a_multiple(name, bytes, 512));
            }
        }
        if self.bytes == 0 || !self.bytes.is_multiple_of(self.block) {
            return Err(wording::bytes_are_not_of_blocks(self.bytes, self.block));
        }
        if !(1..=256).contains(&self.depth) {
            return Err(out_of_range("depth", self.depth, 1, 256));
        }
        if self.probes > SAMPLES_MAX {
            return Err(out_of_range("probes", self.probes, 0, SAMPLES_MAX));
        }
        if self.burst > 64 << 20 {
            return Err(out_of_range("burst", exact_size(self.burst), 0, "64MiB"));
        }
        if !self.burst.is_multiple_of(4096) {
            return Err(not_a_multiple("burst", self.burst, 4096));
        }
        if self.retests > RETESTS_MAX {
            return Err(out_of_range("retests", self.retests, 0, RETESTS_MAX));
        }
        if !(Nanos::from_millis(1)..=Nanos::from_secs(86_400)).contains(&self.time) {
            return Err(out_of_range("time", self.time, "1ms", "24h"));
        }
        Ok(())
    }

    /// The options of the command line that differ from its defaults.
    pub(super) fn arguments(&self) -> String {
        let usual = Self::default();
        let mut arguments = Vec::new();
        let mut add = |differs: bool, name: &str, value: String| {
            if differs {
                arguments.push(format!("--{name} {value}"));
            }
        };
        add(self.op != usual.op, "op", self.op.to_string());
        add(self.points != usual.points, "points", self.points.to_string());
        if self.whole {
            add(true, "whole", String::new());
        } else {
            add(self.bytes != usual.bytes, "bytes", exact_size(self.bytes));
            add(self.time != usual.time, "time", exact_duration(self.time));
        }
        add(self.block != usual.block, "block", exact_size(self.block));
        add(self.depth != usual.depth, "depth", self.depth.to_string());
        add(self.span.is_some(), "span", exact_size(self.span.unwrap_or(0)));
        add(self.probes != usual.probes, "probes", self.probes.to_string());
        add(self.probe_block != usual.probe_block, "probe-block", exact_size(self.probe_block));
        add(self.burst != usual.burst, "burst", exact_size(self.burst));
        add(self.retests != usual.retests, "retests", self.retests.to_string());
        add(self.data != usual.data, "data", self.data.to_string());
        let arguments: Vec<&str> = arguments.iter().map(|argument| argument.trim_end()).collect();
        arguments.join(" ")
    }

    /// Bytes of address space on a drive.
    ///
    /// # Errors
    /// A sentence, when the points do not fit it.
    pub(super) fn span_on(&self, geometry: &Geometry) -> Result<u64, String> {
        let capacity = geometry.capacity - geometry.capacity % u64::from(geometry.block);
        let span = self.span.unwrap_or(capacity);
        if span > capacity {
            return Err(span_too_large(span, capacity, 1 << 20));
        }
        let each = if self.whole { self.block } else { self.bytes };
        if u64::from(self.points).saturating_mul(each) > span {
            return Err(wording::points_exceed_span(self.points, Size(each), Size(span)));
        }
        if self.burst.max(self.probe_block) > span {
            return Err(wording::target_too_small(Size(span)));
        }
        Ok(span)
    }

    /// The addresses of the point of this index.
    pub(super) fn range(&self, index: usize, span: u64) -> Range<u64> {
        let (index, last) = (index as u64, u64::from(self.points) - 1);
        let down = |bytes: u64| bytes - bytes % self.block;
        if self.whole {
            let piece = down(span / u64::from(self.points));
            let end = if index == last { span } else { (index + 1) * piece };
            return index * piece..end;
        }
        let start = u128::from(span - self.bytes) * u128::from(index) / u128::from(last);
        let start = down(u64::try_from(start).expect("it is below the span"));
        start..start + self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_reach_from_the_first_byte_to_the_last() {
        let options = SurfaceOptions { points: 7, ..SurfaceOptions::default() };
        for span in [56 << 20, 100 << 20, 640_135_028_736u64] {
            let ranges: Vec<Range<u64>> = (0..7).map(|index| options.range(index, span)).collect();
            assert_eq!(ranges[0].start, 0);
            assert!(span - ranges[6].end < options.block, "{ranges:?}");
            assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{ranges:?}");
        }
    }

    #[test]
    fn the_whole_is_every_byte_once() {
        let options = SurfaceOptions { points: 7, whole: true, ..SurfaceOptions::default() };
        for span in [8 << 20, 100 << 20, 640_135_028_736u64] {
            let ranges: Vec<Range<u64>> = (0..7).map(|index| options.range(index, span)).collect();
            assert_eq!((ranges[0].start, ranges[6].end), (0, span));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{ranges:?}");
        }
    }
}
