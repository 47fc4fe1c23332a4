//! Every sentence of a diagnosis: evidence, hints, actions, causes, symptoms and metrics. Nothing is computed
//! here except how numbers are written.
//!
//! Evidence is a sentence; what an action or a hint does is an imperative without a full stop; a reason why a
//! step is not possible is a clause without one.

use likenew_core::answer::{Action, Loss};
use likenew_core::feasibility::ActionKind;
use likenew_core::quantity::{Factor, Iops, Number, Rate, Share, digits, with_range};
use likenew_core::units::Nanos;

use crate::{Hint, Measured, Metric, Origin, Symptom};

/// `3.20× (2.90–3.50)`.
fn times(ratio: Measured) -> String {
    with_range(Factor(ratio.value), Factor(ratio.low), Factor(ratio.high))
}

/// `32% (29–35)`.
fn share(of: Measured) -> String {
    with_range(Share(of.value), Share(of.low), Share(of.high))
}

/// One of two sentences.
fn either(is: bool, yes: &str, no: &str) -> String {
    if is { yes.to_owned() } else { no.to_owned() }
}

/// Ratio below which two speeds count as equal in a sentence. Chosen: twice the usual scatter of a check.
const NO_DIFFERENCE: f64 = 1.1;

// Evidence that several causes share

/// `of`: the share of their references that writes reach, over that of reads.
pub(crate) fn writes_against_reads(of: Measured) -> String {
    format!("Against their references, writes reach {} of the share that reads reach.", share(of))
}

pub(crate) fn hard_disk(is: bool) -> String {
    either(is, "Its access time is that of a hard disk.", "Its access time is too short for a hard disk.")
}

pub(crate) fn virtual_disk(is: bool) -> String {
    either(is, "This is a virtual disk.", "This is no virtual disk.")
}

pub(crate) fn repeat_read_faster(ratio: Measured) -> String {
    format!("Slow regions are {} as fast when they are read again.", times(ratio))
}

pub(crate) fn counted_reads(of: Measured) -> String {
    format!("The drive counted {} of the bytes that were read.", share(of))
}

/// Times of one I/O, in nanoseconds.
pub(crate) fn small_writes(write_ns: f64, read_ns: f64) -> String {
    format!("A 4K random write takes {}, a 4K random read {}.", Nanos(write_ns as u64), Nanos(read_ns as u64))
}

pub(crate) const READ_AT_RANDOM: Hint = Hint::thorough("Measure its access time with random reads");
pub(crate) const READ_SLOW_AGAIN: Hint = Hint::thorough("Read slow regions a second time");
pub(crate) const WRITE_AT_RANDOM: Hint = Hint::thorough_writing("Measure 4K random writes");
pub(crate) const WRITE_AT_HALF_RATE: Hint =
    Hint::thorough_writing("Write again at half the rate: heat counts time, a cache counts bytes");
pub(crate) const WRITE_AND_READ_BACK: Hint =
    Hint::thorough_writing("Write new data and compare how fast it and old data are read");
pub(crate) const SHOW_LAYERS: Hint = Hint::facts("List the layers between file system and drive");
pub(crate) const SHOW_LINK: Hint = Hint::facts("Look at the link's speed and width");
pub(crate) const SHOW_PROVIDER: Hint = Hint::facts("Find out whether a hypervisor provides this disk");

// Causes, by their names

pub(crate) mod no_trim {
    use super::{Action, Hint, Measured, either, times};

    pub(crate) const TITLE: &str = "no TRIM";
    pub(crate) const SUMMARY: &str =
        "the drive receives no TRIM, so garbage collection keeps copying deleted data";

    pub(crate) const TRIM_AND_WRITE: Hint = Hint::trim("Send TRIM and see whether writes become faster");
    pub(crate) const SHOW_TIMER: Hint =
        Hint::facts("Find out whether anything sends TRIM for this file system");
    pub(crate) const COMPARE: Hint =
        Hint::here("Give the rated speeds with --advertised, or check it again later to compare");

    pub(crate) fn ignored_by_drive() -> String {
        "no TRIM (this drive ignores it), so garbage collection copies deleted data before every write".into()
    }

    pub(crate) fn ignored_by_full_drive() -> String {
        "no TRIM (this drive ignores it), so garbage collection copies data before every write".into()
    }

    pub(crate) fn blocked(layer: &str, kind: &str) -> String {
        format!(
            "no TRIM ({layer}, {kind}, blocks it), so garbage collection copies deleted data before every write"
        )
    }

    pub(crate) fn not_sent() -> String {
        "no TRIM (nothing sends it), so garbage collection copies deleted data before every write".into()
    }

    pub(crate) fn not_received() -> String {
        "no TRIM, so garbage collection copies deleted data before every write".into()
    }

    pub(crate) fn trim_helps(ratio: Measured) -> String {
        format!("After TRIM and idle time writes are {} as fast as after idle time alone.", times(ratio))
    }

    pub(crate) fn trim_blocked(layer: Option<(&str, &str)>) -> String {
        match layer {
            Some((name, kind)) => format!("{name} ({kind}) blocks TRIM."),
            None => "Every layer that reports it passes TRIM.".into(),
        }
    }

    pub(crate) fn trim_sent(is: bool) -> String {
        either(is, "TRIM is sent for this file system.", "Nothing sends TRIM for this file system.")
    }

    pub(crate) fn ignores_trim() -> String {
        "The drive does not support TRIM.".into()
    }

    pub(crate) fn enable_passthrough(layer: &str, kind: &str) -> Action {
        Action::new("enable_trim_passthrough", format!("Enable TRIM passthrough in {layer} ({kind})"))
    }

    pub(crate) fn force_passthrough(layer: &str, kind: &str) -> Action {
        Action::new(
            "force_trim_passthrough",
            format!(
                "Enable TRIM passthrough in {layer} ({kind}); back up first, as a device that handles TRIM wrongly loses data"
            ),
        )
    }

    pub(crate) fn enable_timer() -> Action {
        Action::new("enable_fstrim_timer", "Send TRIM every week")
    }
}

pub(crate) mod scattered_data {
    use super::{Hint, Measured, either, times};

    pub(crate) const TITLE: &str = "scattered data";
    pub(crate) const SUMMARY: &str =
        "data is scattered over all erase blocks, so garbage collection copies it before every write";

