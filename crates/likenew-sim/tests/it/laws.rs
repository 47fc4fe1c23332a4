//! Simulated drives follow the laws of all targets.

use std::path::Path;

use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Durability, Io, Op, Outcome, Slot};
use likenew_core::laws;
use likenew_core::units::Nanos;
use likenew_sim::{SimDrive, Spec};
use proptest::prelude::{Strategy, TestCaseError, any, prop_assert, proptest};
use proptest::sample::select;

fn open(spec: &str) -> SimDrive {
    Spec::parse(spec).unwrap().open(|_: &Path| unreachable!("no file is named")).unwrap()
}

#[test]
fn a_flash_drive_keeps_the_laws() {
    for state in ["state=new", "state=used", "state=used&fill=0.5", "state=used&trim=off", "data=on"] {
        laws::all(|| open(&format!("sim:tiny-flash?{state}")));
    }
}

#[test]
fn a_drive_that_programs_several_pages_at_once_keeps_the_laws() {
    let text = include_str!("../../../../catalog/tiny-flash.toml")
        .replace("planes = { value = 1", "planes = { value = 2")
        .replace("blocks_per_plane = { value = 144", "blocks_per_plane = { value = 72")
        .replace("pages_per_program = { value = 1", "pages_per_program = { value = 2");
    for state in ["new", "used"] {
        let spec = Spec::parse(&format!("sim:two.toml?state={state}")).unwrap();
        laws::all(|| spec.open(|_| Ok(text.clone().into())).unwrap());
    }
}

#[test]
fn a_disk_keeps_the_laws_with_and_without_its_caches() {
    laws::all(|| open("sim:wd6400aaks"));
    laws::all(|| open("sim:wd6400aaks?data=on"));
    let text = include_str!("../../../../catalog/wd6400aaks.toml")
        .replace("write_cache_bytes = { value = 12582912", "write_cache_bytes = { value = 0")
        .replace("segment_bytes = { value = 524288", "segment_bytes = { value = 0");
    let spec = Spec::parse("sim:bare.toml").unwrap();
    laws::all(|| spec.open(|_| Ok(text.clone().into())).unwrap());
}

#[test]
fn every_drive_of_the_catalog_keeps_what_is_written_to_it() {
    for entry in likenew_sim::catalog() {
        let mut drive = open(&format!("sim:{}?data=on", entry.name));
        laws::keeps_data(&mut drive, 5, 3000);
        let mut drive = open(&format!("sim:{}", entry.name));
        laws::keeps_stamps(&mut drive, 5, 3000);
    }
}

#[test]
fn a_counterfeit_drive_reads_back_what_was_written_a_round_later() {
    let mut drive = open("sim:fake-stick-512gb?data=on");
    let text = likenew_sim::catalog().iter().find(|entry| entry.name == "fake-stick-512gb").unwrap().text;
    let line = text.lines().find(|line| line.starts_with("real_capacity_bytes")).unwrap();
    let digits: String =
        line.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let real = digits.parse::<u64>().unwrap();
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let mut done = Vec::new();
    let mut one = |lane: &mut dyn likenew_core::target::Target, op, offset| {
        lane.submit(&[Io { op, offset, length: 4096, data: DataClass::Random, ..FLUSH }]).unwrap();
        lane.wait(Nanos::NEVER, &mut done).unwrap();
    };
    lane.buffer(Slot(0)).fill(7);
    one(&mut *lane, Op::Write, 8192);
    lane.buffer(Slot(0)).fill(9);
    // Half of it is before the real end, the other half at the beginning.
    one(&mut *lane, Op::Write, 2 * real - 2048);
    for (offset, byte) in [(8192, 7), (real + 8192, 7), (real - 2048, 9)] {
        lane.buffer(Slot(0)).fill(0);
        one(&mut *lane, Op::Read, offset);
        assert!(lane.buffer(Slot(0)).iter().all(|held| *held == byte), "{offset}");
    }
}

/// Sets one number of the small drive's file.
fn set(text: &str, key: &str, value: u64) -> String {
    let before = format!("\n{key} = {{ value = ");
    let start = text.find(&before).expect(key) + before.len();
    let end = start + text[start..].find(',').unwrap();
    format!("{}{value}{}", &text[..start], &text[end..])
}

