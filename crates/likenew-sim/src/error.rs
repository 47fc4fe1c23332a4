//! Why a simulated drive could not be made.

use std::path::PathBuf;

use likenew_core::quantity::Size;
use likenew_core::system_error::reason;

/// A failure to describe or make a simulated drive. Each says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The text after `sim:` is not one.
    #[error("\"{text}\": {reason}")]
    Spec {
        /// The text.
        text: String,
        /// What is wrong with it and what would be right.
        reason: String,
    },
    /// A drive's file could not be read.
    #[error("could not read the simulated drive {}: {}; check the path; `likenew drives` lists drives that need no file", .path.display(), reason(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
        /// The drives that need no file.
        available: String,
    },
    /// The process gets no memory for it.
    #[error("{text} needs {} of memory: {}; raise the limit (ulimit -v), or take a smaller drive (`likenew drives`)", Size(*.bytes), reason(source))]
    Memory {
        /// The text.
        text: String,
        /// What it needs.
        bytes: u64,
        /// The system's error.
        source: std::io::Error,
    },
    /// A snapshot could not be read back.
    #[error("could not load the saved drive {}: {reason}", .path.display())]
    Snapshot {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// A drive's file is not as it has to be.
    #[error("{file}:{line}: {reason}")]
    Catalog {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The key, what was found there, and what is allowed.
        reason: String,
    },
}
