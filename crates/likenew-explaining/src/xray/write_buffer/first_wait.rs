//! How much a burst has sent when it has to wait for the first time, less what had left the buffer by then.
//!
//! Bytes are programmed in the order in which they come, so what had left is the longest burst that is flushed no later than that:
//! shorter bursts find it by halving. A small buffer is full before the first program has ended, and nothing has left it.

use likenew_core::findings::Mark;

use likenew_stats::summary::median;

use super::super::property::{Key, Property};
use super::super::wording;

/// Bursts that have to wait after as much. Chosen: two may agree by chance.
const BURSTS: usize = 3;
/// Most bursts, if they do not. Chosen: two of five may have been disturbed.
pub(super) const BURSTS_MAX: usize = 5;
/// Length of a burst over what it has sent when it waits. Chosen: the chart shows what comes after it.
pub(super) const LENGTH: u64 = 4;
/// A wait is so many times as long as an I/O without one, at least. Chosen: above the jitter of a link.
const WAIT: f64 = 4.0;
/// I/Os whose waits say nothing: all of them are sent at the same moment. Chosen: as many as are in flight.
const FIRST_IOS: usize = 4;
/// I/Os behind them whose median shows how long one takes that does not wait. Chosen: fewer than fit into a buffer.
const LINK_IOS: usize = 7;
/// Difference between bursts that agree, as a share, if that is more than an I/O. Chosen: below the error of the answer.
const AGREE: f64 = 0.02;
/// Share of the buffer to which it is found out what had left it. Chosen: well below the tenth that counts as right.
const NARROW: f64 = 0.04;

/// What a burst had sent when it began to wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FirstWait {
    pub(super) bytes: f64,
    /// Since the burst began, in nanoseconds.
    pub(super) at_ns: f64,
}

/// A short burst, and when all of it was in the flash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FlushedBurst {
    pub(super) bytes: f64,
    /// Since it began, in nanoseconds.
    pub(super) flushed_ns: f64,
}

/// Bounds of what had left the buffer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Programmed {
    pub(super) least: f64,
    pub(super) most: f64,
}

/// The first wait of a burst; `None` if there is none.
///
/// `intake` are nanoseconds since the burst began, and bytes taken by then.
pub(super) fn first_wait(intake: &[[f64; 2]]) -> Option<FirstWait> {
    let gap_ns = |pair: &[[f64; 2]]| pair[1][0] - pair[0][0];
    // I/Os that have waited come in together, so only the first ones show how long one takes that does not.
    let first: Vec<f64> = intake.get(FIRST_IOS..)?.windows(2).take(LINK_IOS).map(gap_ns).collect();
    let crossing_ns = median(&first)?;
    let is_wait = |pair: &&[[f64; 2]]| gap_ns(pair) >= WAIT * crossing_ns;
    let [at_ns, bytes] = intake[FIRST_IOS..].windows(2).find(is_wait)?[0];
    Some(FirstWait { bytes, at_ns })
}

/// What bursts of I/Os of `block` bytes say together: the one in the middle, if enough are near it.
pub(super) fn agreed_wait(waits: &[FirstWait], block: f64) -> Option<FirstWait> {
    let mut sorted = waits.to_vec();
    sorted.sort_by(|one, other| one.bytes.total_cmp(&other.bytes));
    let middle = *sorted.get(sorted.len() / 2)?;
    let near = block.max(AGREE * middle.bytes);
    let count = sorted.iter().filter(|wait| (wait.bytes - middle.bytes).abs() <= near).count();
    (count >= BURSTS).then_some(middle)
}

/// What had been programmed when a burst began to wait, as far as short ones show it.
pub(super) fn programmed(wait: FirstWait, bursts: &[FlushedBurst]) -> Programmed {
    let (early, late): (Vec<FlushedBurst>, Vec<FlushedBurst>) =
        bursts.iter().partition(|burst| burst.flushed_ns <= wait.at_ns);
    let most = late.iter().map(|burst| burst.bytes).fold(wait.bytes, f64::min);
    let least = early.iter().map(|burst| burst.bytes).filter(|bytes| *bytes < most).fold(0.0, f64::max);
    Programmed { least, most }
}

/// Length of the next short burst, in bytes; `None` when enough is known.
pub(super) fn next_bytes(wait: FirstWait, block: f64, bursts: &[FlushedBurst]) -> Option<f64> {
    let Programmed { least, most } = programmed(wait, bursts);
    // The first one decides whether anything had left.
    let middle = if bursts.is_empty() { block } else { ((least + most) / 2.0 / block).round() * block };
    let near = block.max(NARROW * (wait.bytes - least));
    (most - least > near && middle > least && middle < most).then_some(middle)
}

