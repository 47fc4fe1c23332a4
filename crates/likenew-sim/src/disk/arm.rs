//! The mechanics of a disk: where its head is, how long the arm takes to reach a sector, where sectors lie on
//! the platters, and how long a transfer takes.

use std::ops::Range;

use likenew_core::units::Nanos;

use super::{DiskParameters, LayoutError};

/// The arm, with its position over the platters.
pub(super) struct Arm {
    pub(super) platters: Platters,
    reads: Motion,
    writes: Motion,
    cylinder: u32,
    head: u32,
    /// The sector after the last one transferred.
    next_sector: u64,
    /// Media time at which the last sector ended.
    media_time: u64,
}

/// The arm's timing for one kind of access.
struct Motion {
    seek: SeekCurve,
    head_switch: Nanos,
}

impl Arm {
    /// An arm at the outer edge, for checked parameters.
    pub(super) fn new(parameters: &DiskParameters) -> Self {
        let platters = Platters::new(parameters.platters);
        let (reads, writes) =
            parameters.seek_curves(platters.cylinders).expect("the parameters were checked");
        Self {
            reads: Motion { seek: reads, head_switch: parameters.head_switch },
            writes: Motion { seek: writes, head_switch: parameters.write_head_switch() },
            platters,
            cylinder: 0,
            head: 0,
            next_sector: 0,
            media_time: 0,
        }
    }

    /// Time from now until a sector is under its head. It excludes a track change right before the sector in
    /// a sequential transfer, since a later request would pay the same.
    pub(super) fn positioning(&self, sector: u64, access: Access, now: Nanos) -> Nanos {
        let place = self.platters.place(sector);
        let gap = if sector == self.next_sector { place.start - self.media_time } else { 0 };
        self.time_to(place, access, now).since(Nanos(gap))
    }

    fn time_to(&self, place: TrackPosition, access: Access, now: Nanos) -> Nanos {
        let motion = match access {
            Access::Read => &self.reads,
            Access::Write => &self.writes,
        };
        let mut seek = motion.seek.time(place.cylinder.abs_diff(self.cylinder));
        if place.head != self.head {
            seek = seek.max(motion.head_switch);
        }
        seek + self.platters.rotate_to(place.start, now + seek)
    }

    /// Moves to some sectors and transfers them; returns when the transfer starts and ends.
    pub(super) fn transfer(&mut self, sectors: &Range<u64>, access: Access, now: Nanos) -> (Nanos, Nanos) {
        let first = self.platters.place(sectors.start);
        let from = now + self.time_to(first, access, now);
        self.move_to(sectors.end);
        (from, from + Nanos(self.media_time - first.start))
    }

    /// Places the head right behind the sector before `end`, without a seek.
    pub(super) fn move_to(&mut self, end: u64) {
        let last = self.platters.place(end - 1);
        (self.cylinder, self.head) = (last.cylinder, last.head);
        (self.next_sector, self.media_time) = (end, last.end);
    }
}

/// What a head does with sectors. It settles longer before a write than before a read, so data sheets give
/// separate seek times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

// Where sectors lie on the platters, and when they pass under a head.
//
// Sectors are numbered along a spiral from the outer edge: cylinder by cylinder, and head by head within a
// cylinder. Tracks of inner zones hold fewer sectors. Each track is skewed against the one before by the time
// of a head or cylinder change. So a sequential transfer never misses a revolution, and every sector has a
// *media time*: when a transfer that starts with sector 0 at time 0 reads it. At any time, the platter stands
// at the angle of the media time that equals this time modulo a revolution.

/// Geometry of the platters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlatterParameters {
    /// Sectors that can be addressed.
    pub sectors: u64,
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// Time of one revolution.
    pub revolution: Nanos,
    /// Surfaces, each with a head.
    pub heads: u32,
    /// Zones of equal width.
    pub zones: u32,
    /// Sustained rate at the outer edge, head and cylinder changes included.
    pub outer_bytes_per_s: u64,
    /// Sustained rate at the inner edge.
    pub inner_bytes_per_s: u64,
    /// Skew between the tracks of a cylinder: the time of a head change.
    pub head_skew: Nanos,
    /// Skew between cylinders: the time of a seek to the next one.
    pub cylinder_skew: Nanos,
}

/// The most cylinders supported; disks of 20 TB have about half a million.
const CYLINDERS_MAX: u64 = 4_000_000;

