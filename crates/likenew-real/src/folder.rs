//! A folder as a drive of files: it measures what a user of that folder gets, and touches nothing of the
//! user's.

use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use likenew_core::drive::TargetKind;
use likenew_core::fix::Fix;
use likenew_core::io::{Durability, Io, Op, Outcome};
use likenew_core::probe::{ExtentMap, Probe, ProbeResult, TrimReport};
use likenew_core::procedure::Layout;
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use likenew_core::units::{Nanos, exact_size};
use likenew_core::workload::Access;
use rustix::fs::{Mode, OFlags, fstatvfs, ftruncate, openat, syncfs};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::block::open_path;
use crate::clock::Monotonic;
use crate::engine::{Carrier, Engine, RealDrive};
use crate::erase::probe_feasibility;
use crate::facts;
use crate::identify::{DeviceInfo, resolve};
use crate::medium::{DirectIo, Medium, Spot, drop_cached, flush, geometry, perform_at, set_direct};
use crate::scratch::{MARKER, Scratch, is_scratch, lock, open_folder};
use crate::single_file::probe_open;
use crate::space::{Space, SpaceUsage};
use crate::target_error::{ErrorContext as _, last_errno};
use crate::trim::{self, MountedDevice, Sender};
use crate::wording::{action, target as wording};

/// Opens `folder` as a drive of files of our own, in free space only and with a reserve that stays free.
///
/// # Errors
/// A refusal of [`Scratch::create`]; a layout that does not fit; an I/O engine that is not available.
pub(crate) fn open(
    folder: &Path,
    layout: Layout,
    reserve: Option<u64>,
    engine: Engine,
) -> Result<RealDrive<FileTable>, TargetError> {
    if is_scratch(folder) {
        return Err(TargetError::Unsuitable(wording::is_scratch_folder(folder.display())));
    }
    let carrier = Carrier::choose(engine)?;
    let Layout { files, file_bytes } = layout;
    let capacity = u64::from(files).checked_mul(file_bytes).filter(|bytes| (1..1 << 62).contains(bytes));
    let capacity =
        capacity.ok_or_else(|| TargetError::Unsuitable(wording::empty_layout(files, file_bytes)))?;
    check_descriptors(files.into())?;
    let space = Space::query(open_folder(folder)?, folder, reserve)?;
    space.check(capacity, folder)?;
    let scratch = Scratch::create(folder)?;
    let open_marker = |flags| openat(scratch.directory(), MARKER, OFlags::CLOEXEC | flags, Mode::empty());
    let (_, direct) = DirectIo::open(open_marker).context_at(action::OPEN_FILE_IN, scratch.path())?;
    if !file_bytes.is_multiple_of(u64::from(direct.block)) {
        let block = exact_size(direct.block.into());
        return Err(TargetError::Unsuitable(wording::layout_not_aligned(
            file_bytes,
            &block,
            folder.display(),
        )));
    }
    let mut info = DeviceInfo::of_mount(scratch.directory());
    if scratch.is_set_to_write_in_place() {
        info.add_writing_in_place();
    }
    info.add_resolution(folder, &resolve(folder));
    info.caveats.extend(direct.caveat());
    info.facts.push(("files".into(), format!("{files} × {}", exact_size(file_bytes))));
    let geometry = Geometry { boundary: Some(file_bytes), ..geometry(capacity, direct.block, true) };
    let table = FileTable::new(scratch, geometry, direct.flags, space.reserve_bytes)?;
    Ok(RealDrive::new(folder, TargetKind::Folder, table, carrier, info))
}

// The files of a folder as one range of addresses.

/// Files `0 .. N` of the same length, back to back. A file is made by its first write and deleted by a trim
/// of exactly its range.
///
/// Each file keeps one descriptor number as long as the table lives. When the file is deleted, the number
/// stays and leads to nothing that can be read or written. So an I/O on its way meets an error, and never
/// another file.
pub(crate) struct FileTable {
    geometry: Geometry,
    file_bytes: u64,
    /// Whether the file system can do direct I/O.
    can_direct: bool,
    /// Whether files are reached through the page cache.
    buffered: AtomicBool,
    reserve_bytes: u64,
    files: Box<[Entry]>,
    /// What the descriptor number of a deleted file leads to.
    nothing: OwnedFd,
    /// Held while a file is made or deleted.
    changing: Mutex<()>,
    is_gone: AtomicBool,
    // Dropped last: it removes the files.
    scratch: Scratch,
}

