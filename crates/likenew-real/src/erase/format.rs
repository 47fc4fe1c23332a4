//! Format NVM: has an NVMe drive erase one namespace, whose format stays (NVM Express Base Specification 2.0,
//! §5.14).
//!
//! The consent's descriptor decides which namespace that is: the kernel sends the command to the namespace's
//! controller, and reports the namespace's number. No device name is ever turned into another.

use likenew_core::target_error::TargetError;
use rustix::fs::fstat;

use super::discard::read_partitions_again;
use crate::block::{BlockDevice, DeviceNumber};
use crate::consent::Consent;
use crate::drive_commands::{NvmeCommand, format_namespace, namespace_number, read_nvme};
use crate::standards::nvme::{Controller, Namespace, active_namespaces};
use crate::target_error::ErrorContext as _;
use crate::wording::consent::not_changed;
use crate::wording::{action, erase as wording};

/// How a format erases. There is no third way: a format without an erase guarantees nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erase {
    /// All user data (1).
    UserData = 1,
    /// The key that all data is encrypted with (2).
    Key = 2,
}

impl Erase {
    /// The erase that has this number in the command.
    ///
    /// # Errors
    /// A refusal of a number that guarantees no erase, or does not exist.
    pub fn by_number(number: u8) -> Result<Self, TargetError> {
        match number {
            1 => Ok(Self::UserData),
            2 => Ok(Self::Key),
            0 => Err(TargetError::Refused(wording::FORMAT_WITHOUT_ERASE.to_owned())),
            other => Err(TargetError::Unsuitable(wording::not_an_erase(other))),
        }
    }
}

/// The plan of a format, made without changing anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatPlan {
    /// The namespace's number.
    pub namespace: u32,
    /// How the namespace is erased.
    pub erase: Erase,
    /// Index of the format in use, which stays.
    pub format_index: u8,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Bytes of metadata to each block.
    pub metadata_bytes: u16,
    /// Whether each block is transferred together with its metadata.
    pub extended_blocks: bool,
    /// Kind of protection information; 0 for none.
    pub protection: u8,
    /// Whether protection information stands first in the metadata.
    pub protection_first: bool,
    /// The size of the namespace.
    pub bytes: u64,
    /// How long to wait for the drive, in ms.
    pub timeout_ms: u32,
}

/// How a format ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatReport {
    /// Whether size and format are unchanged.
    pub is_as_before: bool,
    /// Whether the kernel has read the partition table again.
    pub partitions_read: bool,
}

/// Time limit of a format: the longest of other tools, and more for each TiB of a large drive.
const TIMEOUT_MS: u64 = 600_000;
const TIMEOUT_MS_PER_TIB: u64 = 300_000;

impl FormatPlan {
    /// Plans a format of the consent's namespace, from what the drive reports.
    ///
    /// # Errors
    /// A refusal that says what prevents it, and what to do.
    pub fn inspect(consent: &Consent, erase: Erase) -> Result<Self, TargetError> {
        let device = consent.descriptor();
        let path = consent.path().display();
        let refuse = |reason: &str| TargetError::Refused(not_changed(&path, reason));
        let number = DeviceNumber::from_raw(fstat(device).context(action::look_at(&path))?.st_rdev);
        let is_namespace = BlockDevice::by_number(number).is_some_and(|device| {
            !device.is_partition() && device.bus().is_some_and(|bus| bus.starts_with("nvme"))
        });
        if !is_namespace {
            return Err(refuse(wording::NOT_A_NAMESPACE));
        }
        let namespace = namespace_number(device).context(action::ask_namespace(&path))?;
        let read = |what| read_nvme(device, what).map(|(answer, _)| answer);
        let controller = read(NvmeCommand::Controller).context(action::ask_controller(&path))?;
        let active = read(NvmeCommand::Namespaces).context(action::ask_namespaces(&path))?;
        let identify = read(NvmeCommand::Namespace).context(action::ask_format(&path))?;
        Self::from(&controller, &active, &identify, namespace, erase).map_err(|reason| refuse(&reason))
    }

