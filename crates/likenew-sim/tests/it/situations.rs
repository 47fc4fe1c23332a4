//! Every situation is really at work: it costs what its mechanism says, and the laws of all drives hold.

use std::path::Path;

use crate::closed_loop::{Load, Rates, open, run};
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::laws;
use likenew_core::units::Nanos;
use likenew_sim::{SimDrive, SimError, Spec};

fn load(op: Op, random: bool, length: u32, depth: u32, ios: u64) -> Load {
    Load { op, random, length, depth, start: 0, span: 1 << 29, ios }
}

fn reads(spec: &str, length: u32, depth: u32, ios: u64) -> Rates {
    run(&mut open(spec), load(Op::Read, true, length, depth, ios))
}

fn sequential(spec: &str) -> f64 {
    run(&mut open(spec), load(Op::Read, false, 1 << 17, 8, 2000)).bytes_per_s
}

fn refused(spec: &str) -> String {
    let opened = Spec::parse(spec).and_then(|spec| spec.open(|_: &Path| unreachable!("no file is named")));
    match opened {
        Err(error @ SimError::Spec { .. }) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{spec} opens"),
    }
}

/// Mean latency of reads of 4 KiB with this idle time before each.
fn with_rests(drive: &mut SimDrive, rest: Nanos) -> Nanos {
    let mut lane =
        drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4096 }).unwrap().pop().unwrap();
    let (mut sum, mut done) = (0, Vec::new());
    for step in 0..100u64 {
        let until = lane.now() + rest;
        lane.wait(until, &mut done).unwrap();
        let io = Io {
            slot: Slot(0),
            op: Op::Read,
            offset: step * 4096,
            length: 4096,
            data: DataClass::Random,
            sync: None,
        };
        let sent = lane.submit(&[io]).unwrap();
        lane.wait(Nanos::NEVER, &mut done).unwrap();
        sum += (done.pop().unwrap().at - sent).0;
    }
    Nanos(sum / 100)
}

#[test]
fn drives_in_situations_keep_the_laws() {
    for spec in [
        "tiny-flash?link=usb2&wake=1ms&wear=0.9",
        "tiny-flash?crypt=100MB/s&shift=512&fragments=64KiB",
        "tiny-flash?crypt=100MB/s&shift=512&fragments=4KiB&data=on",
        "tiny-flash?wake=1ms,50us&busy=100&fragments=1MiB",
        "disk-2tb?shift=512&slow_region=0.01&fragments=16KiB&cache=off",
        "disk-2tb?part=0.6&shift=512",
        "tiny-flash?part=0.3&crypt=100MB/s&fragments=64KiB",
        "cloud-gp2-100gib?lazy=on&wake=1ms",
        "qlc-nvme-1tb?hmb=off&link=pcie3x1",
        "fake-stick-512gb?shift=4096&crypt=20MB/s",
        "tiny-flash?crc=50&readcache=64MiB&array=50MB/s&busy=100",
        "disk-2tb?crc=100&firmware=100ms,1s&readcache=1MiB&array=1MB/s",
    ] {
        laws::all(|| open(&format!("sim:{spec}")));
        if !spec.contains("data=on") {
            laws::keeps_stamps(&mut open(&format!("sim:{spec}")), 5, 2000);
            laws::keeps_data(&mut open(&format!("sim:{spec}&data=on")), 5, 2000);
        }
    }
}

#[test]
fn a_slower_link_is_a_ceiling_and_leaves_small_reads_alone() {
    let (own, slow) =
        (sequential("sim:tiny-flash?state=used"), sequential("sim:tiny-flash?state=used&link=sata1.5g"));
    assert!(own > 180e6 && (slow / 137.5e6 - 1.0).abs() < 0.02, "{own} {slow}");
    let small =
        |settings: &str| reads(&format!("sim:tiny-flash?state=used{settings}"), 4096, 1, 500).latency_ns_mean;
    assert!(small("&link=sata1.5g") < 1.15 * small(""));
    let deep = |settings: &str| reads(&format!("sim:tiny-flash?state=used{settings}"), 4096, 32, 2000).iops;
    let one = reads("sim:tiny-flash?state=used&link=usb3.0-bot", 4096, 1, 2000).iops;
    assert!(deep("&link=usb3.0-bot") < 1.1 * one, "one command at a time");
    assert!(deep("&link=usb3.0") > 4.0 * one);
    assert!(refused("sim:tiny-flash?link=pcie3x4").contains("is connected by SATA; pcie3x4 is another bus"));
    assert!(refused("sim:cloud-gp2-100gib?link=sata3g").contains("is a cloud volume"));
}

