//! The project's format, as described in `docs/reference/trace.md`.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use likenew_core::io::Op;
use likenew_core::trace::{TraceIo, TraceSink};
use likenew_core::units::Nanos;

use super::{Format, Parse};
use crate::error::{LineError, LineProblem, TraceError};
use crate::intake::{Columns, Intake};
use crate::lines::Cursor;
use crate::notes::Note;
use crate::wording;
use crate::wording::expected;

pub(super) const FORMAT: Format =
    Format { magics: &[FIRST_LINE.as_bytes()], ..Format::new("likenew", || Box::<Likenew>::default()) };

/// The first line of every trace: what it is, and the version of its format.
pub(crate) const FIRST_LINE: &str = "# likenew trace 1";

/// The line above the records.
const COLUMNS: &str = "at_ns,op,offset,length,latency_ns,application";

/// The key of the last line, whose value is the count of records.
const END: &str = "end";

/// Reads the project's own format.
#[derive(Default)]
struct Likenew {
    head: TraceHead,
    has_started: bool,
    has_columns: bool,
    records: u64,
    /// What the last line counts.
    end: Option<u64>,
}

impl Parse for Likenew {
    fn forgives_torn_end(&self) -> bool {
        true
    }

    #[inline]
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if self.has_columns && line[0] != b'#' {
            return self.record(line, intake);
        }
        self.head_line(line, intake)
    }

    fn end(&mut self, intake: &mut Intake) -> Result<(), LineError> {
        match self.end {
            Some(count) if count != self.records => {
                let problem = LineProblem::RecordCount { expected: count, actual: self.records };
                Err(LineError::Line(problem))
            }
            Some(_) => Ok(()),
            None => {
                intake.notes.add(Note::NoEndMark);
                Ok(())
            }
        }
    }

    fn head(&self) -> Option<&TraceHead> {
        Some(&self.head)
    }
}

impl Likenew {
    #[inline]
    fn record(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        let mut cursor = Cursor::new(line);
        let mut columns = Columns::default();
        let at = Nanos(cursor.number(expected::TIME_NANOSECONDS)?);
        cursor.comma()?;
        let op = op(&mut cursor)?;
        cursor.comma()?;
        columns.offset = cursor.at();
        let offset = cursor.number(expected::OFFSET_BYTES)?;
        cursor.comma()?;
        columns.length = cursor.at();
        let length = cursor.number(expected::LENGTH_BYTES)?;
        cursor.comma()?;
        columns.latency = cursor.at();
        let latency = match cursor.peek() {
            Some(b',') => None,
            _ => Some(Nanos(cursor.number(expected::LATENCY)?)),
        };
        cursor.comma()?;
        let application = intake.applications.index(&application(&mut cursor)?);
        if self.end.is_some() {
            return Err(LineError::at(0, expected::NOTHING_AFTER_END));
        }
        self.records += 1;
        intake.put(TraceIo { at, op, offset, length, latency, application }, columns)
    }

    fn head_line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if !self.has_started {
            if line != FIRST_LINE.as_bytes() {
                return Err(LineError::at(0, expected::first_line(FIRST_LINE)));
            }
            self.has_started = true;
            return Ok(());
        }
        let Some(pair) = line.strip_prefix(b"# ") else {
            if line != COLUMNS.as_bytes() || self.has_columns {
                return Err(LineError::at(0, expected::head_line(COLUMNS)));
            }
            self.has_columns = true;
            return Ok(());
        };
        let key = pair.iter().take_while(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')).count();
        let value = pair[key..].strip_prefix(b": ").filter(|_| key > 0);
        let value = value.ok_or(LineError::at(2, expected::HEAD_PAIR))?;
        let (key, value) = (String::from_utf8_lossy(&pair[..key]), String::from_utf8_lossy(value));
        if key == END {
            self.end = Some(value.parse().map_err(|_| LineError::at(7, expected::RECORD_COUNT))?);
            return Ok(());
        }
        self.head.set(&key, &value).map_err(|expected| LineError::at(4 + key.len(), expected))?;
        intake.capacity = self.head.capacity;
        Ok(())
    }
}

const OPERATIONS: [(&str, Op); 4] =
    [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim), ("flush", Op::Flush)];

fn op(cursor: &mut Cursor<'_>) -> Result<Op, LineError> {
    let op = cursor.until(b',');
    cursor.meaning(op, &OPERATIONS, expected::OPERATION)
}

