//! The visible behavior of a pseudo-SLC write cache follows from the drive's construction.

use crate::closed_loop::{Load, open, run};
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::units::Nanos;
use likenew_sim::model::Model;
use likenew_sim::{SimDrive, Spec};

const MIB: u64 = 1 << 20;
const CAPACITY: f64 = 1024.0;

/// Four dies of 100 blocks of 3 MiB for 1 GiB, a block with one bit a cell holds 1 MiB.
const DRIVE: &str = r#"
kind = "flash"
[identity]
model = { value = "Small TLC", source = "invented" }
technology = { value = "TLC flash", source = "invented" }
capacity_bytes = { value = 1073741824, source = "invented" }
sector_bytes = { value = 512, source = "invented" }
[advertised]
[link]
bytes_per_s = { value = 3500000000, source = "invented" }
duplex = { value = true, source = "invented" }
command_slots = { value = 64, source = "invented" }
[firmware]
read_command_ns = { value = 2000, source = "invented" }
write_command_ns = { value = 2000, source = "invented" }
other_command_ns = { value = 10000, source = "invented" }
buffer_bytes = { value = 1048576, source = "invented" }
idle_after_ns = { value = 500000000, source = "invented" }
trim = { value = "immediate", source = "invented" }
[map]
family = { value = "page", source = "invented" }
page_bytes = { value = 4096, source = "invented" }
free_blocks_min_per_die = { value = 2, source = "invented" }
idle_free_blocks_per_die = { value = 4, source = "invented" }
[nand]
channels = { value = 4, source = "invented" }
dies_per_channel = { value = 1, source = "invented" }
planes = { value = 2, source = "invented" }
blocks_per_plane = { value = 100, source = "invented" }
pages_per_block = { value = 96, source = "invented" }
page_bytes = { value = 16384, source = "invented" }
page_spare_bytes = { value = 0, source = "invented" }
pages_per_program = { value = 3, source = "invented" }
read_ns = { value = 60000, source = "invented" }
program_ns = { value = 1700000, source = "invented" }
erase_ns = { value = 3000000, source = "invented" }
channel_bytes_per_s = { value = 400000000, source = "invented" }
programs_max = { value = 4, source = "invented" }
[slc_cache]
kind = { value = "dynamic", source = "invented" }
bits_per_cell = { value = 3, source = "invented" }
dynamic_percent_max = { value = 50, source = "invented" }
when_full = { value = "direct", source = "invented" }
idle_kept_blocks_per_die = { value = 0, source = "invented" }
read_ns = { value = 20000, source = "invented" }
program_ns = { value = 200000, source = "invented" }
[used]
overwritten_share = { value = 1.0, source = "invented" }
"#;

/// Nanoseconds for one page of the map over a channel.
const PAGE_NS: f64 = 4096.0 / 0.4;
/// Bytes a second of four dies that program rows of 32 KiB into SLC cells, and units of 96 KiB into native
/// ones.
const SLC_RATE: f64 = 4.0 * 32768e9 / (8.0 * PAGE_NS + 200e3);
const NATIVE_RATE: f64 = 4.0 * 98304e9 / (24.0 * PAGE_NS + 1700e3);
/// To fold 1 MiB: 32 rows are read, 256 pages move out and in, 32/3 units are programmed, one block is erased.
const FOLD_NS: f64 = 32.0 * 20e3 + 512.0 * PAGE_NS + 32.0 / 3.0 * 1700e3 + 3e6;

fn changed(query: &str, from: &str, to: &str) -> SimDrive {
    assert!(DRIVE.contains(from), "{from}");
    let text = DRIVE.replacen(from, to, 1);
    let spec = Spec::parse(&format!("sim:small.toml{query}")).expect("a good spec");
    spec.open(|_| Ok(text.clone().into())).expect("a good drive")
}

fn new() -> SimDrive {
    changed("", "", "")
}

fn writes(start: u64, mib: u64) -> Load {
    Load {
        op: Op::Write,
        random: false,
        length: MIB as u32,
        depth: 4,
        start: start * MIB,
        span: mib * MIB,
        ios: mib,
    }
}

/// Bytes a second of every 4 MiB written from `start` MiB on.
fn windows(drive: &mut SimDrive, start: u64, mib: u64) -> Vec<f64> {
    (0..mib / 4).map(|window| run(drive, writes(start + 4 * window, 4)).bytes_per_s).collect()
}

