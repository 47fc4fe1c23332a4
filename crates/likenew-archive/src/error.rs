//! Why a run could not be kept or read.

use std::io;
use std::path::{Path, PathBuf};

use likenew_core::input::InputError;
use likenew_core::target_error::system_reason;

use crate::wording::advice;

/// Why a run could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The operating system refused.
    #[error("could not {action} {}: {}; {}", path.display(), system_reason(source), advice(source))]
    System {
        /// The operation that failed, such as "write".
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// There is nothing at this path.
    #[error("{} does not exist; likenew report --list shows kept runs", .0.display())]
    NoSuchRun(PathBuf),
    /// The folder is not a run folder.
    #[error("{} is not a run folder (no {missing}); likenew report --list shows kept runs", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// The file that every run folder has, and this folder lacks.
        missing: &'static str,
    },
    /// A newer likenew wrote it.
    #[error("{} has schema {version}, and this version of Likenew reads schema {supported}; use the version that wrote it", path.display())]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// The file's version.
        version: u64,
        /// The newest version that this program reads.
        supported: u32,
    },
    /// A file is damaged.
    #[error(
        "{} cannot be read: {reason}; it was changed or damaged after it was written: restore it from a copy, or leave this run out",
        place(path, *line)
    )]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line in the file, from 1.
        line: Option<usize>,
        /// What is wrong.
        reason: String,
    },
    /// A value would not read back as it was written: a bug in likenew.
    #[error("{} would not read back ({reason}), so it is not kept; please report this", path.display())]
    Unreadable {
        /// The file for the value.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Another process is writing this run.
    #[error("{} is being written by another run of Likenew; wait until it ends", .0.display())]
    Busy(PathBuf),
    /// An earlier write failed half-way and could not be undone.
    #[error("{} ends in the middle of a line, because an earlier write failed; resume the run to go on", .0.display())]
    Torn(PathBuf),
    /// A file is no exported run, or is one that must not be unpacked.
    #[error("{} is not imported: {reason}; export the run again, or ask for another copy", path.display())]
    BadBundle {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The same run is already kept.
    #[error("this run is kept already, in {}", .0.display())]
    KeptAlready(PathBuf),
    /// There is no folder for runs.
    #[error(
        "neither XDG_DATA_HOME nor HOME is set to an absolute path, so there is no folder for runs; set one or name a folder"
    )]
    NoHome,
    /// There is no place for the audit log.
    #[error(
        "neither XDG_STATE_HOME nor HOME is set to an absolute path, so there is no place for the audit log; set one"
    )]
    NoState,
}

impl ArchiveError {
    pub(crate) fn system(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::System { action, path, source }
    }

    /// Converts why an input cannot be read: the system refused, or the file is of a wrong kind.
    pub(crate) fn input(path: &Path, line: Option<usize>) -> impl FnOnce(InputError) -> Self {
        let path = path.to_owned();
        move |error| match error {
            InputError::System(source) => Self::System { action: "read", path, source },
            error => Self::Broken { path, line, reason: error.to_string() },
        }
    }

    /// Says why a folder is no run folder.
    pub(crate) fn not_a_run(path: &Path, missing: &'static str) -> Self {
        let path = path.to_owned();
        if path.exists() { Self::NotARun { path, missing } } else { Self::NoSuchRun(path) }
    }

    pub(crate) fn damaged_file(path: &Path, line: Option<usize>, reason: impl ToString) -> Self {
        Self::Broken { path: path.to_owned(), line, reason: reason.to_string() }
    }
}

fn place(path: &Path, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("{}, line {line},", path.display()),
        None => path.display().to_string(),
    }
}
