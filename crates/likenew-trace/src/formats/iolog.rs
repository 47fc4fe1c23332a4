//! Reads and writes fio's iolog, versions 2 and 3.
//!
//! Version 2: `FILE ACTION [OFFSET LENGTH]`, with `FILE wait MICROSECONDS` between them. Version 3: each line begins
//! with its time, in microseconds since the start of the job. Source: fio's HOWTO, "Trace file format v2" and "v3". The
//! HOWTO names no unit; it is that of fio 3.33.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use likenew_core::io::Op;
use likenew_core::trace::{TraceIo, TraceSink};
use likenew_core::units::Nanos;

use super::{Format, Parse};
use crate::error::{LineError, TraceError};
use crate::intake::{Intake, Row};
use crate::lines::{Cursor, Value};
use crate::notes::Note;
use crate::wording::expected;

pub(super) static FORMAT: Format =
    Format { magics: &[b"fio version"], ..Format::new("iolog", || Box::<Iolog>::default()) };

const MICROSECOND_NS: u64 = 1_000;

/// Reads fio's iolog; each file is a volume.
#[derive(Default)]
struct Iolog {
    version: Option<u8>,
    /// Time in version 2: the sum of all waits.
    now: Nanos,
    has_waited: bool,
}

impl Parse for Iolog {
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        let Some(version) = self.version else {
            self.version = match line.trim_ascii_end() {
                b"fio version 2 iolog" => Some(2),
                b"fio version 3 iolog" => Some(3),
                _ => return Err(LineError::at(0, expected::IOLOG_FIRST_LINE)),
            };
            return Ok(());
        };
        let mut cursor = Cursor::new(line);
        if version == 3 {
            self.now = Nanos(cursor.scale(MICROSECOND_NS, expected::TIME_MICROSECONDS)?);
            cursor.blanks(expected::BLANK)?;
        }
        let file = cursor.word();
        cursor.blanks(expected::IOLOG_ACTION)?;
        let line_error = cursor.line_error(expected::IOLOG_ACTIONS);
        let op = match cursor.word() {
            b"add" | b"open" | b"close" => return cursor.end(),
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => Op::Flush,
            b"wait" if version == 2 => return self.wait(&mut cursor),
            _ => return Err(line_error),
        };
        let has_range = op != Op::Flush || !cursor.rest().trim_ascii().is_empty();
        let (offset, length) = if has_range { range(&mut cursor)? } else { Default::default() };
        cursor.end()?;
        let at = Value { number: self.now.0, column: 0 };
        intake.put_of(file, Row { at, op, offset, length, latency: None })
    }

    fn end(&mut self, intake: &mut Intake) -> Result<(), LineError> {
        if self.version == Some(2) && !self.has_waited {
            intake.notes.add(Note::NoTimes);
        }
        Ok(())
    }
}

impl Iolog {
    fn wait(&mut self, cursor: &mut Cursor<'_>) -> Result<(), LineError> {
        cursor.blanks(expected::WAIT)?;
        let line_error = cursor.line_error(expected::WAIT);
        let wait = cursor.scale(MICROSECOND_NS, expected::WAIT)?;
        self.now = Nanos(self.now.0.checked_add(wait).ok_or(line_error)?);
        self.has_waited = true;
        // fio expects four words, so its own files add a length here.
        if !cursor.rest().trim_ascii().is_empty() {
            cursor.blanks(expected::BLANK)?;
            cursor.number(expected::IGNORED_NUMBER)?;
        }
        cursor.end()
    }
}

fn range(cursor: &mut Cursor<'_>) -> Result<(Value, Value), LineError> {
    let mut number = |expected| {
        cursor.blanks(expected)?;
        Ok(Value { column: cursor.at(), number: cursor.number(expected)? })
    };
    Ok((number(expected::OFFSET_BYTES)?, number(expected::LENGTH_BYTES)?))
}

/// The drive's name in the iolog. fio's `replay_redirect` replaces it with a real one.
const FILE: &str = "drive";

/// Longer discards are split: fio allocates a buffer as long as its longest I/O.
const TRIM_MAX: u64 = 64 << 20;

/// A version of fio's iolog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IologVersion {
    /// Every fio reads this version, but without times. fio takes its waits as absolute milliseconds, against its own
    /// HOWTO.
    Two,
    /// fio reads this version since 3.31, with times in whole microseconds.
    Three,
}

/// Writes records as an iolog of fio, without latencies and applications. A flush becomes a `sync`.
pub struct IologWriter {
    out: BufWriter<File>,
    version: IologVersion,
    records: u64,
    now_us: u64,
}

impl IologWriter {
    /// Creates the file and writes its first lines.
    ///
    /// # Errors
    /// The file exists already, or cannot be created or written.
    pub fn create(path: &Path, version: IologVersion) -> Result<Self, TraceError> {
        let begin = || {
            let out = BufWriter::with_capacity(256 << 10, File::create_new(path)?);
            // fio takes a time of 0 for none and then forgets the next wait.
            let mut writer = Self { out, version, records: 0, now_us: 1 };
            let number = if version == IologVersion::Two { 2 } else { 3 };
            writeln!(writer.out, "fio version {number} iolog")?;
            writer.line("add", None)?;
            writer.line("open", None)?;
            Ok(writer)
        };
        begin().map_err(TraceError::file("write", path.display()))
    }

    /// Closes the file. Returns the number of its records.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<u64> {
        self.line("close", None)?;
        self.out.flush()?;
        Ok(self.records)
    }

    fn line(&mut self, action: &str, range: Option<(u64, u64)>) -> io::Result<()> {
        if self.version == IologVersion::Three {
            write!(self.out, "{} ", self.now_us)?;
        }
        match range {
            Some((offset, length)) => writeln!(self.out, "{FILE} {action} {offset} {length}"),
            None => writeln!(self.out, "{FILE} {action}"),
        }
    }
}

impl TraceSink for IologWriter {
    fn put(&mut self, io: &TraceIo, _application: &str) -> io::Result<()> {
        self.now_us = self.now_us.max(io.at.0 / 1_000 + 1);
        self.records += 1;
        match io.op {
            Op::Flush => self.line("sync", Some((0, 0))),
            Op::Trim => {
                let mut offset = io.offset;
                let end = io.offset.saturating_add(io.length);
                while offset < end {
                    let length = (end - offset).min(TRIM_MAX);
                    self.line("trim", Some((offset, length)))?;
                    offset += length;
                }
                Ok(())
            }
            Op::Read | Op::Write => self.line(io.op.name(), Some((io.offset, io.length))),
        }
    }
}