/// MiB until the rate is below this for the first time.
fn first_below(windows: &[f64], bytes_per_s: f64) -> f64 {
    4.0 * windows.iter().position(|found| *found < bytes_per_s).unwrap_or(windows.len()) as f64
}

fn mean(windows: &[f64]) -> f64 {
    windows.len() as f64 / windows.iter().map(|rate| 1.0 / rate).sum::<f64>()
}

fn within(found: f64, predicted: f64, share: f64) {
    assert!((found / predicted - 1.0).abs() <= share, "{found} of {predicted}");
}

fn rest(drive: &mut SimDrive) {
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let until = lane.now() + Nanos::from_secs(60);
    lane.wait(until, &mut Vec::new()).unwrap();
}

/// Half of the free space may be SLC: a sixth of the drive goes there, then the other half of it straight to
/// native blocks, and from then on every native block of 3 MiB needs the space of one and a half SLC blocks,
/// which are folded for it.
#[test]
fn a_sequential_fill_falls_in_two_steps() {
    let mut drive = new();
    let windows = windows(&mut drive, 0, 1024);
    let (full, no_room) = (CAPACITY * 0.5 / 3.0, CAPACITY * (0.5 / 3.0 + 0.5));
    let first = first_below(&windows, (SLC_RATE + NATIVE_RATE) / 2.0);
    let second = first_below(&windows, 0.8 * NATIVE_RATE);
    within(first, full, 0.05);
    within(second, no_room, 0.05);
    within(mean(&windows[1..35]), SLC_RATE, 0.05);
    within(mean(&windows[46..150]), NATIVE_RATE, 0.05);
    let folding = 4.0 * 3.0 * MIB as f64 / (3.0 * 4.0 * MIB as f64 / NATIVE_RATE + 1.5 * FOLD_NS / 1e9);
    within(mean(&windows[180..250]), folding, 0.05);
    within(drive.flash_counters().unwrap().write_amplification, 1.0 + 0.5 / 3.0, 0.02);
}

#[test]
fn a_drive_that_waits_for_folding_writes_everything_twice() {
    let mut drive = changed("", "\"direct\"", "\"fold\"");
    let windows = windows(&mut drive, 0, 900);
    let full = CAPACITY * 0.5 / 3.0;
    within(first_below(&windows, 0.9 * SLC_RATE), full, 0.05);
    // A block of 1 MiB in the cache takes 3 MiB of the free space, half of which may be cache: 6/5 are folded
    // for it.
    let waiting = 4.0 * MIB as f64 / (4.0 * MIB as f64 / SLC_RATE + 1.2 * FOLD_NS / 1e9);
    within(mean(&windows[50..150]), waiting, 0.05);
    rest(&mut drive);
    within(drive.flash_counters().unwrap().write_amplification, 2.0, 0.02);
}

#[test]
fn idle_time_brings_the_cache_back() {
    let (mut tired, mut rested) = (new(), new());
    for drive in [&mut tired, &mut rested] {
        run(drive, writes(0, 200));
    }
    rest(&mut rested);
    within(run(&mut tired, writes(200, 40)).bytes_per_s, NATIVE_RATE, 0.05);
    let predicted = (CAPACITY - 200.0) * 0.5 / 3.0;
    let windows = windows(&mut rested, 200, 200);
    within(first_below(&windows, (SLC_RATE + NATIVE_RATE) / 2.0), predicted, 0.05);
}

#[test]
fn a_fuller_drive_has_a_smaller_cache() {
    for fill in [0.25, 0.5, 0.75] {
        let mut drive = changed(&format!("?fill={fill}"), "", "");
        let start = (CAPACITY * fill) as u64;
        let windows = windows(&mut drive, start, 1024 - start);
        let found = first_below(&windows, (SLC_RATE + NATIVE_RATE) / 2.0);
        let predicted = CAPACITY * (1.0 - fill) * 0.5 / 3.0;
        assert!((found - predicted).abs() <= 8.0, "{found} of {predicted} MiB at {fill}");
    }
}

