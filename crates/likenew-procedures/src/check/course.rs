//! What is done in a check, in order: what is cheap and safe first. Whether a step is taken depends on the drive and on what came before it, so
//! that a run that goes on takes the same steps.

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::look::{Look, Seen};
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::procedure::{Evidence, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::stamp::Stamp;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};

use super::check_options::CheckOptions;

/// Places of the map, and what is read at each.
pub(super) const PLACES: usize = 24;
pub(super) const PLACE_BYTES: u64 = 8 << 20;
pub(super) const PLACE_TIME: Nanos = Nanos::from_millis(400);
/// So many of the slowest places are read again, and of what was written.
pub(super) const AGAIN: usize = 4;
/// What is read and written in order, and at which depth.
pub(super) const BLOCK: u32 = 512 << 10;
pub(super) const DEPTH: u32 = 4;
/// A small I/O, how many there are, and how long they may take.
pub(super) const SMALL: u32 = 4096;
pub(super) const SMALLS: u64 = 1024;
pub(super) const SMALL_TIME: Nanos = Nanos::from_millis(1500);
const SMALL_SAMPLES: u32 = 4096;
/// Nothing more is begun after this much time, unless it is thorough: what matters most came first, and the last step may take some seconds.
const TIME: Nanos = Nanos::from_secs(46);
/// In which what others do is counted, before anything else is done.
const QUIET_TIME: Nanos = Nanos::from_secs(2);

/// Fewer pieces of old files say nothing.
const OLD_PIECES_LEAST: usize = 3;

/// Names of its workloads.
pub(super) const QUIET: &str = "rest before anything";
pub(super) const PLACE: &str = "place";
pub(super) const PLACE_AGAIN: &str = "place again";
pub(super) const OLD: &str = "old file";
pub(super) const SMALL_READS: &str = "small reads";
pub(super) const NEAR_READS: &str = "small reads near each other";
pub(super) const DEEP_READS: &str = "small reads 32 at a time";
pub(super) const PAUSED_READS: &str = "small reads with pauses";
pub(super) const LOAD: &str = "reads in order for long";
pub(super) const COOL: &str = "rest after reads";
pub(super) const LOAD_RESTED: &str = "reads in order after a rest";
pub(super) const WRITES: &str = "writes in order";
pub(super) const SETTLED: &str = "rest before reading what was written";
pub(super) const FRESH: &str = "what was written";
pub(super) const FRESH_SMALL: &str = "small reads of what was written";
pub(super) const ELSEWHERE: &str = "reads where nothing was written";
pub(super) const SMALL_WRITES: &str = "small writes";
pub(super) const SHIFTED_WRITES: &str = "small writes shifted by";
pub(super) const RESTED: &str = "rest after writes";
pub(super) const RESTED_WRITES: &str = "writes after a rest";
pub(super) const TOLD: &str = "rest after TRIM";
pub(super) const TRIMMED_WRITES: &str = "writes after TRIM";
pub(super) const ZEROS: &str = "zeros";
pub(super) const AFTER_ZEROS: &str = "writes after zeros";
pub(super) const SLOW_WRITES: &str = "writes at half the rate";

/// The course of one plan on one drive.
pub(super) struct Course<'a> {
    pub(super) options: &'a CheckOptions,
    pub(super) evidence: &'a Evidence,
    /// What may be written, if anything.
    pub(super) area: Option<Range<u64>>,
}

impl<'a> Course<'a> {
    pub(super) fn new(options: &'a CheckOptions, evidence: &'a Evidence) -> Self {
        let geometry = &evidence.geometry;
        let area = options.obstacle(evidence).is_none().then(|| {
            let length = options.area_of(evidence);
            // What lies at the end of a drive is written last, so that it is free more often than not.
            let end = geometry.capacity - geometry.capacity % CheckOptions::AREA_STEP;
            if evidence.identity.kind == Kind::Folder { 0..length.min(end) } else { end - length..end }
        });
        Self { options, evidence, area }
    }

    /// The next step.
    pub(super) fn next(&self) -> Step {
        let looks = self.evidence.sights.iter().filter(|sight| sight.look == Look::Facts).count();
        if looks == 0 {
            return Step::Look(Look::Facts);
        }
        // A step is only advised if the state of the drive allows it. Runs of earlier versions have not asked, and go on without.
        let is_asked = self.evidence.sights.iter().any(|sight| sight.look == Look::Outlook);
        if !is_asked && self.evidence.segments.is_empty() {
            return Step::Look(Look::Outlook);
        }
        if !self.options.thorough && self.elapsed() >= TIME {
            return self.last(looks);
        }
        let quiet = || self.once(QUIET, || Workload::rest(QUIET_TIME));
        // Of a folder nothing can be read before something was written into it.
        let first =
            || self.area.as_ref().filter(|_| self.is_folder()).and_then(|area| self.first_writes(area));
        let reads = || self.reads().or_else(|| self.load());
        if let Some(workload) = quiet().or_else(first) {
            return Step::Run(workload);
        }
        if self.looks_for_old_files() {
            return Step::Look(Look::OldFiles);
        }
        if let Some(workload) = reads() {
            return Step::Run(workload);
        }
        if let Some(step) = self.area.clone().and_then(|area| self.writes(&area)) {
            return step;
        }
        self.last(looks)
    }

