//! Events of Linux's block layer, as blkparse, blktrace and tracefs record them.
//!
//! A request has letters such as `WS` or `FWFSM`: F for a flush before it, then the operation, then F (FUA: through to
//! the medium), A (read ahead), S (a program waits for it), M (metadata). Source: `blk_fill_rwbs` of Linux.

use likenew_core::io::Op;
use likenew_core::units::Nanos;
use rustc_hash::FxHashSet;

use super::SECTOR;
use crate::error::{LineError, LineProblem};
use crate::intake::{Intake, Row};
use crate::lines::{Cursor, Value};
use crate::notes::Counted;
use crate::wording::expected;

/// The layer in which an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// An I/O as a file system or a program submits it to a device.
    Bio,
    /// An I/O for the device's driver: one bio, or several that were merged.
    Request,
}

/// A step in an I/O's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    /// The I/O goes to the drive.
    Issue,
    /// The I/O, or a part of it, ends.
    Complete,
    /// The drive did not accept the I/O; it will go again.
    Requeued,
}

/// The event for an action of blktrace, such as `D`; `None` for text that is no action. Source: blkparse(1), "Trace
/// actions".
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

/// Decides which events count as a device's I/Os, so that each I/O counts once: its requests or, without any, its bios.
/// The device mapper and NVMe multipath only have bios.
#[derive(Default)]
pub(super) struct Layers {
    /// Devices that have bios and no requests at the file's beginning.
    bios: FxHashSet<Box<[u8]>>,
    requests: FxHashSet<Box<[u8]>>,
}

impl Layers {
    /// Learns the layers of devices from the file's first events.
    pub(super) fn learn<'l>(&mut self, events: impl Iterator<Item = (&'l [u8], (Layer, EventKind))>) {
        for (device, (layer, kind)) in events {
            let devices = if layer == Layer::Bio { &mut self.bios } else { &mut self.requests };
            if kind == EventKind::Issue && !devices.contains(device) {
                devices.insert(device.into());
            }
        }
        self.bios.retain(|device| !self.requests.contains(device));
    }

    /// Learns the layers of devices from the file's first lines of text.
    pub(super) fn learn_text(&mut self, ahead: &[u8], head: ReadHead) {
        let heads = ahead.split(|byte| *byte == b'\n').filter_map(|line| head(&mut Cursor::new(line)).ok());
        self.learn(heads.filter_map(|head| head.event));
    }

    /// Whether this event counts.
    ///
    /// # Errors
    /// A device that was read by its bios has requests after all.
    pub(super) fn take(&self, device: &[u8], (layer, kind): (Layer, EventKind)) -> Result<bool, LineError> {
        let takes_bios = !self.bios.is_empty() && self.bios.contains(device);
        match (layer, kind) {
            (Layer::Bio, _) => Ok(takes_bios),
            (Layer::Request, EventKind::Issue) if takes_bios => {
                Err(LineError::Line(LineProblem::FirstRequest))
            }
            (Layer::Request, EventKind::Requeued) => Ok(!takes_bios),
            // blktrace uses one action for the end of a request and of a bio.
            (Layer::Request, _) => Ok(true),
        }
    }
}

/// The first fields of a line of text.
pub(super) struct Head<'l> {
    pub(super) at: Value,
    /// Name of the event, where it is not an action of blktrace.
    pub(super) name: Option<&'l [u8]>,
    /// The device and the step in an I/O's life, if the line is about an I/O.
    pub(super) event: Option<(&'l [u8], (Layer, EventKind))>,
}

/// Reads the first fields of a line.
pub(super) type ReadHead = for<'l> fn(&mut Cursor<'l>) -> Result<Head<'l>, LineError>;

/// Whether the kernel says in this line that events were lost.
pub(super) fn is_loss(line: &[u8]) -> bool {
    line.starts_with(b"CPU:") && line.ends_with(b" EVENTS]")
}

