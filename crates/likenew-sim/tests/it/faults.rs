//! Faults do what they say on any mechanism, and nothing else.

use std::ops::Range;
use std::path::Path;

use crate::closed_loop::{Load, open, run};
use likenew_core::damage::Damage;
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::laws;
use likenew_core::stamp::Stamp;
use likenew_core::units::Nanos;
use likenew_sim::model::Model;
use likenew_sim::{SimDrive, Spec};
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

const FLASH: &str = include_str!("../../../../catalog/tiny-flash.toml");
const DISK: &str = include_str!("../../../../catalog/wd-velociraptor.toml");
const VOLUME: &str = include_str!("../../../../catalog/cloud-gp2-100gib.toml");
const MIB: u64 = 1 << 20;

/// A drive's file with these faults; each value gets a source.
fn with_faults(text: &str, faults: &str) -> String {
    let lines = faults.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let (key, value) = line.split_once(" = ").expect("key = value");
        format!("{key} = {{ value = {value}, source = \"a test\" }}\n")
    });
    format!("{text}\n[faults]\n{}", lines.collect::<String>())
}

fn open_file(text: &str) -> SimDrive {
    Spec::parse("sim:faulty.toml").unwrap().open(|_: &Path| Ok(text.into())).unwrap()
}

/// The same drive with these faults, and without.
fn pair(text: &str, faults: &str) -> [SimDrive; 2] {
    [open_file(&with_faults(text, faults)), open_file(text)]
}

fn io(slot: u32, op: Op, offset: u64, length: u32) -> Io {
    Io { slot: Slot(slot), op, offset, length, data: DataClass::Random, sync: None }
}

/// Runs I/Os one after the other; returns outcome and latency of each.
fn one_by_one(drive: &mut SimDrive, ios: &[Io]) -> Vec<(Outcome, Nanos)> {
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let one = |io: &Io| {
        let mut done = Vec::new();
        let sent = lane.submit(&[Io { slot: Slot(0), ..*io }]).unwrap();
        lane.wait(Nanos::NEVER, &mut done).unwrap();
        let [Completion { at, outcome, .. }] = done[..] else { panic!("{done:?}") };
        (outcome, at - sent)
    };
    ios.iter().map(one).collect()
}

const ALL_GOOD: &str = "
    slow = \"5MiB..6MiB\"
    retry_ns = 1000000
    retries_max = 3
    stall_every_ios = 100
    stall_every_ns = 700000000
    stall_ns = 20000000";

#[test]
fn drives_with_faults_that_end_no_io_in_an_error_keep_the_laws() {
    let fake = "\nreal_capacity_bytes = 67108864";
    for text in [FLASH, DISK, VOLUME] {
        for faults in ["", ALL_GOOD, &format!("{ALL_GOOD}{}", fake.replace("67108864", "536870912"))] {
            let text = with_faults(text, faults);
            laws::all(|| open_file(&text));
        }
    }
    laws::all(|| open("sim:fake-stick-512gb"));
}

#[test]
fn no_faults_change_nothing() {
    let load =
        Load { op: Op::Write, random: true, length: 4096, depth: 4, start: 0, span: 1 << 30, ios: 5000 };
    for text in [FLASH, DISK, VOLUME] {
        let [mut faulty, mut sound] = pair(text, "");
        assert_eq!(run(&mut faulty, load), run(&mut sound, load));
        assert_eq!(faulty.flash_counters(), sound.flash_counters());
    }
}

#[test]
fn addresses_beyond_a_fake_capacity_go_round_onto_the_real_ones() {
    let real = 512 * MIB;
    // A flash drive whose map has the real size: reading blank pages needs no die, so a read shows what was
    // written.
    let [mut fake, _] = pair(FLASH, "real_capacity_bytes = 536870912");
    assert_eq!(fake.geometry().capacity, 1 << 30);
    let writes = [io(0, Op::Write, real + 8192, 4096), io(0, Op::Flush, 0, 0)];
    one_by_one(&mut fake, &writes);
    let read = |offset| io(0, Op::Read, offset, 4096);
    let spans = one_by_one(&mut fake, &[read(8192), read(real + 8192), read(0), read(real)]);
    let [near, far, empty, empty_far] = spans.map_to();
    assert_eq!((near, empty), (far, empty_far));
    assert!(near > empty, "what was written beyond is held within: {near} {empty}");
}