    /// A plan from the drive's answers: Identify Controller, the list of active namespaces, and Identify Namespace.
    fn from(
        controller: &[u8],
        active: &[u8],
        identify: &[u8],
        namespace: u32,
        erase: Erase,
    ) -> Result<Self, String> {
        let controller = Controller::parse(controller).ok_or(wording::SHORT_ANSWER)?;
        if !controller.formats() {
            return Err(wording::NO_FORMAT.to_owned());
        }
        if erase == Erase::Key && !controller.erases_key() {
            return Err(wording::NO_KEY_ERASE.to_owned());
        }
        let mut others = active_namespaces(active);
        others.retain(|number| *number != namespace);
        if controller.formats_all_namespaces() && !others.is_empty() {
            return Err(wording::other_namespaces(&others));
        }
        let parsed = Namespace::parse(identify).filter(|parsed| parsed.size_blocks > 0);
        let Some(parsed) = parsed else {
            return Err(wording::INVALID_FORMAT.to_owned());
        };
        let bytes = parsed.size_blocks.saturating_mul(parsed.format.block_bytes);
        let timeout_ms = TIMEOUT_MS + (bytes >> 40) * TIMEOUT_MS_PER_TIB;
        Ok(Self {
            namespace,
            erase,
            format_index: parsed.format_index,
            block_bytes: parsed.format.block_bytes,
            metadata_bytes: parsed.format.metadata_bytes,
            extended_blocks: parsed.extended_blocks,
            protection: parsed.protection,
            protection_first: parsed.protection_first,
            bytes,
            timeout_ms: u32::try_from(timeout_ms).unwrap_or(u32::MAX),
        })
    }

    /// The command's word 10 (figure 328 of the Base Specification): format, metadata, protection, kind of
    /// erase, and the high bits of the format.
    fn word_10(&self) -> u32 {
        let bit = |set: bool, at: u32| u32::from(set) << at;
        u32::from(self.format_index & 0xF)
            | bit(self.extended_blocks, 4)
            | u32::from(self.protection) << 5
            | bit(self.protection_first, 8)
            | (self.erase as u32) << 9
            | u32::from(self.format_index >> 4) << 12
    }

    /// The plan in words, for the log and the user:
    /// `namespace 1, erase of user data, LBA format 0 (512 B), unchanged`.
    pub fn text(&self) -> String {
        let erase = match self.erase {
            Erase::UserData => wording::ERASE_OF_USER_DATA,
            Erase::Key => wording::ERASE_OF_KEY,
        };
        let Self { namespace, format_index, block_bytes, metadata_bytes, .. } = *self;
        wording::format_plan(namespace, erase, format_index, block_bytes, metadata_bytes)
    }

    /// Formats the namespace, and blocks until the drive has answered, which may take minutes. A format
    /// cannot be stopped.
    ///
    /// # Errors
    /// The drive's refusal in words; or the namespace has changed since the plan was made.
    pub fn carry_out(&self, consent: &Consent) -> Result<FormatReport, TargetError> {
        let path = consent.path().display().to_string();
        if Self::inspect(consent, self.erase)? != *self {
            return Err(TargetError::Refused(not_changed(&path, wording::FORMAT_CHANGED)));
        }
        let device = consent.descriptor();
        let status = format_namespace(device, self.namespace, self.word_10(), self.timeout_ms)
            .context(action::format(&path))?;
        if status != 0 {
            return Err(TargetError::Refused(wording::not_formatted(&path, &status_text(status))));
        }
        let partitions_read = read_partitions_again(device).is_ok();
        // All but the kind of erase and the timeout is read from the drive again.
        let is_as_before = Self::inspect(consent, self.erase).is_ok_and(|now| now == *self);
        Ok(FormatReport { is_as_before, partitions_read })
    }
}

/// Makes a plan from these answers, and its command, for fuzzers.
pub(crate) fn fuzz_parse(controller: &[u8], identify: &[u8]) {
    let mut active = vec![0; 4096];
    active[0] = 1;
    for erase in [Erase::UserData, Erase::Key] {
        if let Ok(plan) = FormatPlan::from(controller, &active, identify, 1, erase) {
            let _ = (plan.word_10(), plan.text());
        }
    }
}

// The meaning of an NVMe drive's refusal of Format NVM, and what to do about it (NVM Express Base
// Specification 2.0, figures 97 to 101). The advice comes from what owners met, with sources beside it.

/// Bits of a status: code and its type. Higher ones (more, do not retry) say nothing about why.
const CODE: u16 = 0x7FF;

