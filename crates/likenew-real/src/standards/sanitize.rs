//! Sanitize, which ATA and NVMe have alike.

/// What a drive can sanitize by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sanitize {
    /// Erasing blocks of flash.
    pub block: bool,
    /// Changing the key.
    pub crypto: bool,
    /// Writing everything.
    pub overwrite: bool,
}

impl Sanitize {
    pub(crate) fn is_any(self) -> bool {
        self.block || self.crypto || self.overwrite
    }
}
