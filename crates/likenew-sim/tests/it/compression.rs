//! Drives that compress before they write, compared with published values of new ones.

use crate::closed_loop::{Load, Rates, open, run, run_with};
use likenew_core::drive::Drive as _;
use likenew_core::io::{DataClass, Op};
use likenew_core::laws;
use likenew_sim::model::Model;
use likenew_sim::{SimDrive, Spec};

const MIB: u64 = 1 << 20;
const DRIVES: [&str; 2] = ["sim:intel-520-120gb", "sim:ocz-vertex-3-120gb"];

fn sequential(op: Op, depth: u32) -> Load {
    Load { op, random: false, length: 1 << 20, depth, start: 0, span: 1024 * MIB, ios: 1024 }
}

/// Sequential writes and reads like CrystalDiskMark's, by 1 MiB each.
fn new_drive(name: &str, data: DataClass, depth: u32) -> (f64, f64) {
    let mut drive = open(name);
    let write = run_with(&mut drive, sequential(Op::Write, depth), data);
    let read = run(&mut drive, sequential(Op::Read, depth));
    (read.bytes_per_s, write.bytes_per_s)
}

fn assert_within(what: &str, found: f64, printed: f64) {
    println!("{what}: {:.1} / {:.0} MB/s = {:.3}", found / 1e6, printed / 1e6, found / printed);
    assert!((found / printed - 1.0).abs() < 0.1, "{what}: {found} is not {printed}");
}

/// Values of Puget Systems (CrystalDiskMark, 1 MiB at a time) and rated ones.
#[test]
fn a_new_intel_520_reads_and_writes_what_was_printed() {
    let (read, write) = new_drive(DRIVES[0], DataClass::Zero, 1);
    assert_within("Q1 compressible read", read, 515e6);
    assert_within("Q1 compressible write", write, 500e6);
    let (read, write) = new_drive(DRIVES[0], DataClass::Random, 1);
    assert_within("Q1 incompressible read", read, 0.95 * 515e6);
    assert_within("Q1 incompressible write", write, 193e6);
    let (read, write) = new_drive(DRIVES[0], DataClass::Zero, 8);
    assert_within("Q8 compressible read as advertised", read, 550e6);
    assert_within("Q8 compressible write as advertised", write, 500e6);
    let (read, write) = new_drive(DRIVES[0], DataClass::Random, 8);
    println!("Q8 incompressible: read {:.1} MB/s, write {:.1} MB/s", read / 1e6, write / 1e6);
}

/// Rated speeds, which hold for zeros at a large queue depth; and about seven times the 71.9 MB/s that a disk
/// reached with zeros, 1 MiB after the other.
#[test]
fn a_new_vertex_3_reads_and_writes_what_was_printed() {
    let (read, write) = new_drive(DRIVES[1], DataClass::Zero, 8);
    assert_within("Q8 compressible read as advertised", read, 550e6);
    assert_within("Q8 compressible write as advertised", write, 500e6);
    let (read, write) = new_drive(DRIVES[1], DataClass::Zero, 1);
    assert_within("Q1 compressible write, seven times a disk", write, 7.0 * 71.9e6);
    println!("Q1 compressible read: {:.1} MB/s", read / 1e6);
    let (read, write) = new_drive(DRIVES[1], DataClass::Random, 1);
    println!("Q1 incompressible: read {:.1} MB/s, write {:.1} MB/s", read / 1e6, write / 1e6);
}

fn small_ios(drive: &mut SimDrive, op: Op, depth: u32, data: DataClass) -> Rates {
    let load = Load { op, random: true, length: 4096, depth, start: 0, span: 1024 * MIB, ios: 20_000 };
    run_with(drive, load, data)
}

/// The only published values of a new drive are the 20,000 reads and 60,000 writes per second that OCZ
/// advertises for compressible data at depth 32, from which the command time is chosen.
#[test]
fn new_drives_do_as_many_small_ios_as_advertised() {
    for name in DRIVES {
        for data in [DataClass::Zero, DataClass::Random] {
            let mut drive = open(name);
            run_with(&mut drive, sequential(Op::Write, 1), data);
            let [read, read_deep] = [1, 32].map(|depth| small_ios(&mut drive, Op::Read, depth, data).iops);
            let [write, write_deep] = [1, 32].map(|depth| small_ios(&mut drive, Op::Write, depth, data).iops);
            println!(
                "{name} {data}: reads Q1 {read:.0} Q32 {read_deep:.0}, writes Q1 {write:.0} Q32 {write_deep:.0} a second"
            );
            assert!((18_000.0..22_000.0).contains(&read_deep), "{name}: {read_deep}");
            if data == DataClass::Zero {
                assert!((54_000.0..66_000.0).contains(&write_deep), "{name}: {write_deep}");
            }
        }
    }
}

