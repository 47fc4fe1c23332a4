//! The machine's clocks: the monotonic one that times every I/O, and the calendar for names and reports.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;
use std::time::{Duration, SystemTime};

use likenew_core::units::Nanos;
use rustix::event::{PollFd, PollFlags, poll};
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

    /// A clock that reads `now` at this moment.
    ///
    /// # Panics
    /// When `now` is more than two centuries.
    pub fn reading(now: Nanos) -> Self {
        let now = i64::try_from(now.0).expect("no run lasts for centuries");
        Self { epoch_ns: machine_ns().cast_signed() - now }
    }

    /// The time since this clock read zero; never goes back.
    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos((machine_ns().cast_signed() - self.epoch_ns).cast_unsigned())
    }

    /// `at` on the kernel's clock, in seconds and nanoseconds, for absolute timers. Saturates far beyond any run.
    #[inline]
    pub(crate) fn absolute(&self, at: Nanos) -> (u64, u32) {
        let ns = at.0.saturating_add_signed(self.epoch_ns);
        (ns / NANOS_PER_SEC, (ns % NANOS_PER_SEC) as u32)
    }

    /// Sleeps until `until`; returns at once when that has passed.
    ///
    /// # Panics
    /// When `until` is `Nanos::NEVER`: nothing would end that sleep.
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

/// The machine's monotonic clock in nanoseconds, which also stamps the kernel's trace records.
#[inline]
pub(crate) fn machine_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * NANOS_PER_SEC + time.tv_nsec.cast_unsigned()
}

/// Lets timers of this thread fire when they are due, instead of up to 50 µs later, the kernel's default
/// slack. An open arrival counts latency from the due time. If the kernel refuses, the slack stays.
pub(crate) fn sharpen_timers() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// The date and time in UTC (RFC 3339), with milliseconds to sort the runs of one second:
/// `2026-03-01T12:30:45.678Z`.
pub fn wall_date() -> String {
    // The calendar comes from jiff, which needs no time zone database for UTC and never reads the environment.
    format_date(jiff::Timestamp::now())
}

/// Milliseconds since 1970.
pub fn wall_ms() -> u64 {
    jiff::Timestamp::now().as_millisecond().max(0).cast_unsigned()
}

/// Seconds since 1970.
pub(crate) fn wall_seconds() -> u64 {
    wall_ms() / 1_000
}

/// The date and time at `unix_ms` milliseconds since 1970, in the form of [`wall_date`]; `None` beyond the year 9999.
pub fn date_of(unix_ms: u64) -> Option<String> {
    jiff::Timestamp::from_millisecond(i64::try_from(unix_ms).ok()?).ok().map(format_date)
}

fn format_date(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

// Waits for an event or for a point in time, whichever comes first.

/// This long before a point in time, waiting changes from sleep to polling. Chosen: waking up takes about as long.
const AWAKE: Nanos = Nanos::from_micros(50);

/// A file descriptor, and the events to wait for.
#[derive(Clone, Copy, Debug)]
pub struct WaitEvent<'f> {
    /// The descriptor.
    pub fd: BorrowedFd<'f>,
    /// Whether to wait until there is something to read.
    pub reads: bool,
    /// Whether to wait until a write is accepted.
    pub writes: bool,
}

/// One thread's way to wait on a clock.
#[derive(Debug)]
pub struct Waiter {
    clock: Monotonic,
}

impl Waiter {
    /// From now on, timers of this thread fire without the kernel's slack.
    pub fn with_clock(clock: Monotonic) -> Self {
        sharpen_timers();
        Self { clock }
    }

