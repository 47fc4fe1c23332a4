//! What goes to the platters, in which order, and where: behind the write cache, and without one.
//!
//! A disk whose tracks do not overlap writes every sector at its own place, the nearest for the arm first. A
//! shingled one writes bands that are complete, appends the rest to its persistent cache, and cleans that
//! when it is idle, or when it is full and a request waits.

use std::ops::Range;

use likenew_core::units::Nanos;

use super::DiskParameters;
use super::arm::{Access, Arm};
use super::cache::WriteCache;
use super::shingles::Shingles;

/// Sectors of one extent that are written in one go at most, so that space is freed steadily.
const DESTAGE_SECTORS_MAX: u64 = 2048;

/// Why something is to be written now.
#[derive(Clone, Copy, Debug)]
pub(super) struct DestageDemand {
    /// Since when a request has been waiting for space, or for a flush.
    pub(super) waiting_since: Option<Nanos>,
    /// A write that is not cached finds the persistent cache full.
    pub(super) no_room: bool,
    /// Nothing has been asked of the disk for so long that it cleans.
    pub(super) idle: bool,
}

impl DestageDemand {
    /// Whether it may not be put off until the arm is idle.
    pub(super) fn is_pressing(&self) -> bool {
        self.waiting_since.is_some() || self.no_room
    }
}

/// Something that the arm can do for what waits to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Work {
    kind: Kind,
    /// The sectors of an extent or a band.
    logical: Range<u64>,
    /// Their place on the platters, or that of an append or of a step of cleaning.
    pub(super) physical: Range<u64>,
    pub(super) access: Access,
    /// Its effective positioning time.
    pub(super) cost: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Part of an extent goes to its own place.
    Extent,
    /// The extents in `batch` go to the persistent cache.
    Append,
    /// A band goes home.
    Band,
    /// A step of cleaning.
    Clean,
}

/// Where the first sectors of a write that is not cached go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DirectWrite {
    pub(super) logical: Range<u64>,
    pub(super) physical: Range<u64>,
}

/// The write cache and the translation layer.
pub(super) struct Destager {
    pub(super) cache: Option<WriteCache>,
    /// The translation layer of a shingled disk.
    pub(super) shingles: Option<Shingles>,
    aging: Aging,
    /// What the arm is appending.
    batch: Vec<Range<u64>>,
    /// Sectors put on the platters.
    pub(super) media_sectors_written: u64,
}

impl Destager {
    pub(super) fn new(parameters: &DiskParameters) -> Self {
        let sectors = parameters.write_cache_bytes / u64::from(parameters.platters.sector_bytes);
        Self {
            cache: (sectors > 0).then(|| WriteCache::new(sectors, parameters.write_cache_extents)),
            shingles: parameters.shingles.map(Shingles::new),
            aging: Aging::new(parameters.aging_per_mille),
            batch: Vec::new(),
            media_sectors_written: 0,
        }
    }

    /// The first of these sectors whose newest copies lie side by side on the platters: how many, and where.
    pub(super) fn locate(&self, logical: &Range<u64>) -> (u64, Range<u64>) {
        match &self.shingles {
            Some(shingles) => shingles.locate(logical),
            None => (logical.end - logical.start, logical.clone()),
        }
    }

    /// When [`best`](Self::best) must be checked though nothing else happens.
    pub(super) fn next_poll(&self) -> Option<Nanos> {
        let gather = self.shingles.as_ref()?.parameters.gather;
        Some(self.cache.as_ref()?.last_put()? + gather)
    }

    /// How long nothing has to be asked of the disk before it cleans, if there is something to clean.
    pub(super) fn cleans_after(&self) -> Option<Nanos> {
        let shingles = self.shingles.as_ref().filter(|shingles| shingles.is_dirty())?;
        Some(shingles.parameters.idle_after)
    }

    /// What is best written now, if anything is.
    pub(super) fn best(&mut self, need: &DestageDemand, arm: &Arm, now: Nanos) -> Option<Work> {
        match self.shingles {
            Some(_) => self.best_shingled(need, arm, now),
            None => self.soonest_extent(arm, now),
        }
    }

