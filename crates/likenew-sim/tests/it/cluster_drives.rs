//! Drives with block maps: published values of new ones, and what follows from merges.

use crate::closed_loop::{Load, Rates, open, run};
use likenew_core::counters::FlashCounters;
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::laws;
use likenew_core::units::Nanos;
use likenew_sim::model::Model;
use likenew_sim::{SimDrive, Spec};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn random(op: Op, length: u64, depth: u32, ios: u64) -> Load {
    Load { op, random: true, length: length as u32, depth, start: 0, span: 8 * GIB, ios }
}

fn flash_counters(drive: &SimDrive) -> FlashCounters {
    drive.flash_counters().expect("a simulated drive has books")
}

/// Prints how near a value is to the published one, and requires 10%.
fn within(what: &str, value: f64, printed: f64) {
    println!("{what}: {value:.5} of {printed:.5}, {:+.1} %", (value / printed - 1.0) * 100.0);
    assert!((value / printed - 1.0).abs() < 0.10, "{what}: {value} of {printed}");
}

/// Random 4 KiB writes over 8 GiB at QD3, as many as fit three minutes at the published rate. The write
/// buffer, which takes the first of them at the speed of the link, is filled before.
fn three_minutes(drive: &mut SimDrive, printed_iops: f64) -> Rates {
    run(drive, random(Op::Write, 4096, 3, 64));
    run(drive, random(Op::Write, 4096, 3, (180.0 * printed_iops) as u64))
}

/// Every small write costs a merge of its cluster: 128 pages of each die are read, moved twice, programmed and looked after
/// by the firmware, and a block is erased. AnandTech printed 5.61 writes a second, of two controllers 0.03 MB/s; no parameter
/// was chosen to agree with it.
#[test]
fn random_writes_of_the_jmf602b_take_a_merge_each() {
    let rates = three_minutes(&mut open("sim:jmicron-jmf602b"), 5.61);
    let page = 60e-6 + 2.0 * 4224.0 * 25e-9 + 800e-6 + 16.0 * 13.6e-6;
    let merge = 128.0 * page + 2.0 * 1.5e-3;
    println!("jmicron-jmf602b: {:.2} of 5.61 random writes a second", rates.iops);
    assert!((rates.iops * merge - 1.0).abs() < 0.05, "{} writes a second, {merge} s a merge", rates.iops);
    let rates = three_minutes(&mut open("sim:jmicron-jmf602bx2"), 7.3);
    println!("jmicron-jmf602bx2 random writes: {:.4} of 0.03 MB/s", rates.bytes_per_s / 1e6);
    assert!((1.0..2.0).contains(&(rates.iops * merge)), "two controllers merge side by side: {}", rates.iops);
}

/// The more log blocks share the pages of many clusters, the rarer merges are. AnandTech printed 2.61 MB/s.
#[test]
fn random_writes_of_the_samsung_slc_gain_by_log_blocks() {
    let rate = |log_blocks: &str| {
        let values = [("map.log_blocks_per_group", log_blocks)];
        let spec = Spec::parse("sim:samsung-slc?state=new").unwrap();
        let mut drive = spec.open_with(&values, |_| unreachable!("it is no file")).unwrap();
        let rates = three_minutes(&mut drive, 637.0);
        println!("samsung-slc with {log_blocks} log blocks: {:.3} of 2.61 MB/s", rates.bytes_per_s / 1e6);
        rates.bytes_per_s
    };
    let [one, four, sixteen] = ["1", "4", "16"].map(rate);
    assert!(one < four && four < sixteen, "{one} {four} {sixteen}");
}

