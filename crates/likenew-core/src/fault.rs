//! A failure of the lab: the target can not be measured any further. What a drive answers is an `Outcome` instead.

use std::path::PathBuf;

/// Why a target could not be opened or went away.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The operating system refused something that is not itself a measured I/O.
    #[error("could not {doing}: {source}")]
    System {
        /// What was being done, to what: "create the file /mnt/x".
        doing: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// What was asked can not be done on this target, and why.
    #[error("{0}")]
    Unsuitable(String),
    /// The target was there and is not any more.
    #[error("{} has vanished while it was being measured; what was measured until then is kept", .0.display())]
    Gone(PathBuf),
    /// A safety check refused; the text says which one and what to do.
    #[error("{0}")]
    Refused(String),
}

impl Fault {
    /// Wraps the system's answer with what was being done.
    pub fn system(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::System { doing, source }
    }
}
