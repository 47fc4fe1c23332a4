//! A flash drive's behavior follows from its construction and its past.

use crate::closed_loop::{Load, Rates, open, run};
use likenew_core::counters::FlashCounters;
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::units::Nanos;
use likenew_sim::SimDrive;

const GIB: u64 = 1 << 30;

fn random_writes(ios: u64, depth: u32) -> Load {
    Load { op: Op::Write, random: true, length: 4096, depth, start: 0, span: GIB, ios }
}

fn sequential(op: Op) -> Load {
    Load { op, random: false, length: 1 << 20, depth: 4, start: 0, span: GIB, ios: 512 }
}

fn flash_counters(drive: &SimDrive) -> FlashCounters {
    drive.flash_counters().expect("a simulated drive has books")
}

fn measure(spec: &str, load: Load) -> (Rates, FlashCounters) {
    let mut drive = open(spec);
    let rates = run(&mut drive, load);
    (rates, flash_counters(&drive))
}

fn trim_all(drive: &mut SimDrive) {
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let io =
        Io { slot: Slot(0), op: Op::Trim, offset: 0, length: 1 << 30, data: DataClass::Zero, sync: None };
    lane.submit(&[io]).unwrap();
    lane.wait(Nanos::NEVER, &mut Vec::new()).unwrap();
}

#[test]
fn random_writes_are_slow_on_a_used_drive_because_it_collects() {
    let (new, new_books) = measure("sim:tiny-flash?state=new", random_writes(40_000, 3));
    let (used, used_books) = measure("sim:tiny-flash?state=used", random_writes(40_000, 3));
    assert_eq!(new_books.erases, 0);
    assert!((0.99..=1.0).contains(&new_books.write_amplification), "the buffer may hold the last of it");
    assert!(used_books.write_amplification > 3.5);
    assert!(used.iops < new.iops / 3.0, "new {} used {}", new.iops, used.iops);
    assert!(
        used.latency_max.0 > 20 * new.latency_max.0,
        "stalls: {} after {}",
        used.latency_max,
        new.latency_max
    );
}

#[test]
fn reads_do_not_age() {
    let mut reads = random_writes(20_000, 8);
    reads.op = Op::Read;
    let (filled, _) = measure("sim:tiny-flash?state=new&fill=1", reads);
    let (used, _) = measure("sim:tiny-flash?state=used", reads);
    assert!((used.iops / filled.iops - 1.0).abs() < 0.05, "{} {}", filled.iops, used.iops);
}

#[test]
fn the_same_drive_repeats_itself_exactly() {
    let load = random_writes(20_000, 7);
    assert_eq!(measure("sim:tiny-flash?state=used", load), measure("sim:tiny-flash?state=used", load));
}

#[test]
fn writing_a_used_drive_through_brings_it_back() {
    let mut drive = open("sim:tiny-flash?state=used");
    let mut pass = sequential(Op::Write);
    pass.ios = 1024;
    let speeds: Vec<f64> = (0..4).map(|_| run(&mut drive, pass).bytes_per_s).collect();
    let (new, _) = measure("sim:tiny-flash?state=new", pass);
    assert!(speeds[0] < 0.7 * new.bytes_per_s, "{speeds:?} of {}", new.bytes_per_s);
    assert!(speeds[3] > 0.9 * new.bytes_per_s, "{speeds:?} of {}", new.bytes_per_s);
}

#[test]
fn trim_restores_what_only_a_drive_that_obeys_it_can_restore() {
    let after_trim = |spec: &str| {
        let mut drive = open(spec);
        trim_all(&mut drive);
        run(&mut drive, random_writes(20_000, 3));
        flash_counters(&drive).write_amplification
    };
    let (obeyed, ignored) =
        (after_trim("sim:tiny-flash?state=used"), after_trim("sim:tiny-flash?state=used&trim=off"));
    assert!(obeyed < 1.1, "{obeyed}");
    assert!(ignored > 3.5, "{ignored}");
}

#[test]
fn spare_that_is_left_unwritten_lowers_write_amplification() {
    let load = |share: f64| {
        let mut load = random_writes(40_000, 3);
        load.span = (GIB as f64 * share) as u64;
        load
    };
    let (_, full) = measure("sim:tiny-flash?state=used", load(1.0));
    let (_, part) = measure("sim:tiny-flash?state=used&fill=0.7", load(0.7));
    assert!(part.write_amplification < full.write_amplification / 2.0);
}

