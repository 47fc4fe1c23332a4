//! A disk's behavior follows from its platters, its arm and its caches.

use std::path::Path;

use crate::closed_loop::{Load, Rates, open, run};
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::laws;
use likenew_core::units::Nanos;
use likenew_sim::model::Mechanism;
use likenew_sim::{SimDrive, Spec, catalog};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

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
    open(&format!("{NAME}?cache=off"))
}

/// The same disk with a change in its file.
fn changed(from: &str, to: &str) -> SimDrive {
    let text = include_str!("../../../../catalog/wd6400aaks.toml");
    assert!(text.contains(from), "{from}");
    let text = text.replace(from, to);
    Spec::parse("sim:changed.toml").unwrap().open(|_: &Path| Ok(text.clone().into())).unwrap()
}

#[test]
fn every_disk_of_the_catalog_keeps_the_laws() {
    let disks = catalog().iter().filter(|entry| matches!(entry.model.mechanism, Mechanism::Disk(_)));
    for entry in disks {
        laws::all(|| open(&format!("sim:{}", entry.name)));
        laws::all(|| open(&format!("sim:{}?cache=off", entry.name)));
    }
}

#[test]
fn sequential_transfers_run_at_the_rate_of_the_medium() {
    for (op, length) in
        [Op::Read, Op::Write].into_iter().flat_map(|op| [16, 20, 24].map(|bits| (op, 1 << bits)))
    {
        let rates = measure(sequential(op, length, 0));
        assert!((rates.bytes_per_s / 117.2e6 - 1.0).abs() < 0.06, "{op} {length}: {rates:?}");
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
    // Addresses are random, and the outer cylinders hold more of them, so seeks are a little shorter.
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
fn a_deep_sequential_stream_is_served_in_order() {
    for op in [Op::Read, Op::Write] {
        for mut drive in [open(NAME), uncached()] {
            let rates = run(&mut drive, Load { depth: 8, ..sequential(op, 1 << 20, 0) });
            assert!((rates.bytes_per_s / 117.2e6 - 1.0).abs() < 0.06, "{op}: {rates:?}");
            assert!(rates.latency_max.0 as f64 <= 1.2 * rates.latency_ns_mean, "{op}: {rates:?}");
        }
    }
}

#[test]
fn nobody_waits_for_ever_in_a_deep_queue() {
    for mut drive in [open(NAME), uncached()] {
        for op in [Op::Read, Op::Write] {
            let rates = run(&mut drive, random(op, 32, 10_000));
            assert!(rates.latency_max < Nanos::from_millis(1000), "{op}: {rates:?}");
        }
    }
}

/// Latency of a read at the far edge while four others are always in flight near the outer one, 5 s at most.
fn wait_at_the_edge(drive: &mut SimDrive) -> Nanos {
    let need = LaneRequirements { lanes: 1, depth: 5, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let read = |slot, offset| Io {
        slot: Slot(slot),
        op: Op::Read,
        offset,
        length: 4096,
        data: DataClass::Zero,
        sync: None,
    };
    let mut free = vec![0, 1, 2, 3];
    let (mut done, mut sent) = (Vec::new(), None);
    loop {
        for slot in free.drain(..) {
            lane.submit(&[read(slot, random.random_range(0..25_000) * 4096)]).unwrap();
        }
        let sent = *sent.get_or_insert_with(|| lane.submit(&[read(4, CAPACITY - 4096)]).unwrap());
        lane.wait(Nanos::NEVER, &mut done).unwrap();
        let over = done.iter().any(|completion| completion.slot == Slot(4));
        if over || lane.now() - sent > Nanos::from_secs(5) {
            return lane.now() - sent;
        }
        free.extend(done.drain(..).map(|completion| completion.slot.0));
    }
}

#[test]
fn who_has_waited_long_enough_goes_before_those_who_are_near() {
    let longest_positioning_ms = 21.0 + 60e3 / 7200.0;
    let wait = wait_at_the_edge(&mut open(NAME));
    assert!(wait.as_secs_f64() * 1e3 < longest_positioning_ms / 0.02 + 50.0, "{wait}");
    let wait =
        wait_at_the_edge(&mut changed("aging_per_mille = { value = 20", "aging_per_mille = { value = 0"));
    assert!(wait >= Nanos::from_secs(5), "without aging it is passed over: {wait}");
}

#[test]
fn writes_take_the_memory_of_reads() {
    let read = |drive: &mut SimDrive, start| {
        let load = Load { op: Op::Read, random: false, length: 4096, depth: 1, start, span: 4096, ios: 1 };
        run(drive, load).latency_ns_mean
    };
    let rest = |drive: &mut SimDrive| {
        let mut lane =
            drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 512 }).unwrap().pop().unwrap();
        let until = lane.now() + Nanos::from_millis(50);
        lane.wait(until, &mut Vec::new()).unwrap();
    };
    let mut drive = open(NAME);
    for place in 0..12 {
        read(&mut drive, place << 30);
        rest(&mut drive);
    }
    assert!(read(&mut drive, 4096) < 1e6, "what was read ahead is in memory");
    let writes = Load {
        op: Op::Write,
        random: false,
        length: 1 << 20,
        depth: 12,
        start: 1 << 35,
        span: 12 << 20,
        ios: 12,
    };
    run(&mut drive, writes);
    assert!(read(&mut drive, 8192) > 1e6, "the oldest of it has made room");
    assert!(read(&mut drive, (11 << 30) + 4096) < 1e6, "the latest is still there");
}

#[test]
fn the_write_cache_is_switched_from_outside() {
    let says = |spec: &str| {
        let facts = open(spec).identity().facts;
        facts.into_iter().find(|(name, _)| name == "write cache").unwrap().1
    };
    assert_eq!(says(NAME), "on, 12 MiB");
    assert_eq!(says(&format!("{NAME}?cache=on")), "on, 12 MiB");
    assert_eq!(says(&format!("{NAME}?cache=off")), "off");
    let refused = |spec: &str, text: &'static str| {
        let spec = Spec::parse(spec).unwrap();
        spec.open(|_| {
            Ok(text
                .replace("write_cache_bytes = { value = 12582912", "write_cache_bytes = { value = 0")
                .into())
        })
        .err()
        .expect("there is no write cache to switch")
        .to_string()
    };
    for error in [
        refused("sim:tiny-flash?cache=off", ""),
        refused("sim:bare.toml?cache=on", include_str!("../../../../catalog/wd6400aaks.toml")),
    ] {
        assert!(error.contains("has no write cache that can be switched"), "{error}");
        assert!(error.contains("wd6400aaks"), "it says which have one: {error}");
    }
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
    let says_so = |(name, value): &(String, String)| name == "state" && value.contains("like new");
    assert!(used.identity().facts.iter().any(says_so));
    assert!(!used.geometry().trims);
}

#[test]
fn the_flash_counters_count_what_reaches_the_platters() {
    let mut drive = open(NAME);
    run(&mut drive, random(Op::Write, 4, 1000));
    let flash_counters = drive.flash_counters().unwrap();
    assert_eq!(flash_counters.host_bytes_written, 1000 * 4096);
    assert!(flash_counters.flash_bytes_programmed <= flash_counters.host_bytes_written);
    assert!(flash_counters.flash_bytes_programmed > flash_counters.host_bytes_written / 2);
    assert_eq!((flash_counters.erases, flash_counters.free_blocks), (0, 0));
}