    pub(crate) const WRITE_TWICE: Hint =
        Hint::thorough_writing("Write a region twice: the second time it frees whole erase blocks");

    pub(crate) fn statement() -> String {
        "data scattered over all erase blocks, so garbage collection copies it before every write".into()
    }

    pub(crate) fn rewritten_faster(ratio: Measured) -> String {
        format!(
            "Written a second time, the same addresses are {} as fast as at the end of the first time.",
            times(ratio)
        )
    }

    pub(crate) fn trim_arrives(is: bool) -> String {
        either(
            is,
            "TRIM is sent and reaches the drive, so it keeps no deleted data.",
            "TRIM does not reach the drive, so it may keep deleted data.",
        )
    }

    pub(crate) fn nothing_free(is: bool) -> String {
        either(is, "Hardly anything is free that TRIM could release.", "There is free space.")
    }
}

pub(crate) mod nearly_full {
    use super::{Action, Hint, Share};

    pub(crate) const TITLE: &str = "nearly full";
    pub(crate) const SUMMARY: &str =
        "the drive is nearly full, so garbage collection has little free space to work with";

    pub(crate) const SHOW_FILL: Hint = Hint::facts("See how full the file system is");

    pub(crate) fn full(percent: f64) -> String {
        format!("The file system is {} full.", Share(percent / 100.0))
    }

    pub(crate) fn free_space() -> Action {
        Action::new(
            "free_space",
            "Free about 20% of the drive: delete or move files, then send TRIM (fstrim)",
        )
    }
}

pub(crate) mod slc_cache {
    use super::{Action, Hint, Measured, NO_DIFFERENCE, share, times};

    pub(crate) const TITLE: &str = "SLC cache full";
    pub(crate) const SUMMARY: &str =
        "the SLC cache is full, so writes run at the speed of the slower flash behind it";

    pub(crate) const WRITE_MORE: Hint = Hint::thorough_writing("Write more in one run");
    pub(crate) const REST_AND_WRITE: Hint =
        Hint::thorough_writing("Leave the drive idle and write as much again");

    pub(crate) fn write_cliff(ratio: Measured) -> String {
        format!("Sequential writes dropped for good: they were {} as fast before.", times(ratio))
    }

    pub(crate) fn cliff_repeats(again: Measured) -> String {
        format!("After idle time, writes dropped again after {} of the bytes.", share(again))
    }

    pub(crate) fn cliff_at_half_rate(of: Measured) -> String {
        format!("At half the rate, writes dropped after {} of the bytes.", share(of))
    }

    pub(crate) fn slower_when_warm(ratio: Measured) -> String {
        if ratio.value < NO_DIFFERENCE {
            format!("Reads did not slow down: after idle time they are {} as fast.", times(ratio))
        } else {
            format!("Reads slowed down, too: after idle time they are {} as fast.", times(ratio))
        }
    }

    pub(crate) fn cliff_beyond_normal(ratio: Measured) -> String {
        format!("The drop is {} that of a healthy drive of this kind.", times(ratio))
    }

    pub(crate) fn protected_memory() -> String {
        "The kernel reports no volatile write cache, so a cache of protected memory may have filled up instead."
            .into()
    }

    pub(crate) fn wait() -> Action {
        Action::new(
            "leave_as_is",
            "Leave it: the cache empties when idle, and only very large copies fill it",
        )
    }

    pub(crate) fn keep_free() -> Action {
        Action::new(
            "keep_free_space",
            "Keep part of the drive free, as many of these caches grow with free space",
        )
    }
}

pub(crate) mod heat {
    use super::{Action, Hint, Measured, either, share, times};

    pub(crate) const TITLE: &str = "thermal throttling";
    pub(crate) const SUMMARY: &str = "the drive is too hot and throttles itself";

    pub(crate) const LOAD_AGAIN: Hint = Hint::thorough("Load it for a minute, and again after idle time");
    pub(crate) const READ_COUNTERS: Hint =
        Hint::root("Read its throttling counters and temperature, which needs root");

    pub(crate) fn slower_when_warm(ratio: Measured) -> String {
        format!(
            "After idle time, sequential reads are {} as fast as at the end of a long load.",
            times(ratio)
        )
    }

    pub(crate) fn throttle_count(is: bool) -> String {
        either(
            is,
            "Its throttling counters went up during the check.",
            "Its throttling counters did not change, but many drives never update them.",
        )
    }

    pub(crate) fn one_rate(_: bool) -> String {
        "After the first seconds, sequential reads run at one rate to within 3%.".into()
    }

    pub(crate) fn near_limit(is: bool) -> String {
        either(
            is,
            "It is about as hot as its warning temperature.",
            "It is well below its warning temperature.",
        )
    }

    pub(crate) fn cliff_at_half_rate(of: Measured) -> String {
        format!("At half the rate, writes dropped after {} of the bytes.", share(of))
    }

    pub(crate) fn cool() -> Action {
        Action::new(
            "improve_cooling",
            "Cool it: more airflow, a heat sink, or an enclosure that conducts heat",
        )
    }
}

pub(crate) mod worn_out {
    use super::{Action, Hint, Share, either};

    pub(crate) const TITLE: &str = "worn-out flash";
    pub(crate) const SUMMARY: &str = "the flash is worn out";

    pub(crate) fn near_end(percent: f64) -> String {
        if percent >= 100.0 {
            return "the flash has used up its rated endurance".into();
        }
        format!("the flash is near the end of its rated endurance ({} used)", Share(percent / 100.0))
    }

    pub(crate) const READ_HEALTH: Hint = Hint::root("Read its health data, which needs root");

    pub(crate) fn endurance_used(percent: f64) -> String {
        format!("The drive reports {} of its endurance used.", Share(percent / 100.0))
    }

    pub(crate) fn spare_left(percent: f64) -> String {
        format!("The drive reports {} of its spare flash left.", Share(percent / 100.0))
    }

    pub(crate) fn failing(is: bool) -> String {
        either(is, "The drive reports that it is failing.", "The drive does not report that it is failing.")
    }

    pub(crate) fn replace() -> Action {
        Action::new("copy_and_replace", "Back up now, then replace the drive")
    }
}

