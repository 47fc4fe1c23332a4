//! Writes the project's own format.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use likenew_core::io::Op;
use likenew_core::trace::{TraceIo, TraceSink};
use likenew_core::units::Nanos;

use crate::error::TraceError;
use crate::formats::likenew::{COLUMNS, END, FIRST_LINE};
use crate::head::TraceHead;
use crate::wording;

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
        let out = match path.extension().is_some_and(|extension| extension == "zst") {
            true => TraceSinkFile::Zstandard(encoder(file).map_err(wrong)?),
            false => TraceSinkFile::Plain(file),
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
