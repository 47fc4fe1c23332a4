//! The contract of an experiment of an X-ray: what it finds, and what it knows (the drive, its own segments,
//! earlier findings, and the writes left). To add an experiment, begin here.

use std::ops::Range;

use likenew_core::drive::TargetKind;
use likenew_core::findings::Series;
use likenew_core::io::{DataClass, Op};
use likenew_core::measurement_error::MeasurementError;
use likenew_core::procedure::{Ended, Evidence};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Arrival, InterArrival, Mix, Stream, Until, Workload};

use super::disturbance::{BackgroundIo, Noise};
use super::property::{Key, Property, Reason, Remedy, State};
use super::wording;

/// Runs the workloads of one experiment, as [`likenew_core::procedure::Steps`] does for a procedure.
///
/// Experiments may take turns: some continue after others have written more. So a decision sees the run as it
/// was before the step that it leads to, which may be long ago.
pub(super) struct Steps<'a> {
    evidence: &'a Evidence,
    /// Most bytes that all experiments may write.
    budget: u64,
    /// Indices of the segments that this experiment has not followed yet.
    own: std::vec::IntoIter<usize>,
    ends_at_errors: bool,
    has_failed: bool,
    /// Whether only the next step is asked for.
    is_planning: bool,
    pub(super) wanted: Option<Workload>,
}

impl<'a> Steps<'a> {
    fn new(evidence: &'a Evidence, budget: u64, own: Vec<usize>, is_planning: bool) -> Self {
        let own = own.into_iter();
        Self { evidence, budget, own, ends_at_errors: false, has_failed: false, is_planning, wanted: None }
    }

    /// Runs a workload.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub(super) fn run(&mut self, workload: Workload) -> Result<&'a Segment, Ended> {
        if self.has_failed && self.ends_at_errors {
            return Err(Ended);
        }
        let Some(index) = self.own.next() else {
            self.wanted.get_or_insert(workload);
            return Err(Ended);
        };
        let segment = &self.evidence.segments[index];
        self.has_failed |= segment.errors() > 0;
        Ok(segment)
    }

    /// Ends the experiment at the first workload whose I/Os fail.
    pub(super) fn end_at_errors(&mut self) {
        self.ends_at_errors = true;
    }

    /// Leaves the drive idle.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub(super) fn rest(&mut self, name: impl Into<String>, time: Nanos) -> Result<&'a Segment, Ended> {
        self.run(Workload { name: name.into(), ..Workload::rest(time) })
    }

    /// Whether a series of workloads, whose names begin with `series`, continues. A past step shows that by
    /// its name. Only for a new one `decide` is called, which may take long.
    pub(super) fn goes_on(&self, series: &str, decide: impl FnOnce() -> bool) -> bool {
        match self.own.as_slice().first() {
            Some(index) => own_name(&self.evidence.segments[*index]).starts_with(series),
            None => decide(),
        }
    }

    /// The finding, which may take long; empty if only the next workload is asked for, and there is one.
    pub(super) fn conclude(&self, finding: impl FnOnce() -> Finding) -> Finding {
        if self.is_planning && self.wanted.is_some() { Finding::default() } else { finding() }
    }

    /// All that was done before the next step was due.
    pub(super) fn before(&self) -> &'a [Segment] {
        let segments = &self.evidence.segments;
        &segments[..self.own.as_slice().first().copied().unwrap_or(segments.len())]
    }

    /// Bytes that may be written from the next step on.
    pub(super) fn remaining(&self) -> u64 {
        self.budget.saturating_sub(self.before().iter().map(bytes_written).sum())
    }

    /// Whether the budget allows this many more bytes of writes.
    pub(super) fn may_write(&self, bytes: u64) -> bool {
        self.evidence.geometry.writable && bytes <= self.remaining()
    }
}

/// One experiment of an X-ray. It has no state: the next step and the findings follow from the context, which
/// may be incomplete or, in a dry run, hold segments without I/Os.
pub(super) struct Experiment {
    /// Its name, which begins the names of its workloads: one word, or several joined by hyphens.
    pub(super) name: &'static str,
    /// The properties that it is made for; none if it only prepares the drive for others.
    pub(super) keys: &'static [Key],
    /// The experiment from its first workload to its findings. Properties that are not among them stay as they
    /// were. Fails with why it cannot be done here, which leaves all of its properties unknown.
    pub(super) run: for<'a> fn(&Context<'a>, &mut Steps<'a>) -> Result<Finding, Reason>,
}

