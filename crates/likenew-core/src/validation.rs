//! Checks whether numbers in evidence can have been measured.
//!
//! Any program can change a run folder, and disks rot. Judging evidence adds and subtracts times and amounts.
//! Numbers near the limits of their types, or times out of order, would break that in a hundred places. So
//! evidence is checked once, where it is read.

use crate::counters::{Counters, FlashCounters};
use crate::drive::Identity;
use crate::io::Sample;
use crate::probe::Observation;
use crate::procedure::Evidence;
use crate::segment::{Segment, Windows};
use crate::target::Geometry;
use crate::units::Nanos;
use crate::wording;

/// Latest time that a drive's clock reads: 2⁶¹ ns, 73 years. Chosen: twice that still fits into 64 bits with a sign.
const TIME_MAX: Nanos = Nanos(1 << 61);
/// Most bytes that a drive holds, and most of anything that a run counts: 1 EiB. It limits each count, and
/// the sum of all.
const AMOUNT_MAX: u64 = 1 << 60;
/// Greatest sum of latencies over all I/Os in flight: 4096 of them for as long as a clock can read would be more than 64 bits.
const SUM_MAX: u64 = 1 << 62;
/// Longest block: 16 MiB.
const BLOCK_MAX: u32 = 16 << 20;

fn time(name: &str, at: Nanos) -> Result<(), String> {
    if at <= TIME_MAX { Ok(()) } else { Err(wording::too_late(name, at)) }
}

fn at_most(name: &str, count: u64, most: u64) -> Result<(), String> {
    if count <= most { Ok(()) } else { Err(wording::too_many(name, count, most)) }
}

fn in_order(names: &str, times: &[Nanos]) -> Result<(), String> {
    for at in times {
        time(names, *at)?;
    }
    if times.is_sorted() { Ok(()) } else { Err(wording::not_in_order(names)) }
}

impl Geometry {
    /// Checks that a drive can have this geometry.
    ///
    /// # Errors
    /// A sentence that names the impossible value.
    pub fn check(&self) -> Result<(), String> {
        at_most("capacity", self.capacity, AMOUNT_MAX)?;
        if self.block == 0 || self.block > BLOCK_MAX {
            return Err(wording::impossible_block(self.block, BLOCK_MAX));
        }
        match self.boundary {
            Some(boundary) if boundary == 0 || boundary > AMOUNT_MAX => {
                Err(wording::impossible_boundary(boundary))
            }
            _ => Ok(()),
        }
    }
}

impl Sample {
    /// Checks that it can have been measured.
    ///
    /// # Errors
    /// A sentence that names the impossible value.
    pub fn check(&self) -> Result<(), String> {
        at_most(wording::IO_OFFSET, self.offset, AMOUNT_MAX)?;
        in_order(wording::IO_TIMES, &[self.due, self.sent, self.done])
    }
}

impl Windows {
    /// Checks that it can have been counted.
    ///
    /// # Errors
    /// A sentence that names the impossible value.
    pub fn check(&self) -> Result<(), String> {
        if self.width == 0 {
            return Err(wording::NO_WIDTH.into());
        }
        at_most(wording::WINDOWS, self.cells.len() as u64, Self::CELLS_MAX as u64)?;
        // Positions are multiples of the width.
        at_most(wording::WINDOW_WIDTH, self.width, SUM_MAX / Self::CELLS_MAX as u64)?;
        for cell in &self.cells {
            at_most(wording::WINDOW_IOS, cell.ios, AMOUNT_MAX)?;
            at_most(wording::WINDOW_BYTES, cell.bytes, AMOUNT_MAX)?;
            at_most(wording::WINDOW_LATENCIES, cell.latency_ns_sum, SUM_MAX)?;
            at_most(wording::WINDOW_LATENCY_MAX, cell.latency_ns_max, TIME_MAX.0)?;
            time(wording::WINDOW_END, cell.last)?;
        }
        sum_at_most(wording::WINDOWS_IOS, AMOUNT_MAX, self.cells.iter().map(|cell| cell.ios))?;
        sum_at_most(wording::WINDOWS_BYTES, AMOUNT_MAX, self.cells.iter().map(|cell| cell.bytes))?;
        sum_at_most(wording::WINDOWS_LATENCIES, SUM_MAX, self.cells.iter().map(|cell| cell.latency_ns_sum))
    }
}

