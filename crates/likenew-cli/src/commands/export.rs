//! `likenew export RUN FILE`: one run as one file.

use std::path::Path;

use likenew_archive::{ExportKey, export};

use crate::arguments::Export;
use crate::exit::{Exit, Failure};
use crate::measure::archive_root;
use crate::{output, wording};

pub(crate) fn run(command: &Export) -> Result<Exit, Failure> {
    if command.file.exists() {
        return Err(Failure::Usage(wording::file_exists(command.file.display())));
    }
    let root = archive_root(command.archive.as_deref())?;
    let key = root.parent().unwrap_or(Path::new(".")).join("export.key");
    let key = ExportKey::open(&key, likenew_real::clock::new_secret)?;
    export(&command.run, &command.file, &key)?;
    output::print(&wording::run_exported(&command.file))?;
    Ok(Exit::Fine)
}