impl Experiment {
    /// What it finds where it cannot be done.
    pub(super) fn refused(&self, reason: Reason) -> Finding {
        let properties = self.keys.iter().map(|key| Property::undecided(*key, reason.clone()));
        Finding::of(properties.collect::<Vec<_>>())
    }
}

/// Bytes of one trim; the span is a multiple of it.
const TRIM_BLOCK: u32 = 16 << 20;
/// Bytes of a simulated drive whose fill takes about a minute of this computer's time; more takes several.
const SIMULATED_MAX: u64 = 96 << 30;

/// What a test knows.
pub(super) struct Context<'a> {
    pub(super) evidence: &'a Evidence,
    /// Bytes of address space under test, from 0.
    pub(super) span: u64,
    /// Most bytes to write, those already written included.
    budget: u64,
    /// Whether only the next step is asked for.
    is_planning: bool,
    /// Segments of this test, in the order they ran.
    pub(super) segments: Vec<&'a Segment>,
    /// Whether this test was asked for by name.
    pub(super) is_named: bool,
    /// The properties that the tests before it found; all others are undecided.
    properties: Vec<Property>,
    /// I/Os of other programs, as first found.
    pub(super) background_io: Option<BackgroundIo>,
    /// What else those tests found.
    pub(super) shared: Shared,
}

impl<'a> Context<'a> {
    pub(super) fn new(evidence: &'a Evidence, span: u64, budget: u64, is_planning: bool) -> Self {
        Self {
            evidence,
            span,
            budget,
            is_planning,
            segments: Vec::new(),
            is_named: false,
            properties: Vec::new(),
            background_io: None,
            shared: Shared::default(),
        }
    }