    fn soonest_extent(&self, arm: &Arm, now: Nanos) -> Option<Work> {
        let works = self.cache.as_ref()?.extents().iter().map(|extent| {
            let Range { start, end } = extent.sectors;
            let positioning = arm.positioning(start, Access::Write, now);
            let sectors = start..end.min(start + DESTAGE_SECTORS_MAX);
            Work {
                kind: Kind::Extent,
                logical: sectors.clone(),
                physical: sectors,
                access: Access::Write,
                cost: self.aging.cost(positioning, now.since(extent.since)),
            }
        });
        works.min_by_key(|work| work.cost)
    }

    fn best_shingled(&mut self, need: &DestageDemand, arm: &Arm, now: Nanos) -> Option<Work> {
        let work = self.next_shingled(need, now)?;
        let waited = need.waiting_since.map_or(Nanos::ZERO, |since| now.since(since));
        let cost = self.aging.cost(arm.positioning(work.physical.start, work.access, now), waited);
        Some(Work { cost, ..work })
    }

    /// The next work of a shingled disk, whose order does not depend on where the arm is.
    fn next_shingled(&mut self, need: &DestageDemand, now: Nanos) -> Option<Work> {
        let work = |kind, logical, physical, access| Work { kind, logical, physical, access, cost: 0 };
        if let Some(band) = self.complete_band() {
            let physical = self.shingles.as_ref().map(|shingles| shingles.home_of(&band))?;
            return Some(work(Kind::Band, band, physical, Access::Write));
        }
        self.batch.clear();
        if need.waiting_since.is_some() || self.next_poll().is_some_and(|at| at <= now) {
            self.gather();
        }
        let shingles = self.shingles.as_mut()?;
        let gathered = !self.batch.is_empty();
        // As much of it as fits.
        while !self.batch.is_empty() {
            let sectors = self.batch.iter().map(|extent| extent.end - extent.start).sum();
            if let Some(physical) = shingles.append_room(self.batch.len(), sectors) {
                return Some(work(Kind::Append, 0..0, physical, Access::Write));
            }
            self.batch.pop();
        }
        if !gathered && !need.no_room && !need.idle {
            return None;
        }
        shingles.take_up();
        shingles.step().map(|step| work(Kind::Clean, 0..0, step.physical, step.access))
    }

    /// A band that waits as a whole, as the sectors of it.
    fn complete_band(&self) -> Option<Range<u64>> {
        let shingles = self.shingles.as_ref()?;
        let complete = |sectors: &Range<u64>| {
            let band = shingles.band_of(sectors.start);
            let band = if band.start == sectors.start { band } else { shingles.band_of(band.end) };
            (band.end <= sectors.end).then_some(band)
        };
        self.cache.as_ref()?.extents().iter().find_map(|extent| complete(&extent.sectors))
    }

    /// Chooses what is appended next: what has waited longest, and what still grows only if there is nothing else.
    fn gather(&mut self) {
        self.batch.clear();
        let (Some(cache), Some(shingles)) = (&self.cache, &self.shingles) else { return };
        let mut room = shingles.parameters.append_sectors_max;
        let mut extents: Vec<_> = cache.extents().iter().collect();
        extents.sort_unstable_by_key(|extent| (cache.grows(extent), extent.since, extent.sectors.start));
        for extent in extents {
            if room == 0 || (cache.grows(extent) && !self.batch.is_empty()) {
                break;
            }
            let Range { start, end } = extent.sectors;
            let end = end.min(start + room);
            self.batch.push(start..end);
            room -= end - start;
        }
    }

    /// The arm begins the work that was found best.
    pub(super) fn begin(&mut self, work: &Work) {
        let Some(cache) = &mut self.cache else { return };
        match work.kind {
            Kind::Extent | Kind::Band => cache.take(work.logical.clone()),
            Kind::Append => self.batch.iter().for_each(|extent| cache.take(extent.clone())),
            Kind::Clean => {}
        }
    }

