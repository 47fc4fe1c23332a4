//! What is written to the platters next, and where, with or without a write cache.
//!
//! A conventional disk writes every sector in place, the extent nearest to the arm first. A shingled disk
//! writes complete bands in place and appends everything else to its persistent cache. It cleans that cache
//! when idle, or when the cache is full and a request waits.

use std::ops::Range;

use likenew_core::units::Nanos;

use super::DiskParameters;
use super::arm::{Access, Arm};
use super::cache::WriteCache;
use super::shingles::Shingles;

/// The most sectors of an extent that are written at once. Chosen small so that space frees up steadily.
const DESTAGE_SECTORS_MAX: u64 = 2048;

/// Why something has to be written now.
#[derive(Clone, Copy, Debug)]
pub(super) struct DestageDemand {
    /// When the first request that waits for space or for a flush began to wait.
    pub(super) waiting_since: Option<Nanos>,
    /// Whether an uncached write finds the persistent cache full.
    pub(super) no_room: bool,
    /// Whether the disk has been idle for long enough to clean.
    pub(super) idle: bool,
}

impl DestageDemand {
    /// Whether the write cannot wait until the arm is idle.
    pub(super) fn is_pressing(&self) -> bool {
        self.waiting_since.is_some() || self.no_room
    }
}

/// A job that the arm could do next to write out data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Work {
    kind: Kind,
    /// The sectors of an extent or a band.
    logical: Range<u64>,
    /// Where the arm works: the place of `logical`, of an append, or of a cleaning step.
    pub(super) physical: Range<u64>,
    pub(super) access: Access,
    /// Effective positioning time; see [`Aging::cost`].
    pub(super) cost: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Writes a part of an extent in place.
    Extent,
    /// Appends the extents in `batch` to the persistent cache.
    Append,
    /// Writes a complete band in place.
    Band,
    /// Does a step of cleaning.
    Clean,
}

/// Where the first sectors of an uncached write go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DirectWrite {
    pub(super) logical: Range<u64>,
    pub(super) physical: Range<u64>,
}

/// The write cache and, on a shingled disk, the translation layer.
pub(super) struct Destager {
    pub(super) cache: Option<WriteCache>,
    pub(super) shingles: Option<Shingles>,
    aging: Aging,
    /// Extents of the append that is chosen or under way.
    batch: Vec<Range<u64>>,
    /// Sectors written to the platters.
    pub(super) media_sectors_written: u64,
}

impl Destager {
    pub(super) fn new(parameters: &DiskParameters) -> Self {
        let sectors = parameters.cache.write_cache_bytes / u64::from(parameters.platters.sector_bytes);
        Self {
            cache: (sectors > 0).then(|| WriteCache::new(sectors, parameters.cache.write_cache_extents)),
            shingles: parameters.shingles.map(Shingles::new),
            aging: Aging::new(parameters.aging_per_mille),
            batch: Vec::new(),
            media_sectors_written: 0,
        }
    }

    /// How many of these sectors, from the first on, are physically contiguous in their newest copies, and where.
    pub(super) fn locate(&self, logical: &Range<u64>) -> (u64, Range<u64>) {
        match &self.shingles {
            Some(shingles) => shingles.locate(logical),
            None => (logical.end - logical.start, logical.clone()),
        }
    }

    /// When [`best`](Self::best) may find new work though nothing else happens.
    pub(super) fn next_poll(&self) -> Option<Nanos> {
        let gather = self.shingles.as_ref()?.parameters.gather;
        Some(self.cache.as_ref()?.last_put()? + gather)
    }

    /// Idle time before the disk cleans, if anything needs cleaning.
    pub(super) fn cleans_after(&self) -> Option<Nanos> {
        let shingles = self.shingles.as_ref().filter(|shingles| shingles.is_dirty())?;
        Some(shingles.parameters.idle_after)
    }

    /// The best job at present, if there is any.
    pub(super) fn best(&mut self, need: &DestageDemand, arm: &Arm, now: Nanos) -> Option<Work> {
        match self.shingles {
            Some(_) => self.best_shingled(need, arm, now),
            None => self.soonest_extent(arm, now),
        }
    }

    fn soonest_extent(&self, arm: &Arm, now: Nanos) -> Option<Work> {
        let works = self.cache.as_ref()?.extents.iter().map(|extent| {
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

    /// The next job of a shingled disk. Its order does not depend on the arm's position.
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
        // Append as much as fits.
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

    /// The sectors of a band that waits completely.
    fn complete_band(&self) -> Option<Range<u64>> {
        let shingles = self.shingles.as_ref()?;
        let complete = |sectors: &Range<u64>| {
            let band = shingles.band_of(sectors.start);
            let band = if band.start == sectors.start { band } else { shingles.band_of(band.end) };
            (band.end <= sectors.end).then_some(band)
        };
        self.cache.as_ref()?.extents.iter().find_map(|extent| complete(&extent.sectors))
    }

    /// Chooses what to append next: the oldest extents first, and one that still grows only if there is no other.
    fn gather(&mut self) {
        self.batch.clear();
        let (Some(cache), Some(shingles)) = (&self.cache, &self.shingles) else { return };
        let mut room = shingles.parameters.append_sectors_max;
        let mut extents: Vec<_> = cache.extents.iter().collect();
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

    /// Starts the chosen job.
    pub(super) fn begin(&mut self, work: &Work) {
        let Some(cache) = &mut self.cache else { return };
        match work.kind {
            Kind::Extent | Kind::Band => cache.take(work.logical.clone()),
            Kind::Append => self.batch.iter().for_each(|extent| cache.take(extent.clone())),
            Kind::Clean => {}
        }
    }

    /// Records that the arm has done the job.
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

    /// Where the first sectors of an uncached write go; `None` if the persistent cache is full.
    pub(super) fn direct(&self, left: &Range<u64>) -> Option<DirectWrite> {
        let Some(shingles) = &self.shingles else {
            return Some(DirectWrite { logical: left.clone(), physical: left.clone() });
        };
        let band = shingles.band_of(left.start);
        if band.start == left.start && band.end <= left.end {
            return Some(DirectWrite { physical: shingles.home_of(&band), logical: band });
        }
        // Anything short of a whole band is appended.
        let appended = left.end.min(band.end).min(left.start + shingles.parameters.append_sectors_max);
        let logical = left.start..appended;
        let physical = shingles.append_room(1, logical.end - logical.start)?;
        Some(DirectWrite { logical, physical })
    }

    /// Records that such a part of a write is on the platters.
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

// Which request is served next: the one with the shortest positioning time, less a credit for its wait.
//
// Shortest positioning time first makes queues worthwhile, but starves requests far from the others. Aging
// fixes that with the effective time *T_pos − W × T_wait*: the aged shortest positioning time first of
// Worthington, Ganger and Patt, "Scheduling Algorithms for Modern Disk Drives", SIGMETRICS 1994, after
// Jacobson and Wilkes, "Disk scheduling algorithms based on rotational position", HP Laboratories, 1991. With
// *W* = 0 waiting does not count; with a large *W* requests are served in order of arrival. No positioning
// takes longer than *C*, a full stroke and a revolution, so no request overtakes one that came *C* / *W*
// earlier.

/// The weight of waiting in the order of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aging {
    per_mille: i64,
}

impl Aging {
    /// `per_mille` is how much positioning time, in milliseconds, a second of waiting outweighs.
    pub(super) fn new(per_mille: u32) -> Self {
        Self { per_mille: i64::from(per_mille) }
    }

    /// Effective positioning time in nanoseconds; the lowest is served next.
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
