//! The arm of a disk: where its head is, how long it takes to a sector, and how long a transfer takes.

use std::ops::Range;

use likenew_core::units::Nanos;

use super::access::Access;
use super::disk_parameters::DiskParameters;
use super::platters::{Platters, TrackPosition};
use super::seek_curve::SeekCurve;

/// The arm over its platters.
pub(super) struct Arm {
    platters: Platters,
    reads: Motion,
    writes: Motion,
    cylinder: u32,
    head: u32,
    /// The sector after the last one read or written, and the media time when that one ended.
    next_sector: u64,
    media_time: u64,
}

/// How the arm moves for one kind of access.
struct Motion {
    seek: SeekCurve,
    head_switch: Nanos,
}

impl Arm {
    /// At the outer edge; the parameters have been checked.
    pub(super) fn new(parameters: &DiskParameters) -> Self {
        let platters = Platters::new(parameters.platters);
        let (reads, writes) =
            parameters.seek_curves(platters.cylinders()).expect("the parameters were checked");
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

    pub(super) fn platters(&self) -> &Platters {
        &self.platters
    }

    /// How long it takes from now until a sector is under its head. A track change within a sequential
    /// transfer does not count: a request that continues it later would pay for it as well.
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

    /// Goes to some sectors and reads or writes them; when that starts and ends.
    pub(super) fn transfer(&mut self, sectors: &Range<u64>, access: Access, now: Nanos) -> (Nanos, Nanos) {
        let first = self.platters.place(sectors.start);
        let from = now + self.time_to(first, access, now);
        self.move_to(sectors.end);
        (from, from + Nanos(self.media_time - first.start))
    }

    /// Moves the head to just before this sector, without a seek.
    pub(super) fn move_to(&mut self, end: u64) {
        let last = self.platters.place(end - 1);
        (self.cylinder, self.head) = (last.cylinder, last.head);
        (self.next_sector, self.media_time) = (end, last.end);
    }
}

#[cfg(test)]
mod tests {
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
        assert!(positioning > Nanos::from_millis(5) && positioning < Nanos::from_millis(30), "{positioning}");
        assert_eq!(arm.transfer(&(HALFWAY..HALFWAY + 8), Access::Read, Nanos(5)).0, Nanos(5) + positioning);
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
