//! What several causes share: evidence, sentences and hints, and the names that every cause uses.

pub(super) use likenew_core::drive;
pub(super) use likenew_core::facts::{DriveKind, Facts, Health, Layer, LayerKind};
pub(super) use likenew_core::findings::{Action, Loss};
pub(super) use likenew_core::fix::ActionKind;
pub(super) use likenew_core::quantity::Share;
pub(super) use likenew_core::shell::shell_quote;
pub(super) use likenew_core::units::{Nanos, Number, digits};

pub(super) use crate::Symptom::{self, *};
pub(super) use crate::case::{BACKGROUND_SHARE_MAX, LINK_FULL};
pub(super) use crate::causes::{Cause, CauseKind};
pub(super) use crate::evidence::{count, fact, measured};
pub(super) use crate::steps::steps;
pub(super) use crate::{Case, Hint, Indicator, Measured, Metric, Origin, Possibility};

use likenew_core::quantity::{Factor, with_range};

use crate::Evidence;
use crate::evidence::Observed;
use crate::settings::node;

// Symptoms

pub(super) const SLOW: &[Symptom] = &[
    Below(Metric::SequentialRead),
    Below(Metric::SequentialWrite),
    Below(Metric::SustainedWrite),
    Below(Metric::RandomRead),
    Below(Metric::RandomWrite),
    Below(Metric::RandomReadQd32),
];
pub(super) const SLOW_READS: &[Symptom] =
    &[Below(Metric::SequentialRead), Below(Metric::RandomRead), Below(Metric::RandomReadQd32)];
pub(super) const SLOW_WRITES: &[Symptom] =
    &[Below(Metric::SequentialWrite), Below(Metric::SustainedWrite), Below(Metric::RandomWrite)];

// How numbers and facts are put into words

/// `3.20× (2.90–3.50)`.
pub(super) fn times(ratio: Measured) -> String {
    with_range(Factor(ratio.value), Factor(ratio.low), Factor(ratio.high))
}

/// `32% (29–35)`.
pub(super) fn share(measured: Measured) -> String {
    with_range(Share(measured.value), Share(measured.low), Share(measured.high))
}

/// A fact with the sentence for either case.
pub(super) fn either(holds: bool, yes: &str, no: &str) -> Observed<bool> {
    Some((holds, if holds { yes } else { no }.to_owned()))
}

/// A fact that says something only where it holds.
pub(super) fn only_if(holds: bool, sentence: &str) -> Observed<bool> {
    holds.then(|| (true, sentence.to_owned()))
}

// Evidence on the medium

/// For causes that need a hard disk, or that need flash.
pub(super) const fn hard_disk(when_present: f64, when_absent: f64) -> Evidence {
    fact("hard_disk", when_present, when_absent, |case| {
        (case.measurements.access_ns.is_some() || case.drive().is_some()).then_some(())?;
        either(
            case.is_disk(),
            "Its access time is that of a hard disk.",
            "Its access time is too short for a hard disk.",
        )
    })
    .hint(Hint::thorough("Measure its access time with random reads"))
}

/// Against causes that a host hides, or that it has itself instead of the disk.
pub(super) const fn virtual_disk(when_present: f64) -> Evidence {
    fact("virtual", when_present, 0.0, |case| only_if(case.virtual_by().is_some(), "This is a virtual disk."))
}

/// For causes that only virtual disks have.
pub(super) const fn needs_virtual_disk(when_present: f64, when_absent: f64) -> Evidence {
    fact("virtual", when_present, when_absent, |case| {
        case.drive()?;
        either(case.virtual_by().is_some(), "This is a virtual disk.", "This is no virtual disk.")
    })
    .hint(Hint::facts("Find out whether a hypervisor provides this disk"))
}

pub(super) fn is_encrypted(case: &Case<'_>) -> Option<bool> {
    Some(case.facts?.layers_of(LayerKind::Crypt).next().is_some())
}

pub(super) const fn encrypted(when_present: f64, when_absent: f64) -> Evidence {
    fact("encrypted", when_present, when_absent, |case| {
        either(is_encrypted(case)?, "dm-crypt encrypts this volume.", "No layer encrypts.")
    })
}