/// From the first wait of bursts of I/Os of `block` bytes.
pub(super) fn property(wait: FirstWait, block: f64, Programmed { least, most }: Programmed) -> Property {
    // If not even one I/O was flushed by then, nothing had left.
    let most = if least > 0.0 { most } else { 0.0 };
    // A part of the next I/O has come in.
    let value = wait.bytes + block / 2.0 - least.midpoint(most);
    let interval = (wait.bytes - most - block / 4.0, wait.bytes - least + 1.25 * block);
    let reason = wording::first_wait(wait.bytes, wait.at_ns, least);
    Property::number(Key::WriteBufferBytes, value, interval, 0.95, reason)
}

/// Where a burst began to wait.
pub(super) fn mark(wait: FirstWait, value: f64) -> Mark {
    Mark { x: wait.at_ns, label: wording::buffer_full(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I/Os of a byte, one a nanosecond, with these waits before some of them.
    fn intake(ios: usize, waits: &[(usize, f64)]) -> Vec<[f64; 2]> {
        let mut now = 0.0;
        let taken = |index: usize| {
            let wait: f64 = waits.iter().filter(|(at, _)| *at == index).map(|(_, wait)| wait).sum();
            now += 1.0 + wait;
            [now, (index + 1) as f64]
        };
        (0..ios).map(taken).collect()
    }

    #[test]
    fn a_wait_is_longer_than_the_jitter_of_a_link() {
        let wait = |waits: &[(usize, f64)]| first_wait(&intake(200, waits));
        let of = |bytes: f64| Some(FirstWait { bytes, at_ns: bytes });
        assert_eq!(wait(&[(50, 60.0), (70, 60.0)]), of(50.0));
        assert_eq!(wait(&[(20, 1.0), (50, 60.0)]).map(|wait| wait.bytes), Some(50.0));
        assert_eq!(wait(&[(2, 9.0), (50, 60.0)]).map(|wait| wait.bytes), Some(50.0));
        assert_eq!(wait(&[]), None);
        let mut together = intake(200, &[(50, 60.0)]);
        together[51..55].iter_mut().for_each(|taken| taken[0] = 111.0);
        assert_eq!(
            first_wait(&together).map(|wait| wait.bytes),
            Some(50.0),
            "those that waited come in together"
        );
        assert_eq!(first_wait(&[]), None);
    }

    #[test]
    fn bursts_that_disagree_say_nothing() {
        let waits = |all: &[f64]| -> Vec<FirstWait> {
            all.iter().map(|bytes| FirstWait { bytes: *bytes, at_ns: 0.0 }).collect()
        };
        let agreed = |all: &[f64]| agreed_wait(&waits(all), 4.0).map(|wait| wait.bytes);
        assert_eq!(agreed(&[48.0, 52.0, 48.0]), Some(48.0));
        assert_eq!(agreed(&[48.0, 20.0, 48.0, 52.0]), Some(48.0));
        assert_eq!(agreed(&[48.0, 20.0, 60.0]), None);
        assert_eq!(agreed(&[48.0, 48.0]), None);
        assert_eq!(agreed(&[]), None);
    }

    /// The buffer that is found where the flash programs units of so many bytes, one after the other, each in this time, behind
    /// a link that takes a byte in a nanosecond.
    fn found(buffer: f64, unit: f64, program_ns: f64) -> (f64, usize) {
        // In phase: unit k is programmed at (k + 1) × its time, and what has come is the time.
        let programmed_at = |at_ns: f64| (at_ns / program_ns).floor() * unit;
        let at_ns =
            (1..100_000).map(f64::from).find(|at_ns| at_ns - programmed_at(*at_ns) >= buffer).unwrap();
        let wait = FirstWait { bytes: at_ns, at_ns };
        let mut bursts = Vec::new();
        while let Some(bytes) = next_bytes(wait, 1.0, &bursts) {
            let flushed_ns = (bytes / unit).ceil() * program_ns;
            bursts.push(FlushedBurst { bytes, flushed_ns });
        }
        let property = property(wait, 1.0, programmed(wait, &bursts));
        (property.value().unwrap(), bursts.len())
    }

    #[test]
    fn what_had_left_is_what_a_burst_had_flushed_by_then() {
        for (buffer, unit, program_ns) in
            [(50.0, 10.0, 100.0), (300.0, 10.0, 100.0), (1000.0, 64.0, 100.0), (200.0, 50.0, 60.0)]
        {
            let (value, bursts) = found(buffer, unit, program_ns);
            assert!((value / buffer - 1.0).abs() < 0.05, "{value} of {buffer}");
            assert!(bursts <= 8, "{bursts}");
        }
        assert_eq!(found(50.0, 10.0, 100.0).1, 1, "one burst shows that nothing had left");
    }
}