pub(crate) mod old_data {
    use super::{Action, Hint, Measured, either, share, times};

    pub(crate) const TITLE: &str = "old data slow to read";
    pub(crate) const SUMMARY: &str = "data written long ago takes several read retries";

    pub(crate) const SHOW_AGE: Hint = Hint::facts("See how old the files are");

    pub(crate) fn new_data_faster(ratio: Measured) -> String {
        format!("New data is read {} as fast as existing data.", times(ratio))
    }

    pub(crate) fn background_io(of: Measured) -> String {
        format!("Other I/O kept the drive busy for {} of the time.", share(of))
    }

    pub(crate) fn faster_than_link(ratio: Measured) -> String {
        format!("Some reads reach {} the link's limit, so a cache served them.", times(ratio))
    }

    pub(crate) fn older_than_a_month(is: bool) -> String {
        either(is, "At least one file in ten is a month old or older.", "Hardly any file is a month old.")
    }

    pub(crate) fn written_this_week() -> String {
        "Nearly all files were written within the last week.".into()
    }

    pub(crate) fn update_firmware() -> Action {
        Action::new(
            "update_firmware_for_old_data",
            "Update the firmware, if the manufacturer lists a fix for slow reads of old data",
        )
    }
}

pub(crate) mod slow_usb {
    use super::{Action, Measured, either, times};

    pub(crate) const TITLE: &str = "slow USB";
    pub(crate) const SUMMARY: &str = "the USB port or bridge is the bottleneck";

    pub(crate) fn usb(is: bool) -> String {
        either(is, "It is attached by USB.", "It is not attached by USB.")
    }

    pub(crate) fn slow_ceiling(is: bool) -> String {
        either(is, "The link runs at USB 2 speed.", "The link runs at USB 3 speed or faster.")
    }

    pub(crate) fn slow_possible(is: bool) -> String {
        either(
            is,
            "The port, the cable or a hub limits the link below what both ends support.",
            "No other port or cable would make the link faster.",
        )
    }

    pub(crate) fn storage_driver(is: bool) -> String {
        either(
            is,
            "The bridge takes one command at a time (driver usb-storage, not uas).",
            "The bridge takes many commands at a time (driver uas).",
        )
    }

    pub(crate) fn depth_helps(ratio: Measured) -> String {
        format!("4K random reads at QD32 reach {} the IOPS of QD1.", times(ratio))
    }

    pub(crate) fn change_port() -> Action {
        Action::new(
            "change_usb_port",
            "Plug it straight into a USB 3 port or faster, with a cable made for it",
        )
    }

    pub(crate) fn change_enclosure() -> Action {
        Action::new(
            "change_enclosure",
            "Use another enclosure, or newer firmware for this one, that supports UAS",
        )
    }
}

pub(crate) mod narrow_link {
    use super::{Action, Measured, Share, either, share};

    pub(crate) const TITLE: &str = "slow link";
    pub(crate) const SUMMARY: &str = "the link runs slower than drive and port support";

    pub(crate) fn link_share(below: Option<f64>) -> String {
        match below {
            Some(share) => format!("The link carries {} of what both ends support.", Share(share)),
            None => "The link carries what both ends support.".into(),
        }
    }

    pub(crate) fn usb(is: bool) -> String {
        either(is, "The link is USB.", "The link is not USB.")
    }

    pub(crate) fn reads_at_ceiling(of: Measured) -> String {
        format!("Sequential reads reach {} of the link's limit.", share(of))
    }

    pub(crate) fn change_slot() -> Action {
        Action::new(
            "change_slot",
            "Reseat the drive and its cable; if the link stays slow, use another slot or port",
        )
    }
}

pub(crate) mod link_errors {
    use super::{Action, Hint, Number, either};

    pub(crate) const TITLE: &str = "link errors";
    pub(crate) const SUMMARY: &str = "the link corrupts transfers, which have to be repeated";

    pub(crate) const COUNT: Hint = Hint::root("Count link errors during a check, which needs root");

    pub(crate) fn during(is: bool) -> String {
        either(
            is,
            "Link errors were counted during the check.",
            "No link error was counted during the check.",
        )
    }

    pub(crate) fn before(count: u64) -> String {
        format!("The drive has counted {} transfers with a wrong checksum in its life.", Number(count as f64))
    }

    pub(crate) fn change_cable() -> Action {
        Action::new("change_cable", "Reseat or replace the cable, or use another port")
    }
}

pub(crate) mod misalignment {
    use super::{Action, Hint, Measured, either, times};

    pub(crate) const TITLE: &str = "misaligned partition";
    pub(crate) const SUMMARY: &str =
        "the partition is misaligned, so each 4K write touches two of the drive's blocks";

    pub(crate) const WRITE_SHIFTED: Hint = Hint::thorough_writing("Compare aligned with shifted 4K writes");
    pub(crate) const SHOW_START: Hint = Hint::facts("See where the partition starts");

    pub(crate) fn aligned_slower(ratio: Measured) -> String {
        format!("4K random writes at multiples of 4 KiB take {} as long as shifted ones.", times(ratio))
    }

    pub(crate) fn partition_off(is: bool) -> String {
        either(
            is,
            "The partition does not start at a multiple of 4 KiB of the drive.",
            "Everything starts at multiples of 4 KiB.",
        )
    }

    /// `ratio`: sequential over 4K random writes, each as a share of its reference.
    pub(crate) fn only_small_writes(ratio: Measured) -> String {
        format!(
            "Against their references, sequential writes are {} as fast as 4K random writes.",
            times(ratio)
        )
    }

    pub(crate) fn repartition() -> Action {
        Action::new("repartition", "Back up, recreate the partition at a multiple of 1 MiB, and restore")
            .loses(super::Loss::Everything)
    }
}

pub(crate) mod encryption {
    use super::{Action, Hint, Measured, Share, either, times};

    pub(crate) const TITLE: &str = "encryption";
    pub(crate) const SUMMARY: &str = "encryption is slower than the drive";

    pub(crate) const WATCH_CPU: Hint = Hint::machine("Watch the CPU during sequential reads");

    pub(crate) fn encrypted(is: bool) -> String {
        either(is, "dm-crypt encrypts this volume.", "No layer encrypts.")
    }

