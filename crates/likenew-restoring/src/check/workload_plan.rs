//! The steps of a check: cheap and safe ones first. Whether a step runs depends on the drive and on earlier
//! results, so a resumed run takes the same steps.

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Evidence, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::stamp::Stamp;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::check_options::{CheckOptions, ReferenceOption};
use super::wording::workload_names::{CONTINUED_WRITES, QUIET, SMALL_WRITES, WRITES};

/// Regions of the map.
pub(super) const PLACES: usize = 24;
pub(super) const PLACE_BYTES: u64 = 8 << 20;
/// Time limit of one region. Chosen: 24 of them take 10 s, and a drive is at full speed after a tenth of it.
pub(super) const PLACE_TIME: Nanos = Nanos::from_millis(400);
/// How many of the slowest regions are read again, and as many of what was written.
pub(super) const REPEATS: usize = 4;
/// Block and queue depth of sequential I/O.
pub(super) const BLOCK: u32 = 512 << 10;
pub(super) const DEPTH: u32 = 4;
/// Small I/Os: bytes and number.
pub(super) const SMALL: u32 = 4096;
pub(super) const SMALLS: u64 = 1024;
/// Their time limit. Chosen: slow drives finish some hundreds of them.
pub(super) const SMALL_TIME: Nanos = Nanos::from_millis(1500);
const SMALL_SAMPLES: u32 = 4096;
/// Time after which no step starts, unless the check is thorough. Chosen: a minute with the last step, which
/// may take some seconds; the most important steps come first.
const TIME: Nanos = Nanos::from_secs(46);
/// The same for what decides where no reference does. Chosen: half a minute more, for drives that are slow.
const TIME_DECIDING: Nanos = Nanos::from_secs(75);
/// Idle time before everything else, in which I/O of other programs is counted. Chosen: two seconds show
/// regular I/O.
const QUIET_TIME: Nanos = Nanos::from_secs(2);

/// Fewer pieces of old files show nothing.
const OLD_PIECES_LEAST: usize = 3;

/// The plan of one run on one drive.
pub(super) struct WorkloadPlan<'a> {
    pub(super) options: &'a CheckOptions,
    pub(super) evidence: &'a Evidence,
    /// The region that may be written, if any.
    pub(super) area: Option<Range<u64>>,
    /// Whether sequential writes continue until they show how fast sustained writes are.
    pub(super) continues_writes: bool,
}

impl<'a> WorkloadPlan<'a> {
    pub(super) fn new(options: &'a CheckOptions, evidence: &'a Evidence) -> Self {
        let geometry = &evidence.geometry;
        let area = options.obstacle(evidence).is_none().then(|| {
            let length = options.area_of(evidence);
            // The end of a drive is written last, so it is free more often than not.
            let end = geometry.capacity - geometry.capacity % CheckOptions::AREA_STEP;
            if evidence.identity.kind == Kind::Folder { 0..length.min(end) } else { end - length..end }
        });
        Self { options, evidence, area, continues_writes: false }
    }

    /// The next step.
    pub(super) fn next(&self) -> Step {
        let looks =
            self.evidence.observations.iter().filter(|observation| observation.probe == Probe::Facts).count();
        if looks == 0 {
            return Step::Probe(Probe::Facts);
        }
        // A step is advised only if the state of the drive allows it. Runs of earlier versions have no such
        // probe and continue without it.
        let is_asked =
            self.evidence.observations.iter().any(|observation| observation.probe == Probe::Feasibility);
        if !is_asked && self.evidence.segments.is_empty() {
            return Step::Probe(Probe::Feasibility);
        }
        if let Some(workload) = self.area.as_ref().and_then(|area| self.continued_writes(area)) {
            return Step::Run(workload);
        }
        if !self.has_time() {
            let decides = self.lacks_write_reference() && self.elapsed() < TIME_DECIDING;
            let again = self.area.as_ref().filter(|_| decides && self.segment(SMALL_WRITES).is_some());
            return again.and_then(|area| self.writes_again(area)).unwrap_or_else(|| self.last(looks));
        }
        let quiet = || self.unless_run(QUIET, || Workload::rest(QUIET_TIME));
        // In a folder nothing can be read before something was written.
        let first =
            || self.area.as_ref().filter(|_| self.is_folder()).and_then(|area| self.first_writes(area));
        let reads = || self.reads().or_else(|| self.load());
        if let Some(workload) = quiet().or_else(first) {
            return Step::Run(workload);
        }
        if self.looks_for_old_files() {
            return Step::Probe(Probe::OldFiles);
        }
        if let Some(workload) = reads() {
            return Step::Run(workload);
        }
        if let Some(step) = self.area.clone().and_then(|area| self.writes(&area)) {
            return step;
        }
        self.last(looks)
    }

    /// Whether another step may start.
    pub(super) fn has_time(&self) -> bool {
        self.options.thorough || self.elapsed() < TIME
    }

    /// Whether nothing says how fast writes should be, so that they are compared with themselves. A simulated drive is compared with a
    /// new one, which itself has no reference.
    pub(super) fn lacks_write_reference(&self) -> bool {
        let is_real = self.evidence.identity.kind != Kind::Simulated;
        let is_write = |of: &ReferenceOption| of.metric.op() == Op::Write;
        is_real && !self.options.references.iter().any(is_write)
    }

