//! `likenew import`: runs of other machines, measurements and traces of other programs.

pub(super) mod fio;
mod run_file;
mod survey_text;
mod trace;
mod wording;

use std::path::Path;

use crate::arguments::{Import, ImportSource};
use crate::exit::{Exit, Failure};

pub(crate) fn run(command: &Import) -> Result<Exit, Failure> {
    match &command.from {
        ImportSource::Run(command) => run_file::run(command),
        ImportSource::Fio(command) => fio::run(command),
        ImportSource::Trace(command) => trace::run(command),
    }
}

fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