/// Keys of a map's policies.
fn policies() -> impl Strategy<Value = String> {
    let words = |key: &'static str, words: &'static [&'static str]| {
        select(words).prop_map(move |word| format!("{key} = {{ value = \"{word}\", source = \"any\" }}\n"))
    };
    let number = |key, value| format!("{key} = {{ value = {value}, source = \"any\" }}\n");
    let choices = move |collection: String| {
        let draws = collection.contains("choices");
        (1u64..9).prop_map(move |count| {
            let count = if draws { number("collection_choices", count) } else { String::new() };
            format!("{collection}{count}")
        })
    };
    let collection =
        words("collection", &["greedy", "fifo", "choices", "cost-benefit"]).prop_flat_map(choices);
    let streams = words("streams", &["mixed", "separate", "hot-cold"]);
    let erased = words("erased_blocks", &["fifo", "least-worn"]);
    (collection, streams, erased, 0u64..5).prop_map(move |(collection, streams, erased, spread)| {
        format!("{collection}{streams}{erased}{}", number("wear_spread_max", spread))
    })
}

fn small_drives() -> impl Strategy<Value = String> {
    let chips = (1u64..4, 1u64..4, 1u64..3, 8u64..20, 1u64..5, 1u64..3);
    (chips, (1u64..40, 1u64..10, 1u64..5), (0u64..12, 1u64..=100), policies()).prop_map(
        |(
            (channels, dies, planes, blocks, programs, shape),
            (slots, programs_max, buffers),
            (idle, percent),
            policies,
        )| {
            let unit = planes * shape;
            let room = channels * dies * ((blocks - 6) * planes * programs * shape - unit);
            // Twelve units a block, so that small drives still hold a mebibyte.
            let pages = (room * 12 * percent / 100).max(256);
            [
                ("capacity_bytes", pages * 4096),
                ("command_slots", slots),
                ("buffer_bytes", (1 + buffers) * unit * 4096),
                ("idle_free_blocks_per_die", idle),
                ("idle_after_ns", 1000 * idle),
                ("channels", channels),
                ("dies_per_channel", dies),
                ("planes", planes),
                ("blocks_per_plane", blocks),
                ("pages_per_block", programs * shape * 12),
                ("pages_per_program", shape),
                ("programs_max", programs_max),
            ]
            .iter()
            .fold(include_str!("../../../../catalog/tiny-flash.toml").to_owned(), |text, (key, value)| {
                set(&text, key, *value)
            })
            .replace("[map]\n", &format!("[map]\n{policies}"))
        },
    )
}

proptest! {
    #[test]
    fn drives_of_any_shape_complete_everything_once(text in small_drives(), used in any::<bool>(), seed in any::<u64>()) {
        let spec = Spec::parse(&format!("sim:any.toml?data=on&state={}", if used { "used" } else { "new" })).unwrap();
        let Ok(mut drive) = spec.open(|_| Ok(text.clone().into())) else {
            return Err(TestCaseError::reject("this shape leaves no spare"));
        };
        laws::completes_everything_once(&mut drive, seed, 1000);
        laws::keeps_data(&mut drive, seed, 3000);
        let flash_counters = drive.flash_counters().unwrap();
        prop_assert!(flash_counters.free_blocks >= 2);
    }
}

const FLUSH: Io =
    Io { slot: Slot(0), op: Op::Flush, offset: 0, length: 0, data: DataClass::Zero, sync: None };

#[test]
fn a_flush_ends_when_what_was_written_is_safe() {
    for (name, least) in [("sim:tiny-flash", 900_000), ("sim:wd6400aaks", 300_000)] {
        let mut drive = open(name);
        let need = LaneRequirements { lanes: 1, depth: 1, length_max: 512 };
        let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
        let write = Io { op: Op::Write, length: 512, ..FLUSH };
        let mut done = Vec::new();
        lane.submit(&[write]).unwrap();
        lane.wait(Nanos::NEVER, &mut done).unwrap();
        let sent = lane.submit(&[FLUSH]).unwrap();
        lane.wait(Nanos::NEVER, &mut done).unwrap();
        assert_eq!(done.len(), 2);
        assert!(done[1].at - sent > Nanos(least), "{name}: {}", done[1].at - sent);
        drop(lane);
        assert!(drive.flash_counters().unwrap().flash_bytes_programmed >= 512);
    }
}

