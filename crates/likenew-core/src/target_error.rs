//! Why a target cannot be measured, or not any further; and the operating system's errors as people read
//! them. A refused I/O is no such error but a result, an `Outcome`.

use crate::io::Op;
use crate::units::{Nanos, amount};
use crate::wording;
use std::path::PathBuf;
use std::{fmt, io};

/// Why a target could not be opened or went away.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The operating system refused something that is not itself a measured I/O.
    #[error("could not {action}: {}", system_reason(source))]
    System {
        /// The attempted operation: "create the file /mnt/x".
        action: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The request cannot be met on this target, and why.
    #[error("{0}")]
    Unsuitable(String),
    /// The target has disappeared.
    #[error("{} disappeared during the measurement; what was measured until then is kept", .0.display())]
    Gone(PathBuf),
    /// The target does not answer I/Os in flight.
    #[error("{0}")]
    Hung(Hang),
    /// A safety check refused; the text says which one and what to do.
    #[error("{0}")]
    Refused(String),
}

/// I/Os that a target did not answer within the time limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hang {
    /// Name of the target, as its identity has it.
    pub target: String,
    /// How long the target has answered nothing.
    pub silent: Nanos,
    /// Operation, offset and length in bytes of every I/O still waited for, the oldest first.
    pub ios: Vec<(Op, u64, u32)>,
}

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMED_MAX: usize = 4;
        let name = |(op, offset, length): &(Op, u64, u32)| match op {
            Op::Flush => op.to_string(),
            _ => wording::io_at(op, &amount(u64::from(*length)), *offset),
        };
        let named: Vec<String> = self.ios.iter().take(NAMED_MAX).map(name).collect();
        f.write_str(&wording::hang(&self.target, self.silent, &named, self.ios.len() - named.len()))
    }
}

impl TargetError {
    /// Adds what was being done to the system's error.
    pub fn system(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let action = action.into();
        move |source| Self::System { action, source }
    }
}

/// The system's sentence without its number, which helps nobody: `No such file or directory`.
pub fn system_reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(reason, _)| reason).to_owned()
}

/// The system's sentence for an error number.
pub fn system_reason_of(errno: i32) -> String {
    system_reason(&io::Error::from_raw_os_error(errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_no_number() {
        assert_eq!(system_reason_of(2), "No such file or directory");
        assert_eq!(system_reason(&io::Error::other("it is larger than 4 MiB")), "it is larger than 4 MiB");
    }
}