/// A user's analysis of the drive, 2008: throughput of requests of 512 MiB, and small requests over the whole
/// drive.
#[test]
fn new_figures_of_the_ocz_core_follow_from_its_construction() {
    let large = |op| Load { random: false, ios: 2, ..random(op, 512 * MIB, 1, 0) };
    let mib_per_s = |rates: Rates| rates.bytes_per_s / MIB as f64;
    let mut drive = open("sim:ocz-core-64gb?fill=1");
    let capacity = drive.geometry().capacity;
    let small = |op, ios| Load { span: capacity, ..random(op, 512, 1, ios) };
    within("ocz-core write in MiB/s", mib_per_s(run(&mut drive, large(Op::Write))), 72.768);
    within("ocz-core read in MiB/s", mib_per_s(run(&mut drive, large(Op::Read))), 125.0);
    // The curve along the addresses is flat, unlike a disk's.
    let at = |drive: &mut SimDrive, start| {
        let load = Load { random: false, start, ios: 50, ..random(Op::Read, MIB, 1, 0) };
        run(drive, load).bytes_per_s
    };
    let start = at(&mut drive, 0);
    for share in [0.25, 0.5, 0.75, 0.95] {
        let here = at(&mut drive, (capacity as f64 * share) as u64 / MIB * MIB);
        assert!((here / start - 1.0).abs() < 0.01, "{here} at {share}, {start} at the start");
    }
    within("ocz-core 512-byte reads a second", run(&mut drive, small(Op::Read, 2000)).iops, 2220.0);
    run(&mut drive, small(Op::Write, 50));
    within("ocz-core 512-byte writes a second", run(&mut drive, small(Op::Write, 100)).iops, 4.07);
}

/// Reads take access time and transfer time, whatever their size.
#[test]
fn reads_of_the_ocz_core_follow_size_over_access_time_and_throughput() {
    let mut drive = open("sim:ocz-core-64gb?fill=0.2");
    for exponent in 0..=20 {
        let size = 512u64 << exponent;
        let ios = (64 * MIB / size).clamp(2, 500);
        let found = run(&mut drive, random(Op::Read, size, 1, ios)).bytes_per_s / MIB as f64;
        let seconds = 0.447e-3 - 512.0 / (125.0 * MIB as f64) + size as f64 / (125.0 * MIB as f64);
        within(
            &format!("ocz-core reads of {size} bytes in MiB/s"),
            found,
            size as f64 / MIB as f64 / seconds,
        );
    }
}

/// A write pays for each partial cluster: a small one once, whole clusters never, a large unaligned one at
/// both of its ends.
#[test]
fn writes_of_the_ocz_core_pay_for_partial_clusters() {
    const CLUSTER: u64 = 8 * MIB;
    let mut drive = open("sim:ocz-core-64gb?fill=0.2");
    let mut seconds = |size, start| {
        let load = Load { start, span: 8 * GIB - size, ..random(Op::Write, size, 1, 0) };
        run(&mut drive, Load { ios: 30, ..load });
        30.0 / run(&mut drive, Load { ios: 30, ..load }).iops
    };
    let per_byte = seconds(CLUSTER, 0) / 30.0 / CLUSTER as f64;
    let mut penalties = |size, start| (seconds(size, start) / 30.0 - per_byte * size as f64) / 0.2457;
    let found = [
        ("32 MiB, aligned", penalties(4 * CLUSTER, 0), 0.0),
        ("32 MiB, not aligned", penalties(4 * CLUSTER, 3 * MIB), 2.0),
        ("64 KiB", penalties(64 * KIB, 0), 1.0),
        ("512 bytes", penalties(512, 0), 1.0),
    ];
    for (what, found, expected) in found {
        println!("ocz-core writes of {what}: {found:.2} of {expected} penalties");
        assert!((found - expected).abs() < 0.2, "{what}: {found} of {expected} penalties");
    }
}

