//! The kernel's log of another machine: dmesg, with any kind of time stamp, journalctl and syslog.

use std::sync::LazyLock;

use likenew_core::facts::drive::sata_bytes_per_s;
use likenew_core::facts::{Drive, DriveKind, Fact, Link};
use regex::Regex;

use super::{Mark, Origin, Reading, Section, is_same_model};
use crate::facts::kernel_log::{Record, lines_of};
use crate::facts::link::{hop, of_hops};
use crate::standards::clean;
use crate::wording::facts as wording;

pattern!(
    /// `[   12.345678] TEXT`, after syslog's `kernel:` or a level in angle brackets, too.
    UPTIME = r"^(?:<\d+>|.{8,60}? kernel: )?\[\s*(\d+\.\d{3,6})\]\s(?:\[[^\]]*\]\s)?(.*)$"
);
pattern!(
    /// `[Mon Jan  1 12:00:00 2024] TEXT` of `dmesg -T`, and syslog without uptime.
    DATED = r"^(?:\[[A-Z][a-z]{2} [A-Z][a-z]{2}\s+\d+ \d\d:\d\d:\d\d \d{4}\]|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \S+ kernel:|\d{4}-\d\d-\d\dT\S+ \S+ kernel:)\s+(.*)$"
);

/// A line of the log as a record, whose time is 0 if the line has no uptime.
fn record(line: &str) -> Option<Record> {
    if let Some(captures) = UPTIME.captures(line) {
        return Some(Record { at_s: captures[1].parse().ok()?, text: clean(&captures[2]) });
    }
    DATED.captures(line).map(|capture| Record { at_s: 0.0, text: clean(&capture[1]) })
}

pub(super) fn is_record(line: &str) -> bool {
    record(line).is_some()
}

pub(super) fn read(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    let records: Vec<Record> = text.iter().filter_map(|line| record(line)).collect();
    for record in &records {
        if let Some((_, version)) = record.text.split_once("Linux version ") {
            let kernel = version.split_whitespace().next().map(str::to_owned);
            into.origin.fill(&mut into.facts.machine.kernel, kernel);
            into.is_linux.get_or_insert(true);
        }
        if let Some((_, board)) = record.text.split_once("DMI: ") {
            let board = board.split(", BIOS").next().map(str::to_owned);
            into.origin.fill(&mut into.facts.machine.board, board);
        }
        if let Some((_, hypervisor)) = record.text.split_once("Hypervisor detected: ") {
            let hypervisor = Some(Some(hypervisor.to_owned()));
            into.origin.fill(&mut into.facts.machine.virtual_machine, hypervisor);
        }
    }
    let is_any = !records.is_empty();
    into.records.extend(records);
    is_any
}

/// The log's names for a drive.
struct Names {
    /// `sda`, `nvme0`, `2:0:0:0`, `ata3`, `2-1`.
    all: Vec<String>,
    ata: Option<String>,
    usb: Option<String>,
}

impl Names {
    fn of(drive: &Drive, records: &[Record]) -> Self {
        let mut all: Vec<String> =
            Some(drive.name.clone()).filter(|name| !name.is_empty()).into_iter().collect();
        if let Some((controller, _)) = drive.name.strip_prefix("nvme").and_then(|rest| rest.split_once('n')) {
            all.push(format!("nvme{controller}"));
        }
        // `sd 2:0:0:0: [sda] Attached SCSI disk`
        let bracketed = format!("[{}]", drive.name);
        let scsi = records.iter().find_map(|record| {
            let address = record.text.strip_prefix("sd ")?.split_once(": [")?.0;
            record.text.contains(&bracketed).then(|| address.to_owned())
        });
        let ata = scsi.as_ref().and_then(|scsi| ata_port(scsi, drive, records));
        // `usb-storage 2-1:1.0: …` and `scsi host2: usb-storage 2-1:1.0`
        let usb = scsi.as_ref().and_then(|scsi| {
            let host = format!("scsi host{}: usb-storage ", scsi.split(':').next()?);
            let place =
                records.iter().find_map(|record| record.text.strip_prefix(&host).map(str::to_owned))?;
            place.split(':').next().map(str::to_owned)
        });
        all.extend(scsi.into_iter().chain(ata.clone()).chain(usb.clone()));
        Self { all, ata, usb }
    }

    /// Whether these are all names that the log can have for a drive of this kind.
    fn are_all_of(&self, kind: DriveKind) -> bool {
        match kind {
            DriveKind::Nvme => self.all.len() > 1,
            DriveKind::Sata => self.ata.is_some(),
            DriveKind::Usb => self.usb.is_some(),
            _ => false,
        }
    }
}

