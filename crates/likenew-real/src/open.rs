//! From a path to a drive: what it is, and how it is opened.

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use likenew_core::drive::Drive;
use likenew_core::lab_error::LabError;
use rustix::fs::{Mode, OFlags};

use crate::block::BlockDevice;
use crate::consent::Consent;
use crate::device_number::DeviceNumber;
use crate::engine::Engine;
use crate::lab_error::not_possible;
use crate::leftover::Leftover;
use crate::scratch::open_folder;
use crate::space::Space;
use crate::wording::action;
use crate::wording::target as wording;
use crate::{block, device, file, folder};
use likenew_core::procedure::Layout;

/// How a drive is to be opened.
#[derive(Debug, Default)]
pub struct Options {
    /// What carries the I/O.
    pub engine: Engine,
    /// The files that make up a folder's drive; needed for a folder, and for nothing else.
    pub layout: Option<Layout>,
    /// The right to overwrite a file or block device. Without it, both are only read.
    pub consent: Option<Consent>,
    /// Bytes of a folder's file system that stay free; see [`Space`] for what is usual.
    pub reserve: Option<u64>,
}

/// What a path is, before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A folder: measured with files of our own in its free space.
    Folder {
        /// How much there is of it.
        space: Space,
        /// The leftovers of a killed run, which have to be removed before anything can be measured.
        leftover: Option<Leftover>,
    },
    /// An existing file: only read.
    File {
        /// Its length.
        bytes: u64,
    },
    /// A block device: only read, unless there is a consent.
    Device {
        /// Its size.
        bytes: u64,
        /// Maker and model, where known.
        model: Option<String>,
    },
}

/// Examines a path without changing anything.
///
/// # Errors
/// It is nothing that can be measured, and the text says what would be; or it cannot be examined.
pub fn examine(path: &Path, reserve: Option<u64>) -> Result<PathKind, LabError> {
    let metadata = std::fs::metadata(path).map_err(|error| cannot_find(path, error))?;
    let kind = metadata.file_type();
    let what = if kind.is_dir() {
        let space = Space::query(open_folder(path)?, path, reserve)?;
        return Ok(PathKind::Folder { space, leftover: Leftover::find(path)? });
    } else if kind.is_file() && metadata.len() == 0 {
        wording::EMPTY_FILE
    } else if kind.is_file() {
        return Ok(PathKind::File { bytes: metadata.len() });
    } else if kind.is_block_device() {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|errno| not_possible(action::READ, path, errno))?;
        let device = DeviceNumber::at(path).and_then(BlockDevice::by_number);
        let model = device.and_then(|device| device.disk().model());
        return Ok(PathKind::Device { bytes: block::capacity(&fd, path)?, model });
    } else if kind.is_fifo() {
        "a pipe (FIFO)"
    } else if kind.is_char_device() {
        "a character device"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "something unknown"
    };
    Err(LabError::Unsuitable(wording::not_a_drive(path.display(), what)))
}

/// Opens a folder, file or block device as a drive.
///
/// # Errors
/// As [`examine`]; the options do not suit the target; or a safety check refused.
pub fn open(path: &Path, options: Options) -> Result<Box<dyn Drive>, LabError> {
    let Options { engine, layout, consent, reserve } = options;
    match (examine(path, reserve)?, layout, consent) {
        (PathKind::Folder { leftover: Some(leftover), .. }, ..) => Err(leftover.refusal()),
        (PathKind::Folder { .. }, Some(layout), None) => {
            Ok(Box::new(folder::open(path, layout, reserve, engine)?))
        }
        (PathKind::File { .. }, None, None) => Ok(Box::new(file::open(path, engine)?)),
        (PathKind::Device { .. }, None, None) => Ok(Box::new(device::open(path, engine)?)),
        (PathKind::Device { .. }, None, Some(consent)) if consent.path() == path => {
            Ok(Box::new(device::open_writable(consent, engine)?))
        }
        (PathKind::File { .. }, None, Some(consent)) if consent.path() == path => {
            Ok(Box::new(file::open_writable(consent, engine)?))
        }
        (place, layout, consent) => Err(unsuitable(path, &place, layout.is_some(), consent.is_some())),
    }
}

fn unsuitable(path: &Path, place: &PathKind, has_layout: bool, has_consent: bool) -> LabError {
    let path = path.display();
    LabError::Unsuitable(match place {
        PathKind::Folder { .. } if !has_layout => wording::needs_layout(path),
        PathKind::Folder { .. } if has_consent => wording::consent_for_folder(path),
        PathKind::File { .. } | PathKind::Device { .. } if has_consent && !has_layout => {
            wording::other_consent(path)
        }
        _ => wording::not_a_folder(path),
    })
}

fn cannot_find(path: &Path, error: std::io::Error) -> LabError {
    let dangling = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    match std::fs::read_link(path) {
        Ok(target) if dangling && error.kind() == std::io::ErrorKind::NotFound => {
            LabError::Unsuitable(wording::broken_link(path.display(), target.display()))
        }
        _ => match rustix::io::Errno::from_io_error(&error) {
            Some(errno) => not_possible(action::LOOK_AT, path, errno),
            None => LabError::system(action::look_at(path.display()))(error),
        },
    }
}
