//! Who follows a calibration.

/// Follows a calibration, from any of its threads.
pub trait Observer: Sync {
    /// So many candidates of about so many were simulated.
    fn on_progress(&self, _done: usize, _planned: usize) {}

    /// Whether the user asked to stop.
    fn stop_requested(&self) -> bool {
        false
    }
}

/// Nobody follows.
impl Observer for () {}
