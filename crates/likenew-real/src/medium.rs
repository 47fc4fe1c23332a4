//! What lies behind a real drive's lanes, with any engine: where I/Os go, direct I/O, and the I/Os in flight.

use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use likenew_core::io::{DataClass, Durability, Io, Op, Outcome, Slot};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::target::{Clock, Geometry};
use likenew_core::target_error::TargetError;
use likenew_core::workload::Access;
use rustix::fs::{
    Advice, AtFlags, FallocateFlags, OFlags, StatxFlags, fadvise, fallocate, fcntl_getfl, fcntl_setfl,
    fdatasync, fsync, statx,
};
use rustix::io::{Errno, ReadWriteFlags, pread, pwritev2};

use crate::clock::Monotonic;
use crate::target_error::ErrorContext as _;
use crate::wording::{action, target as wording};

/// Lanes that a real drive has at once, at most.
pub(crate) const LANES_MAX: u32 = 256;

/// The geometry of a real drive.
pub(crate) fn geometry(capacity: u64, block: u32, writable: bool) -> Geometry {
    Geometry {
        capacity,
        block,
        boundary: None,
        writable,
        trims: writable,
        carries_data: true,
        clock: Clock::Wall,
    }
}

/// Descriptors and offsets behind a drive's addresses. Shared by all lanes, so nothing here locks on the way of an I/O.
pub(crate) trait Medium: Send + Sync + 'static {
    /// The geometry of the drive's lanes.
    fn geometry(&self) -> &Geometry;

    /// Where an I/O goes, if the kernel can take it at once. `None` if a file has to be made or deleted
    /// first, or if it takes more than one call, which is for [`Medium::perform`].
    fn spot(&self, io: &Io) -> Option<Spot<'_>>;

    /// Does an I/O from start to end, and blocks until then.
    fn perform(&self, io: &Io, buffer: &mut [u8]) -> Outcome;

    /// Called when an I/O has ended that did not go through [`Medium::perform`].
    fn on_end(&self, _io: &Io, _outcome: Outcome) {}

    /// The one descriptor that every I/O goes to, if there is only one: worth registering with the kernel.
    fn sole_descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Answers a probe about the medium.
    ///
    /// # Errors
    /// The target cannot be measured any longer.
    fn probe(&self, _probe: &Probe, _clock: &Monotonic) -> Result<ProbeResult, TargetError> {
        Ok(ProbeResult::Unknown(wording::NO_PROBES.to_owned()))
    }

    /// Makes I/Os go past the page cache from now on, or through it. The caller has nothing in flight.
    ///
    /// # Errors
    /// The file system does not let one change.
    fn prepare_access(&self, access: Access) -> Result<(), TargetError>;

    /// Makes durable what was written and drops it from the page cache. The caller has nothing in flight.
    ///
    /// # Errors
    /// The pages may not be dropped, or the data could not be made durable.
    fn make_cold(&self) -> Result<(), TargetError>;

    /// The path that was found to be gone, if it was.
    fn missing_path(&self) -> Option<PathBuf> {
        None
    }

    /// Fails when the medium was found to be gone.
    ///
    /// # Errors
    /// `TargetError::Gone`.
    fn check_present(&self) -> Result<(), TargetError> {
        self.missing_path().map_or(Ok(()), |path| Err(TargetError::Gone(path)))
    }
}

/// One descriptor and the place in it. The descriptor stays open, and keeps its number, as long as the medium lives.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'a> {
    pub(crate) fd: BorrowedFd<'a>,
    pub(crate) offset: u64,
}

/// Does one I/O with a blocking call.
pub(crate) fn perform_at(spot: Spot<'_>, io: &Io, buffer: &mut [u8]) -> Outcome {
    let Spot { fd, offset } = spot;
    let answer = loop {
        let answer = match io.op {
            Op::Read => pread(fd, &mut *buffer, offset),
            Op::Write => pwritev2(fd, &[IoSlice::new(buffer)], offset, write_flags(io)),
            Op::Trim => punch(fd, offset, io.length).map(|()| 0),
            Op::Flush => flush(fd, io.sync).map(|()| 0),
        };
        // A signal before the first byte moved is no answer of the drive.
        if answer != Err(Errno::INTR) {
            break answer;
        }
    };
    outcome(io, answer.map_or_else(|errno| -errno.raw_os_error(), |moved| moved as i32))
}

