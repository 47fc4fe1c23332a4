//! The page cache of a simulated host: writes that end in memory, reads that come from it, and I/O that
//! reaches the drive after all.

use crate::closed_loop::{Load, Rates, open, run};
use likenew_core::counters::Counters;
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::laws;
use likenew_core::units::Nanos;
use likenew_core::workload::Access;
use likenew_sim::{SimDrive, Spec};

const MIB: u64 = 1 << 20;
const SPAN: u64 = 64 * MIB;

fn sequential(op: Op, span: u64) -> Load {
    Load { op, random: false, length: MIB as u32, depth: 1, start: 0, span, ios: span / MIB }
}

fn random(op: Op, ios: u64) -> Load {
    Load { op, random: true, length: 4096, depth: 4, start: 0, span: SPAN, ios }
}

/// Runs a load with this access, and returns what reached the drive.
fn on(drive: &mut SimDrive, access: Access, cold: bool, load: Load) -> (Rates, Counters) {
    drive.prepare_access(access, cold).unwrap();
    let before = drive.counters().unwrap();
    let rates = run(drive, load);
    (rates, drive.counters().unwrap().since(&before))
}

fn flush(drive: &mut SimDrive) -> Nanos {
    let mut lane =
        drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4096 }).unwrap().pop().unwrap();
    let io = Io { slot: Slot(0), op: Op::Flush, offset: 0, length: 0, data: DataClass::Zero, sync: None };
    let (sent, mut done) = (lane.submit(&[io]).unwrap(), Vec::new());
    lane.wait(Nanos::NEVER, &mut done).unwrap();
    assert_eq!(done[0].outcome, Outcome::Done);
    done[0].at - sent
}

fn rest(drive: &mut SimDrive, span: Nanos) {
    let mut lane =
        drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4096 }).unwrap().pop().unwrap();
    let until = lane.now() + span;
    lane.wait(until, &mut Vec::new()).unwrap();
}

#[test]
fn direct_io_is_counted_to_the_byte() {
    let mut drive = open("sim:tiny-flash");
    for op in [Op::Write, Op::Read] {
        let (rates, counted) = on(&mut drive, Access::Direct, false, sequential(op, SPAN));
        assert_eq!(counted.bytes(op), Some(SPAN));
        assert_eq!(counted.reads + counted.writes, SPAN / MIB);
        // At depth 1 something is in flight all the time.
        assert_eq!(counted.busy, Nanos::from_secs_f64(SPAN as f64 / rates.bytes_per_s));
    }
}

#[test]
fn buffered_writes_end_in_memory_and_a_flush_brings_them_to_the_drive() {
    let mut drive = open("sim:tiny-flash");
    let (direct, _) = on(&mut drive, Access::Direct, false, sequential(Op::Write, SPAN));
    let (buffered, counted) = on(&mut drive, Access::Buffered, true, sequential(Op::Write, SPAN));
    // 500 ns a call and 8 GB/s of copying: 1 MiB in 131.572 µs.
    assert!((buffered.bytes_per_s / 7.97e9 - 1.0).abs() < 0.001, "{}", buffered.bytes_per_s);
    assert!(buffered.bytes_per_s > 10.0 * direct.bytes_per_s && counted.bytes_written == 0, "{counted:?}");
    let before = drive.counters().unwrap();
    let span = flush(&mut drive);
    let flushed = drive.counters().unwrap().since(&before);
    assert_eq!((flushed.bytes_written, flushed.flushes), (SPAN, Some(1)));
    let with_flush = SPAN as f64 / (SPAN as f64 / buffered.bytes_per_s + span.as_secs_f64());
    assert!(
        (with_flush / direct.bytes_per_s - 1.0).abs() < 0.3,
        "{with_flush} beside {}",
        direct.bytes_per_s
    );
}

#[test]
fn a_first_read_is_the_drives_and_a_second_one_memorys() {
    let mut drive = open("sim:tiny-flash?state=used");
    for load in [sequential(Op::Read, SPAN), random(Op::Read, 2000)] {
        let moved = load.ios * u64::from(load.length);
        let (cold, from_drive) = on(&mut drive, Access::Buffered, true, load);
        let (warm, again) = on(&mut drive, Access::Buffered, false, load);
        assert!(from_drive.bytes_read > moved * 9 / 10, "{from_drive:?}");
        assert!(
            again.bytes_read == 0 && warm.bytes_per_s > 5.0 * cold.bytes_per_s,
            "{warm:?} after {cold:?}"
        );
        let (direct, past) = on(&mut drive, Access::Direct, false, load);
        assert!(past.bytes_read == moved && direct.bytes_per_s < warm.bytes_per_s);
    }
}