impl PlatterParameters {
    /// Checks that such platters can be laid out.
    ///
    /// # Errors
    /// The parameters contradict each other.
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

    /// Sectors per track in a zone, from the sustained rate in the zone's middle.
    fn sectors_per_track(&self, zone: u32) -> u64 {
        let middle = (f64::from(zone) + 0.5) / f64::from(self.zones);
        let rate = self.outer_bytes_per_s as f64 * (1.0 - middle) + self.inner_bytes_per_s as f64 * middle;
        let track_seconds = self.cylinder_time() as f64 / f64::from(self.heads) / 1e9;
        ((rate * track_seconds / f64::from(self.sector_bytes)).round() as u64).max(1)
    }

    /// Media time of a whole cylinder, including the change to the next.
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

/// Where a sector lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TrackPosition {
    pub(crate) cylinder: u32,
    pub(crate) head: u32,
    /// Media time at which it starts.
    pub(crate) start: u64,
    /// Media time at which it ends.
    pub(crate) end: u64,
}

/// The layout of all sectors.
pub(crate) struct Platters {
    pub(crate) parameters: PlatterParameters,
    zones: Vec<Zone>,
    /// Cylinders from the outer to the inner edge.
    pub(crate) cylinders: u32,
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

    /// Where a sector lies.
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

    /// The first sector whose end is after a media time.
    pub(crate) fn sector_after(&self, media_time: u64) -> u64 {
        let PlatterParameters { revolution, heads, head_skew, .. } = self.parameters;
        let zone = &self.zones[self.zones.partition_point(|zone| zone.start <= media_time) - 1];
        let within = media_time - zone.start;
        let (cylinder, in_cylinder) = (within / self.cylinder_time, within % self.cylinder_time);
        let head = (in_cylinder / (revolution.0 + head_skew.0)).min(u64::from(heads) - 1);
        let on_track = in_cylinder - head * (revolution.0 + head_skew.0);
        let track = cylinder * u64::from(heads) + head;
        // Sector s ends at ⌊(s + 1)·turn/n⌋, so this counts the ends up to here exactly.
        let ended = ((on_track.min(revolution.0) + 1) * zone.sectors_per_track - 1) / revolution.0;
        zone.first_sector + track * zone.sectors_per_track + ended.min(zone.sectors_per_track)
    }

    /// Time from `now` until the platter reaches the angle of a media time.
    pub(crate) fn rotate_to(&self, media_time: u64, now: Nanos) -> Nanos {
        let revolution = self.parameters.revolution.0;
        Nanos((media_time % revolution + revolution - now.0 % revolution) % revolution)
    }
}

/// Seek time by distance. Up to a third of the stroke, where the arm accelerates and brakes, it grows with
/// the square root; beyond, where the arm coasts, linearly (Ruemmler and Wilkes, "An Introduction to Disk
/// Drive Modeling", IEEE Computer 27(3), 1994).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SeekCurve {
    stroke: f64,
    track_ns: f64,
    knee_ns: f64,
    full_ns: f64,
}

/// Where the two parts meet, as a share of the stroke: the mean distance between two random positions.
const KNEE: f64 = 1.0 / 3.0;

impl SeekCurve {
    /// The curve over `cylinders` with `track` as its shortest and `full` as its longest time. Its mean over
    /// random pairs of cylinders is `average`, as data sheets define it.
    ///
    /// # Errors
    /// No such curve rises throughout.
    pub(crate) fn new(
        cylinders: u32,
        track: Nanos,
        average: Nanos,
        full: Nanos,
    ) -> Result<Self, LayoutError> {
        let (track_ns, average_ns, full_ns) = (track.0 as f64, average.0 as f64, full.0 as f64);
        // A random distance x of the stroke has the density 2(1 − x). Below the knee the time is
        // track + (knee − track)·√(x/K), above it knee + (full − knee)·(x − K)/(1 − K); each mean is
        // a weighted sum of the three times.
        let root_mean =
            (2.0 * (2.0 / 3.0) * KNEE.powf(1.5) - 2.0 * (2.0 / 5.0) * KNEE.powf(2.5)) / KNEE.sqrt();
        let near = 2.0 * KNEE - KNEE * KNEE;
        let far = (1.0 - KNEE) * (1.0 - KNEE);
        let far_slope = far / 3.0;
        let knee_ns = (average_ns - track_ns * (near - root_mean) - full_ns * far_slope)
            / (root_mean + far - far_slope);
        if track_ns <= knee_ns && knee_ns <= full_ns {
            Ok(Self { stroke: f64::from(cylinders).max(2.0) - 1.0, track_ns, knee_ns, full_ns })
        } else {
            Err(LayoutError::SeekCurve { track, average, full })
        }
    }

