//! The translation layer of a drive-managed shingled disk: where the newest copy of each sector is.
//!
//! Shingled tracks overlap, so a sector inside a band cannot be rewritten without rewriting the rest of the
//! band. A write that fills a whole band goes to the band's home at once. Everything else is appended to the
//! persistent cache, a log on the outer tracks. Cleaning brings this data home one band at a time, the band
//! of the oldest record first: read the band, read and merge its newer data from the log, write the band.
//! Aghayev and Desnoyers describe such disks in "Skylight: a window on shingled disk operation", FAST 2015;
//! the order of cleaning is assumed. This module knows no time.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use likenew_core::units::Nanos;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::arm::Access;

/// How the tracks of a shingled disk overlap, and how its firmware copes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShingleParameters {
    /// Sectors of the persistent cache, which lies at the outer edge before the first band.
    pub log_sectors: u64,
    /// Sectors per band.
    pub band_sectors: u64,
    /// Entries in the persistent cache's mapping table.
    pub map_entries: u32,
    /// The most sectors that one append writes to the log.
    pub append_sectors_max: u64,
    /// Sectors of the header that describes each append.
    pub header_sectors: u64,
    /// How long partial bands wait in memory after the last write, unless memory runs short.
    pub gather: Nanos,
    /// Idle time after which the disk cleans.
    pub idle_after: Nanos,
}

impl ShingleParameters {
    /// Physical sectors of a disk with this many addressable ones: the persistent cache, and whole bands.
    pub fn sectors_for(&self, addressed: u64) -> u64 {
        self.log_sectors + addressed.div_ceil(self.band_sectors) * self.band_sectors
    }

    /// Checks that such a disk can work.
    ///
    /// # Errors
    /// The parameters contradict each other.
    pub fn check(&self, sector_bytes: u32, write_cache: u64, extents: u32) -> Result<(), LayoutError> {
        let bytes = |sectors: u64| sectors * u64::from(sector_bytes);
        let band = bytes(self.band_sectors);
        if self.append_sectors_max > self.band_sectors {
            return Err(LayoutError::LongAppends { band });
        }
        let appended = self.header_sectors + self.append_sectors_max;
        if self.log_sectors < 2 * appended {
            return Err(LayoutError::SmallMediaCache { append: bytes(appended) });
        }
        if write_cache < 2 * band {
            return Err(LayoutError::SmallWriteCache { write_cache, band });
        }
        if self.map_entries / 4 < extents {
            return Err(LayoutError::SmallMap { entries: self.map_entries, extents });
        }
        Ok(())
    }
}

/// A step of cleaning: one read or one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) physical: Range<u64>,
    pub(super) access: Access,
}

/// A band that is being cleaned.
struct Cleaning {
    band: u64,
    /// The first record that came after the reads were planned; its data stays in the log.
    record: u64,
    /// Reads that remain, in reverse order.
    reads: Vec<Range<u64>>,
}

/// The translation layer.
pub(crate) struct Shingles {
    pub(super) parameters: ShingleParameters,
    /// The persistent cache, with all data that is not at home.
    pub(super) cache: MediaCache,
    cleaning: Option<Cleaning>,
}

impl Shingles {
    pub(super) fn new(parameters: ShingleParameters) -> Self {
        let cache = MediaCache::new(parameters.log_sectors, parameters.map_entries);
        Self { parameters, cache, cleaning: None }
    }

    /// The sectors of the band that holds a sector.
    pub(super) fn band_of(&self, sector: u64) -> Range<u64> {
        let band = self.parameters.band_sectors;
        let start = sector / band * band;
        start..start + band
    }

    /// How many of these sectors, from the first on, are physically contiguous in their newest copies, and where.
    pub(super) fn locate(&self, logical: &Range<u64>) -> (u64, Range<u64>) {
        let (count, in_log) = self.cache.first_piece(logical);
        let start = in_log.unwrap_or(self.home(logical.start));
        (count, start..start + count)
    }

    fn home(&self, sector: u64) -> u64 {
        self.parameters.log_sectors + sector
    }

    /// Where a whole band is written.
    pub(super) fn home_of(&self, band: &Range<u64>) -> Range<u64> {
        self.home(band.start)..self.home(band.end)
    }

    /// Where this many sectors of this many extents can be appended, if the persistent cache has space.
    pub(super) fn append_room(&self, extents: usize, sectors: u64) -> Option<Range<u64>> {
        self.cache.room(extents, self.parameters.header_sectors + sectors)
    }

