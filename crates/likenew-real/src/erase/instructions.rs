//! Instructions for erases that Likenew never does, with all that is known of the drive: ATA secure erase and
//! the sanitize commands of ATA and NVMe.
//!
//! The commands are those of hdparm(8) and of nvme-sanitize(1).

use std::path::Path;

use crate::ata_command;
pub use crate::standards::ata::AtaSecurity;
use crate::standards::nvme::Controller;
pub use crate::standards::sanitize::Sanitize;

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
            return vec![format!("{path} has no secure erase; discard it, or overwrite it instead.")];
        }
        let (option, minutes) = match self.enhanced {
            true => ("--security-erase-enhanced", self.minutes_enhanced.or(self.minutes)),
            false => ("--security-erase", self.minutes),
        };
        let mut lines = vec![
            format!("A secure erase makes {path} erase everything on it, including its spare area. It cannot be interrupted or undone."),
            "Do it with the drive on SATA inside the machine, never behind USB or a RAID controller: an adapter that takes the password and \
             refuses the erase, or resets a drive that does not answer, has cost owners their drives."
                .to_owned(),
        ];
        lines.push(match minutes {
            Some(minutes) => format!("The drive says that it takes about {minutes} minutes. It does not respond until then: do not disconnect its power."),
            None => "The drive does not report how long it takes: minutes for flash, hours for a disk. Do not disconnect its power.".to_owned(),
        });
        if self.locked {
            lines.push("It is locked by a password. Unlock it first:".to_owned());
            lines.push(format!("    hdparm --user-master u --security-unlock PASSWORD {path}"));
        }
        if self.frozen {
            lines.push(
                "The machine's firmware has frozen it. Suspend the machine, wake it, and check again:"
                    .to_owned(),
            );
            lines.push("    systemctl suspend".to_owned());
        }
        if self.enabled && !self.locked {
            lines.push("A password is set on it. Remove it first:".to_owned());
            lines.push(format!("    hdparm --user-master u --security-disable PASSWORD {path}"));
        }
        if self.expired {
            lines.push(
                "Too many passwords were tried: disconnect its power once before anything else.".to_owned(),
            );
        }
        lines.extend([
            "First see that it says \"not enabled\", \"not locked\" and \"not frozen\":".to_owned(),
            format!("    hdparm -I {path}"),
            format!("Then set the password \"{PASSWORD}\", which the erase takes away again, and erase:"),
            format!("    hdparm --user-master u --security-set-pass {PASSWORD} {path}"),
            format!("    hdparm --user-master u {option} {PASSWORD} {path}"),
            "Afterwards see that it says \"not enabled\" again. If power was lost on the way, the drive is locked by this password:".to_owned(),
            format!("    hdparm --user-master u --security-unlock {PASSWORD} {path}"),
            format!("    hdparm --user-master u --security-disable {PASSWORD} {path}"),
        ]);
        lines
    }

    /// The same for ATA's Sanitize.
    pub fn sanitize(&self, path: &Path) -> Vec<String> {
        let path = path.display();
        let Sanitize { block, crypto, overwrite } = self.sanitize;
        if !self.sanitize.is_any() {
            return vec![format!("{path} has no Sanitize; discard it, or overwrite it instead.")];
        }
        let mut lines = vec![
            format!("Sanitize makes {path} erase everything on it, including its spare area. It cannot be interrupted: it continues after a power cut."),
            "It is meant for giving a drive away; against slowness a discard is as good. Until it ends, nothing can be read or written."
                .to_owned(),
        ];
        if self.frozen {
            lines.push("The machine's firmware has frozen its security. Suspend the machine, wake it, and check again:".to_owned());
            lines.push("    systemctl suspend".to_owned());
        }
        for (has, what, option) in [
            (crypto, "By a new key, at once:", "--sanitize-crypto-scramble"),
            (block, "By erasing its flash, in minutes:", "--sanitize-block-erase"),
            (
                overwrite,
                "By writing all of it, in hours:",
                "--sanitize-overwrite-passes 1 --sanitize-overwrite hex:00000000",
            ),
        ] {
            if has {
                lines.push(what.to_owned());
                lines.push(format!("    hdparm --yes-i-know-what-i-am-doing {option} {path}"));
            }
        }
        lines.extend(["To see how far it is:".to_owned(), format!("    hdparm --sanitize-status {path}")]);
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
    let Some(can) = can else {
        return vec![format!("{path} has no Sanitize; discard it, or format it with an erase instead.")];
    };
    let mut lines = vec![
        format!(
            "Sanitize has {path} itself erase everything on it, all namespaces at once, also what it keeps in reserve. It runs on after the command \
             has returned, goes on after a power cut, and cannot be ended."
        ),
        "It is meant for giving a drive away, and is no cure for slowness that a discard or a format would not be. Should it fail, the drive takes no \
         I/O until one has succeeded; \"--ause\" below lets it be used again after that."
            .to_owned(),
    ];
    for (has, what, action) in [
        (can.crypto, "By a new key, at once:", "--sanact=4"),
        (can.block, "By erasing its flash, in minutes:", "--sanact=2"),
        (
            can.overwrite,
            "By writing all of it once, in hours (without --owpass=1 it would do so sixteen times):",
            "--sanact=3 --owpass=1",
        ),
    ] {
        if has {
            lines.push(what.to_owned());
            lines.push(format!("    nvme sanitize {path} {action} --ause"));
        }
    }
    lines.extend([
        "To see how far it is (SPROG counts to 65535; SSTAT ends on 1 when it was done, 3 when it failed):"
            .to_owned(),
        format!("    nvme sanitize-log {path}"),
    ]);
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