#[test]
fn encryption_is_a_ceiling_for_both_directions_and_delays_each_io() {
    let rate = sequential("sim:tlc-nvme-1tb?fill=0.01&crypt=300MB/s");
    assert!((rate / 300e6 - 1.0).abs() < 0.02, "{rate}");
    let latency = |settings: &str| {
        reads(&format!("sim:tlc-nvme-1tb?fill=0.01{settings}"), 4096, 1, 500).latency_ns_mean
    };
    let more = latency("&crypt=4GB/s,60us") - latency("");
    assert!((more - 61_024.0).abs() < 5.0, "{more}");
}

#[test]
fn a_misaligned_write_reads_a_flash_page_first_and_a_disk_loses_a_turn() {
    let write = |drive: &str, settings: &str, ios| {
        let load = Load { span: 1 << 27, ..load(Op::Write, true, 4096, 1, ios) };
        run(&mut open(&format!("sim:{drive}?{settings}")), load)
    };
    let [aligned, shifted] =
        ["state=used", "state=used&shift=512"].map(|state| write("tiny-flash", state, 20_000).iops);
    assert!(shifted < 0.7 * aligned, "{aligned} {shifted}");
    let [aligned, shifted] =
        ["cache=off", "cache=off&shift=512"].map(|state| write("disk-2tb", state, 300).latency_ns_mean);
    let turn = 60e9 / 7200.0;
    assert!(((shifted - aligned) / turn - 1.0).abs() < 0.1, "{aligned} {shifted}");
    let ends =
        ["cache=off", "cache=off&shift=512"].map(|state| write("wd6400aaks", state, 300).latency_ns_mean);
    assert!((ends[1] / ends[0] - 1.0).abs() < 0.05, "its sectors are as small as its addresses: {ends:?}");
    assert!(refused("sim:tiny-flash?shift=100").contains("a multiple of its sectors, 512 bytes"));
}

#[test]
fn a_partition_reads_as_its_place_on_the_whole_disk_does() {
    let read = |drive: &mut SimDrive, start| {
        let load = Load { start, ..load(Op::Read, false, 1 << 20, 1, 400) };
        run(drive, load)
    };
    let (mut whole, mut part) = (open("sim:disk-2tb"), open("sim:disk-2tb?part=0.6"));
    let capacity = whole.geometry().capacity;
    let start = capacity - part.geometry().capacity;
    let spec = Spec::parse("sim:disk-2tb?part=0.6").unwrap();
    let no_file = |_: &Path| unreachable!("no file is named");
    assert_eq!(spec.capacity_bytes(no_file).unwrap(), part.geometry().capacity);
    assert!(start.is_multiple_of(1 << 20) && capacity / 10 * 6 - start < 1 << 20, "{start} of {capacity}");
    let outer = read(&mut whole, 0).bytes_per_s;
    let inside = read(&mut open("sim:disk-2tb"), start);
    assert_eq!(read(&mut part, 0), inside);
    assert!(inside.bytes_per_s < 0.9 * outer, "{inside:?} {outer}");
    let as_new = Spec::parse("sim:disk-2tb?part=0.6&cache=off&fill=0.8").unwrap().as_new().unwrap();
    assert_eq!(as_new.text, "sim:disk-2tb?state=new&fill=0.8&part=0.6");
    assert!(refused("sim:disk-2tb?part=1").contains("a share above 0, up to 0.99"));
    assert!(refused("sim:tiny-flash?part=0.9&fragments=1GiB").contains("below its"));
}

#[test]
fn only_a_drive_that_rests_has_to_wake_up() {
    let drive = |settings: &str| open(&format!("sim:tiny-flash?state=used{settings}"));
    let rest = Nanos::from_millis(10);
    let more = with_rests(&mut drive("&wake=2ms"), rest).since(with_rests(&mut drive(""), rest));
    assert_eq!(more, Nanos::from_millis(2));
    assert_eq!(
        with_rests(&mut drive("&wake=2ms,20ms"), rest),
        with_rests(&mut drive(""), rest),
        "it rests longer before it sleeps"
    );
    let [awake, asleep] =
        ["", "&wake=2ms"].map(|settings| run(&mut drive(settings), load(Op::Read, true, 4096, 8, 2000)).iops);
    assert!(asleep > 0.97 * awake, "{awake} {asleep}");
}

