//! Entry points for fuzzers: the private parsers of this crate. Each takes the parts of an input, does with
//! them what the program would, and says whether they were accepted.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use likenew_core::facts::Fact;

use crate::block::parse_stat;
use crate::consent::{mend_sums, partition_table, signatures};
use crate::drive_lock::process_of;
use crate::drive_traffic::parse_kernel_time;
pub use crate::facts::machine_file::FuzzMachine;
use crate::facts::smartmontools::{self, Smartctl};
use crate::facts::{kernel_log, reported};
use crate::file_store::fuzzed_times;
use crate::mounts::{Mount, swap_names};
use crate::scratch::fuzzed_marker;
use crate::standards::{ata, nvme, scsi};
use crate::trim::{fuzzed_extents, fuzzed_free_space};
use crate::{openers, tracefs};

fn part(parts: &[Vec<u8>], index: usize) -> &[u8] {
    parts.get(index).map_or(&[], Vec::as_slice)
}

/// The parts in a range that are text.
fn texts(parts: &[Vec<u8>], range: std::ops::Range<usize>) -> Vec<&str> {
    range.filter_map(|index| std::str::from_utf8(part(parts, index)).ok()).collect()
}

/// IDENTIFY DEVICE, SMART READ DATA and its thresholds.
pub fn ata(parts: &[Vec<u8>]) -> bool {
    let (identify, smart) = (part(parts, 0), part(parts, 1));
    let has_attributes = ata::attributes(smart, smart).is_some();
    (0..=255).for_each(|page| {
        let _ = (ata::statistic(smart, page, 8, 4), ata::log_pages(smart, page));
    });
    let Some(drive) = ata::IdentifyDevice::parse(identify) else { return false };
    let _ = (drive.model(), drive.serial(), drive.firmware(), drive.rotation_rpm(), drive.trim());
    let _ = (drive.sata_generation(), drive.sata_generation_max(), drive.security());
    let _ = (drive.refusal(ata::Feature::Smart), drive.refusal(ata::Feature::Logs));
    has_attributes
}

/// Identify Controller and Identify Namespace, and the plan of a format from these.
pub fn nvme(parts: &[Vec<u8>]) -> bool {
    let (controller, namespace) = (part(parts, 0), part(parts, 1));
    crate::erase::format::fuzz_parse(controller, namespace);
    let Some(controller) = nvme::Controller::parse(controller) else { return false };
    let _ = (
        controller.temperature_limits_c(),
        controller.host_memory_bytes(),
        controller.sanitize(),
        controller.trims(),
    );
    nvme::Namespace::parse(namespace).is_some_and(|namespace| {
        let _ = namespace.better_block_bytes();
        namespace.formats.len() <= 64
    })
}

/// Pages of Vital Product Data.
pub fn scsi(parts: &[Vec<u8>]) -> bool {
    let page = part(parts, 0);
    let identify = scsi::ata_identify(page).and_then(ata::IdentifyDevice::parse).is_some();
    let (unmaps, rotates) = (scsi::provisioning(page).is_some(), scsi::rotation_rpm(page).is_some());
    [identify, unmaps, rotates, scsi::unit_serial(page).is_some()].contains(&true)
}

/// smartctl's JSON.
pub fn smartctl(parts: &[Vec<u8>]) -> bool {
    let answer = Smartctl::read(Fact::new(part(parts, 0).to_vec(), "fuzzed"));
    let _ = (answer.health(), answer.counts());
    answer.reason().is_none()
}

/// What programs print of drives.
pub fn outputs(parts: &[Vec<u8>]) -> bool {
    reported::fuzz(String::from_utf8_lossy(part(parts, 0)).into_owned())
}

/// The database of drives of smartmontools.
pub fn drive_database(parts: &[Vec<u8>]) -> bool {
    std::str::from_utf8(part(parts, 0)).is_ok_and(|text| smartmontools::finds(text, "M4-CT128M4SSD1", "0002"))
}

/// The kernel's log.
pub fn kernel_log(parts: &[Vec<u8>]) -> bool {
    kernel_log::records(part(parts, 0)).iter().any(|record| kernel_log::kind(&record.text).is_some())
}