    /// Turns to the next test; returns the steps that run its workloads.
    pub(super) fn begin(&mut self, test: &str, is_named: bool) -> Steps<'a> {
        let evidence = self.evidence;
        let own = (0..evidence.segments.len()).filter(|index| is_of(test, &evidence.segments[*index]));
        let own: Vec<usize> = own.collect();
        self.segments = own.iter().map(|index| &evidence.segments[*index]).collect();
        self.is_named = is_named;
        Steps::new(evidence, self.budget, own, self.is_planning)
    }

    /// Records the findings of a test and the bytes that it wrote for them. Returns the charts.
    pub(super) fn record(&mut self, finding: Finding) -> Pictures {
        let failed = self.segments.iter().find_map(|segment| segment.measurement_error());
        let Finding { mut properties, pictures, shared } = match failed {
            Some(error) => finding.with_error(&error),
            None => finding,
        };
        let spent: u64 = self.segments.iter().map(|segment| bytes_written(segment)).sum();
        properties.iter_mut().for_each(|property| property.bytes_written = spent);
        self.shared.add(shared);
        let background_io = BackgroundIo::in_segment(self.segments.iter().copied());
        if background_io.disturb() {
            self.background_io.get_or_insert(background_io);
        }
        let is_busy = self.is_busy();
        for property in properties {
            // The newest answer for a property counts.
            self.properties.retain(|old| old.key != property.key);
            self.properties.push(if is_busy { in_noise(property) } else { property });
        }
        pictures
    }

    /// Whether something other than the drive affects the latencies of this test.
    pub(super) fn is_busy(&self) -> bool {
        self.shared.noise.is_some_and(|noise| noise.is_busy())
            || BackgroundIo::in_segment(self.segments.iter().copied()).disturb()
    }

    /// Whether other programs use the drive; their writes would take part of whatever is filled.
    pub(super) fn has_others(&self) -> bool {
        self.background_io.is_some() || BackgroundIo::in_segment(self.segments.iter().copied()).disturb()
    }

    /// The smallest unit of address, in bytes.
    pub(super) fn block(&self) -> u32 {
        self.evidence.geometry.block
    }

    /// Bytes that may be written after all that was done.
    pub(super) fn remaining(&self) -> u64 {
        self.budget.saturating_sub(self.evidence.segments.iter().map(bytes_written).sum())
    }

    /// Whether a test that has not begun may write this many bytes.
    fn may_begin(&self, bytes: u64) -> bool {
        !self.segments.is_empty() || self.could_write(bytes)
    }

    fn could_write(&self, bytes: u64) -> bool {
        self.evidence.geometry.writable && bytes <= self.remaining()
    }

    /// Whether the span is the whole drive, so that filling it fills the drive.
    pub(super) fn is_whole(&self) -> bool {
        let kind = self.evidence.identity.kind;
        let capacity = self.evidence.geometry.capacity;
        matches!(kind, TargetKind::Device | TargetKind::Simulated) && capacity - self.span < capacity / 100
    }

    /// Whether trimmed data is forgotten, as far as that is known.
    pub(super) fn loses_writes(&self) -> bool {
        self.evidence.geometry.trims && self.word(Key::Trim) != Some("ignored")
    }

    /// Trims the whole span.
    pub(super) fn trim(&self, name: &str) -> Workload {
        let trims = sequential(Op::Trim, 0..self.span, TRIM_BLOCK, 1);
        Workload::new(name, Until::bytes(self.span), vec![trims])
    }

    /// Whether a test that writes `bytes` to flash can be done.
    ///
    /// # Errors
    /// Why it cannot.
    pub(super) fn expect_flash(&self, bytes: u64) -> Result<(), Reason> {
        match self.word(Key::Medium) {
            Some("flash") => self.expect_room(bytes),
            Some(_) => Err(wording::only_flash()),
            None => Err(wording::medium_unknown()),
        }
    }

    /// Whether a test that writes `bytes` can be done.
    ///
    /// # Errors
    /// Why it cannot.
    pub(super) fn expect_room(&self, bytes: u64) -> Result<(), Reason> {
        if self.may_begin(bytes) { Ok(()) } else { Err(self.write_refusal(bytes)) }
    }

    /// Whether the files of a folder are at least this long.
    ///
    /// # Errors
    /// That they are not.
    pub(super) fn expect_long_files(&self, bytes: u64) -> Result<(), Reason> {
        let Evidence { identity, geometry, .. } = self.evidence;
        let is_short = geometry.boundary.is_some_and(|boundary| boundary < bytes);
        let is_refused = identity.kind == TargetKind::Folder && is_short;
        if is_refused { Err(wording::short_files()) } else { Ok(()) }
    }

    /// Why this many bytes cannot be written here.
    fn write_refusal(&self, bytes: u64) -> Reason {
        if self.evidence.geometry.writable {
            wording::too_few_writes(bytes, self.remaining())
        } else {
            wording::read_only()
        }
    }

    /// Whether the whole drive can be filled.
    ///
    /// # Errors
    /// Why it cannot.
    pub(super) fn expect_fill(&self) -> Result<(), Reason> {
        let can_fill = self.is_whole() && !self.fills_too_long() && self.may_begin(self.span);
        if can_fill { Ok(()) } else { Err(self.fill_refusal()) }
    }

    fn fills_too_long(&self) -> bool {
        self.evidence.identity.kind == TargetKind::Simulated && self.span > SIMULATED_MAX
    }

    /// Why what needs a full drive was not measured.
    pub(super) fn fill_refusal(&self) -> Reason {
        if !self.is_whole() {
            match self.evidence.identity.kind {
                TargetKind::Device | TargetKind::Simulated => wording::part_of_drive(),
                TargetKind::Folder | TargetKind::File | TargetKind::Nop => wording::no_drive(),
            }
        } else if self.fills_too_long() {
            wording::fill_too_long()
        } else if self.could_write(self.span) {
            wording::fill_missing()
        } else {
            self.write_refusal(self.span).how(wording::NEEDS_FILL)
        }
    }

    /// The value of a property.
    pub(super) fn property(&self, key: Key) -> Property {
        self.found(key).cloned().unwrap_or_else(|| Property::undecided(key, wording::not_tested()))
    }

    fn found(&self, key: Key) -> Option<&Property> {
        self.properties.iter().find(|property| property.key == key)
    }

    /// The word of a property, if it has one.
    pub(super) fn word(&self, key: Key) -> Option<&'static str> {
        self.found(key).and_then(Property::text)
    }

    /// Whether the drive is known to map whole blocks, and how large they are.
    pub(super) fn is_block_map(&self) -> bool {
        matches!(self.word(Key::Mapping), Some("hybrid" | "block"))
            && self.number(Key::EraseUnitBytes).is_some()
    }

    /// The number of a property, if it has one.
    pub(super) fn number(&self, key: Key) -> Option<f64> {
        self.found(key).and_then(Property::value)
    }

    /// Whether the experiment has filled an empty drive, as far as that can be told.
    pub(super) fn is_filled_whole(&self) -> bool {
        self.shared.fill.is_some_and(|fill| fill.is_whole)
    }

    /// What looked like a cache in the fill.
    pub(super) fn cliff(&self) -> Option<Cliff> {
        self.shared.fill?.cliff
    }

    /// The pseudo-SLC cache that the fill found, if any.
    pub(super) fn slc_cache(&self) -> Option<Cliff> {
        self.cliff().filter(|_| self.number(Key::SlcCacheBytes).is_some())
    }

    /// How much equal rounds of reads differ, as a share; 0 if that was not measured.
    pub(super) fn spread(&self) -> f64 {
        self.shared.noise.map_or(0.0, |noise| noise.spread)
    }

    /// Whether the medium is not known to be another one.
    pub(super) fn may_be(&self, medium: &str) -> bool {
        self.word(Key::Medium).is_none_or(|known| known == medium)
    }

    /// Whether the medium is this one: `disk`, `shingled_disk`, `flash` or `virtual`.
    pub(super) fn is(&self, medium: &str) -> bool {
        self.word(Key::Medium) == Some(medium)
    }
}

