//! Writes fio's iolog, so that fio can replay what was recorded.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use likenew_core::io::Op;
use likenew_core::trace::{TraceIo, TraceSink};

use crate::error::TraceError;

/// The drive's name in the iolog; fio's `replay_redirect` says which one it is.
const FILE: &str = "drive";

/// A longer discard is written in pieces: fio has buffers as long as the longest of its I/Os.
const TRIM_MAX: u64 = 64 << 20;

/// A version of fio's iolog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IologVersion {
    /// Every fio reads it, but without the times: fio waits by absolute milliseconds there, not as its HOWTO
    /// says.
    Two,
    /// fio reads it since 3.31, with times in whole microseconds.
    Three,
}

/// Writes records as an iolog of fio. Latencies and applications have no place there; a flush becomes a `sync`.
pub struct IologWriter {
    out: BufWriter<File>,
    version: IologVersion,
    records: u64,
    now_us: u64,
}

impl IologWriter {
    /// Begins a new file.
    ///
    /// # Errors
    /// The file exists already, or cannot be created or written.
    pub fn create(path: &Path, version: IologVersion) -> Result<Self, TraceError> {
        let begin = || {
            let out = BufWriter::with_capacity(256 << 10, File::create_new(path)?);
            // fio takes a time of 0 for none and forgets the wait behind it.
            let mut writer = Self { out, version, records: 0, now_us: 1 };
            let number = if version == IologVersion::Two { 2 } else { 3 };
            writeln!(writer.out, "fio version {number} iolog")?;
            writer.line("add", None)?;
            writer.line("open", None)?;
            Ok(writer)
        };
        begin().map_err(|error| TraceError::File { action: "write", file: path.display().to_string(), error })
    }

    /// Closes the file. Returns how many records it holds.
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
