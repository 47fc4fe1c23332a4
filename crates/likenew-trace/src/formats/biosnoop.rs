//! Reads biosnoop's output, one I/O a line, in the order of their ends: `TIME(s) COMM PID DISK T SECTOR BYTES [P]
//! [QUE(ms)] LAT(ms)`.
//!
//! The time is that of the end, in microseconds since the first end. The latency counts from the request's start on the
//! drive. The Python tool of bcc (`biosnoop-bpfcc`) prints W for writes and R for all else; the tool of libbpf-tools
//! prints the request's letters. `P` comes with `-P`, the time in a queue with `-Q`. An I/O whose start was missed has
//! no disk. Source: `tools/biosnoop.py` and `libbpf-tools/biosnoop.c` of bcc.

use likenew_core::io::Op;

use super::block_layer::{Payload, Range, payload};
use super::{Format, Parse, SECTOR, first_line};
use crate::error::{FileProblem, LineError};
use crate::intake::{Intake, LENGTH_MAX, Row, SPAN_MAX};
use crate::lines::{Fields, Separator, Value};
use crate::notes::{Counted, Note};
use crate::wording::expected;

pub(super) static FORMAT: Format = Format {
    problem: |ahead| {
        let line = first_line(ahead).to_ascii_lowercase();
        let lacks_columns =
            line.starts_with(b"time") && line.ends_with(b" lat(ms)") && !line.starts_with(b"time(s) ");
        lacks_columns.then_some(FileProblem::Biosnoop)
    },
    header: "time(s) ",
    // Lines are in the order of ends, so a 1 s I/O comes after all I/Os that ended within its second.
    lateness: 1 << 18,
    ..Format::new("biosnoop", || Box::<Biosnoop>::default())
};

/// The first columns, and the last one.
const COLUMNS: [&[u8]; 8] = [b"TIME(s)", b"COMM", b"PID", b"DISK", b"T", b"SECTOR", b"BYTES", b"LAT(ms)"];

/// Fewest columns after `T`: sector, bytes and latency.
const BEHIND_MIN: usize = 3;

/// Added to all times, because the first I/Os began before time 0, the first end.
const START: u64 = SPAN_MAX.0;

/// Reads biosnoop's output.
#[derive(Default)]
struct Biosnoop {
    /// Number of columns after `T`.
    behind: Option<usize>,
}

impl Parse for Biosnoop {
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if line.starts_with(COLUMNS[0]) {
            return self.header(line, intake);
        }
        // The tools report lost events outside of their output, but a file may contain both.
        if line.starts_with(b"lost ") || line.starts_with(b"Possibly lost ") {
            intake.notes.count(Counted::LostEvents);
            return Ok(());
        }
        let mut fields = Fields::new(line, Separator::Blanks);
        let is_negative = fields.cursor.take(b'-');
        let time = fields.cursor.seconds(expected::TIME_SECONDS)?;
        fields.next()?;
        let behind = *self.behind.get_or_insert_with(|| numbers_at_end(line).max(BEHIND_MIN));
        let before = fields.cursor.before_last_words(behind + 1);
        let (program, disk) =
            before.and_then(program_and_disk).ok_or(fields.cursor.line_error(expected::BIOSNOOP))?;
        fields.cursor.skip(before.unwrap_or_default().len());
        let letters_at = fields.next()?;
        let letters = fields.cursor.word();
        let sector = fields.number(expected::SECTOR)?;
        let Value { number: bytes, column: bytes_at } = fields.number(expected::SIZE_BYTES)?;
        for _ in BEHIND_MIN..behind {
            fields.text()?;
        }
        let Value { number: latency, column: latency_at } = fields.seconds(expected::LATENCY_MILLISECONDS)?;
        let latency = latency / 1_000;
        fields.cursor.end()?;
        if latency > SPAN_MAX.0 {
            return Err(LineError::at(latency_at, expected::LATENCY_BELOW_YEAR));
        }
        let moved =
            payload(letters, bytes / SECTOR).ok_or(LineError::at(letters_at, expected::KNOWN_LETTERS))?;
        let op = match moved {
            _ if disk.is_empty() => Err(Counted::NoDisk),
            _ if bytes % SECTOR != 0 => Err(Counted::Commands),
            Payload::Nothing => Err(Counted::NoBlocks),
            Payload::Io(op) => Ok(op),
        };
        let mut op = match op {
            Ok(op) => op,
            Err(counted) => {
                intake.notes.count(counted);
                return Ok(());
            }
        };
        // The Python tool prints R for a discard, too. No drive takes such a long read.
        if letters == b"R" && bytes > LENGTH_MAX {
            op = Op::Trim;
        }
        if !intake.volumes.selects(disk)? {
            return Ok(());
        }
        let sectors = Value { number: bytes / SECTOR, column: bytes_at };
        let (offset, length) = Range { sector, sectors, bracket: b"" }.bytes()?;
        // The libbpf tool prints unsigned differences, which wrap for I/Os that ended before the first one it traced.
        let end = if is_negative { START.saturating_sub(time) } else { START.wrapping_add(time) };
        let at = Value { number: end.saturating_sub(latency), column: 0 };
        let latency = Some(Value { number: latency, column: latency_at });
        let application = intake.applications.index(program);
        intake.put(Row { at, op, offset, length, latency }, application)
    }
}

impl Biosnoop {
    /// Reads the names of the columns. Joined files have several such lines.
    fn header(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
        let first = &COLUMNS[..COLUMNS.len() - 1];
        if !words.starts_with(first) || words.last() != COLUMNS.last() {
            return Err(LineError::at(0, expected::BIOSNOOP_COLUMNS));
        }
        let is_first = self.behind.replace(words.len() - (COLUMNS.len() - BEHIND_MIN)).is_none();
        // Only the Python tool has a column for a single letter.
        if is_first && memchr::memmem::find(line, b" T SECTOR").is_some() {
            intake.notes.add(Note::DiscardsAsReads);
        }
        Ok(())
    }
}

/// Number of words at the end of a line that are numbers.
fn numbers_at_end(line: &[u8]) -> usize {
    let is_number =
        |word: &&[u8]| word.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    let words = line.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.take_while(is_number).count()
}

/// The parts of `COMM PID [DISK]`. A program's name may contain blanks; an unknown name is `?`.
fn program_and_disk(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let last_word = |text: &[u8]| text.iter().rposition(|byte| *byte == b' ').map_or(0, |blank| blank + 1);
    let is_number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let (mut before, mut disk) = text.split_at(last_word(text));
    if is_number(disk) {
        (before, disk) = (text, b"");
    }
    let before = before.trim_ascii_end();
    let (program, process) = before.split_at(last_word(before));
    let program = program.trim_ascii_end();
    let disk = if matches!(disk, b"<unknown>" | b"Unknown") { b"" } else { disk };
    is_number(process).then_some((if program == b"?" { b"" } else { program }, disk))
}
