//! Lines of the kernel's log about one drive, and the kernel's counters of its I/O and of link errors.

use likenew_core::facts::{Counts, Fact, Log, LogKind, LogLine};
use likenew_core::stat::Stat;

use super::link::is_pci_address;
use super::machine::{MachineQuery, Question, Roots, Subject, answer, is_numbered};
use crate::block::parse_stat;
use crate::standards::clean;
use crate::wording::facts as wording;

/// A record of /dev/kmsg: `PRIORITY,NUMBER,MICROSECONDS,FLAGS;TEXT`. Lines that begin with a blank continue
/// it (Documentation/ABI/testing/dev-kmsg).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) at_s: f64,
    pub(crate) text: String,
}

/// All records of a log that can be read.
pub(crate) fn records(bytes: &[u8]) -> Vec<Record> {
    let text = String::from_utf8_lossy(bytes);
    let record = |line: &str| {
        let (head, text) = line.split_once(';').filter(|_| !line.starts_with(' '))?;
        let micros: u64 = head.split(',').nth(2)?.parse().ok()?;
        Some(Record { at_s: micros as f64 / 1e6, text: clean(text) })
    };
    text.lines().filter_map(record).collect()
}

/// The kernel's log, read once for all drives.
pub(crate) fn kernel_log(queries: &dyn MachineQuery) -> Fact<Vec<Record>> {
    answer(queries, "", Question::KernelLog).map(|bytes| records(&bytes))
}

/// Lines with any of these names; `counts` gets how many there are of each kind.
pub(crate) fn lines_of(names: &[String], records: &Fact<Vec<Record>>, counts: &mut Counts) -> Log {
    let lines = records.clone().map(|records| {
        let of_it = |record: &Record| {
            let kind = kind(&record.text)?;
            names.iter().any(|name| mentions(&record.text, name)).then(|| LogLine {
                at_s: record.at_s,
                kind,
                text: record.text.clone(),
            })
        };
        records.iter().filter_map(of_it).collect::<Vec<LogLine>>()
    });
    let count = |kind: LogKind| {
        lines.clone().map(|lines| lines.iter().filter(|line| line.kind == kind).count() as u64)
    };
    counts.log_resets = count(LogKind::Reset);
    counts.log_timeouts = count(LogKind::Timeout);
    counts.log_io_errors = count(LogKind::IoError);
    counts.log_link_errors = count(LogKind::LinkError);
    let newest = |mut lines: Vec<LogLine>| lines.split_off(lines.len().saturating_sub(Log::LINES_MAX));
    Log { lines: lines.map(newest) }
}

