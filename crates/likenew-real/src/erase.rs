//! Erases of a whole drive.
//!
//! * [`discard`] and [`mod@format`] do it, with consent: a whole device is told that none of its data is in use, or an
//!   NVMe drive erases a namespace;
//! * [`AtaSecurity::secure_erase_instructions`], [`AtaSecurity::sanitize_instructions`] and
//!   [`nvme_sanitize_instructions`] say what to type for erases that Likenew never does;
//! * [`precondition`] tells what must hold before each of them, with known problems of a model or firmware;
//! * `probe_feasibility` collects which of them are possible here, and changes nothing.

#[allow(unsafe_code, reason = "the kernel takes discards by an ioctl only")]
pub mod discard;
pub mod format;
pub mod precondition;

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use likenew_core::facts::{Drive, DriveKind, Fact, Facts};
use likenew_core::fix::{ActionKind, Feasibility, ManualStep, Objection};
use likenew_core::probe::ProbeResult;
use likenew_core::workload::OLD_AGE_S;

use self::precondition::{Environment, PowerSupply, Precondition, Standing, for_drive};
use crate::block::DeviceNumber;
use crate::consent::UnusedSpace;
use crate::drive_commands::{NvmeCommand, identify_ata, open_drive, read_nvme};
use crate::facts::machine::{Roots, controller};
use crate::mounts::Mount;
use crate::old_files::file_bytes;
pub use crate::standards::Sanitize;
pub use crate::standards::ata::AtaSecurity;
use crate::standards::nvme::Controller;
use crate::wording::{consent, erase as wording};

/// Answers `Probe::Feasibility` for the folder, file or device of `fd`; `folder` is its path if it is a folder, whose files
/// are then counted. Without facts, the answer is why there are none.
pub(crate) fn probe_feasibility(fd: impl AsFd, folder: Option<&Path>) -> ProbeResult {
    match crate::facts::collect(&fd, None) {
        ProbeResult::Facts(facts) => {
            let bytes = |age_s_least| {
                folder.map_or(Fact::NotQueried, |folder| {
                    Fact::from_option(
                        file_bytes(folder, age_s_least),
                        wording::TOO_MANY_FILES,
                        wording::FILES,
                    )
                })
            };
            ProbeResult::Feasibility(Feasibility {
                file_bytes: bytes(0),
                old_file_bytes: bytes(OLD_AGE_S),
                ..feasibility(&facts, fd)
            })
        }
        other => other,
    }
}

fn feasibility(facts: &Facts, fd: impl AsFd) -> Feasibility {
    let power = PowerSupply::now();
    let is_device = DeviceNumber::of_open(&fd).is_some();
    let mut feasibility = Feasibility::default();
    for drive in &facts.drives {
        let security = AtaSecurity::read(&drive.name);
        for action in ActionKind::ALL {
            let preconditions = for_drive(drive, Environment { power, security }, action);
            feasibility
                .objections
                .extend(preconditions.iter().filter_map(|precondition| objection(precondition, action)));
        }
        // A user who names a folder wants to keep its files.
        if is_device {
            feasibility.manual_steps.extend(manual_steps(drive, security));
        }
    }
    if !is_device {
        feasibility.unused_bytes = match Mount::containing(fd).map(|mount| UnusedSpace::in_mount(&mount)) {
            Some(Ok(space)) => Fact::new(space.bytes(), wording::PARTITION_TABLE),
            Some(Err(target_error)) => Fact::unknown(target_error.to_string(), wording::PARTITION_TABLE),
            None => Fact::unknown(consent::DRIVE_NOT_REPORTED, wording::PARTITION_TABLE),
        };
    }
    feasibility
}

/// What to say before the action; `None` if the precondition is met, or unknown where that forbids nothing.
fn objection(precondition: &Precondition, action: ActionKind) -> Option<Objection> {
    let forbids = precondition.stands_against(action);
    let reason = match &precondition.standing {
        Standing::Warns(reason) => reason.clone(),
        Standing::Unknown { .. } if !forbids => return None,
        standing => standing.objection()?,
    };
    Some(Objection { action, forbids, reason })
}

/// The erases of a drive that are only described.
fn manual_steps(drive: &Drive, security: Option<AtaSecurity>) -> Vec<ManualStep> {
    let path = Path::new("/dev").join(&drive.name);
    match (drive.kind, security) {
        (DriveKind::Nvme, _) => {
            let opened = open_drive(&drive.name);
            let answer = opened.and_then(|opened| read_nvme(opened, NvmeCommand::Controller));
            let methods = answer.ok().and_then(|(identify, _result)| nvme_sanitize_methods(&identify));
            let step = methods.zip(controller_of(&Roots::system(), &drive.name)).map(|(methods, path)| {
                let lines = nvme_sanitize_instructions(&path, methods);
                ManualStep { action: ActionKind::NvmeSanitize, lines }
            });
            step.into_iter().collect()
        }
        (_, Some(security)) => {
            let erase = security.supported.then(|| ManualStep {
                action: ActionKind::AtaSecureErase,
                lines: security.secure_erase_instructions(&path),
            });
            let sanitize = security.sanitize.is_any().then(|| ManualStep {
                action: ActionKind::AtaSanitize,
                lines: security.sanitize_instructions(&path),
            });
            erase.into_iter().chain(sanitize).collect()
        }
        _ => Vec::new(),
    }
}