/// Writes 12 allocation units of 4 MiB, this many at a time in turns of `block` bytes; returns bytes per
/// second.
fn open_units(drive: &mut SimDrive, streams: u64, block: u64) -> f64 {
    const UNIT: u64 = 4 * MIB;
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: block as u32 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let (started_at, mut done) = (lane.now(), Vec::new());
    let rounds = 12 / streams;
    for round in 0..rounds {
        for part in 0..UNIT / block {
            for stream in 0..streams {
                let offset = (round * streams + stream) * UNIT + part * block;
                let data = DataClass::Random;
                lane.submit(&[Io {
                    slot: Slot(0),
                    op: Op::Write,
                    offset,
                    length: block as u32,
                    data,
                    sync: None,
                }])
                .unwrap();
                lane.wait(Nanos::NEVER, &mut done).unwrap();
            }
        }
    }
    (rounds * streams * UNIT) as f64 / (lane.now() - started_at).as_secs_f64()
}

/// Like flashbench's test of open erase blocks (its README has 6.87 MB/s for two streams in blocks of 1 MiB
/// and 6.27 in blocks of 256 KiB, 3.24 and 0.91 for three): two streams are as fast as one at any block size,
/// and three, more than there are log blocks, are slower the smaller their blocks.
#[test]
fn a_microsd_card_collapses_when_more_streams_write_than_it_has_log_blocks() {
    let speed = |streams, block| open_units(&mut open("sim:microsd-32gb?fill=0.02"), streams, block);
    let alone = speed(1, 4 * MIB);
    assert!((9e6..12e6).contains(&alone), "{alone}");
    for block in [1024 * KIB, 256 * KIB, 64 * KIB] {
        let (two, three) = (speed(2, block), speed(3, block));
        println!("blocks of {block}: 2 streams {:.2} MB/s, 3 streams {:.2} MB/s", two / 1e6, three / 1e6);
        assert!(two > 0.85 * alone, "two streams at {two} of {alone}");
        let share = block as f64 / (4 * MIB) as f64;
        // A turn of a stream costs its own block, and a copy of the rest.
        assert!(three < 2.0 * share * alone, "three streams at {three}, block is {share} of a unit");
    }
}

#[test]
fn a_usb_stick_is_fast_in_order_and_hopeless_at_random() {
    let mut drive = open("sim:usb-stick-16gb");
    let in_order = Load { random: false, ios: 64, ..random(Op::Write, MIB, 1, 0) };
    let fast = run(&mut drive, in_order).bytes_per_s;
    run(&mut drive, random(Op::Write, 4 * KIB, 1, 20));
    let slow = run(&mut drive, random(Op::Write, 4 * KIB, 1, 40));
    println!("usb-stick: {:.1} MB/s in order, {:.2} IOPS at random", fast / 1e6, slow.iops);
    assert!((9e6..12e6).contains(&fast) && (1.5..3.0).contains(&slow.iops), "{fast} {}", slow.iops);
}

