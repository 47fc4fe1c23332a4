//! Firmware that is known to stall now and then, as some did that smartmontools' database of drives warns of.

use likenew_core::units::Nanos;

use crate::faults::drive_faults::{DriveFaults, StallParameters};

/// How often it stalls, unless set otherwise (assumed).
pub(crate) const STALL_INTERVAL: Nanos = Nanos::from_secs(4);

/// These faults, and that.
pub(crate) fn with_stalls(faults: Option<DriveFaults>, stall: StallParameters) -> DriveFaults {
    DriveFaults { stall: Some(stall), ..faults.unwrap_or_default() }
}
