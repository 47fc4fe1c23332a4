//! The I/O of all programs at a drive: counts since it was attached, and what other programs do while nothing
//! is measured.

use likenew_core::facts::{Counts, Fact};

use super::roots::Roots;
use super::subject::Subject;
use crate::stat;
use crate::wording::facts as wording;

/// A line of counts, and when it was read.
pub(crate) fn reading(subject: &Subject<'_>) -> Fact<likenew_core::stat::Stat> {
    if subject.line("queue/iostats").value().is_some_and(|text| text == "0") {
        let origin = Roots::place(&subject.device, "queue/iostats");
        return Fact::unknown(wording::IO_NOT_COUNTED, origin).help(wording::count_io(&subject.name()));
    }
    subject.line("stat").and_then(wording::NOT_COUNTERS, |line| stat::parse(&line))
}

/// Counters of the kernel, in bytes.
pub(crate) fn counts(reading: &Fact<likenew_core::stat::Stat>, counts: &mut Counts) {
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

/// Errors of the link that the ports of PCI Express count: the drive's own and those of the port above (AER,
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
                text.lines()
                    .find(|line| line.starts_with("TOTAL"))?
                    .split_whitespace()
                    .nth(1)?
                    .parse::<u64>()
                    .ok()
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