// Evidence on what slows down any I/O, and writes most where they are slow anyway

/// Against causes that only show by how slow something is.
pub(super) const fn other_io(when_present: f64) -> Evidence {
    measured("background_io", when_present, 0.0, BACKGROUND_SHARE_MAX, |case| {
        let busy = case.measurements.background_share?;
        Some((busy, format!("Other I/O kept the drive busy for {} of the time.", share(busy))))
    })
}

/// Repeated transfers.
pub(super) const fn link_errors_during_check(when_present: f64, when_absent: f64) -> Evidence {
    count("crc_during", when_present, when_absent, |case| {
        either(
            case.had_link_errors()?,
            "Link errors were counted during the check.",
            "No link error was counted during the check.",
        )
    })
}

pub(super) const fn slower_when_warm(when_present: f64, when_absent: f64) -> Evidence {
    measured("slower_when_warm", when_present, when_absent, 1.3, |case| {
        let ratio = case.measurements.rested_over_loaded?;
        let times = times(ratio);
        let text =
            format!("After idle time, sequential reads are {times} as fast as at the end of a long load.");
        Some((ratio, text))
    })
}

pub(super) const fn throttle_count(when_present: f64, when_absent: f64) -> Evidence {
    count("throttle_count", when_present, when_absent, |case| {
        either(
            case.throttled()?,
            "Its throttling counters went up during the check.",
            "Its throttling counters did not change, but many drives never update them.",
        )
    })
    .hint(READ_THROTTLING)
}

// Evidence on reads

pub(super) const fn repeat_read_faster(when_present: f64, when_absent: f64) -> Evidence {
    measured("repeat_read_faster", when_present, when_absent, 1.4, |case| {
        let ratio = case.measurements.repeat_over_first?;
        Some((ratio, format!("Slow regions are {} as fast when they are read again.", times(ratio))))
    })
    .hint(Hint::thorough("Read slow regions a second time"))
}

pub(super) const fn counted_reads(when_present: f64, when_absent: f64) -> Evidence {
    measured("counted_reads", when_present, when_absent, 0.8, |case| {
        let counted = case.measurements.counted_over_read?;
        Some((counted, format!("The drive counted {} of the bytes that were read.", share(counted))))
    })
}

pub(super) const fn depth_helps(when_present: f64, when_absent: f64, threshold: f64) -> Evidence {
    measured("depth_helps", when_present, when_absent, threshold, |case| {
        let ratio = case.measurements.deep_over_single?;
        Some((ratio, format!("4K random reads at QD32 reach {} the IOPS of QD1.", times(ratio))))
    })
}

pub(super) fn new_data_faster(ratio: Measured) -> Observed<Measured> {
    Some((ratio, format!("New data is read {} as fast as existing data.", times(ratio))))
}

pub(super) fn reads_at_link_limit(measured: Measured) -> Observed<Measured> {
    Some((measured, format!("Sequential reads reach {} of the link's limit.", share(measured))))
}

// Evidence on writes

/// The time of a 4K random write over that of a read on a hard disk, which shows what takes its writes.
pub(super) const fn small_writes(
    id: &'static str,
    when_present: f64,
    when_absent: f64,
    threshold: f64,
) -> Evidence {
    measured(id, when_present, when_absent, threshold, |case| {
        let iops = case.measurements.metric(Metric::RandomWrite)?;
        let write_ns = Measured::with_interval(1e9, 0.0).divide_by(iops);
        // Only disks count: an arm has to move to each address, but flash without a cache is as fast as its medium.
        let read_ns = case.measurements.access_ns.filter(|_| case.is_disk())?;
        let [write, read] = [write_ns, read_ns].map(|time| Nanos(time.value as u64));
        let text = format!("A 4K random write takes {write}, a 4K random read {read}.");
        Some((write_ns.divide_by(read_ns), text))
    })
    .hint_if(
        |case| case.measurements.metric(Metric::RandomWrite).is_none(),
        Hint::thorough_writing("Measure 4K random writes"),
    )
}