    pub(crate) fn processor_busy(cores: f64) -> String {
        format!("The kernel used {} of one CPU core during sequential reads.", Share(cores))
    }

    /// `ratio`: what is added to a read over what is added to a write, or the reverse.
    pub(crate) fn delays(ratio: Measured, are_same: bool) -> String {
        if are_same {
            format!("4K random reads and writes are delayed by the same time, within {}.", times(ratio))
        } else {
            format!("4K random reads and writes are delayed by different times: {}.", times(ratio))
        }
    }

    pub(crate) fn alike(ratio: Measured) -> String {
        format!("In MB/s, sequential reads and 4K random reads at QD32 differ by only {}.", times(ratio))
    }

    pub(crate) fn differ(ratio: Measured) -> String {
        format!("In MB/s, sequential reads and 4K random reads at QD32 differ by {}.", times(ratio))
    }

    pub(crate) fn bypass_queues() -> Action {
        Action::new(
            "bypass_crypt_queues",
            "Bypass dm-crypt's work queues, which shortens latency unless the CPU is the limit",
        )
    }

    pub(crate) fn choose_cipher() -> Action {
        Action::new(
            "choose_cipher",
            "Find a cipher that this CPU accelerates; changing it takes hours (cryptsetup reencrypt)",
        )
    }
}

pub(crate) mod background_io {
    use super::{Action, Hint, Measured, share};

    pub(crate) const TITLE: &str = "other I/O on the drive";
    pub(crate) const SUMMARY: &str = "something else uses the drive at the same time";

    pub(crate) const COUNT_OTHERS: Hint = Hint::watch("Count I/O of other programs meanwhile");

    pub(crate) fn busy(of: Measured) -> String {
        if of.value >= 1.0 {
            return "While nothing was measured, other I/O kept the drive busy all the time.".into();
        }
        let of = Measured::new(of.value, of.low, of.high.min(1.0));
        format!("While nothing was measured, other I/O kept the drive busy for {} of the time.", share(of))
    }

    pub(crate) fn array_busy() -> String {
        "The array below it is rebuilding, checking or reshaping, which causes that I/O.".into()
    }

    pub(crate) fn uneven_reads(scatter: Measured) -> String {
        format!("The speed of sequential reads varies by {} from moment to moment.", share(scatter))
    }

    pub(crate) fn find_other_io() -> Action {
        Action::new("find_other_io", "Find the programs that use the drive, stop them, and check again")
    }
}

pub(crate) mod compression {
    use super::{Action, Hint, Measured, times};

    pub(crate) const TITLE: &str = "compressing controller";
    pub(crate) const SUMMARY: &str =
        "the controller compresses data, and its rated speed is for data that compresses well";

    pub(crate) const WRITE_ZEROS: Hint = Hint::data("Compare writes of zeros with writes of random data");

    pub(crate) fn zeros_faster(ratio: Measured) -> String {
        format!("Zeros are written {} as fast as random data.", times(ratio))
    }

    pub(crate) fn virtual_disk() -> String {
        "This is a virtual disk, whose host may skip zeros.".into()
    }

    pub(crate) fn test_own_files() -> Action {
        Action::new("test_your_files", "See what speed your own files get; nothing needs repair")
    }
}

pub(crate) mod counterfeit {
    use super::{Action, Number};

    pub(crate) const TITLE: &str = "data corruption";
    pub(crate) const SUMMARY: &str = "counterfeit or failing drive: it does not keep what is written to it";

    pub(crate) fn wrong_data(sectors: u64) -> String {
        if sectors == 0 {
            return "Everything read back as it was written.".into();
        }
        format!("{} sectors did not read back as they were written.", Number(sectors as f64))
    }

    pub(crate) fn return_drive() -> Action {
        Action::new("return_drive", "Store nothing on it, and return it")
    }

    pub(crate) fn verify_capacity() -> Action {
        Action::new("verify_capacity", "Find its real capacity")
    }
}

pub(crate) mod degraded_array {
    use super::Action;

    pub(crate) const TITLE: &str = "degraded or busy array";
    pub(crate) const SUMMARY: &str = "the array is degraded, rebuilding or being checked";

    pub(crate) fn missing() -> String {
        "An array has a missing member.".into()
    }

    pub(crate) fn busy() -> String {
        "An array is rebuilding, checking or reshaping.".into()
    }

    pub(crate) fn none() -> String {
        "There is no array below it.".into()
    }

    pub(crate) fn idle() -> String {
        "Every array is complete and idle.".into()
    }

    pub(crate) fn pause_check() -> Action {
        Action::new("pause_array_check", "Pause the array's check while the array is in use")
    }

    pub(crate) fn watch_array() -> Action {
        Action::new(
            "watch_array",
            "See what the array is doing; replace a missing member, or let the rebuild finish",
        )
    }
}

pub(crate) mod firmware {
    use super::{Action, Hint};

    pub(crate) const TITLE: &str = "faulty firmware";
    pub(crate) const SUMMARY: &str = "this firmware version is known to be faulty";

    pub(crate) const INSTALL_DATABASE: Hint =
        Hint::machine("Install smartmontools, whose database lists faulty firmware");

    pub(crate) fn known_bug(warning: Option<&str>) -> String {
        match warning {
            Some(text) => format!("The smartmontools database warns: {}.", text.trim_end_matches('.')),
            None => "The smartmontools database has no warning for it.".into(),
        }
    }

    pub(crate) fn update() -> Action {
        Action::new(
            "update_firmware",
            "Back up, then update the firmware with fwupd or the manufacturer's tool",
        )
    }
}

pub(crate) mod fragmentation {
    use super::{Action, Hint, Measured, digits, times};

    pub(crate) const TITLE: &str = "fragmented files";
    pub(crate) const SUMMARY: &str = "files are fragmented, and each fragment costs a seek";

    pub(crate) const SHOW_FRAGMENTS: Hint = Hint::facts("See how fragmented the files are");

    pub(crate) fn many(per_mib: f64) -> String {
        format!("Files have {} fragments per MiB.", digits(per_mib))
    }

    pub(crate) fn few() -> String {
        "Files have few fragments.".into()
    }

    /// `ratio`: what seeks would leave of the speed, over what is left.
    pub(crate) fn reads_fit_seeks(ratio: Measured) -> String {
        format!("With a seek for each fragment, reads would be {} as fast as they are.", times(ratio))
    }

