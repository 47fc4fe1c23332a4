//! Probes of a simulated drive: what its layers report, and what its own reads and clock show of TRIM. None
//! of them asks the model for the answer; whether a range is trimmed shows in how it reads.

use likenew_core::drive::{Drive as _, Lane, LaneRequirements};
use likenew_core::feasibility::Feasibility;
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::lab_error::LabError;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::trim::{Content, ReadBack, ReadBackResult, TrimMethod, TrimReport, UNIT, pattern};
use likenew_core::units::Nanos;

use crate::fixing;
use crate::machine_facts::machine_facts;
use crate::sim_drive::SimDrive;
use crate::wording::host as wording;

/// I/Os of a probe are at most this long, which is what a lane has buffers for.
pub(crate) const CHUNK: u64 = 1 << 20;

/// So many of them are in flight at once where a part is longer.
const DEPTH: u32 = 4;

/// Answers a probe.
pub(crate) fn probe(drive: &mut SimDrive, probe: &Probe) -> Result<ProbeResult, LabError> {
    let unknown = |reason: &str| ProbeResult::Unknown(reason.to_owned());
    Ok(match probe {
        Probe::Facts => match machine_facts(drive) {
            Some(facts) => ProbeResult::Facts(Box::new(facts)),
            None => unknown(wording::NO_FACTS),
        },
        Probe::OldFiles => unknown(wording::NO_OLD_FILES),
        Probe::Extents => unknown(wording::NO_FILE_SYSTEM),
        Probe::TrimPath if drive.static_facts().is_none() => unknown(wording::NO_FACTS),
        Probe::TrimPath => ProbeResult::TrimPath(drive.trim_path().clone()),
        Probe::TrimClaims => unknown(wording::NO_TRIM_DETAILS),
        Probe::TrimReadBack(_) | Probe::Release { .. } if !drive.geometry().trims => {
            unknown(wording::NO_TRIM)
        }
        Probe::TrimReadBack(asked) if asked.bytes_written() > drive.geometry().capacity => {
            unknown(wording::TOO_SMALL)
        }
        Probe::TrimReadBack(asked) => ProbeResult::TrimReadBack(Box::new(read_back(drive, asked)?)),
        Probe::Feasibility => ProbeResult::Feasibility(Feasibility::default()),
        Probe::Fix(fix) => fixing::fix(drive, fix)?,
        Probe::Release { offset, bytes, wait } => {
            let mut host = Host::new(drive)?;
            let sent = host.trim(*offset, *bytes)?;
            // Some drives act on TRIM only when idle.
            host.rest(*wait)?;
            ProbeResult::Released(sent)
        }
    })
}

/// Writes two halves, trims the second, and reads both.
fn read_back(drive: &mut SimDrive, asked: &ReadBack) -> Result<ReadBackResult, LabError> {
    let carries_data = drive.geometry().carries_data;
    let mut host = Host::new(drive)?;
    let (seed, bytes) = (asked.seed, asked.bytes);
    let mut result = ReadBackResult { bytes_written: asked.bytes_written(), ..ReadBackResult::default() };
    host.write(seed, asked.bytes_written())?;
    if carries_data {
        result.before_release = Some(host.content(seed, 0, asked.bytes_written())?);
    } else {
        result.read_error = Some(wording::HOLDS_NO_BYTES.to_owned());
    }
    result.sent = host.trim(bytes, bytes)?;
    if carries_data {
        result.released_half = Some(host.content(seed, bytes, bytes)?);
    }
    if result.released_half.is_none_or(|content| content.pattern_bytes > 0) {
        host.rest(asked.wait)?;
        result.released_half_later =
            if carries_data { Some(host.content(seed, bytes, bytes)?) } else { None };
    }
    if carries_data {
        result.kept_half = Some(host.content(seed, 0, bytes)?);
    }
    let units = bytes / UNIT as u64;
    let mut draw = [0; UNIT];
    for probe in 0..u64::from(asked.probes) {
        pattern(!seed, probe, &mut draw);
        let word = |at: usize| u64::from_le_bytes(draw[at..at + 8].try_into().expect("eight bytes"));
        let (kept, released) = (word(0) % units, units + word(8) % units);
        result.probes_kept_ns.push(host.probe(kept)?.0);
        result.probes_released_ns.push(host.probe(released)?.0);
    }
    Ok(result)
}

/// One I/O after the other, in the drive's time.
pub(crate) struct Host<'a> {
    lane: Lane<'a>,
    carries_data: bool,
}

impl<'a> Host<'a> {
    pub(crate) fn new(drive: &'a mut SimDrive) -> Result<Self, LabError> {
        let carries_data = drive.geometry().carries_data;
        let lane = drive.lanes(&LaneRequirements { lanes: 1, depth: DEPTH, length_max: CHUNK as u32 })?.pop();
        Ok(Self { lane: lane.expect("a drive opens the lanes it was asked for"), carries_data })
    }

    pub(crate) fn now(&self) -> Nanos {
        self.lane.now()
    }

    /// The bytes of the next write, or of the last read.
    #[cfg(test)]
    pub(crate) fn buffer(&mut self) -> &mut [u8] {
        self.lane.buffer(Slot(0))
    }

    fn rest(&mut self, span: Nanos) -> Result<(), LabError> {
        self.rest_until(self.now() + span)
    }

    /// Leaves the drive alone until then.
    pub(crate) fn rest_until(&mut self, until: Nanos) -> Result<(), LabError> {
        self.lane.wait(until, &mut Vec::new())
    }

    /// Does so with a part of at most [`DEPTH`] times [`CHUNK`] bytes, all of it in flight at once: every byte in the slot of its
    /// place, so that what was read can be written again. How long that took, or where it failed first.
    pub(crate) fn issue_part(
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
    pub(crate) fn issue(&mut self, op: Op, offset: u64, length: u64) -> Result<(bool, Nanos), LabError> {
        let io = Io { slot: Slot(0), op, offset, length: length as u32, data: DataClass::Random };
        let sent = self.lane.submit(&[io])?;
        let mut done = Vec::new();
        while done.is_empty() {
            self.lane.wait(Nanos::NEVER, &mut done)?;
        }
        Ok((done[0].outcome == Outcome::Done, done[0].at - sent))
    }

    fn write(&mut self, seed: u64, bytes: u64) -> Result<(), LabError> {
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

    fn content(&mut self, seed: u64, start: u64, bytes: u64) -> Result<Content, LabError> {
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

    pub(crate) fn trim(&mut self, offset: u64, bytes: u64) -> Result<TrimReport, LabError> {
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
    fn probe(&mut self, unit: u64) -> Result<Nanos, LabError> {
        Ok(self.issue(Op::Read, unit * UNIT as u64, UNIT as u64)?.1)
    }
}