/// The flags with which a write makes data durable before it ends. On a block device past the page cache that is FUA, or
/// a flush after the write if the drive has none. Linux adds a flush to a blocking call in any case (block/fops.c).
#[inline]
pub(crate) fn write_flags(io: &Io) -> ReadWriteFlags {
    match io.sync {
        None => ReadWriteFlags::empty(),
        Some(Durability::Data) => ReadWriteFlags::DSYNC,
        Some(Durability::File) => ReadWriteFlags::SYNC,
    }
}

/// Makes durable what was written through any descriptor of a file or device.
pub(crate) fn flush(fd: impl AsFd, sync: Option<Durability>) -> rustix::io::Result<()> {
    if sync == Some(Durability::File) { fsync(fd) } else { fdatasync(fd) }
}

/// Reads until the buffer is full or the file ends, and says how much that was.
pub(crate) fn read_fully(fd: impl AsFd, buffer: &mut [u8], offset: u64) -> rustix::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match pread(&fd, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(moved) => filled += moved,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(filled)
}

/// Has a descriptor's I/Os go past the page cache, or through it.
pub(crate) fn set_direct(fd: impl AsFd, direct: bool) -> rustix::io::Result<()> {
    let mut flags = fcntl_getfl(&fd)?;
    flags.set(OFlags::DIRECT, direct);
    fcntl_setfl(fd, flags)
}

/// Makes durable what was written through any descriptor of a file or device, and drops all of its pages.
pub(crate) fn drop_cached(fd: impl AsFd) -> Result<(), TargetError> {
    fsync(&fd).context(action::FLUSH)?;
    // Without a length, the whole file is meant (posix_fadvise(2)). Only clean pages are dropped.
    fadvise(fd, 0, None, Advice::DontNeed).context(action::DROP_CACHE)
}

/// The mode of `fallocate` that says "this range holds nothing of use". It frees the blocks of a file; a
/// block device passes it on as a request to zero the range by unmapping it.
pub(crate) const PUNCH: FallocateFlags = FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);

fn punch(fd: impl AsFd, offset: u64, length: u32) -> rustix::io::Result<()> {
    fallocate(fd, PUNCH, offset, u64::from(length))
}

// Whether a file can be reached without the page cache, and with what alignment.

/// Alignment in bytes that every drive takes; used if nothing better is known, and without direct I/O.
const BLOCK_UNKNOWN: u32 = 4096;
/// The smallest sector there is.
const BLOCK_MIN: u32 = 512;

/// How files are to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectIo {
    /// `O_DIRECT`; empty if the file system refuses it.
    pub(crate) flags: OFlags,
    /// Offsets and lengths are multiples of this, in bytes.
    pub(crate) block: u32,
}

impl DirectIo {
    /// Through the page cache.
    const BUFFERED: Self = Self { flags: OFlags::empty(), block: BLOCK_UNKNOWN };

    /// Opens a file by `open`, with direct I/O if its file system has that.
    ///
    /// # Errors
    /// The file cannot be opened without direct I/O either.
    pub(crate) fn open(
        open: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>,
    ) -> rustix::io::Result<(OwnedFd, Self)> {
        let fd = match open(OFlags::DIRECT) {
            Err(Errno::INVAL | Errno::NOTSUP) => return Ok((open(OFlags::empty())?, Self::BUFFERED)),
            opened => opened?,
        };
        let direct = Self::with_alignment(&fd);
        Ok((fd, direct))
    }

    /// How an open file was opened.
    ///
    /// # Errors
    /// The system does not say.
    pub(crate) fn from_fd(fd: impl AsFd) -> rustix::io::Result<Self> {
        if fcntl_getfl(&fd)?.contains(OFlags::DIRECT) {
            return Ok(Self::with_alignment(fd));
        }
        Ok(Self::BUFFERED)
    }

