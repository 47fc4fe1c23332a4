//! Workloads as a fio job file.

mod section;

use std::fmt::Write as _;

use likenew_core::drive::Kind;
use likenew_core::target::Geometry;
use likenew_core::workload::Workload;

use crate::import::kind_of;
use section::Section;

/// Stands for a file that is named when fio is started: fio replaces it by an environment variable.
pub const FILENAME_LEFT_OPEN: &str = "${LIKENEW_FILE}";

/// Why workloads cannot be written as a job file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// There is nothing to export.
    #[error("there is no workload to export")]
    Nothing,
    /// A workload does not fit the drive.
    #[error("{0}")]
    Unfit(String),
    /// A workload asks for something that fio does not have.
    #[error("workload \"{workload}\" cannot be expressed in fio: {missing}")]
    NotExpressible {
        /// Its name.
        workload: String,
        /// What fio does not have, and what to use instead.
        missing: String,
    },
    /// A file name that a job file cannot contain.
    #[error(
        "\"{0}\" cannot stand in a fio job file, which gives \"#\", \";\", \"$\" and ends of lines a meaning of their own: \
         rename it, or leave it open with {FILENAME_LEFT_OPEN}"
    )]
    Filename(String),
}

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
    let mut out = String::new();
    for line in notes.iter().flat_map(|note| note.lines()) {
        // fio reads 4096 bytes at a time and would take the rest of a longer comment for an option.
        let characters: Vec<char> = line.chars().collect();
        for piece in characters.chunks(1000) {
            writeln!(out, "# {}", piece.iter().collect::<String>()).expect("text can be written to");
        }
    }
    if filename == FILENAME_LEFT_OPEN {
        out += "# Name what to measure: LIKENEW_FILE=/path/of/a/file fio --output-format=json+ THIS.fio\n";
    } else {
        out += "# Run it with: fio --output-format=json+ THIS.fio\n";
    }
    if writes {
        out +=
            "# CAUTION: these jobs write. Whatever the file or device holds is lost, and fio does not ask.\n";
    }
    out += COMMON_NOTES;
    writeln!(out, "\n[global]\nfilename={filename}").expect("text can be written to");
    out + COMMON
}

const COMMON_NOTES: &str = "\
# The result stands beside our own runs with: likenew import fio RESULT.json
# Numbers may differ, because fio counts latency from when it prepares an I/O and we from when it is handed over (or was due);
# fio hands over I/Os one by one and we what is ready at once; and fio lays out a file that is missing or too short by
# writing it before the first job.
";

/// `randrepeat=0`: with the default, fio repeats the same addresses whenever it has moved as many bytes as a
/// zone has. `norandommap=1`: our random addresses may repeat, too.
const COMMON: &str = "\
# libaio where the system refuses io_uring, as some containers do
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
