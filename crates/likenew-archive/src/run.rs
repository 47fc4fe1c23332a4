//! A run that is being written.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use likenew_core::plan::Plan;
use likenew_core::segment::Segment;
use likenew_core::verdict::Findings;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::durable;
use crate::error::ArchiveError;
use crate::live::LiveWriter;
use crate::machine::{Machine, SCHEMA, check_schema};
use crate::sample_writer::SampleWriter;

pub(crate) const PLAN: &str = "plan.toml";
pub(crate) const MACHINE: &str = "machine.json";
pub(crate) const SEGMENTS: &str = "segments.jsonl";
pub(crate) const VERDICTS: &str = "verdicts.json";

/// A run folder that is open for writing, by nobody else at the same time.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    segments: File,
    torn: bool,
}

impl Run {
    /// Fills a new, empty folder.
    pub(crate) fn create(path: &Path, plan: &Plan, machine: &Machine) -> Result<Self, ArchiveError> {
        assert_eq!(machine.schema, SCHEMA, "a new run is of the present schema");
        check_schema(&path.join(PLAN), Some(u64::from(plan.schema)))?;
        let unreadable = |file| move |why: String| ArchiveError::Unreadable { path: path.join(file), why };
        durable::write(path, PLAN, &readable_plan(plan).map_err(unreadable(PLAN))?)?;
        durable::write(path, MACHINE, &(readable(machine, true).map_err(unreadable(MACHINE))? + "\n"))?;
        let run = Self::open_segments(path, OpenOptions::new().append(true).create_new(true))?;
        durable::sync_folder(path)?;
        Ok(run)
    }

    /// Goes on with a run.
    pub(crate) fn reopen(path: &Path) -> Result<Self, ArchiveError> {
        if !path.join(SEGMENTS).exists() {
            return Err(ArchiveError::NotARun { path: path.to_owned(), missing: SEGMENTS });
        }
        Self::open_segments(path, OpenOptions::new().append(true).read(true))
    }

    fn open_segments(path: &Path, options: &OpenOptions) -> Result<Self, ArchiveError> {
        let file = path.join(SEGMENTS);
        let segments = options.open(&file).map_err(ArchiveError::system("write", &file))?;
        match segments.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(ArchiveError::Busy(path.to_owned())),
            // A file system without locks can not tell; what is appended there is still right for one writer.
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(ArchiveError::system("lock", &file)(error));
            }
            _ => {}
        }
        Ok(Self { path: path.to_owned(), segments, torn: false })
    }

    /// Cuts off what follows so many whole lines.
    pub(crate) fn cut_after(&self, lines: usize) -> Result<(), ArchiveError> {
        let file = self.path.join(SEGMENTS);
        let cut = || -> io::Result<()> {
            let mut reader = BufReader::new(File::open(&file)?);
            let (mut whole, mut line) = (0, Vec::new());
            for _ in 0..lines {
                whole += reader.read_until(b'\n', &mut line)? as u64;
                line.clear();
            }
            if whole < self.segments.metadata()?.len() {
                self.segments.set_len(whole)?;
                self.segments.sync_all()?;
            }
            Ok(())
        };
        cut().map_err(ArchiveError::system("write", &file))
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps what a workload came to; durable when this returns.
    ///
    /// # Errors
    /// It could not be written. Then nothing of it is in the file, and what was kept before still is.
    pub fn push(&mut self, segment: &Segment) -> Result<(), ArchiveError> {
        let path = self.path.join(SEGMENTS);
        if self.torn {
            return Err(ArchiveError::Torn(path));
        }
        let mut line = readable(segment, false)
            .map_err(|why| ArchiveError::Unreadable { path: path.clone(), why })?
            .into_bytes();
        line.push(b'\n');
        let before = self.segments.metadata().map_err(ArchiveError::system("write", &path))?.len();
        let written = self.segments.write_all(&line).and_then(|()| self.segments.sync_data());
        if written.is_err() {
            // Half a line would make a later one unreadable. Shortening works on a full drive, too.
            self.torn = self.segments.set_len(before).is_err();
        }
        written.map_err(ArchiveError::system("write", &path))
    }

    /// Opens a file for the single I/Os of this run. A second one is opened beside the first when the run is resumed.
    ///
    /// # Errors
    /// The file could not be created.
    pub fn samples(&self) -> Result<SampleWriter, ArchiveError> {
        let mut path = self.path.join("samples.parquet");
        for number in 2u64.. {
            if !path.exists() {
                break;
            }
            path = self.path.join(format!("samples-{number}.parquet"));
        }
        SampleWriter::create(&path)
    }

    /// Opens a file for what is noted while this run goes on.
    ///
    /// # Errors
    /// The file could not be created.
    pub fn live(&self) -> Result<LiveWriter, ArchiveError> {
        LiveWriter::create(&self.path)
    }

    /// Keeps what was concluded, in place of what was concluded before.
    ///
    /// # Errors
    /// It could not be written, or holds a number that has no form in JSON.
    pub fn conclude(&self, findings: &Findings) -> Result<(), ArchiveError> {
        conclude(&self.path, findings)
    }
}

/// Keeps what was concluded from the run in this folder.
pub(crate) fn conclude(folder: &Path, findings: &Findings) -> Result<(), ArchiveError> {
    let unreadable = |why| ArchiveError::Unreadable { path: folder.join(VERDICTS), why };
    durable::write(folder, VERDICTS, &(readable(findings, true).map_err(unreadable)? + "\n"))
}

/// The plan as TOML that is known to read back.
fn readable_plan(plan: &Plan) -> Result<String, String> {
    let text = toml::to_string_pretty(plan).map_err(|error| error.to_string())?;
    match toml::from_str::<Plan>(&text) {
        Ok(again) if again == *plan => Ok(text),
        Ok(_) => Err("it reads back as something else".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The value as JSON that is known to read back: infinities and not-a-number would turn into `null` unnoticed.
fn readable<T: Serialize + DeserializeOwned + PartialEq>(value: &T, pretty: bool) -> Result<String, String> {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    let text = text.map_err(|error| error.to_string())?;
    match serde_json::from_str::<T>(&text) {
        Ok(again) if again == *value => Ok(text),
        Ok(_) => Err("it reads back as something else".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