/// The controller of the namespace with this kernel name, as a path; a sanitize reaches all namespaces of its subsystem.
fn controller_of(roots: &Roots, namespace: &str) -> Option<PathBuf> {
    let controller = controller(roots, &roots.device(namespace)?)?;
    Some(Path::new("/dev").join(controller))
}

// The commands of the instructions are those of hdparm(8) and of nvme-sanitize(1).

/// The password for a secure erase: fixed and published, since a power cut leaves the drive locked with it.
/// It is not empty, as programs and drives disagree about empty ones.
pub const PASSWORD: &str = "likenew";

impl AtaSecurity {
    /// The security state of the disk with this kernel name; `None` if it is no ATA drive or cannot be queried.
    pub(crate) fn read(name: &str) -> Option<Self> {
        open_drive(name).and_then(identify_ata).ok().map(|identify| identify.security())
    }

    /// Instructions for a secure erase of the drive at `path`, line by line. Commands begin with four spaces.
    pub fn secure_erase_instructions(&self, path: &Path) -> Vec<String> {
        let path = path.display();
        if !self.supported {
            return vec![wording::no_secure_erase(path)];
        }
        let (option, minutes) = if self.enhanced {
            ("--security-erase-enhanced", self.minutes_enhanced.or(self.minutes))
        } else {
            ("--security-erase", self.minutes)
        };
        let mut lines = vec![
            wording::secure_erase(&path),
            wording::ON_SATA_ONLY.to_owned(),
            wording::erase_time(minutes),
        ];
        if self.locked {
            lines.extend(wording::unlock_first(&path));
        }
        if self.frozen {
            lines.extend(wording::thaw_first());
        }
        if self.enabled && !self.locked {
            lines.extend(wording::remove_password_first(&path));
        }
        if self.expired {
            lines.push(wording::PASSWORD_TRIES_USED_UP.to_owned());
        }
        lines.extend(wording::secure_erase_commands(&path, option, PASSWORD));
        lines
    }

    /// Instructions for ATA's Sanitize, in the same form.
    pub fn sanitize_instructions(&self, path: &Path) -> Vec<String> {
        let path = path.display();
        let Sanitize { block, crypto, overwrite } = self.sanitize;
        if !self.sanitize.is_any() {
            return vec![wording::no_ata_sanitize(path)];
        }
        let mut lines = wording::ata_sanitize(&path).to_vec();
        if self.frozen {
            lines.extend(wording::thaw_security_first());
        }
        for (has, what, option) in [
            (crypto, wording::BY_NEW_KEY, "--sanitize-crypto-scramble"),
            (block, wording::BY_ERASING_FLASH, "--sanitize-block-erase"),
            (
                overwrite,
                wording::BY_WRITING,
                "--sanitize-overwrite-passes 1 --sanitize-overwrite hex:00000000",
            ),
        ] {
            if has {
                lines.extend([what.to_owned(), wording::ata_sanitize_command(&path, option)]);
            }
        }
        lines.extend(wording::ata_sanitize_progress(&path));
        lines
    }
}

/// How an NVMe drive can sanitize, from Identify Controller; `None` if it cannot.
pub fn nvme_sanitize_methods(controller: &[u8]) -> Option<Sanitize> {
    Controller::parse(controller)?.sanitize()
}