/// The last field: as it is, or in quotes with inner ones doubled.
fn application<'l>(cursor: &mut Cursor<'l>) -> Result<Cow<'l, [u8]>, LineError> {
    let rest = cursor.rest();
    let [b'"', quoted @ ..] = rest else {
        return match memchr::memchr2(b',', b'"', rest) {
            None => Ok(rest.into()),
            Some(at) => Err(LineError::at(cursor.at() + at, expected::END_OF_LINE_OR_NAME)),
        };
    };
    let mut name = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (byte, quoted.get(at + 1)) {
            (b'"', None) => return Ok(name.into()),
            (b'"', Some(b'"')) => {
                bytes.next();
                name.push(b'"');
            }
            (b'"', _) => return Err(LineError::at(cursor.at() + at + 2, expected::END_OF_LINE)),
            _ => name.push(*byte),
        }
    }
    Err(LineError::at(cursor.at(), expected::NAME_IN_QUOTES))
}

/// What is known of a trace as a whole. Each value is one line of text; what is not known is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceHead {
    /// The drive as the system calls it, such as `sda`.
    pub name: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Bytes that it can address.
    pub capacity: Option<u64>,
    /// Its smallest unit of address, in bytes.
    pub block: Option<u32>,
    /// The clock that `at_ns` was read from.
    pub clock: Option<String>,
    /// When the recording began, such as `2026-03-01T12:00:00Z`.
    pub recorded: Option<String>,
    /// The host's kernel.
    pub kernel: Option<String>,
    /// Records that the recorder missed; 0 means none.
    pub lost_events: Option<u64>,
    /// Further values of a recorder: keys of lower-case letters, digits and `_`.
    pub extra: Vec<(String, String)>,
}

/// Lines of a header, at most.
const OTHERS_MAX: usize = 256;

impl TraceHead {
    /// The lines of the head by key, in their order.
    pub fn pairs(&self) -> Vec<(&str, String)> {
        let text = |value: &Option<String>| value.clone();
        let known = [
            ("name", text(&self.name)),
            ("model", text(&self.model)),
            ("capacity_bytes", self.capacity.map(|bytes| bytes.to_string())),
            ("block_bytes", self.block.map(|bytes| bytes.to_string())),
            ("clock", text(&self.clock)),
            ("recorded", text(&self.recorded)),
            ("kernel", text(&self.kernel)),
            ("lost_events", self.lost_events.map(|events| events.to_string())),
        ];
        let known = known.into_iter().filter_map(|(key, value)| Some((key, value?)));
        known.chain(self.extra.iter().map(|(key, value)| (key.as_str(), value.clone()))).collect()
    }

    /// Takes a line of a head; a later line of the same key replaces the earlier one.
    ///
    /// # Errors
    /// A description of this key's valid values, for errors.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        let text = || Some(value.to_owned());
        let number = || value.parse::<u64>().ok();
        match key {
            "name" => self.name = text(),
            "model" => self.model = text(),
            "clock" => self.clock = text(),
            "recorded" => self.recorded = text(),
            "kernel" => self.kernel = text(),
            "capacity_bytes" => {
                self.capacity = Some(number().filter(|bytes| *bytes > 0).ok_or(expected::CAPACITY)?);
            }
            "block_bytes" => {
                let block = value.parse().ok().filter(|bytes: &u32| bytes.is_power_of_two());
                self.block = Some(block.ok_or(expected::BLOCK)?);
            }
            "lost_events" => self.lost_events = Some(number().ok_or(expected::COUNT)?),
            _ => match self.extra.iter().position(|(known, _)| known == key) {
                Some(at) => value.clone_into(&mut self.extra[at].1),
                None if self.extra.len() < OTHERS_MAX => self.extra.push((key.into(), value.into())),
                None => return Err(expected::HEAD_LINES_MAX),
            },
        }
        Ok(())
    }
}

/// Records wait in memory until there are so many bytes of text …
const FLUSH_BYTES: usize = 256 << 10;

/// … or a record comes that left this long after the last one that was written out. Chosen: a kill loses at
/// most one second.
const FLUSH_SPAN: Nanos = Nanos::from_secs(1);

/// Writes records in the project's own format as they come.
///
/// Whatever kills the program, all but the latest records are in the file: at most 256 KiB of text, and
/// nothing older than a second by the times of the records; [`TraceWriter::flush`] writes those out as well.
/// A file without [`TraceWriter::finish`] has no end mark, and its readers report that.
pub struct TraceWriter {
    out: TraceSinkFile,
    text: Vec<u8>,
    records: u64,
    latest: Nanos,
    flushed: Nanos,
}

