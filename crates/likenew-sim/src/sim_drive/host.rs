//! The host of a simulated drive as its probes and fixes use it.

use likenew_core::drive::{Drive as _, Lane, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::lab_error::LabError;
use likenew_core::trim::{Content, TrimMethod, TrimReport, UNIT, pattern};
use likenew_core::units::Nanos;

use super::SimDrive;

/// I/Os of a probe are at most this long, which is what a lane has buffers for.
const CHUNK: u64 = 1 << 20;

/// So many of them are in flight at once where a part is longer.
const DEPTH: u32 = 4;

/// One I/O after the other, in the drive's time.
pub(super) struct Host<'a> {
    lane: Lane<'a>,
    carries_data: bool,
}

impl<'a> Host<'a> {
    pub(super) fn new(drive: &'a mut SimDrive) -> Result<Self, LabError> {
        let carries_data = drive.geometry().carries_data;
        let lane = drive.lanes(&LaneRequirements { lanes: 1, depth: DEPTH, length_max: CHUNK as u32 })?.pop();
        Ok(Self { lane: lane.expect("a drive opens the lanes it was asked for"), carries_data })
    }

    pub(super) fn now(&self) -> Nanos {
        self.lane.now()
    }

    /// The bytes of the next write, or of the last read.
    #[cfg(test)]
    pub(super) fn buffer(&mut self) -> &mut [u8] {
        self.lane.buffer(Slot(0))
    }

    pub(super) fn rest(&mut self, span: Nanos) -> Result<(), LabError> {
        self.rest_until(self.now() + span)
    }

    /// Leaves the drive alone until then.
    pub(super) fn rest_until(&mut self, until: Nanos) -> Result<(), LabError> {
        self.lane.wait(until, &mut Vec::new())
    }

    /// Issues a part of at most [`DEPTH`] times [`CHUNK`] bytes, all of it in flight at once: every byte in the slot of
    /// its place, so that what was read can be written again. Returns how long that took, or where it failed first.
    pub(super) fn issue_part(
        &mut self,
        op: Op,
        offset: u64,
        length: u64,
    ) -> Result<Result<Nanos, u64>, LabError> {
        let batch: Vec<Io> = (0..length.div_ceil(CHUNK))
            .map(|index| Io {
                slot: Slot(index as u32),
                op,
                offset: offset + index * CHUNK,
                length: CHUNK.min(length - index * CHUNK) as u32,
                data: DataClass::Random,
            })
            .collect();
        assert!(batch.len() <= DEPTH as usize, "{length} bytes are more than the buffers hold");
        let sent = self.lane.submit(&batch)?;
        let mut done = Vec::new();
        while done.len() < batch.len() {
            self.lane.wait(Nanos::NEVER, &mut done)?;
        }
        let failed = done.iter().filter(|completion| completion.outcome != Outcome::Done);
        if let Some(first) = failed.map(|completion| completion.slot.0).min() {
            return Ok(Err(offset + u64::from(first) * CHUNK));
        }
        Ok(Ok(done.iter().map(|completion| completion.at).max().unwrap_or(sent) - sent))
    }

    /// Whether the drive did it, and how long that took.
    pub(super) fn issue(&mut self, op: Op, offset: u64, length: u64) -> Result<(bool, Nanos), LabError> {
        let io = Io { slot: Slot(0), op, offset, length: length as u32, data: DataClass::Random };
        let sent = self.lane.submit(&[io])?;
        let mut done = Vec::new();
        while done.is_empty() {
            self.lane.wait(Nanos::NEVER, &mut done)?;
        }
        Ok((done[0].outcome == Outcome::Done, done[0].at - sent))
    }

    pub(super) fn write(&mut self, seed: u64, bytes: u64) -> Result<(), LabError> {
        for offset in (0..bytes).step_by(CHUNK as usize) {
            let length = CHUNK.min(bytes - offset);
            if self.carries_data {
                let buffer = &mut self.lane.buffer(Slot(0))[..length as usize];
                pattern(seed, offset / UNIT as u64, buffer);
            }
            self.issue(Op::Write, offset, length)?;
        }
        self.issue(Op::Flush, 0, 0).map(|_| ())
    }

    pub(super) fn content(&mut self, seed: u64, start: u64, bytes: u64) -> Result<Content, LabError> {
        let mut content = Content::default();
        for offset in (start..start + bytes).step_by(CHUNK as usize) {
            let length = CHUNK.min(start + bytes - offset);
            if self.issue(Op::Read, offset, length)?.0 {
                let held = &self.lane.buffer(Slot(0))[..length as usize];
                content.add(seed, offset / UNIT as u64, held);
            } else {
                content.refused_bytes += length;
            }
        }
        Ok(content)
    }

    pub(super) fn trim(&mut self, offset: u64, bytes: u64) -> Result<TrimReport, LabError> {
        let (started_at, mut accepted) = (self.now(), 0);
        for at in (offset..offset + bytes).step_by(CHUNK as usize) {
            let length = CHUNK.min(offset + bytes - at);
            accepted += if self.issue(Op::Trim, at, length)?.0 { length } else { 0 };
        }
        let elapsed = self.now() - started_at;
        let accepted_bytes = Some(accepted);
        Ok(TrimReport {
            means: TrimMethod::Command,
            bytes,
            accepted_bytes,
            elapsed,
            refusal: None,
            discard_counters: Vec::new(),
        })
    }

    /// Reads one unit.
    pub(super) fn probe(&mut self, unit: u64) -> Result<Nanos, LabError> {
        Ok(self.issue(Op::Read, unit * UNIT as u64, UNIT as u64)?.1)
    }
}
