//! Features of some flash drives: lazy TRIM, a mapping cache, data retention, heat.

use crate::closed_loop::{Load, Rates, run};
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::target::Health;
use likenew_core::units::Nanos;
use likenew_sim::{SimDrive, Spec};

const GIB: u64 = 1 << 30;
const TINY: &str = include_str!("../../../../catalog/tiny-flash.toml");

fn open(text: &str, query: &str) -> SimDrive {
    let spec = Spec::parse(&format!("sim:my.toml?{query}")).unwrap();
    spec.open(|_| Ok(text.into())).unwrap()
}

/// A table of whole numbers.
fn with_table(name: &str, values: &[(&str, &str)]) -> String {
    let values: String = values
        .iter()
        .map(|(key, value)| format!("{key} = {{ value = {value}, source = \"invented\" }}\n"))
        .collect();
    format!("{TINY}\n[{name}]\n{values}")
}

fn load(op: Op, random: bool, length: u32, depth: u32, ios: u64) -> Load {
    Load { op, random, length, depth, start: 0, span: GIB, ios }
}

fn rest(drive: &mut SimDrive, span: Nanos) -> Health {
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let until = lane.now() + span;
    lane.wait(until, &mut Vec::new()).unwrap();
    lane.health()
}

fn one(drive: &mut SimDrive, op: Op, length: u32) {
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    lane.submit(&[Io { slot: Slot(0), op, offset: 0, length, data: DataClass::Zero, sync: None }]).unwrap();
    lane.wait(Nanos::NEVER, &mut Vec::new()).unwrap();
}

/// A drive is served to any client, so no request that fits it may end it, whatever it was opened with.
#[test]
fn every_operation_of_every_length_is_completed_with_every_setting() {
    let settings = [
        "state=new",
        "state=used",
        "fill=0.5",
        "fill=0.5&age=400d",
        "deleted=0.4&fill=0.9",
        "trim=off",
        "data=on",
        "data=on&state=used",
        "data=on&trim=off",
        "facts=off",
        "wear=0.95",
        "wear=1.2",
        "throttle=0.2",
        "firmware=500ms",
        "wake=5ms",
        "crypt=80MB/s",
        "readcache=4GiB",
        "busy=40",
        "shift=512",
        "link=usb2",
        "link=sata1.5g",
        "memory=64MiB",
        "data=on&crypt=80MB/s",
        "data=on&readcache=64MiB&shift=512",
    ];
    let need = LaneRequirements { lanes: 1, depth: 4, length_max: 1 << 20 };
    let text =
        with_table("aging", &[("onset_s", "604800"), ("retries_per_decade", "8"), ("retries_max", "16")]);
    for setting in settings {
        let mut drive = open(&text, setting);
        let capacity = drive.geometry().capacity;
        let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
        for op in [Op::Write, Op::Trim, Op::Read, Op::Flush] {
            for length in [512, 4096, 3 << 9, 1 << 20, (1 << 20) + 512, 300 << 20, 1 << 30] {
                let length = match op {
                    Op::Flush => 0,
                    Op::Trim => length,
                    Op::Read | Op::Write => length.min(need.length_max),
                };
                for offset in [0, 512, capacity - u64::from(length)] {
                    if offset + u64::from(length) > capacity {
                        continue;
                    }
                    let io = Io { slot: Slot(3), op, offset, length, data: DataClass::Zero, sync: None };
                    lane.submit(&[io]).unwrap();
                    let mut done = Vec::new();
                    lane.wait(Nanos::NEVER, &mut done).unwrap();
                    assert_eq!(done.len(), 1, "{setting}: {io:?}");
                }
            }
        }
    }
}

#[test]
fn lazy_trim_works_after_a_rest() {
    let lazy = TINY.replace("trim = { value = \"immediate\"", "trim = { value = \"lazy\"");
    assert_ne!(lazy, TINY);
    let amplification = |text: &str, span: Nanos| {
        let mut drive = open(text, "state=used");
        one(&mut drive, Op::Trim, 1 << 30);
        rest(&mut drive, span);
        run(&mut drive, load(Op::Write, true, 4096, 3, 20_000));
        drive.flash_counters().unwrap().write_amplification
    };
    let none = Nanos::from_millis(1);
    assert!(amplification(TINY, none) < 1.1);
    // The first write to the trimmed range makes the drive forget it after all, as it must.
    assert!(amplification(&lazy, Nanos::from_secs(60)) < 1.1);
    let mut drive = open(&lazy, "state=used");
    let held = |drive: &SimDrive| drive.flash_counters().unwrap().free_blocks;
    let before = held(&drive);
    one(&mut drive, Op::Trim, 1 << 30);
    assert_eq!(held(&drive), before);
    rest(&mut drive, Nanos::from_secs(60));
    assert!(held(&drive) > before, "what was trimmed is collected in the rest");
}

#[test]
fn a_write_is_not_undone_by_a_lazy_trim_that_came_before() {
    let lazy = TINY.replace("trim = { value = \"immediate\"", "trim = { value = \"lazy\"");
    let mut drive = open(&lazy, "state=new&data=on");
    likenew_core::laws::keeps_data(&mut drive, 7, 20_000);
}