/// Whether a segment belongs to a test.
pub(super) fn is_of(test: &str, segment: &Segment) -> bool {
    segment.workload.name.strip_prefix(test).is_some_and(|suffix| suffix.starts_with(": "))
}

/// The name without the test's prefix.
fn own_name(segment: &Segment) -> &str {
    segment.workload.name.split_once(": ").map_or("", |(_, name)| name)
}

/// Bytes that a segment wrote.
pub(super) fn bytes_written(segment: &Segment) -> u64 {
    segment.bytes(Op::Write)
}

/// I/Os of `block` bytes at random within `range` at queue depth `depth`, with random data.
pub(super) fn random(op: Op, range: Range<u64>, block: u32, depth: u32) -> Stream {
    let place = AccessPattern::Random(Region::bytes(range));
    Stream::closed(Mix::Only(op), block, place, depth, DataClass::Random)
}

/// I/Os of `block` bytes one after the other within `range` at queue depth `depth`, with random data.
pub(super) fn sequential(op: Op, range: Range<u64>, block: u32, depth: u32) -> Stream {
    let place = AccessPattern::Sequential(Region::bytes(range));
    Stream::closed(Mix::Only(op), block, place, depth, DataClass::Random)
}

/// Random reads of `block` bytes within `range` at queue depth `depth`.
pub(super) fn random_reads(range: Range<u64>, block: u32, depth: u32) -> Stream {
    random(Op::Read, range, block, depth)
}

/// The same I/Os, due at equal distances instead.
pub(super) fn paced(stream: Stream, per_second: f64, depth_max: u32) -> Stream {
    let arrival = Arrival::Open { per_second, inter_arrival: InterArrival::Even, depth_max };
    Stream { arrival, ..stream }
}

/// A single flush. No block of this many bytes is moved.
pub(super) fn flush(block: u32) -> Workload {
    let place = AccessPattern::Sequential(Region::WHOLE);
    let flush = Stream::closed(Mix::Only(Op::Flush), block, place, 1, DataClass::Random);
    Workload::new("flush", Until::ops(1), vec![flush])
}

/// A workload of `ios` I/Os, all of them kept as samples; fewer if they would take longer than `most`.
pub(super) fn sampled(
    name: impl Into<String>,
    streams: Vec<Stream>,
    ios: u32,
    most: Option<Nanos>,
) -> Workload {
    let until = Until { elapsed: most, ..Until::ops(ios.into()) };
    Workload { samples: ios, ..Workload::new(name, until, streams) }
}

/// Writes addresses once sequentially, with random data.
pub(super) fn sequential_writes(
    name: impl Into<String>,
    range: Range<u64>,
    block: u32,
    depth: u32,
) -> Workload {
    let bytes = range.end - range.start;
    Workload::new(name, Until::bytes(bytes), vec![sequential(Op::Write, range, block, depth)])
}

/// Latencies of the sampled I/Os, in nanoseconds, by completion.
pub(super) fn latencies(segment: &Segment) -> Vec<f64> {
    segment.samples.iter().map(|sample| sample.latency().0 as f64).collect()
}