/// Instructions for a sanitize of the NVMe drive with the controller at `path`.
pub fn nvme_sanitize_instructions(path: &Path, methods: Sanitize) -> Vec<String> {
    let path = path.display();
    let mut lines = wording::nvme_sanitize(&path).to_vec();
    for (has, what, action) in [
        (methods.crypto, wording::BY_NEW_KEY, "--sanact=4"),
        (methods.block, wording::BY_ERASING_FLASH, "--sanact=2"),
        (methods.overwrite, wording::BY_WRITING_ONCE, "--sanact=3 --owpass=1"),
    ] {
        if has {
            lines.extend([what.to_owned(), wording::nvme_sanitize_command(&path, action)]);
        }
    }
    lines.extend(wording::nvme_sanitize_progress(&path));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With multipath, `nvme0n1` is a namespace of subsystem 0, whose controller may be `nvme3`: `nvme0` is another drive then.
    #[test]
    fn the_controller_to_sanitize_is_the_one_that_the_kernel_names() {
        let root = tempfile::tempdir().unwrap();
        let (sys, devices) = (root.path().join("sys"), root.path().join("sys/devices"));
        for folder in ["nvme-subsys0/nvme0n1", "pci/nvme3", "pci/nvme0/nvme1n1", "sda"] {
            std::fs::create_dir_all(devices.join(folder)).unwrap();
        }
        for folder in ["class/block", "class/nvme"] {
            std::fs::create_dir_all(sys.join(folder)).unwrap();
        }
        for (link, to) in [
            ("class/nvme/nvme3", "pci/nvme3"),
            ("class/nvme/nvme0", "pci/nvme0"),
            ("class/block/nvme0n1", "nvme-subsys0/nvme0n1"),
            ("class/block/nvme1n1", "pci/nvme0/nvme1n1"),
            ("class/block/sda", "sda"),
            ("devices/nvme-subsys0/nvme3", "pci/nvme3"),
            ("devices/nvme-subsys0/nvme0n1/device", "nvme-subsys0"),
            ("devices/pci/nvme0/nvme1n1/device", "pci/nvme0"),
        ] {
            std::os::unix::fs::symlink(devices.join(to), sys.join(link)).unwrap();
        }
        let roots = Roots::at(root.path());
        let named = |name| controller_of(&roots, name);
        assert_eq!(named("nvme0n1"), Some("/dev/nvme3".into()));
        assert_eq!(named("nvme1n1"), Some("/dev/nvme0".into()));
        assert_eq!((named("sda"), named("nvme7n1")), (None, None));
    }

    #[test]
    fn objections_are_distinguished_from_warnings() {
        let hot = Precondition {
            name: "temperature",
            standing: Standing::Refuses { reason: "it is hot".into(), remedy: "let it cool down".into() },
        };
        let heat_objection = objection(&hot, ActionKind::Refresh).unwrap();
        assert!(heat_objection.forbids && heat_objection.reason == "it is hot; let it cool down");
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
        std::fs::write(folder.path().join("film"), vec![1; 3 << 20]).unwrap();
        let result = probe_feasibility(std::fs::File::open(folder.path()).unwrap(), Some(folder.path()));
        let ProbeResult::Feasibility(feasibility) = result else { panic!("{result:?}") };
        assert!(feasibility.manual_steps.is_empty() && feasibility.unused_bytes != Fact::NotQueried);
        assert_eq!(
            (feasibility.file_bytes.get(), feasibility.old_file_bytes.get()),
            (Some(3 << 20), Some(0))
        );
        assert!(feasibility.objections.iter().all(|objection| !objection.reason.ends_with('.')));
    }

    #[test]
    fn what_is_to_be_typed_fits_the_drive() {
        let path = Path::new("/dev/sdx");
        let text = |security: AtaSecurity| security.secure_erase_instructions(path).join("\n");
        let plain = AtaSecurity { supported: true, minutes: Some(2), ..AtaSecurity::default() };
        let of_plain = text(plain);
        for part in [
            "    hdparm -I /dev/sdx",
            "    hdparm --user-master u --security-set-pass likenew /dev/sdx",
            "    hdparm --user-master u --security-erase likenew /dev/sdx",
            "    hdparm --user-master u --security-unlock likenew /dev/sdx",
            "about 2 minutes",
        ] {
            assert!(of_plain.contains(part), "{part} is missing in: {of_plain}");
        }
        assert!(!of_plain.contains("suspend"));
        let enhanced = AtaSecurity { enhanced: true, frozen: true, minutes_enhanced: Some(8), ..plain };
        let of_enhanced = text(enhanced);
        for part in ["--security-erase-enhanced likenew", "systemctl suspend", "about 8 minutes"] {
            assert!(of_enhanced.contains(part), "{of_enhanced}");
        }
        assert!(text(AtaSecurity { locked: true, ..plain }).contains("--security-unlock PASSWORD"));
        assert!(text(AtaSecurity { enabled: true, ..plain }).contains("--security-disable PASSWORD"));
        assert!(text(AtaSecurity::default()).contains("has no secure erase"));
        assert!(!PASSWORD.is_empty());
    }

    #[test]
    fn a_sanitize_is_offered_by_what_the_drive_can() {
        let path = Path::new("/dev/nvme9");
        let mut controller = vec![0; 4096];
        assert_eq!(nvme_sanitize_methods(&controller), None);
        controller[328] = 0b101;
        let text = nvme_sanitize_instructions(path, nvme_sanitize_methods(&controller).unwrap()).join("\n");
        assert!(text.contains("    nvme sanitize /dev/nvme9 --sanact=4 --ause"), "{text}");
        assert!(text.contains("--sanact=3 --owpass=1") && !text.contains("--sanact=2"), "{text}");
        let block = AtaSecurity {
            sanitize: Sanitize { block: true, ..Sanitize::default() },
            ..AtaSecurity::default()
        };
        let text = block.sanitize_instructions(Path::new("/dev/sdx")).join("\n");
        assert!(text.contains("--sanitize-block-erase /dev/sdx") && !text.contains("crypto"), "{text}");
        assert!(AtaSecurity::default().sanitize_instructions(path)[0].contains("has no Sanitize"));
    }
}