#[test]
fn an_io_across_the_end_of_what_is_there_is_done_in_parts() {
    let [mut fake, mut real] = pair(FLASH, "real_capacity_bytes = 536870912");
    let across = io(0, Op::Write, 512 * MIB - 4096, 8192);
    let spans = one_by_one(&mut fake, &[across]).map_to::<1>();
    let parts = [io(0, Op::Write, 512 * MIB - 4096, 4096), io(0, Op::Write, 0, 4096)];
    let [first, second] = one_by_one(&mut real, &parts).map_to();
    assert_eq!(spans, [first + second]);
    assert_eq!(fake.flash_counters().unwrap().host_bytes_written, 8192);
    // A TRIM that wraps around several times.
    let [mut small, _] = pair(FLASH, "real_capacity_bytes = 268435456");
    let trim = io(0, Op::Trim, 0, 1 << 30);
    assert_eq!(one_by_one(&mut small, &[trim])[0].0, Outcome::Done);
}

#[test]
fn a_fake_stick_overwrites_its_own_first_bytes_at_the_speed_of_its_flash() {
    let real = 15_931_539_456;
    let load = |start| Load {
        op: Op::Write,
        random: false,
        length: 1 << 20,
        depth: 1,
        start,
        span: 1 << 34,
        ios: 256,
    };
    let within = run(&mut open("sim:fake-stick-512gb"), load(0)).bytes_per_s;
    let beyond = run(&mut open("sim:fake-stick-512gb"), load(7 * real)).bytes_per_s;
    assert!((beyond / within - 1.0).abs() < 0.001, "{within} {beyond}");
    // One die programs 32 KiB at once, after they have crossed its bus; the last of it is still in the
    // buffer.
    let ceiling = 32_768.0 / (2.0 * 18_336.0 / 40e6 + 2.5e-3);
    assert!((0.9..1.001).contains(&(within / ceiling)), "{within} of {ceiling}");
}

#[test]
fn unreadable_bytes_end_reads_in_the_mediums_error_after_all_retries() {
    let faults = "
        unreadable = \"8MiB..9MiB, 50%..51%\"
        retry_ns = 8000000
        retries_max = 10";
    let ios = [
        io(0, Op::Read, 8 * MIB - 4096, 4096),
        io(0, Op::Read, 8 * MIB - 4096, 4608),
        io(0, Op::Read, 9 * MIB - 512, 512),
        io(0, Op::Read, 9 * MIB, 512),
        io(0, Op::Write, 8 * MIB, 4096),
        io(0, Op::Read, 512 * MIB, 4096),
    ];
    for text in [FLASH, DISK] {
        let [mut faulty, mut sound] = pair(text, faults);
        let (ended, expected) = (one_by_one(&mut faulty, &ios[..5]), one_by_one(&mut sound, &ios[..5]));
        for (index, bad) in [false, true, true, false, false].into_iter().enumerate() {
            assert_eq!(
                ended[index].0,
                if bad { Outcome::Error(5) } else { Outcome::Done },
                "{:?}",
                ios[index]
            );
            assert_eq!(ended[index].0.is_about_the_medium(), bad);
        }
        // Until a retry has moved the platters on, faults elsewhere do not change a good read's latency.
        assert_eq!(ended[0].1, expected[0].1);
        assert_eq!(ended[1].1, expected[1].1 + Nanos::from_millis(80));
    }
    let [mut faulty, _] = pair(FLASH, faults);
    assert_eq!(one_by_one(&mut faulty, &ios[5..])[0].0, Outcome::Error(5));
}

#[test]
fn slow_bytes_take_from_one_to_all_retries() {
    let [mut faulty, mut sound] = pair(FLASH, "slow = \"8MiB..9MiB\"\nretry_ns = 1000000\nretries_max = 4");
    let ios = [io(0, Op::Read, 8 * MIB, 4096); 400];
    let base = one_by_one(&mut sound, &ios[..1])[0].1;
    let mut counts = [0; 5];
    for (outcome, span) in one_by_one(&mut faulty, &ios) {
        assert_eq!(outcome, Outcome::Done);
        let extra = span - base;
        assert_eq!(extra.0 % 1_000_000, 0);
        counts[(extra.0 / 1_000_000) as usize] += 1;
    }
    assert_eq!(counts[0], 0);
    assert!(counts[1..].iter().all(|count| (60..140).contains(count)), "{counts:?}");
}

