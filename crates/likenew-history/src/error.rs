//! What can go wrong with the index of runs.

use std::path::PathBuf;

use likenew_archive::ArchiveError;

/// Why the history could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The address of a database makes no sense.
    #[error("{0:?} is not a history: give a file, or postgres://USER@HOST/DATABASE")]
    NotALocation(String),
    /// A device, a folder, a pipe or a link.
    #[error("could not open the history {}: it is a link, or no file; name a file with --history", .0.display())]
    NotAFile(PathBuf),
    /// The database cannot be opened.
    #[error("could not open the history {location}: {reason}; {advice}")]
    Unopened {
        /// The database, without a password.
        location: String,
        /// The database's answer.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// A newer version of Likenew changed its tables.
    #[error(
        "the history {0} was made by a newer version of Likenew; use that version, or name another file with --history"
    )]
    Newer(String),
    /// There is no room for the database.
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
        /// The database's answer.
        source: sqlx::Error,
    },
    /// The runs cannot be listed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A path that a database's address cannot hold.
    #[error("{} is not text, and the name of a history has to be", .0.display())]
    NotText(PathBuf),
    /// The runtime of the database's client could not be started.
    #[error("could not start the client of the history: {0}")]
    Runtime(std::io::Error),
}

impl HistoryError {
    pub(crate) fn query(action: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| if is_full(&source) { Self::Full } else { Self::Query { action, source } }
    }
}

/// What SQLite and PostgreSQL say on a full drive.
const FULL_CODES: [&str; 2] = ["13", "53100"];

/// Whether a database has no room.
pub(crate) fn is_full(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| FULL_CODES.contains(&&*code))
}
