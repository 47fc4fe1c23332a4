//! The contract of one experiment of an X-ray, what it finds, and what it knows: the drive, its own segments, earlier findings,
//! and the writes left.

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::findings::Series;
use likenew_core::io::{DataClass, Op};
use likenew_core::measurement_error::MeasurementError;
use likenew_core::procedure::{Ended, Evidence};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::disturbance::{BackgroundIo, Noise};
use super::property::{Key, Property, Reason, Remedy, State};
use super::wording;

/// What an experiment runs its workloads with, as [`likenew_core::procedure::Steps`] for one part of a procedure.
pub(super) struct ExperimentSteps<'a, 'b> {
    segments: std::slice::Iter<'b, &'a Segment>,
    wanted: Option<Workload>,
}

impl<'a> ExperimentSteps<'a, '_> {
    /// Runs a workload.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub(super) fn run(&mut self, workload: Workload) -> Result<&'a Segment, Ended> {
        self.segments.next().copied().ok_or_else(|| {
            self.wanted.get_or_insert(workload);
            Ended
        })
    }
}

/// One experiment of an X-ray. It has no state: the next step and the findings follow from the context, which
/// may be incomplete or, in a dry run, hold segments without I/Os.
pub(super) trait Experiment: Sync {
    /// Its name, which begins the names of its workloads: one word, or several joined by hyphens.
    fn name(&self) -> &'static str;

    /// The experiment from its first workload to its findings. Properties that are not among them stay as they were.
    fn run(&self, _context: &ExperimentContext<'_>, _steps: &mut ExperimentSteps<'_, '_>) -> Finding {
        unreachable!("an experiment has this, or both `next` and `find`")
    }

    /// The next workload; `None` when the experiment is done or cannot run here. Called after each workload,
    /// so it has to be cheap.
    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        let mut steps = ExperimentSteps { segments: context.segments.iter(), wanted: None };
        self.run(context, &mut steps);
        steps.wanted
    }

    /// Its findings.
    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        self.run(context, &mut ExperimentSteps { segments: context.segments.iter(), wanted: None })
    }
}

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

/// The highest confidence, in 0..1, if something else uses the drive. Chosen: below the 0.9 from which an
/// answer counts as a claim.
const CONFIDENCE_IN_NOISE: f64 = 0.85;

/// The widest interval that still counts then, as a multiple of the number. Chosen: a factor of two or so.
const WIDTH_MAX: f64 = 1.0;

/// The findings of all tests up to now. A property that no test has found is undecided.
#[derive(Default)]
pub(super) struct InferredProperties {
    properties: Vec<Property>,
    noise: Option<Noise>,
    background_io: Option<BackgroundIo>,
}

impl InferredProperties {
    /// Records findings; the newest answer for a property counts.
    pub(super) fn record(&mut self, found: Vec<Property>) {
        for property in found {
            self.properties.retain(|old| old.key != property.key);
            self.properties.push(property);
        }
    }

    /// Records how steady the drive answers.
    pub(super) fn record_noise(&mut self, noise: Noise) {
        self.noise = Some(noise);
    }

    /// How steady the drive answers, if that was measured.
    pub(super) fn noise(&self) -> Option<&Noise> {
        self.noise.as_ref()
    }

    /// Records I/Os of other programs.
    pub(super) fn record_background(&mut self, background_io: BackgroundIo) {
        self.background_io = self.background_io.or(Some(background_io));
    }

    /// I/Os of other programs, as first found.
    pub(super) fn background_io(&self) -> Option<BackgroundIo> {
        self.background_io
    }

    /// The value of a property.
    pub(super) fn property(&self, key: Key) -> Property {
        let found = self.properties.iter().find(|property| property.key == key);
        found.cloned().unwrap_or_else(|| Property::undecided(key, wording::not_tested()))
    }

    /// The word of a property, if it has one.
    pub(super) fn word(&self, key: Key) -> Option<&'static str> {
        self.properties.iter().find(|property| property.key == key).and_then(|property| {
            match property.state {
                State::Word(word) => Some(word),
                _ => None,
            }
        })
    }

    /// Whether the drive is known to map whole blocks, and how large they are.
    pub(super) fn is_block_map(&self) -> bool {
        matches!(self.word(Key::Mapping), Some("hybrid" | "block"))
            && self.number(Key::EraseUnitBytes).is_some()
    }

    /// The number of a property, if it has one.
    pub(super) fn number(&self, key: Key) -> Option<f64> {
        self.properties.iter().find(|property| property.key == key).and_then(Property::value)
    }

    /// Whether the medium is this one: `disk`, `shingled_disk`, `flash` or `virtual`.
    pub(super) fn is(&self, medium: &str) -> bool {
        self.word(Key::Medium) == Some(medium)
    }
}

/// The same while something else uses the drive: with lower confidence and twice the interval, or unknown
/// if that allows nearly everything.
pub(super) fn in_noise(mut property: Property) -> Property {
    if property.state == State::Undecided {
        return property;
    }
    property.confidence = property.confidence.min(CONFIDENCE_IN_NOISE);
    if let State::Number { value, low, high } = property.state {
        let (low, high) = ((2.0 * low - value).max(0.0), 2.0 * high - value);
        property.state = match high - low > WIDTH_MAX * value {
            true => State::Undecided,
            false => State::Number { value, low, high },
        };
    }
    if property.state == State::Undecided {
        property.reason = property.reason.how(wording::UNSTEADY).decided_by(Remedy::Quiet);
    }
    property.caveat(wording::measured_in_noise())
}

/// Charts by name.
pub(super) type Pictures = Vec<(&'static str, Series)>;

/// The findings of a test: properties, and the signature as charts.
#[derive(Default)]
pub(super) struct Finding {
    pub(super) properties: Vec<Property>,
    /// By name.
    pub(super) pictures: Pictures,
    /// How steady the drive answers, if this test measured it.
    pub(super) noise: Option<Noise>,
}

impl Finding {
    /// The same after I/Os of the test failed: its properties are unknown.
    pub(super) fn with_error(self, error: &MeasurementError) -> Self {
        let undecided = |property: Property| Property::undecided(property.key, wording::failed_io(error));
        Self { properties: self.properties.into_iter().map(undecided).collect(), ..Self::default() }
    }

    /// One property and its signature.
    pub(super) fn single(property: Property, picture: Option<(&'static str, Series)>) -> Self {
        Self { properties: vec![property], pictures: picture.into_iter().collect(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::property::Reason;
    use super::*;

    #[test]
    fn what_is_measured_beside_others_is_believed_less() {
        let number = |key, value, interval| Property::number(key, value, interval, 0.97, Reason::default());
        let doubted = in_noise(number(Key::MapPageBytes, 4096.0, (4000.0, 4200.0)));
        assert_eq!(doubted.state, State::Number { value: 4096.0, low: 3904.0, high: 4304.0 });
        assert_eq!((doubted.confidence, doubted.caveats.len()), (CONFIDENCE_IN_NOISE, 1));
        let vague = in_noise(number(Key::SlcSpeedAfterBytesPerS, 3e7, (2e7, 5e7)));
        assert_eq!((vague.state, vague.reason.remedy), (State::Undecided, Some(Remedy::Quiet)));
        let unknown = Property::undecided(Key::Trim, Reason::default());
        assert_eq!(in_noise(unknown.clone()), unknown);
    }
}