    pub(crate) fn new_file_faster(ratio: Measured) -> String {
        format!("A newly written file is read {} as fast as existing files.", times(ratio))
    }

    pub(crate) fn defragment() -> Action {
        Action::new("defragment", "Defragment the worst files, but none that snapshots or reflinks share")
    }
}

pub(crate) mod host_memory {
    use super::{Action, Hint, Measured, either, times};

    pub(crate) const TITLE: &str = "no host memory buffer";
    pub(crate) const SUMMARY: &str =
        "a drive without DRAM gets no host memory buffer (HMB) for its mapping table";

    pub(crate) const COMPARE_SPANS: Hint =
        Hint::thorough("Compare 4K random reads over narrow and wide spans");
    pub(crate) const ASK_DRIVE: Hint = Hint::root("Read its host memory setting, which needs root");

    pub(crate) fn spread_costs(ratio: Measured) -> String {
        format!("4K random reads over the whole drive take {} as long as within a few MiB.", times(ratio))
    }

    pub(crate) fn memory_refused(is: bool) -> String {
        either(
            is,
            "It asked for host memory and has none.",
            "It has the host memory that it asked for, or needs none.",
        )
    }

    pub(crate) fn nvme(is: bool) -> String {
        either(
            is,
            "It is attached by PCIe, as drives with a host memory buffer are.",
            "Only NVMe drives use a host memory buffer, and it is not attached by PCIe.",
        )
    }

    pub(crate) fn allow() -> Action {
        Action::new(
            "allow_host_memory",
            "Let the kernel give it memory: add nvme.max_host_mem_size_mb=512 to the kernel command line",
        )
    }
}

pub(crate) mod lazy_volume {
    use super::{Action, Hint, Measured, Nanos, either, times};

    pub(crate) const TITLE: &str = "snapshot not loaded";
    pub(crate) const SUMMARY: &str = "each block is fetched from a snapshot when it is first read";

    pub(crate) const READ_TWICE: Hint = Hint::thorough("Read the same regions twice, without any cache");

    pub(crate) fn repeat_read_faster(ratio: Measured) -> String {
        format!("The same regions are {} as fast when they are read again.", times(ratio))
    }

    pub(crate) fn just_written(_: bool) -> String {
        "What is read was written within the last hour, so it is in no snapshot.".into()
    }

    pub(crate) fn full_speed(is: bool) -> String {
        either(is, "First sequential reads are not slow.", "First sequential reads are slow.")
    }

    pub(crate) fn slow_fetch(access_ns: f64) -> String {
        format!("A first 4K random read takes {}.", Nanos(access_ns as u64))
    }

    pub(crate) fn read_all() -> Action {
        Action::new("read_whole_volume", "Read the whole volume once: later reads need no snapshot")
    }
}

pub(crate) mod power_saving {
    use super::{Action, Hint, Measured, either, times};

    pub(crate) const TITLE: &str = "power saving";
    pub(crate) const SUMMARY: &str = "the drive or its link sleeps between I/Os and takes time to wake";

    pub(crate) const READ_WITH_PAUSES: Hint = Hint::thorough("Compare reads after pauses with reads without");
    pub(crate) const SHOW_POLICIES: Hint = Hint::facts("Look at its power settings");

    pub(crate) fn pauses_cost(ratio: Measured) -> String {
        format!("A read after a pause takes {} as long.", times(ratio))
    }

    pub(crate) fn sleeps(is: bool) -> String {
        either(is, "It is set to save power.", "It is set not to save power.")
    }

    pub(crate) fn virtual_disk() -> String {
        "This is a virtual disk, whose host may have slept.".into()
    }

    pub(crate) fn turn_off() -> Action {
        Action::new(
            "turn_off_power_saving",
            "If single reads must be fast, turn off power saving of the drive and its link",
        )
    }

    pub(crate) fn no_deep_sleep() -> Action {
        Action::new("keep_drive_awake", "Keep the drive out of deep sleep until the next boot")
    }

    pub(crate) fn link_awake() -> Action {
        Action::new("keep_link_awake", "Keep its link awake until the next boot")
    }

    pub(crate) fn pcie_awake() -> Action {
        Action::new("keep_pcie_awake", "Keep all PCIe links awake until the next boot")
    }

    pub(crate) fn no_suspend() -> Action {
        Action::new("forbid_suspend", "Stop the kernel from suspending it until the next boot")
    }
}

pub(crate) mod read_cache {
    use super::{Action, Hint, Measured, times};

    pub(crate) const TITLE: &str = "cached reads";
    pub(crate) const SUMMARY: &str = "a cache served these reads; they don't measure the drive";

    pub(crate) const COMPARE_COUNTERS: Hint =
        Hint::machine("Compare the drive's counters with what was read");

    pub(crate) fn faster_than_link(ratio: Measured) -> String {
        format!("Some sequential reads reach {} the link's limit.", times(ratio))
    }

    pub(crate) fn repeat_read_faster(ratio: Measured) -> String {
        format!(
            "Read again, the same addresses are {} as fast, and the first reads are not slow.",
            times(ratio)
        )
    }

    pub(crate) fn bypass() -> Action {
        Action::new(
            "bypass_cache",
            "Read more than the cache holds, or turn off the host's cache of this disk",
        )
    }
}

pub(crate) mod shingled {
    use super::{Action, Hint, Measured, either, times};

    pub(crate) const TITLE: &str = "shingled disk (SMR)";
    pub(crate) const SUMMARY: &str =
        "the disk is shingled (SMR), so random writes end in rewriting whole zones";

    pub(crate) const INSTALL_DATABASE: Hint =
        Hint::machine("Install smartmontools, whose database lists shingled disks");
    pub(crate) const WRITE_LONGER: Hint = Hint::thorough_writing("Write at random for longer");

    pub(crate) fn database() -> String {
        "The smartmontools database lists this family as shingled.".into()
    }

    pub(crate) fn knows_trim(is: bool) -> String {
        either(is, "It is a hard disk that supports TRIM, as shingled disks do.", "It does not support TRIM.")
    }

    pub(crate) fn write_cliff(ratio: Measured) -> String {
        format!("Writes dropped after some bytes: they were {} as fast before.", times(ratio))
    }

