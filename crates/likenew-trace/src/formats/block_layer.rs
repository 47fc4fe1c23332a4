//! Events of a request in Linux's block layer, as blkparse and tracefs print them.
//!
//! The letters of a request, such as `WS` or `FWFSM`: F for a flush before it, then the operation, then F (through to the
//! medium), A (read ahead), S (a program waits for it), M (metadata). Source: `blk_fill_rwbs` of Linux.

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;
use rustc_hash::FxHashSet;

use super::SECTOR;
use crate::error::{LineError, LineProblem};
use crate::intake::{Columns, Intake};
use crate::lines::Cursor;
use crate::notes::Counted;
use crate::wording::expected;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// An I/O as a file system or a program submits it to a device.
    Bio,
    /// What the device's driver gets: one bio, or several that were merged.
    Request,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    /// It leaves for the drive.
    Issue,
    /// It, or a part of it, ends.
    Complete,
    /// The drive did not take it; it will leave again.
    Requeued,
}

/// What an action of blktrace means for the I/Os of a device, such as `D`; `None` where it is no letter. Source:
/// blkparse(1), "Trace actions".
pub(super) fn action(letters: &[u8]) -> Option<Option<(Layer, EventKind)>> {
    Some(match letters {
        b"Q" => Some((Layer::Bio, EventKind::Issue)),
        b"D" => Some((Layer::Request, EventKind::Issue)),
        b"C" => Some((Layer::Request, EventKind::Complete)),
        b"R" => Some((Layer::Request, EventKind::Requeued)),
        [_, ..] if letters.iter().all(u8::is_ascii_alphabetic) => None,
        _ => return None,
    })
}

/// Which events of each device are its I/Os: those of requests or, where a device has none, those of bios. So each I/O
/// counts once, and devices of the device mapper and of NVMe multipath, which have bios alone, are read as well.
#[derive(Default)]
pub(super) struct Layers {
    /// Devices that begin without requests.
    bios: FxHashSet<Box<[u8]>>,
    requests: FxHashSet<Box<[u8]>>,
}

impl Layers {
    /// Takes the devices of the events with which a file begins.
    pub(super) fn learn<'l>(&mut self, events: impl Iterator<Item = (&'l [u8], (Layer, EventKind))>) {
        for (device, (layer, kind)) in events {
            let devices = if layer == Layer::Bio { &mut self.bios } else { &mut self.requests };
            if kind == EventKind::Issue && !devices.contains(device) {
                devices.insert(device.into());
            }
        }
        self.bios.retain(|device| !self.requests.contains(device));
    }

    /// Whether this event is one of an I/O of the device.
    ///
    /// # Errors
    /// The device has requests after all.
    pub(super) fn take(&self, device: &[u8], (layer, kind): (Layer, EventKind)) -> Result<bool, LineError> {
        let takes_bios = !self.bios.is_empty() && self.bios.contains(device);
        match (layer, kind) {
            (Layer::Bio, _) => Ok(takes_bios),
            (Layer::Request, EventKind::Issue) if takes_bios => {
                Err(LineError::Line(LineProblem::FirstRequest))
            }
            (Layer::Request, EventKind::Requeued) => Ok(!takes_bios),
            // blktrace has the same action for the end of both.
            (Layer::Request, _) => Ok(true),
        }
    }
}

/// An event, and the place of its values in the line.
pub(super) struct Event<'l> {
    pub(super) at: Nanos,
    pub(super) kind: EventKind,
    pub(super) device: &'l [u8],
    pub(super) letters: &'l [u8],
    pub(super) letters_at: usize,
    pub(super) range: Range<'l>,
    pub(super) columns: Columns,
}

impl Event<'_> {
    /// Passes it on, if it is about the volume that is read.
    pub(super) fn apply_to(self, intake: &mut Intake) -> Result<(), LineError> {
        let moved = payload(self.letters, self.range.sectors);
        let moved = moved.ok_or(LineError::at(self.letters_at, expected::KNOWN_LETTERS))?;
        let Payload::Io(op) = moved else {
            intake.notes.count(Counted::NoBlocks);
            return Ok(());
        };
        let (offset, length) = self.range.bytes(self.columns)?;
        match self.kind {
            EventKind::Issue => {
                if !intake.volumes.selects(self.device)? {
                    return Ok(());
                }
                let application = intake.applications.index(self.range.bracket);
                let io = TraceIo { at: self.at, op, offset, length, latency: None, application };
                intake.issue(io, self.columns)
            }
            _ if !intake.volumes.is_chosen(self.device) => Ok(()),
            EventKind::Complete => {
                if !matches!(self.range.bracket, b"0" | b"") {
                    intake.notes.count(Counted::Failures);
                }
                intake.complete(op, offset, length, self.at)
            }
            EventKind::Requeued => intake.requeue(op, offset),
        }
    }
}

