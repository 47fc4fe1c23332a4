//! Fuzzes parsers of what drives and the kernel return.

use std::cell::RefCell;
use std::collections::BTreeMap;

use likenew_core::damage::Damage;
use likenew_core::stamp::{Label, SECTOR, Stamp};
use likenew_real::fuzzing::{self, FuzzMachine};

use super::{file, files, memory_folder, place, text, texts};
use crate::{Input, Target};

pub(super) fn targets() -> Vec<Target> {
    vec![
        target("ata answers", &[&["ata-identify", "ata-smart"]], fuzzing::ata),
        target("nvme answers", &[&["nvme-controller", "nvme-namespace"]], fuzzing::nvme),
        target("scsi pages", &[&["scsi-80"], &["scsi-89"], &["scsi-b1"], &["scsi-b2"]], fuzzing::scsi),
        target("smartctl", &[&["smartctl-ata.json"], &["smartctl-nvme.json"]], fuzzing::smartctl),
        Target::new("outputs", outputs(), fuzzing::outputs),
        target("drive database", &[&["drive-database.h"]], fuzzing::drive_database),
        target("kernel log", &[&["kernel-log"]], fuzzing::kernel_log),
        target("proc files", &[&["stat", "mountinfo", "processors"]], fuzzing::proc),
        target(
            "tracefs pages",
            &[&["tracefs-head", "tracefs-issue", "tracefs-complete", "tracefs-page"]],
            fuzzing::tracefs,
        ),
        target("proc users", &[&["swaps", "maps", "fdinfo", "process-stat", "locks"]], fuzzing::proc_users),
        Target::new("leftover markers", texts(&MARKERS), fuzzing::marker),
        Target::new("noted times", texts(&TIMES), fuzzing::times),
        Target::new("free space", vec![vec![free_space()]], fuzzing::free_space),
        Target::new("stamped blocks", stamped_seeds(), stamps),
        Target::new("machines", machines(), machine),
        target("fiemap", &[&["fiemap"]], fuzzing::fiemap),
        target("disks", &[&["disk-dos", "disk-dos"], &["disk-gpt-head", "disk-gpt-tail"]], fuzzing::disk),
    ]
}

fn target(name: &'static str, seeds: &[&[&str]], check: fn(&[Vec<u8>]) -> bool) -> Target {
    let input = |parts: &&[&str]| -> Input {
        parts.iter().map(|name| file(&format!("crates/likenew-fuzz/corpus/real/{name}"))).collect()
    };
    Target::new(name, seeds.iter().map(input).collect(), check)
}

/// Output of programs about drives.
fn outputs() -> Vec<Input> {
    let mut seeds = files("crates/likenew-real/tests/reports", ".txt");
    seeds.push(vec![file("crates/likenew-fuzz/corpus/real/outputs")]);
    seeds
}

const MARKERS: [&str; 2] =
    ["This is a temporary folder of Likenew.\n\nprocess: 4711\nstarted: 2026-03-14T15:09:26Z\n", ""];

const TIMES: [&str; 3] = [
    "accessed 1700000000 123456789, modified 1700000001 5",
    "accessed -1 999999999, modified 0 0",
    "accessed 9223372036854775807 0, modified -9223372036854775808 999999999",
];

/// Records of 40 bytes: flags, physical, owner, offset, length. The first two records cover the range.
fn free_space() -> Vec<u8> {
    let records: [[u64; 5]; 3] =
        [[0x10, 0, 1, 0, 1 << 19], [0x10, 1 << 19, 1, 0, 1 << 19], [0, 1 << 20, 7, 0, 4096]];
    records.iter().flatten().flat_map(|number| number.to_le_bytes()).collect()
}

const STAMP: Stamp = Stamp { key: 7, pass: 2 };
const STAMPED_AT: u64 = 1 << 20;

/// Blocks as read from a drive: as written, from another address, from another pass, and without a stamp.
fn stamped_seeds() -> Vec<Input> {
    let filled = |stamp: Stamp, address: u64| {
        let mut blocks = vec![0; 8 * SECTOR];
        stamp.fill(address, &mut blocks);
        vec![blocks]
    };
    vec![
        filled(STAMP, STAMPED_AT),
        filled(STAMP, 0),
        filled(Stamp { pass: 1, ..STAMP }, STAMPED_AT),
        vec![vec![0xFF; 8 * SECTOR]],
    ]
}

fn stamps(parts: &[Vec<u8>]) -> bool {
    let mut damage = Damage::default();
    for address in [STAMPED_AT, 0, (1 << 60) - SECTOR as u64] {
        damage.inspect(STAMP, address, &parts[0]);
    }
    let mut other = Damage::default();
    other.inspect(STAMP, STAMPED_AT, &parts[0]);
    damage.merge(other);
    let sectors = parts[0].as_chunks::<SECTOR>().0;
    assert_eq!(damage.checked_bytes, 4 * (sectors.len() * SECTOR) as u64);
    assert!(damage.bytes() <= damage.checked_bytes && damage.ranges.len() <= Damage::RANGES_MAX);
    let _ = sectors.iter().filter_map(Label::read).count();
    !sectors.is_empty()
}

thread_local! {
    /// Unpacked machines by name.
    static MACHINES: RefCell<BTreeMap<String, (FuzzMachine, tempfile::TempDir)>> = const { RefCell::new(BTreeMap::new()) };
}

const MACHINES_AT: &str = "crates/likenew-real/tests/machines";

fn unpack(name: &str) -> Option<(FuzzMachine, tempfile::TempDir)> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let path = is_name.then(|| place(&format!("{MACHINES_AT}/{name}.txt")))?;
    let folder = memory_folder();
    let machine = FuzzMachine::unpack(&std::fs::read_to_string(path).ok()?, folder.path());
    Some((machine, folder))
}

/// Each machine's name, the contents of its files, and the answers of its drives.
fn machines() -> Vec<Input> {
    let entries = std::fs::read_dir(place(MACHINES_AT)).expect("there are machines");
    let names = entries.map(|entry| entry.expect("a folder that can be read").file_name().into_string());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.ok()?.strip_suffix(".txt")?.to_owned())).collect();
    names.sort();
    let input = |name: &String| -> Option<Input> {
        let (machine, _folder) = unpack(name)?;
        Some([vec![name.clone().into_bytes()], machine.parts()].concat())
    };
    // Leaves out the machine that is a container, since it sees no drive.
    let seeds: Vec<Input> = names.iter().filter_map(input).filter(|input| machine(input)).collect();
    assert!(seeds.len() > 10, "{} of {names:?}", seeds.len());
    seeds
}

/// Collects all facts of a machine.
fn machine(parts: &[Vec<u8>]) -> bool {
    let Some(name) = text(parts) else { return false };
    MACHINES.with(|machines| {
        let mut machines = machines.borrow_mut();
        if !machines.contains_key(name) {
            let Some(unpacked) = unpack(name) else { return false };
            machines.insert(name.to_owned(), unpacked);
        }
        machines.get_mut(name).is_some_and(|(machine, _)| machine.collect(&parts[1..]))
    })
}