    pub(crate) fn give_idle_time() -> Action {
        Action::new("give_idle_time", "Give it idle time between writes, in which it empties its buffer zone")
    }

    pub(crate) fn use_other_disk() -> Action {
        Action::new("use_other_disk", "Use another disk for arrays and for random writes")
    }
}

pub(crate) mod slow_region {
    use super::{Action, Hint, Measured, Number, either, times};

    pub(crate) const TITLE: &str = "failing surface";
    pub(crate) const SUMMARY: &str = "some regions take many read retries: the surface is failing there";

    pub(crate) const MAP_SURFACE: Hint = Hint::surface("Read more regions");
    pub(crate) const READ_SMART: Hint = Hint::root("Read its SMART data, which needs root");

    pub(crate) fn slow_regions(ratio: Measured) -> String {
        format!("The slowest regions take {} as long as the others.", times(ratio))
    }

    pub(crate) fn pending_sectors(is: bool) -> String {
        either(
            is,
            "The drive has pending sectors (SMART 197).",
            "The drive has no pending sectors (SMART 197).",
        )
    }

    pub(crate) fn reallocated_sectors(is: bool) -> String {
        either(
            is,
            "The drive has reallocated sectors (SMART 5).",
            "The drive has no reallocated sectors (SMART 5).",
        )
    }

    pub(crate) fn errors(count: u64) -> String {
        if count == 0 {
            return "No I/O failed.".into();
        }
        format!("{} I/Os failed.", Number(count as f64))
    }

    pub(crate) fn copy_data() -> Action {
        Action::new("copy_data", "Back up now with ddrescue, which copies the readable regions first")
    }

    pub(crate) fn replace() -> Action {
        Action::new("replace_drive", "Replace the drive")
    }
}

pub(crate) mod token_bucket {
    use super::{Action, Hint, Measured, either, share, times};

    pub(crate) const TITLE: &str = "burst credits used up";
    pub(crate) const SUMMARY: &str =
        "the volume has used up its burst credits and is held to its baseline rate";

    pub(crate) const RUN_LONGER: Hint = Hint::thorough("Run it for longer than its burst lasts");
    pub(crate) const GIVE_RATED: Hint =
        Hint::here("Give its rated IOPS with --advertised random_read_qd32=IOPS");

    pub(crate) fn burst(ratio: Measured) -> String {
        format!("4K random reads were {} as fast at the start as at their end.", times(ratio))
    }

    pub(crate) fn burst_of_load(ratio: Measured) -> String {
        format!("Sequential reads began {} as fast as the one rate that followed.", times(ratio))
    }

    pub(crate) fn cloud(is: bool) -> String {
        either(
            is,
            "It is a cloud volume with provisioned IOPS and throughput.",
            "It is not a volume of a known cloud.",
        )
    }

    pub(crate) fn depth_helps(ratio: Measured) -> String {
        format!("4K random reads at QD32 reach {} the IOPS of QD1.", times(ratio))
    }

    pub(crate) fn writes_above(ratio: Measured) -> String {
        format!("4K random writes reach {} the IOPS of 4K random reads at QD32.", times(ratio))
    }

    pub(crate) fn deep_below(of: Measured) -> String {
        format!("4K random reads at QD32 reach {} of their reference.", share(of))
    }

    pub(crate) fn throttle_count(is: bool) -> String {
        either(
            is,
            "The volume counted time in which it was throttled.",
            "The volume counted no time in which it was throttled.",
        )
    }

    pub(crate) fn raise_limits() -> Action {
        Action::new("raise_limits", "Raise the volume's IOPS or throughput, or the machine's limit")
    }

    pub(crate) fn spread_work() -> Action {
        Action::new("spread_work", "Spread the load over time, so that credits come back")
    }
}

pub(crate) mod write_cache_off {
    use super::{Action, Hint, Measured, either, share};

    pub(crate) const TITLE: &str = "write cache off";
    pub(crate) const SUMMARY: &str = "the write cache is off, so each write waits for the medium";

    pub(crate) const SHOW_CACHE: Hint = Hint::facts("See whether its write cache is on");
    pub(crate) const GIVE_RATED: Hint = Hint::here("Give its rated IOPS with --advertised random_write=IOPS");

    pub(crate) fn write_through(is: bool) -> String {
        either(is, "The kernel reports no write cache, or that it is off.", "Its write cache is on.")
    }

    pub(crate) fn writes_below(of: Measured) -> String {
        format!("4K random writes reach {} of their reference.", share(of))
    }

    pub(crate) fn enable() -> Action {
        Action::new(
            "enable_write_cache",
            "Turn its write cache on; without a battery, a power failure then loses the last writes",
        )
    }
}

// Steps of `likenew recondition`

pub(crate) fn step_name(kind: ActionKind) -> Option<&'static str> {
    Some(match kind {
        ActionKind::Fstrim => "trim",
        ActionKind::DiscardFree => "discard-unused",
        ActionKind::Refresh => "refresh",
        ActionKind::OverwriteFree => "overwrite",
        ActionKind::Rewrite => "rewrite",
        ActionKind::Discard => "discard",
        ActionKind::Overwrite => "overwrite-all",
        ActionKind::NvmeFormat => "format",
        ActionKind::NvmeSanitize | ActionKind::AtaSecureErase | ActionKind::AtaSanitize => return None,
    })
}

/// The effect of a step, as an imperative.
pub(crate) fn step_why(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Fstrim => "Send TRIM for all free space, then leave the drive idle for ten minutes",
        ActionKind::DiscardFree => "Send TRIM for unpartitioned space",
        ActionKind::Refresh => "Rewrite slow data in place",
        ActionKind::OverwriteFree => "Overwrite free space until another pass changes nothing",
        ActionKind::Rewrite => "Rewrite all data in place",
        ActionKind::Discard => "Erase the whole drive with TRIM",
        ActionKind::Overwrite => "Overwrite the whole drive until another pass changes nothing",
        ActionKind::NvmeFormat => "Have the drive format itself",
        ActionKind::NvmeSanitize => "Have the drive sanitize itself (NVMe Sanitize)",
        ActionKind::AtaSecureErase => "Have the drive erase itself (ATA Secure Erase)",
        ActionKind::AtaSanitize => "Have the drive sanitize itself (ATA Sanitize)",
    }
}

