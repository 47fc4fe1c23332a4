//! Writes and reads the folder of one run.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

use likenew_core::counters::FlashCounters;
use likenew_core::findings::Findings;
use likenew_core::input::{self, FileKind};
use likenew_core::probe::Observation;
use likenew_core::procedure::{Evidence, PastStep, Plan, history};
use likenew_core::segment::Segment;
use likenew_core::validation::check_all;
use serde::Deserialize;

use super::error::ArchiveError;
use super::folder::{Lines, LiveWriter, Machine, PLAN_SCHEMA, SCHEMA, check_schema, json, readable};
use super::samples::SampleWriter;
use super::{folder, wording};

pub(crate) const PLAN: &str = "plan.toml";
pub(crate) const MACHINE: &str = "machine.json";
pub(crate) const SEGMENTS: &str = "segments.jsonl";
pub(crate) const OBSERVATIONS: &str = "observations.jsonl";
pub(crate) const FINDINGS: &str = "findings.json";

/// A run folder, open for writing by this process alone.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    segments: Lines,
    /// Absent if the run has no probes.
    observations: Option<Lines>,
}

impl Run {
    /// Creates the files in a new, empty folder.
    pub(crate) fn create(path: &Path, plan: &Plan, machine: &Machine) -> Result<Self, ArchiveError> {
        assert_eq!(machine.schema, SCHEMA, "a new run is of the present schema");
        check_schema(&path.join(PLAN), Some(u64::from(plan.schema)), PLAN_SCHEMA)?;
        let toml = toml::to_string_pretty(plan);
        let toml = readable(&path.join(PLAN), plan, toml, |text| toml::from_str(text))?;
        folder::write(path, PLAN, &toml)?;
        folder::write(path, MACHINE, &(json(&path.join(MACHINE), machine, true)? + "\n"))?;
        let run = Self::of_segments(path, Lines::create(path.join(SEGMENTS))?)?;
        folder::sync(path)?;
        Ok(run)
    }

    /// Continues a run.
    pub(crate) fn reopen(path: &Path) -> Result<Self, ArchiveError> {
        if !path.join(SEGMENTS).exists() {
            return Err(ArchiveError::not_a_run(path, SEGMENTS));
        }
        Self::of_segments(path, Lines::reopen(path.join(SEGMENTS))?)
    }

    fn of_segments(path: &Path, segments: Lines) -> Result<Self, ArchiveError> {
        match segments.file().try_lock() {
            Err(TryLockError::WouldBlock) => return Err(ArchiveError::Busy(path.to_owned())),
            // A file system without locks cannot prevent a second writer, but one writer can append safely.
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(ArchiveError::system("lock", &path.join(SEGMENTS))(error));
            }
            _ => {}
        }
        let observations = path.join(OBSERVATIONS);
        let observations = observations.exists().then(|| Lines::reopen(observations));
        Ok(Self { path: path.to_owned(), segments, observations: observations.transpose()? })
    }

    /// Keeps the first `segments` and `observations`, and cuts off the rest.
    ///
    /// # Errors
    /// The files could not be shortened.
    pub fn cut_after(&self, segments: usize, observations: usize) -> Result<(), ArchiveError> {
        self.segments.cut_after(segments)?;
        self.observations.as_ref().map_or(Ok(()), |lines| lines.cut_after(observations))
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores the segment of a workload; durable when this returns.
    ///
    /// # Errors
    /// The segment could not be written. Then no part of it is in the file, and earlier segments are intact.
    pub fn push(&mut self, segment: &Segment) -> Result<(), ArchiveError> {
        self.segments.push(segment)
    }

    /// Stores an observation; durable when this returns.
    ///
    /// # Errors
    /// As for [`Run::push`].
    pub fn push_observation(&mut self, observation: &Observation) -> Result<(), ArchiveError> {
        if let Some(observations) = &mut self.observations {
            return observations.push(observation);
        }
        let created = Lines::create(self.path.join(OBSERVATIONS))?;
        folder::sync(&self.path)?;
        self.observations.insert(created).push(observation)
    }

    /// Opens a file for the single I/Os of this run. A resumed run opens a further one beside the earlier ones.
    ///
    /// # Errors
    /// The file could not be created.
    pub fn samples(&self) -> Result<SampleWriter, ArchiveError> {
        SampleWriter::create(&sample_file(&self.path, sample_files(&self.path).len() + 1))
    }

    /// Opens a file for notes taken while this run is under way.
    ///
    /// # Errors
    /// The file could not be created.
    pub fn live(&self) -> Result<LiveWriter, ArchiveError> {
        LiveWriter::create(&self.path)
    }

    /// Stores the findings in place of earlier ones.
    ///
    /// # Errors
    /// They could not be written, or contain a number that JSON cannot hold.
    pub fn conclude(&self, findings: &Findings) -> Result<(), ArchiveError> {
        conclude(&self.path, findings)
    }
}

