//! Why a calibration failed.

use likenew_sim::SimError;

use crate::wording;

/// Why there is no calibration.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// Nothing of the runs can be simulated.
    #[error("{}", wording::nothing_measured(.0))]
    NothingMeasured(Vec<String>),
    /// The base cannot run what was run.
    #[error("{}", wording::base_does_not_fit(.base, .run))]
    BaseDoesNotFit {
        /// The base.
        base: String,
        /// A run.
        run: String,
    },
    /// The user stopped it.
    #[error("{}", wording::STOPPED)]
    Stopped,
    /// A drive's file is not as it has to be.
    #[error(transparent)]
    Drive(#[from] SimError),
}