#[test]
fn flash_is_programmed_by_what_the_data_compresses_to() {
    for (data, share) in
        [(DataClass::Zero, 9.0 / 64.0), (DataClass::Ratio(0.5), 41.0 / 64.0), (DataClass::Random, 1.0)]
    {
        let mut drive = open(DRIVES[0]);
        run_with(&mut drive, sequential(Op::Write, 1), data);
        let found = drive.flash_counters().expect("a simulated drive has books").write_amplification;
        let with_parity = share * 16.0 / 15.0;
        assert!((found / with_parity - 1.0).abs() < 0.01, "{data}: {found} is not {with_parity}");
    }
}

/// A small drive that compresses, with the smallest buffer allowed.
fn small_drive() -> String {
    include_str!("../../../../catalog/tiny-flash.toml")
        .replace("family = { value = \"page\"", "family = { value = \"compressing\"")
        .replace("buffer_bytes = { value = 262144", "buffer_bytes = { value = 65536")
        .replace(
            "\n[nand]",
            "granules_per_page = { value = 32, source = \"invented\" }
             granules_min_per_page = { value = 4, source = \"invented\" }
             parity_stripe_units = { value = 32, source = \"invented\" }\n\n[nand]",
        )
}

#[test]
fn a_drive_that_compresses_keeps_the_laws_whatever_is_written() {
    for state in ["new", "used", "used&fill=0.5"] {
        let spec = Spec::parse(&format!("sim:small.toml?state={state}")).unwrap();
        let open = || spec.open(|_| Ok(small_drive().into())).unwrap();
        laws::all(open);
        let mut drive = open();
        for data in [DataClass::Zero, DataClass::Random, DataClass::Ratio(0.3), DataClass::Zero] {
            let load = Load { length: 6144, span: 512 * MIB, ios: 5000, ..sequential(Op::Write, 3) };
            run_with(&mut drive, Load { random: true, ..load }, data);
            run_with(&mut drive, load, data);
        }
    }
}

#[test]
fn a_used_drive_is_nearly_as_new_once_its_data_compresses() {
    let open = |state: &str| {
        let spec = Spec::parse(&format!("sim:small.toml?state={state}")).unwrap();
        spec.open(|_| Ok(small_drive().into())).unwrap()
    };
    let random =
        |ios| Load { op: Op::Write, random: true, length: 4096, depth: 32, start: 0, span: 1024 * MIB, ios };
    let new = run_with(&mut open("new"), random(20_000), DataClass::Zero).iops;
    let mut drive = open("used");
    let used = run(&mut drive, random(20_000)).iops;
    // Two in three pages are overwritten, and the rest of the flash is spare.
    run_with(&mut drive, random(300_000), DataClass::Zero);
    let after = run_with(&mut drive, random(20_000), DataClass::Zero).iops;
    println!("random writes a second: {new:.0} of zeros when new, {used:.0} used, {after:.0} of zeros then");
    assert!(used < new / 5.0 && (after / new - 1.0).abs() < 0.1, "{new} {used} {after}");
}

#[test]
fn a_file_that_makes_no_sense_is_refused_with_what_would() {
    let text = small_drive();
    assert!(Model::parse("small.toml", &text).is_ok());
    for (from, to, word) in [
        ("granules_per_page = { value = 32", "granules_per_page = { value = 300", "from 1 to 255"),
        (
            "granules_min_per_page = { value = 4",
            "granules_min_per_page = { value = 33",
            "takes at least 1 of them",
        ),
        ("parity_stripe_units = { value = 32", "parity_stripe_units = { value = 3", "a divisor"),
        ("parity_stripe_units = { value = 32", "parity_stripe_units = { value = 4", "too little spare"),
        (
            "buffer_bytes = { value = 65536",
            "buffer_bytes = { value = 61440",
            "two program units of 32768 bytes",
        ),
        ("granules_min_per_page", "granules_least", "granules_min_per_page is missing"),
    ] {
        let error = Model::parse("small.toml", &text.replacen(from, to, 1)).expect_err(to).to_string();
        assert!(error.contains(word) && error.starts_with("small.toml:"), "{error} does not say {word}");
    }
}
