//! What a test knows: the drive, its own segments, earlier findings, and the writes left.

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::procedure::Evidence;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};

use super::background_io::BackgroundIo;
use super::disturbance::Noise;
use super::finding::{Finding, Pictures};
use super::inferences::{InferredProperties, in_noise};
use super::property::{Key, Property};
use super::reason::Reason;
use super::wording;

/// The span is a multiple of this, in bytes.
const TRIM_BLOCK: u32 = 16 << 20;
/// Bytes of a simulated drive whose fill takes about a minute of this computer's time; more takes several.
pub(super) const SIMULATED_MAX: u64 = 96 << 30;

/// What a test knows.
pub(super) struct ExperimentContext<'a> {
    pub(super) evidence: &'a Evidence,
    /// Bytes of address space under test, from 0.
    pub(super) span: u64,
    /// Bytes that may still be written.
    pub(super) remaining: u64,
    /// Segments of this test, in the order they ran.
    pub(super) segments: Vec<&'a Segment>,
    /// Whether this test was asked for by name.
    pub(super) is_named: bool,
    /// Findings of the tests before it.
    pub(super) inferences: InferredProperties,
}

impl<'a> ExperimentContext<'a> {
    pub(super) fn new(evidence: &'a Evidence, span: u64, remaining: u64) -> Self {
        Self {
            evidence,
            span,
            remaining,
            segments: Vec::new(),
            is_named: false,
            inferences: InferredProperties::default(),
        }
    }

    /// Records the findings of a test and the bytes that it wrote for them. Returns the charts.
    pub(super) fn record(&mut self, finding: Finding) -> Pictures {
        let failed = self.segments.iter().find_map(|segment| segment.measurement_error());
        let Finding { mut properties, pictures, noise } = match failed {
            Some(error) => finding.with_error(&error),
            None => finding,
        };
        let spent: u64 = self.segments.iter().map(|segment| bytes_written(segment)).sum();
        properties.iter_mut().for_each(|property| property.bytes_written = spent);
        if let Some(noise) = noise {
            self.inferences.record_noise(noise);
        }
        let background_io = BackgroundIo::in_segment(self.segments.iter().copied());
        if background_io.disturb() {
            self.inferences.record_background(background_io);
        }
        let is_busy = self.is_busy();
        let judge = |property: Property| if is_busy { in_noise(property) } else { property };
        self.inferences.record(properties.into_iter().map(judge).collect());
        pictures
    }

    /// Whether something other than the drive affects the latencies of this test.
    pub(super) fn is_busy(&self) -> bool {
        self.inferences.noise().is_some_and(Noise::is_busy)
            || BackgroundIo::in_segment(self.segments.iter().copied()).disturb()
    }

    /// Whether other programs use the drive; their writes would take part of whatever is filled.
    pub(super) fn has_others(&self) -> bool {
        self.inferences.background_io().is_some()
            || BackgroundIo::in_segment(self.segments.iter().copied()).disturb()
    }

    /// The smallest unit of address, in bytes.
    pub(super) fn block(&self) -> u32 {
        self.evidence.geometry.block
    }

    /// Whether the budget allows this many more bytes of writes.
    pub(super) fn may_write(&self, bytes: u64) -> bool {
        self.evidence.geometry.writable && bytes <= self.remaining
    }

    /// Whether the span is the whole drive, so that filling it fills the drive.
    pub(super) fn is_whole(&self) -> bool {
        let kind = self.evidence.identity.kind;
        let capacity = self.evidence.geometry.capacity;
        matches!(kind, Kind::Device | Kind::Simulated) && capacity - self.span < capacity / 100
    }

    /// Whether trimmed data is forgotten, as far as that is known.
    pub(super) fn loses_writes(&self) -> bool {
        self.evidence.geometry.trims && self.inferences.word(Key::Trim) != Some("ignored")
    }

    /// Trims the whole span.
    pub(super) fn trim(&self, name: &str) -> Workload {
        let place = AccessPattern::Sequential(Region::bytes(0..self.span));
        let stream = Stream::closed(Mix::Only(Op::Trim), TRIM_BLOCK, place, 1, DataClass::Random);
        Workload::new(name, Until::bytes(self.span), vec![stream])
    }

    /// The segment of this name, without the test's prefix.
    pub(super) fn segment(&self, name: &str) -> Option<&'a Segment> {
        self.segments.iter().copied().find(|segment| own_name(segment) == name)
    }

    /// The segment with this full name from any test, such as `preparation: prepare`.
    pub(super) fn segment_of_any(&self, full_name: &str) -> Option<&'a Segment> {
        self.evidence.segment_named(full_name)
    }

    /// Why this many bytes cannot be written here.
    pub(super) fn write_refusal(&self, bytes: u64) -> Reason {
        match self.evidence.geometry.writable {
            true => wording::too_few_writes(bytes, self.remaining),
            false => wording::read_only(),
        }
    }

    /// Why the drive cannot be filled here, or only in part.
    pub(super) fn part_refusal(&self) -> Reason {
        match self.evidence.identity.kind {
            Kind::Device | Kind::Simulated => wording::part_of_drive(),
            Kind::Folder | Kind::File | Kind::Nop => wording::no_drive(),
        }
    }

    /// Why what needs a full drive was not measured.
    pub(super) fn fill_refusal(&self) -> Reason {
        let is_simulated = self.evidence.identity.kind == Kind::Simulated;
        match self.is_whole() {
            true if is_simulated && self.span > SIMULATED_MAX => wording::fill_too_long(),
            true if self.may_write(self.span) => wording::fill_missing(),
            true => self.write_refusal(self.span).how(wording::NEEDS_FILL),
            false => self.part_refusal(),
        }
    }
}

/// The name without the test's prefix.
pub(super) fn own_name(segment: &Segment) -> &str {
    segment.workload.name.split_once(": ").map_or("", |(_, name)| name)
}

/// Bytes that a segment wrote.
pub(super) fn bytes_written(segment: &Segment) -> u64 {
    segment.bytes(Op::Write)
}

/// Random reads of `block` bytes within `range` at queue depth `depth`.
pub(super) fn random_reads(range: Range<u64>, block: u32, depth: u32) -> Stream {
    let place = AccessPattern::Random(Region::bytes(range));
    Stream::closed(Mix::Only(Op::Read), block, place, depth, DataClass::Random)
}

/// Latencies of the sampled I/Os, in nanoseconds, by completion.
pub(super) fn latencies(segment: &Segment) -> Vec<f64> {
    segment.samples.iter().map(|sample| sample.latency().0 as f64).collect()
}
