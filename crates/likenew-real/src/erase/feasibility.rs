//! What could be done to the drives below a folder or device, and what prevents each of it. This only looks;
//! it changes nothing.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use likenew_core::facts::{Drive, DriveKind, Fact, Facts};
use likenew_core::feasibility::{ActionKind, Feasibility, ManualStep, Objection};
use likenew_core::probe::ProbeResult;
use rustix::fs::{FileType, fstat};

use super::instructions::{AtaSecurity, nvme_sanitize, nvme_sanitize_of};
use super::power_supply::PowerSupply;
use super::precondition::{Environment, Precondition, Standing, for_drive};
use crate::consent::UnusedSpace;
use crate::mounts::Mount;
use crate::nvme_admin::{self, ReadCommand};
use crate::wording::erase as wording;

/// Answers `Probe::Feasibility` for the folder, file or device of `fd`.
pub(crate) fn check(fd: impl AsFd) -> ProbeResult {
    match crate::facts::collect(&fd, None) {
        ProbeResult::Facts(facts) => ProbeResult::Feasibility(feasibility(&facts, fd)),
        other => other,
    }
}

fn feasibility(facts: &Facts, fd: impl AsFd) -> Feasibility {
    let power = PowerSupply::now();
    let is_device =
        fstat(&fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice);
    let mut feasibility = Feasibility::default();
    for drive in &facts.drives {
        let security = AtaSecurity::read(&drive.name);
        for action in ActionKind::ALL {
            let found = for_drive(drive, Environment { power, security }, action);
            feasibility.objections.extend(found.iter().filter_map(|found| objection(found, action)));
        }
        // A user who names a folder wants to keep its files.
        if is_device {
            feasibility.manual_steps.extend(manual_steps(drive, security));
        }
    }
    if !is_device {
        feasibility.unused_bytes = match Mount::containing(fd).map(|mount| UnusedSpace::in_mount(&mount)) {
            Some(Ok(space)) => Fact::new(space.bytes(), wording::PARTITION_TABLE),
            Some(Err(lab_error)) => Fact::unknown(lab_error.to_string(), wording::PARTITION_TABLE),
            None => Fact::unknown(wording::DRIVE_NOT_REPORTED, wording::PARTITION_TABLE),
        };
    }
    feasibility
}

fn objection(found: &Precondition, action: ActionKind) -> Option<Objection> {
    let reason = match &found.standing {
        Standing::Warns(reason) => reason.clone(),
        Standing::Unknown { .. } if !found.stands_against(action) => return None,
        standing => standing.objection()?,
    };
    Some(Objection { action, forbids: found.stands_against(action), reason })
}

/// The steps of a drive that are only described.
fn manual_steps(drive: &Drive, security: Option<AtaSecurity>) -> Vec<ManualStep> {
    let path = Path::new("/dev").join(&drive.name);
    match (drive.kind, security) {
        (DriveKind::Nvme, _) => {
            let controller = File::open(&path)
                .ok()
                .and_then(|opened| Some(nvme_admin::read(opened, ReadCommand::Controller).ok()?.0));
            let can = controller.as_deref().and_then(nvme_sanitize_of);
            let lines = can.map(|can| nvme_sanitize(&controller_of(&path), Some(can)));
            lines.map(|lines| ManualStep { action: ActionKind::NvmeSanitize, lines }).into_iter().collect()
        }
        (_, Some(security)) => {
            let erase = security.supported.then(|| ManualStep {
                action: ActionKind::AtaSecureErase,
                lines: security.secure_erase(&path),
            });
            let sanitize = security
                .sanitize
                .is_any()
                .then(|| ManualStep { action: ActionKind::AtaSanitize, lines: security.sanitize(&path) });
            erase.into_iter().chain(sanitize).collect()
        }
        _ => Vec::new(),
    }
}

/// The controller of a namespace, by the kernel's names: `/dev/nvme0` of `/dev/nvme0n1`.
fn controller_of(namespace: &Path) -> PathBuf {
    let name = namespace.to_string_lossy();
    let end = name.rfind('n').filter(|at| name[at + 1..].bytes().all(|byte| byte.is_ascii_digit()));
    PathBuf::from(end.map_or(&*name, |at| &name[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_names_its_controller() {
        for (namespace, controller) in
            [("/dev/nvme0n1", "/dev/nvme0"), ("/dev/nvme10n12", "/dev/nvme10"), ("/dev/sda", "/dev/sda")]
        {
            assert_eq!(controller_of(Path::new(namespace)), Path::new(controller));
        }
    }

    #[test]
    fn objections_are_distinguished_from_warnings() {
        let hot = Precondition {
            name: "temperature",
            standing: Standing::Refuses { reason: "it is hot".into(), remedy: "let it cool down".into() },
        };
        let found = objection(&hot, ActionKind::Refresh).unwrap();
        assert!(found.forbids && found.reason == "it is hot; let it cool down");
        let unknown = Precondition {
            name: "health",
            standing: Standing::Unknown { reason: "its health is unknown".into(), help: "ask".into() },
        };
        assert_eq!(objection(&unknown, ActionKind::Discard), None);
        assert!(objection(&unknown, ActionKind::NvmeFormat).unwrap().forbids);
        let warns = Precondition { name: "model", standing: Standing::Warns("it hesitates".into()) };
        assert!(!objection(&warns, ActionKind::Fstrim).unwrap().forbids);
    }

    #[test]
    fn this_folder_can_be_inspected() {
        let folder = tempfile::tempdir().unwrap();
        let result = check(File::open(folder.path()).unwrap());
        let ProbeResult::Feasibility(feasibility) = result else { panic!("{result:?}") };
        assert!(feasibility.manual_steps.is_empty() && feasibility.unused_bytes != Fact::NotQueried);
        assert!(feasibility.objections.iter().all(|objection| !objection.reason.ends_with('.')));
    }
}
