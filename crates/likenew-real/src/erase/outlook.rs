//! What could be done to the drives below a folder or device, and what stands against each of it: looked at, and nothing changed.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use likenew_core::facts::{Drive, DriveKind, Fact, Facts};
use likenew_core::look::Seen;
use likenew_core::outlook::{ByHand, Deed, Objection, Outlook};
use rustix::fs::{FileType, fstat};

use super::instructions::{AtaSecurity, nvme_sanitize, nvme_sanitize_of};
use super::power_supply::PowerSupply;
use super::precondition::{Precondition, Standing, Surroundings, for_drive};
use crate::consent::UnusedSpace;
use crate::mounts::Mount;
use crate::nvme_admin::{self, Reads};

/// Where it is known from what no partition covers.
const TABLE: &str = "the partition table";

/// Answers the look for an outlook, about what holds `fd`: a folder, a file or a device.
pub(crate) fn look_at(fd: impl AsFd) -> Seen {
    match crate::facts::look_at(&fd, None) {
        Seen::Facts(facts) => Seen::Outlook(outlook(&facts, fd)),
        other => other,
    }
}

fn outlook(facts: &Facts, fd: impl AsFd) -> Outlook {
    let power = PowerSupply::now();
    let is_device =
        fstat(&fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice);
    let mut outlook = Outlook::default();
    for drive in &facts.drives {
        let security = AtaSecurity::of(&drive.name);
        for deed in Deed::ALL {
            let found = for_drive(drive, Surroundings { power, security }, deed);
            outlook.objections.extend(found.iter().filter_map(|found| objection(found, deed)));
        }
        // Whoever gives a folder wants to keep what is in it.
        if is_device {
            outlook.by_hand.extend(by_hand(drive, security));
        }
    }
    if !is_device {
        outlook.unused_bytes = match Mount::of(fd).map(|mount| UnusedSpace::below(&mount)) {
            Some(Ok(space)) => Fact::known(space.bytes(), TABLE),
            Some(Err(fault)) => Fact::unknown(fault.to_string(), TABLE),
            None => Fact::unknown("the system does not say where it lies", TABLE),
        };
    }
    outlook
}

fn objection(found: &Precondition, deed: Deed) -> Option<Objection> {
    let why = match &found.standing {
        Standing::Refuses { why, remedy } => format!("{why}; {remedy}"),
        Standing::Unknown { why, help } if found.stands_against(deed) => {
            format!("{why}, and this can not be ended once it runs; {help}")
        }
        Standing::Warns(why) => why.clone(),
        Standing::Unknown { .. } | Standing::Holds(_) => return None,
    };
    Some(Objection { deed, forbids: found.stands_against(deed), why })
}

/// What a drive has of what is only written down.
fn by_hand(drive: &Drive, security: Option<AtaSecurity>) -> Vec<ByHand> {
    let path = Path::new("/dev").join(&drive.name);
    match (drive.kind, security) {
        (DriveKind::Nvme, _) => {
            let controller = File::open(&path)
                .ok()
                .and_then(|opened| Some(nvme_admin::read(opened, Reads::Controller).ok()?.0));
            let can = controller.as_deref().and_then(nvme_sanitize_of);
            let lines = can.map(|can| nvme_sanitize(&controller_of(&path), Some(can)));
            lines.map(|lines| ByHand { deed: Deed::NvmeSanitize, lines }).into_iter().collect()
        }
        (_, Some(security)) => {
            let erase = security
                .supported
                .then(|| ByHand { deed: Deed::AtaSecureErase, lines: security.secure_erase(&path) });
            let sanitize = security
                .sanitize
                .is_any()
                .then(|| ByHand { deed: Deed::AtaSanitize, lines: security.sanitize(&path) });
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
    fn what_forbids_is_told_from_what_is_said_first() {
        let hot = Precondition {
            name: "temperature",
            standing: Standing::Refuses { why: "it is hot".into(), remedy: "let it cool down".into() },
        };
        let found = objection(&hot, Deed::Refresh).unwrap();
        assert!(found.forbids && found.why == "it is hot; let it cool down");
        let unknown = Precondition {
            name: "health",
            standing: Standing::Unknown { why: "its health is not known".into(), help: "ask".into() },
        };
        assert_eq!(objection(&unknown, Deed::Discard), None);
        assert!(objection(&unknown, Deed::NvmeFormat).unwrap().forbids);
        let warns = Precondition { name: "model", standing: Standing::Warns("it hesitates".into()) };
        assert!(!objection(&warns, Deed::Fstrim).unwrap().forbids);
    }

    #[test]
    fn this_folder_can_be_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let seen = look_at(File::open(folder.path()).unwrap());
        let Seen::Outlook(outlook) = seen else { panic!("{seen:?}") };
        assert!(outlook.by_hand.is_empty() && outlook.unused_bytes != Fact::Unasked);
        assert!(outlook.objections.iter().all(|objection| !objection.why.ends_with('.')));
    }
}