/// A share of the rated endurance, in percent.
pub(crate) fn rewrite_with_wear(percent: f64) -> String {
    let percent = if percent < 0.1 { "under 0.1".to_owned() } else { format!("{percent:.1}") };
    format!("Rewrite all data in place (uses {percent}% of the rated endurance)")
}

pub(crate) fn step_loses(kind: ActionKind) -> Loss {
    match kind {
        ActionKind::Refresh | ActionKind::Rewrite => Loss::Nothing,
        ActionKind::Fstrim | ActionKind::DiscardFree | ActionKind::OverwriteFree => Loss::DeletedFiles,
        _ => Loss::Everything,
    }
}

// Why a step is not possible

pub(crate) mod obstacle {
    pub(crate) fn blocked_by(layer: &str, kind: &str) -> String {
        format!("{layer} ({kind}) blocks TRIM; likenew trim says what would let it pass")
    }

    pub(crate) const IGNORES_TRIM: &str = "this drive ignores TRIM";
    pub(crate) const IGNORES_TRIM_OVERWRITE: &str = "this drive ignores TRIM; overwrite-all works without it";
    pub(crate) const NOTHING_FREE: &str = "nothing on it is free";
    pub(crate) const FREE_UNKNOWN: &str =
        "only the file system knows which space is free; give the folder where it is mounted";
    pub(crate) const FREE_UNKNOWN_OF_FILE: &str =
        "a file has no free space of its own; give the folder it lies in";
    pub(crate) const HARDLY_FREE: &str = "hardly anything is free; delete something first";
    pub(crate) const ALL_PARTITIONED: &str = "partitions cover the whole disk";
    pub(crate) const NO_PARTITIONS: &str = "a simulated drive has no partitions";
    pub(crate) const DEVICE_NEEDS_FOLDER: &str =
        "only writes show whether it helps; give a folder on one of its partitions";
    pub(crate) const FILE_HAS_NO_PARTITIONS: &str = "a file has no partitions; give a folder on the drive";
    pub(crate) const NOTHING_THERE: &str = "the null target holds nothing";
    pub(crate) const EMPTY: &str = "it holds no data";
    pub(crate) const HARD_DISK: &str = "a hard disk writes in place; rewriting all data gains nothing";
    pub(crate) const WORN_OUT: &str = "the drive has used up its rated endurance; rewriting wears it further";
    pub(crate) const FILE_NEEDS_FOLDER: &str =
        "a single file is not rewritten; give the folder that it lies in";
    pub(crate) const NOT_SIMULATED: &str = "a simulated drive has no such command";
    pub(crate) const NOT_NVME: &str = "only NVMe drives have this command";
    pub(crate) const NEVER_DONE: &str = "likenew never does this; --dry-run prints the command to type";
    pub(crate) const FOLDER_IS_NO_DRIVE: &str = "this step needs the whole block device, not a folder";
    pub(crate) const FILE_IS_NO_DRIVE: &str = "this step needs a block device, not a file";
    pub(crate) const NEEDS_CONSENT: &str = "this step erases the whole drive, which needs --consent";
}

// What an action may cost besides time and bytes

/// Time, bytes, money or space that an action of this crate costs, for a table.
pub fn cost(action: &Action) -> &'static str {
    match &*action.id {
        "recondition_trim" => "seconds",
        "recondition_discard_unused" => "seconds",
        "recondition_refresh" => "one write of each slow byte",
        "recondition_overwrite" => "several writes of all free space",
        "recondition_rewrite" => "one write of all data, two at most",
        "recondition_discard" => "seconds, and restoring your data",
        "recondition_overwrite_all" => "several writes of the whole drive, and restoring your data",
        "recondition_format" => "minutes, and restoring your data",
        "enable_trim_passthrough" => "behind encryption, free blocks become visible",
        "force_trim_passthrough" => "a setting",
        "enable_fstrim_timer" => "seconds a week",
        "free_space" => "what you delete",
        "leave_as_is" => "nothing",
        "keep_free_space" => "space",
        "improve_cooling" => "little",
        "copy_and_replace" => "a drive",
        "update_firmware_for_old_data" => "minutes; not every drive has an update",
        "change_usb_port" => "a cable",
        "change_enclosure" => "an enclosure",
        "change_slot" => "minutes with the power off",
        "change_cable" => "a cable",
        "repartition" => "a backup and hours",
        "bypass_crypt_queues" => "nothing",
        "choose_cipher" => "hours to re-encrypt everything",
        "find_other_io" => "nothing",
        "test_your_files" => "nothing",
        "return_drive" => "nothing",
        "verify_capacity" => "one write of all of it",
        "pause_array_check" => "a later check",
        "watch_array" => "hours",
        "update_firmware" => "minutes",
        "defragment" => "one write of these files",
        "allow_host_memory" => "host memory, as much as it asks for",
        "read_whole_volume" => "one read of every block",
        "turn_off_power_saving"
        | "keep_drive_awake"
        | "keep_link_awake"
        | "keep_pcie_awake"
        | "forbid_suspend" => "battery and heat",
        "bypass_cache" => "nothing",
        "give_idle_time" => "hours after long writes",
        "use_other_disk" => "a disk",
        "copy_data" => "the time of a copy",
        "replace_drive" => "a drive",
        "raise_limits" => "money",
        "spread_work" => "time",
        "enable_write_cache" => "nothing",
        _ => "nothing",
    }
}

// Metrics, references and symptoms

impl Metric {
    /// As a noun: `sustained write`.
    pub fn words(self) -> &'static str {
        match self {
            Self::SequentialRead => "sequential read",
            Self::SequentialWrite => "sequential write",
            Self::SustainedWrite => "sustained write",
            Self::RandomRead => "4K random read",
            Self::RandomWrite => "4K random write",
            Self::RandomReadQd32 => "4K random read QD32",
        }
    }

    /// As the subject of a sentence: `sustained writes`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::SequentialRead => "sequential reads",
            Self::SequentialWrite => "sequential writes",
            Self::SustainedWrite => "sustained writes",
            Self::RandomRead => "4K random reads",
            Self::RandomWrite => "4K random writes",
            Self::RandomReadQd32 => "4K random reads at QD32",
        }
    }

    /// A value in its usual form: `77.2 MB/s`, `4,940 IOPS`.
    pub fn format_value(self, value: f64) -> String {
        match self {
            Self::SequentialRead | Self::SequentialWrite | Self::SustainedWrite => Rate(value).to_string(),
            Self::RandomRead | Self::RandomWrite | Self::RandomReadQd32 => Iops(value).to_string(),
        }
    }
}

