//! What one drive did between two readings.

use likenew_core::findings::DriveReading;
use likenew_core::io::Op;
use likenew_core::stat::{OpStat, Stat};
use likenew_core::units::Nanos;

/// Counts of one interval, and rates from them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Activity {
    /// When the interval ended, on the reader's clock.
    pub at: Nanos,
    /// How long it was.
    pub elapsed: Nanos,
    /// I/Os that ended in it.
    pub stat: Stat,
    /// Reads and writes in flight at its end, where the kernel counts them separately.
    pub in_flight: Option<[u64; 2]>,
    /// Degrees Celsius at its end.
    pub temperature_c: Option<f64>,
    /// For how long, at least, I/O has been in flight and nothing ended; zero where something ended.
    pub waiting: Nanos,
}

impl Activity {
    /// From two readings of one drive, where `waiting` is how long it had answered nothing before. `None`
    /// when the readings are of different drives or the drive restarted.
    pub fn between(before: &DriveReading, now: &DriveReading, waiting: Nanos) -> Option<Self> {
        if before.instance != now.instance || now.at <= before.at {
            return None;
        }
        let stat = now.stat.since(&before.stat)?;
        let elapsed = now.at - before.at;
        let is_stuck = before.stat.in_flight > 0 && stat.in_flight > 0 && ended_ios(&stat) == 0;
        Some(Self {
            at: now.at,
            elapsed,
            stat,
            in_flight: now.in_flight,
            temperature_c: now.temperature_c,
            waiting: if is_stuck { waiting + elapsed } else { Nanos::ZERO },
        })
    }

    /// Bytes a second of an operation; 0 where it is not counted.
    pub fn bytes_per_s(&self, op: Op) -> f64 {
        self.per_s(self.op_stat(op).bytes())
    }

    /// IOPS of one operation; 0 where it is not counted.
    pub fn iops(&self, op: Op) -> f64 {
        self.per_s(self.op_stat(op).ios)
    }

    /// What is counted of an operation; nothing where the kernel does not count it.
    pub fn op_stat(&self, op: Op) -> OpStat {
        self.stat.op_stat(op).copied().unwrap_or_default()
    }

    /// The share of the interval in which something was in flight, 0 to 1.
    ///
    /// The kernel counts a tick of its clock as busy when an I/O began or ended in it, so that short I/Os,
    /// one in every tick, read as 1; and it settles a long I/O when it ends, which can be more than the
    /// interval held and is cut to 1.
    pub fn busy(&self) -> f64 {
        (self.stat.busy_ms as f64 * 1e6 / self.elapsed.0 as f64).min(1.0)
    }

    /// Mean number in flight: time of all I/Os together over the interval. An I/O counts as a whole when it ends.
    pub fn queue(&self) -> f64 {
        self.stat.weighted_ms as f64 * 1e6 / self.elapsed.0 as f64
    }

    /// Whether anything ended or is in flight.
    pub fn is_active(&self) -> bool {
        ended_ios(&self.stat) > 0 || self.stat.in_flight > 0
    }

    fn per_s(&self, count: u64) -> f64 {
        count as f64 / self.elapsed.as_secs_f64()
    }
}

fn ended_ios(stat: &Stat) -> u64 {
    Op::ALL.iter().filter_map(|op| stat.op_stat(*op)).map(|count| count.ios).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drives::tests::reading;

    #[test]
    fn rates_are_counts_over_the_time_between_two_readings() {
        let before = reading("sda", 1, 1_000, "0 0 0 0 0 0 0 0 0 0 0");
        let after = reading("sda", 1, 3_000, "100 5 20480 50 10 0 2048 400 2 1000 450");
        let activity = Activity::between(&before, &after, Nanos::ZERO).unwrap();
        assert_eq!((activity.bytes_per_s(Op::Read), activity.iops(Op::Read)), (5_242_880.0, 50.0));
        assert_eq!(activity.op_stat(Op::Write).latency_mean(), Some(Nanos::from_millis(40)));
        assert_eq!((activity.busy(), activity.queue(), activity.bytes_per_s(Op::Trim)), (0.5, 0.225, 0.0));
        assert!(activity.is_active() && activity.waiting == Nanos::ZERO);
    }

    #[test]
    fn a_drive_that_answers_nothing_waits_longer_and_longer() {
        let stuck = |at| reading("sda", 1, at, "7 0 0 0 0 0 0 0 3 0 0");
        let first = Activity::between(&stuck(0), &stuck(1_000), Nanos::ZERO).unwrap();
        let second = Activity::between(&stuck(1_000), &stuck(3_000), first.waiting).unwrap();
        assert_eq!((first.waiting, second.waiting), (Nanos::from_secs(1), Nanos::from_secs(3)));
        let freed = reading("sda", 1, 4_000, "8 0 0 0 0 0 0 0 2 0 0");
        assert_eq!(Activity::between(&stuck(3_000), &freed, second.waiting).unwrap().waiting, Nanos::ZERO);
    }

    #[test]
    fn what_is_another_drive_or_began_anew_has_no_rates() {
        let before = reading("sda", 1, 0, "7 0 0 0 0 0 0 0 0 0 0");
        for now in
            [reading("sda", 2, 1, "8 0 0 0 0 0 0 0 0 0 0"), reading("sda", 1, 1, "3 0 0 0 0 0 0 0 0 0 0")]
        {
            assert_eq!(Activity::between(&before, &now, Nanos::ZERO), None);
        }
        assert_eq!(Activity::between(&before, &before, Nanos::ZERO), None, "no time has passed");
    }

    #[test]
    fn no_share_is_more_than_all() {
        let before = reading("sda", 1, 0, "0 0 0 0 0 0 0 0 1 0 0");
        let after = reading("sda", 1, 1_000, "1 0 8 5000 0 0 0 0 0 5000 5000");
        let activity = Activity::between(&before, &after, Nanos::ZERO).unwrap();
        assert_eq!((activity.busy(), activity.queue()), (1.0, 5.0));
    }
}
