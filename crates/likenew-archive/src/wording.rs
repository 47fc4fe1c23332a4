//! All sentences of the archive, except those at the variants of [`ArchiveError`](crate::ArchiveError).

use std::io::{Error, ErrorKind};
use std::path::Path;

use parquet::errors::ParquetError;

/// What to do about an error of the system.
pub(crate) fn advice(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space there, or keep the runs on another drive with --archive DIR"
        }
        ErrorKind::PermissionDenied => {
            "change its permissions, or keep the runs in a folder of your own with --archive DIR"
        }
        ErrorKind::ReadOnlyFilesystem => "keep the runs on a writable drive with --archive DIR",
        ErrorKind::NotFound => "check that the path exists",
        ErrorKind::InvalidInput => "name what it leads to, or put that in its place",
        _ => "check the drive that holds it, or keep the runs on another one with --archive DIR",
    }
}

// Links, and notes on lines and files that were left out

likenew_core::sentences! {
    pub(crate) fn link(path: &Path) =
        "{} is a link, and a run is read and written without following any", path.display();
    pub(crate) fn newer_line(number: usize) = "line {number} was written by a newer version and is skipped";
    pub(crate) fn incomplete_line(number: usize) =
        "line {number} is incomplete, as after a power cut, and is skipped";
    pub(crate) fn unfinished_line(file: &str, number: usize) =
        "{file} ends in the middle of line {number}, which is left out: the run stopped in the middle of a \
         test, or goes on";
    pub(crate) fn findings_ignored(file: &str, reason: &str, run: &Path) =
        "{file} cannot be read ({reason}), so it is ignored; `likenew judge {}` makes it again",
        run.display();
}

// Why a file is damaged

likenew_core::sentences! {
    pub(crate) fn too_many_lines(most: usize) = "it has more than {most} lines, which no run writes";
    pub(crate) fn no_samples(error: &ParquetError) =
        "it was not closed, or is not a file of samples ({error})";
    pub(crate) fn impossible_group(rows: i64) = "a group of {rows} rows";
    pub(crate) fn short_column(index: usize, rows: usize, expected: usize) =
        "column {index} ends after {rows} of {expected} rows";
}

pub(crate) const READS_BACK_DIFFERENTLY: &str = "it failed its read-back check";

pub(crate) const OTHER_COLUMNS: &str = "it has other columns than a file of samples";
pub(crate) const NUMBERS_CONTRADICT: &str = "its values are inconsistent";
pub(crate) const OUTCOME_TOO_LARGE: &str = "an outcome of too many bytes";
pub(crate) const ERRNO_IMPOSSIBLE: &str = "an impossible error number";
pub(crate) const STREAM_TOO_LARGE: &str = "a stream number beyond 65535";
pub(crate) const OPERATION_UNKNOWN: &str = "an unknown operation";

/// The description of the column `outcome` in a file of samples.
pub(crate) const OUTCOME_MEANING: &str = "bytes moved, or the negated error number";

// Why an exported run is not imported

likenew_core::sentences! {
    pub(crate) fn foreign_entry(name: &str) = "it holds {name:?}, which no run has";
    pub(crate) fn repeated_entry(name: &str) = "it holds {name} twice";
    pub(crate) fn not_a_file(name: &str) = "{name} is not an ordinary file in it";
    pub(crate) fn large_entry(name: &str, most: &str) = "{name} is larger than {most}, and it never is";
    pub(crate) fn truncated_bundle(reason: &str) = "it is incomplete or damaged ({reason})";
    pub(crate) fn other_bundle_schema(version: u64) =
        "it has schema {version}, and this version of Likenew reads schema 1";
}

pub(crate) const DATA_AFTER_THE_END: &str = "it goes on after its last file";
pub(crate) const NOT_A_BUNDLE: &str = "it is not a file that likenew export wrote";
pub(crate) const EXPORT_KEY_DAMAGED: &str = "it is not 32 bytes long";
