//! The history of the runs that a command works with.

use std::path::PathBuf;

use likenew_archive::Archive;
use likenew_history::{DriveRow, History, HistoryError, KeptRuns, Location};

use crate::arguments::HistoryPlace;
use crate::exit::Failure;
use crate::wording::history as wording;

/// The environment variable that says where it is.
const VARIABLE: &str = "LIKENEW_HISTORY";

/// Opens the history of an archive: the one on the command line, in the environment, or beside the archive.
pub(crate) fn open(place: &HistoryPlace, archive: &Archive) -> Result<History, Failure> {
    Ok(kept_runs(place, archive.root().to_owned())?.open()?)
}

/// Brings a history up to date, or says that this user only reads it.
pub(crate) fn update(history: &mut History) -> Result<(), Failure> {
    if history.update()?.is_refused {
        crate::standard_error::note(wording::RUNS_NOT_ADDED);
    }
    Ok(())
}

/// The runs in this folder, and where their history is.
pub(crate) fn kept_runs(place: &HistoryPlace, archive: PathBuf) -> Result<KeptRuns, Failure> {
    let variable = || std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    let location = match place.history.clone().or_else(variable) {
        Some(text) => Location::parse(&text)?,
        None => Location::beside(&archive),
    };
    Ok(KeptRuns { archive, location, machine: likenew_real::facts::machine_name() })
}

/// The drives that a user may mean: by key, or by target as it was named or as the system names it.
pub(crate) fn find(history: &mut History, typed: &str) -> Result<Vec<DriveRow>, Failure> {
    let found = history.find(typed)?;
    if let (true, Ok(path)) = (found.is_empty(), std::fs::canonicalize(typed)) {
        return Ok(history.find(&path.display().to_string())?);
    }
    Ok(found)
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::NotALocation(_) | HistoryError::NotAFile(_) | HistoryError::NotText(_) => {
                Self::Usage(error.to_string())
            }
            HistoryError::Archive(error) => error.into(),
            error => Self::Other(error.into()),
        }
    }
}
