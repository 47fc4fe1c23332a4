//! The places of sectors on the platters of a disk, and when they pass under a head.
//!
//! Sectors count along a spiral: the tracks of a cylinder head by head, cylinder by cylinder from the outer edge,
//! in zones whose tracks hold ever fewer sectors. The start of each track is turned against the one before it by
//! as much as the change of head or cylinder takes, so that a sequential transfer never misses a turn. So every
//! sector has a *media time*: when it would be read by a transfer that started with the first sector at 0. The platter
//! stands at the angle where time and media time agree modulo one turn.

use likenew_core::units::Nanos;

use super::layout_error::LayoutError;

/// Dimensions of the platters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlatterParameters {
    /// Sectors that can be addressed.
    pub sectors: u64,
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// One turn.
    pub revolution: Nanos,
    /// Surfaces, each with a head.
    pub heads: u32,
    /// Zones of equal width.
    pub zones: u32,
    /// Sustained rate at the outer edge, changes of head and cylinder included.
    pub outer_bytes_per_s: u64,
    /// Sustained rate at the inner edge.
    pub inner_bytes_per_s: u64,
    /// Skew between the tracks of a cylinder: the time for a change of head.
    pub head_skew: Nanos,
    /// Skew between cylinders: the time for a seek to the next one.
    pub cylinder_skew: Nanos,
}

/// More cylinders than this are not supported; disks of 20 TB have about half a million.
const CYLINDERS_MAX: u64 = 4_000_000;

impl PlatterParameters {
    /// Whether such platters can be laid out.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), LayoutError> {
        let cylinders = self.cylinders_per_zone() * u64::from(self.zones);
        if cylinders > CYLINDERS_MAX {
            let (sectors, most) = (self.sectors, CYLINDERS_MAX);
            return Err(LayoutError::TooManyCylinders { sectors, cylinders, most });
        }
        Ok(())
    }

    fn cylinders_per_zone(&self) -> u64 {
        let on_a_cylinder_of_each =
            (0..self.zones).map(|zone| self.sectors_per_track(zone)).sum::<u64>() * u64::from(self.heads);
        self.sectors.div_ceil(on_a_cylinder_of_each)
    }

    /// Sectors on a track of a zone, from the sustained rate in its middle.
    fn sectors_per_track(&self, zone: u32) -> u64 {
        let middle = (f64::from(zone) + 0.5) / f64::from(self.zones);
        let rate = self.outer_bytes_per_s as f64 * (1.0 - middle) + self.inner_bytes_per_s as f64 * middle;
        let track_seconds = self.cylinder_time() as f64 / f64::from(self.heads) / 1e9;
        ((rate * track_seconds / f64::from(self.sector_bytes)).round() as u64).max(1)
    }

    /// Media time of a whole cylinder, the change to the next one included.
    fn cylinder_time(&self) -> u64 {
        u64::from(self.heads) * (self.revolution.0 + self.head_skew.0) - self.head_skew.0
            + self.cylinder_skew.0
    }
}

struct Zone {
    first_sector: u64,
    first_cylinder: u32,
    sectors_per_track: u64,
    /// Media time of its first sector.
    start: u64,
}

/// A sector's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TrackPosition {
    pub(crate) cylinder: u32,
    pub(crate) head: u32,
    /// Media time of its start.
    pub(crate) start: u64,
    /// Media time of its end.
    pub(crate) end: u64,
}

/// The layout.
pub(crate) struct Platters {
    parameters: PlatterParameters,
    zones: Vec<Zone>,
    cylinders: u32,
    cylinder_time: u64,
}

impl Platters {
    pub(crate) fn new(parameters: PlatterParameters) -> Self {
        let PlatterParameters { zones: zone_count, heads, .. } = parameters;
        let cylinders_per_zone = parameters.cylinders_per_zone();
        let (mut zones, mut first_sector, mut start) = (Vec::new(), 0, 0);
        for zone in 0..zone_count {
            let sectors_per_track = parameters.sectors_per_track(zone);
            let first_cylinder = (u64::from(zone) * cylinders_per_zone) as u32;
            zones.push(Zone { first_sector, first_cylinder, sectors_per_track, start });
            first_sector += cylinders_per_zone * u64::from(heads) * sectors_per_track;
            start += cylinders_per_zone * parameters.cylinder_time();
        }
        let cylinders = (cylinders_per_zone * u64::from(zone_count)) as u32;
        Self { parameters, zones, cylinders, cylinder_time: parameters.cylinder_time() }
    }

    /// Sectors that can be addressed.
    pub(crate) fn sectors(&self) -> u64 {
        self.parameters.sectors
    }