#[test]
fn a_drive_stops_taking_writes_and_may_still_be_read() {
    let [mut faulty, _] = pair(FLASH, "read_only_after_bytes = 10000");
    let write = io(0, Op::Write, 0, 4096);
    let ios = [
        write,
        write,
        write,
        io(0, Op::Write, 0, 512),
        write,
        io(0, Op::Read, 0, 4096),
        io(0, Op::Flush, 0, 0),
    ];
    let outcomes: Vec<Outcome> =
        one_by_one(&mut faulty, &ios).into_iter().map(|(outcome, _)| outcome).collect();
    let error = Outcome::Error(5);
    // I/Os within the limit still succeed.
    assert_eq!(outcomes[..5], [Outcome::Done, Outcome::Done, error, Outcome::Done, error]);
    assert_eq!(outcomes[5..], [Outcome::Done, Outcome::Done]);
    assert_eq!(faulty.flash_counters().unwrap().host_bytes_written, 8704);
}

#[test]
fn a_drive_stalls_by_count_and_by_time() {
    let ios = [io(0, Op::Read, 0, 4096); 100];
    let [mut faulty, mut sound] = pair(FLASH, "stall_every_ios = 10\nstall_ns = 300000000");
    let base = one_by_one(&mut sound, &ios[..1])[0].1;
    for (index, (_, span)) in one_by_one(&mut faulty, &ios).into_iter().enumerate() {
        let stall = if (index + 1) % 10 == 0 { Nanos::from_millis(300) } else { Nanos::ZERO };
        assert_eq!(span, base + stall, "{index}");
    }
    let [mut faulty, _] = pair(FLASH, "stall_every_ns = 1000000000\nstall_ns = 250000000");
    let load = Load { op: Op::Read, random: true, length: 4096, depth: 1, start: 0, span: 1 << 30, ios: 1 };
    let sound_iops = run(&mut sound, Load { ios: 50_000, ..load }).iops;
    let rates = run(&mut faulty, Load { ios: (sound_iops * 8.0) as u64, ..load });
    // It works for a whole second first, and for three quarters of each one after it.
    assert!(
        (rates.iops / sound_iops / (8.0 / (1.0 + 7.0 / 0.75)) - 1.0).abs() < 0.02,
        "{rates:?} {sound_iops}"
    );
    assert!(rates.latency_max >= Nanos::from_millis(250) && rates.latency_max < Nanos::from_millis(251));
}

proptest! {
    #[test]
    fn everything_completes_once_whatever_the_faults(
        places in prop::collection::vec((0u64..900, 1u64..60), 1..4),
        real_mib in 1u64..1000,
        limit in 0u64..4_000_000,
        every in 1u64..50,
        ios in prop::collection::vec((0usize..4, 0u64..1000, 1u32..16), 1..60),
        depth in 1u32..9,
        disk in any::<bool>(),
    ) {
        let ranges = |places: &[(u64, u64)]| -> Vec<Range<u64>> {
            places.iter().map(|(start, length)| start * MIB..(start + length) * MIB).collect()
        };
        let spelled: Vec<String> = places.iter().map(|(start, length)| format!("{start}MiB..{}MiB", start + length)).collect();
        let spelled = spelled.join(",");
        let real = if disk { format!("real_capacity_bytes = {}", (1000 + real_mib) * MIB) } else { String::new() };
        let faults = format!(
            "{real}\nunreadable = \"{spelled}\"\nslow = \"0%..40%\"\nretry_ns = 50000\nretries_max = 3\nread_only_after_bytes = {limit}\nstall_every_ios = {every}\nstall_every_ns = 9000000\nstall_ns = 4000000"
        );
        let mut drive = open_file(&with_faults(if disk { DISK } else { FLASH }, &faults));
        let mut lane = drive.lanes(&LaneRequirements { lanes: 1, depth, length_max: 1 << 20 }).unwrap().pop().unwrap();
        let unreadable = ranges(&places);
        let mut done = Vec::new();
        for batch in ios.chunks(depth as usize) {
            let batch: Vec<Io> = batch.iter().zip(0..).map(|((op, place, blocks), slot)| match Op::ALL[*op] {
                Op::Flush => io(slot, Op::Flush, 0, 0),
                op => io(slot, op, place * MIB, blocks * 4096),
            }).collect();
            lane.submit(&batch).unwrap();
            done.clear();
            while done.len() < batch.len() {
                lane.wait(Nanos::NEVER, &mut done).unwrap();
            }
            prop_assert!(done.is_sorted_by_key(|completion| completion.at));
            for completion in &done {
                let io = batch[completion.slot.index()];
                let end = io.offset + u64::from(io.length);
                let bad = unreadable.iter().any(|range| range.start < end && io.offset < range.end);
                if io.op == Op::Read {
                    prop_assert_eq!(completion.outcome == Outcome::Error(5), bad, "{:?}", io);
                }
            }
        }
    }
}