#[test]
fn a_static_cache_is_there_on_a_full_drive() {
    let text = DRIVE.replacen("\"dynamic\"", "\"static\"", 1).replacen(
        "dynamic_percent_max = { value = 50",
        "static_blocks_per_die = { value = 8",
        1,
    );
    let spec = Spec::parse("sim:small.toml?state=used").unwrap();
    let mut drive = spec.open(|_| Ok(text.clone().into())).unwrap();
    within(first_below(&windows(&mut drive, 0, 64), (SLC_RATE + NATIVE_RATE) / 2.0), 32.0, 0.0);
    let mut drive = changed("?state=used", "", "");
    let first = run(&mut drive, writes(0, 8)).bytes_per_s;
    assert!(first < NATIVE_RATE, "a dynamic one is not: {first}");
}

/// One bit per cell is read faster, which reads of single pages show.
#[test]
fn what_is_in_the_cache_is_read_faster() {
    let mut drive = new();
    run(&mut drive, writes(0, 100));
    let reads =
        Load { op: Op::Read, random: true, length: 4096, depth: 1, start: 0, span: 90 * MIB, ios: 500 };
    // The first of them wait for data still in the write buffer.
    run(&mut drive, reads);
    let cached = run(&mut drive, reads).latency_ns_mean;
    rest(&mut drive);
    let folded = run(&mut drive, reads).latency_ns_mean;
    within(folded - cached, 40_000.0, 0.01);
}

#[test]
fn a_flush_costs_nothing_if_the_buffer_survives_a_loss_of_power() {
    let flush = |to: &str| {
        let mut drive = changed("", "trim =", &format!("{to}\ntrim ="));
        let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
        let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
        let write =
            Io { slot: Slot(0), op: Op::Write, offset: 0, length: 4096, data: DataClass::Random, sync: None };
        lane.submit(&[write]).unwrap();
        lane.wait(Nanos::NEVER, &mut Vec::new()).unwrap();
        let before = lane.now();
        lane.submit(&[Io { op: Op::Flush, offset: 0, length: 0, ..write }]).unwrap();
        lane.wait(Nanos::NEVER, &mut Vec::new()).unwrap();
        lane.now() - before
    };
    assert_eq!(flush("power_loss_protection = { value = true, source = \"invented\" }"), Nanos(10_000));
    for without in ["", "power_loss_protection = { value = false, source = \"invented\" }"] {
        assert_eq!(
            flush(without),
            Nanos(10_000 + 8 * 10_240 + 200_000),
            "a whole row is programmed into SLC cells"
        );
    }
}

#[test]
fn a_cache_that_makes_no_sense_is_refused_with_its_line() {
    let table = 1 + DRIVE.lines().position(|line| line == "[slc_cache]").unwrap();
    for (from, to, line, word) in [
        ("value = \"dynamic\"", "value = \"large\"", table + 1, "\"static\", \"dynamic\" or \"hybrid\""),
        ("value = \"dynamic\"", "value = \"static\"", table, "slc_cache.static_blocks_per_die is missing"),
        ("bits_per_cell = { value = 3", "bits_per_cell = { value = 1", table + 2, "from 2 to 5"),
        (
            "dynamic_percent_max = { value = 50",
            "dynamic_percent_max = { value = 101",
            table + 3,
            "from 1 to 100",
        ),
        ("value = \"direct\"", "value = \"wait\"", table + 4, "\"direct\" or \"fold\""),
        ("idle_kept_blocks", "idle_blocks", table, "idle_kept_blocks_per_die is missing"),
        (
            "kind = { value = \"dynamic\"",
            "static_blocks_per_die = { value = 90, source = \"x\" }\nkind = { value = \"hybrid\"",
            table,
            "too little spare",
        ),
    ] {
        let text = DRIVE.replacen(from, to, 1);
        let error = Model::parse("my.toml", &text).expect_err(to).to_string();
        let place = format!("my.toml:{line}: ");
        assert!(error.starts_with(&place) && error.contains(word), "{error}: not {place}{word}");
    }
}

/// 6 GB at the rate of the cable, as the maker's values for a new drive say, then the rate of the cells.
#[test]
fn the_sata_drive_of_the_catalog_has_its_cache() {
    let mut drive = open("sim:tlc-sata-500gb");
    let speeds: Vec<f64> = (0..10).map(|part| run(&mut drive, writes(part * 954, 953)).bytes_per_s).collect();
    speeds[..5].iter().for_each(|speed| within(*speed, 520e6, 0.1));
    assert!(speeds[7..].iter().all(|speed| *speed < 0.85 * speeds[0]), "{speeds:?}");
}
