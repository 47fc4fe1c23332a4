//! From a path to a drive: says what is at a path, and opens it.

use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements, TargetKind};
use likenew_core::facts::Facts;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::Layout;
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use rustix::fs::{FileType, Mode, OFlags, fstat};

use crate::block::{BlockDevice, DeviceNumber, capacity, open_path};
use crate::clock::Monotonic;
use crate::consent::Consent;
use crate::engine::Engine;
use crate::erase::probe_feasibility;
use crate::facts::{all_drives, collect};
use crate::identify::{DeviceInfo, HealthSource, resolve};
use crate::medium::geometry;
use crate::scratch::{Leftover, open_folder};
use crate::single_file::{open_device, open_file};
use crate::space::{Space, total_bytes};
use crate::target_error::{ErrorContext as _, not_possible_io};
use crate::wording::{action, facts as facts_wording, target as wording};
use crate::{folder, nop};

/// How a drive is to be opened.
#[derive(Debug, Default)]
pub struct Options {
    /// The I/O engine.
    pub engine: Engine,
    /// The files that make up a folder's drive; needed for a folder, and for nothing else.
    pub layout: Option<Layout>,
    /// The right to overwrite a file or block device. Without it, both are only read.
    pub consent: Option<Consent>,
    /// Bytes of a folder's file system that stay free; see [`Space`] for the default.
    pub reserve: Option<u64>,
}

/// What a path is, before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A folder: measured with files of our own in its free space.
    Folder {
        /// The space in its file system.
        space: Space,
        /// The leftovers of a killed run, which have to be removed before anything is measured.
        leftover: Option<Leftover>,
    },
    /// An existing file: only read.
    File {
        /// The file's length.
        bytes: u64,
    },
    /// A block device: only read, unless there is a consent.
    Device {
        /// The device's size.
        bytes: u64,
        /// Maker and model, where known.
        model: Option<String>,
    },
}

/// Examines a path without changing anything.
///
/// # Errors
/// The path is nothing that can be measured, and the text says what would be; or the path cannot be examined.
pub fn examine(path: &Path, reserve: Option<u64>) -> Result<PathKind, TargetError> {
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
        let fd = rustix::fs::open(path, flags, Mode::empty()).context_at(action::READ, path)?;
        let model = BlockDevice::at_path(path).and_then(|device| device.disk().model());
        return Ok(PathKind::Device { bytes: capacity(&fd, path)?, model });
    } else if kind.is_fifo() {
        "a pipe (FIFO)"
    } else if kind.is_char_device() {
        "a character device"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "something unknown"
    };
    Err(TargetError::Unsuitable(wording::not_a_drive(path.display(), what)))
}

/// Opens a folder, file or block device as a drive.
///
/// # Errors
/// As [`examine`]; the options do not suit the target; or a safety check refused.
pub fn open(path: &Path, options: Options) -> Result<Box<dyn Drive>, TargetError> {
    let Options { engine, layout, consent, reserve } = options;
    let is_for_it = |consent: &Option<Consent>| consent.as_ref().is_none_or(|consent| consent.path() == path);
    match (examine(path, reserve)?, layout, consent) {
        (PathKind::Folder { leftover: Some(leftover), .. }, ..) => Err(leftover.refusal()),
        (PathKind::Folder { .. }, Some(layout), None) => {
            Ok(Box::new(folder::open(path, layout, reserve, engine)?))
        }
        (PathKind::File { .. }, None, consent) if is_for_it(&consent) => {
            Ok(Box::new(open_file(path, consent, engine)?))
        }
        (PathKind::Device { .. }, None, consent) if is_for_it(&consent) => {
            Ok(Box::new(open_device(path, consent, engine)?))
        }
        (place, layout, consent) => Err(unsuitable(path, &place, layout.is_some(), consent.is_some())),
    }
}

fn unsuitable(path: &Path, place: &PathKind, has_layout: bool, has_consent: bool) -> TargetError {
    let path = path.display();
    TargetError::Unsuitable(match place {
        PathKind::Folder { .. } if !has_layout => wording::needs_layout(path),
        PathKind::Folder { .. } if has_consent => wording::consent_for_folder(path),
        PathKind::File { .. } | PathKind::Device { .. } if has_consent && !has_layout => {
            wording::other_consent(path)
        }
        _ => wording::not_a_folder(path),
    })
}

fn cannot_find(path: &Path, error: std::io::Error) -> TargetError {
    let dangling = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    match std::fs::read_link(path) {
        Ok(target) if dangling && error.kind() == std::io::ErrorKind::NotFound => {
            TargetError::Unsuitable(wording::broken_link(path.display(), target.display()))
        }
        _ => not_possible_io(action::LOOK_AT, path, error),
    }
}

