//! Errors of a calibration.

use likenew_sim::SimError;

use crate::wording;

/// Why a calibration failed.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// No part of these runs can be simulated.
    #[error("{}", wording::nothing_measured(.0))]
    NothingMeasured(Vec<String>),
    /// The base cannot run the workloads of a run.
    #[error("{}", wording::base_does_not_fit(.base, .run))]
    BaseDoesNotFit {
        /// The base's name.
        base: String,
        /// The run's name.
        run: String,
    },
    /// The user stopped the calibration.
    #[error("{}", wording::STOPPED)]
    Stopped,
    /// A drive file is invalid.
    #[error(transparent)]
    Drive(#[from] SimError),
}
