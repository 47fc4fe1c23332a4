//! Instructions for erases that Likenew never does, with all that is known of the drive: ATA secure erase and
//! the sanitize commands of ATA and NVMe.
//!
//! The commands are those of hdparm(8) and of nvme-sanitize(1).

use std::path::Path;

use crate::ata_command;
pub use crate::standards::ata::AtaSecurity;
use crate::standards::nvme::Controller;
pub use crate::standards::sanitize::Sanitize;
use crate::wording::instructions as wording;

/// The password for a secure erase: fixed and published, since a power cut leaves the drive locked by it; and
/// not empty, as programs and drives disagree about empty ones.
pub const PASSWORD: &str = "likenew";

impl AtaSecurity {
    /// Of a disk, by the kernel's name; nothing for what is no ATA drive, or where that cannot be asked.
    pub(crate) fn read(name: &str) -> Option<Self> {
        let opened = std::fs::File::open(Path::new("/dev").join(name)).ok()?;
        ata_command::identify(&opened).ok().map(|identify| identify.security())
    }

    /// Instructions for a secure erase of the drive at `path`, line by line. Commands begin with four spaces.
    pub fn secure_erase(&self, path: &Path) -> Vec<String> {
        let path = path.display();
        if !self.supported {
            return vec![wording::no_secure_erase(path)];
        }
        let (option, minutes) = match self.enhanced {
            true => ("--security-erase-enhanced", self.minutes_enhanced.or(self.minutes)),
            false => ("--security-erase", self.minutes),
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

    /// The same for ATA's Sanitize.
    pub fn sanitize(&self, path: &Path) -> Vec<String> {
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

/// What an NVMe drive can sanitize by, from Identify Controller, or nothing where it cannot.
pub fn nvme_sanitize_of(controller: &[u8]) -> Option<Sanitize> {
    Controller::parse(controller)?.sanitize()
}

/// Instructions for a sanitize of the NVMe drive with the controller at `path`.
pub fn nvme_sanitize(path: &Path, can: Option<Sanitize>) -> Vec<String> {
    let path = path.display();
    let Some(can) = can else { return vec![wording::no_nvme_sanitize(path)] };
    let mut lines = wording::nvme_sanitize(&path).to_vec();
    for (has, what, action) in [
        (can.crypto, wording::BY_NEW_KEY, "--sanact=4"),
        (can.block, wording::BY_ERASING_FLASH, "--sanact=2"),
        (can.overwrite, wording::BY_WRITING_ONCE, "--sanact=3 --owpass=1"),
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

    #[test]
    fn what_is_to_be_typed_fits_the_drive() {
        let path = Path::new("/dev/sdx");
        let text = |security: AtaSecurity| security.secure_erase(path).join("\n");
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
        assert_eq!(nvme_sanitize_of(&controller), None);
        assert!(nvme_sanitize(path, None)[0].contains("has no Sanitize"));
        controller[328] = 0b101;
        let text = nvme_sanitize(path, nvme_sanitize_of(&controller)).join("\n");
        assert!(text.contains("    nvme sanitize /dev/nvme9 --sanact=4 --ause"), "{text}");
        assert!(text.contains("--sanact=3 --owpass=1") && !text.contains("--sanact=2"), "{text}");
        let block = AtaSecurity {
            sanitize: Sanitize { block: true, ..Sanitize::default() },
            ..AtaSecurity::default()
        };
        let text = block.sanitize(Path::new("/dev/sdx")).join("\n");
        assert!(text.contains("--sanitize-block-erase /dev/sdx") && !text.contains("crypto"), "{text}");
        assert!(AtaSecurity::default().sanitize(path)[0].contains("has no Sanitize"));
    }
}
