//! Feeds damaged inputs to a target, and records failures.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::mutate::mutate;
use crate::{Input, Target};

/// Longest CPU time for one input of at most a megabyte, in a test build. Chosen: a dry run of an endless plan takes
/// three seconds, because it ends after 20,000 workloads.
const TIME_MAX: Duration = Duration::from_secs(10);
/// Most memory in bytes: several times what a parser needs for a megabyte.
const MEMORY_MAX: u64 = 1 << 30;
/// CPU time after which the memory is looked at. Chosen: so much of it cannot be filled sooner.
const SLOW: Duration = Duration::from_millis(10);
/// Failures at different places after which a target ends.
const FAILURES_MAX: usize = 8;

/// An input that caused a failure.
#[derive(Debug)]
pub struct Failure {
    /// The failure, and where it happened.
    pub what: String,
    /// The input.
    pub input: Input,
}

/// The result of a target.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Damaged inputs that were parsed.
    pub inputs: u64,
    /// Damaged inputs that were accepted.
    pub accepted: u64,
    /// Wall time.
    pub elapsed: Duration,
    /// Longest CPU time of a single input.
    pub longest: Duration,
    /// Peak memory of the process, in bytes; `None` if the system does not report it.
    pub memory_bytes: Option<u64>,
    /// Failures, one for each place.
    pub failures: Vec<Failure>,
}

thread_local! {
    /// Whether this thread is checking an input.
    static CHECKS: Cell<bool> = const { Cell::new(false) };
    /// Place and message of this thread's last panic.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Checks a target's seeds, which must be accepted, and then `inputs` damaged ones.
pub fn fuzz(target: &Target, inputs: u64, seed: u64) -> Outcome {
    catch_panics();
    reset_peak();
    let (mut outcome, mut places) = (Outcome::default(), BTreeSet::new());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let started_at = Instant::now();
    for input in &target.seeds {
        match check(target, input) {
            Ok((true, _)) => {}
            Ok((false, _)) => {
                note(&mut outcome, &mut places, "a seed was refused".into(), String::new(), input)
            }
            Err((place, what)) => note(&mut outcome, &mut places, what, place, input),
        }
    }
    while outcome.inputs < inputs && outcome.failures.len() < FAILURES_MAX {
        let mut input = target.seeds[random.random_range(0..target.seeds.len())].clone();
        mutate(&mut input, &target.seeds, &mut random);
        outcome.inputs += 1;
        let mut is_slow = false;
        match check(target, &input) {
            Ok((accepted, took)) => {
                is_slow = took > SLOW;
                outcome.accepted += u64::from(accepted);
                outcome.longest = outcome.longest.max(took);
                if took > TIME_MAX {
                    note(&mut outcome, &mut places, format!("it took {took:.1?}"), "time".into(), &input);
                }
            }
            Err((place, what)) => note(&mut outcome, &mut places, what, place, &input),
        }
        if is_slow && peak().is_some_and(|bytes| bytes > MEMORY_MAX) {
            let what = format!("it took more than {} MiB of memory", MEMORY_MAX >> 20);
            note(&mut outcome, &mut places, what, "memory".into(), &input);
        }
    }
    outcome.elapsed = started_at.elapsed();
    outcome.memory_bytes = peak();
    outcome
}

fn note(outcome: &mut Outcome, places: &mut BTreeSet<String>, what: String, place: String, input: &Input) {
    if places.insert(place) {
        outcome.failures.push(Failure { what, input: input.clone() });
    }
}

/// Checks one input. Returns whether it was accepted, and the CPU time; or place and message of a panic.
fn check(target: &Target, input: &Input) -> Result<(bool, Duration), (String, String)> {
    let started_at = processor_time();
    CHECKS.set(true);
    let checked = panic::catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    CHECKS.set(false);
    let took = processor_time().saturating_sub(started_at);
    checked.map(|accepted| (accepted, took)).map_err(|_| {
        let (place, message) = PANIC.with(|last| last.borrow_mut().take()).unwrap_or_default();
        (place.clone(), format!("it panicked at {place}: {message}"))
    })
}

/// Records panic messages of checks instead of printing them.
fn catch_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let message = info.payload_as_str().unwrap_or("a panic without a message").to_owned();
            if CHECKS.get() {
                PANIC.with(|last| *last.borrow_mut() = Some((place, message)));
            } else {
                eprintln!("panicked at {place}: {message}");
            }
        }));
    });
}

/// CPU time of this process: wall time says little on a busy machine.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Resets the kernel's record of peak memory (proc(5), `clear_refs`).
fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_wrong_is_found_with_its_input() {
        let check = |parts: &[Vec<u8>]| {
            let text = String::from_utf8_lossy(&parts[0]);
            let Ok(number) = text.trim().parse::<u64>() else { return false };
            assert!(number != u64::MAX, "the largest number");
            true
        };
        let target = Target::new("numbers", vec![vec![b"12".to_vec()], vec![b"x".to_vec()]], check);
        let outcome = fuzz(&target, 5000, 1);
        let message: Vec<&str> = outcome.failures.iter().map(|failure| failure.what.as_str()).collect();
        assert_eq!(message.len(), 2, "{message:?}");
        assert_eq!(message[0], "a seed was refused");
        assert!(
            message[1].contains("driver.rs") && message[1].ends_with("the largest number"),
            "{message:?}"
        );
        assert_eq!(outcome.failures[1].input[0], b"18446744073709551615");
        assert!(outcome.inputs == 5000 && outcome.accepted > 100 && outcome.memory_bytes.is_some());
    }
}
