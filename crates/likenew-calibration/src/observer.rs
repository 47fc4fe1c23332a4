//! How a caller follows and stops a calibration.

/// Follows a calibration; called from any of its threads.
pub trait Observer: Sync {
    /// `done` candidates of about `planned` were simulated.
    fn on_progress(&self, _done: usize, _planned: usize) {}

    /// Whether the user asked to stop.
    fn stop_requested(&self) -> bool {
        false
    }
}

/// Ignores everything.
impl Observer for () {}