#[test]
fn a_map_that_the_host_does_not_hold_is_read_before_the_data() {
    let latency = |settings: &str, span| {
        let mut drive = open(&format!("sim:qlc-nvme-1tb?fill=0.02{settings}"));
        let load = Load { span, ..load(Op::Read, true, 4096, 1, 20_000) };
        run(&mut drive, load);
        run(&mut drive, load).latency_ns_mean
    };
    let (near, far) = (1 << 28, 16 << 30);
    assert!(latency("", far) < 1.1 * latency("", near));
    assert!(latency("&hmb=off", far) > 1.5 * latency("&hmb=off", near));
    assert_eq!(latency("&hmb=4MiB", far), latency("&hmb=off", far), "less than it takes");
    assert_eq!(latency("&hmb=1GiB", far), latency("", far));
    assert!(
        refused("sim:tlc-nvme-1tb?hmb=off").contains("keeps no part of its mapping table in host memory")
    );
}

#[test]
fn a_restored_volume_is_slow_once_and_stays_there_when_it_is_saved() {
    let mut volume = open("sim:cloud-gp2-100gib?lazy=on");
    let load = Load { span: 64 << 20, ..load(Op::Read, false, 4096 << 5, 1, 512) };
    let first = run(&mut volume, load).bytes_per_s;
    let second = run(&mut volume, load).bytes_per_s;
    assert!(first < 20e6 && second > 3.0 * first, "{first} {second}");
    let mut bytes = Vec::new();
    volume.save(&mut bytes).unwrap();
    let spec = Spec::parse("sim:v.snapshot").unwrap();
    let saved = run(&mut spec.open(|_: &Path| Ok(bytes.clone())).unwrap(), load).bytes_per_s;
    assert!((saved / second - 1.0).abs() < 0.05, "{saved} {second}");
    assert!(refused("sim:tiny-flash?lazy=on").contains("not a volume"));
}

#[test]
fn a_file_in_pieces_costs_a_disk_a_seek_for_each() {
    let rate = |settings: &str| {
        run(&mut open(&format!("sim:disk-2tb{settings}")), load(Op::Read, false, 1 << 20, 1, 200)).bytes_per_s
    };
    let (whole, pieces) = (rate(""), rate("?fragments=64KiB"));
    assert!(pieces < 0.15 * whole, "{whole} {pieces}");
    let [whole, pieces] =
        ["", "&fragments=64KiB"].map(|settings| sequential(&format!("sim:tiny-flash?state=used{settings}")));
    assert!(pieces > 0.9 * whole, "flash does not mind: {whole} {pieces}");
}

#[test]
fn worn_flash_reads_with_retries_and_has_less_spare() {
    let read = |settings: &str| {
        reads(&format!("sim:tiny-flash?state=used{settings}"), 4096, 1, 2000).latency_ns_mean
    };
    // 50 µs each.
    let more = read("&wear=1") - read("");
    assert!((more / 200_000.0 - 1.0).abs() < 0.03, "{more}");
    let write = |settings: &str| {
        let load = Load { span: 1 << 30, ..load(Op::Write, true, 4096, 8, 20_000) };
        run(&mut open(&format!("sim:tiny-flash?state=used{settings}")), load).iops
    };
    assert!(write("&wear=1") < 0.6 * write(""));
    assert!(refused("sim:wd6400aaks?wear=1").contains("no flash"));
}

#[test]
fn a_slow_region_keeps_its_place() {
    let at = |settings: &str, percent: u64| {
        let mut drive = open(&format!("sim:disk-2tb{settings}"));
        let start = drive.geometry().capacity / 100 * percent / 4096 * 4096 + 4096;
        let load = Load { start, span: 1 << 30, ..load(Op::Read, true, 4096, 1, 100) };
        run(&mut drive, load).latency_ns_mean
    };
    assert!(at("?slow_region=0.01", 40) > 4.0 * at("", 40));
    assert_eq!(at("?slow_region=0.01", 30), at("", 30));
    assert!(refused("sim:tiny-flash?slow_region=0.1").contains("is not a hard disk"));
}

#[test]
fn a_damaged_link_costs_a_reset_for_each_command_that_it_spoils() {
    let seconds = |spec: &str| 10_000.0 / reads(spec, 4096, 1, 10_000).iops;
    let resets = (seconds("sim:tiny-flash?crc=500") - seconds("sim:tiny-flash")) / 0.3;
    assert!((10.0..32.0).contains(&resets), "{resets} of 20 that are to be expected");
    assert!(refused("sim:tlc-nvme-1tb?crc=500").contains("corrects errors itself"));
    assert!(refused("sim:tiny-flash?crc=1").contains("crc is \"1\""));
}

