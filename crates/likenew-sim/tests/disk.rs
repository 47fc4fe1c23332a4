//! What a disk does follows from its platters, its arm and its caches.

mod closed_loop;

use std::path::Path;

use closed_loop::{Load, Rates, open, run};
use likenew_core::drive::Drive as _;
use likenew_core::io::Op;
use likenew_sim::{SimDrive, Spec};

const NAME: &str = "sim:wd6400aaks";
const CAPACITY: u64 = 640_135_028_736;

fn random(op: Op, depth: u32, ios: u64) -> Load {
    Load { op, random: true, length: 4096, depth, start: 0, span: CAPACITY, ios }
}

fn sequential(op: Op, length: u32, start: u64) -> Load {
    Load { op, random: false, length, depth: 1, start, span: 1 << 32, ios: (1 << 30) / u64::from(length) }
}

fn measure(load: Load) -> Rates {
    run(&mut open(NAME), load)
}

/// The same disk with its write cache off.
fn uncached() -> SimDrive {
    let text = include_str!("../../../catalog/wd6400aaks.toml")
        .replace("write_cache_bytes = { value = 16777216", "write_cache_bytes = { value = 0");
    Spec::parse("sim:uncached.toml").unwrap().open(|_: &Path| Ok(text.clone().into())).unwrap()
}

#[test]
fn sequential_transfers_run_at_the_rate_of_the_medium() {
    for (op, length) in [(Op::Read, 1 << 16), (Op::Read, 1 << 20), (Op::Write, 1 << 16), (Op::Write, 1 << 20)]
    {
        let rates = measure(sequential(op, length, 0));
        assert!((rates.bytes_per_s / 108.3e6 - 1.0).abs() < 0.06, "{op} {length}: {rates:?}");
    }
}

#[test]
fn the_outer_edge_is_twice_as_fast_as_the_inner() {
    let [outer, inner] =
        [0, CAPACITY - (1 << 32)].map(|start| measure(sequential(Op::Read, 1 << 20, start)).bytes_per_s);
    assert!((1.8..2.0).contains(&(outer / inner)), "{outer} {inner}");
}

#[test]
fn a_random_read_is_a_seek_half_a_turn_and_overhead() {
    let rates = measure(random(Op::Read, 1, 4000));
    let expected_ns = 8.9e6 + 60e9 / 7200.0 / 2.0 + 0.3e6;
    // Places are random in addresses, and the outer cylinders hold more of them, so seeks are a little shorter.
    assert!((rates.latency_ns_mean / expected_ns - 1.0).abs() < 0.04, "{rates:?} of {expected_ns}");
}

#[test]
fn more_in_flight_means_more_a_second() {
    let [one, eight, all] = [1, 8, 32].map(|depth| measure(random(Op::Read, depth, 4000)).iops);
    assert!(eight > 1.3 * one && all > 1.2 * eight, "{one} {eight} {all}");
}

#[test]
fn more_in_flight_than_the_drive_has_slots_changes_nothing() {
    let [slots, beyond] = [32, 128].map(|depth| measure(random(Op::Read, depth, 4000)).iops);
    assert!((beyond / slots - 1.0).abs() < 0.02, "{slots} {beyond}");
}

#[test]
fn nobody_waits_for_ever() {
    let rates = measure(random(Op::Read, 32, 10_000));
    assert!(rates.latency_max.as_secs_f64() < 2.0, "{rates:?}");
}

#[test]
fn a_write_cache_makes_random_writes_faster_than_random_reads() {
    let read = measure(random(Op::Read, 1, 4000)).iops;
    let cached = measure(random(Op::Write, 1, 8000)).iops;
    let bare = run(&mut uncached(), random(Op::Write, 1, 4000)).iops;
    assert!(cached > 1.5 * read, "{cached} {read}");
    assert!(bare < read, "a write without cache settles longer than a read: {bare} {read}");
}

#[test]
fn sequential_writes_without_cache_lose_a_turn_each() {
    let rates = run(&mut uncached(), sequential(Op::Write, 1 << 16, 0));
    let turns_per_io = rates.latency_ns_mean / (60e9 / 7200.0);
    assert!((0.95..1.1).contains(&turns_per_io), "{turns_per_io}");
}

#[test]
fn a_used_disk_is_as_fast_as_a_new_one_and_says_so() {
    let [mut new, mut used] = ["new", "used"].map(|state| open(&format!("{NAME}?state={state}")));
    let load = random(Op::Write, 4, 1000);
    assert_eq!(run(&mut new, load), run(&mut used, load));
    let says_so = |(name, value): &(String, String)| name == "state" && value.contains("same as a new one");
    assert!(used.identity().facts.iter().any(says_so));
    assert!(!used.geometry().trims);
}

#[test]
fn the_books_count_what_reaches_the_platters() {
    let mut drive = open(NAME);
    run(&mut drive, random(Op::Write, 4, 1000));
    let books = drive.accounting().unwrap();
    assert_eq!(books.host_bytes_written, 1000 * 4096);
    assert!(books.flash_bytes_programmed <= books.host_bytes_written);
    assert!(books.flash_bytes_programmed > books.host_bytes_written / 2);
    assert_eq!((books.erases, books.free_blocks), (0, 0));
}
