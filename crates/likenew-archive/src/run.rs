//! A run that is being written.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

use likenew_core::findings::Findings;
use likenew_core::probe::Observation;
use likenew_core::procedure::Plan;
use likenew_core::segment::Segment;

use crate::error::ArchiveError;
use crate::lines::{Lines, readable};
use crate::live::LiveWriter;
use crate::machine::{Machine, PLAN_SCHEMA, SCHEMA, check_schema};
use crate::sample_writer::SampleWriter;
use crate::{folder, wording};

pub(crate) const PLAN: &str = "plan.toml";
pub(crate) const MACHINE: &str = "machine.json";
pub(crate) const SEGMENTS: &str = "segments.jsonl";
pub(crate) const OBSERVATIONS: &str = "observations.jsonl";
pub(crate) const FINDINGS: &str = "findings.json";

/// A run folder that is open for writing, by this process alone.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    segments: Lines,
    /// Runs without a probe have no such file.
    observations: Option<Lines>,
}

impl Run {
    /// Fills a new, empty folder.
    pub(crate) fn create(path: &Path, plan: &Plan, machine: &Machine) -> Result<Self, ArchiveError> {
        assert_eq!(machine.schema, SCHEMA, "a new run is of the present schema");
        check_schema(&path.join(PLAN), Some(u64::from(plan.schema)), PLAN_SCHEMA)?;
        let unreadable =
            |file| move |reason: String| ArchiveError::Unreadable { path: path.join(file), reason };
        folder::write(path, PLAN, &readable_plan(plan).map_err(unreadable(PLAN))?)?;
        folder::write(path, MACHINE, &(readable(machine, true).map_err(unreadable(MACHINE))? + "\n"))?;
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
            // A file system without locks cannot prevent a second writer; with a single one, appending is
            // right.
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(ArchiveError::system("lock", &path.join(SEGMENTS))(error));
            }
            _ => {}
        }
        let observations = path.join(OBSERVATIONS);
        let observations = observations.exists().then(|| Lines::reopen(observations));
        Ok(Self { path: path.to_owned(), segments, observations: observations.transpose()? })
    }

    /// Keeps so many segments and observations and cuts off the rest.
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
    /// It could not be written. Then nothing of it is in the file, and earlier ones still are.
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

    /// Opens a file for the single I/Os of this run. A second one is opened beside the first when the run is resumed.
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

    /// Stores the findings, in place of earlier ones.
    ///
    /// # Errors
    /// It could not be written, or has a number that JSON cannot hold.
    pub fn conclude(&self, findings: &Findings) -> Result<(), ArchiveError> {
        conclude(&self.path, findings)
    }
}

/// The files of samples in a run folder, in the order in which they were made: one for each part of a run that was resumed.
pub fn sample_files(folder: &Path) -> Vec<PathBuf> {
    (1..).map(|number| sample_file(folder, number)).take_while(|path| path.exists()).collect()
}

fn sample_file(folder: &Path, number: usize) -> PathBuf {
    folder.join(if number == 1 { "samples.parquet".to_owned() } else { format!("samples-{number}.parquet") })
}

/// Stores the findings of the run in this folder.
pub(crate) fn conclude(folder: &Path, findings: &Findings) -> Result<(), ArchiveError> {
    let unreadable = |reason| ArchiveError::Unreadable { path: folder.join(FINDINGS), reason };
    crate::folder::write(folder, FINDINGS, &(readable(findings, true).map_err(unreadable)? + "\n"))
}

/// The plan as TOML that is known to read back.
fn readable_plan(plan: &Plan) -> Result<String, String> {
    let text = toml::to_string_pretty(plan).map_err(|error| error.to_string())?;
    match toml::from_str::<Plan>(&text) {
        Ok(again) if again == *plan => Ok(text),
        Ok(_) => Err(wording::READS_BACK_DIFFERENTLY.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