/// Four dies in two groups, clusters of 2 × 64 pages of 4 KiB, of a family with the given keys.
fn small(family: &str, keys: &str) -> String {
    let tiny = include_str!("../../../../catalog/tiny-flash.toml");
    let (before, rest) = tiny.split_once("[map]").unwrap();
    let (_, after) = rest.split_once("[nand]").unwrap();
    let map = format!(
        "[map]\nfamily = {{ value = \"{family}\", source = \"x\" }}\n\
         page_bytes = {{ value = 4096, source = \"x\" }}\ncluster_dies = {{ value = 2, source = \"x\" }}\n\
         log_blocks_per_group = {{ value = 2, source = \"x\" }}\nidle_merges = {{ value = true, source = \"x\" }}\n\
         copy_page_ns = {{ value = 7000, source = \"x\" }}\n{keys}\n[nand]"
    );
    [
        ("capacity_bytes = { value = 1073741824", "capacity_bytes = { value = 33554432"),
        ("buffer_bytes = { value = 262144", "buffer_bytes = { value = 8192"),
        ("channels = { value = 4", "channels = { value = 2"),
        ("dies_per_channel = { value = 4", "dies_per_channel = { value = 2"),
        ("programs_max = { value = 16", "programs_max = { value = 4"),
        ("blocks_per_plane = { value = 144", "blocks_per_plane = { value = 38"),
        ("pages_per_block = { value = 128", "pages_per_block = { value = 64"),
    ]
    .iter()
    .fold(before.to_owned() + &map + after, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

const EVERY: &str = "merges_copy = { value = \"every page\", source = \"x\" }";
const HELD: &str = "merges_copy = { value = \"held pages\", source = \"x\" }";
const FULL: &str =
    "eviction = { value = \"oldest\", source = \"x\" }\npartial_merges = { value = false, source = \"x\" }";

fn open_text(text: &str, state: &str) -> SimDrive {
    Spec::parse(&format!("sim:small.toml?{state}")).unwrap().open(|_| Ok(text.into())).unwrap()
}

/// The host waits for a merge that takes, on each die, 64 pages of tR, two transfers, tPROG and firmware, and
/// two block erases, after the program that it makes room for.
#[test]
fn a_merge_takes_the_time_of_its_parts() {
    let text = small("bast", &format!("{EVERY}\n{FULL}"));
    let mut drive = open_text(&text, "state=new");
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let (mut done, mut times) = (Vec::new(), Vec::new());
    for step in 0..30u64 {
        // Every other cluster of 512 KiB is in the first group, whose two log blocks serve three clusters in
        // turn.
        let offset = step % 3 * MIB + 64 * KIB;
        let io =
            Io { slot: Slot(0), op: Op::Write, offset, length: 4096, data: DataClass::Random, sync: None };
        lane.submit(&[io]).unwrap();
        lane.wait(Nanos::NEVER, &mut done).unwrap();
        times.push(lane.now().0);
    }
    let page = 4314 * 1_000_000_000 / 80_000_000;
    // Firmware handles one page of the two dies at a time.
    let merge = 64 * (50_000 + 2 * page + 900_000 + 2 * 7000) + 2 * 3_500_000;
    let between = times[29] - times[28];
    let expected = merge + page + 900_000;
    assert!(between.abs_diff(expected) < 2000, "{between} is not {expected}");
}

/// Writes that fit the write buffer are acknowledged at the speed of the link; after that the host waits for
/// merges.
#[test]
fn a_buffer_hides_as_many_merges_as_it_has_pages() {
    let small_buffer = small("bast", &format!("{EVERY}\n{FULL}"));
    let large_buffer =
        small_buffer.replace("buffer_bytes = { value = 8192", "buffer_bytes = { value = 262144");
    let slowest_of = |text: &str, ios| {
        let load = Load { span: 32 * MIB, ..random(Op::Write, 4 * KIB, 1, ios) };
        run(&mut open_text(text, "state=new"), load).latency_max
    };
    let merge = Nanos(64 * 1_000_000);
    assert!(slowest_of(&small_buffer, 32) > merge);
    assert!(slowest_of(&large_buffer, 32) < Nanos(1_000_000));
    assert!(slowest_of(&large_buffer, 200) > merge);
}

#[test]
fn drives_with_a_map_of_clusters_keep_the_laws() {
    for (family, keys) in [
        ("block", HELD.to_owned()),
        ("block", EVERY.to_owned()),
        ("bast", format!("{HELD}\n{FULL}")),
        ("fast", HELD.to_owned()),
        ("fast", format!("{EVERY}\nstripe_bytes = {{ value = 65536, source = \"x\" }}")),
    ] {
        let text = small(family, &keys);
        for state in ["state=new", "state=used"] {
            laws::all(|| open_text(&text, state));
        }
    }
}

#[test]
fn log_blocks_are_merged_ahead_in_idle_time_where_the_drive_does_so() {
    let merging = small("bast", &format!("{HELD}\n{FULL}"));
    let resting = merging.replace("idle_merges = { value = true", "idle_merges = { value = false");
    for (text, merges) in [(merging, true), (resting, false)] {
        let mut drive = open_text(&text, "state=new&fill=1");
        run(&mut drive, Load { span: 32 * MIB, ..random(Op::Write, 4096, 1, 40) });
        let before = flash_counters(&drive).free_blocks;
        let need = LaneRequirements { lanes: 1, depth: 1, length_max: 4096 };
        let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
        let until = lane.now() + Nanos::from_secs(60);
        lane.wait(until, &mut Vec::new()).unwrap();
        drop(lane);
        assert_eq!(flash_counters(&drive).free_blocks > before, merges);
    }
}

#[test]
fn a_map_that_cannot_work_is_refused_with_what_to_do() {
    let fits = small("bast", &format!("{EVERY}\n{FULL}"));
    Model::parse("m.toml", &fits).unwrap();
    for (from, to, words) in [
        ("cluster_dies = { value = 2", "cluster_dies = { value = 3", "divisor of the 4 dies"),
        ("cluster_dies = { value = 2", "cluster_dies = { value = 0", "from 1 to 256"),
        ("planes = { value = 1", "planes = { value = 2", "the size of a page over all planes"),
        ("pages_per_program = { value = 1", "pages_per_program = { value = 2", "one mapping unit at a time"),
        (
            "blocks_per_plane = { value = 38",
            "blocks_per_plane = { value = 34",
            "34 blocks on each die are too few",
        ),
        ("log_blocks_per_group = { value = 2", "log_blocks_per_group = { value = 60", "too few"),
        ("\"every page\"", "\"all\"", "\"every page\" or \"held pages\""),
        ("\"oldest\"", "\"youngest\"", "\"least recent\" or \"oldest\""),
        (
            EVERY,
            &format!("{EVERY}\nstripe_bytes = {{ value = 5000, source = \"x\" }}"),
            "multiple of map.page_bytes",
        ),
        (
            EVERY,
            &format!("{EVERY}\nstripe_bytes = {{ value = 12288, source = \"x\" }}"),
            "not a divisor of a cluster",
        ),
        (
            EVERY,
            &format!("{EVERY}\nfree_blocks_min_per_die = {{ value = 2, source = \"x\" }}"),
            "no key free_blocks_min_per_die",
        ),
        ("value = \"bast\"", "value = \"dftl\"", "\"block\", \"bast\" or \"fast\""),
    ] {
        assert!(fits.contains(from), "{from}");
        let error = Model::parse("m.toml", &fits.replacen(from, to, 1)).expect_err(to).to_string();
        assert!(error.starts_with("m.toml:") && error.contains(words), "{error} does not say {words}");
    }
}

/// Numbers for the keys that decide the shape of a map of clusters.
fn numbers() -> impl Strategy<Value = Vec<(&'static str, u64)>> {
    const KEYS: [&str; 8] = [
        "page_bytes",
        "cluster_dies",
        "log_blocks_per_group",
        "copy_page_ns",
        "stripe_bytes",
        "channels",
        "blocks_per_plane",
        "pages_per_block",
    ];
    let number =
        prop_oneof![any::<u64>(), 0u64..300, (0u32..34).prop_map(|shift| 1 << shift), Just(u64::MAX)];
    prop::collection::vec((prop::sample::select(&KEYS[..]), number), 1..4)
}

proptest! {
    #[test]
    fn no_shape_panics(family in prop::sample::select(&["block", "bast", "fast"][..]), numbers in numbers()) {
        let keys = if family == "bast" { format!("{EVERY}\n{FULL}") } else { EVERY.to_owned() };
        let stripe = "stripe_bytes = { value = 4096, source = \"x\" }";
        let text = small(family, &format!("{keys}\n{stripe}"));
        let text = numbers.iter().fold(text, |text, (key, number)| {
            let (before, rest) = text.split_once(&format!("\n{key} = {{ value = ")).expect("the key is there");
            let (_, after) = rest.split_once(',').expect("a source follows");
            format!("{before}\n{key} = {{ value = {number},{after}")
        });
        let _ = Model::parse("m.toml", &text);
    }
}
