//! Waits for an event or for a point in time, whichever comes first.

use std::os::fd::BorrowedFd;

use likenew_core::units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::{Monotonic, sharpen_timers};

/// The last stretch before a point in time is polled and not slept. Chosen: waking up takes about as long.
const AWAKE: Nanos = Nanos::from_micros(50);
const NANOS_PER_SEC: u64 = 1_000_000_000;

/// What a file descriptor is waited for.
#[derive(Clone, Copy, Debug)]
pub struct WaitEvent<'f> {
    /// Which.
    pub fd: BorrowedFd<'f>,
    /// Whether it is waited for until there is something to read.
    pub reads: bool,
    /// Whether it is waited for until it takes something.
    pub writes: bool,
}

/// One thread's way to wait on a clock.
#[derive(Debug)]
pub struct Waiter {
    clock: Monotonic,
}

impl Waiter {
    /// Timers of this thread fire when they are due from now on.
    pub fn with_clock(clock: Monotonic) -> Self {
        sharpen_timers();
        Self { clock }
    }

    /// Waits until any of them is ready or has failed, until `until`, or until a signal came. Says, in their
    /// order, which are ready.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

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
}
