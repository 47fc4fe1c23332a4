//! How a hard disk is built: everything that its mechanism needs to know.

use likenew_core::units::Nanos;

use super::platters::{PlatterParameters, Platters};
use super::seek_curve::SeekCurve;
use crate::host_link::LinkParameters;

/// How a hard disk is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskParameters {
    /// The cable.
    pub link: LinkParameters,
    /// Firmware time of one command.
    pub command: Nanos,
    /// The platters.
    pub platters: PlatterParameters,
    /// Seek to the next cylinder.
    pub track_seek: Nanos,
    /// Mean seek over random pairs of places.
    pub average_seek: Nanos,
    /// Seek from edge to edge.
    pub full_seek: Nanos,
    /// Change to another head of the cylinder.
    pub head_switch: Nanos,
    /// Before a write the head settles for so much longer than before a read.
    pub write_settle: Nanos,
    /// Bytes that are read ahead.
    pub segment_bytes: u64,
    /// Places whose read-ahead is kept.
    pub segments: u32,
    /// Bytes of writes that are cached; 0 if writes are not cached.
    pub write_cache_bytes: u64,
    /// Separate writes that are cached.
    pub write_cache_extents: u32,
}

impl DiskParameters {
    /// Whether such a disk can be built.
    ///
    /// # Errors
    /// A sentence that says what does not fit.
    pub fn check(&self) -> Result<(), String> {
        self.platters.check()?;
        self.seek_curve(&Platters::new(self.platters)).map(drop)
    }

    pub(super) fn seek_curve(&self, platters: &Platters) -> Result<SeekCurve, String> {
        SeekCurve::new(platters.cylinders(), self.track_seek, self.average_seek, self.full_seek)
    }
}
