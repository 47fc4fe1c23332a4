//! Reads text of Linux's tracefs (`trace`, `trace_pipe`), of `trace-cmd report` and of `perf script`: events of the
//! block layer and of the blk tracer.
//!
//! An issue is `PROGRAM-PID [CPU] FLAGS SECONDS: block_rq_issue: DEVICE RWBS BYTES (COMMAND) SECTOR + COUNT [PRIORITY]
//! [PROGRAM]`. `block_rq_complete` has no bytes, and an error in its last brackets. `block_bio_queue` and
//! `block_bio_complete` have neither bytes nor command; they count for devices without requests. The blk tracer has
//! `DEVICE ACTION RWBS …` in place of the event. Times are of the trace's clock, usually to the microsecond. Source:
//! `include/trace/events/block.h` and `kernel/trace/blktrace.c` of Linux; kernels since 6.9 also print the priority.

use super::block_layer::{Event, EventKind, Head, Layer, Layers, action, device, is_loss, letters, range};
use super::{Format, Parse};
use crate::error::LineError;
use crate::intake::Intake;
use crate::lines::{Cursor, Value};
use crate::notes::Counted;
use crate::wording::expected;

pub(super) static FORMAT: Format =
    Format { magics: &[b"# tracer: "], ..Format::new("tracefs", || Box::<Tracefs>::default()) };

/// Events of I/Os, by name.
const EVENTS: [(&[u8], (Layer, EventKind)); 5] = [
    (b"block_rq_issue", (Layer::Request, EventKind::Issue)),
    (b"block_rq_complete", (Layer::Request, EventKind::Complete)),
    (b"block_rq_requeue", (Layer::Request, EventKind::Requeued)),
    (b"block_bio_queue", (Layer::Bio, EventKind::Issue)),
    (b"block_bio_complete", (Layer::Bio, EventKind::Complete)),
];

/// Reads text of tracefs.
#[derive(Default)]
struct Tracefs {
    layers: Layers,
}

impl Parse for Tracefs {
    /// Learns from the first lines which devices have requests.
    fn begin(&mut self, ahead: &[u8], _intake: &mut Intake) {
        self.layers.learn_text(ahead, head);
    }

    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if line[0] == b'#' || line.starts_with(b"cpus=") || line.trim_ascii().is_empty() {
            return Ok(());
        }
        if is_loss(line) {
            intake.notes.count(Counted::LostEvents);
            return Ok(());
        }
        let mut cursor = Cursor::new(line);
        let Head { at, name, event } = head(&mut cursor)?;
        let (device, event) = match event {
            Some((device, event)) if self.layers.take(device, event)? => (device, event),
            _ => {
                name.inspect(|name| intake.notes.other_event(name));
                return Ok(());
            }
        };
        let (letters, letters_at) = letters(&mut cursor)?;
        if name.is_some() && event.0 == Layer::Request {
            command(&mut cursor, event.1)?;
        }
        let range = range(&mut cursor)?;
        Event { at, kind: event.1, device, letters, letters_at, range }.apply_to(intake)
    }
}

/// Reads the fields up to the device and the event.
fn head<'l>(cursor: &mut Cursor<'l>) -> Result<Head<'l>, LineError> {
    let at = time(cursor)?;
    cursor.skip_blanks();
    if cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        let device = device(cursor)?;
        cursor.blanks(expected::ACTION)?;
        let line_error = cursor.line_error(expected::ACTION);
        let event = action(cursor.word()).ok_or(line_error)?.map(|event| (device, event));
        return Ok(Head { at, name: None, event });
    }
    let line_error = cursor.line_error(expected::EVENT);
    let mut name = cursor.until(b':');
    // `perf script` prints the event's system before its name.
    if cursor.rest().get(1).is_some_and(u8::is_ascii_alphabetic) {
        cursor.skip(1);
        name = cursor.until(b':');
    }
    if cursor.rest().is_empty() || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
        return Err(line_error);
    }
    cursor.skip(1);
    let Some((_, event)) = EVENTS.iter().find(|(known, _)| *known == name) else {
        return Ok(Head { at, name: Some(name), event: None });
    };
    cursor.skip_blanks();
    Ok(Head { at, name: Some(name), event: Some((device(cursor)?, *event)) })
}

/// Skips `[BYTES] (COMMAND)`.
fn command(cursor: &mut Cursor<'_>, kind: EventKind) -> Result<(), LineError> {
    cursor.blanks(expected::BYTES_OR_COMMAND)?;
    if kind == EventKind::Issue {
        cursor.number(expected::REQUEST_BYTES)?;
        cursor.blanks(expected::COMMAND)?;
    }
    cursor.pass(b'(', expected::COMMAND)?;
    cursor.until(b')');
    cursor.pass(b')', expected::COMMAND)
}

/// Finds `SECONDS: ` and goes past it. It may be anywhere, since program names may contain anything, even colons.
fn time(cursor: &mut Cursor<'_>) -> Result<Value, LineError> {
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
            let number = seconds.seconds(expected::TIME_SECONDS)?;
            seconds.end()?;
            cursor.skip(colon + 1);
            return Ok(Value { number, column: from });
        }
    }
    Err(cursor.line_error(expected::TRACEFS_START))
}