#[test]
fn faulty_firmware_stands_still_as_often_as_was_reported() {
    let load = load(Op::Read, true, 4096, 1, 120_000);
    let rates = run(&mut open("sim:tiny-flash?firmware=300ms,1s"), load);
    assert!(rates.latency_max >= Nanos::from_millis(295), "{rates:?}");
    let share = rates.iops / reads("sim:tiny-flash", 4096, 1, 120_000).iops;
    assert!((0.65..0.78).contains(&share), "seven tenths of the time are left: {share}");
    assert!(refused("sim:tiny-flash?firmware=2s,1s").contains("how long it stalls"));
    assert!(refused("sim:cloud-gp2-100gib?firmware=1s").contains("has no firmware of its own"));
}

#[test]
fn memory_in_front_answers_what_it_has_seen_and_forgets_what_is_older() {
    let read = |drive: &mut SimDrive, start: u64, span: u64| {
        let load =
            Load { op: Op::Read, random: false, length: 1 << 18, depth: 1, start, span, ios: span >> 18 };
        run(drive, load).bytes_per_s
    };
    let mut drive = open("sim:tiny-flash?readcache=64MiB&fill=1");
    let first = read(&mut drive, 0, 32 << 20);
    assert!(read(&mut drive, 0, 32 << 20) > 8.0 * first, "it was read a moment ago");
    read(&mut drive, 32 << 20, 64 << 20);
    assert!(read(&mut drive, 0, 32 << 20) < 1.1 * first, "64 MiB have come since");
    let small = |drive: &mut SimDrive, start: u64| {
        run(drive, Load { start, span: 32 << 20, ios: 2000, ..load(Op::Read, true, 4096, 1, 0) }).iops
    };
    assert!(small(&mut drive, 0) > 3.0 * small(&mut drive, 512 << 20), "parts of what is there");
    run(&mut drive, Load { span: 32 << 20, ios: 128, ..load(Op::Write, false, 1 << 18, 4, 0) });
    assert!(read(&mut drive, 0, 32 << 20) > 8.0 * first, "what was written is there, too");
    run(&mut drive, Load { span: 32 << 20, ios: 128, ..load(Op::Trim, false, 1 << 18, 4, 0) });
    assert!(read(&mut drive, 0, 32 << 20) < 3.0 * first, "what was given up is not");
}

#[test]
fn an_array_takes_its_share_of_the_drive() {
    let busy = reads("sim:wd6400aaks?array=4MB/s", 4096, 1, 500).iops;
    assert!(busy < 0.7 * reads("sim:wd6400aaks", 4096, 1, 500).iops, "61 pieces a second of 64 KiB each");
}

#[test]
fn a_file_says_the_same_as_a_setting() {
    let text = include_str!("../../../../catalog/tiny-flash.toml");
    let with = |lines: &str| format!("{text}\n[situations]\n{lines}\n");
    let spec = Spec::parse("sim:a.toml").unwrap();
    let load = load(Op::Write, true, 4096, 4, 3000);
    let file = with(
        "crypt = { value = \"50MB/s,10us\", source = \"a test\" }\nshift = { value = \"512\", source = \"a test\" }",
    );
    let by_file = run(&mut spec.open(|_: &Path| Ok(file.clone().into())).unwrap(), load);
    assert_eq!(by_file, run(&mut open("sim:tiny-flash?crypt=50MB/s,10us&shift=512"), load));
    let error = |lines: &str| {
        let text = with(lines);
        spec.open(|_: &Path| Ok(text.clone().into())).err().expect("a bad file").to_string()
    };
    assert!(error("slow_region = { value = \"0.1\", source = \"a test\" }").contains("is not a hard disk"));
    assert!(
        error("crypt = { value = \"fast\", source = \"a test\" }")
            .contains("a text such as \"300MB/s,40us\"")
    );
    assert!(error("warp = { value = \"9\", source = \"a test\" }").contains("has no key warp"));
}

#[test]
fn what_is_no_setting_is_reported_all_that_are() {
    assert!(refused("sim:tiny-flash?warp=9").contains("unknown setting \"warp\""));
    let settings = likenew_sim::settings();
    for key in [
        "link=",
        "crypt=",
        "shift=",
        "part=",
        "wake=",
        "hmb=",
        "lazy=",
        "fragments=",
        "wear=",
        "slow_region=",
        "crc=",
        "firmware=",
        "readcache=",
        "array=",
        "facts=",
    ] {
        assert!(settings.contains(key), "{key}: {settings}");
    }
    assert!(refused("sim:tiny-flash?link=isa").contains("pcie1x1 to pcie5x4"));
    assert!(refused("sim:tiny-flash?wake=0").contains("such as 2ms,100us"));
    assert!(refused("sim:tiny-flash?wake=1ms&wake=2ms").contains("wake is set twice"));
}