#[derive(Default)]
struct Entry {
    fd: OnceLock<OwnedFd>,
    /// Whether the descriptor leads to a file.
    is_present: AtomicBool,
    /// Whether something was written since the last flush.
    dirty: AtomicBool,
}

impl Entry {
    /// The file, if it exists.
    #[inline]
    fn present(&self) -> Option<&OwnedFd> {
        self.fd.get().filter(|_| self.is_present.load(Ordering::Acquire))
    }
}

impl FileTable {
    /// A table over `scratch`; `geometry` has the length of its files as boundary.
    ///
    /// # Errors
    /// The scratch folder cannot be opened.
    pub(crate) fn new(
        scratch: Scratch,
        geometry: Geometry,
        flags: OFlags,
        reserve_bytes: u64,
    ) -> Result<Self, TargetError> {
        let file_bytes = geometry.boundary.expect("a folder's files have a length");
        let files = geometry.capacity / file_bytes;
        let nothing = open_path(scratch.path()).context(action::OPEN_SCRATCH)?;
        Ok(Self {
            geometry,
            file_bytes,
            can_direct: flags.contains(OFlags::DIRECT),
            buffered: AtomicBool::new(false),
            reserve_bytes,
            files: (0..files).map(|_| Entry::default()).collect(),
            nothing,
            changing: Mutex::new(()),
            is_gone: AtomicBool::new(false),
            scratch,
        })
    }

    /// The file of an I/O's address, and the offset in it. The lanes let no I/O cross the end of a file.
    fn place(&self, io: &Io) -> (usize, u64) {
        ((io.offset / self.file_bytes) as usize, io.offset % self.file_bytes)
    }