#[test]
fn what_is_longer_than_memory_is_read_from_the_drive_again() {
    let mut drive = open("sim:tiny-flash?state=used&memory=32MiB");
    for _ in 0..2 {
        let (_, counted) = on(&mut drive, Access::Buffered, false, sequential(Op::Read, SPAN));
        assert_eq!(counted.bytes_read, SPAN, "the oldest page goes first, and is the next one wanted");
    }
    let half = sequential(Op::Read, SPAN / 2);
    on(&mut drive, Access::Buffered, true, half);
    assert_eq!(on(&mut drive, Access::Buffered, false, half).1.bytes_read, 0);
}

#[test]
fn writes_wait_when_a_fifth_of_memory_is_dirty() {
    let mut drive = open("sim:tiny-flash?memory=64MiB");
    let (direct, _) = on(&mut drive, Access::Direct, false, sequential(Op::Write, 8 * SPAN));
    let (buffered, counted) = on(&mut drive, Access::Buffered, true, sequential(Op::Write, 8 * SPAN));
    let dirty = 8 * SPAN - counted.bytes_written;
    assert!((1..=64 * MIB / 5).contains(&dirty), "{dirty} bytes are not written back");
    assert!((buffered.bytes_per_s / direct.bytes_per_s - 1.0).abs() < 0.3, "{buffered:?} beside {direct:?}");
}

#[test]
fn what_is_dirty_is_written_back_when_it_is_old() {
    let mut drive = open("sim:tiny-flash");
    let (_, counted) = on(&mut drive, Access::Buffered, false, sequential(Op::Write, SPAN));
    assert_eq!(counted.bytes_written, 0);
    let before = drive.counters().unwrap();
    rest(&mut drive, Nanos::from_secs(29));
    assert_eq!(drive.counters().unwrap().since(&before).bytes_written, 0);
    rest(&mut drive, Nanos::from_secs(10));
    assert_eq!(drive.counters().unwrap().since(&before).bytes_written, SPAN);
}

#[test]
fn direct_io_finds_what_was_buffered() {
    let mut drive = open("sim:tiny-flash");
    on(&mut drive, Access::Buffered, false, sequential(Op::Write, SPAN));
    let (_, read) = on(&mut drive, Access::Direct, false, sequential(Op::Read, SPAN));
    assert_eq!((read.bytes_written, read.bytes_read), (SPAN, SPAN), "it was written before it was read");
    // Directly written data is in no page any more, clean or dirty.
    on(&mut drive, Access::Buffered, false, sequential(Op::Write, SPAN));
    let (_, written) = on(&mut drive, Access::Direct, false, sequential(Op::Write, SPAN));
    assert_eq!(written.bytes_written, SPAN);
    let (_, read) = on(&mut drive, Access::Buffered, false, sequential(Op::Read, SPAN));
    assert_eq!(read.bytes_read, SPAN);
}

#[test]
fn a_flush_says_what_writing_back_has_failed_with() {
    const TINY: &str = include_str!("../../../../catalog/tiny-flash.toml");
    let text =
        format!("{TINY}\n[faults]\nread_only_after_bytes = {{ value = 1048576, source = \"invented\" }}\n");
    let mut drive = Spec::parse("sim:my.toml").unwrap().open(|_| Ok(text.clone().into())).unwrap();
    on(&mut drive, Access::Buffered, false, sequential(Op::Write, SPAN));
    let mut lane =
        drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4096 }).unwrap().pop().unwrap();
    let io = Io { slot: Slot(0), op: Op::Flush, offset: 0, length: 0, data: DataClass::Zero, sync: None };
    let mut ends = Vec::new();
    for _ in 0..2 {
        lane.submit(&[io]).unwrap();
        lane.wait(Nanos::NEVER, &mut ends).unwrap();
    }
    let outcomes: Vec<Outcome> = ends.iter().map(|completion| completion.outcome).collect();
    assert_eq!(outcomes, [Outcome::Error(5), Outcome::Done]);
}

#[test]
fn the_laws_hold_through_it_for_every_kind_of_drive() {
    for spec in [
        "sim:tiny-flash?memory=1MiB",
        "sim:wd-caviar-se16",
        "sim:cloud-gp2-100gib",
        "sim:intel-520-120gb?memory=2MiB",
    ] {
        laws::all(|| {
            let mut drive = open(spec);
            drive.prepare_access(Access::Buffered, false).unwrap();
            drive
        });
    }
}

#[test]
fn what_cannot_be_buffered_says_why() {
    let refusal = |spec: &str, access| open(spec).prepare_access(access, false).unwrap_err().to_string();
    assert!(refusal("sim:tiny-flash?data=on", Access::Buffered).contains("leave out data=on"));
    assert!(refusal("sim:tiny-flash", Access::Null).contains("access null measures nothing"));
    let bad = |text: &str| Spec::parse(&format!("sim:tiny-flash?memory={text}")).unwrap_err().to_string();
    assert!(bad("4k").contains("1MiB to 16TiB") && bad("much").contains("memory"), "{}", bad("much"));
}
