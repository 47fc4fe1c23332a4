//! Turns the system's errors into words.

use std::io;
use std::path::Path;

use likenew_core::target_error::TargetError;
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::wording::action;

/// Says what was attempted when the system refused.
pub(crate) trait ErrorContext<T> {
    /// Adds the attempted operation.
    fn context(self, doing: impl Into<String>) -> Result<T, TargetError>;

    /// Adds what was attempted in or with `path`, and what to do about the common reasons ([`not_possible`]).
    fn context_at(self, doing: &str, path: &Path) -> Result<T, TargetError>;
}

impl<T, E: Into<io::Error>> ErrorContext<T> for Result<T, E> {
    fn context(self, doing: impl Into<String>) -> Result<T, TargetError> {
        self.map_err(|error| TargetError::system(doing)(error.into()))
    }

    fn context_at(self, doing: &str, path: &Path) -> Result<T, TargetError> {
        self.map_err(|error| not_possible_io(doing, path, error.into()))
    }
}

/// Why something could not be done in or with `path`, and what to do about the common reasons.
pub(crate) fn not_possible(doing: &str, path: &Path, errno: Errno) -> TargetError {
    let path = path.display();
    match errno {
        Errno::NOENT => TargetError::Unsuitable(action::does_not_exist(path)),
        Errno::ROFS => TargetError::Refused(action::read_only_file_system(doing, path)),
        Errno::ACCESS | Errno::PERM => TargetError::Refused(if geteuid().is_root() {
            action::no_permission_for_root(doing, path)
        } else {
            action::no_permission(doing, path)
        }),
        Errno::NOSPC | Errno::DQUOT => TargetError::Refused(action::no_space_left(doing, path)),
        Errno::LOOP => TargetError::Unsuitable(action::circular_link(path)),
        Errno::MFILE | Errno::NFILE => TargetError::Unsuitable(action::too_many_files(doing, path)),
        _ => TargetError::system(action::with_path(doing, path))(errno.into()),
    }
}

/// As [`not_possible`], for an error of the standard library.
pub(crate) fn not_possible_io(doing: &str, path: &Path, error: io::Error) -> TargetError {
    match Errno::from_io_error(&error) {
        Some(errno) => not_possible(doing, path, errno),
        None => TargetError::system(action::with_path(doing, path.display()))(error),
    }
}

/// The error of the system call that this thread has just made.
pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_not_told_to_become_root() {
        for errno in [Errno::ACCESS, Errno::PERM] {
            let text = not_possible("read", Path::new("/dev/sda"), errno).to_string();
            assert!(text.contains("could not read /dev/sda"), "{text}");
            assert_eq!(text.contains("run as its owner or as root"), !geteuid().is_root(), "{text}");
        }
    }
}
