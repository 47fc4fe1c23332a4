//! What a lane needs to know about its medium, with any engine.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use likenew_core::access::Access;
use likenew_core::io::{Io, Op, Outcome};
use likenew_core::lab_error::LabError;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::target::Geometry;
use rustix::fs::{Advice, FallocateFlags, OFlags, fadvise, fallocate, fcntl_getfl, fcntl_setfl, fsync};
use rustix::io::{Errno, pread, pwrite};

use crate::clock::Monotonic;
use crate::flights::outcome;
use crate::lab_error::io_error;
use crate::wording::action;
use crate::wording::target as wording;

/// Descriptors and offsets behind a drive's addresses. Shared by all lanes, so nothing here locks on the way of an I/O.
pub(crate) trait Medium: Send + Sync + 'static {
    /// The geometry of the drive's lanes.
    fn geometry(&self) -> &Geometry;

    /// Where an I/O goes, when the kernel can take it at once; `None` when it first needs a directory's help
    /// (a file to be made or deleted) or more than one call, which is for [`Medium::perform`].
    fn spot(&self, io: &Io) -> Option<Spot<'_>>;

    /// Does an I/O from start to end, and blocks until then.
    fn perform(&self, io: &Io, buffer: &mut [u8]) -> Outcome;

    /// An I/O has ended that did not go through [`Medium::perform`].
    fn on_end(&self, _io: &Io, _outcome: Outcome) {}

    /// The one descriptor that every I/O goes to, if there is only one: worth registering with the kernel.
    fn sole_descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Finds something out about it other than by timing I/O.
    ///
    /// # Errors
    /// The lab failed.
    fn probe(&self, _look: &Probe, _clock: &Monotonic) -> Result<ProbeResult, LabError> {
        Ok(ProbeResult::Unknown(wording::NO_PROBES.to_owned()))
    }

    /// Makes I/Os go past the page cache from now on, or through it. Nothing is in flight.
    ///
    /// # Errors
    /// The file system does not let one change.
    fn prepare_access(&self, access: Access) -> Result<(), LabError>;

    /// Makes durable what was written and drops it from the page cache. Nothing is in flight.
    ///
    /// # Errors
    /// It may not be dropped, or could not be made durable.
    fn make_cold(&self) -> Result<(), LabError>;

    /// The path that was found to be gone, if it was.
    fn missing_path(&self) -> Option<PathBuf> {
        None
    }

    /// Fails when the medium was found to be gone.
    ///
    /// # Errors
    /// `LabError::Gone`.
    fn check_present(&self) -> Result<(), LabError> {
        self.missing_path().map_or(Ok(()), |path| Err(LabError::Gone(path)))
    }
}

/// One descriptor and the place in it. The descriptor stays open, and keeps its number, as long as the medium lives.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'a> {
    pub(crate) fd: BorrowedFd<'a>,
    pub(crate) offset: u64,
}

/// Does one I/O with blocking calls.
pub(crate) fn perform_at(spot: Spot<'_>, io: &Io, buffer: &mut [u8]) -> Outcome {
    let Spot { fd, offset } = spot;
    let answer = loop {
        let answer = match io.op {
            Op::Read => pread(fd, &mut *buffer, offset),
            Op::Write => pwrite(fd, buffer, offset),
            Op::Trim => punch(fd, offset, io.length).map(|()| 0),
            Op::Flush => fsync(fd).map(|()| 0),
        };
        // A signal that came before the first byte moved is nothing that the drive answered.
        if answer != Err(Errno::INTR) {
            break answer;
        }
    };
    outcome(io, answer.map_or_else(|errno| -errno.raw_os_error(), |moved| moved as i32))
}

/// Has a descriptor's I/Os go past the page cache, or through it.
pub(crate) fn set_direct(fd: impl AsFd, direct: bool) -> rustix::io::Result<()> {
    let mut flags = fcntl_getfl(&fd)?;
    flags.set(OFlags::DIRECT, direct);
    fcntl_setfl(fd, flags)
}

/// Makes durable what was written through any descriptor of a file or device, and drops all of its pages.
pub(crate) fn drop_cached(fd: impl AsFd) -> Result<(), LabError> {
    fsync(&fd).map_err(io_error(action::FLUSH))?;
    // Without a length it is all of it (posix_fadvise(2)). Only clean pages are dropped.
    fadvise(fd, 0, None, Advice::DontNeed).map_err(io_error(action::DROP_CACHE))
}

/// The mode of `fallocate` that says "this range holds nothing of use". Of a file it frees the blocks; a block device
/// passes it on as a request to zero the range by unmapping it.
pub(crate) const PUNCH: FallocateFlags = FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);

fn punch(fd: impl AsFd, offset: u64, length: u32) -> rustix::io::Result<()> {
    fallocate(fd, PUNCH, offset, u64::from(length))
}
