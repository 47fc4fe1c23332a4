//! The machine's clocks: the monotonic one that every number comes from, and the calendar for names and reports.

use likenew_core::units::Nanos;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// `CLOCK_MONOTONIC` since a drive was opened. Copies share the epoch, so all lanes of a drive read one clock.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    /// The system clock when this clock read zero, in nanoseconds; for a resumed run that can be before the
    /// machine was started.
    epoch_ns: i64,
}

impl Monotonic {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self::reading(Nanos::ZERO)
    }

    /// A clock that reads `now` now.
    ///
    /// # Panics
    /// When `now` is more than two centuries.
    pub fn reading(now: Nanos) -> Self {
        let now = i64::try_from(now.0).expect("no run lasts for centuries");
        Self { epoch_ns: reading_ns().cast_signed() - now }
    }

    /// The time since it was started; never goes back.
    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos((reading_ns().cast_signed() - self.epoch_ns).cast_unsigned())
    }

    /// `at` as the kernel counts it, for timers that end at a point in time. Saturates far beyond any run.
    #[inline]
    pub(crate) fn absolute(&self, at: Nanos) -> (u64, u32) {
        let ns = at.0.saturating_add_signed(self.epoch_ns);
        (ns / NANOS_PER_SEC, (ns % NANOS_PER_SEC) as u32)
    }

    /// Sleeps until `until`; returns at once when that has passed.
    ///
    /// # Panics
    /// When asked to sleep for ever: nothing would end that.
    pub fn rest(&self, until: Nanos) {
        assert_ne!(until, Nanos::NEVER, "a rest without an end: nothing is in flight that could end it");
        while self.now() < until {
            let (secs, nanos) = self.absolute(until);
            let request = Timespec { tv_sec: secs.cast_signed(), tv_nsec: nanos.into() };
            // A signal ends a sleep early: the loop goes back to sleep for what is left.
            let _ = clock_nanosleep_absolute(ClockId::Monotonic, &request);
        }
    }
}

/// What the machine's monotonic clock reads, in nanoseconds: the clock that the kernel's records bear.
pub(crate) fn machine_ns() -> u64 {
    reading_ns()
}

#[inline]
fn reading_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * NANOS_PER_SEC + time.tv_nsec.cast_unsigned()
}

/// Lets timers of this thread fire when they are due instead of up to 50 µs later, the kernel's default slack: an open
/// pace counts latency from when an I/O was due. Where the kernel refuses, the slack stays.
pub(crate) fn sharpen_timers() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// The date and time in UTC as RFC 3339 has it, to the millisecond, so that it sorts the runs of one second:
/// `2026-03-01T12:30:45.678Z`.
pub fn wall_date() -> String {
    // The calendar is jiff's: well kept, needs no time zone database for UTC, and never reads the environment.
    format_date(jiff::Timestamp::now())
}

/// Seconds since 1970.
pub(crate) fn wall_seconds() -> u64 {
    jiff::Timestamp::now().as_second().max(0).cast_unsigned()
}

/// The date and time, in the same form, of so many milliseconds since 1970; `None` beyond the year 9999.
pub fn date_of(unix_ms: u64) -> Option<String> {
    jiff::Timestamp::from_millisecond(i64::try_from(unix_ms).ok()?).ok().map(format_date)
}

fn format_date(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_and_a_rest_lasts() {
        let clock = Monotonic::start();
        let until = clock.now() + Nanos::from_millis(3);
        clock.rest(until);
        assert!(clock.now() >= until);
        clock.rest(Nanos::ZERO);
    }

    #[test]
    fn a_clock_that_goes_on_is_never_behind() {
        let now = Nanos::from_secs(1_000_000_000);
        let clock = Monotonic::reading(now);
        assert!(clock.now() >= now && clock.now() < now + Nanos::from_secs(60));
        clock.rest(clock.now() + Nanos::from_millis(2));
    }

    #[test]
    #[should_panic(expected = "without an end")]
    fn a_rest_for_ever_is_our_mistake() {
        Monotonic::start().rest(Nanos::NEVER);
    }

    #[test]
    fn dates_have_the_promised_form() {
        let text = wall_date();
        let date: jiff::Timestamp = text.parse().unwrap();
        assert!(date.as_second() > 1_700_000_000 && text.len() == "2026-03-01T12:30:45.678Z".len(), "{text}");
        assert_eq!(date_of(951_782_400_042).as_deref(), Some("2000-02-29T00:00:00.042Z"));
        assert_eq!(date_of(u64::MAX), None);
    }
}