    /// Waits until a descriptor is ready or has failed, until `until`, or until a signal comes. `ready` then
    /// has one entry for each descriptor, in order.
    pub fn wait(&self, awaited: &[WaitEvent<'_>], until: Nanos, ready: &mut Vec<bool>) {
        let flags = |awaited: &WaitEvent<'_>| {
            let when = |condition, flag| if condition { flag } else { PollFlags::empty() };
            when(awaited.reads, PollFlags::IN) | when(awaited.writes, PollFlags::OUT)
        };
        let mut fds: Vec<PollFd<'_>> =
            awaited.iter().map(|awaited| PollFd::from_borrowed_fd(awaited.fd, flags(awaited))).collect();
        loop {
            let left = until.since(self.clock.now());
            let sleep = left.since(AWAKE).0;
            let timeout = Timespec {
                tv_sec: (sleep / NANOS_PER_SEC).cast_signed(),
                tv_nsec: (sleep % NANOS_PER_SEC).cast_signed(),
            };
            // A signal ends the wait: the caller checks whether it is asked to stop.
            let happened = poll(&mut fds, Some(&timeout)).map_or(true, |count| count > 0);
            if happened || self.clock.now() >= until {
                break;
            }
        }
        ready.clear();
        ready.extend(fds.iter().map(|fd| !fd.revents().is_empty()));
    }
}

// The identifier of a boot: after an interruption, it shows whether the power has been off since.

/// The file that names one start of the system (random(4)).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// A start of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boot {
    /// The identifier, different for each boot.
    pub id: String,
    /// When the boot began, by the calendar as it is set now.
    pub started_at: SystemTime,
}

impl Boot {
    /// The current boot; `None` if the system does not say.
    pub fn present() -> Option<Self> {
        let id = std::fs::read_to_string(BOOT_ID).ok()?.trim().to_owned();
        let up = clock_gettime(ClockId::Boottime);
        let up = Duration::new(up.tv_sec.unsigned_abs(), u32::try_from(up.tv_nsec).ok()?);
        let started_at = SystemTime::now().checked_sub(up)?;
        (!id.is_empty()).then_some(Self { id, started_at })
    }

    /// A boot with this identifier that begins now, for tests that cannot restart the machine.
    pub fn from_id(id: &str) -> Self {
        Self { id: id.to_owned(), started_at: SystemTime::now() }
    }
}

// Seeds and secrets from the system's random numbers.

/// Bits of a seed: a double holds integers up to this size exactly, wherever a plan or report is read.
const SEED_BITS: u32 = 53;

/// A fresh seed, below 2⁵³.
///
/// # Errors
/// The system has no `/dev/urandom`, or refuses to have it read.
pub fn new_seed() -> io::Result<u64> {
    Ok(u64::from_le_bytes(random()?) >> (u64::BITS - SEED_BITS))
}

/// A secret that nobody can guess.
///
/// # Errors
/// As for [`new_seed`].
pub fn new_secret() -> io::Result<[u8; 32]> {
    random()
}

fn random<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

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

    #[test]
    fn it_wakes_for_what_comes_and_not_before_it_is_time() {
        let clock = Monotonic::start();
        let attention = Waiter::with_clock(clock);
        let (here, mut there) = UnixStream::pair().unwrap();
        let awaited = [WaitEvent { fd: here.as_fd(), reads: true, writes: false }];
        let mut ready = Vec::new();
        let until = clock.now() + Nanos::from_millis(3);
        attention.wait(&awaited, until, &mut ready);
        assert!(ready == [false] && clock.now() >= until);
        there.write_all(b"x").unwrap();
        attention.wait(&awaited, Nanos::NEVER, &mut ready);
        assert_eq!(ready, [true]);
        attention.wait(&[WaitEvent { reads: false, writes: true, ..awaited[0] }], Nanos::NEVER, &mut ready);
        assert_eq!(ready, [true]);
        drop(there);
        attention.wait(&awaited, Nanos::NEVER, &mut ready);
        assert_eq!(ready, [true]);
    }

    #[test]
    fn a_boot_is_the_same_one_until_the_next_and_lies_in_the_past() {
        let Some(boot) = Boot::present() else { return };
        assert_eq!(Boot::present().map(|boot| boot.id), Some(boot.id.clone()));
        assert!(boot.started_at < SystemTime::now());
        assert_ne!(Boot::from_id("another"), boot);
    }

    #[test]
    fn two_runs_have_different_seeds_and_both_can_be_written_down() {
        let [first, second] = [(); 2].map(|()| super::new_seed().unwrap());
        assert_ne!(first, second);
        assert!(first < 1 << 53 && second < 1 << 53);
    }
}