#[test]
fn small_sequential_writes_are_joined_and_small_random_ones_are_not() {
    let small = |random| Load { random, length: 512, ..random_writes(40_000, 1) };
    let (_, joined) = measure("sim:tiny-flash?state=new", small(false));
    let (_, scattered) = measure("sim:tiny-flash?state=new", small(true));
    assert!((0.9..1.1).contains(&joined.write_amplification), "{}", joined.write_amplification);
    assert!((7.5..8.1).contains(&scattered.write_amplification), "{}", scattered.write_amplification);
}

#[test]
fn completing_a_page_that_holds_data_costs_a_read() {
    let small = Load { length: 512, ..random_writes(20_000, 4) };
    let (erased, _) = measure("sim:intel-x25-m-80gb?state=new", Load { length: 512, ..small });
    let (filled, flash_counters) = measure("sim:intel-x25-m-80gb?state=new&fill=0.02", small);
    assert_eq!(flash_counters.erases, 0);
    assert!(filled.iops <= erased.iops);
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let flush_after_one = |spec: &str| {
        let mut drive = open(spec);
        let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
        let write = Io {
            slot: Slot(0),
            op: Op::Write,
            offset: 512,
            length: 512,
            data: DataClass::Random,
            sync: None,
        };
        for io in [write, Io { op: Op::Flush, offset: 0, length: 0, ..write }] {
            lane.submit(&[io]).unwrap();
            lane.wait(Nanos::NEVER, &mut Vec::new()).unwrap();
        }
        lane.now()
    };
    let difference =
        flush_after_one("sim:tiny-flash?state=new&fill=1") - flush_after_one("sim:tiny-flash?state=new");
    // tR of 50 µs and a page of 4314 bytes at 80 MB/s.
    assert_eq!(difference, Nanos(50_000 + 53_925));
}

#[test]
fn idle_time_is_used_to_collect() {
    let mut drive = open("sim:tiny-flash?state=used");
    let before = flash_counters(&drive);
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let rest = |drive: &mut SimDrive| {
        let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
        let until = lane.now() + Nanos::from_secs(60);
        lane.wait(until, &mut Vec::new()).unwrap();
    };
    rest(&mut drive);
    assert_eq!(flash_counters(&drive), before, "a drive that was never spoken to does nothing");
    run(&mut drive, random_writes(1, 1));
    rest(&mut drive);
    let after = flash_counters(&drive);
    assert!(after.erases > 0 && after.free_blocks > before.free_blocks, "{before:?} {after:?}");
    let (tired, _) = measure("sim:tiny-flash?state=used", random_writes(3000, 3));
    let rested = run(&mut drive, random_writes(3000, 3));
    assert!(rested.iops > 1.3 * tired.iops, "{} {}", tired.iops, rested.iops);
}

#[test]
fn new_figures_of_the_x25_m_follow_from_its_construction() {
    let within =
        |value: f64, printed: f64| assert!((value / printed - 1.0).abs() < 0.15, "{value} of {printed}");
    let load = |op, ios| Load { ios, span: 8 * GIB, depth: 8, ..sequential(op) };
    let mut drive = open("sim:intel-x25-m-80gb?state=new");
    within(run(&mut drive, load(Op::Write, 1000)).bytes_per_s, 76.5e6);
    within(run(&mut drive, load(Op::Read, 1000)).bytes_per_s, 251e6);
    let mut drive = open("sim:intel-x25-m-80gb?state=new");
    let random = Load { span: 8 * GIB, ..random_writes(100_000, 3) };
    within(run(&mut drive, random).bytes_per_s, 39.3e6);
}

#[test]
fn the_flash_counters_begin_when_the_drive_is_opened() {
    let drive = open("sim:tiny-flash?state=used");
    let flash_counters = flash_counters(&drive);
    assert_eq!(
        (flash_counters.host_bytes_written, flash_counters.flash_bytes_programmed, flash_counters.erases),
        (0, 0, 0)
    );
    assert_eq!(flash_counters.write_amplification, 1.0);
    assert!(flash_counters.free_blocks > 0);
}