/// Checks that counts add up to no more than `most`.
fn sum_at_most(name: &str, most: u64, counts: impl Iterator<Item = u64>) -> Result<(), String> {
    let sum = counts.fold(0, u64::saturating_add);
    at_most(name, sum, most)
}

impl Counters {
    /// Checks that they can have been counted.
    ///
    /// # Errors
    /// A sentence that names the impossible value.
    pub fn check(&self) -> Result<(), String> {
        let Self { reads, bytes_read, writes, bytes_written, discards, bytes_discarded, flushes, .. } = *self;
        let known = [discards, bytes_discarded, flushes].map(Option::unwrap_or_default);
        let disk = self.disk.map_or([0; 3], |disk| [disk.reads, disk.bytes_read, disk.writes]);
        let counts = [reads, bytes_read, writes, bytes_written].into_iter().chain(known).chain(disk);
        sum_at_most(wording::DEVICE_COUNTS, AMOUNT_MAX, counts)?;
        time(wording::DEVICE_BUSY, self.busy)?;
        time(wording::MACHINE_KERNEL, self.kernel.unwrap_or_default())
    }
}

impl FlashCounters {
    /// Checks that they can have been counted.
    ///
    /// # Errors
    /// A sentence that names the impossible value.
    pub fn check(&self) -> Result<(), String> {
        at_most("host_bytes_written", self.host_bytes_written, AMOUNT_MAX)?;
        at_most("flash_bytes_programmed", self.flash_bytes_programmed, AMOUNT_MAX)?;
        at_most("erases", self.erases, AMOUNT_MAX)?;
        at_most("free_blocks", self.free_blocks, AMOUNT_MAX)
    }
}

impl Segment {
    /// Checks that it can have been measured.
    ///
    /// # Errors
    /// A sentence that names the impossible value.
    pub fn check(&self) -> Result<(), String> {
        in_order(wording::SEGMENT_TIMES, &[self.started_at, self.ended_at])?;
        time("busy", self.busy)?;
        for tally in &self.tallies {
            let streams = self.workload.stream_count();
            if usize::from(tally.stream) >= streams.max(1) {
                return Err(wording::unknown_stream(tally.stream, streams));
            }
            at_most("latency_ns_sum", tally.latency_ns_sum, SUM_MAX)?;
            at_most("errors", tally.errors, tally.ios)?;
            at_most("short", tally.short, tally.ios)?;
            at_most(wording::TALLY_LATENCIES, tally.latency.count(), AMOUNT_MAX)?;
        }
        sum_at_most("ios", AMOUNT_MAX, self.tallies.iter().map(|tally| tally.ios))?;
        sum_at_most("bytes", AMOUNT_MAX, self.tallies.iter().map(|tally| tally.bytes))?;
        sum_at_most(
            wording::TALLIES_LATENCIES,
            SUM_MAX,
            self.tallies.iter().map(|tally| tally.latency_ns_sum),
        )?;
        self.seconds.check()?;
        self.gigabytes.check()?;
        self.device_counters.as_ref().map_or(Ok(()), Counters::check)?;
        self.accounting.as_ref().map_or(Ok(()), FlashCounters::check)?;
        let samples = [&self.slowest, &self.refused_ios, &self.samples].into_iter().flatten();
        samples.map(Sample::check).find(Result::is_err).unwrap_or(Ok(()))
    }
}

impl Observation {
    /// Checks that it can have been made.
    ///
    /// # Errors
    /// A sentence that names the impossible value.
    pub fn check(&self) -> Result<(), String> {
        in_order(wording::SEGMENT_TIMES, &[self.started_at, self.ended_at])?;
        self.accounting.as_ref().map_or(Ok(()), FlashCounters::check)?;
        at_most(wording::PROBE_BYTES, self.bytes_written(), AMOUNT_MAX)
    }
}

impl Evidence {
    /// Checks that all parts can have been measured together. Each part was checked by itself.
    ///
    /// # Errors
    /// A sentence that names the impossible value.
    pub fn check(&self) -> Result<(), String> {
        check_all(&self.geometry, &self.identity, &self.segments)
    }
}