pub(super) const fn cliff_at_half_rate(when_present: f64, when_absent: f64) -> Evidence {
    measured("cliff_at_half_rate", when_present, when_absent, 0.75, |case| {
        let bytes = case.measurements.write_cliff?.at_half_rate?;
        Some((bytes, format!("At half the rate, writes dropped after {} of the bytes.", share(bytes))))
    })
    .hint(Hint::thorough_writing("Write again at half the rate: heat counts time, a cache counts bytes"))
}

pub(super) fn trim_helps(ratio: Measured) -> Observed<Measured> {
    let times = times(ratio);
    let text = format!("After TRIM and idle time writes are {times} as fast as after idle time alone.");
    Some((ratio, text))
}

/// Speed of writes after TRIM over that after idle time alone, from which TRIM emptied a cache. Chosen: the smallest drop that
/// counts as a write cliff.
const CACHE_EMPTIED: f64 = 1.3;

/// TRIM empties a cache that lies in free space, on a new drive as well.
pub(super) const fn cache_trimmed(when_present: f64) -> Evidence {
    measured("cache_trimmed", when_present, 0.0, CACHE_EMPTIED, |case| {
        let ratio = case.measurements.cache_trimmed?;
        let times = times(ratio);
        let text = format!(
            "TRIM empties what the check itself filled: writes are {times} as fast as after idle time alone, and \
             no faster than at first."
        );
        Some((ratio, text))
    })
}

pub(super) fn rewritten_faster(ratio: Measured) -> Observed<Measured> {
    let times = times(ratio);
    let text = format!(
        "Written a second time, the same addresses are {times} as fast as at the end of the first time."
    );
    Some((ratio, text))
}

/// Writes over reads, each as a share of its reference, below which writes are slow, and not reads. Chosen:
/// the share from which a drive counts as slow against its data sheet.
pub(super) const WRITES_BELOW: f64 = 0.7;

/// Writes wait for garbage collection, reads hardly do.
pub(super) const fn writes_below_reads(when_present: f64, when_absent: f64) -> Evidence {
    measured("writes_below_reads", when_present, when_absent, WRITES_BELOW, |case| {
        writes_against_reads(slowest_writes(case)?)
    })
    .hint(Hint::here("Give the rated speeds with --advertised, or check it again later to compare"))
}

/// `measured` is the share of their references that writes reach, over that of reads.
pub(super) fn writes_against_reads(measured: Measured) -> Observed<Measured> {
    let text =
        format!("Against their references, writes reach {} of the share that reads reach.", share(measured));
    Some((measured, text))
}

// Hints

pub(super) const READ_THROTTLING: Hint =
    Hint::root("Read its throttling counters and temperature, which needs root");
pub(super) const WRITE_TWICE: Hint =
    Hint::thorough_writing("Write a region twice: the second time it frees whole erase blocks");
pub(super) const WRITE_AND_READ_BACK: Hint =
    Hint::thorough_writing("Write new data and compare how fast it and old data are read");
pub(super) const TRIM_AND_WRITE: Hint = Hint::trim("Send TRIM and see whether writes become faster");
pub(super) const SHOW_TIMER: Hint = Hint::facts("Find out whether anything sends TRIM for this file system");
pub(super) const SHOW_FILL: Hint = Hint::facts("See how full the file system is");
pub(super) const SHOW_LAYERS: Hint = Hint::facts("List the layers between file system and drive");
pub(super) const SHOW_LINK: Hint = Hint::facts("Look at the link's speed and width");

// Speeds relative to what they should be

/// The speed of the slowest writes over that of sequential reads, each relative to its reference.
pub(super) fn slowest_writes(case: &Case<'_>) -> Option<Measured> {
    Some(slowest(case, &WRITES)?.divide_by(slowest(case, &[Metric::SequentialRead])?))
}

/// Writes over reads, each as a share of its reference, from which reads are slow, and not writes. Chosen:
/// above the scatter of checks.
pub(super) const READS_BELOW: f64 = 1.2;