    fn with_alignment(fd: impl AsFd) -> Self {
        let block = alignment(fd).unwrap_or(BLOCK_UNKNOWN).max(BLOCK_MIN);
        Self { flags: OFlags::DIRECT, block }
    }

    /// The caveat for numbers measured this way.
    pub(crate) fn caveat(self) -> Option<String> {
        (!self.flags.contains(OFlags::DIRECT)).then(|| wording::PAGE_CACHE.to_owned())
    }
}

/// The alignment of direct I/O in a file, where the file system says (Linux 6.1).
fn alignment(fd: impl AsFd) -> Option<u32> {
    let status = statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let known = StatxFlags::from_bits_retain(status.stx_mask).contains(StatxFlags::DIOALIGN);
    // Zero means that this file has no direct I/O; its offsets may then be any.
    let (offset, memory) = (status.stx_dio_offset_align, status.stx_dio_mem_align);
    (known && offset.is_power_of_two() && memory <= BLOCK_UNKNOWN).then_some(offset)
}

// The I/Os in flight on a lane, with checks that keep our bugs from reaching the kernel.

/// The I/O in every slot.
pub(crate) struct Flights {
    slots: Box<[Flight]>,
    in_flight: u32,
    length_max: u32,
    geometry: Geometry,
}

#[derive(Clone, Copy)]
struct Flight {
    offset: u64,
    length: u32,
    op: Op,
    free: bool,
}

impl Flights {
    /// `depth` free slots for I/Os of up to `length_max` bytes.
    pub(crate) fn new(geometry: &Geometry, depth: u32, length_max: u32) -> Self {
        let free = Flight { offset: 0, length: 0, op: Op::Read, free: true };
        Self {
            slots: vec![free; depth as usize].into_boxed_slice(),
            in_flight: 0,
            length_max,
            geometry: geometry.clone(),
        }
    }

    /// How many are in flight.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.in_flight
    }

    /// Whether this slot is in flight.
    #[inline]
    pub(crate) fn is_in_flight(&self, slot: Slot) -> bool {
        !self.slots[slot.index()].free
    }

    /// Notes that an I/O leaves for the drive.
    ///
    /// # Errors
    /// The I/O would change a drive that may only be read.
    ///
    /// # Panics
    /// The I/O's slot is in flight, or the I/O does not fit the drive's geometry or its buffer. All of these
    /// are bugs of the caller.
    #[inline]
    pub(crate) fn leave(&mut self, io: &Io) -> Result<(), TargetError> {
        let Geometry { capacity, block, boundary, writable, .. } = self.geometry;
        if !writable && matches!(io.op, Op::Write | Op::Trim) {
            return Err(read_only(io));
        }
        let flight = &mut self.slots[io.slot.index()];
        assert!(flight.free, "{io:?} takes a slot that is in flight");
        // A trim needs no buffer, so only the drive bounds its length.
        let fits = io.length <= self.length_max || io.op == Op::Trim;
        let end = io.offset.checked_add(u64::from(io.length));
        assert!(
            fits && end.is_some_and(|end| end <= capacity),
            "{io:?} does not fit the drive or its buffer"
        );
        let whole_blocks = (io.offset | u64::from(io.length)).is_multiple_of(u64::from(block));
        let crosses = boundary.is_some_and(|boundary| io.offset % boundary + u64::from(io.length) > boundary);
        assert!(
            whole_blocks && !crosses,
            "{io:?} is not in whole blocks of {block}, or crosses the end of a file"
        );
        *flight = Flight { offset: io.offset, length: io.length, op: io.op, free: false };
        self.in_flight += 1;
        Ok(())
    }

    /// Notes that the I/O of a slot has ended with the kernel's answer: bytes moved, or a negative error number.
    #[inline]
    pub(crate) fn end(&mut self, slot: Slot, answer: i32) -> (Io, Outcome) {
        let io = self.free(slot);
        (io, outcome(&io, answer))
    }

    /// Notes that the I/O of a slot has ended, and returns it.
    #[inline]
    pub(crate) fn free(&mut self, slot: Slot) -> Io {
        let flight = &mut self.slots[slot.index()];
        assert!(!flight.free, "{slot:?} ended without being in flight");
        flight.free = true;
        self.in_flight -= 1;
        Io {
            slot,
            op: flight.op,
            offset: flight.offset,
            length: flight.length,
            data: DataClass::Zero,
            sync: None,
        }
    }
}

