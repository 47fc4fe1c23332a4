//! Workloads as a fio job file.

mod error;
mod section;
mod wording;

use std::fmt::Write as _;

use likenew_core::drive::Kind;
use likenew_core::target::Geometry;
use likenew_core::workload::Workload;

use crate::import::kind_of;
pub use error::{ExportError, MissingFeature};
use section::Section;

/// Stands for a file that is named when fio is started: fio replaces it by an environment variable.
pub const FILENAME_LEFT_OPEN: &str = "${LIKENEW_FILE}";

/// The job file that does what these workloads do, one after the other, on `filename`.
///
/// `notes` are put on top as comments: which plan this is, and what else a reader should know. `geometry` is
/// that of the drive the workloads are for; zones are resolved on it. Every size is a plain count of bytes,
/// since fio reads `4GiB` as 4·10⁹ bytes unless `kb_base` is set (fio's HOWTO, "kb_base").
///
/// # Errors
/// A workload does not fit the drive, or fio cannot do it.
pub fn export(
    workloads: &[Workload],
    geometry: &Geometry,
    filename: &str,
    notes: &[String],
) -> Result<String, ExportError> {
    if workloads.is_empty() {
        return Err(ExportError::Nothing);
    }
    let mut out = head(&escape(filename)?, notes, workloads.iter().any(Workload::writes));
    let is_device = kind_of(filename) == Kind::Device || filename == FILENAME_LEFT_OPEN;
    for (index, workload) in workloads.iter().enumerate() {
        workload.check(geometry).map_err(ExportError::Unfit)?;
        for section in Section::from_workload(workload, index + 1, geometry, is_device)? {
            write!(out, "\n{section}").expect("text can be written to");
        }
    }
    Ok(out)
}

/// fio divides names at colons.
fn escape(filename: &str) -> Result<String, ExportError> {
    let left_open = filename == FILENAME_LEFT_OPEN;
    let bad = |c: char| matches!(c, '#' | ';' | '$') || c.is_control();
    let spaced = filename != filename.trim();
    if filename.is_empty() || spaced || (!left_open && filename.contains(bad)) {
        return Err(ExportError::Filename(filename.to_owned()));
    }
    Ok(filename.replace(':', "\\:"))
}

/// What every job shares.
fn head(filename: &str, notes: &[String], writes: bool) -> String {
    let run = if filename == FILENAME_LEFT_OPEN { wording::RUN_WITH_FILE } else { wording::RUN };
    let caution = writes.then_some(wording::CAUTION);
    let own_lines = [run].into_iter().chain(caution).chain(wording::COMPARISON.lines());
    let mut out = String::new();
    for line in notes.iter().flat_map(|note| note.lines()).chain(own_lines) {
        // fio reads 4096 bytes at a time and would take the rest of a longer comment for an option.
        let characters: Vec<char> = line.chars().collect();
        for piece in characters.chunks(1000) {
            writeln!(out, "# {}", piece.iter().collect::<String>()).expect("text can be written to");
        }
    }
    writeln!(out, "\n[global]\nfilename={filename}\n# {}", wording::ENGINE).expect("text can be written to");
    out + COMMON
}

/// `randrepeat=0`: with the default, fio repeats the same addresses whenever it has moved as many bytes as a
/// zone has. `norandommap=1`: our random addresses may repeat, too.
const COMMON: &str = "\
ioengine=io_uring
direct=1
thread=1
norandommap=1
randrepeat=0
lat_percentiles=1
clat_percentiles=0
";

#[cfg(test)]
mod tests;
