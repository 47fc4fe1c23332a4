//! What is counted at a drive, by itself or by the kernel: only the difference of two readings says what
//! happened in between.

use serde::{Deserialize, Serialize};

use super::Fact;
use crate::wording;

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters that only grow.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Counts {
            $($(#[$doc])* #[serde(skip_serializing_if = "Fact::is_not_queried")] pub $name: Fact<u64>,)*
        }

        impl Counts {
            /// What was counted since an earlier reading. What one of the two does not know is not known; a
            /// counter that went backward was reset in between, as after a device was attached again.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($name: difference(&self.$name, &earlier.$name),)* }
            }

            /// Every counter with its name.
            pub fn each(&self) -> impl Iterator<Item = (&'static str, &Fact<u64>)> {
                [$((stringify!($name), &self.$name),)*].into_iter()
            }

            /// Every counter, to be changed.
            pub fn each_mut(&mut self) -> impl Iterator<Item = &mut Fact<u64>> {
                [$(&mut self.$name,)*].into_iter()
            }
        }
    };
}

counts! {
    /// Time of light throttling (Thermal Management Temperature 1 of NVMe).
    throttled_light_s,
    /// Time of heavy throttling (Thermal Management Temperature 2 of NVMe).
    throttled_heavy_s,
    /// Times that it began to throttle lightly.
    throttled_light_times,
    /// Times that it began to throttle heavily.
    throttled_heavy_times,
    /// Time above the temperature at which it warns, in steps of a minute.
    warm_s,
    /// Time above the critical temperature, in steps of a minute.
    hot_s,
    /// Data that it could not read back intact (NVMe: Media and Data Integrity Errors; SMART 187).
    media_errors,
    /// Sectors that were replaced by spare ones (SMART 5).
    reallocated_sectors,
    /// Sectors that the drive's own scan could not read (SMART 198).
    uncorrectable_sectors,
    /// Transfers over the link that came with a wrong checksum (SMART 199).
    crc_errors,
    /// Times that the link became slower (SMART 183 of some makers).
    link_downshifts,
    /// Accesses that did not begin at a multiple of 4 KiB (SMART 181 of Micron and Crucial).
    unaligned_accesses,
    /// Errors of the PCI Express link that were corrected (AER).
    pcie_corrected_errors,
    /// Errors of the PCI Express link that were not corrected (AER).
    pcie_uncorrected_errors,
    /// Entries in its log of errors. That of NVMe also has commands which are only not supported.
    error_log_entries,
    /// Self-tests in its log that found a failure.
    self_tests_failed,
    /// Unexpected losses of power.
    unsafe_shutdowns,
    /// Times that it was switched on.
    power_cycles,
    /// Hours that it was on.
    power_on_hours,
    /// What its hosts have written since it was made, as it counts.
    lifetime_bytes_written,
    /// What its hosts have read since it was made.
    lifetime_bytes_read,
    /// Time in which it was busy with commands, as it counts, in steps of a minute.
    controller_busy_s,
    /// Bytes read through the kernel since it was attached, by all programs.
    bytes_read,
    /// What was written through the kernel.
    bytes_written,
    /// What was discarded through the kernel.
    bytes_discarded,
    /// Discards that ended.
    discards,
    /// Reads that ended.
    reads,
    /// Writes that ended.
    writes,
    /// Flushes that ended.
    flushes,
    /// Time in which anything was in flight.
    busy_ms,
    /// Time in which a cloud volume was throttled by its own IOPS limit.
    volume_iops_exceeded_us,
    /// Time in which a cloud volume was throttled by its own throughput limit.
    volume_throughput_exceeded_us,
    /// The same by the virtual machine's IOPS limit.
    instance_iops_exceeded_us,
    /// The same by the virtual machine's throughput limit.
    instance_throughput_exceeded_us,
    /// Resets of the drive or its link in the kernel's log, as far back as that goes.
    log_resets,
    /// Commands that took too long, in the kernel's log.
    log_timeouts,
    /// Errors of reading or writing in the kernel's log.
    log_io_errors,
    /// Errors of the link in the kernel's log.
    log_link_errors,
}

fn difference(now: &Fact<u64>, then: &Fact<u64>) -> Fact<u64> {
    match (now, then.get()) {
        (Fact::Value { value, origin }, Some(earlier)) => {
            Fact::new(if *value >= earlier { value - earlier } else { *value }, origin.clone())
        }
        (Fact::Value { origin, .. }, None) => Fact::unknown(wording::NOT_KNOWN_BEFORE, origin.clone()),
        (other, _) => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_both_readings_know_has_a_difference() {
        let known = |value| Fact::new(value, "log");
        let before = Counts { crc_errors: known(3), power_cycles: known(9), ..Counts::default() };
        let after = Counts {
            crc_errors: known(5),
            power_cycles: known(2),
            media_errors: known(1),
            ..Counts::default()
        };
        let since = after.since(&before);
        assert_eq!((since.crc_errors.get(), since.power_cycles.get()), (Some(2), Some(2)));
        assert!(since.media_errors.reason().is_some() && since.reads.is_not_queried());
        assert_eq!(before.since(&after).media_errors, Fact::NotQueried);
        assert_eq!(since.each().filter(|(_, count)| count.value().is_some()).count(), 2);
    }
}