    /// Records an append at the place that [`append_room`](Self::append_room) returned.
    pub(super) fn on_append(&mut self, extents: &[Range<u64>]) {
        let sectors: u64 = extents.iter().map(|extent| extent.end - extent.start).sum();
        let header = self.parameters.header_sectors;
        self.cache.begin_append(header + sectors, header);
        for extent in extents {
            let mut start = extent.start;
            while start < extent.end {
                let end = self.band_of(start).end.min(extent.end);
                self.cache.append(start..end);
                start = end;
            }
        }
    }

    /// Fills the persistent cache, or its mapping table, with writes of this many sectors at random places
    /// among the first `span`.
    pub(crate) fn overwrite_at_random(&mut self, span: u64, sectors: u64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let places = span / sectors;
        // In a short span, writes overwrite each other and would never fill the cache, so limit their number.
        for _ in 0..self.parameters.map_entries {
            if places == 0 || self.append_room(1, sectors).is_none() {
                return;
            }
            let start = random.random_range(0..places) * sectors;
            self.on_append(std::slice::from_ref(&(start..start + sectors)));
        }
    }

    /// Records that a whole band was written to its home.
    pub(super) fn band_written(&mut self, band: &Range<u64>) {
        self.cache.forget(band);
        // Cancel its cleaning: data read for the merge is now stale.
        self.cleaning.take_if(|cleaning| cleaning.band == band.start);
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.cache.oldest().is_some()
    }

    /// Chooses a band to clean, unless one is being cleaned or none needs it.
    pub(super) fn take_up(&mut self) {
        if self.cleaning.is_some() {
            return;
        }
        let Some(sector) = self.cache.oldest() else { return };
        let band = self.band_of(sector);
        let (mut reads, mut start, mut covered) = (Vec::new(), band.start, true);
        while start < band.end {
            let (count, in_log) = self.cache.first_piece(&(start..band.end));
            match in_log {
                Some(at) => reads.push(at..at + count),
                None => covered = false,
            }
            start += count;
        }
        // Read in log order, so that the arm sweeps once; the band's home comes first.
        reads.sort_unstable_by_key(|range| std::cmp::Reverse(range.start));
        if !covered {
            reads.push(self.home_of(&band));
        }
        self.cleaning = Some(Cleaning { band: band.start, record: self.cache.next_record(), reads });
    }

    /// The next step of cleaning the chosen band.
    pub(super) fn step(&self) -> Option<Step> {
        let cleaning = self.cleaning.as_ref()?;
        Some(match cleaning.reads.last() {
            Some(physical) => Step { physical: physical.clone(), access: Access::Read },
            None => Step { physical: self.home_of(&self.band_of(cleaning.band)), access: Access::Write },
        })
    }

    /// Records that the step is done.
    pub(super) fn step_done(&mut self) {
        let cleaning = self.cleaning.as_mut().expect("a step was of a cleaning");
        if cleaning.reads.pop().is_none() {
            let Cleaning { band, record, .. } = *cleaning;
            let band = self.band_of(band);
            self.cache.forget_before(&band, record);
            self.cleaning = None;
        }
    }
}

// The persistent cache: a log on tracks that do not overlap, and a mapping table of the newest data in it.
//
// An append writes one record per part of a band. The log is a ring: it frees space from its oldest record
// on, once none of that record's data is the newest copy. It knows no time.

/// Adjacent sectors whose newest copy is in the log.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Piece {
    sectors: u64,
    /// Its position, counted from the first append ever.
    position: u64,
    record: u64,
}

#[derive(Serialize, Deserialize)]
struct Record {
    logical: Range<u64>,
    position: u64,
    /// Sectors whose newest copy is still in this record.
    live: u64,
}

/// The log and its mapping table.
#[derive(Serialize, Deserialize)]
pub(super) struct MediaCache {
    log_sectors: u64,
    pieces_max: usize,
    /// By first logical sector; pieces never overlap.
    map: BTreeMap<u64, Piece>,
    records: VecDeque<Record>,
    /// The number of the first entry in `records`.
    first_record: u64,
    /// Where the next append goes, counted from the first append ever.
    head: u64,
}

/// The most pieces that an extent adds to the table: itself, plus either the rest of an older piece behind
/// it, or a second piece where it crosses the edge of a band.
const PIECES_PER_EXTENT: usize = 2;