    /// Cylinders from the outer to the inner edge.
    pub(crate) fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// The place of a sector.
    pub(crate) fn place(&self, sector: u64) -> TrackPosition {
        let PlatterParameters { revolution, heads, head_skew, .. } = self.parameters;
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_sector <= sector) - 1];
        let within = sector - zone.first_sector;
        let (track, on_track) = (within / zone.sectors_per_track, within % zone.sectors_per_track);
        let (cylinder, head) = (track / u64::from(heads), track % u64::from(heads));
        let track_start = zone.start + cylinder * self.cylinder_time + head * (revolution.0 + head_skew.0);
        TrackPosition {
            cylinder: zone.first_cylinder + cylinder as u32,
            head: head as u32,
            start: track_start + on_track * revolution.0 / zone.sectors_per_track,
            end: track_start + (on_track + 1) * revolution.0 / zone.sectors_per_track,
        }
    }

    /// The first sector that has not ended by a media time.
    pub(crate) fn sector_after(&self, media_time: u64) -> u64 {
        let PlatterParameters { revolution, heads, head_skew, .. } = self.parameters;
        let zone = &self.zones[self.zones.partition_point(|zone| zone.start <= media_time) - 1];
        let within = media_time - zone.start;
        let (cylinder, in_cylinder) = (within / self.cylinder_time, within % self.cylinder_time);
        let head = (in_cylinder / (revolution.0 + head_skew.0)).min(u64::from(heads) - 1);
        let on_track = in_cylinder - head * (revolution.0 + head_skew.0);
        let track = cylinder * u64::from(heads) + head;
        // The end of sector s is at ⌊(s + 1)·turn/n⌋, so this counts the ends up to here exactly.
        let ended = ((on_track.min(revolution.0) + 1) * zone.sectors_per_track - 1) / revolution.0;
        zone.first_sector + track * zone.sectors_per_track + ended.min(zone.sectors_per_track)
    }

    /// How long it takes from `now` until the platter stands where a media time says.
    pub(crate) fn rotate_to(&self, media_time: u64, now: Nanos) -> Nanos {
        let revolution = self.parameters.revolution.0;
        Nanos((media_time % revolution + revolution - now.0 % revolution) % revolution)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::disk) fn platters() -> Platters {
        Platters::new(PlatterParameters {
            sectors: 1_000_000,
            sector_bytes: 512,
            revolution: Nanos(8_333_333),
            heads: 3,
            zones: 8,
            outer_bytes_per_s: 100_000_000,
            inner_bytes_per_s: 50_000_000,
            head_skew: Nanos(1_000_000),
            cylinder_skew: Nanos(2_000_000),
        })
    }

    #[test]
    fn the_rate_falls_from_outside_to_inside_as_given() {
        let platters = platters();
        let rate = |from: u64| {
            let span = platters.place(from + 20_000).start - platters.place(from).start;
            20_000.0 * 512.0 / (span as f64 / 1e9)
        };
        let (outer, inner) = (rate(0), rate(970_000));
        assert!((outer / 97e6 - 1.0).abs() < 0.05, "{outer}");
        assert!((inner / 53e6 - 1.0).abs() < 0.05, "{inner}");
    }

    #[test]
    fn a_turn_brings_every_place_by() {
        let platters = platters();
        assert_eq!(platters.rotate_to(5, Nanos(3)), Nanos(2));
        assert_eq!(platters.rotate_to(3, Nanos(5)), Nanos(8_333_331));
        assert_eq!(platters.rotate_to(3 + 7 * 8_333_333, Nanos(3)), Nanos(0));
    }

    proptest! {
        #[test]
        fn sectors_follow_each_other_without_overlap(sector in 0u64..999_999) {
            let platters = platters();
            let (this, next) = (platters.place(sector), platters.place(sector + 1));
            prop_assert!(this.start < this.end && this.end <= next.start);
            let gap = next.start - this.end;
            match (this.cylinder == next.cylinder, this.head == next.head) {
                (true, true) => prop_assert_eq!(gap, 0),
                (true, false) => prop_assert_eq!(gap, 1_000_000),
                (false, _) => prop_assert_eq!(gap, 2_000_000),
            }
            prop_assert!(this.cylinder < platters.cylinders());
        }

        #[test]
        fn media_time_leads_back_to_the_sector(sector in 0u64..999_999) {
            let platters = platters();
            let place = platters.place(sector);
            prop_assert_eq!(platters.sector_after(place.end), sector + 1);
            prop_assert_eq!(platters.sector_after(place.end - 1), sector);
            prop_assert_eq!(platters.sector_after(place.start), sector);
        }
    }
}
