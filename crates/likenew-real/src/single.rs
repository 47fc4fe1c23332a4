//! A medium behind one descriptor: an existing file or a block device.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use likenew_core::fault::Fault;
use likenew_core::io::{Io, Outcome};
use likenew_core::look::{Look, Seen};
use likenew_core::target::Geometry;

use crate::clock::Monotonic;
use crate::medium::{Medium, Spot, perform_at};
use crate::trim;

/// One descriptor; addresses are offsets in it.
pub(crate) struct Single {
    fd: OwnedFd,
    geometry: Geometry,
}

impl Single {
    pub(crate) fn new(fd: OwnedFd, geometry: Geometry) -> Self {
        Self { fd, geometry }
    }
}

impl AsFd for Single {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Medium for Single {
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

    fn look(&self, look: &Look, _clock: &Monotonic) -> Result<Seen, Fault> {
        Ok(trim::look_at(&self.fd, look))
    }

    fn only(&self) -> Option<BorrowedFd<'_>> {
        Some(self.fd.as_fd())
    }
}
