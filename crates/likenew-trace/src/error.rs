//! Why a trace could not be read or written.

/// Why a trace could not be read or written. A place in a file counts lines and columns from 1, columns in bytes.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened, created, read or written.
    #[error("{file}: {error}")]
    File {
        /// Its name as it was given.
        file: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// It is not a trace that can be read here.
    #[error("{file} {reason}")]
    Unknown {
        /// Its name as it was given.
        file: String,
        /// What it looks like, and what to do.
        reason: String,
    },
    /// Something breaks its format.
    #[error("{file}, line {line}, column {column}: expected {expected}, found {actual}")]
    Malformed {
        /// Its name as it was given.
        file: String,
        /// From 1.
        line: u64,
        /// From 1, in bytes.
        column: usize,
        /// What should be there.
        expected: String,
        /// What is.
        actual: String,
    },
    /// A line of the trace is valid by itself but not at its place.
    #[error("{file}, line {line}: {reason}")]
    Senseless {
        /// Its name as it was given.
        file: String,
        /// From 1.
        line: u64,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// It holds several volumes and none was chosen, or not the one that was.
    #[error("{file} {reason}")]
    Volumes {
        /// Its name as it was given.
        file: String,
        /// Which there are, and how to choose one.
        reason: String,
    },
}
