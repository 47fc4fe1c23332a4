//! One run at a time on a drive: whatever does I/O to a real one locks it first.

use std::path::{Path, PathBuf};

use likenew_real::drive_lock::{DriveLock, Locks};

use crate::exit::Failure;
use crate::interrupt;
use crate::wording;

/// A folder for the locks, in place of those that all users of a machine share. Tests set it, so that they can run side by side; whoever sets it
/// meets only runs that have set the same.
const FOLDER: &str = "LIKENEW_LOCK_DIR";

/// Locks the drives below these paths, and waits where somebody else is at work there, if that was asked for; nothing when somebody asked to stop
/// meanwhile. Whoever does not listen for that is just ended by it.
///
/// # Errors
/// A refusal that says who is at work, and what to do.
pub(crate) fn lock(paths: &[&Path], wait: bool) -> Result<Option<DriveLock>, Failure> {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let locks = folder.map_or_else(Locks::system, Locks::in_folder);
    if !wait {
        return Ok(Some(locks.take(paths)?));
    }
    let mut is_said = false;
    let lock = locks.wait(paths, &mut |holder| {
        if !is_said {
            anstream::eprintln!("{}", wording::waiting_for_run(holder));
            is_said = true;
        }
        !interrupt::is_requested()
    })?;
    Ok(lock)
}
