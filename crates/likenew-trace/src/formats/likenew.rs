//! Reads and writes the project's own format, described in `docs/reference/trace.md`.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use likenew_core::io::Op;
use likenew_core::trace::{TraceIo, TraceSink};
use likenew_core::units::Nanos;

use super::{Format, Parse};
use crate::error::{FileProblem, LineError, LineProblem, TraceError};
use crate::intake::{Intake, Row};
use crate::lines::{Cursor, Fields, Separator};
use crate::notes::Note;
use crate::wording;
use crate::wording::expected;

pub(super) static FORMAT: Format = Format {
    magics: &[FIRST_LINE.as_bytes()],
    problem: |ahead| {
        let is_other = ahead.starts_with(b"# likenew trace");
        is_other.then_some(FileProblem::OtherVersion { first_line: FIRST_LINE })
    },
    ..Format::new("likenew", || Box::<Likenew>::default())
};

/// The first line of every trace, with the version of the format.
const FIRST_LINE: &str = "# likenew trace 1";

/// The line above the records.
const COLUMNS: &str = "at_ns,op,offset,length,latency_ns,application";

/// Key of the last line, which holds the number of records.
const END: &str = "end";

/// Reads the project's own format.
#[derive(Default)]
struct Likenew {
    head: TraceHead,
    has_started: bool,
    has_columns: bool,
    records: u64,
    /// Number of records by the last line.
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
        let mut fields = Fields::new(line, Separator::Comma);
        let at = fields.number(expected::TIME_NANOSECONDS)?;
        let op = fields.choice(&OPERATIONS, expected::OPERATION)?;
        let offset = fields.number(expected::OFFSET_BYTES)?;
        let length = fields.number(expected::LENGTH_BYTES)?;
        let latency = fields.optional(|fields| fields.number(expected::LATENCY))?;
        fields.next()?;
        let application = intake.applications.index(&application(&fields.cursor)?);
        if self.end.is_some() {
            return Err(LineError::at(0, expected::NOTHING_AFTER_END));
        }
        self.records += 1;
        intake.put(Row { at, op, offset, length, latency }, application)
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

/// Reads the last field: plain text, or text in quotes with inner quotes doubled.
fn application<'l>(cursor: &Cursor<'l>) -> Result<Cow<'l, [u8]>, LineError> {
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

/// Properties of a trace. Each value is one line of text; an unknown one is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceHead {
    /// The drive's name in the system, such as `sda`.
    pub name: Option<String>,
    /// The drive's model.
    pub model: Option<String>,
    /// The drive's capacity in bytes.
    pub capacity: Option<u64>,
    /// The drive's smallest addressable unit in bytes.
    pub block: Option<u32>,
    /// The clock of `at_ns`.
    pub clock: Option<String>,
    /// When the recording began, such as `2026-03-01T12:00:00Z`.
    pub recorded: Option<String>,
    /// The host's kernel.
    pub kernel: Option<String>,
    /// Records that the recorder missed; 0 means none.
    pub lost_events: Option<u64>,
    /// Other values from a recorder. Keys consist of lower-case letters, digits and `_`.
    pub extra: Vec<(String, String)>,
}

/// Most other values of a header.
const OTHERS_MAX: usize = 256;

impl TraceHead {
    /// Keys and values of the header, in the order of its lines.
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

    /// Takes a line of the header. A later line with the same key replaces an earlier one.
    ///
    /// # Errors
    /// The valid values of this key, for the error message.
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

/// Bytes of text that wait in memory before they are written out.
const FLUSH_BYTES: usize = 256 << 10;

/// Time between records after which waiting ones are written out. Chosen: a kill loses at most one second.
const FLUSH_SPAN: Nanos = Nanos::from_secs(1);

/// Writes records in the project's own format as they come.
///
/// A killed program loses at most 256 KiB of text, and nothing older than a second by the records' times.
/// [`TraceWriter::flush`] writes waiting records out as well. Without [`TraceWriter::finish`] the file has no end mark,
/// and readers report that.
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
    /// Creates the file and writes its header. A name that ends in `.zst` means compression.
    ///
    /// # Errors
    /// The file exists already, or cannot be created or written.
    pub fn create(path: &Path, head: &TraceHead) -> Result<Self, TraceError> {
        let wrong = || TraceError::file("write", path.display());
        let file = File::create_new(path).map_err(wrong())?;
        let out = if path.extension().is_some_and(|extension| extension == "zst") {
            TraceSinkFile::Zstandard(encoder(file).map_err(wrong())?)
        } else {
            TraceSinkFile::Plain(file)
        };
        let text = Vec::with_capacity(FLUSH_BYTES + 1024);
        let mut writer = Self { out, text, records: 0, latest: Nanos::ZERO, flushed: Nanos::ZERO };
        writer.line(FIRST_LINE);
        for (key, value) in head.pairs() {
            writer.note(key, &value);
        }
        writer.line(COLUMNS);
        writer.flush().map_err(wrong())?;
        Ok(writer)
    }

    /// Adds a property that was not known at the start, such as `lost_events`. It replaces the header's value.
    pub fn note(&mut self, key: &str, value: &str) {
        assert!(
            !key.is_empty() && key.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_')),
            "\"{key}\" is no key of a trace's head"
        );
        self.line(&format!("# {key}: {}", one_line(value)));
    }

    /// Number of records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Writes out all waiting records, so that a kill cannot lose them.
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

    /// Writes the end mark and closes the file. Returns the number of its records.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<u64> {
        let records = self.records;
        self.note(END, &records.to_string());
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

/// Refuses a record that no reader would accept.
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

/// Writes the name, in quotes if it contains a separator, quote, `#` or control character.
fn put_name(text: &mut Vec<u8>, name: &str) {
    if name.bytes().all(|b| !matches!(b, b',' | b'"' | b'#' | 0..b' ' | 0x7f)) {
        return text.extend_from_slice(name.as_bytes());
    }
    text.push(b'"');
    text.extend_from_slice(one_line(name).replace('"', "\"\"").as_bytes());
    text.push(b'"');
}

/// The text with control characters, such as line ends, replaced by blanks.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