#[test]
fn a_report_says_what_is_wrong_with_the_drive() {
    let text = with_faults(FLASH, &format!("{ALL_GOOD}\nread_only_after_bytes = 1073741824"));
    let facts = open_file(&text).identity().facts;
    let fact = |name: &str| facts.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    assert_eq!(fact("slow region"), Some("1 MiB at 5 MiB: reads take 1 to 3 retries of 1.00 ms"));
    assert_eq!(fact("read-only"), Some("after 1 GiB written"));
    assert_eq!(fact("stalls"), Some("every 100 I/Os and every 700 ms for 20.0 ms"));
    assert_eq!(fact("unreadable"), None);
    let stick = open("sim:fake-stick-512gb").identity();
    assert_eq!(stick.capacity_bytes, 512_000_000_000);
    assert!(stick.facts.iter().any(|(name, value)| name == "real capacity" && value.starts_with("14.8 GiB")));
}

#[test]
fn nonsense_is_refused_with_file_line_and_range() {
    for (faults, words) in [
        ("real_capacity_bytes = 1073741824", "faults.real_capacity_bytes is 1073741824: it takes a multiple"),
        ("real_capacity_bytes = 536870913", "faults.real_capacity_bytes is 536870913: it takes a multiple"),
        ("real_capacity_bytes = 5", "faults.real_capacity_bytes is 5: it takes a whole number from"),
        ("unreadable = \"1GiB..2GiB\"", "it takes ranges within the 1073741824 bytes of the drive"),
        ("unreadable = \"nowhere\"", "faults.unreadable is \"nowhere\": it takes ranges"),
        ("unreadable = \"0..1MiB,\"", "it takes ranges"),
        ("unreadable = 5", "it takes ranges"),
        ("unreadable = \"0..1MiB\"", "faults.retry_ns is missing"),
        ("slow = \"0..1MiB\"\nretry_ns = 5\nretries_max = 0", "faults.retries_max is 0"),
        (
            "real_capacity_bytes = 67108864\nwrap_bytes = 5",
            "faults.wrap_bytes is 5: it takes a whole number from 67108864",
        ),
        (
            "real_capacity_bytes = 67108864\nwrap_bytes = 67108865",
            "it takes a multiple of identity.sector_bytes",
        ),
        ("wrap_bytes = 67108864", "[faults] has no key wrap_bytes"),
        ("flipped = \"0..1MiB\"", "faults.flipped_bits is missing"),
        ("flipped = \"0..1MiB\"\nflipped_bits = 5000", "faults.flipped_bits is 5000"),
        ("lost_write_every = 0", "faults.lost_write_every is 0"),
        ("stall_every_ns = 5", "faults.stall_ns is missing"),
        ("stall_every_ns = 5\nstall_ns = 5", "faults.stall_ns is 5: it takes less than"),
        ("stall_ns = 5", "[faults] has no key stall_ns"),
        ("broken = true", "[faults] has no key broken: it takes real_capacity_bytes"),
    ] {
        let error = Model::parse("f.toml", &with_faults(FLASH, faults)).expect_err(faults).to_string();
        assert!(error.contains(words) && error.starts_with("f.toml:"), "{error} does not say {words}");
    }
}