/// The meaning of a status and what to do, without a full stop.
pub(super) fn status_text(status: u16) -> String {
    let code = status & CODE;
    let words = match code {
        // Firmware of laptops freezes drives at start (nvme-cli issue 84: PM951, PM961, SM961).
        0x001 => wording::INVALID_OPCODE,
        0x002 => wording::INVALID_FIELD,
        0x006 => wording::INTERNAL_ERROR,
        // nvme-cli issue 423, an Adata SX8000NP.
        0x00C => wording::COMMAND_SEQUENCE,
        // A password in the firmware (nvme-cli issue 779): suspending does not help.
        0x015 => wording::LOCKED_BY_SECURITY,
        0x01C | 0x01D => wording::SANITIZING,
        0x020 => wording::NAMESPACE_WRITE_PROTECTED,
        0x084 => wording::FORMATTING,
        // nvme-cli issues 600 and 816.
        0x10A => wording::FORMAT_REFUSED,
        0x182 => wording::FLASH_READ_ONLY,
        0x286 => wording::ACCESS_DENIED,
        _ => wording::VENDOR_STATUS,
    };
    wording::format_status(code, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers: Identify Controller, the list of active namespaces, Identify Namespace.
    type CheckMetrics = (Vec<u8>, Vec<u8>, Vec<u8>);

    /// A controller that can format, and a namespace of 1 GiB.
    fn answers() -> CheckMetrics {
        let (mut controller, mut active, mut identify) = (vec![0; 4096], vec![0; 4096], vec![0; 4096]);
        (controller[256], controller[524]) = (0b10, 0b100);
        active[0] = 1;
        identify[..8].copy_from_slice(&(1u64 << 18).to_le_bytes());
        (identify[25], identify[26], identify[29]) = (3, 2 | 1 << 4, 1 | 1 << 3);
        identify[128 + 8..128 + 12].copy_from_slice(&[8, 0, 12, 0]);
        (controller, active, identify)
    }

    fn plan(answers: &CheckMetrics, erase: Erase) -> Result<FormatPlan, String> {
        FormatPlan::from(&answers.0, &answers.1, &answers.2, 1, erase)
    }

    #[test]
    fn the_format_in_use_is_kept_whole() {
        let plan = plan(&answers(), Erase::UserData).unwrap();
        assert_eq!((plan.format_index, plan.block_bytes, plan.metadata_bytes), (2, 4096, 8));
        assert_eq!((plan.extended_blocks, plan.protection, plan.protection_first), (true, 1, true));
        assert_eq!((plan.bytes, plan.timeout_ms), (1 << 30, 600_000));
        assert_eq!(plan.word_10(), 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9);
        assert_eq!(
            plan.text(),
            "namespace 1, erase of user data, LBA format 2 (4 KiB and 8 B of metadata), unchanged"
        );
        let mut many = answers();
        (many.2[25], many.2[26]) = (40, 1 | 1 << 5);
        many.2[128 + 4 * 17 + 2] = 9;
        let plan = super::tests::plan(&many, Erase::Key).unwrap();
        assert_eq!((plan.format_index, plan.word_10()), (17, 1 | 1 << 5 | 1 << 8 | 2 << 9 | 1 << 12));
    }

    #[test]
    fn a_large_drive_is_waited_for_longer() {
        let mut large = answers();
        large.2[..8].copy_from_slice(&(4u64 << 28).to_le_bytes());
        assert_eq!(plan(&large, Erase::UserData).unwrap().timeout_ms, 600_000 + 4 * 300_000);
    }

    #[test]
    fn objections_are_reported() {
        let refused = |change: fn(&mut CheckMetrics), erase| {
            let mut answers = answers();
            change(&mut answers);
            plan(&answers, erase).unwrap_err()
        };
        for (change, erase, word) in [
            ((|a| a.0[256] = 0) as fn(&mut CheckMetrics), Erase::UserData, "cannot be formatted"),
            (|a| a.0[524] = 0, Erase::Key, "cannot erase by its key"),
            (|a| (a.0[524], a.1[4]) = (1, 7), Erase::UserData, "others (number 7)"),
            (|a| (a.0[524], a.1[4]) = (2, 7), Erase::UserData, "others (number 7)"),
            (|a| a.2[26] = 3, Erase::UserData, "invalid"),
            (|a| a.2[..8].fill(0), Erase::UserData, "invalid"),
            (|a| a.0.truncate(200), Erase::UserData, "too short"),
        ] {
            let text = refused(change, erase);
            assert!(text.contains(word) && text.contains(';'), "{text}");
        }
        // A controller that formats each namespace alone leaves the others as they are.
        let mut alone = answers();
        alone.1[4] = 7;
        plan(&alone, Erase::UserData).unwrap();
        for number in [0, 3, 7] {
            assert!(Erase::by_number(number).unwrap_err().to_string().contains("1 (user data)"));
        }
        assert_eq!(
            (Erase::by_number(1).unwrap(), Erase::by_number(2).unwrap()),
            (Erase::UserData, Erase::Key)
        );
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        for code in 0..0x400u16 {
            let words = status_text(0x4000 | code);
            assert!(words.contains(&format!("{code:03X}h: ")), "{words}");
            assert!(!words.ends_with('.') && words.contains([';', ':']), "{words}");
        }
        assert!(status_text(0x4001).contains("Suspend"));
        assert!(status_text(0x2015).contains("password"));
    }
}