impl Origin {
    /// The words after "26% of".
    pub fn words(self) -> &'static str {
        match self {
            Self::Baseline => "its baseline",
            Self::Simulated => "new",
            Self::Advertised => "its rated speed",
            Self::SimulatedModel => "a simulated new drive of its model",
            Self::Link => "the link limit",
        }
    }

    /// The heading of a column of such values.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Simulated => "when new",
            Self::Advertised => "rated",
            Self::SimulatedModel => "new (simulated)",
            Self::Link => "link limit",
        }
    }
}

impl Symptom {
    /// A stable name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Below(Metric::SequentialRead) => "slow_sequential_read",
            Self::Below(Metric::SequentialWrite) => "slow_sequential_write",
            Self::Below(Metric::SustainedWrite) => "slow_sustained_write",
            Self::Below(Metric::RandomRead) => "slow_random_read",
            Self::Below(Metric::RandomWrite) => "slow_random_write",
            Self::Below(Metric::RandomReadQd32) => "slow_random_read_qd32",
            Self::NewDataFaster => "old_data_slower",
            Self::SlowRegions => "slow_regions",
            Self::RepeatReadFaster => "repeat_read_faster",
            Self::WriteCliff => "write_cliff",
            Self::RewrittenFaster => "rewritten_faster",
            Self::SlowsUnderLoad => "slows_under_load",
            Self::SlowOverWideSpan => "slow_over_wide_span",
            Self::SlowAfterIdle => "slow_after_idle",
            Self::SlowWhenAligned => "slow_when_aligned",
            Self::FlatAfterBurst => "flat_after_burst",
            Self::BackgroundIo => "other_io",
            Self::Stalls => "stalls",
            Self::Uneven => "uneven_reads",
            Self::Errors => "failed_ios",
            Self::WrongData => "wrong_data",
            Self::FasterThanLink => "faster_than_link",
        }
    }

    /// As a noun phrase: `slow sustained writes`, `write cliff`.
    pub fn title(self) -> &'static str {
        match self {
            Self::Below(Metric::SequentialRead) => "slow sequential reads",
            Self::Below(Metric::SequentialWrite) => "slow sequential writes",
            Self::Below(Metric::SustainedWrite) => "slow sustained writes",
            Self::Below(Metric::RandomRead) => "slow 4K random reads",
            Self::Below(Metric::RandomWrite) => "slow 4K random writes",
            Self::Below(Metric::RandomReadQd32) => "slow 4K random reads at QD32",
            Self::NewDataFaster => "old data slower than new data",
            Self::SlowRegions => "slow regions",
            Self::RepeatReadFaster => "second reads faster than first ones",
            Self::WriteCliff => "write cliff",
            Self::RewrittenFaster => "slow first writes",
            Self::SlowsUnderLoad => "slower under load",
            Self::SlowOverWideSpan => "slow random reads over wide spans",
            Self::SlowAfterIdle => "slow reads after idle",
            Self::SlowWhenAligned => "slow aligned writes",
            Self::FlatAfterBurst => "flat rate after a burst",
            Self::BackgroundIo => "other I/O on the drive",
            Self::Stalls => "stalls",
            Self::Uneven => "uneven sequential reads",
            Self::Errors => "failed I/Os",
            Self::WrongData => "wrong data",
            Self::FasterThanLink => "reads faster than the link",
        }
    }

    /// As a clause, without a full stop.
    pub fn words(self) -> String {
        match self {
            Self::Below(metric) => format!("{} are slow", metric.plural()),
            Self::NewDataFaster => "old data is read more slowly than new data".into(),
            Self::SlowRegions => "some regions are read much more slowly than others".into(),
            Self::RepeatReadFaster => "second reads are faster than first ones".into(),
            Self::WriteCliff => "writes slow down after some bytes".into(),
            Self::RewrittenFaster => "writes are slow, and faster where they are repeated".into(),
            Self::SlowsUnderLoad => "it slows down under load".into(),
            Self::SlowOverWideSpan => "4K random reads are slow over wide spans".into(),
            Self::SlowAfterIdle => "reads are slow after idle time".into(),
            Self::SlowWhenAligned => "aligned 4K writes are slower than shifted ones".into(),
            Self::FlatAfterBurst => "its rate is capped after a burst, as by a credit limit".into(),
            Self::BackgroundIo => "other I/O keeps the drive busy".into(),
            Self::Stalls => "the drive stalls".into(),
            Self::Uneven => "the speed of sequential reads is uneven".into(),
            Self::Errors => "I/Os fail".into(),
            Self::WrongData => "data does not read back as it was written".into(),
            Self::FasterThanLink => "reads are faster than the link allows".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_read_as_written() {
        let ratio = Measured::new(3.2, 2.9, 3.5);
        assert_eq!(
            no_trim::trim_helps(ratio),
            "After TRIM and idle time writes are 3.20× (2.90–3.50) as fast as after idle time alone."
        );
        assert_eq!(
            writes_against_reads(Measured::new(0.17, 0.15, 0.19)),
            "Against their references, writes reach 17% (15–19) of the share that reads reach."
        );
        assert_eq!(no_trim::trim_blocked(Some(("dm-0", "encryption"))), "dm-0 (encryption) blocks TRIM.");
        assert_eq!(nearly_full::full(99.0), "The file system is 99% full.");
        assert_eq!(
            link_errors::before(5000),
            "The drive has counted 5,000 transfers with a wrong checksum in its life."
        );
        assert_eq!(lazy_volume::slow_fetch(2.5e7), "A first 4K random read takes 25.0 ms.");
        assert_eq!(Metric::RandomRead.format_value(4938.0), "4,940 IOPS");
        assert_eq!(Symptom::Below(Metric::SustainedWrite).title(), "slow sustained writes");
    }
}