// A target that is only examined: nothing of it is opened for I/O and nothing is made in it, so it may
// belong to anyone.

/// A target whose facts are collected.
pub struct FactsDrive {
    at: Examined,
    identity: Identity,
    clock: Monotonic,
}

/// What the facts are of.
enum Examined {
    /// Opened as a path alone, which takes no right to read it.
    Path(OwnedFd, PathBuf, TargetKind),
    /// Every drive of this machine.
    All,
    /// Facts that were read already.
    Known(Box<Facts>),
}

impl FactsDrive {
    /// The facts of a folder, a file, or a block device.
    ///
    /// # Errors
    /// Nothing is at the path, or something of another kind.
    pub fn at(path: &Path) -> Result<Self, TargetError> {
        let fd = open_path(path).context_at(action::LOOK_AT, path)?;
        let stat = fstat(&fd).context_at(action::LOOK_AT, path)?;
        let number = DeviceNumber::from_raw(stat.st_rdev);
        let (kind, mut about) = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => (TargetKind::Folder, DeviceInfo::of_mount(&fd)),
            FileType::RegularFile => (TargetKind::File, DeviceInfo::of_mount(&fd)),
            FileType::BlockDevice => (TargetKind::Device, DeviceInfo::of_device(number)),
            _ => {
                return Err(TargetError::Unsuitable(facts_wording::not_a_target(path.display())));
            }
        };
        about.add_resolution(path, &resolve(path));
        let capacity_bytes = match kind {
            TargetKind::File => stat.st_size.cast_unsigned(),
            TargetKind::Folder => total_bytes(path).unwrap_or(0),
            _ => BlockDevice::by_number(number).and_then(|device| device.bytes()).unwrap_or(0),
        };
        let identity = about.identity(path.display().to_string(), kind, "none", capacity_bytes, 512);
        Ok(Self { at: Examined::Path(fd, path.to_owned(), kind), identity, clock: Monotonic::start() })
    }

    /// The facts of every drive of this machine.
    pub fn at_all() -> Self {
        Self::without_path(Examined::All, TargetKind::Device, facts_wording::ALL_DRIVES.to_owned())
    }

    /// The known facts of another machine's drives.
    pub fn known(name: String, facts: Facts) -> Self {
        Self::without_path(Examined::Known(Box::new(facts)), TargetKind::File, name)
    }

    fn without_path(at: Examined, kind: TargetKind, name: String) -> Self {
        let identity = DeviceInfo::default().identity(name, kind, "none", 0, 512);
        Self { at, identity, clock: Monotonic::start() }
    }
}

impl Drive for FactsDrive {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn geometry(&self) -> Geometry {
        // No I/O is possible here: no workload fits this.
        geometry(0, self.identity.block_bytes, false)
    }

    fn lanes_max(&self) -> u32 {
        1
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        // A lane is only for its clock here.
        Ok(nop::lanes(&self.geometry(), self.clock, &HealthSource::default(), need))
    }

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, TargetError> {
        Ok(match (probe, &self.at) {
            (Probe::Facts, Examined::All) => ProbeResult::Facts(Box::new(all_drives()?)),
            (Probe::Facts, Examined::Path(fd, path, kind)) => {
                collect(fd, (*kind != TargetKind::Device).then_some(path.as_path()))
            }
            (Probe::Facts, Examined::Known(facts)) => ProbeResult::Facts(facts.clone()),
            (Probe::Feasibility, Examined::Path(fd, path, kind)) => {
                probe_feasibility(fd, (*kind == TargetKind::Folder).then_some(path.as_path()))
            }
            _ => ProbeResult::Unknown(facts_wording::FACTS_ONLY.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_inspected_and_nothing_is_made_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut glance = FactsDrive::at(folder.path()).unwrap();
        let ProbeResult::Facts(facts) = glance.probe(&Probe::Facts).unwrap() else { panic!("facts") };
        assert!(facts.file_system.is_some() && facts.files.is_some());
        assert!(!facts.rows().is_empty());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let need = LaneRequirements { lanes: 1, depth: 1, length_max: 512 };
        assert_eq!(glance.lanes(&need).unwrap()[0].geometry().capacity, 0, "no I/O fits");
        assert!(matches!(glance.probe(&Probe::TrimPath).unwrap(), ProbeResult::Unknown(_)));
        assert!(
            FactsDrive::at(Path::new("/dev/null")).is_err() && FactsDrive::at(Path::new("/nowhere")).is_err()
        );
    }
}
