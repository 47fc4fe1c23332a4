//! A run that is read.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use likenew_core::plan::Plan;
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_core::verdict::Findings;
use serde::Deserialize;

use crate::error::ArchiveError;
use crate::machine::{Machine, check_schema};
use crate::run::{self, MACHINE, PLAN, SEGMENTS, VERDICTS};

/// What was asked, and of what.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// What was asked.
    pub plan: Plan,
    /// Of what, with what, and when.
    pub machine: Machine,
}

/// Everything in a run folder but the single I/Os.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The folder.
    pub path: PathBuf,
    /// What was asked, and of what.
    pub header: Header,
    /// What was measured, in order.
    pub segments: Vec<Segment>,
    /// What was concluded, if that was reached.
    pub findings: Option<Findings>,
    /// What is missing or was left out, in sentences.
    pub notes: Vec<String>,
}

impl Header {
    /// Reads `plan.toml` and `machine.json` of a run folder.
    ///
    /// # Errors
    /// It is no run folder, of a newer schema, or damaged.
    pub fn open(folder: &Path) -> Result<Self, ArchiveError> {
        let path = folder.join(PLAN);
        let text = read(folder, PLAN)?;
        let version: Version =
            toml::from_str(&text).map_err(|error| ArchiveError::broken(&path, None, error))?;
        check_schema(&path, version.schema)?;
        let plan = toml::from_str(&text).map_err(|error| ArchiveError::broken(&path, None, error))?;

        let path = folder.join(MACHINE);
        let text = read(folder, MACHINE)?;
        let version: Version =
            serde_json::from_str(&text).map_err(|error| ArchiveError::broken(&path, None, error))?;
        check_schema(&path, version.schema)?;
        let machine =
            serde_json::from_str(&text).map_err(|error| ArchiveError::broken(&path, None, error))?;
        Ok(Self { plan, machine })
    }
}

impl Record {
    /// Reads a run folder.
    ///
    /// # Errors
    /// It is no run folder, of a newer schema, or damaged in a file that can not be made again.
    pub fn open(folder: &Path) -> Result<Self, ArchiveError> {
        let header = Header::open(folder)?;
        let mut notes = Vec::new();
        let segments = read_segments(folder, &mut notes)?;
        let findings = read_findings(folder, &mut notes);
        Ok(Self { path: folder.to_owned(), header, segments, findings, notes })
    }

    /// What a procedure is asked about. A simulated drive's books are those after the last workload.
    pub fn evidence(&self) -> Evidence {
        let mut identity = self.header.machine.identity.clone();
        let last = self.segments.iter().rev().find_map(|segment| segment.accounting);
        identity.accounting = last.or(identity.accounting);
        Evidence {
            plan: self.header.plan.clone(),
            identity,
            geometry: self.header.machine.geometry.clone(),
            segments: self.segments.clone(),
        }
    }

    /// Keeps what was concluded when the run was judged again.
    ///
    /// # Errors
    /// It could not be written.
    pub fn conclude(&self, findings: &Findings) -> Result<(), ArchiveError> {
        run::conclude(&self.path, findings)
    }

    /// The files with the single I/Os of this run, in the order they were written; none if none were kept.
    pub fn sample_files(&self) -> Vec<PathBuf> {
        let names = std::iter::once("samples.parquet".to_owned())
            .chain((2u64..).map(|number| format!("samples-{number}.parquet")));
        names.map(|name| self.path.join(name)).take_while(|path| path.exists()).collect()
    }
}

/// The one thing in a file that every schema has.
#[derive(Deserialize)]
struct Version {
    schema: Option<u64>,
}

fn read(folder: &Path, name: &'static str) -> Result<String, ArchiveError> {
    let path = folder.join(name);
    fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => not_a_run(folder, name),
        io::ErrorKind::InvalidData => ArchiveError::broken(&path, None, "it is not text"),
        _ => ArchiveError::system("read", &path)(error),
    })
}

fn not_a_run(folder: &Path, missing: &'static str) -> ArchiveError {
    ArchiveError::NotARun { path: folder.to_owned(), missing }
}

/// Every whole line. A last line without an end is what a kill leaves, and is left out.
fn read_segments(folder: &Path, notes: &mut Vec<String>) -> Result<Vec<Segment>, ArchiveError> {
    let path = folder.join(SEGMENTS);
    let file = File::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => not_a_run(folder, SEGMENTS),
        _ => ArchiveError::system("read", &path)(error),
    })?;
    let (mut reader, mut line, mut segments) = (BufReader::new(file), Vec::new(), Vec::new());
    for number in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(ArchiveError::system("read", &path))? == 0 {
            break;
        }
        if !line.ends_with(b"\n") {
            notes.push(format!(
                "{SEGMENTS} ends in the middle of line {number}: the run was cut off there, or is still being written; that line is left out"
            ));
            break;
        }
        let segment = serde_json::from_slice(&line);
        segments.push(segment.map_err(|error| ArchiveError::broken(&path, Some(number), error))?);
    }
    Ok(segments)
}

/// Verdicts can be made again, so that damage to them keeps nobody from the evidence.
fn read_findings(folder: &Path, notes: &mut Vec<String>) -> Option<Findings> {
    let text = match fs::read(folder.join(VERDICTS)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        text => text.map_err(|error| error.to_string()),
    };
    let findings = text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    findings
        .inspect_err(|why| {
            notes.push(format!("{VERDICTS} can not be read ({why}) and is left out; judge the run again"))
        })
        .ok()
}