    /// The arm has done it.
    pub(super) fn end(&mut self, work: &Work) {
        if work.access == Access::Write {
            self.media_sectors_written += work.physical.end - work.physical.start;
        }
        match (work.kind, &mut self.shingles) {
            (Kind::Append, Some(shingles)) => shingles.on_append(&self.batch),
            (Kind::Band, Some(shingles)) => shingles.band_written(&work.logical),
            (Kind::Clean, Some(shingles)) => return shingles.step_done(),
            _ => {}
        }
        self.cache.as_mut().expect("what was written came from the cache").on_written();
    }

    /// Where the first sectors of a write that is not cached go; nowhere if the persistent cache is full.
    pub(super) fn direct(&self, left: &Range<u64>) -> Option<DirectWrite> {
        let Some(shingles) = &self.shingles else {
            return Some(DirectWrite { logical: left.clone(), physical: left.clone() });
        };
        let band = shingles.band_of(left.start);
        if band.start == left.start && band.end <= left.end {
            return Some(DirectWrite { physical: shingles.home_of(&band), logical: band });
        }
        // What comes before the next band, or is shorter than one, is appended.
        let appended = left.end.min(band.end).min(left.start + shingles.parameters.append_sectors_max);
        let logical = left.start..appended;
        let physical = shingles.append_room(1, logical.end - logical.start)?;
        Some(DirectWrite { logical, physical })
    }

    /// Such a part of a write is on the platters.
    pub(super) fn direct_done(&mut self, direct: &DirectWrite) {
        self.media_sectors_written += direct.physical.end - direct.physical.start;
        let Some(shingles) = &mut self.shingles else { return };
        if shingles.home_of(&shingles.band_of(direct.logical.start)) == direct.physical {
            shingles.band_written(&direct.logical);
        } else {
            shingles.on_append(std::slice::from_ref(&direct.logical));
        }
    }
}

// Which request is served next: the one with the shortest positioning time, less a credit for having waited.
//
// Serving the shortest positioning time first is what makes a queue worthwhile, but starves requests far
// from the rest. Aging fixes that: the effective time is *T_pos − W × T_wait*, the aged shortest positioning
// time first of Worthington, Ganger and Patt, "Scheduling Algorithms for Modern Disk Drives", SIGMETRICS
// 1994, after Jacobson and Wilkes, "Disk scheduling algorithms based on rotational position", HP
// Laboratories, 1991. With *W* = 0 no wait counts; with a large *W* the order is that of arrival. As no
// positioning takes longer than *C*, a full stroke and a turn, no request is overtaken by one that came *C*
// / *W* later.

/// The order of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aging {
    per_mille: i64,
}

impl Aging {
    /// Milliseconds of positioning that each second of waiting outweighs.
    pub(super) fn new(per_mille: u32) -> Self {
        Self { per_mille: i64::from(per_mille) }
    }

    /// The effective positioning time, in nanoseconds: the least is served next.
    pub(super) fn cost(self, positioning: Nanos, waited: Nanos) -> i64 {
        let signed = |span: Nanos| i64::try_from(span.0).unwrap_or(i64::MAX);
        signed(positioning).saturating_sub(signed(waited).saturating_mul(self.per_mille) / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_of_waiting_outweighs_milliseconds_of_positioning() {
        let aging = Aging::new(20);
        let [near, far] = [1, 20].map(Nanos::from_millis);
        assert!(aging.cost(near, Nanos::ZERO) < aging.cost(far, Nanos::from_millis(900)));
        assert!(aging.cost(near, Nanos::ZERO) > aging.cost(far, Nanos::from_millis(1000)));
        assert_eq!(aging.cost(near, Nanos::from_millis(50)), 0);
    }

    #[test]
    fn without_a_weight_only_the_position_counts() {
        let aging = Aging::new(0);
        assert_eq!(aging.cost(Nanos(7), Nanos::NEVER), 7);
    }
}