/// The letters of a request, and their place.
pub(super) fn letters<'l>(cursor: &mut Cursor<'l>) -> Result<(&'l [u8], usize), LineError> {
    cursor.blanks(expected::LETTERS)?;
    let at = cursor.at();
    Ok((cursor.word(), at))
}

/// The range of a request and the text in its brackets.
pub(super) struct Range<'l> {
    pub(super) sector: u64,
    pub(super) sectors: u64,
    /// The program at the beginning of an I/O, the error at its end.
    pub(super) bracket: &'l [u8],
}

/// Reads `SECTOR + COUNT (…) … [BRACKET]`. A request without blocks has `SECTOR [BRACKET]` or the bracket alone.
pub(super) fn range<'l>(cursor: &mut Cursor<'l>, columns: &mut Columns) -> Result<Range<'l>, LineError> {
    cursor.skip_blanks();
    columns.offset = cursor.at();
    let (mut sector, mut sectors) = (0, 0);
    if cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        sector = cursor.number(expected::SECTOR)?;
        cursor.skip_blanks();
    }
    if cursor.take(b'+') {
        cursor.skip_blanks();
        columns.length = cursor.at();
        sectors = cursor.number(expected::SECTOR_COUNT)?;
    }
    Ok(Range { sector, sectors, bracket: bracket(cursor)? })
}

impl Range<'_> {
    /// First byte and length.
    pub(super) fn bytes(&self, columns: Columns) -> Result<(u64, u64), LineError> {
        if self.sectors == 0 {
            return Ok((0, 0));
        }
        let offset = self
            .sector
            .checked_mul(SECTOR)
            .ok_or(LineError::at(columns.offset, expected::SECTOR_IN_RANGE))?;
        let length = self.sectors.checked_mul(SECTOR);
        Ok((offset, length.ok_or(LineError::at(columns.length, expected::SECTOR_COUNT_IN_RANGE))?))
    }
}

/// What stands between the first bracket that opens and the last that closes.
fn bracket<'l>(cursor: &mut Cursor<'l>) -> Result<&'l [u8], LineError> {
    let rest = cursor.rest();
    let from = memchr::memchr(b'[', rest);
    let to = memchr::memrchr(b']', rest);
    match (from, to) {
        (Some(from), Some(to)) if from < to && rest[to + 1..].trim_ascii().is_empty() => {
            Ok(&rest[from + 1..to])
        }
        _ => Err(cursor.line_error(expected::PROGRAM_OR_ERROR)),
    }
}

/// What a request moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    /// Blocks, or what was written before it.
    Io(Op),
    /// Nothing that a trace holds: commands of drivers, zones.
    Nothing,
}

/// What these letters mean; `None` for any other text.
pub(super) fn payload(letters: &[u8], sectors: u64) -> Option<Payload> {
    if letters.is_empty() || !letters.iter().all(|letter| b"RWDEFNZASMUVBP".contains(letter)) {
        return None;
    }
    let flushes = letters[0] == b'F';
    let operation = letters.get(usize::from(flushes)).copied();
    Some(match operation {
        _ if flushes && sectors == 0 => Payload::Io(Op::Flush),
        _ if sectors == 0 => Payload::Nothing,
        Some(b'R') => Payload::Io(Op::Read),
        Some(b'W') => Payload::Io(Op::Write),
        Some(b'D') => Payload::Io(Op::Trim),
        // Appending to a zone.
        Some(b'Z') if letters.get(1) == Some(&b'A') => Payload::Io(Op::Write),
        _ => Payload::Nothing,
    })
}

/// A device, such as `8,0`.
pub(super) fn device<'l>(cursor: &mut Cursor<'l>) -> Result<&'l [u8], LineError> {
    let from = cursor.at();
    cursor.number(expected::DEVICE)?;
    cursor.pass(b',', expected::DEVICE)?;
    cursor.number(expected::DEVICE)?;
    Ok(cursor.slice_from(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_what_moves() {
        for (letters, sectors, op) in [
            ("R", 8, Some(Op::Read)),
            ("RAM", 8, Some(Op::Read)),
            ("WS", 8, Some(Op::Write)),
            ("FWFS", 8, Some(Op::Write)),
            ("FWS", 0, Some(Op::Flush)),
            ("FF", 0, Some(Op::Flush)),
            ("FN", 0, Some(Op::Flush)),
            ("F", 0, Some(Op::Flush)),
            ("D", 8, Some(Op::Trim)),
            ("DE", 8, Some(Op::Trim)),
            ("ZA", 8, Some(Op::Write)),
            ("ZR", 8, None),
            ("N", 0, None),
            ("R", 0, None),
        ] {
            let expected = op.map_or(Payload::Nothing, Payload::Io);
            assert_eq!(payload(letters.as_bytes(), sectors), Some(expected), "{letters} {sectors}");
        }
        assert_eq!(payload(b"xyz", 8), None);
        assert_eq!(payload(b"", 8), None);
    }
}
