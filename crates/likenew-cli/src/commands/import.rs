//! `likenew import`: what other programs have measured or recorded.

mod fio;
mod survey_text;
mod trace;

use std::path::Path;

use crate::arguments::{Import, ImportFrom};
use crate::exit::{Exit, Failure};

pub(crate) fn run(command: &Import) -> Result<Exit, Failure> {
    match &command.from {
        ImportFrom::Fio(command) => fio::run(command),
        ImportFrom::Trace(command) => trace::run(command),
    }
}

fn spoken(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
