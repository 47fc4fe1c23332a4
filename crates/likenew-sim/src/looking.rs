//! Looks at a simulated drive: what its layers announce, and what its own reads and clock tell of TRIM. None of them asks the model
//! what it does; what is trimmed is told by how it reads.

use likenew_core::drive::{Drive as _, Lane, Need};
use likenew_core::fault::Fault;
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::look::{Look, Seen};
use likenew_core::outlook::Outlook;
use likenew_core::trim::{Content, Means, ReadBack, ReadBackSeen, Sent, UNIT, pattern};
use likenew_core::units::Nanos;

use crate::announced::announced;
use crate::curing;
use crate::sim_drive::SimDrive;

/// I/Os of a look are as long as this at most, which is what a lane has buffers for.
pub(crate) const CHUNK: u64 = 1 << 20;

/// Of a drive with `?facts=off`.
const TOLD_NOTHING: &str =
    "the system tells nothing of this drive, as in a container; ask on the machine itself";

/// Answers a look.
pub(crate) fn look(drive: &mut SimDrive, look: &Look) -> Result<Seen, Fault> {
    Ok(match look {
        Look::Facts => match announced(drive) {
            Some(facts) => Seen::Facts(Box::new(facts)),
            None => Seen::Unknown(TOLD_NOTHING.to_owned()),
        },
        Look::OldFiles => Seen::Unknown("a simulated drive is read as it is".to_owned()),
        Look::Extents => Seen::Unknown("a simulated drive has no file system".to_owned()),
        Look::TrimPath if drive.standing().is_none() => Seen::Unknown(TOLD_NOTHING.to_owned()),
        Look::TrimPath => Seen::TrimPath(drive.trim_path().clone()),
        Look::TrimClaims => Seen::Unknown("a simulated drive has no page of claims".to_owned()),
        Look::TrimReadBack(_) | Look::Release { .. } if !drive.geometry().trims => {
            Seen::Unknown("no TRIM can be sent to it".to_owned())
        }
        Look::TrimReadBack(asked) if asked.bytes_written() > drive.geometry().capacity => {
            Seen::Unknown("it holds less than what was to be written".to_owned())
        }
        Look::TrimReadBack(asked) => Seen::TrimReadBack(Box::new(read_back(drive, asked)?)),
        Look::Outlook => Seen::Outlook(Outlook::default()),
        Look::Cure(cure) => curing::cure(drive, cure)?,
        Look::Release { offset, bytes, wait } => {
            let mut host = Host::new(drive)?;
            let sent = host.trim(*offset, *bytes)?;
            // Some drives obey only once they are left alone.
            host.rest(*wait)?;
            Seen::Released(sent)
        }
    })
}

/// Writes two halves, trims the second, and reads both.
fn read_back(drive: &mut SimDrive, asked: &ReadBack) -> Result<ReadBackSeen, Fault> {
    let carries_data = drive.geometry().carries_data;
    let mut host = Host::new(drive)?;
    let (seed, bytes) = (asked.seed, asked.bytes);
    let mut seen = ReadBackSeen { bytes_written: asked.bytes_written(), ..ReadBackSeen::default() };
    host.write(seed, asked.bytes_written())?;
    if carries_data {
        seen.written = Some(host.content(seed, 0, asked.bytes_written())?);
    } else {
        seen.not_read = Some("a simulated drive holds no bytes unless it is asked to: ?data=on".to_owned());
    }
    seen.sent = host.trim(bytes, bytes)?;
    if carries_data {
        seen.released = Some(host.content(seed, bytes, bytes)?);
    }
    if seen.released.is_none_or(|content| content.pattern_bytes > 0) {
        host.rest(asked.wait)?;
        seen.later = if carries_data { Some(host.content(seed, bytes, bytes)?) } else { None };
    }
    if carries_data {
        seen.kept = Some(host.content(seed, 0, bytes)?);
    }
    let units = bytes / UNIT as u64;
    let mut draw = [0; UNIT];
    for probe in 0..u64::from(asked.probes) {
        pattern(!seed, probe, &mut draw);
        let word = |at: usize| u64::from_le_bytes(draw[at..at + 8].try_into().expect("eight bytes"));
        let (kept, released) = (word(0) % units, units + word(8) % units);
        seen.probes_kept_ns.push(host.probe(kept)?.0);
        seen.probes_released_ns.push(host.probe(released)?.0);
    }
    Ok(seen)
}

/// One I/O after the other, in the drive's time.
pub(crate) struct Host<'a> {
    lane: Lane<'a>,
    carries_data: bool,
}

impl<'a> Host<'a> {
    pub(crate) fn new(drive: &'a mut SimDrive) -> Result<Self, Fault> {
        let carries_data = drive.geometry().carries_data;
        let lane = drive.lanes(&Need { lanes: 1, depth: 1, length_max: CHUNK as u32 })?.pop();
        Ok(Self { lane: lane.expect("a drive opens the lanes it was asked for"), carries_data })
    }

    pub(crate) fn now(&self) -> Nanos {
        self.lane.now()
    }

    /// What the next write brings, or the last read has brought.
    #[cfg(test)]
    pub(crate) fn buffer(&mut self) -> &mut [u8] {
        self.lane.buffer(Slot(0))
    }

    fn rest(&mut self, span: Nanos) -> Result<(), Fault> {
        let until = self.now() + span;
        self.lane.wait(until, &mut Vec::new())
    }

    /// Whether the drive did it, and how long that took.
    pub(crate) fn issue(&mut self, op: Op, offset: u64, length: u64) -> Result<(bool, Nanos), Fault> {
        let io = Io { slot: Slot(0), op, offset, length: length as u32, data: DataClass::Random };
        let sent = self.lane.submit(&[io])?;
        let mut done = Vec::new();
        while done.is_empty() {
            self.lane.wait(Nanos::NEVER, &mut done)?;
        }
        Ok((done[0].outcome == Outcome::Done, done[0].at - sent))
    }

    fn write(&mut self, seed: u64, bytes: u64) -> Result<(), Fault> {
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

    fn content(&mut self, seed: u64, start: u64, bytes: u64) -> Result<Content, Fault> {
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

    pub(crate) fn trim(&mut self, offset: u64, bytes: u64) -> Result<Sent, Fault> {
        let (began, mut accepted) = (self.now(), 0);
        for at in (offset..offset + bytes).step_by(CHUNK as usize) {
            let length = CHUNK.min(offset + bytes - at);
            accepted += if self.issue(Op::Trim, at, length)?.0 { length } else { 0 };
        }
        let took = self.now() - began;
        let accepted_bytes = Some(accepted);
        Ok(Sent { means: Means::Command, bytes, accepted_bytes, took, refused: None, counted: Vec::new() })
    }

    /// Reads one unit.
    fn probe(&mut self, unit: u64) -> Result<Nanos, Fault> {
        Ok(self.issue(Op::Read, unit * UNIT as u64, UNIT as u64)?.1)
    }
}