/// Forgets counts of zero: without all names of a drive, its lines cannot be counted.
fn forget_zeros(drive: &mut Drive) {
    let counts = &mut drive.counts;
    for count in [
        &mut counts.log_resets,
        &mut counts.log_timeouts,
        &mut counts.log_io_errors,
        &mut counts.log_link_errors,
    ] {
        if count.get() == Some(0) {
            *count = Fact::NotQueried;
        }
    }
}

/// The port of a SATA disk: the only port with its model, or of several the one with its host's number.
fn ata_port(scsi: &str, drive: &Drive, records: &[Record]) -> Option<String> {
    pattern!(MODEL = r"^(ata\d+)\.\d\d: ATA-\d+: (.+?),");
    let model = drive.identity.model.value().cloned().or_else(|| {
        // `scsi 2:0:0:0: Direct-Access     ATA      Samsung SSD 860  1B6Q PQ: 0 ANSI: 5`
        let head = format!("scsi {scsi}: Direct-Access     ATA");
        let line = records.iter().find_map(|record| record.text.strip_prefix(&head))?;
        Some(line.trim().get(..16)?.trim().to_owned())
    })?;
    let mut ports: Vec<String> = records
        .iter()
        .filter_map(|record| MODEL.captures(&record.text))
        .filter(|captures| is_same_model(&captures[2], &model))
        .map(|captures| captures[1].to_owned())
        .collect();
    ports.sort();
    ports.dedup();
    // Hosts count from 0, ports from 1.
    let by_host = scsi.split(':').next()?.parse::<u32>().ok().map(|host| format!("ata{}", host + 1));
    match &ports[..] {
        [only] => Some(only.clone()),
        _ => by_host.filter(|port| ports.contains(port)),
    }
}

/// Gives each drive its lines of the log.
pub(super) fn assign(reading: &mut Reading) {
    add_named(reading);
    if reading.records.is_empty() {
        return;
    }
    reading.origin = Origin(wording::KERNEL_LOG.to_owned());
    let records = std::mem::take(&mut reading.records);
    for at in 0..reading.facts.drives.len() {
        let names = Names::of(&reading.facts.drives[at], &records);
        if names.all.is_empty() {
            continue;
        }
        let known = reading.origin.fact(Some(records.clone()));
        let drive = &mut reading.facts.drives[at];
        drive.log = lines_of(&names.all, &known, &mut drive.counts);
        if !names.are_all_of(drive.kind) {
            forget_zeros(drive);
        }
        if let Some(port) = names.ata.filter(|_| drive.link.hops.is_empty()) {
            add_sata_link(drive, &port, &records);
        }
        if drive.kind == DriveKind::Other && names.all.iter().any(|name| name.starts_with("ata")) {
            drive.kind = DriveKind::Sata;
        }
    }
    reading.records = records;
}

/// Adds drives that only the log names.
fn add_named(reading: &mut Reading) {
    pattern!(DISK = r"^sd \d+:\d+:\d+:\d+: \[(sd[a-z]+)\] (\d+) (\d+)-byte logical blocks");
    if !reading.facts.drives.is_empty() {
        return;
    }
    reading.origin = Origin(wording::KERNEL_LOG.to_owned());
    for record in reading.records.clone() {
        let Some(captures) = DISK.captures(&record.text) else { continue };
        let bytes = captures[2]
            .parse::<u64>()
            .ok()
            .zip(captures[3].parse().ok())
            .and_then(|(count, block)| count.checked_mul(block));
        let (drive, from) = reading.drive(&Mark { name: Some(captures[1].to_owned()), ..Mark::default() });
        from.fill(&mut drive.identity.capacity_bytes, bytes);
    }
}

/// Adds the link from `ata3: SATA link up 3.0 Gbps (SStatus 123 SControl 300)`.
fn add_sata_link(drive: &mut Drive, port: &str, records: &[Record]) {
    let origin = wording::KERNEL_LOG;
    let head = format!("{port}: SATA link up ");
    let speed = records.iter().rev().find_map(|record| {
        let (gigabits, _) = record.text.strip_prefix(&head)?.split_once(" Gbps")?;
        Some((gigabits.parse::<f64>().ok()? * 1e9) as u64)
    });
    if let Some(bits) = speed {
        let part = hop(port, "the port", Fact::new(bits, origin), Fact::NotQueried, sata_bytes_per_s);
        drive.link = Link { bus: Fact::new("SATA".to_owned(), origin), ..of_hops(vec![part]) };
    }
}