/// Host memory that the kernel granted to an NVMe drive: `nvme nvme0: allocated 64 MiB host memory buffer.`
pub(crate) fn host_memory_bytes(log: &Log) -> Option<Fact<u64>> {
    let (lines, origin) = (log.lines.value()?, log.lines.origin()?);
    let line = lines.iter().rev().find(|line| line.kind == LogKind::HostMemory)?;
    let number =
        line.text.split_once("allocated ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<u64>().ok());
    match number {
        Some(mebibytes) => Some(Fact::new(mebibytes.saturating_mul(1 << 20), origin)),
        None => Some(Fact::new(0, origin)),
    }
}

/// The kernel's names for the drive and for everything on the way to it.
pub(crate) fn names(subject: &Subject<'_>) -> Vec<String> {
    let mut names = vec![subject.name()];
    names.extend(subject.controller.clone());
    // A folder with four numbers is a SCSI device: `2:0:0:0`.
    for folder in subject.ancestors() {
        let Some(part) = folder.rsplit('/').next() else { continue };
        let is_port = ["ata", "mmc"].iter().any(|word| is_numbered(part, word));
        let is_scsi =
            part.split(':').count() == 4 && part.split(':').all(|number| number.parse::<u32>().is_ok());
        let is_usb = subject.roots.exists(&format!("{folder}/idVendor"));
        if is_port || is_scsi || is_usb || is_pci_address(part) {
            names.push(part.to_owned());
        }
    }
    names
}

/// Whether a line contains the name as a whole word: `ata3` is in `ata3: …` and `ata3.00: …`, but not in
/// `ata31: …`.
fn mentions(text: &str, name: &str) -> bool {
    let bounds = |at: usize| {
        let before = text[..at].chars().next_back().is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-');
        let after = text[at + name.len()..].chars().next();
        before && after.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-')
    };
    text.match_indices(name).any(|(at, _)| bounds(at))
}

/// Words in messages of Linux's drivers, the clearest first.
const WORDS: [(LogKind, &[&str]); 8] = [
    (LogKind::HostMemory, &["host memory"]),
    (
        LogKind::LinkSpeed,
        &["limiting SATA link speed", "limited by", "available PCIe bandwidth", "not running at top speed"],
    ),
    (LogKind::Timeout, &["timeout", "timed out", "Timeout", "DID_TIME_OUT", "not responding"]),
    (
        LogKind::LinkError,
        &[
            "BadCRC",
            "ICRC",
            "SError",
            "AER:",
            "PCIe Bus Error",
            "CRC error",
            "Handshk",
            "BadTLP",
            "BadDLLP",
            "link is slow",
            "uas_eh_",
            "uas_zap_pending",
            "data transfer failed",
        ],
    ),
    (
        LogKind::Reset,
        &[
            "resetting",
            "controller is down",
            "hard reset",
            "soft reset",
            "reset high-speed",
            "reset SuperSpeed",
            "USB disconnect",
            "reset SuperSpeed Plus",
        ],
    ),
    (
        LogKind::IoError,
        &[
            "I/O error",
            "critical medium error",
            "critical target error",
            "UNC",
            "Medium Error",
            "error -110",
            "error -84",
        ],
    ),
    (LogKind::Heat, &["temperature", "thermal", "throttl", "overheat"]),
    (
        LogKind::Quirk,
        &[
            "quirk",
            "Quirks match",
            "UAS is ignored",
            "disabling queued TRIM",
            "no_ncq_trim",
            "NONCQ",
            "Assuming drive cache: write through",
            "Mode parameters changed",
        ],
    ),
];

/// The kind of a line, by words that drivers use. Lines that only announce a drive have no kind.
pub(crate) fn kind(text: &str) -> Option<LogKind> {
    // With these words a driver announces its settings, which contain words of complaints.
    const SETTINGS: [&str; 4] = ["AER: enabled with", "TaskAbort/Reset timeout", "hcc params", "quirk_"];
    if SETTINGS.iter().any(|words| text.contains(words)) {
        return None;
    }
    let is_kind = |words: &[&str]| words.iter().any(|word| text.contains(word));
    WORDS.iter().find(|(_, words)| is_kind(words)).map(|(kind, _)| *kind)
}

// The I/O of all programs at a drive: counts since it was attached, and the rates of other programs while
// nothing is measured.

/// The kernel's I/O counters of the drive.
pub(crate) fn reading(subject: &Subject<'_>) -> Fact<Stat> {
    if subject.line("queue/iostats").value().is_some_and(|text| text == "0") {
        let origin = Roots::place(&subject.device, "queue/iostats");
        return Fact::unknown(wording::IO_NOT_COUNTED, origin).help(wording::count_io(&subject.name()));
    }
    subject.line("stat").and_then(wording::NOT_COUNTERS, |line| parse_stat(&line))
}

/// Adds the kernel's I/O counters; amounts are in bytes.
pub(crate) fn io_counts(reading: &Fact<Stat>, counts: &mut Counts) {
    let older = wording::NOT_COUNTED;
    counts.reads = reading.clone().map(|stat| stat.read.ios);
    counts.writes = reading.clone().map(|stat| stat.write.ios);
    counts.bytes_read = reading.clone().map(|stat| stat.read.bytes());
    counts.bytes_written = reading.clone().map(|stat| stat.write.bytes());
    counts.discards = reading.clone().and_then(older, |stat| Some(stat.discard?.ios));
    counts.bytes_discarded = reading.clone().and_then(older, |stat| Some(stat.discard?.bytes()));
    counts.flushes = reading.clone().and_then(older, |stat| Some(stat.flush?.ios));
    counts.busy_ms = reading.clone().map(|stat| stat.busy_ms);
}

/// Bytes a second between two readings.
pub(crate) fn rate(before: &Fact<u64>, after: &Fact<u64>, seconds: f64) -> Fact<u64> {
    match (before.get(), after) {
        (Some(before), Fact::Value { value, origin }) if seconds > 0.0 => {
            Fact::new((value.saturating_sub(before) as f64 / seconds).round() as u64, origin.clone())
        }
        (_, other) => other.clone().and_then(wording::READ_ONCE, |_| None),
    }
}

/// Adds PCI Express link errors: those of the drive and of the port above (AER,
/// Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats).
pub(crate) fn link_errors(subject: &Subject<'_>, counts: &mut Counts) {
    let roots = subject.roots;
    let functions: Vec<String> = subject
        .ancestors()
        .filter(|folder| roots.exists(&format!("{folder}/aer_dev_correctable")))
        .take(2)
        .collect();
    if functions.is_empty() {
        return;
    }
    let sum = |names: &[&str]| {
        let files =
            functions.iter().flat_map(|folder| names.iter().map(move |name| format!("{folder}/{name}")));
        let mut sum: Fact<u64> = Fact::NotQueried;
        for file in files {
            let total = roots.text(&file).and_then(wording::NO_TOTAL, |text| {
                let line = text.lines().find(|line| line.starts_with("TOTAL"))?;
                line.split_whitespace().nth(1)?.parse::<u64>().ok()
            });
            sum = match (sum.get(), total) {
                (Some(so_far), Fact::Value { value, origin }) => {
                    Fact::new(so_far.saturating_add(value), origin)
                }
                (None, total @ Fact::Value { .. }) => total,
                (None, total) if sum.is_not_queried() => total,
                _ => sum,
            };
        }
        sum
    };
    counts.pcie_corrected_errors = sum(&["aer_dev_correctable"]);
    counts.pcie_uncorrected_errors = sum(&["aer_dev_fatal", "aer_dev_nonfatal"]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_and_what_is_none_is_left_out() {
        let bytes = b"6,339,5140900,-;NET: Registered\n SUBSYSTEM=net\n3,340,5690716,-;ata3.00: failed\x1b command\nx;y\n;\n";
        let records = records(bytes);
        assert_eq!(records.len(), 2, "{records:?}");
        assert_eq!((records[1].at_s, &*records[1].text), (5.690716, "ata3.00: failed? command"));
    }

    #[test]
    fn a_name_is_a_word_of_its_own() {
        assert!(mentions("ata3.00: failed command", "ata3"));
        assert!(mentions("blk_update_request: I/O error, dev sda, sector 8", "sda"));
        assert!(mentions("usb 2-1: reset SuperSpeed USB device", "2-1"));
        for (text, name) in
            [("ata31: x", "ata3"), ("usb 2-1.4: x", "2-1.4.1"), ("usb 12-1: x", "2-1"), ("sdaa: x", "sda")]
        {
            assert!(!mentions(text, name), "{text} {name}");
        }
    }

    #[test]
    fn lines_are_distinguished() {
        for (text, expected) in [
            ("nvme nvme0: I/O 23 QID 4 timeout, aborting", Some(LogKind::Timeout)),
            ("nvme nvme0: controller is down; will reset: CSTS=0x3", Some(LogKind::Reset)),
            ("nvme nvme0: allocated 64 MiB host memory buffer.", Some(LogKind::HostMemory)),
            ("nvme nvme0: min host memory (64 MiB) above limit (32 MiB).", Some(LogKind::HostMemory)),
            ("ata3: limiting SATA link speed to 3.0 Gbps", Some(LogKind::LinkSpeed)),
            ("ata3.00: error: { ICRC ABRT }", Some(LogKind::LinkError)),
            ("pcieport 0000:00:1d.0: AER: Corrected error message received", Some(LogKind::LinkError)),
            ("sd 2:0:0:0: [sda] tag#19 uas_eh_abort_handler 0 uas-tag 20", Some(LogKind::LinkError)),
            ("usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd", Some(LogKind::Reset)),
            ("blk_update_request: I/O error, dev sda, sector 8", Some(LogKind::IoError)),
            ("usb-storage 2-1:1.0: Quirks match for vid 152d pid 0578: 1000000", Some(LogKind::Quirk)),
            ("usb 2-1: UAS is ignored for this device, using usb-storage instead", Some(LogKind::Quirk)),
            ("nvme nvme0: platform quirk: setting simple suspend", Some(LogKind::Quirk)),
            ("pcieport 0000:00:02.0: AER: enabled with IRQ 24", None),
            ("pci 0000:00:04.0: quirk_usb_early_handoff+0x0/0x760 took 27658 usecs", None),
            ("xhci_hcd 0000:00:04.0: hcc params 0x00087001 hci version 0x100 quirks 0x10", None),
            ("megaraid_sas 0000:00:07.0: FW provided TM TaskAbort/Reset timeout\t: 0 secs/0 secs", None),
            ("ata1.00: supports DRM functions and may not be fully accessible", None),
            ("sd 2:0:0:0: [sda] Attached SCSI disk", None),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }
}
