//! `--openmetrics`: all drives as metrics, for Prometheus.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use likenew_history::History;
use likenew_metrics::{Attempt, Fleet};

use crate::exit::Failure;
use crate::output_file::OutputFile;
use crate::wording::history as wording;
use crate::{output, wording as common};

/// node_exporter reads files with this ending, and so never one that is not finished.
const ENDING: &str = "prom";
/// Its user reads the file, and only its owner replaces it.
const MODE: u32 = 0o644;

/// Refuses a file that node_exporter would not read, before anything is measured.
///
/// # Errors
/// Wrong usage: another ending, a folder, or a folder that does not exist.
pub(crate) fn check_file(path: &Path) -> Result<(), Failure> {
    if path != Path::new("-") && path.extension().is_none_or(|ending| ending != ENDING) {
        return Err(Failure::Usage(wording::not_a_textfile(path)));
    }
    output::check_file(path)
}

/// Writes the metrics of all drives, and what became of these attempts to check one, to a file, which is always whole, or to
/// standard output with `-`.
///
/// # Errors
/// The history cannot be read, or the file cannot be written.
pub(crate) fn write(history: &mut History, attempts: &[Attempt], path: &Path) -> Result<(), Failure> {
    let text = likenew_metrics::text(&Fleet::read(history)?.with_attempts(attempts));
    if path == Path::new("-") {
        return output::print(&text);
    }
    let unfinished = OutputFile::begin(path)?;
    let written = unfinished
        .file()
        .write_all(text.as_bytes())
        .and_then(|()| unfinished.file().set_permissions(Permissions::from_mode(MODE)));
    written.with_context(|| common::could_not_write(path))?;
    unfinished.finish().map(drop)
}