    fn spot_in(&self, file: usize, offset: u64) -> Option<Spot<'_>> {
        Some(Spot { fd: self.files[file].present()?.as_fd(), offset })
    }

    fn is_whole_file(&self, io: &Io) -> bool {
        io.op == Op::Trim && u64::from(io.length) == self.file_bytes
    }

    /// Makes a file, unless another lane has made it in the meantime.
    fn make(&self, file: usize) -> Result<(), Errno> {
        let _changing = lock(&self.changing);
        let entry = &self.files[file];
        if entry.is_present.load(Ordering::Acquire) {
            return Ok(());
        }
        // The layout was checked against the reserve. This check is for space that other programs have used
        // up since; half of the reserve may go to the file system's metadata.
        if fstatvfs(self.scratch.directory())
            .is_ok_and(|usage| SpaceUsage::from(usage).available_bytes < self.reserve_bytes / 2)
        {
            return Err(Errno::NOSPC);
        }
        let flags = if self.is_direct() { OFlags::DIRECT } else { OFlags::empty() };
        let made = self.scratch.create_fd(file as u32, flags);
        if made.as_ref().is_err_and(|errno| *errno == Errno::NOENT) && self.scratch.is_gone() {
            self.is_gone.store(true, Ordering::Release);
        }
        let made = made?;
        match entry.fd.get() {
            Some(fd) => redirect(fd, &made)?,
            None => entry.fd.set(made).expect("files are made one after another"),
        }
        entry.is_present.store(true, Ordering::Release);
        Ok(())
    }

    fn delete(&self, file: usize) -> Result<(), Errno> {
        let _changing = lock(&self.changing);
        let entry = &self.files[file];
        if !entry.is_present.load(Ordering::Acquire) {
            return Ok(());
        }
        let fd = entry.fd.get().expect("a file that is there has a descriptor");
        // XFS frees the blocks of a deleted file in the background (since Linux 5.14), too late for a TRIM that
        // follows, and those of an emptied file at once. If it cannot be emptied, it is deleted all the same.
        let _ = ftruncate(fd, 0);
        match self.scratch.delete(file as u32) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
        entry.is_present.store(false, Ordering::Release);
        entry.dirty.store(false, Ordering::Release);
        // Gives up the last reference to the file, which is when its space becomes free.
        redirect(fd, &self.nothing)
    }

    /// Bytes that may still be written without touching the reserve.
    fn bytes_above_reserve(&self) -> u64 {
        let usage = fstatvfs(self.scratch.directory()).map(SpaceUsage::from);
        usage.map_or(0, |usage| usage.available_bytes.saturating_sub(self.reserve_bytes))
    }

    /// Deletes the files that are wholly within a range, and makes sure that the drive receives TRIM for
    /// them.
    fn release(
        &self,
        range: Range<u64>,
        wait: Nanos,
        mounted: &MountedDevice,
        clock: &Monotonic,
    ) -> Result<TrimReport, TargetError> {
        let first = range.start.div_ceil(self.file_bytes) as usize;
        let files = first..((range.end / self.file_bytes) as usize).min(self.files.len()).max(first);
        let mut places = mounted.unsuitable().map_or_else(|| Ok(Vec::new()), Err);
        for file in files.clone() {
            let Some(fd) = self.files[file].present() else { continue };
            places = places.and_then(|mut places| {
                let map = trim::extents(fd, self.file_bytes, trim::Flush::First)
                    .map_err(|errno| errno.to_string())?;
                places.extend(map.iter().filter_map(trim::Extent::place));
                Ok(places)
            });
        }
        let sender = Sender::new(mounted);
        files.clone().try_for_each(|file| self.delete(file)).context(action::DELETE_TEMPORARY_FILES)?;
        syncfs(self.scratch.directory()).context(action::SYNC_FILE_SYSTEM)?;
        let bytes = files.len() as u64 * self.file_bytes;
        let freed = places.as_deref().map_err(String::as_str);
        Ok(sender.send(self.scratch.directory(), freed, bytes, wait, clock))
    }

    /// Where the existing files lie on the device.
    fn extents(&self) -> Result<ExtentMap, String> {
        let mut extents = Vec::new();
        for (file, entry) in self.files.iter().enumerate() {
            let Some(fd) = entry.present() else { continue };
            extents.extend(trim::device_extents(fd, file as u64 * self.file_bytes, self.file_bytes)?);
            if extents.len() > ExtentMap::EXTENTS_MAX {
                return Err(wording::too_many_extents(extents.len()));
            }
        }
        Ok(ExtentMap::new(extents))
    }

    fn is_direct(&self) -> bool {
        self.can_direct && !self.buffered.load(Ordering::Acquire)
    }

    /// The files that exist.
    fn present_files(&self) -> impl Iterator<Item = &OwnedFd> {
        self.files.iter().filter_map(Entry::present)
    }

    /// Makes every file durable that was written since the last flush.
    fn flush(&self, sync: Option<Durability>) -> Result<(), Errno> {
        let dirty = self.files.iter().filter(|entry| entry.dirty.swap(false, Ordering::AcqRel));
        let mut first_error = Ok(());
        for entry in dirty {
            // A file that was deleted in the meantime has nothing to keep.
            if let Some(fd) = entry.present() {
                first_error = first_error.and(flush(fd, sync));
            }
        }
        first_error
    }
}