/// The files of samples in a run folder, in the order in which they were made: one for each part of a resumed run.
pub fn sample_files(folder: &Path) -> Vec<PathBuf> {
    (1..).map(|number| sample_file(folder, number)).take_while(|path| path.exists()).collect()
}

fn sample_file(folder: &Path, number: usize) -> PathBuf {
    folder.join(if number == 1 { "samples.parquet".to_owned() } else { format!("samples-{number}.parquet") })
}

/// Stores the findings of the run in this folder.
pub(crate) fn conclude(folder: &Path, findings: &Findings) -> Result<(), ArchiveError> {
    crate::folder::write(folder, FINDINGS, &(json(&folder.join(FINDINGS), findings, true)? + "\n"))
}

/// The plan and the machine of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The plan.
    pub plan: Plan,
    /// The target, the program, and when the run began.
    pub machine: Machine,
}

/// Everything in a run folder except the single I/Os.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The folder.
    pub path: PathBuf,
    /// The plan and the machine of a run.
    pub header: Header,
    /// Segments, oldest first.
    pub segments: Vec<Segment>,
    /// Observations, oldest first.
    pub observations: Vec<Observation>,
    /// The findings, if the run has any.
    pub findings: Option<Findings>,
    /// What is missing or was left out, in sentences.
    pub notes: Vec<String>,
}

impl Header {
    /// Reads `plan.toml` and `machine.json` of a run folder.
    ///
    /// # Errors
    /// It is not a run folder, has a newer schema, or is damaged.
    pub fn open(folder: &Path) -> Result<Self, ArchiveError> {
        let path = folder.join(PLAN);
        let text = read(folder, PLAN, input::PLAN)?;
        let version: Version =
            toml::from_str(&text).map_err(|error| ArchiveError::damaged_file(&path, None, error))?;
        check_schema(&path, version.schema, PLAN_SCHEMA)?;
        let plan = toml::from_str(&text).map_err(|error| ArchiveError::damaged_file(&path, None, error))?;

        let path = folder.join(MACHINE);
        let text = read(folder, MACHINE, input::MACHINE)?;
        let version: Version =
            serde_json::from_str(&text).map_err(|error| ArchiveError::damaged_file(&path, None, error))?;
        check_schema(&path, version.schema, SCHEMA)?;
        let machine =
            serde_json::from_str(&text).map_err(|error| ArchiveError::damaged_file(&path, None, error))?;
        Ok(Self { plan, machine })
    }
}

