//! Reads blkparse's default output: `DEVICE CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + COUNT [PROGRAM]`.
//!
//! D is an I/O that goes to the drive, C its end, R an I/O that will go again. Devices without D rows, such as those of
//! the device mapper, are read by their Q rows. Linux's blk tracer with the option `blk_classic` prints the same
//! without a sequence. Source: blkparse(1).

use super::block_layer::{Event, Head, Layers, action, device, is_loss, letters, range};
use super::{Format, Parse};
use crate::error::LineError;
use crate::intake::Intake;
use crate::lines::{Cursor, Value};
use crate::notes::Counted;
use crate::wording::expected;

pub(super) static FORMAT: Format = Format::new("blkparse", || Box::<Blkparse>::default());

/// Reads blkparse's output.
#[derive(Default)]
struct Blkparse {
    layers: Layers,
    /// Whether the summary at the end has begun.
    has_ended: bool,
}

impl Parse for Blkparse {
    /// Learns from the first rows which devices have D rows.
    fn begin(&mut self, ahead: &[u8], _intake: &mut Intake) {
        self.layers.learn_text(ahead, row);
    }

    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if line[0] == b'#' {
            return Ok(());
        }
        if is_loss(line) {
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
        let Head { at, event, .. } = row(&mut cursor)?;
        let Some((device, event)) = event else { return Ok(()) };
        if !self.layers.take(device, event)? {
            return Ok(());
        }
        let (letters, letters_at) = letters(&mut cursor)?;
        if cursor.rest().trim_ascii_start().starts_with(b"(") || is_command(cursor.rest()) {
            intake.notes.count(Counted::Commands);
            return Ok(());
        }
        let range = range(&mut cursor)?;
        Event { at, kind: event.1, device, letters, letters_at, range }.apply_to(intake)
    }
}

/// Whether the row ends like one about a driver's command: `36 (12 01 …) [program]`.
fn is_command(rest: &[u8]) -> bool {
    let mut cursor = Cursor::new(rest);
    cursor.skip_blanks();
    cursor.number("").is_ok() && {
        cursor.skip_blanks();
        cursor.peek() == Some(b'(')
    }
}

/// Reads the fields up to the action.
fn row<'l>(cursor: &mut Cursor<'l>) -> Result<Head<'l>, LineError> {
    cursor.skip_blanks();
    let device = device(cursor)?;
    cursor.blanks(expected::PROCESSOR)?;
    cursor.number(expected::PROCESSOR)?;
    cursor.blanks(expected::SEQUENCE_OR_TIME)?;
    if !cursor.rest().iter().take_while(|byte| !byte.is_ascii_whitespace()).any(|byte| *byte == b'.') {
        cursor.number(expected::SEQUENCE_OR_TIME)?;
        cursor.blanks(expected::TIME_SECONDS)?;
    }
    let at = Value { column: cursor.at(), number: cursor.seconds(expected::TIME_SECONDS)? };
    cursor.blanks(expected::PROCESS_NUMBER)?;
    cursor.number(expected::PROCESS_NUMBER)?;
    cursor.blanks(expected::ACTION)?;
    let line_error = cursor.line_error(expected::ACTION);
    let event = action(cursor.word()).ok_or(line_error)?.map(|event| (device, event));
    Ok(Head { at, name: None, event })
}