/// An event of one line.
pub(super) struct Event<'l> {
    pub(super) at: Value,
    pub(super) kind: EventKind,
    pub(super) device: &'l [u8],
    pub(super) letters: &'l [u8],
    pub(super) letters_at: usize,
    pub(super) range: Range<'l>,
}

impl Event<'_> {
    /// Passes the event to `intake` if it concerns the selected volume.
    pub(super) fn apply_to(self, intake: &mut Intake) -> Result<(), LineError> {
        let moved = payload(self.letters, self.range.sectors.number);
        let moved = moved.ok_or(LineError::at(self.letters_at, expected::KNOWN_LETTERS))?;
        let Payload::Io(op) = moved else {
            intake.notes.count(Counted::NoBlocks);
            return Ok(());
        };
        let (offset, length) = self.range.bytes()?;
        match self.kind {
            EventKind::Issue => {
                if !intake.volumes.selects(self.device)? {
                    return Ok(());
                }
                let application = intake.applications.index(self.range.bracket);
                intake.issue(Row { at: self.at, op, offset, length, latency: None }, application)
            }
            _ if !intake.volumes.is_chosen(self.device) => Ok(()),
            EventKind::Complete => {
                if !matches!(self.range.bracket, b"0" | b"") {
                    intake.notes.count(Counted::Failures);
                }
                intake.complete(op, offset.number, length.number, Nanos(self.at.number))
            }
            EventKind::Requeued => intake.requeue(op, offset.number),
        }
    }
}

/// Reads the letters of a request; returns their column, too.
pub(super) fn letters<'l>(cursor: &mut Cursor<'l>) -> Result<(&'l [u8], usize), LineError> {
    cursor.blanks(expected::LETTERS)?;
    let at = cursor.at();
    Ok((cursor.word(), at))
}

/// The sectors of a request, and the text in brackets after them.
pub(super) struct Range<'l> {
    pub(super) sector: Value,
    pub(super) sectors: Value,
    /// In an issue event the program, in a completion the error.
    pub(super) bracket: &'l [u8],
}

/// Reads `SECTOR + COUNT (…) … [BRACKET]`. A request without blocks has `SECTOR [BRACKET]` or only the bracket.
pub(super) fn range<'l>(cursor: &mut Cursor<'l>) -> Result<Range<'l>, LineError> {
    cursor.skip_blanks();
    let mut sector = Value { number: 0, column: cursor.at() };
    if cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        sector.number = cursor.number(expected::SECTOR)?;
        cursor.skip_blanks();
    }
    let mut sectors = Value::default();
    if cursor.take(b'+') {
        cursor.skip_blanks();
        sectors = Value { column: cursor.at(), number: cursor.number(expected::SECTOR_COUNT)? };
    }
    Ok(Range { sector, sectors, bracket: bracket(cursor)? })
}

impl Range<'_> {
    /// First byte and length in bytes.
    pub(super) fn bytes(&self) -> Result<(Value, Value), LineError> {
        let Self { sector, sectors, .. } = *self;
        if sectors.number == 0 {
            return Ok((Value { number: 0, ..sector }, sectors));
        }
        let bytes = |count: Value, expected: &'static str| match count.number.checked_mul(SECTOR) {
            Some(number) => Ok(Value { number, ..count }),
            None => Err(LineError::at(count.column, expected)),
        };
        Ok((bytes(sector, expected::SECTOR_IN_RANGE)?, bytes(sectors, expected::SECTOR_COUNT_IN_RANGE)?))
    }
}

/// The text between the first opening and the last closing bracket.
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

/// The kind of a request, in terms of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    /// A read, write, trim or flush.
    Io(Op),
    /// Something that a trace does not contain: driver commands, zone management.
    Nothing,
}

/// The payload for these letters; `None` if they are unknown.
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
        // A zone append is a write.
        Some(b'Z') if letters.get(1) == Some(&b'A') => Payload::Io(Op::Write),
        _ => Payload::Nothing,
    })
}

/// Reads a device, such as `8,0`.
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