/// Checks that all measurements of a drive can have been made together. Each part was checked by itself.
///
/// # Errors
/// A sentence that names the impossible value.
pub fn check_all(geometry: &Geometry, identity: &Identity, segments: &[Segment]) -> Result<(), String> {
    geometry.check()?;
    at_most("capacity_bytes", identity.capacity_bytes, AMOUNT_MAX)?;
    let tallies = || segments.iter().flat_map(|segment| &segment.tallies);
    sum_at_most(wording::WORKLOADS_IOS, AMOUNT_MAX, tallies().map(|tally| tally.ios))?;
    sum_at_most(wording::WORKLOADS_BYTES, AMOUNT_MAX, tallies().map(|tally| tally.bytes))?;
    sum_at_most(wording::WORKLOADS_LATENCIES, SUM_MAX, tallies().map(|tally| tally.latency_ns_sum))?;
    sum_at_most(wording::WORKLOADS_TIME, SUM_MAX, segments.iter().map(|segment| segment.elapsed().0))?;
    let device_counters = segments.iter().filter_map(|segment| segment.device_counters);
    sum_at_most(
        wording::DEVICE_COUNTS_ALL,
        AMOUNT_MAX,
        device_counters.map(|device_counters| device_counters.bytes_read + device_counters.bytes_written),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Op, Outcome};
    use crate::segment::{Recorder as _, SegmentRecorder, Stop};
    use crate::target::Clock;
    use crate::workload::{Until, Workload};

    /// Eight reads of 4 KiB, one a microsecond, of which the slowest and the first are kept.
    fn measured() -> Segment {
        let stream = "op = 'read'\nsize = '4k'\npattern.random = 'whole'\narrival.closed.depth = 1";
        let workload = Workload::new("reads", Until::ops(8), vec![toml::from_str(stream).unwrap()]);
        let mut recorder = SegmentRecorder::default();
        recorder.begin(&workload, Nanos(1000));
        for index in 1..=8 {
            let (due, done) = (Nanos(1000 * index), Nanos(1000 * index + 1000));
            let (op, outcome) = (Op::Read, Outcome::Done);
            let sample =
                Sample { stream: 0, op, outcome, length: 4096, offset: 4096 * index, due, sent: due, done };
            assert!(recorder.record(&[sample]).is_continue());
        }
        recorder.end(Nanos(9000));
        let segment = SegmentRecorder::join(vec![recorder], &workload, Stop::Reached);
        assert_eq!(segment.check(), Ok(()));
        assert!(!segment.slowest.is_empty() && !segment.seconds.cells.is_empty());
        segment
    }

    fn geometry() -> Geometry {
        Geometry {
            capacity: 1 << 30,
            block: 512,
            boundary: None,
            writable: true,
            trims: true,
            carries_data: false,
            clock: Clock::Wall,
        }
    }

    #[test]
    fn times_beyond_a_clock_or_out_of_order_are_refused() {
        const LAST: Nanos = Nanos(i64::MAX as u64);
        type Change = fn(&mut Segment);
        let cases: [(Change, &str); 9] = [
            (
                |segment| segment.started_at = LAST,
                "began and ended is 9223372036854775807 ns, and no clock reads",
            ),
            (
                |segment| segment.ended_at = LAST,
                "began and ended is 9223372036854775807 ns, and no clock reads",
            ),
            (|segment| segment.ended_at = Nanos(1), "began and ended are not in the order of time"),
            (|segment| segment.busy = Nanos(TIME_MAX.0 + 1), "busy is"),
            (|segment| segment.slowest[0].sent = Nanos::ZERO, "due, sent and done of an I/O are not in"),
            (|segment| segment.slowest[0].done = LAST, "due, sent and done of an I/O is"),
            (|segment| segment.slowest[0].offset = u64::MAX, "the offset of an I/O is"),
            (|segment| segment.seconds.cells[0].last = LAST, "the end of a window is"),
            (|segment| segment.seconds.cells[0].latency_ns_max = u64::MAX, "the longest latency of a window"),
        ];
        for (change, reason) in cases {
            let mut segment = measured();
            change(&mut segment);
            let refusal = segment.check().unwrap_err();
            assert!(refusal.starts_with(reason), "{refusal} / {reason}");
        }
        // The last time that a clock can read is allowed.
        let mut segment = measured();
        (segment.ended_at, segment.busy) = (TIME_MAX, TIME_MAX);
        assert_eq!(segment.check(), Ok(()));
    }

    #[test]
    fn counts_that_nothing_can_come_to_are_refused() {
        type Change = fn(&mut Segment);
        let cases: [(Change, &str); 12] = [
            (|segment| segment.tallies[0].stream = 1, "a tally is of stream 1, and the workload has 1"),
            (|segment| segment.tallies[0].ios = u64::MAX, "ios is"),
            (|segment| segment.tallies[0].bytes = AMOUNT_MAX + 1, "bytes is"),
            (|segment| segment.tallies[0].errors = 9, "errors is 9, and can be at most 8"),
            (|segment| segment.tallies[0].short = 9, "short is 9, and can be at most 8"),
            (|segment| segment.tallies[0].latency_ns_sum = SUM_MAX + 1, "latency_ns_sum is"),
            (|segment| segment.tallies = vec![segment.tallies[0].clone(); 1 << 12], "ios is"),
            (|segment| segment.seconds.width = 0, "a window has no width"),
            (|segment| segment.seconds.width = u64::MAX, "the width of a window is"),
            (|segment| segment.seconds.cells[0].ios = u64::MAX, "the I/Os of a window is"),
            (|segment| segment.gigabytes.cells[0].bytes = u64::MAX, "the bytes of a window is"),
            (
                |segment| segment.seconds.cells = vec![Default::default(); 2049],
                "the number of windows is 2049",
            ),
        ];
        for (index, (change, reason)) in cases.into_iter().enumerate() {
            let mut segment = measured();
            if index == 6 {
                segment.tallies[0].ios = AMOUNT_MAX >> 8;
            }
            change(&mut segment);
            let refusal = segment.check().unwrap_err();
            assert!(refusal.starts_with(reason), "{refusal} / {reason}");
        }
    }

    #[test]
    fn counters_that_no_device_comes_to_are_refused() {
        let device_counters =
            Counters { bytes_read: 1 << 40, bytes_written: 1 << 40, devices: 1, ..Counters::default() };
        let mut segment = measured();
        segment.device_counters = Some(device_counters);
        assert_eq!(segment.check(), Ok(()));
        for absurd in [
            Counters { bytes_read: u64::MAX, ..device_counters },
            Counters { bytes_read: AMOUNT_MAX, bytes_written: AMOUNT_MAX, ..device_counters },
            Counters { flushes: Some(u64::MAX), ..device_counters },
            Counters { busy: Nanos(u64::MAX), ..device_counters },
        ] {
            segment.device_counters = Some(absurd);
            assert!(segment.check().is_err(), "{absurd:?}");
        }
    }

    #[test]
    fn what_a_drive_cannot_be_is_refused() {
        type Change = fn(&mut Geometry);
        let cases: [(Change, &str); 5] = [
            (|geometry| geometry.capacity = u64::MAX, "capacity is"),
            (|geometry| geometry.block = 0, "a block of 0 bytes"),
            (|geometry| geometry.block = u32::MAX, "a block of 4294967295 bytes"),
            (|geometry| geometry.boundary = Some(0), "a boundary of 0 bytes"),
            (|geometry| geometry.boundary = Some(u64::MAX), "a boundary of"),
        ];
        assert_eq!(geometry().check(), Ok(()));
        for (change, reason) in cases {
            let mut geometry = geometry();
            change(&mut geometry);
            let refusal = geometry.check().unwrap_err();
            assert!(refusal.starts_with(reason), "{refusal} / {reason}");
        }
    }

    #[test]
    fn workloads_that_are_possible_each_can_be_impossible_together() {
        let identity = |capacity_bytes| Identity {
            name: "/dev/sda".into(),
            kind: crate::drive::TargetKind::Simulated,
            model: None,
            engine: "none".into(),
            capacity_bytes,
            block_bytes: 512,
            facts: Vec::new(),
            caveats: Vec::new(),
            accounting: None,
        };
        let mut long = measured();
        long.ended_at = TIME_MAX;
        assert_eq!(check_all(&geometry(), &identity(1 << 30), &[measured(), long.clone()]), Ok(()));
        let refusal = check_all(&geometry(), &identity(1 << 30), &vec![long; 3]).unwrap_err();
        assert!(refusal.starts_with("the time of all workloads is"), "{refusal}");
        let refusal = check_all(&geometry(), &identity(u64::MAX), &[]).unwrap_err();
        assert!(refusal.starts_with("capacity_bytes is"), "{refusal}");
        let mut large = measured();
        large.tallies[0].bytes = AMOUNT_MAX;
        let refusal = check_all(&geometry(), &identity(1 << 30), &vec![large; 2]).unwrap_err();
        assert!(refusal.starts_with("bytes of all workloads is"), "{refusal}");
    }
}
