//! Errors of the index of runs.

use std::path::PathBuf;

use likenew_archive::ArchiveError;

/// Why a history could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The location is neither a file nor a server's address.
    #[error("{0:?} is not a history: give a file, or postgres://USER@HOST/DATABASE")]
    NotALocation(String),
    /// The location is a device, a folder, a pipe or a link.
    #[error("could not open the history {}: it is a link, or no file; name a file with --history", .0.display())]
    NotAFile(PathBuf),
    /// The database could not be opened.
    #[error("could not open the history {location}: {reason}; {advice}")]
    Unopened {
        /// The database's location, without a password.
        location: String,
        /// The database's error.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// A newer version of Likenew changed the tables.
    #[error(
        "the history {0} was made by a newer version of Likenew; use that version, or name another file with --history"
    )]
    Newer(String),
    /// The drive that holds the database is full.
    #[error(
        "could not write the history: the drive that holds it is full; free some space there, or name another file with --history"
    )]
    Full,
    /// A query failed.
    #[error(
        "the history could not be {action}: {source}; likenew history --rebuild makes it again from the run folders"
    )]
    Query {
        /// What was attempted: "read".
        action: &'static str,
        /// The database's error.
        source: sqlx::Error,
    },
    /// The run folders could not be listed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The path is not UTF-8, so the database's address cannot contain it.
    #[error("{} is not text, and the name of a history has to be", .0.display())]
    NotText(PathBuf),
    /// The runtime of the database driver could not be started.
    #[error("could not start the client of the history: {0}")]
    Runtime(std::io::Error),
}

impl HistoryError {
    pub(crate) fn query(action: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| if is_full(&source) { Self::Full } else { Self::Query { action, source } }
    }
}

/// SQLite's and PostgreSQL's codes for a full drive.
const FULL_CODES: [&str; 2] = ["13", "53100"];

/// Whether the database's drive is full.
pub(crate) fn is_full(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| FULL_CODES.contains(&&*code))
}