    /// Seek time over a number of cylinders; zero for zero.
    pub(crate) fn time(&self, distance: u32) -> Nanos {
        if distance == 0 {
            return Nanos::ZERO;
        }
        let share = f64::from(distance - 1) / self.stroke;
        let ns = if share < KNEE {
            self.track_ns + (self.knee_ns - self.track_ns) * (share / KNEE).sqrt()
        } else {
            self.knee_ns + (self.full_ns - self.knee_ns) * (share - KNEE) / (1.0 - KNEE)
        };
        Nanos(ns as u64)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    mod arm {
        use super::*;
        use crate::model::Mechanism;

        fn arm() -> Arm {
            let entry = crate::catalog().iter().find(|entry| entry.name == "wd6400aaks").unwrap();
            let Mechanism::Disk(parameters) = entry.model.mechanism else { panic!("it is a disk") };
            Arm::new(&parameters)
        }

        const HALFWAY: u64 = 600_000_000;

        #[test]
        fn going_on_costs_nothing_even_where_the_track_changes() {
            for access in [Access::Read, Access::Write] {
                let mut arm = arm();
                let mut now = Nanos(1);
                for part in 0..500 {
                    let sectors = HALFWAY + part * 777..HALFWAY + (part + 1) * 777;
                    if part > 0 {
                        assert_eq!(arm.positioning(sectors.start, access, now), Nanos::ZERO, "{part}");
                    }
                    now = arm.transfer(&sectors, access, now).1;
                }
                let rate = 500.0 * 777.0 * 512.0 / (now.as_secs_f64() - 0.03);
                assert!((60e6..119e6).contains(&rate), "no turn is lost: {rate}");
            }
        }

        #[test]
        fn a_transfer_starts_when_the_positioning_is_over() {
            let mut arm = arm();
            let positioning = arm.positioning(HALFWAY, Access::Read, Nanos(5));
            assert!(
                positioning > Nanos::from_millis(5) && positioning < Nanos::from_millis(30),
                "{positioning}"
            );
            assert_eq!(
                arm.transfer(&(HALFWAY..HALFWAY + 8), Access::Read, Nanos(5)).0,
                Nanos(5) + positioning
            );
        }

        #[test]
        fn a_head_settles_longer_before_a_write() {
            let arm = arm();
            let revolution = 60_000_000_000 / 7200;
            let [read, write] = [Access::Read, Access::Write].map(|access| {
                let positions =
                    (0..100).map(|step| arm.positioning(HALFWAY, access, Nanos(step * revolution / 100)).0);
                positions.sum::<u64>() / 100
            });
            assert!((1_500_000..4_500_000).contains(&(write - read)), "{read} {write}");
        }
    }

    pub(in crate::disk) mod platters {
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
                prop_assert!(this.cylinder < platters.cylinders);
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

    mod seek_curve {
        use super::*;

        fn curve() -> SeekCurve {
            let [track, average, full] = [2_000, 8_900, 21_000].map(Nanos::from_micros);
            SeekCurve::new(90_000, track, average, full).unwrap()
        }

        #[test]
        fn it_rises_from_track_to_full_stroke() {
            let curve = curve();
            assert_eq!(curve.time(0), Nanos(0));
            assert_eq!(curve.time(1), Nanos::from_micros(2_000));
            assert!((0..90_000).step_by(100).is_sorted_by_key(|distance| curve.time(distance)));
            assert_eq!(curve.time(90_000), Nanos::from_micros(21_000));
        }

        #[test]
        fn its_mean_over_random_pairs_is_the_average() {
            let curve = curve();
            let weighted = (1..1000u32).map(|x| {
                let share = f64::from(x) / 1000.0;
                2.0 * (1.0 - share) / 1000.0 * curve.time(x * 90).0 as f64
            });
            let mean: f64 = weighted.sum();
            assert!((mean / 8.9e6 - 1.0).abs() < 0.002, "{mean}");
        }

        #[test]
        fn times_that_do_not_rise_are_refused() {
            let [short, long] = [1, 20].map(Nanos::from_millis);
            assert!(SeekCurve::new(1000, short, long, short).is_err());
            assert!(SeekCurve::new(1000, long, short, long).is_err());
        }
    }
}
