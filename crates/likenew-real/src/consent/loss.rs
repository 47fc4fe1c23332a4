//! What would be lost if something were overwritten, found out without changing anything.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use likenew_core::fault::Fault;
use likenew_core::units::amount;
use rustix::fs::{FileType, Stat, stat};

use super::{open_for_reading, refusal};
use crate::block::BlockDevice;
use crate::device::capacity;
use crate::fault::not_possible;
use crate::identify::resolve;
use crate::in_use::use_of;
use crate::mounts::DeviceNumber;
use crate::signature::signatures;
use crate::stable_id::StableId;

/// A block device or file that nobody uses, and what it is and carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where it is, without symbolic links.
    pub path: PathBuf,
    /// What it is known by: what has to be typed.
    pub id: StableId,
    /// Maker and model, where known.
    pub model: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Names of the file systems, partition tables and the like on it.
    pub carries: Vec<&'static str>,
    /// Whether it is a block device; a file otherwise.
    pub(super) is_device: bool,
    /// What tells it from anything else that may come to have its path.
    pub(super) number: (u64, u64),
}

impl Loss {
    /// Looks at what lies at `path`, after every check that needs no agreement.
    ///
    /// # Errors
    /// A refusal that names the check which failed and what to do: it is neither a block device nor a file, somebody uses it,
    /// or the system runs from it.
    pub fn at(path: &Path) -> Result<Self, Fault> {
        let resolved = resolve(path);
        let stat = stat(&resolved).map_err(|errno| not_possible("look at", path, errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::BlockDevice => Self::of_device(resolved, &stat),
            FileType::RegularFile => Self::of_file(resolved, &stat),
            _ => Err(refusal(path, "it is neither a block device nor a file; give one, or a folder")),
        }
    }

    fn of_device(path: PathBuf, stat: &Stat) -> Result<Self, Fault> {
        let number = DeviceNumber::of(stat.st_rdev);
        let Some(device) = BlockDevice::numbered(number) else {
            return Err(refusal(&path, "/sys does not list it, so nothing can be checked"));
        };
        if let Some(reason) = use_of(&device) {
            return Err(refusal(&path, &reason));
        }
        if device.disk().attribute("ro").is_some_and(|ro| ro == "1")
            || device.attribute("ro").is_some_and(|ro| ro == "1")
        {
            return Err(refusal(&path, "it is write-protected; look for a switch, or blockdev --setrw"));
        }
        let opened = open_for_reading(&path)?;
        let bytes = capacity(&opened, &path)?;
        let carries = carries(&opened, bytes, &path)?;
        Ok(Self {
            id: StableId::of_device(&device, bytes),
            model: device.disk().model(),
            bytes,
            carries,
            is_device: true,
            number: (stat.st_rdev, 0),
            path,
        })
    }

    fn of_file(path: PathBuf, stat: &Stat) -> Result<Self, Fault> {
        if stat.st_nlink > 1 {
            return Err(refusal(
                &path,
                "it has other names (hard links), and what they stand for would be lost, too; copy it first",
            ));
        }
        let bytes = stat.st_size.cast_unsigned();
        let carries = carries(&open_for_reading(&path)?, bytes, &path)?;
        let number = (stat.st_dev, stat.st_ino);
        Ok(Self { id: StableId::of_file(&path), model: None, bytes, carries, is_device: false, number, path })
    }
}

fn carries(opened: &OwnedFd, bytes: u64, path: &Path) -> Result<Vec<&'static str>, Fault> {
    signatures(opened, bytes).map_err(|errno| {
        refusal(path, &format!("its start and end can not be read ({errno}), so what it carries is unknown"))
    })
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, id, model, bytes, carries, .. } = self;
        write!(f, "This overwrites {} (", path.display())?;
        if let Some(model) = model {
            write!(f, "{model}, ")?;
        }
        write!(f, "{}, {} {}): ", amount(*bytes), id.kind, id.text)?;
        match &carries[..] {
            [] => f.write_str(
                "no file system or partition table is known on it, and whatever else it holds is lost.",
            ),
            known => write!(f, "it carries {}, and everything on it is lost.", known.join(" and ")),
        }
    }
}
