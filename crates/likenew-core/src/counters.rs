//! Counters that check what a workload reports: those of the kernel at a device, over all programs, and those
//! of a drive's flash.

use serde::{Deserialize, Serialize};

use crate::io::Op;
use crate::units::Nanos;

/// Reads and writes of the disk below the target by all programs, including its other partitions and volumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Reads that ended.
    pub reads: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Writes that ended.
    pub writes: u64,
    /// Time that reads and writes took from entering the queue to their end, summed; unknown in older
    /// records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_time: Option<Nanos>,
}

/// I/O that reached the devices below a drive since they were attached, in bytes and nanoseconds. Linux
/// counts it in `/sys/block/*/stat` (Documentation/block/stat.rst). It excludes I/O that memory answered and
/// includes that of other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Reads that ended.
    pub reads: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Writes that ended.
    pub writes: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
    /// Discards (TRIM) that ended; unknown before Linux 4.18.
    pub discards: Option<u64>,
    /// Bytes that were discarded.
    pub bytes_discarded: Option<u64>,
    /// Flushes that ended; unknown before Linux 5.5, and never counted for a partition.
    pub flushes: Option<u64>,
    /// Time during which anything was in flight. Linux counts it in milliseconds.
    pub busy: Nanos,
    /// Time that reads and writes took from entering the queue to their end, summed: two at a time count
    /// twice. Linux counts it in milliseconds. Unknown in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_time: Option<Nanos>,
    /// Kernel time of all processors and programs of the machine, summed, so it can exceed the elapsed time.
    /// It belongs to the machine and not to a device, but is read at the same moments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Nanos>,
    /// I/O of the whole disk; unknown where the target is on no disk, or on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskCounters>,
    /// The number of devices in these sums. A file system on several devices may write everything to each of them.
    pub devices: u32,
}

impl Counters {
    /// What was counted since an earlier reading of the same devices. A counter that went backward counts
    /// from zero: its device was attached again.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let since = |now: u64, then: u64| if now >= then { now - then } else { now };
        let known = |now: Option<u64>, then: Option<u64>| Some(since(now?, then?));
        let time = |now: Option<Nanos>, then: Option<Nanos>| Some(Nanos(since(now?.0, then?.0)));
        Self {
            reads: since(self.reads, earlier.reads),
            bytes_read: since(self.bytes_read, earlier.bytes_read),
            writes: since(self.writes, earlier.writes),
            bytes_written: since(self.bytes_written, earlier.bytes_written),
            discards: known(self.discards, earlier.discards),
            bytes_discarded: known(self.bytes_discarded, earlier.bytes_discarded),
            flushes: known(self.flushes, earlier.flushes),
            busy: Nanos(since(self.busy.0, earlier.busy.0)),
            io_time: time(self.io_time, earlier.io_time),
            kernel: time(self.kernel, earlier.kernel),
            disk: self.disk.zip(earlier.disk).map(|(now, then)| DiskCounters {
                reads: since(now.reads, then.reads),
                bytes_read: since(now.bytes_read, then.bytes_read),
                writes: since(now.writes, then.writes),
                io_time: time(now.io_time, then.io_time),
            }),
            devices: self.devices,
        }
    }

    /// The sum of both; a count that either lacks is unknown. Busy time is that of the busier one, since they
    /// work side by side; kernel time is that of the later reading.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let known = |one: Option<u64>, two: Option<u64>| Some(one?.saturating_add(two?));
        Self {
            reads: self.reads.saturating_add(other.reads),
            bytes_read: self.bytes_read.saturating_add(other.bytes_read),
            writes: self.writes.saturating_add(other.writes),
            bytes_written: self.bytes_written.saturating_add(other.bytes_written),
            discards: known(self.discards, other.discards),
            bytes_discarded: known(self.bytes_discarded, other.bytes_discarded),
            flushes: known(self.flushes, other.flushes),
            busy: self.busy.max(other.busy),
            io_time: self.io_time.zip(other.io_time).map(|(one, two)| one + two),
            kernel: self.kernel.max(other.kernel),
            disk: None,
            devices: self.devices + other.devices,
        }
    }

    /// Bytes read or written; `None` for other operations, which may not be counted.
    pub fn bytes(&self, op: Op) -> Option<u64> {
        match op {
            Op::Read => Some(self.bytes_read),
            Op::Write => Some(self.bytes_written),
            Op::Trim | Op::Flush => None,
        }
    }

    /// I/O of the disk, or of the devices where no single disk is known.
    pub fn disk_counters(&self) -> DiskCounters {
        let Self { reads, bytes_read, writes, io_time, .. } = *self;
        self.disk.unwrap_or(DiskCounters { reads, bytes_read, writes, io_time })
    }

    /// Counts one I/O that moved `bytes` in `elapsed` time.
    pub fn count(&mut self, op: Op, bytes: u64, elapsed: Nanos) {
        if matches!(op, Op::Read | Op::Write) {
            *self.io_time.get_or_insert(Nanos::ZERO) += elapsed;
        }
        let (ios, moved) = match op {
            Op::Read => (&mut self.reads, Some(&mut self.bytes_read)),
            Op::Write => (&mut self.writes, Some(&mut self.bytes_written)),
            Op::Trim => (self.discards.get_or_insert(0), Some(self.bytes_discarded.get_or_insert(0))),
            Op::Flush => (self.flushes.get_or_insert(0), None),
        };
        *ios += 1;
        if let Some(moved) = moved {
            *moved += bytes;
        }
    }
}

