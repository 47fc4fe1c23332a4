//! One target of a command, and the lock on its drive.

use likenew_real::drive_lock::DriveLock;

use crate::arguments::ExecutionArguments;
use crate::exit::Failure;
use crate::interrupt;
use crate::locking::lock;
use crate::resolved_target::ResolvedTarget;

/// A target that is resolved, for the rest of the command.
pub(crate) struct Target {
    /// As on the command line.
    pub(crate) typed: String,
    pub(crate) resolved: ResolvedTarget,
    /// Held from the first change to it, or from when it is opened.
    lock: Option<DriveLock>,
}

impl Target {
    pub(super) fn new(typed: &str, resolved: ResolvedTarget) -> Self {
        Self { typed: typed.to_owned(), resolved, lock: None }
    }

    pub(super) fn typed(&self) -> &str {
        &self.typed
    }

    /// Locks the drives below it against other runs, unless they are; simulated ones need no lock. False if
    /// the user stopped the wait.
    ///
    /// # Errors
    /// A refusal that names the other run.
    pub(super) fn lock(&mut self, run_arguments: &ExecutionArguments) -> Result<bool, Failure> {
        if let (Some(path), None) = (self.resolved.path(), &self.lock) {
            interrupt::listen()?;
            let Some(lock) = lock(&[path], run_arguments.wait_for_drive)? else { return Ok(false) };
            self.lock = Some(lock);
        }
        Ok(true)
    }

    /// Removes leftovers of an earlier run from a folder, after asking the user, if there is one. Locks the
    /// drive for that: until a plan is made, others may use it, because a plan may need to read folders of
    /// the same drive.
    pub(super) fn clear_leftover(&mut self, run_arguments: &ExecutionArguments) -> Result<(), Failure> {
        let Some(what) = self.resolved.agree_to_clear(run_arguments)? else { return Ok(()) };
        let was_locked = self.lock.is_some();
        // A user who stopped the wait is noticed when the run locks the drive.
        if !self.lock(run_arguments)? {
            return Ok(());
        }
        let cleared = self.resolved.remove_leftover(&what, run_arguments);
        if !was_locked {
            self.lock = None;
        }
        cleared
    }
}
