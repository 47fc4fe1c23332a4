//! What the system and the drive report of the whole path from a folder to its medium.
//!
//! **Everything here only reads.** Files of /sys, /proc, /etc, /run, /var and /usr are opened for reading;
//! devices are opened read-only and queried with the commands that `queries::Question` lists, none of which
//! changes anything in a drive. We send a USB bridge nothing that the kernel has not sent already; smartctl,
//! if installed, knows what each bridge takes. Whatever is missing, unreadable or nonsense becomes an unknown
//! fact with its reason, and no error.

mod ata;
mod card;
mod cloud;
mod collector;
mod drive_database;
mod file_system;
mod files;
pub(crate) mod fuzz_machine;
mod identity;
mod kernel_log;
mod link;
mod machine;
mod machine_file;
mod machine_query;
mod nvme;
mod power;
pub(crate) mod program;
mod roots;
mod smartctl;
mod stack;
mod subject;
#[allow(unsafe_code, reason = "drives and the kernel answer some questions by ioctls only")]
mod system;
mod traffic;
mod trimming;

#[cfg(test)]
mod machines;

use std::os::fd::AsFd;
use std::path::Path;

use likenew_core::facts::Facts;
use likenew_core::lab_error::LabError;
use likenew_core::probe::ProbeResult;
use rustix::fs::{FileType, fstat};

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::mounts::Mount;
use crate::wording::facts as wording;
use collector::Collector;
use roots::Roots;
use system::System;

/// Answers `Probe::Facts` for the folder, file or device of `fd`. `sample` is the folder or file whose files
/// are examined, if any.
pub(crate) fn collect(fd: impl AsFd, sample: Option<&Path>) -> ProbeResult {
    let (roots, queries) = (Roots::system(), System);
    let collector = Collector { roots: &roots, queries: &queries };
    let stat = fstat(&fd).ok();
    let device = stat.filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice);
    if let Some(stat) = device {
        return match roots.by_number(DeviceNumber::from_raw(stat.st_rdev)) {
            Some(device) => ProbeResult::Facts(Box::new(collector.of_devices(&[device]))),
            None => ProbeResult::Unknown(wording::DEVICE_NOT_LISTED.to_owned()),
        };
    }
    let Some(mount) = Mount::containing(&fd) else {
        return ProbeResult::Unknown(wording::FILE_SYSTEM_NOT_LISTED.to_owned());
    };
    let mut facts = collector.of_mount(&mount);
    facts.files = Some(match sample {
        Some(path) => files::sample(path),
        None => files::sample_file(&fd),
    });
    ProbeResult::Facts(Box::new(facts))
}

/// Facts of every drive of this machine, whatever is on it.
///
/// # Errors
/// The system does not list them.
pub(crate) fn all_drives() -> Result<Facts, LabError> {
    let (roots, queries) = (Roots::system(), System);
    let collector = Collector { roots: &roots, queries: &queries };
    let listed = crate::listing::list()?;
    let names = listed.iter().filter_map(|listed| listed.path.strip_prefix("/dev/"));
    let is_drive = |device: &BlockDevice| device.slaves().is_empty() && !device.name().starts_with("loop");
    let devices: Vec<BlockDevice> = names.filter_map(|name| roots.device(name)).filter(is_drive).collect();
    Ok(collector.of_devices(&devices))
}

/// A name of this machine that no other has: its host name, and a hash of its identity, which is itself kept secret.
pub fn machine_name() -> String {
    identity::machine_name(&Roots::system())
}