/// Does these one after another on a drive of this name, and says how long each took.
fn durations<const COUNT: usize>(name: &str, ios: [Io; COUNT]) -> [Nanos; COUNT] {
    let mut drive = open(name);
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    ios.map(|io| {
        let (sent, mut done) = (lane.submit(&[io]).unwrap(), Vec::new());
        lane.wait(Nanos::NEVER, &mut done).unwrap();
        assert_eq!((done.len(), done[0].outcome), (1, Outcome::Done));
        done[0].at - sent
    })
}

/// Writes to a cache, one past it (FUA) elsewhere, and a flush of what the cache still holds.
const WRITE: Io = Io { op: Op::Write, length: 4096, offset: 64 << 20, ..FLUSH };
const FUA: Io = Io { offset: 1 << 20, sync: Some(Durability::Data), ..WRITE };

#[test]
fn a_write_with_fua_waits_for_its_own_data_and_for_nothing_else() {
    for (name, least) in
        [("sim:tiny-flash", 200_000), ("sim:tlc-sata-500gb", 200_000), ("sim:wd6400aaks", 300_000)]
    {
        // A part of a page shares no program unit with whole ones. A disk begins at once with the first.
        let part = |place: u64| Io { length: 512, offset: place << 20, ..WRITE };
        let [write, _, fua, flush, again] = durations(name, [part(32), part(16), FUA, FLUSH, FLUSH]);
        assert!(fua > write + Nanos(least), "{name}: {write} {fua}");
        assert!(
            flush > again + Nanos(least),
            "{name}: the first write was still to be flushed: {flush} {again}"
        );
        // A page that waits in the cache is brought there, and no older copy follows it.
        let again = Io { sync: FUA.sync, ..WRITE };
        let [_, fua, flush, last] = durations(name, [WRITE, again, FLUSH, FLUSH]);
        assert!(fua > write + Nanos(least) && flush == last, "{name}: {fua} {flush} {last}");
    }
}

#[test]
fn where_the_cache_is_protected_fua_costs_nothing() {
    for name in ["sim:tlc-enterprise-1920gb", "sim:cloud-gp2-100gib", "sim:tlc-sata-500gb?vm=unsafe"] {
        let fua = Io { offset: WRITE.offset, ..FUA };
        assert_eq!(durations(name, [WRITE]), durations(name, [fua]), "{name}");
    }
}

#[test]
fn through_the_memory_of_a_host_a_write_with_fua_reaches_the_drive() {
    let [bare, direct, cached] = ["", "?vm=none", "?vm=writeback"].map(|vm| {
        let [write, fua, flush, _] =
            durations(&format!("sim:tlc-sata-500gb{vm}"), [WRITE, FUA, FLUSH, FLUSH]);
        (write, fua, flush)
    });
    assert_eq!(bare.1, direct.1);
    assert!(cached.1 >= bare.1 && cached.0 < bare.0 && cached.2 > bare.2, "{bare:?} {cached:?}");
}

#[test]
fn a_lane_that_is_dropped_lets_its_ios_end_and_the_clock_goes_on() {
    let mut drive = open("sim:tiny-flash");
    let need = LaneRequirements { lanes: 1, depth: 4, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let write = |slot| Io { slot: Slot(slot), op: Op::Write, length: 4096, ..FLUSH };
    lane.submit(&[write(0), write(1)]).unwrap();
    drop(lane);
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    assert!(lane.now() > Nanos::ZERO);
    let mut done = Vec::new();
    lane.submit(&[write(0)]).unwrap();
    lane.wait(Nanos::NEVER, &mut done).unwrap();
    assert_eq!(done.len(), 1);
}

#[test]
fn one_clock_has_one_lane() {
    let mut drive = open("sim:tiny-flash");
    assert_eq!(drive.lanes_max(), 1);
    let need = LaneRequirements { lanes: 2, depth: 1, length_max: 4096 };
    let error = drive.lanes(&need).err().expect("two lanes are refused").to_string();
    assert!(error.contains("1 lane"), "{error}");
}

#[test]
#[should_panic(expected = "rest for ever")]
fn waiting_for_nothing_for_ever_is_our_mistake() {
    let mut drive = open("sim:tiny-flash");
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let _ = lane.wait(Nanos::NEVER, &mut Vec::new());
}

#[test]
fn ten_idle_minutes_pass() {
    let mut drive = open("sim:tiny-flash?state=used");
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    lane.wait(Nanos::from_secs(600), &mut Vec::new()).unwrap();
    assert_eq!(lane.now(), Nanos::from_secs(600));
}