/// The speed of the slowest writes over that of the slowest reads, each relative to its reference. A full link
/// slows down the reads that fill it, whatever the drive does.
pub(super) fn writes_over_reads(case: &Case<'_>) -> Option<Measured> {
    const READS: [Metric; 3] = [Metric::RandomRead, Metric::SequentialRead, Metric::RandomReadQd32];
    let reads = if case.reads_fill_link() { &READS[..1] } else { &READS };
    Some(slowest(case, &WRITES)?.divide_by(slowest(case, reads)?))
}

pub(super) const WRITES: [Metric; 3] = [Metric::SequentialWrite, Metric::SustainedWrite, Metric::RandomWrite];

/// The slowest of some metrics relative to what the drive could do. Links are left out: they carry reads and
/// writes alike, but many drives never wrote as fast as they read.
pub(super) fn slowest(case: &Case<'_>, metrics: &[Metric]) -> Option<Measured> {
    let shares = metrics.iter().filter_map(|metric| case.shortfall(*metric));
    let shares = shares.filter(|(_, reference)| reference.origin.is_of_this_drive()).map(|(share, _)| share);
    shares.min_by(|one, other| one.value.total_cmp(&other.value))
}

// Actions and their commands, which are printed to be pasted: every name is quoted for the shell

/// For actions on a slot, a cable or a power supply, which a virtual disk does not have here.
pub(super) fn unless_virtual<const N: usize>(case: &Case<'_>, actions: [Action; N]) -> Vec<Action> {
    if case.virtual_by().is_some() { Vec::new() } else { actions.into() }
}

/// The device of the drive at the bottom, or a placeholder.
pub(super) fn device(case: &Case<'_>) -> String {
    case.drive().map_or_else(|| "/dev/DRIVE".to_owned(), |drive| node(&drive.name))
}

/// Sets flags on the encryption in the stack besides those that it has; the undo leaves them out again.
/// `refresh` sets all of them anew.
pub(super) fn refresh_encryption(facts: Option<&Facts>, flags: &[&str]) -> [String; 2] {
    let layer = facts.and_then(|facts| facts.layers_of(LayerKind::Crypt).next());
    let name = layer
        .and_then(|layer| layer.label.value())
        .map_or_else(|| "NAME".to_owned(), |name| shell_quote(name));
    let known = [
        ("allow_discards", "--allow-discards"),
        ("no_read_workqueue", "--perf-no_read_workqueue"),
        ("no_write_workqueue", "--perf-no_write_workqueue"),
        ("same_cpu_crypt", "--perf-same_cpu_crypt"),
        ("submit_from_crypt_cpus", "--perf-submit_from_crypt_cpus"),
    ];
    let options = layer.and_then(|layer| layer.options.value()).map(Vec::as_slice).unwrap_or_default();
    let had: Vec<&str> = known
        .into_iter()
        .filter(|(option, _)| options.iter().any(|active| active == option))
        .map(|(_, flag)| flag)
        .collect();
    let command = |flags: Vec<&str>| {
        let flags: String = flags.into_iter().map(|flag| format!("{flag} ")).collect();
        format!("cryptsetup refresh --persistent {flags}{name}")
    };
    let added = flags.iter().copied().filter(|flag| !had.contains(flag));
    [command(had.iter().copied().chain(added).collect()), command(had)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_kernel_is_a_path_in_dev() {
        assert_eq!(node("cciss!c0d0"), "/dev/cciss/c0d0");
    }

    #[test]
    fn sentences_read_as_written() {
        let sentence = |observed: Observed<Measured>| observed.unwrap().1;
        assert_eq!(
            sentence(trim_helps(Measured::new(3.2, 2.9, 3.5))),
            "After TRIM and idle time writes are 3.20× (2.90–3.50) as fast as after idle time alone."
        );
        assert_eq!(
            sentence(writes_against_reads(Measured::new(0.17, 0.15, 0.19))),
            "Against their references, writes reach 17% (15–19) of the share that reads reach."
        );
    }
}
