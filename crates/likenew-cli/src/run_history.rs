//! The history of the runs that a command works with.

use likenew_archive::Archive;
use likenew_history::{History, HistoryError, Location};

use crate::arguments::HistoryPlace;
use crate::exit::Failure;

/// The environment variable that says where it is.
const VARIABLE: &str = "LIKENEW_HISTORY";

/// Opens the history of an archive: the one on the command line, in the environment, or beside the archive.
pub(crate) fn open(place: &HistoryPlace, archive: Archive) -> Result<History, Failure> {
    let variable = || std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    let location = match place.history.clone().or_else(variable) {
        Some(text) => Location::parse(&text)?,
        None => Location::beside(archive.root()),
    };
    Ok(History::open(&location, archive, &likenew_real::facts::machine_name())?)
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::NotALocation(_) | HistoryError::NotText(_) => Self::Usage(error.to_string()),
            HistoryError::Archive(error) => error.into(),
            error => Self::Other(error.into()),
        }
    }
}
