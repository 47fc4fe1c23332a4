//! The system's errors in words.

use std::path::Path;

use likenew_core::lab_error::LabError;
use rustix::io::Errno;

/// Adds the attempted operation to the system's error.
pub(crate) fn io_error(doing: impl Into<String>) -> impl FnOnce(Errno) -> LabError {
    let doing = doing.into();
    move |errno| LabError::system(doing)(errno.into())
}

/// Why something could not be done in or with `path`, with what to do about the common reasons.
pub(crate) fn not_possible(doing: &str, path: &Path, errno: Errno) -> LabError {
    let name = path.display();
    match errno {
        Errno::NOENT => {
            LabError::Unsuitable(format!("{name} does not exist: check the spelling, or create it first"))
        }
        Errno::ROFS => LabError::Refused(format!(
            "could not {doing} {name}: its file system is mounted read-only; choose a folder on one that is writable"
        )),
        Errno::ACCESS | Errno::PERM => LabError::Refused(format!(
            "could not {doing} {name}: you have no permission for that; choose another place, or run as its owner or as root"
        )),
        Errno::NOSPC | Errno::DQUOT => LabError::Refused(format!(
            "could not {doing} {name}: no space is left there, or a quota is used up; free some space first"
        )),
        Errno::LOOP => LabError::Unsuitable(format!(
            "{name} is a symbolic link that leads in a circle: give what it is meant for"
        )),
        Errno::MFILE | Errno::NFILE => LabError::Unsuitable(format!(
            "could not {doing} {name}: too many files are open; raise the limit (ulimit -n)"
        )),
        _ => io_error(format!("{doing} {name}"))(errno),
    }
}
