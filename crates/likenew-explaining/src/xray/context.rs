//! What a probe sees: the drive, what it has run itself, what others have found, and what may still be spent.

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

/// No span is shorter.
const TRIM_BLOCK: u32 = 16 << 20;
/// Bytes of a simulated drive whose fill takes a minute or so of this machine's time; more takes several.
pub(super) const SIMULATED_MAX: u64 = 96 << 30;

/// What a probe sees.
pub(super) struct ExperimentContext<'a> {
    pub(super) evidence: &'a Evidence,
    /// Bytes of address space that are looked at, from 0.
    pub(super) span: u64,
    /// Bytes that may still be written.
    pub(super) remaining: u64,
    /// What this probe has run so far, in order.
    pub(super) segments: Vec<&'a Segment>,
    /// Whether this probe was asked for by its name.
    pub(super) is_named: bool,
    /// What the probes before it have found.
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

    /// Takes over what the probe has found, and what its workloads have written to find it. Returns what is for the reader alone.
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

    /// Whether something else than the drive decides how long the I/Os of this probe take.
    pub(super) fn is_busy(&self) -> bool {
        self.inferences.noise().is_some_and(Noise::is_busy)
            || BackgroundIo::in_segment(self.segments.iter().copied()).disturb()
    }

    /// Whether somebody else was met, whose writes would take part of whatever is filled.
    pub(super) fn has_others(&self) -> bool {
        self.inferences.background_io().is_some()
            || BackgroundIo::in_segment(self.segments.iter().copied()).disturb()
    }

    /// The smallest unit of address, in bytes.
    pub(super) fn block(&self) -> u32 {
        self.evidence.geometry.block
    }

    /// Whether so much may still be written.
    pub(super) fn may_write(&self, bytes: u64) -> bool {
        self.evidence.geometry.writable && bytes <= self.remaining
    }

    /// Whether all addresses of the drive are looked at, so that filling them fills the drive.
    pub(super) fn is_whole(&self) -> bool {
        let kind = self.evidence.identity.kind;
        let capacity = self.evidence.geometry.capacity;
        matches!(kind, Kind::Device | Kind::Simulated) && capacity - self.span < capacity / 100
    }

    /// Whether what is trimmed is forgotten, as far as that is known.
    pub(super) fn loses_writes(&self) -> bool {
        self.evidence.geometry.trims && self.inferences.word(Key::Trim) != Some("ignored")
    }

    /// Trims all that is looked at.
    pub(super) fn trim(&self, name: &str) -> Workload {
        let place = AccessPattern::Sequential(Region::bytes(0..self.span));
        let stream = Stream::closed(Mix::Only(Op::Trim), TRIM_BLOCK, place, 1, DataClass::Random);
        Workload::new(name, Until::bytes(self.span), vec![stream])
    }

    /// What this probe has run under this name, without the probe's.
    pub(super) fn segment(&self, name: &str) -> Option<&'a Segment> {
        self.segments.iter().copied().find(|segment| own_name(segment) == name)
    }

    /// What all probes have run under this full name, such as `preparation: prepare`.
    pub(super) fn segment_of_any(&self, full_name: &str) -> Option<&'a Segment> {
        self.evidence.segment_named(full_name)
    }

    /// Why so much cannot be written here.
    pub(super) fn write_refusal(&self, bytes: u64) -> Reason {
        match self.evidence.geometry.writable {
            true => wording::too_few_writes(bytes, self.remaining),
            false => wording::read_only(),
        }
    }

    /// Why a drive that was filled is not to be had here, or would not be the whole drive.
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

/// The name that the probe gave it.
pub(super) fn own_name(segment: &Segment) -> &str {
    segment.workload.name.split_once(": ").map_or("", |(_, name)| name)
}

/// Bytes written by it.
pub(super) fn bytes_written(segment: &Segment) -> u64 {
    segment.bytes(Op::Write)
}

/// Reads of `block` bytes at random within `range`, `depth` of them in flight.
pub(super) fn random_reads(range: Range<u64>, block: u32, depth: u32) -> Stream {
    let place = AccessPattern::Random(Region::bytes(range));
    Stream::closed(Mix::Only(Op::Read), block, place, depth, DataClass::Random)
}

/// Latencies of the I/Os that were kept, in nanoseconds, in order of their ends.
pub(super) fn latencies(segment: &Segment) -> Vec<f64> {
    segment.samples.iter().map(|sample| sample.latency().0 as f64).collect()
}
