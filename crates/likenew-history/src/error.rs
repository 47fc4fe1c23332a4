//! What can go wrong with the index of runs.

use std::path::PathBuf;

use likenew_archive::ArchiveError;

/// Why the history could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The address of a database makes no sense.
    #[error("{0:?} is not a history: give a file, or postgres://USER@HOST/DATABASE")]
    NotALocation(String),
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
        move |source| Self::Query { action, source }
    }
}