/// A device's counters, the table of mounts, and the time of processors.
pub fn proc(parts: &[Vec<u8>]) -> bool {
    let [counters, mounts, time] = texts(parts, 0..3)[..] else { return false };
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
    let _ = parse_kernel_time(time, 100);
    parse_stat(counters).is_some() && !mounts.is_empty()
}

/// Formats of tracefs, and a page of records.
pub fn tracefs(parts: &[Vec<u8>]) -> bool {
    let [head, issue, complete] = texts(parts, 0..3)[..] else { return false };
    tracefs::fuzz_parse(head, issue, complete, part(parts, 3))
}

/// /proc/swaps, `maps`, `fdinfo` and `stat` of a process, and /proc/locks.
pub fn proc_users(parts: &[Vec<u8>]) -> bool {
    // Names in the swaps and maps may be of any bytes.
    let (swaps, maps) = (part(parts, 0), part(parts, 1));
    let [descriptor, process, locks] = texts(parts, 2..5)[..] else { return false };
    let swaps = swap_names(swaps).count();
    let maps = maps.split(|byte| *byte == b'\n').filter_map(openers::writable_map).count();
    let _ = openers::parent_of(process);
    let Ok(locked) = memory_file(b"") else { return false };
    let _ = process_of(&File::from(locked), locks);
    let _ = openers::fuse_connection(descriptor);
    swaps > 0 && maps > 0 && openers::purpose(descriptor).is_some()
}

/// The marker of a scratch folder.
pub fn marker(parts: &[Vec<u8>]) -> bool {
    fuzzed_marker(part(parts, 0))
}

/// The noted times of a file that is refreshed.
pub fn times(parts: &[Vec<u8>]) -> bool {
    std::str::from_utf8(part(parts, 0)).is_ok_and(fuzzed_times)
}

/// The answer of GETFSMAP, 40 bytes a record.
pub fn free_space(parts: &[Vec<u8>]) -> bool {
    fuzzed_free_space(part(parts, 0))
}

/// The answer of FIEMAP, 28 bytes an extent.
pub fn fiemap(parts: &[Vec<u8>]) -> bool {
    fuzzed_extents(part(parts, 0))
}

/// The first and last bytes of a disk of 1 MiB: its signatures, and its partition table. The table is read as
/// it is, and again with correct checksums: without these, next to no damage would get past the first check.
pub fn disk(parts: &[Vec<u8>]) -> bool {
    const BYTES: usize = 1 << 20;
    let mut disk = image(part(parts, 0), part(parts, 1), BYTES);
    let Ok(file) = memory_file(&disk) else { return false };
    let carries = signatures(&file, 0, BYTES as u64).unwrap_or_default();
    let is_table = |file: &OwnedFd, kind: &str| partition_table(file, kind, BYTES as u64).is_ok();
    let (gpt, dos) = (is_table(&file, "gpt"), is_table(&file, "dos"));
    mend_sums(&mut disk, 512);
    let Ok(file) = memory_file(&disk) else { return false };
    let mended = is_table(&file, "gpt");
    if carries.contains(&"gpt") { gpt || mended } else { dos && !carries.is_empty() }
}

/// A disk of `bytes` bytes that begins with `head`. `tail` is the first 256 bytes of a GPT's second list of
/// entries, and its header.
pub(crate) fn image(head: &[u8], tail: &[u8], bytes: usize) -> Vec<u8> {
    let mut disk = vec![0; bytes];
    let head = &head[..head.len().min(bytes)];
    disk[..head.len()].copy_from_slice(head);
    let (entries, header) = tail.split_at(tail.len().min(256));
    let header = &header[..header.len().min(512)];
    disk[bytes - 33 * 512..][..entries.len()].copy_from_slice(entries);
    disk[bytes - 512..][..header.len()].copy_from_slice(header);
    disk
}

pub(crate) fn memory_file(bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let memory = rustix::fs::memfd_create("likenew-fuzz", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(memory);
    file.write_all(bytes)?;
    Ok(file.into())
}
