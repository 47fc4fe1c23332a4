//! A medium behind one descriptor: an existing file or a block device.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use likenew_core::access::Access;
use likenew_core::io::{Io, Outcome};
use likenew_core::lab_error::LabError;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::target::Geometry;

use crate::clock::Monotonic;
use crate::in_use::Claims;
use crate::lab_error::io_error;
use crate::medium::{Medium, Spot, drop_cached, perform_at, set_direct};
use crate::probes;
use crate::wording::action;
use crate::wording::target as wording;

/// One descriptor; addresses are offsets in it.
pub(crate) struct SingleFile {
    fd: OwnedFd,
    /// On other ways to what is written.
    _claims: Option<Claims>,
    geometry: Geometry,
    /// Whether it can be reached past the page cache.
    direct: bool,
}

impl SingleFile {
    pub(crate) fn new(fd: OwnedFd, geometry: Geometry, direct: bool) -> Self {
        Self { fd, _claims: None, geometry, direct }
    }

    /// The same, with a hold on everything else that reaches these bytes.
    pub(crate) fn with_claims(self, claims: Option<Claims>) -> Self {
        Self { _claims: claims, ..self }
    }
}

impl AsFd for SingleFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Medium for SingleFile {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    #[inline]
    fn spot(&self, io: &Io) -> Option<Spot<'_>> {
        Some(Spot { fd: self.fd.as_fd(), offset: io.offset })
    }

    fn perform(&self, io: &Io, buffer: &mut [u8]) -> Outcome {
        perform_at(Spot { fd: self.fd.as_fd(), offset: io.offset }, io, buffer)
    }

    fn probe(&self, probe: &Probe, _clock: &Monotonic) -> Result<ProbeResult, LabError> {
        Ok(probes::check(&self.fd, probe))
    }

    fn prepare_access(&self, access: Access) -> Result<(), LabError> {
        set_direct(&self.fd, self.direct && access == Access::Direct)
            .map_err(io_error(action::CHANGE_DIRECT_IO))
    }

    fn make_cold(&self) -> Result<(), LabError> {
        // A file that may be written is held against other programs.
        if self.geometry.writable {
            return drop_cached(&self.fd);
        }
        Err(LabError::Unsuitable(wording::CACHE_LEFT_ALONE.into()))
    }

    fn sole_descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.fd.as_fd())
    }
}