/// Writes stamped sectors of one pass, or reads them back and returns the damage.
fn stamped(drive: &mut SimDrive, op: Op, pass: u32, offset: u64, length: u32) -> Damage {
    let stamp = Stamp { key: 1, pass };
    let mut lane =
        drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4 << 20 }).unwrap().pop().unwrap();
    let mut damage = Damage::default();
    if op == Op::Write {
        stamp.fill(offset, &mut lane.buffer(Slot(0))[..length as usize]);
    }
    let mut done = Vec::new();
    lane.submit(&[Io { data: DataClass::Stamped(stamp), ..io(0, op, offset, length) }]).unwrap();
    lane.wait(Nanos::NEVER, &mut done).unwrap();
    if op == Op::Read {
        damage.inspect(stamp, offset, &lane.buffer(Slot(0))[..length as usize]);
    }
    damage
}

#[test]
fn what_goes_round_is_dropped_lost_or_flipped_is_so_in_what_is_read_with_data_and_without() {
    let faults = "
        real_capacity_bytes = 16777216
        wrap_bytes = 33554432
        flipped = \"4MiB..4100KiB\"
        flipped_bits = 3
        lost_write_every = 5";
    for query in ["", "?data=on"] {
        let text = with_faults(FLASH, faults);
        let mut drive = Spec::parse(&format!("sim:f.toml{query}"))
            .unwrap()
            .open(|_: &Path| Ok(text.clone().into()))
            .unwrap();
        let mut at = |op, pass, offset| stamped(&mut drive, op, pass, offset, MIB as u32);
        // The first four are done, the fifth is acknowledged and lost.
        for (pass, offset) in
            [(1, 0), (1, 4 * MIB), (1, 15 * MIB + 512 * 1024), (1, 32 * MIB + 8 * MIB), (2, 0)]
        {
            at(Op::Write, pass, offset);
        }
        assert_eq!(at(Op::Read, 1, 0).bytes(), 0, "the newer one never came");
        assert_eq!(at(Op::Read, 2, 0).stale_bytes, MIB);
        let flipped = at(Op::Read, 1, 4 * MIB);
        assert_eq!((flipped.wrong_bytes, flipped.wrong_bits), (4096, 3 * 8));
        assert_eq!(at(Op::Read, 1, 4 * MIB), flipped, "the same ones each time");
        let across = at(Op::Read, 1, 15 * MIB + 512 * 1024);
        assert_eq!((across.missing_bytes, across.ranges[0].from), (MIB / 2, 16 * MIB));
        assert_eq!(at(Op::Read, 1, 40 * MIB).bytes(), 0, "it is where it went round to");
        let wrapped = at(Op::Read, 1, 8 * MIB);
        assert_eq!((wrapped.wrapped_bytes, wrapped.ranges[0].content.address), (MIB, Some(40 * MIB)));
        assert_eq!(drive.flash_counters().unwrap().host_bytes_written, 5 * MIB);
    }
}

#[test]
fn what_is_trimmed_or_overwritten_is_no_longer_there() {
    for (trim, expected) in [("on", "missing"), ("off", "as it was")] {
        let spec = Spec::parse(&format!("sim:f.toml?trim={trim}")).unwrap();
        let mut drive = spec.open(|_: &Path| Ok(FLASH.into())).unwrap();
        stamped(&mut drive, Op::Write, 1, 0, MIB as u32);
        one_by_one(&mut drive, &[io(0, Op::Trim, 0, 4096), io(0, Op::Write, 8192, 4096)]);
        let damage = stamped(&mut drive, Op::Read, 1, 0, MIB as u32);
        assert_eq!(damage.missing_bytes, if expected == "missing" { 4096 } else { 0 });
        assert_eq!(damage.wrong_bytes, 4096, "what was written over it has no stamp");
    }
}

/// The spans of a known number of I/Os.
trait Spans {
    fn map_to<const N: usize>(self) -> [Nanos; N];
}

impl Spans for Vec<(Outcome, Nanos)> {
    fn map_to<const N: usize>(self) -> [Nanos; N] {
        let spans: Vec<Nanos> = self.into_iter().map(|(_, span)| span).collect();
        spans.try_into().expect("as many as were asked for")
    }
}