impl Medium for FileTable {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    #[inline]
    fn spot(&self, io: &Io) -> Option<Spot<'_>> {
        if io.op == Op::Flush || self.is_whole_file(io) {
            return None;
        }
        let (file, offset) = self.place(io);
        self.spot_in(file, offset)
    }

    fn perform(&self, io: &Io, buffer: &mut [u8]) -> Outcome {
        if io.op == Op::Flush {
            return self.flush(io.sync).map_or_else(error, |()| Outcome::Done);
        }
        let (file, offset) = self.place(io);
        if self.is_whole_file(io) {
            return self.delete(file).map_or_else(error, |()| Outcome::Done);
        }
        if io.op == Op::Write
            && let Err(errno) = self.make(file)
        {
            return error(errno);
        }
        let Some(spot) = self.spot_in(file, offset) else {
            // A file that was never written has nothing to trim.
            return if io.op == Op::Trim { Outcome::Done } else { error(Errno::NOENT) };
        };
        let outcome = perform_at(spot, io, buffer);
        self.on_end(io, outcome);
        outcome
    }

    #[inline]
    fn on_end(&self, io: &Io, _outcome: Outcome) {
        if io.op == Op::Write {
            // Marked after the write, so that a flush in between is followed by one that covers this write.
            let dirty = &self.files[(io.offset / self.file_bytes) as usize].dirty;
            if !dirty.load(Ordering::Acquire) {
                dirty.store(true, Ordering::Release);
            }
        }
    }

    fn probe(&self, probe: &Probe, clock: &Monotonic) -> Result<ProbeResult, TargetError> {
        let Some(mounted) = MountedDevice::find(self.scratch.directory()) else {
            return Ok(ProbeResult::Unknown(wording::FILE_SYSTEM_NOT_LISTED.to_owned()));
        };
        Ok(match probe {
            // Facts about files are about the user's files, which lie beside our own.
            Probe::Facts => facts::collect(self.scratch.directory(), self.scratch.path().parent()),
            Probe::Extents => mounted
                .unsuitable()
                .map_or_else(|| self.extents(), Err)
                .map_or_else(ProbeResult::Unknown, ProbeResult::Extents),
            Probe::Feasibility => probe_feasibility(self.scratch.directory(), self.scratch.path().parent()),
            Probe::OldFiles | Probe::TrimPath | Probe::TrimClaims => {
                probe_open(self.scratch.directory(), probe)
            }
            Probe::TrimReadBack(request) => {
                let (needed, left) = (request.bytes_written(), self.bytes_above_reserve());
                if needed > left {
                    return Ok(ProbeResult::Unknown(wording::too_little_left(needed, left)));
                }
                trim::read_back(&self.scratch, self.files.len() as u32, &mounted, request, clock)?
            }
            Probe::Fix(Fix::TrimFree) => trim::trim_free_space(self.scratch.directory(), &mounted, clock),
            Probe::Fix(_) => ProbeResult::Unknown(wording::NOT_FOR_FOLDERS.to_owned()),
            Probe::Release { offset, bytes, wait } => {
                ProbeResult::Released(self.release(*offset..*offset + *bytes, *wait, &mounted, clock)?)
            }
        })
    }

    fn prepare_access(&self, access: Access) -> Result<(), TargetError> {
        self.buffered.store(access == Access::Buffered, Ordering::Release);
        let direct = self.is_direct();
        let mut files = self.present_files();
        files.try_for_each(|fd| set_direct(fd, direct)).context(action::CHANGE_DIRECT_IO)
    }

    fn make_cold(&self) -> Result<(), TargetError> {
        self.present_files().try_for_each(drop_cached)
    }

    fn missing_path(&self) -> Option<PathBuf> {
        let gone = self.is_gone.load(Ordering::Acquire) || self.scratch.is_gone();
        gone.then(|| self.scratch.path().parent().expect("a scratch folder lies in a folder").to_owned())
    }
}

#[cold]
fn error(errno: Errno) -> Outcome {
    Outcome::Error(errno.raw_os_error())
}

/// Makes the number of `fd` refer to what `to` refers to, and releases what it referred to before.
#[allow(unsafe_code, reason = "libc's dup3 keeps the number that rustix would want to own mutably")]
fn redirect(fd: &OwnedFd, to: &OwnedFd) -> Result<(), Errno> {
    // SAFETY: both descriptors are open and ours, and `fd` stays open: only what it leads to changes.
    let answer = unsafe { libc::dup3(to.as_raw_fd(), fd.as_raw_fd(), libc::O_CLOEXEC) };
    if answer < 0 { Err(last_errno()) } else { Ok(()) }
}

/// Descriptors that are left to everything else in the process: rings, the archive, standard streams.
const DESCRIPTORS_KEPT: u64 = 600;

/// Checks that so many files can be open at once, because every file of a folder is held open. For that, the
/// soft limit of this process is raised to the hard one.
///
/// # Errors
/// The limit is too low.
pub(crate) fn check_descriptors(files: u64) -> Result<(), TargetError> {
    let mut limit = getrlimit(Resource::Nofile);
    let needed = files + DESCRIPTORS_KEPT;
    if limit.current.is_some_and(|current| current < needed) {
        limit.current = limit.maximum;
        // If that is refused, the soft limit stays, which is checked next.
        let _ = setrlimit(Resource::Nofile, limit);
        limit = getrlimit(Resource::Nofile);
    }
    match limit.current {
        Some(current) if current < needed => {
            Err(TargetError::Unsuitable(wording::too_many_files(files, current, DESCRIPTORS_KEPT)))
        }
        _ => Ok(()),
    }
}
