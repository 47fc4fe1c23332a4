//! Maps wall time to a drive's time.

use likenew_core::units::Nanos;

/// The source of wall time: a monotonic clock, or a test.
pub trait Clock {
    /// The time since it was started; never goes back.
    fn now(&self) -> Nanos;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Nanos {
        (**self).now()
    }
}

/// A drive's clock beside the wall's: `speed` of its seconds pass in one of the wall's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockScale {
    wall: Nanos,
    drive: Nanos,
    speed: f64,
}

impl ClockScale {
    /// From now on, when the clocks read `wall` and `drive`. `speed` is positive.
    pub(crate) fn new(wall: Nanos, drive: Nanos, speed: f64) -> Self {
        assert!(speed > 0.0 && speed.is_finite(), "time goes on: {speed}");
        Self { wall, drive, speed }
    }

    /// The drive's time at that wall time.
    pub(crate) fn drive_at(&self, wall: Nanos) -> Nanos {
        self.drive + Nanos((wall.since(self.wall).0 as f64 * self.speed) as u64)
    }

    /// The wall time at which the drive's clock reads that: never a nanosecond early.
    pub(crate) fn wall_at(&self, drive: Nanos) -> Nanos {
        let span = drive.since(self.drive).0 as f64 / self.speed;
        let mut wall = self.wall + Nanos(span.ceil() as u64);
        while self.drive_at(wall) < drive && wall < Nanos::NEVER {
            wall += Nanos(1);
        }
        wall
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_due_has_come(speed in 0.001f64..1000.0, begun in 0u64..1 << 50, due in 0u64..1 << 50) {
            let clock_scale = ClockScale::new(Nanos(begun), Nanos(7), speed);
            let wall = clock_scale.wall_at(Nanos(due));
            prop_assert!(clock_scale.drive_at(wall) >= Nanos(due));
            // Within a millionth and what one nanosecond of the wall is to the drive.
            let late = clock_scale.drive_at(wall).since(Nanos(due).max(Nanos(7))).0 as f64;
            prop_assert!(late <= 2.0 * speed.max(1.0) + due as f64 * 1e-6, "{late}");
        }
    }
}