impl MediaCache {
    pub(super) fn new(log_sectors: u64, pieces_max: u32) -> Self {
        Self {
            log_sectors,
            pieces_max: pieces_max as usize,
            map: BTreeMap::new(),
            records: VecDeque::new(),
            first_record: 0,
            head: 0,
        }
    }

    /// Where an append of this many extents and sectors would go, if it fits. An append never wraps around
    /// the end of the ring; the rest of the ring stays empty.
    pub(super) fn room(&self, extents: usize, sectors: u64) -> Option<Range<u64>> {
        let start = self.start_of(sectors);
        let tail = self.records.front().map_or(start, |record| record.position);
        let fits = start + sectors - tail <= self.log_sectors
            && self.map.len() + PIECES_PER_EXTENT * extents <= self.pieces_max;
        let physical = start % self.log_sectors;
        fits.then_some(physical..physical + sectors)
    }

    fn start_of(&self, sectors: u64) -> u64 {
        let in_ring = self.head % self.log_sectors;
        if in_ring + sectors > self.log_sectors { self.head + self.log_sectors - in_ring } else { self.head }
    }

    /// Begins an append that fits; its first `header` sectors describe it.
    pub(super) fn begin_append(&mut self, sectors: u64, header: u64) {
        self.head = self.start_of(sectors) + header;
    }

    /// Appends one extent; `logical` lies within one band.
    pub(super) fn append(&mut self, logical: Range<u64>) {
        self.forget(&logical);
        let (sectors, position) = (logical.end - logical.start, self.head);
        let record = self.next_record();
        self.map.insert(logical.start, Piece { sectors, position, record });
        self.records.push_back(Record { logical, position, live: sectors });
        self.head += sectors;
        assert!(self.map.len() <= self.pieces_max, "an append takes no more than the room it was given");
    }

    pub(super) fn next_record(&self) -> u64 {
        self.first_record + self.records.len() as u64
    }

    /// How many of these sectors, from the first on, are in one place, and where in the log. `None` if their
    /// newest copy is not in the log.
    pub(super) fn first_piece(&self, logical: &Range<u64>) -> (u64, Option<u64>) {
        let before = self.map.range(..=logical.start).next_back();
        if let Some((start, piece)) = before.filter(|(start, piece)| *start + piece.sectors > logical.start) {
            let count = (start + piece.sectors).min(logical.end) - logical.start;
            return (count, Some((piece.position + logical.start - start) % self.log_sectors));
        }
        let next = self.map.range(logical.clone()).next();
        (next.map_or(logical.end, |(start, _)| *start) - logical.start, None)
    }

    /// A logical sector whose newest copy is in the oldest record.
    pub(super) fn oldest(&self) -> Option<u64> {
        let Record { logical, .. } = self.records.front()?;
        let newest = |(_, piece): &(&u64, &Piece)| piece.record == self.first_record;
        let (start, _) = self.map.range(logical.clone()).find(newest).expect("the oldest record is live");
        Some(*start)
    }

    /// Drops sectors whose newest copy is now elsewhere.
    pub(super) fn forget(&mut self, logical: &Range<u64>) {
        self.split(logical.start);
        self.split(logical.end);
        self.remove(logical, u64::MAX);
    }

    /// Drops data of records before `record`, which has been brought home. It never splits a piece.
    pub(super) fn forget_before(&mut self, logical: &Range<u64>, record: u64) {
        self.remove(logical, record);
    }

    fn remove(&mut self, logical: &Range<u64>, before: u64) {
        let mut start = logical.start;
        while let Some((&at, &piece)) = self.map.range(start..logical.end).next() {
            start = at + piece.sectors;
            if piece.record < before {
                self.map.remove(&at);
                self.records[(piece.record - self.first_record) as usize].live -= piece.sectors;
            }
        }
        while self.records.pop_front_if(|record| record.live == 0).is_some() {
            self.first_record += 1;
        }
    }

    /// Splits the piece that spans this sector.
    fn split(&mut self, at: u64) {
        let Some((&start, piece)) = self.map.range_mut(..at).next_back() else { return };
        let left = at - start;
        if left < piece.sectors {
            let right = Piece { sectors: piece.sectors - left, position: piece.position + left, ..*piece };
            piece.sectors = left;
            self.map.insert(at, right);
        }
    }
}

#[cfg(test)]
mod tests;