/// What the kernel's answer to an I/O means: bytes moved by a read or write, zero from a trim or flush, or an error
/// number below zero.
#[inline]
pub(crate) fn outcome(io: &Io, answer: i32) -> Outcome {
    match (u32::try_from(answer), io.op) {
        (Err(_), _) => Outcome::Error(-answer),
        (Ok(moved), Op::Read | Op::Write) if moved < io.length => Outcome::Short(moved),
        _ => Outcome::Done,
    }
}

#[cold]
fn read_only(io: &Io) -> TargetError {
    TargetError::Refused(wording::read_only(io.op, io.offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_direct_io_the_page_cache_is_used_and_reported() {
        let null = || rustix::fs::open("/dev/null", OFlags::RDONLY, rustix::fs::Mode::empty());
        let refuse = |flags: OFlags| if flags.contains(OFlags::DIRECT) { Err(Errno::INVAL) } else { null() };
        let (_, direct) = DirectIo::open(refuse).unwrap();
        assert_eq!(direct, DirectIo { flags: OFlags::empty(), block: 4096 });
        assert!(direct.caveat().unwrap().contains("memory"));
        assert_eq!(DirectIo::open(|_| Err(Errno::ACCESS)).unwrap_err(), Errno::ACCESS);
    }

    fn flights(writable: bool) -> Flights {
        let geometry = Geometry { boundary: Some(64 << 10), ..geometry(1 << 20, 512, writable) };
        Flights::new(&geometry, 2, 4096)
    }

    fn io(op: Op, offset: u64, length: u32) -> Io {
        Io { slot: Slot(1), op, offset, length, data: DataClass::Zero, sync: None }
    }

    #[test]
    fn answers_become_outcomes() {
        let mut flights = flights(true);
        for (op, answer, expected) in [
            (Op::Read, 4096, Outcome::Done),
            (Op::Write, 512, Outcome::Short(512)),
            (Op::Read, 0, Outcome::Short(0)),
            (Op::Trim, 0, Outcome::Done),
            (Op::Write, -28, Outcome::Error(28)),
        ] {
            flights.leave(&io(op, 8192, 4096)).unwrap();
            assert!(flights.is_in_flight(Slot(1)) && flights.count() == 1);
            let (ended, outcome) = flights.end(Slot(1), answer);
            assert_eq!((ended.op, ended.offset, outcome), (op, 8192, expected));
        }
        assert_eq!(flights.count(), 0);
    }

    #[test]
    fn what_may_only_be_read_is_not_written() {
        let target_error = flights(false).leave(&io(Op::Trim, 0, 512)).unwrap_err();
        assert!(
            matches!(target_error, TargetError::Refused(_))
                && target_error.to_string().contains("give a folder"),
            "{target_error}"
        );
        flights(false).leave(&io(Op::Flush, 0, 0)).unwrap();
    }

    #[test]
    fn mistakes_are_caught_before_the_kernel_sees_them() {
        for (bad, length) in [
            ((1 << 20) - 512, 1024),
            (u64::MAX - 511, 512),
            (0, 8192),
            (100, 512),
            (0, 100),
            ((64 << 10) - 512, 1024),
        ] {
            let caught = std::panic::catch_unwind(|| flights(true).leave(&io(Op::Read, bad, length)));
            assert!(caught.is_err(), "{bad} {length}");
        }
        let twice = std::panic::catch_unwind(|| {
            let mut flights = flights(true);
            flights.leave(&io(Op::Read, 0, 512)).unwrap();
            let _ = flights.leave(&io(Op::Read, 0, 512));
        });
        assert!(twice.is_err());
    }
}