    /// What does not belong to the diagnosis, and how it is in the end.
    fn last(&self, looks: usize) -> Step {
        let start = self.area.as_ref().map_or(0, |area| area.start);
        let mix = self.options.upgrade.as_ref().and_then(|upgrade| upgrade.mix.as_ref());
        match mix.and_then(|mix| mix.next(start, self.evidence)) {
            Some(workload) => Step::Run(workload),
            None if looks == 1 => Step::Look(Look::Facts),
            None => Step::Enough,
        }
    }

    /// Of a folder, once something was written to hold them against.
    fn looks_for_old_files(&self) -> bool {
        let asked = self.evidence.sights.iter().any(|sight| sight.look == Look::OldFiles);
        self.is_folder() && self.written().is_some() && !asked
    }

    /// How many pieces of old files there are to be read.
    pub(super) fn old_pieces(&self) -> usize {
        let found = self.evidence.sights.iter().find_map(|sight| match &sight.seen {
            Seen::OldFiles(found) => Some(found.ages_s.len()),
            _ => None,
        });
        found.filter(|count| *count >= OLD_PIECES_LEAST).unwrap_or(0)
    }

    /// Time of the drive so far, looks included, as they may wait for it.
    fn elapsed(&self) -> Nanos {
        let ran = self.evidence.segments.iter().map(Segment::elapsed);
        let looked = self.evidence.sights.iter().map(|sight| sight.ended.since(sight.began));
        Nanos(ran.chain(looked).map(|span| span.0).sum())
    }

    pub(super) fn ran(&self, name: &str) -> Option<&'a Segment> {
        self.evidence.segments.iter().find(|segment| segment.workload.name == name)
    }

    /// This workload, unless it was run.
    pub(super) fn once(&self, name: &str, make: impl FnOnce() -> Workload) -> Option<Workload> {
        self.ran(name).is_none().then(|| Workload { name: name.to_owned(), ..make() })
    }

    pub(super) fn is_folder(&self) -> bool {
        self.evidence.identity.kind == Kind::Folder
    }

    /// What is there to be read: of a folder what was written into it, as whole blocks.
    pub(super) fn readable(&self) -> Option<Range<u64>> {
        if self.is_folder() { self.written() } else { Some(0..self.evidence.geometry.capacity) }
    }

    /// What was written in order, as far as it got.
    pub(super) fn written(&self) -> Option<Range<u64>> {
        let area = self.area.as_ref()?;
        let bytes = self.ran(WRITES)?.bytes(Op::Write).min(area.end - area.start);
        let whole = bytes - bytes % u64::from(BLOCK);
        (whole > 0).then(|| area.start..area.start + whole)
    }

    pub(super) fn place(&self, start: u64) -> Range<u64> {
        start..(start + PLACE_BYTES).min(self.evidence.geometry.capacity)
    }

    /// Small I/Os anywhere in a region, of which some are kept one by one.
    pub(super) fn small(&self, op: Op, region: Range<u64>, depth: u32, until: Until) -> Workload {
        let block = SMALL.max(self.evidence.geometry.block);
        let place = Place::Uniform(Region::bytes(region));
        let stream = Stream::closed(Mix::Only(op), block, place, depth, DataClass::Random);
        Workload { samples: SMALL_SAMPLES, ..Workload::new("", until, vec![stream]) }
    }

    /// What is written to be found again.
    pub(super) fn stamped(&self) -> DataClass {
        DataClass::Stamped(Stamp { key: self.evidence.plan.seed, pass: 1 })
    }
}

/// A region read or written once in order, or for a time.
pub(super) fn in_order(op: Op, region: Range<u64>, time: Nanos) -> Workload {
    let bytes = region.end - region.start;
    let block = BLOCK.min(1 << bytes.trailing_zeros().min(31));
    let stream =
        Stream::closed(Mix::Only(op), block, Place::Forward(Region::bytes(region)), DEPTH, DataClass::Random);
    Workload::new("", Until { elapsed: Some(time), ..Until::bytes(bytes) }, vec![stream])
}

/// Starts of places at even distances.
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