/// The highest confidence, in 0..1, if something else uses the drive. Chosen: below the 0.9 from which an
/// answer counts as a claim.
const CONFIDENCE_IN_NOISE: f64 = 0.85;

/// Widest interval that still counts in noise, as a multiple of the number. Chosen: a factor of two or so.
const WIDTH_MAX: f64 = 1.0;

/// A property found while something else used the drive: with lower confidence and twice the interval, or
/// unknown if that allows nearly everything.
pub(super) fn in_noise(mut property: Property) -> Property {
    if property.state == State::Undecided {
        return property;
    }
    property.confidence = property.confidence.min(CONFIDENCE_IN_NOISE);
    if let State::Number { value, low, high } = property.state {
        let (low, high) = ((2.0 * low - value).max(0.0), 2.0 * high - value);
        property.state = if high - low > WIDTH_MAX * value {
            State::Undecided
        } else {
            State::Number { value, low, high }
        };
    }
    if property.state == State::Undecided {
        property.reason = property.reason.how(wording::UNSTEADY).decided_by(Remedy::Quiet);
    }
    property.caveat(wording::MEASURED_IN_NOISE)
}

/// Charts by name.
pub(super) type Pictures = Vec<(&'static str, Series)>;

/// The findings of a test: properties, and the signature as charts.
#[derive(Default)]
pub(super) struct Finding {
    pub(super) properties: Vec<Property>,
    /// Charts by name.
    pub(super) pictures: Pictures,
    pub(super) shared: Shared,
}

/// What a test found out that others use, besides properties.
#[derive(Default)]
pub(super) struct Shared {
    /// How steadily the drive answers.
    pub(super) noise: Option<Noise>,
    /// Reads of the test of parallelism.
    pub(super) deep_reads: Option<DeepReads>,
    /// Addresses among which clusters of a block map hold data.
    pub(super) clusters: Option<Range<u64>>,
    /// The first fill.
    pub(super) fill: Option<FirstFill>,
}

/// Reads of two readers and of a deep queue.
#[derive(Clone, Copy)]
pub(super) struct DeepReads {
    /// Whether all reads waited for the reader that stays on one page.
    pub(super) wait_everywhere: bool,
    /// IOPS at QD32.
    pub(super) iops: Option<f64>,
}

/// What filling an empty drive showed that other tests use.
#[derive(Clone, Copy)]
pub(super) struct FirstFill {
    /// Whether the fill came to its end.
    pub(super) is_whole: bool,
    /// What looked like a cache, even if it is not claimed to be one.
    pub(super) cliff: Option<Cliff>,
    /// Nanoseconds per byte of the fill's last part; 0 if there is none.
    pub(super) last_cost: f64,
}

/// A lasting drop of the speed of a fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cliff {
    /// Bytes before it.
    pub(super) bytes: f64,
    /// Uncertainty of those bytes, to either side.
    pub(super) error: f64,
    /// Nanoseconds per byte before and after it.
    pub(super) before: f64,
    pub(super) after: f64,
    /// Bytes seen after it.
    pub(super) seen_after: f64,
    /// Bytes of the whole fill.
    pub(super) fill: f64,
}

impl Shared {
    fn add(&mut self, new: Self) {
        let Self { noise, deep_reads, clusters, fill } = new;
        self.noise = noise.or(self.noise);
        self.deep_reads = deep_reads.or(self.deep_reads);
        self.clusters = clusters.or(self.clusters.take());
        self.fill = fill.or(self.fill.take());
    }
}

impl Finding {
    /// The finding after I/Os of the test failed: its properties are unknown.
    pub(super) fn with_error(self, error: &MeasurementError) -> Self {
        let undecided = |property: Property| Property::undecided(property.key, wording::failed_io(error));
        let shared = Shared { noise: None, ..self.shared };
        Self { properties: self.properties.into_iter().map(undecided).collect(), shared, ..Self::default() }
    }

    /// Properties without a signature.
    pub(super) fn of(properties: impl Into<Vec<Property>>) -> Self {
        Self { properties: properties.into(), ..Self::default() }
    }

    /// One property and its signature.
    pub(super) fn single(property: Property, picture: (&'static str, Series)) -> Self {
        Self { pictures: vec![picture], ..Self::of([property]) }
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
