//! One run at a time on a drive: every I/O to a real drive locks it first.

use std::path::{Path, PathBuf};

use likenew_real::drive_lock::{DriveLock, Locks};

use crate::exit::Failure;
use crate::interrupt;
use crate::wording;

/// Environment variable with a folder for the locks, in place of the one that all users of a machine share.
/// Tests set it, so that they can run side by side; such a run only sees the locks of runs with the same
/// setting.
const FOLDER: &str = "LIKENEW_LOCK_DIR";

/// Locks the drives below these paths, and waits for another run there, if asked to; `None` if the user
/// stopped the wait. A process that does not listen for signals just ends then.
///
/// # Errors
/// A refusal that names the other run, and what to do.
pub(crate) fn lock(paths: &[&Path], wait: bool) -> Result<Option<DriveLock>, Failure> {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let locks = folder.map_or_else(Locks::system, Locks::in_folder);
    if !wait {
        return Ok(Some(locks.take(paths)?));
    }
    let mut is_said = false;
    let lock = locks.wait(paths, &mut |holder| {
        if !is_said {
            crate::standard_error::note(wording::waiting_for_run(holder));
            is_said = true;
        }
        !interrupt::is_requested()
    })?;
    Ok(lock)
}
