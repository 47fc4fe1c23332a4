//! What an overwrite would destroy, found out without changing anything.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use likenew_core::lab_error::LabError;
use rustix::fs::{Access, AtFlags, CWD, FileType, accessat, fstat, stat};
use rustix::io::Errno;

use super::file_checks::objection;
use super::identity::Identity;
use super::{NOTHING_BEHIND, open_for_reading, refusal, reread_kernel_state};
use crate::block::BlockDevice;
use crate::block::capacity;
use crate::device_number::DeviceNumber;
use crate::identify::resolve;
use crate::in_use::{Target, use_of};
use crate::lab_error::not_possible;
use crate::signature::signatures;
use crate::stable_id::StableId;
use crate::wording::action;
use crate::wording::consent as wording;

/// A block device or file that is not in use: what it is, and what is on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where it is, without symbolic links.
    pub path: PathBuf,
    /// Its stable name, which has to be typed.
    pub id: StableId,
    /// Maker and model, where known.
    pub model: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Names of the file systems, partition tables and the like on it.
    pub carries: Vec<&'static str>,
    /// Distinguishes it from any other that may later have its path.
    pub(super) identity: Identity,
}

impl Loss {
    /// Finds out what is at `path`, after every check that needs no agreement.
    ///
    /// # Errors
    /// A refusal that names the check that failed and what to do: it is neither a block device nor a file, it
    /// is in use, or the system runs from it.
    pub fn at(path: &Path) -> Result<Self, LabError> {
        let resolved = resolve(path);
        let stat = stat(&resolved).map_err(|errno| not_possible(action::LOOK_AT, path, errno))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if !matches!(kind, FileType::BlockDevice | FileType::RegularFile) {
            return Err(refusal(path, &wording::wrong_kind(text(kind))));
        }
        // Report who uses a device before opening it: opening may need rights.
        let number = DeviceNumber::from_raw(stat.st_rdev);
        let device = (kind == FileType::BlockDevice).then(|| unused_device(&resolved, number)).transpose()?;
        let fd = open_for_reading(&resolved)?;
        match (device, Identity::from_fd(&fd)?) {
            (Some(device), Identity::Device { number: found, .. }) if found == number => {
                Self::of_device(resolved, &device, fd)
            }
            (None, Identity::File { .. }) => Self::of_file(resolved, fd),
            _ => Err(refusal(path, wording::CHANGED_DURING_CHECK)),
        }
    }

    /// Whether it is a block device; a file otherwise.
    pub fn is_device(&self) -> bool {
        matches!(self.identity, Identity::Device { .. })
    }

    /// All of its bytes, to ask who else uses them.
    pub(super) fn target(&self) -> Option<Target> {
        match self.identity {
            Identity::Device { number, .. } => Target::device(&BlockDevice::by_number(number)?),
            Identity::File { device, inode, .. } => Some(Target::file(device, inode, self.bytes)),
            Identity::Other => None,
        }
    }

    fn of_device(path: PathBuf, device: &BlockDevice, fd: OwnedFd) -> Result<Self, LabError> {
        let disk = device.disk();
        if [device, &disk].iter().any(|device| device.attribute("ro").is_some_and(|ro| ro == "1")) {
            return Err(refusal(&path, wording::WRITE_PROTECTED));
        }
        let bytes = capacity(&fd, &path)?;
        if bytes == 0 {
            return Err(refusal(&path, NOTHING_BEHIND));
        }
        reread_kernel_state(&fd);
        let mut carries = carries(&fd, 0, bytes, &path)?;
        for partition in device.partitions() {
            let Some((start, length)) = partition.range() else {
                let reason = wording::partition_place_unknown(&partition.name());
                return Err(refusal(&path, &reason));
            };
            let inside = self::carries(&fd, start, length.min(bytes.saturating_sub(start)), &path)?;
            let new: Vec<_> = inside.into_iter().filter(|name| !carries.contains(name)).collect();
            carries.extend(new);
        }
        let (id, model) = (StableId::of_device(device, bytes), disk.model());
        Ok(Self { id, model, bytes, carries, identity: Identity::from_fd(&fd)?, path })
    }

    fn of_file(path: PathBuf, fd: OwnedFd) -> Result<Self, LabError> {
        // A user without the right to write is told that first, not what only root could find out.
        if accessat(CWD, &path, Access::WRITE_OK, AtFlags::EACCESS) == Err(Errno::ACCESS) {
            return Err(not_possible(action::OPEN_FOR_WRITING, &path, Errno::ACCESS));
        }
        if let Some(reason) = objection(&path, &fd) {
            return Err(refusal(&path, &reason));
        }
        let stat = fstat(&fd).map_err(|errno| not_possible(action::LOOK_AT, &path, errno))?;
        let bytes = stat.st_size.cast_unsigned();
        let carries = carries(&fd, 0, bytes, &path)?;
        let identity = Identity::from_fd(&fd)?;
        Ok(Self { id: StableId::of_file(&path), model: None, bytes, carries, identity, path })
    }
}

/// The device with this number, if it is not in use.
fn unused_device(path: &Path, number: DeviceNumber) -> Result<BlockDevice, LabError> {
    let Some(device) = BlockDevice::by_number(number) else {
        return Err(refusal(path, NOTHING_BEHIND));
    };
    let target = Target::device(&device).ok_or_else(|| refusal(path, NOTHING_BEHIND))?;
    match use_of(&target) {
        Some(reason) => Err(refusal(path, &reason)),
        None => Ok(device),
    }
}

/// Anything but a device or a file.
fn text(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => wording::FOLDER,
        FileType::Fifo => wording::PIPE,
        FileType::Socket => wording::SOCKET,
        FileType::CharacterDevice => wording::CHARACTER_DEVICE,
        _ => wording::NEITHER_DEVICE_NOR_FILE,
    }
}

/// What is on a range of it.
fn carries(fd: &OwnedFd, start: u64, bytes: u64, path: &Path) -> Result<Vec<&'static str>, LabError> {
    signatures(fd, start, bytes).map_err(|errno| refusal(path, &wording::contents_unknown(errno)))
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, id, model, bytes, carries, .. } = self;
        let id = (id.kind, &*id.text);
        f.write_str(&wording::overwrites(path.display(), model.as_deref(), *bytes, id, carries))
    }
}
