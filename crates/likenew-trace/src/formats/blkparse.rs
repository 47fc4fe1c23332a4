//! What blkparse prints by default: `DEVICE CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + COUNT [PROGRAM]`.
//!
//! D is an I/O that leaves for the drive, C its end, R one that leaves again. Of a device that has no D rows,
//! such as one of the device mapper, Q rows are taken. The blk tracer of Linux with its option `blk_classic`
//! prints the same without a sequence. Source: blkparse(1).

use likenew_core::units::Nanos;
use rustc_hash::FxHashSet;

use super::block_layer::{Event, EventKind, device, range};
use super::{Format, Parse};
use crate::error::{LineError, LineProblem};
use crate::intake::{Columns, Intake};
use crate::lines::Cursor;
use crate::notes::Counted;
use crate::wording::expected;

pub(super) const FORMAT: Format = Format::new("blkparse", || Box::<Blkparse>::default());

/// Reads blkparse's output.
#[derive(Default)]
struct Blkparse {
    /// Devices of which Q rows are taken, as their D rows are missing.
    queued: FxHashSet<Box<[u8]>>,
    /// The summary has begun.
    has_ended: bool,
}

/// The first fields of a row.
struct Row<'l> {
    device: &'l [u8],
    at: Nanos,
    at_column: usize,
    action: &'l [u8],
    letters: &'l [u8],
    letters_at: usize,
}

impl Blkparse {
    fn kind(&self, row: &Row<'_>) -> Result<Option<EventKind>, LineError> {
        let takes_queued = !self.queued.is_empty() && self.queued.contains(row.device);
        Ok(match row.action {
            b"D" if takes_queued => {
                return Err(LineError::Line(LineProblem::FirstIssue));
            }
            b"D" => Some(EventKind::Issue),
            b"Q" if takes_queued => Some(EventKind::Issue),
            b"C" => Some(EventKind::Complete),
            b"R" if !takes_queued => Some(EventKind::Requeued),
            _ => None,
        })
    }
}

impl Parse for Blkparse {
    /// What the file begins with shows of which devices it has D rows.
    fn begin(&mut self, ahead: &[u8], _intake: &mut Intake) {
        let rows = ahead.split(|byte| *byte == b'\n').filter_map(|line| {
            let mut cursor = Cursor::new(line);
            row(&mut cursor).ok().flatten()
        });
        let (mut queued, mut issued) = (FxHashSet::<Box<[u8]>>::default(), FxHashSet::<Box<[u8]>>::default());
        for row in rows {
            match row.action {
                b"Q" => queued.insert(row.device.into()),
                b"D" => issued.insert(row.device.into()),
                _ => false,
            };
        }
        queued.retain(|device| !issued.contains(device));
        self.queued = queued;
    }

    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if line[0] == b'#' {
            return Ok(());
        }
        if line.starts_with(b"CPU:") && line.ends_with(b" EVENTS]") {
            intake.notes.count(Counted::LostEvents);
            return Ok(());
        }
        if line.starts_with(b"CPU") || line.starts_with(b"Total (") {
            self.has_ended = true;
        }
        let mut cursor = Cursor::new(line);
        if self.has_ended {
            let is_row = row(&mut cursor).is_ok();
            return if is_row { Err(LineError::at(0, expected::NOTHING_AFTER_SUMMARY)) } else { Ok(()) };
        }
        let Some(row) = row(&mut cursor)? else { return Ok(()) };
        if !row.action.iter().all(u8::is_ascii_alphabetic) || row.action.is_empty() {
            return Err(LineError::at(row.letters_at, expected::ACTION_AND_LETTERS));
        }
        let Some(kind) = self.kind(&row)? else { return Ok(()) };
        let mut columns = Columns { at: row.at_column, ..Columns::default() };
        if cursor.rest().trim_ascii_start().starts_with(b"(") || is_command(cursor.rest()) {
            intake.notes.count(Counted::Commands);
            return Ok(());
        }
        let range = range(&mut cursor, &mut columns)?;
        let Row { device, at, letters, letters_at, .. } = row;
        Event { at, kind, device, letters, letters_at, range, columns }.apply_to(intake)
    }
}

/// Whether this is the end of a row about a command: `36 (12 01 …) [program]`.
fn is_command(rest: &[u8]) -> bool {
    let mut cursor = Cursor::new(rest);
    cursor.skip_blanks();
    cursor.number("").is_ok() && {
        cursor.skip_blanks();
        cursor.peek() == Some(b'(')
    }
}

/// The fields up to the letters, or none where the row is a message.
fn row<'l>(cursor: &mut Cursor<'l>) -> Result<Option<Row<'l>>, LineError> {
    cursor.skip_blanks();
    let device = device(cursor)?;
    cursor.blanks(expected::PROCESSOR)?;
    cursor.number(expected::PROCESSOR)?;
    cursor.blanks(expected::SEQUENCE_OR_TIME)?;
    if !cursor.rest().iter().take_while(|byte| !byte.is_ascii_whitespace()).any(|byte| *byte == b'.') {
        cursor.number(expected::SEQUENCE_OR_TIME)?;
        cursor.blanks(expected::TIME_SECONDS)?;
    }
    let at_column = cursor.at();
    let at = Nanos(cursor.seconds(expected::TIME_SECONDS)?);
    cursor.blanks(expected::PROCESS_NUMBER)?;
    cursor.number(expected::PROCESS_NUMBER)?;
    cursor.blanks(expected::ACTION)?;
    let action = cursor.word();
    // Messages of schedulers have text where others have letters, and plugs can have nothing.
    if matches!(action, b"m" | b"P" | b"U" | b"UT" | b"T") {
        return Ok(None);
    }
    cursor.blanks(expected::LETTERS)?;
    let letters_at = cursor.at();
    let letters = cursor.word();
    Ok(Some(Row { device, at, at_column, action, letters, letters_at }))
}