impl Record {
    /// Reads a run folder.
    ///
    /// # Errors
    /// It is not a run folder, has a newer schema, or has damage in a file that cannot be made again.
    pub fn open(folder: &Path) -> Result<Self, ArchiveError> {
        let header = Header::open(folder)?;
        let mut notes = Vec::new();
        let segments = folder::read(&folder.join(SEGMENTS), &mut notes)?;
        let segments: Vec<Segment> = segments.ok_or_else(|| ArchiveError::not_a_run(folder, SEGMENTS))?;
        check(&folder.join(SEGMENTS), segments.iter().map(Segment::check))?;
        let mut observations: Vec<Observation> =
            folder::read(&folder.join(OBSERVATIONS), &mut notes)?.unwrap_or_default();
        check(&folder.join(OBSERVATIONS), observations.iter().map(Observation::check))?;
        // An observation after a cut-off workload is dropped with it.
        observations.retain(|observation| observation.after <= segments.len());
        let findings = read_findings(folder, &mut notes);
        let (geometry, identity) = (&header.machine.geometry, &header.machine.identity);
        check_all(geometry, identity, &segments)
            .map_err(|reason| ArchiveError::damaged_file(folder, None, reason))?;
        Ok(Self { path: folder.to_owned(), header, segments, observations, findings, notes })
    }

    /// The evidence for a procedure. Its flash counters are those after the last workload or probe.
    pub fn evidence(&self) -> Evidence {
        self.clone().take_evidence()
    }

    /// Returns the evidence by moving the measurements, of which this record has none afterward.
    pub fn take_evidence(&mut self) -> Evidence {
        let (segments, observations) =
            (std::mem::take(&mut self.segments), std::mem::take(&mut self.observations));
        let Header { plan, machine } = self.header.clone();
        let mut identity = machine.identity;
        identity.accounting = last_counters(&segments, &observations).or(identity.accounting);
        Evidence { segments, observations, ..Evidence::new(plan, identity, machine.geometry) }
    }

    /// Stores the findings after the run was judged again.
    ///
    /// # Errors
    /// They could not be written.
    pub fn conclude(&self, findings: &Findings) -> Result<(), ArchiveError> {
        conclude(&self.path, findings)
    }

    /// The files with the single I/Os of this run, in the order in which they were written; empty if none were kept.
    pub fn sample_files(&self) -> Vec<PathBuf> {
        sample_files(&self.path)
    }
}

/// A simulated drive's counters at the end of a run.
fn last_counters(segments: &[Segment], observations: &[Observation]) -> Option<FlashCounters> {
    let counters = history(segments, observations).filter_map(|history| match history {
        PastStep::Segment(segment) => segment.accounting,
        PastStep::Observation(observation) => observation.accounting,
    });
    counters.last()
}

/// Fails at the first line with numbers that cannot have been measured.
fn check(path: &Path, lines: impl Iterator<Item = Result<(), String>>) -> Result<(), ArchiveError> {
    let mut lines = lines.enumerate();
    lines.try_for_each(|(index, line)| {
        line.map_err(|reason| ArchiveError::damaged_file(path, Some(index + 1), reason))
    })
}

/// The one field that every schema has.
#[derive(Deserialize)]
struct Version {
    schema: Option<u64>,
}

fn read(folder: &Path, name: &'static str, kind: FileKind) -> Result<String, ArchiveError> {
    let path = folder.join(name);
    let text = folder::input(&path, kind).and_then(|file| input::text(input::read_file(file, kind)?));
    text.map_err(|error| match error {
        error if error.is_missing() => ArchiveError::not_a_run(folder, name),
        error => ArchiveError::input(&path, None)(error),
    })
}

/// Findings can be computed again, so damage to them must not block access to the evidence.
fn read_findings(folder: &Path, notes: &mut Vec<String>) -> Option<Findings> {
    let path = folder.join(FINDINGS);
    let read = folder::input(&path, input::FINDINGS).and_then(|file| input::read_file(file, input::FINDINGS));
    let text = match read {
        Err(error) if error.is_missing() => return None,
        text => text.map_err(|error| error.to_string()),
    };
    let findings = text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    findings.inspect_err(|reason| notes.push(wording::findings_ignored(FINDINGS, reason, folder))).ok()
}