#[test]
fn reads_beyond_the_cached_map_wait_for_the_map() {
    // A segment of 4 KiB maps 4 MiB: 64 of them map a quarter of the drive.
    let text = with_table("map_cache", &[("bytes", "262144"), ("segment_bytes", "4096")]);
    let rate = |span| {
        let mut drive = open(&text, "state=new&fill=1");
        let load = Load { span, ..load(Op::Read, true, 4096, 1, 20_000) };
        run(&mut drive, load);
        run(&mut drive, load)
    };
    let (near, far) = (rate(GIB / 8), rate(GIB));
    let mut whole = crate::closed_loop::open("sim:tiny-flash?state=new&fill=1");
    let known = run(&mut whole, load(Op::Read, true, 4096, 1, 20_000));
    assert!((near.iops / known.iops - 1.0).abs() < 0.01, "{near:?} {known:?}");
    // Three of four accesses miss, and a miss is one more page read.
    let read_ns = 50_000.0 + 53_925.0;
    let expected = known.latency_ns_mean + 0.75 * read_ns;
    assert!((far.latency_ns_mean / expected - 1.0).abs() < 0.03, "{} of {expected}", far.latency_ns_mean);
}

#[test]
fn random_writes_beyond_the_cached_map_program_the_map_too() {
    let text = with_table("map_cache", &[("bytes", "262144"), ("segment_bytes", "4096")]);
    let amplification = |text: &str| {
        let mut drive = open(text, "state=new");
        run(&mut drive, load(Op::Write, true, 4096, 4, 30_000));
        drive.flash_counters().unwrap().write_amplification
    };
    let (plain, cached) = (amplification(TINY), amplification(&text));
    // Three of four writes evict a changed segment, which is one more page.
    assert!((0.98..1.01).contains(&plain) && (1.68..1.8).contains(&cached), "{plain} {cached}");
}

#[test]
fn old_data_reads_slowly_until_it_is_written_again() {
    let text =
        with_table("aging", &[("onset_s", "86400"), ("retries_per_decade", "5"), ("retries_max", "12")]);
    let read = |query: &str| -> Rates { run(&mut open(&text, query), load(Op::Read, true, 4096, 1, 2000)) };
    let young = read("state=new&fill=1");
    assert_eq!(read("state=new&fill=1&age=1h"), young);
    let old = read("state=new&fill=1&age=99d");
    // Not quite two decades beyond the onset are ten retries of 50 µs.
    assert!((old.latency_ns_mean - young.latency_ns_mean - 500_000.0).abs() < 1000.0, "{old:?} {young:?}");
    let mut drive = open(&text, "state=new&fill=1&age=99d");
    run(&mut drive, load(Op::Write, false, 1 << 20, 4, 1024));
    rest(&mut drive, Nanos::from_secs(2));
    let again = run(&mut drive, load(Op::Read, true, 4096, 1, 2000));
    assert!((again.latency_ns_mean / young.latency_ns_mean - 1.0).abs() < 0.01, "{again:?} {young:?}");
    // A few MiB go to blocks that were left open, behind old data.
    let a_little = |query: &str| -> Rates {
        let mut drive = open(&text, query);
        run(&mut drive, load(Op::Write, false, 1 << 20, 4, 4));
        rest(&mut drive, Nanos::from_secs(2));
        run(&mut drive, load(Op::Read, false, 4096, 1, 1024))
    };
    assert_eq!(a_little("state=new&fill=0.6&age=99d"), a_little("state=new&fill=0.6"));
}

#[test]
fn a_hot_drive_slows_down_and_cools_off() {
    let text = with_table(
        "thermal",
        &[
            ("ambient_c", "25"),
            ("resistance_k_per_w", "20"),
            ("capacity_j_per_k", "0.05"),
            ("idle_w", "0.5"),
            ("read_nj_per_byte", "20"),
            ("program_nj_per_byte", "40"),
            ("throttle_c", "80"),
            ("resume_c", "60"),
            ("throttled_bytes_per_s", "50000000"),
        ],
    );
    let mut drive = open(&text, "state=new&fill=1");
    let health = rest(&mut drive, Nanos::from_secs(1));
    assert_eq!((health.temperature_c, health.throttling), (Some(35.0), Some(false)));
    let reads = |ios| load(Op::Read, false, 1 << 20, 4, ios);
    let cool = run(&mut drive, reads(64)).bytes_per_s;
    assert!(cool > 200e6, "{cool}");
    // 280 MB/s at 20 nJ a byte are 5.6 W: it would settle at 147 °C, and at 50 MB/s at 55 °C, so it swings between.
    let warm = run(&mut drive, reads(4000)).bytes_per_s;
    assert!((51e6..200e6).contains(&warm), "{warm}");
    assert!(
        drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 512 }).unwrap()[0]
            .health()
            .temperature_c
            .unwrap()
            > 55.0
    );
    rest(&mut drive, Nanos::from_secs(60));
    assert!(run(&mut drive, reads(64)).bytes_per_s > 200e6);
}

#[test]
fn their_tables_are_as_strict_as_the_others() {
    let refuse = |text: String, word: &str| {
        let error = likenew_sim::model::Model::parse("my.toml", &text).unwrap_err().to_string();
        assert!(error.starts_with("my.toml:") && error.contains(word), "{error}");
    };
    refuse(
        with_table("map_cache", &[("bytes", "1"), ("segment_bytes", "4096")]),
        "map_cache.bytes is 1: it takes",
    );
    refuse(with_table("aging", &[("onset_s", "0")]), "aging.onset_s is 0");
    refuse(with_table("thermal", &[("ambient_c", "1000")]), "thermal.ambient_c is 1000");
    refuse(with_table("color", &[("red", "1")]), "the file has no key color");
}
