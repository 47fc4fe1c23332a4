//! Whether numbers that were read can have been measured.
//!
//! A run folder lies where anybody can change it, and disks rot. What is computed of evidence adds times and amounts up and takes them from each
//! other; numbers near the ends of their types, or a time before the one that it follows, would make that go wrong in any of a hundred places.
//! So evidence is asked once, where it is read.

use crate::look::Sight;
use crate::procedure::Evidence;
use crate::sample::Sample;
use crate::segment::Segment;
use crate::target::Geometry;
use crate::units::{Nanos, amount};
use crate::windows::Windows;

/// No drive's clock reads more: 70 years. Twice that fits into 64 bits with a sign.
const TIME_MAX: Nanos = Nanos(1 << 61);
/// No drive holds more, and nothing moves more: 1 EiB. So much of each of a run's counts, and of all of them together.
const AMOUNT_MAX: u64 = 1 << 60;
/// Latencies add up over all I/Os in flight: 4096 of them for as long as a clock can read would be more than 64 bits.
const SUM_MAX: u64 = 1 << 62;
/// No block is longer: 16 MiB.
const BLOCK_MAX: u32 = 16 << 20;

fn time(name: &str, at: Nanos) -> Result<(), String> {
    if at <= TIME_MAX {
        Ok(())
    } else {
        Err(format!("{name} is {} ns, and no clock reads more than 70 years", at.0))
    }
}

fn at_most(name: &str, count: u64, most: u64) -> Result<(), String> {
    if count <= most { Ok(()) } else { Err(format!("{name} is {count}, and can be at most {most}")) }
}

fn in_order(names: &str, times: &[Nanos]) -> Result<(), String> {
    for at in times {
        time(names, *at)?;
    }
    let is_sorted = times.is_sorted();
    if is_sorted { Ok(()) } else { Err(format!("{names} are not in the order of time")) }
}

impl Geometry {
    /// Whether a drive can have this geometry.
    ///
    /// # Errors
    /// A sentence that names what it cannot have.
    pub fn check(&self) -> Result<(), String> {
        at_most("capacity", self.capacity, AMOUNT_MAX)?;
        if self.block == 0 || self.block > BLOCK_MAX {
            return Err(format!(
                "a block of {} bytes is none from 1 byte to {}",
                self.block,
                amount(BLOCK_MAX.into())
            ));
        }
        match self.boundary {
            Some(boundary) if boundary == 0 || boundary > AMOUNT_MAX => {
                Err(format!("a boundary of {boundary} bytes is none from 1 byte to 1 EiB"))
            }
            _ => Ok(()),
        }
    }
}

impl Sample {
    /// Whether it can have been measured.
    ///
    /// # Errors
    /// A sentence that names what cannot be.
    pub fn check(&self) -> Result<(), String> {
        at_most("the offset of an I/O", self.offset, AMOUNT_MAX)?;
        in_order("due, sent and done of an I/O", &[self.due, self.sent, self.done])
    }
}

impl Windows {
    /// Whether it can have been counted.
    ///
    /// # Errors
    /// A sentence that names what cannot be.
    pub fn check(&self) -> Result<(), String> {
        if self.width == 0 {
            return Err("a window has no width".into());
        }
        at_most("the number of windows", self.cells.len() as u64, Self::CELLS_MAX as u64)?;
        // Positions are multiples of the width.
        at_most("the width of a window", self.width, SUM_MAX / Self::CELLS_MAX as u64)?;
        for cell in &self.cells {
            at_most("the I/Os of a window", cell.ios, AMOUNT_MAX)?;
            at_most("the bytes of a window", cell.bytes, AMOUNT_MAX)?;
            at_most("the latencies of a window", cell.latency_ns_sum, SUM_MAX)?;
            at_most("the longest latency of a window", cell.latency_ns_max, TIME_MAX.0)?;
            time("the end of a window", cell.last)?;
        }
        all("the I/Os of all windows", AMOUNT_MAX, self.cells.iter().map(|cell| cell.ios))?;
        all("the bytes of all windows", AMOUNT_MAX, self.cells.iter().map(|cell| cell.bytes))?;
        all("the latencies of all windows", SUM_MAX, self.cells.iter().map(|cell| cell.latency_ns_sum))
    }
}

/// Whether counts add up to no more than that.
fn all(name: &str, most: u64, counts: impl Iterator<Item = u64>) -> Result<(), String> {
    let sum = counts.fold(0, u64::saturating_add);
    at_most(name, sum, most)
}

impl Segment {
    /// Whether it can have been measured.
    ///
    /// # Errors
    /// A sentence that names what cannot be.
    pub fn check(&self) -> Result<(), String> {
        in_order("began and ended", &[self.began, self.ended])?;
        time("busy", self.busy)?;
        for tally in &self.tallies {
            let streams = self.workload.stream_count();
            if usize::from(tally.stream) >= streams.max(1) {
                return Err(format!("a tally is of stream {}, and the workload has {streams}", tally.stream));
            }
            at_most("latency_ns_sum", tally.latency_ns_sum, SUM_MAX)?;
            at_most("errors", tally.errors, tally.ios)?;
            at_most("short", tally.short, tally.ios)?;
            at_most("the latencies of a tally", tally.latency.count(), AMOUNT_MAX)?;
        }
        all("ios", AMOUNT_MAX, self.tallies.iter().map(|tally| tally.ios))?;
        all("bytes", AMOUNT_MAX, self.tallies.iter().map(|tally| tally.bytes))?;
        all("latency_ns_sum of all tallies", SUM_MAX, self.tallies.iter().map(|tally| tally.latency_ns_sum))?;
        self.seconds.check()?;
        self.gigabytes.check()?;
        let samples = [&self.slowest, &self.refused, &self.samples].into_iter().flatten();
        samples.map(Sample::check).find(Result::is_err).unwrap_or(Ok(()))
    }
}

impl Sight {
    /// Whether it can have been taken.
    ///
    /// # Errors
    /// A sentence that names what cannot be.
    pub fn check(&self) -> Result<(), String> {
        in_order("began and ended", &[self.began, self.ended])?;
        at_most("the bytes that were written for it", self.bytes_written(), AMOUNT_MAX)
    }
}

impl Evidence {
    /// Whether all of it together can have been measured. Each part was asked by itself.
    ///
    /// # Errors
    /// A sentence that names what cannot be.
    pub fn check(&self) -> Result<(), String> {
        self.geometry.check()?;
        at_most("capacity_bytes", self.identity.capacity_bytes, AMOUNT_MAX)?;
        let tallies = || self.segments.iter().flat_map(|segment| &segment.tallies);
        all("ios of all workloads", AMOUNT_MAX, tallies().map(|tally| tally.ios))?;
        all("bytes of all workloads", AMOUNT_MAX, tallies().map(|tally| tally.bytes))?;
        all("latencies of all workloads", SUM_MAX, tallies().map(|tally| tally.latency_ns_sum))?;
        all("the time of all workloads", SUM_MAX, self.segments.iter().map(|segment| segment.elapsed().0))
    }
}
