//! `likenew import run FILE`.

use likenew_archive::{Archive, ArchiveError, import};

use crate::arguments::ImportRun;
use crate::exit::{Exit, Failure};
use crate::measure::archive_root;
use crate::{output, wording};

pub(super) fn run(command: &ImportRun) -> Result<Exit, Failure> {
    let archive = Archive::new(archive_root(command.archive.as_deref())?);
    let folder = import(&command.file, &archive).map_err(|error| match error {
        ArchiveError::BadBundle { .. } | ArchiveError::KeptAlready(_) => Failure::Usage(error.to_string()),
        error => error.into(),
    })?;
    output::print(&wording::run_imported(&folder))?;
    Ok(Exit::Fine)
}