/// Exact counts of a simulated drive since it was opened, without the writes that aged it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlashCounters {
    /// Bytes the host has written.
    pub host_bytes_written: u64,
    /// Bytes programmed into flash, garbage collection included; for a hard disk, bytes written to the platters.
    pub flash_bytes_programmed: u64,
    /// Erase operations of blocks.
    pub erases: u64,
    /// `flash_bytes_programmed / host_bytes_written`; 1 before the first write.
    pub write_amplification: f64,
    /// Erased blocks ready to be written.
    pub free_blocks: u64,
    /// How worn the flash is, earlier use included; a hard disk has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wear: Option<Wear>,
}

impl FlashCounters {
    /// Whether these counters are of flash; a hard disk or network volume has no blocks to erase.
    pub fn has_flash(&self) -> bool {
        self.wear.is_some()
    }
}

/// How often the erase blocks of a drive were erased since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// The least worn block.
    pub erases_min: u32,
    /// The most worn block.
    pub erases_max: u32,
    /// Mean of all blocks.
    pub erases_mean: f64,
    /// Blocks that were taken out of use.
    pub bad_blocks: u32,
}

impl Wear {
    /// Summarizes the erase counts of all blocks.
    pub fn from_erases(erases: impl Iterator<Item = u32>, bad_blocks: u32) -> Self {
        let (mut blocks, mut sum, mut min, mut max) = (0u64, 0u64, u32::MAX, 0);
        for count in erases {
            (blocks, sum) = (blocks + 1, sum + u64::from(count));
            (min, max) = (min.min(count), max.max(count));
        }
        let erases_mean = sum as f64 / blocks.max(1) as f64;
        Self { erases_min: min.min(max), erases_max: max, erases_mean, bad_blocks }
    }
}

/// How far a device's discard counters moved (Documentation/block/stat.rst of the Linux sources).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscardCounters {
    /// The device.
    pub device: String,
    /// Discards that ended.
    pub ios: u64,
    /// Bytes that they discarded.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_counters(count: u64, discards: Option<u64>) -> Counters {
        Counters {
            reads: count,
            bytes_read: 512 * count,
            writes: 2 * count,
            bytes_written: 1024 * count,
            discards,
            bytes_discarded: discards,
            flushes: discards,
            busy: Nanos(count),
            io_time: discards.map(|_| Nanos(5 * count)),
            kernel: discards.map(Nanos),
            disk: discards.map(|_| DiskCounters {
                reads: 3 * count,
                bytes_read: 1536 * count,
                writes: 4 * count,
                io_time: Some(Nanos(6 * count)),
            }),
            devices: 1,
        }
    }

    #[test]
    fn the_difference_of_two_readings_is_what_happened_between_them() {
        let between = sample_counters(10, Some(7)).since(&sample_counters(4, Some(2)));
        assert_eq!((between.reads, between.bytes_read, between.bytes_written), (6, 6 * 512, 6 * 1024));
        assert_eq!((between.discards, between.busy, between.devices), (Some(5), Nanos(6), 1));
        assert_eq!(between.kernel, Some(Nanos(5)));
        assert_eq!(sample_counters(10, None).since(&sample_counters(4, None)).discards, None);
        let of_disk = DiskCounters { reads: 18, bytes_read: 18 * 512, writes: 24, io_time: Some(Nanos(36)) };
        assert_eq!((between.disk_counters(), between.io_time), (of_disk, Some(Nanos(30))));
        let alone = sample_counters(10, None).since(&sample_counters(4, None));
        assert_eq!(
            alone.disk_counters(),
            DiskCounters { reads: 6, bytes_read: 6 * 512, writes: 12, io_time: None }
        );
        // The device was attached again in between.
        assert_eq!(sample_counters(3, Some(1)).since(&sample_counters(9, Some(5))).reads, 3);
    }

    #[test]
    fn two_devices_are_counted_together() {
        let both = sample_counters(10, Some(1)).plus(&sample_counters(4, None));
        assert_eq!((both.reads, both.devices, both.discards, both.busy), (14, 2, None, Nanos(10)));
        assert_eq!((both.kernel, both.disk), (Some(Nanos(1)), None));
        assert_eq!(both.bytes(Op::Read), Some(14 * 512));
        assert_eq!(both.bytes(Op::Trim), None);
    }

    #[test]
    fn what_is_counted_reads_back() {
        let mut counters = Counters { devices: 1, ..Counters::default() };
        for (op, bytes) in [(Op::Read, 512), (Op::Write, 1024), (Op::Trim, 4096), (Op::Flush, 0)] {
            counters.count(op, bytes, Nanos(10));
        }
        assert_eq!(counters.io_time, Some(Nanos(20)), "of the read and the write");
        assert_eq!((counters.bytes_read, counters.bytes_written), (512, 1024));
        assert_eq!((counters.bytes_discarded, counters.flushes), (Some(4096), Some(1)));
        let text = serde_json::to_string(&counters).unwrap();
        assert_eq!(serde_json::from_str::<Counters>(&text).unwrap(), counters);
    }
}