    /// Last steps, outside of the diagnosis.
    fn last(&self, looks: usize) -> Step {
        let start = self.area.as_ref().map_or(0, |area| area.start);
        let mix = self.options.upgrade.as_ref().and_then(|upgrade| upgrade.mix.as_ref());
        match mix.and_then(|mix| mix.next(start, self.evidence)) {
            Some(workload) => Step::Run(workload),
            None if looks == 1 => Step::Probe(Probe::Facts),
            None => Step::Done,
        }
    }

    /// In a folder, once there is new data to compare old files with.
    fn looks_for_old_files(&self) -> bool {
        let asked = self.evidence.observations.iter().any(|observation| observation.probe == Probe::OldFiles);
        self.is_folder() && self.written_range().is_some() && !asked
    }

    /// Number of pieces of old files to read.
    pub(super) fn old_pieces(&self) -> usize {
        let found = self.evidence.observations.iter().find_map(|observation| match &observation.result {
            ProbeResult::OldFiles(found) => Some(found.ages_s.len()),
            _ => None,
        });
        found.filter(|count| *count >= OLD_PIECES_LEAST).unwrap_or(0)
    }

    /// Time of the drive until now, probes included, because they may wait for it. Writes that continue take none from what follows.
    fn elapsed(&self) -> Nanos {
        let is_of_plan = |segment: &&Segment| !segment.workload.name.starts_with(CONTINUED_WRITES);
        let ran = self.evidence.segments.iter().filter(is_of_plan).map(Segment::elapsed);
        let looked = self
            .evidence
            .observations
            .iter()
            .map(|observation| observation.ended_at.since(observation.started_at));
        Nanos(ran.chain(looked).map(|span| span.0).sum())
    }

    pub(super) fn segment(&self, name: &str) -> Option<&'a Segment> {
        self.evidence.segment_named(name)
    }

    /// This workload, unless it has run.
    pub(super) fn unless_run(&self, name: &str, make: impl FnOnce() -> Workload) -> Option<Workload> {
        self.segment(name).is_none().then(|| Workload { name: name.to_owned(), ..make() })
    }

    pub(super) fn is_folder(&self) -> bool {
        self.evidence.identity.kind == Kind::Folder
    }

    /// The region that can be read; in a folder what was written, in whole blocks.
    pub(super) fn readable(&self) -> Option<Range<u64>> {
        if self.is_folder() { self.written_range() } else { Some(0..self.evidence.geometry.capacity) }
    }

    /// What was written sequentially.
    pub(super) fn written_range(&self) -> Option<Range<u64>> {
        let area = self.area.as_ref()?;
        let bytes = self.segment(WRITES)?.bytes(Op::Write).min(area.end - area.start);
        let whole = bytes - bytes % u64::from(BLOCK);
        (whole > 0).then(|| area.start..area.start + whole)
    }

    pub(super) fn place(&self, start: u64) -> Range<u64> {
        start..(start + PLACE_BYTES).min(self.evidence.geometry.capacity)
    }

    /// Random small I/Os in a region; some are kept as samples.
    pub(super) fn small(&self, op: Op, region: Range<u64>, depth: u32, until: Until) -> Workload {
        let block = SMALL.max(self.evidence.geometry.block);
        let place = AccessPattern::Random(Region::bytes(region));
        let stream = Stream::closed(Mix::Only(op), block, place, depth, DataClass::Random);
        Workload { samples: SMALL_SAMPLES, ..Workload::new("", until, vec![stream]) }
    }

    /// Content that can be identified when read back.
    pub(super) fn stamp_class(&self) -> DataClass {
        DataClass::Stamped(Stamp { key: self.evidence.plan.seed, pass: 1 })
    }
}

/// Reads or writes a region once sequentially, or for a time.
pub(super) fn in_order(op: Op, region: Range<u64>, time: Nanos) -> Workload {
    let bytes = region.end - region.start;
    let block = BLOCK.min(1 << bytes.trailing_zeros().min(31));
    let stream = Stream::closed(
        Mix::Only(op),
        block,
        AccessPattern::Sequential(Region::bytes(region)),
        DEPTH,
        DataClass::Random,
    );
    Workload::new("", Until { elapsed: Some(time), ..Until::bytes(bytes) }, vec![stream])
}

/// Starts of evenly spaced regions.
pub(super) fn places_of(region: &Range<u64>, block: u32) -> Vec<u64> {
    let last = (region.end - region.start).saturating_sub(PLACE_BYTES);
    let grain = u64::from(BLOCK.max(block));
    (0..PLACES)
        .map(|index| {
            let offset = (last as f64 * index as f64 / (PLACES - 1) as f64) as u64;
            region.start + offset - offset % grain
        })
        .collect()
}

/// Small writes are shifted by multiples of a sector, in bytes, up to a small I/O.
const SECTOR: u64 = 512;

/// Shifts of small writes in bytes for a drive with this block; 0 is where they should be fastest.
pub(super) fn shifts(block: u32) -> impl Iterator<Item = u64> {
    let can = u64::from(block) <= SECTOR;
    (0..u64::from(SMALL)).step_by(SECTOR as usize).filter(move |_| can)
}
