//! The latency that this program adds to an I/O on this machine, measured on a separate ring, without any
//! drive.

use io_uring::{opcode, types};
use likenew_core::instrument::AddedLatency;
use likenew_core::units::Nanos;

use crate::clock::{Monotonic, sharpen_timers};
use crate::ring::Ring;

/// I/Os that do nothing, of which the median counts.
const CALLS: usize = 501;
/// Waits, each until a timer fires.
const WAITS: usize = 201;
/// How far ahead a timer is set, as for a drive that answers in 100 µs. Chosen: long enough for the core to
/// fall asleep.
const AHEAD: Nanos = Nanos::from_micros(100);

/// Measures for about 25 ms; nothing where this system has no io_uring.
pub fn measure() -> Option<AddedLatency> {
    let clock = Monotonic::start();
    let mut ring = Ring::open(4).ok()?;
    ring.enable().ok()?;
    sharpen_timers();
    let calls = (0..CALLS).map(|_| call(&mut ring, clock)).collect::<Option<Vec<_>>>()?;
    let wakes = (0..WAITS).map(|_| wake(&mut ring, clock)).collect::<Option<Vec<_>>>()?;
    Some(AddedLatency {
        call_ns: quantile(calls, 0.5),
        wake_ns_p50: quantile(wakes.clone(), 0.5),
        wake_ns_p99: quantile(wakes, 0.99),
    })
}

/// From handing over an I/O that does nothing to having read its completion.
fn call(ring: &mut Ring, clock: Monotonic) -> Option<u64> {
    let begun = clock.now();
    // SAFETY: a no-op points to nothing.
    unsafe { ring.queue().push(&opcode::Nop::new().build()) };
    ring.enter(0, Nanos::NEVER, clock).ok()?;
    while ring.completions().len() == 0 {
        ring.enter(1, Nanos::NEVER, clock).ok()?;
    }
    let ended = clock.now();
    ring.completions().for_each(drop);
    Some(ended.since(begun).0)
}

/// From the moment when a timer was due, as a completion is posted, to having read that it fired.
fn wake(ring: &mut Ring, clock: Monotonic) -> Option<u64> {
    let due = clock.now() + AHEAD;
    let (secs, nanos) = clock.absolute(due);
    let at = types::Timespec::new().sec(secs).nsec(nanos);
    let entry = opcode::Timeout::new(&at).flags(types::TimeoutFlags::ABS).build();
    // SAFETY: the kernel reads the time while it takes the entry, which is the next call, and `at` lives longer.
    unsafe { ring.queue().push(&entry) };
    ring.enter(0, Nanos::NEVER, clock).ok()?;
    while ring.completions().len() == 0 {
        ring.enter(1, Nanos::NEVER, clock).ok()?;
    }
    let ended = clock.now();
    ring.completions().for_each(drop);
    Some(ended.since(due).0)
}

/// The quantile of some values.
fn quantile(mut values: Vec<u64>, share: f64) -> u64 {
    values.sort_unstable();
    values[((values.len() - 1) as f64 * share).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_wake_ups_take_time() {
        let added = measure().expect("this machine has io_uring");
        assert!(
            added.call_ns > 0 && added.wake_ns_p50 > 0 && added.wake_ns_p99 >= added.wake_ns_p50,
            "{added:?}"
        );
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|share| quantile(vec![4, 1, 3, 2, 5], share)), [1, 3, 5, 5]);
    }
}
