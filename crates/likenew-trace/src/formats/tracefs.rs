//! Text of Linux's tracefs (`trace`, `trace_pipe`) and of `trace-cmd report`: events of the block layer and
//! the blk tracer.
//!
//! `PROGRAM-PID [CPU] FLAGS SECONDS: block_rq_issue: DEVICE RWBS BYTES (COMMAND) SECTOR + COUNT [PRIORITY] [PROGRAM]`,
//! and `block_rq_complete` with an error in the brackets and without bytes; the blk tracer has
//! `DEVICE ACTION RWBS …` in place of the event. Times are those of the trace's clock, usually to the
//! microsecond. Source: `include/trace/events/block.h` and `kernel/trace/blktrace.c` of Linux; kernels since
//! 6.9 print the priority of a request as well.

use likenew_core::units::Nanos;

use super::block_layer::{Event, EventKind, device, range};
use super::{Format, Parse};
use crate::error::LineError;
use crate::intake::{Columns, Intake};
use crate::lines::Cursor;
use crate::notes::Counted;
use crate::wording::expected;

pub(super) const FORMAT: Format =
    Format { magic: Some("# tracer: "), ..Format::new("tracefs", || Box::new(Tracefs)) };

/// Reads text of tracefs.
struct Tracefs;

impl Parse for Tracefs {
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if line[0] == b'#' || line.starts_with(b"cpus=") || line.trim_ascii().is_empty() {
            return Ok(());
        }
        if line.starts_with(b"CPU:") && line.ends_with(b" EVENTS]") {
            intake.notes.count(Counted::LostEvents);
            return Ok(());
        }
        let mut cursor = Cursor::new(line);
        let (at, at_column) = time(&mut cursor)?;
        cursor.skip_blanks();
        let columns = Columns { at: at_column, ..Columns::default() };
        if cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return blk_tracer(cursor, at, columns, intake);
        }
        let line_error = cursor.line_error(expected::EVENT);
        let mut name = cursor.until(b':');
        // perf script puts the system of an event before its name.
        if name == b"block" && cursor.rest().get(1).is_some_and(u8::is_ascii_alphabetic) {
            cursor.skip(1);
            name = cursor.until(b':');
        }
        if cursor.rest().is_empty() || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        {
            return Err(line_error);
        }
        cursor.skip(1);
        let kind = match name {
            b"block_rq_issue" => EventKind::Issue,
            b"block_rq_complete" => EventKind::Complete,
            b"block_rq_requeue" => EventKind::Requeued,
            _ => {
                intake.notes.other_event(name);
                return Ok(());
            }
        };
        event(cursor, at, kind, columns, intake)
    }
}

/// `DEVICE RWBS [BYTES] (COMMAND) SECTOR + COUNT …`
fn event(
    mut cursor: Cursor<'_>,
    at: Nanos,
    kind: EventKind,
    mut columns: Columns,
    intake: &mut Intake,
) -> Result<(), LineError> {
    cursor.skip_blanks();
    let device = device(&mut cursor)?;
    cursor.blanks(expected::LETTERS)?;
    let letters_at = cursor.at();
    let letters = cursor.word();
    cursor.blanks(expected::BYTES_OR_COMMAND)?;
    if kind == EventKind::Issue {
        cursor.number(expected::REQUEST_BYTES)?;
        cursor.blanks(expected::COMMAND)?;
    }
    cursor.pass(b'(', expected::COMMAND)?;
    cursor.until(b')');
    cursor.pass(b')', expected::COMMAND)?;
    let range = range(&mut cursor, &mut columns)?;
    Event { at, kind, device, letters, letters_at, range, columns }.apply_to(intake)
}

/// `DEVICE ACTION RWBS SECTOR + COUNT [PROGRAM]`
fn blk_tracer(
    mut cursor: Cursor<'_>,
    at: Nanos,
    mut columns: Columns,
    intake: &mut Intake,
) -> Result<(), LineError> {
    let device = device(&mut cursor)?;
    cursor.blanks(expected::ACTION)?;
    let line_error = cursor.line_error(expected::ACTION);
    let kind = match cursor.word() {
        b"D" => EventKind::Issue,
        b"C" => EventKind::Complete,
        b"R" => EventKind::Requeued,
        [b'A'..=b'Z' | b'm', ..] => return Ok(()),
        _ => return Err(line_error),
    };
    cursor.blanks(expected::LETTERS)?;
    let letters_at = cursor.at();
    let letters = cursor.word();
    let range = range(&mut cursor, &mut columns)?;
    Event { at, kind, device, letters, letters_at, range, columns }.apply_to(intake)
}

/// Goes behind `SECONDS: `, wherever it stands: names of programs may hold anything, even colons.
fn time(cursor: &mut Cursor<'_>) -> Result<(Nanos, usize), LineError> {
    let line = cursor.rest();
    for colon in memchr::memchr_iter(b':', line) {
        let digits = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        let length = line[..colon].iter().rev().take_while(|byte| digits(byte)).count();
        let from = colon - length;
        let stands_alone =
            from > 0 && matches!(line[from - 1], b' ' | b'\t') && line.get(colon + 1) == Some(&b' ');
        if stands_alone && line[from..colon].contains(&b'.') {
            let mut seconds = Cursor::new(&line[..colon]);
            seconds.skip(from);
            let at = seconds.seconds(expected::TIME_SECONDS)?;
            seconds.end()?;
            cursor.skip(colon + 1);
            return Ok((Nanos(at), from));
        }
    }
    Err(cursor.line_error(expected::TRACEFS_START))
}