enum TraceSinkFile {
    Plain(File),
    Zstandard(zstd::Encoder<'static, File>),
}

impl TraceSinkFile {
    fn write(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(file) => file,
            Self::Zstandard(encoder) => encoder,
        }
    }
}

impl TraceWriter {
    /// Begins a new file, compressed if its name ends in `.zst`, and writes the header.
    ///
    /// # Errors
    /// The file exists already, or cannot be created or written.
    pub fn create(path: &Path, head: &TraceHead) -> Result<Self, TraceError> {
        let wrong = |error| TraceError::File { action: "write", file: path.display().to_string(), error };
        let file = File::create_new(path).map_err(wrong)?;
        let out = if path.extension().is_some_and(|extension| extension == "zst") {
            TraceSinkFile::Zstandard(encoder(file).map_err(wrong)?)
        } else {
            TraceSinkFile::Plain(file)
        };
        let text = Vec::with_capacity(FLUSH_BYTES + 1024);
        let mut writer = Self { out, text, records: 0, latest: Nanos::ZERO, flushed: Nanos::ZERO };
        writer.line(FIRST_LINE);
        for (key, value) in head.pairs() {
            writer.pair(key, &value);
        }
        writer.line(COLUMNS);
        writer.flush().map_err(wrong)?;
        Ok(writer)
    }

    /// Adds a property of the trace that was not known before, such as `lost_events`; it replaces the
    /// header's value of this key.
    pub fn note(&mut self, key: &str, value: &str) {
        self.pair(key, value);
    }

    /// Records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Writes out all waiting records, so that they survive a kill.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.flushed = self.latest;
        if self.text.is_empty() {
            return Ok(());
        }
        self.out.write().write_all(&self.text)?;
        self.text.clear();
        self.out.write().flush()
    }

    /// Writes the end mark and closes the file. Returns how many records it holds.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<u64> {
        let records = self.records;
        self.pair(END, &records.to_string());
        self.flush()?;
        if let TraceSinkFile::Zstandard(encoder) = self.out {
            encoder.finish()?;
        }
        Ok(records)
    }

    fn line(&mut self, line: &str) {
        self.text.extend_from_slice(line.as_bytes());
        self.text.push(b'\n');
    }

    fn pair(&mut self, key: &str, value: &str) {
        assert!(
            !key.is_empty() && key.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_')),
            "\"{key}\" is no key of a trace's head"
        );
        self.line(&format!("# {key}: {}", one_line(value)));
    }
}

impl TraceSink for TraceWriter {
    fn put(&mut self, io: &TraceIo, application: &str) -> io::Result<()> {
        check(io, self.latest)?;
        let mut numbers = itoa::Buffer::new();
        let text = &mut self.text;
        text.extend_from_slice(numbers.format(io.at.0).as_bytes());
        text.push(b',');
        text.extend_from_slice(io.op.name().as_bytes());
        for number in [Some(io.offset), Some(io.length), io.latency.map(|latency| latency.0)] {
            text.push(b',');
            if let Some(number) = number {
                text.extend_from_slice(numbers.format(number).as_bytes());
            }
        }
        text.push(b',');
        put_name(text, application);
        text.push(b'\n');
        self.records += 1;
        self.latest = io.at;
        if self.text.len() >= FLUSH_BYTES || io.at.since(self.flushed) >= FLUSH_SPAN {
            self.flush()
        } else {
            Ok(())
        }
    }
}

fn encoder(file: File) -> io::Result<zstd::Encoder<'static, File>> {
    let mut encoder = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

/// Refuses what no reader would accept.
fn check(io: &TraceIo, latest: Nanos) -> io::Result<()> {
    let reason = if io.at < latest {
        wording::record_too_early(io.at, latest)
    } else if (io.length == 0) != (io.op == Op::Flush) {
        wording::record_length(io.op, io.length)
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// The name, in quotes where a reader of CSV would take it for something else.
fn put_name(text: &mut Vec<u8>, name: &str) {
    if name.bytes().all(|b| !matches!(b, b',' | b'"' | b'#' | 0..b' ' | 0x7f)) {
        return text.extend_from_slice(name.as_bytes());
    }
    text.push(b'"');
    text.extend_from_slice(one_line(name).replace('"', "\"\"").as_bytes());
    text.push(b'"');
}

/// The text without line ends and other control characters.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
