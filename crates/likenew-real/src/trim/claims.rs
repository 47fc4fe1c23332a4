//! What a drive says of itself: by NVMe's Identify, ATA's IDENTIFY DEVICE, or SCSI's page of logical block provisioning.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use likenew_core::look::Seen;
use likenew_core::trim::{Claims, ReadsAs};
use rustix::fs::{Mode, OFlags, open, stat};
use rustix::io::Errno;

use crate::block::BlockDevice;
use crate::nvme_admin::{IDENTIFY_BYTES, Reads};
use crate::{ata_command, nvme_admin};

/// What the lowest device of a stack claims.
pub(crate) fn disk_claims(stack: &[BlockDevice]) -> Seen {
    let Some(disk) = stack.last() else { return Seen::Unknown("no device is known below it".to_owned()) };
    let name = disk.name();
    if let Some(claims) = disk.binary_attribute("device/vpd_pgb2").as_deref().and_then(parse_provisioning) {
        return Seen::TrimClaims(claims);
    }
    let is_nvme = name.starts_with("nvme");
    if !is_nvme && !name.starts_with("sd") && !name.starts_with("hd") {
        return Seen::Unknown(format!("{name} is no kind of device that makes claims which can be read"));
    }
    let device = match open_disk(disk) {
        Ok(device) => device,
        Err(Errno::ACCESS | Errno::PERM) => {
            return Seen::Unknown(format!("asking {name} takes root: run it with sudo"));
        }
        Err(errno) => return Seen::Unknown(format!("{name} can not be opened: {errno}")),
    };
    let claims = if is_nvme { nvme_claims(&device) } else { ata_claims(&device) };
    match claims {
        Ok(claims) => Seen::TrimClaims(claims),
        Err(errno) => Seen::Unknown(format!("{name} did not answer: {errno}")),
    }
}

/// Bytes that the lowest device of a stack counts as in use, and whose count that is; none where nobody counts.
pub(crate) fn allocated(stack: &[BlockDevice]) -> Option<(u64, String)> {
    let disk = stack.last()?;
    if let Some(file) = disk.attribute("loop/backing_file") {
        let blocks = stat(&*file).ok()?.st_blocks.cast_unsigned();
        // The unit of `st_blocks` is 512 bytes on every file system (stat(2)). Some give none, although the file holds something.
        return (blocks > 0)
            .then(|| (blocks * 512, format!("the blocks of {file}, the file below {}", disk.name())));
    }
    if !disk.name().starts_with("nvme") {
        return None;
    }
    let space = Namespace::parse(&nvme_identify(&open_disk(disk).ok()?, Reads::Namespace).ok()?);
    // Many drives give the size of the namespace there, whatever is in use.
    (space.used_blocks < space.size_blocks).then(|| {
        (
            space.used_blocks * space.block_bytes,
            format!("NVMe's namespace utilisation (NUSE) of {}", disk.name()),
        )
    })
}

fn open_disk(disk: &BlockDevice) -> Result<OwnedFd, Errno> {
    let path = PathBuf::from("/dev").join(disk.name().replace('!', "/"));
    open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())
}

/// The Logical Block Provisioning page, 0xB2 (SBC-4): LBPU and LBPRZ.
fn parse_provisioning(page: &[u8]) -> Option<Claims> {
    if page.len() < 8 || page[1] != 0xB2 {
        return None;
    }
    let zeros = page[5] >> 2 & 0b111;
    Some(Claims {
        trims: Some(page[5] & 0x80 != 0),
        reads_as: Some(if zeros & 1 == 1 { ReadsAs::Zeros } else { ReadsAs::Anything }),
        evidence: format!("SCSI page B2h: LBPU {}, LBPRZ {zeros}", page[5] >> 7),
    })
}

fn ata_claims(device: impl AsFd) -> Result<Claims, Errno> {
    Ok(parse_identify_device(&ata_command::identify(device)?))
}

/// IDENTIFY DEVICE (ACS-3): word 169 bit 0 TRIM; word 69 bit 14 DRAT, the same bytes each time; bit 5 RZAT, zeros.
fn parse_identify_device(words: &[u16; 256]) -> Claims {
    let bit = |word: usize, bit: u32| words[word] >> bit & 1;
    let (trim, same, zeros) = (bit(169, 0), bit(69, 14), bit(69, 5));
    let reads_as = match (same, zeros) {
        (1, 1) => ReadsAs::Zeros,
        (1, _) => ReadsAs::Same,
        _ => ReadsAs::Anything,
    };
    Claims {
        trims: Some(trim == 1),
        reads_as: Some(reads_as),
        evidence: format!("ATA IDENTIFY DEVICE: TRIM {trim}, DRAT {same}, RZAT {zeros}"),
    }
}

fn nvme_identify(device: impl AsFd, what: Reads) -> Result<[u8; IDENTIFY_BYTES], Errno> {
    let (answer, _) = nvme_admin::read(device, what)?;
    answer.try_into().map_err(|_| Errno::IO)
}

fn nvme_claims(device: impl AsFd) -> Result<Claims, Errno> {
    let controller = nvme_identify(&device, Reads::Controller)?;
    let namespace = Namespace::parse(&nvme_identify(&device, Reads::Namespace)?);
    Ok(namespace.claims(&controller))
}

/// What is needed of Identify Namespace (NVM Command Set Specification 1.0, figure 97).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Namespace {
    size_blocks: u64,
    used_blocks: u64,
    block_bytes: u64,
    /// What deallocated blocks read as (DLFEAT).
    deallocated: u8,
}

impl Namespace {
    fn parse(answer: &[u8; IDENTIFY_BYTES]) -> Self {
        let number = |at: usize| u64::from_le_bytes(answer[at..at + 8].try_into().expect("eight bytes"));
        // The low bits of FLBAS say which of the formats, from byte 128 on, is in use; its third byte is the exponent of the length.
        let format = usize::from(answer[26] & 0xF);
        let exponent = u32::from(answer[128 + 4 * format + 2]).min(31);
        Self {
            size_blocks: number(0),
            used_blocks: number(16),
            block_bytes: 1 << exponent,
            deallocated: answer[33],
        }
    }

    fn claims(&self, controller: &[u8; IDENTIFY_BYTES]) -> Claims {
        let optional = u16::from_le_bytes([controller[520], controller[521]]);
        let trims = optional >> 2 & 1;
        let reads_as = match self.deallocated & 0b111 {
            1 => ReadsAs::Zeros,
            2 => ReadsAs::Ones,
            _ => ReadsAs::Anything,
        };
        Claims {
            trims: Some(trims == 1),
            reads_as: Some(reads_as),
            evidence: format!("NVMe Identify: Dataset Management {trims}, DLFEAT {:#04x}", self.deallocated),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scsi_claims_are_two_fields_of_one_page() {
        let page = |flags: u8| [0, 0xB2, 0, 4, 0, flags, 2, 0];
        let claims = parse_provisioning(&page(0b1000_0100)).unwrap();
        assert_eq!((claims.trims, claims.reads_as), (Some(true), Some(ReadsAs::Zeros)));
        let claims = parse_provisioning(&page(0b0000_0000)).unwrap();
        assert_eq!((claims.trims, claims.reads_as), (Some(false), Some(ReadsAs::Anything)));
        assert_eq!(parse_provisioning(&page(0)[..5]), None);
        assert_eq!(parse_provisioning(&[0; 64]), None, "another page");
    }

    #[test]
    fn ata_claims_are_three_bits() {
        let claims = |word_69: u16, word_169: u16| {
            let mut words = [0; 256];
            (words[69], words[169]) = (word_69, word_169);
            let claims = parse_identify_device(&words);
            (claims.trims.unwrap(), claims.reads_as.unwrap())
        };
        assert_eq!(claims(1 << 14 | 1 << 5, 1), (true, ReadsAs::Zeros));
        assert_eq!(claims(1 << 14, 1), (true, ReadsAs::Same));
        assert_eq!(
            claims(1 << 5, 1),
            (true, ReadsAs::Anything),
            "zeros are promised only together with DRAT"
        );
        assert_eq!(claims(0, 0), (false, ReadsAs::Anything));
    }

    #[test]
    fn nvme_claims_come_from_controller_and_namespace() {
        let (mut controller, mut answer) = ([0; IDENTIFY_BYTES], [0; IDENTIFY_BYTES]);
        controller[520] = 1 << 2;
        answer[..8].copy_from_slice(&1000u64.to_le_bytes());
        answer[16..24].copy_from_slice(&400u64.to_le_bytes());
        answer[26] = 1;
        answer[128 + 4 + 2] = 12;
        answer[33] = 0b1001;
        let namespace = Namespace::parse(&answer);
        assert_eq!(
            namespace,
            Namespace { size_blocks: 1000, used_blocks: 400, block_bytes: 4096, deallocated: 9 }
        );
        let claims = namespace.claims(&controller);
        assert_eq!((claims.trims, claims.reads_as), (Some(true), Some(ReadsAs::Zeros)));
        controller[520] = 0;
        answer[33] = 2;
        let claims = Namespace::parse(&answer).claims(&controller);
        assert_eq!((claims.trims, claims.reads_as), (Some(false), Some(ReadsAs::Ones)));
    }

    #[test]
    fn a_device_that_makes_no_claims_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let device = folder.path().join("loop77");
        std::fs::create_dir_all(device.join("device")).unwrap();
        let device = BlockDevice::at(device);
        assert!(
            matches!(disk_claims(std::slice::from_ref(&device)), Seen::Unknown(why) if why.contains("loop77"))
        );
        std::fs::write(device.folder().join("device/vpd_pgb2"), [0, 0xB2, 0, 4, 0, 0x84, 0, 0]).unwrap();
        assert!(matches!(disk_claims(&[device]), Seen::TrimClaims(claims) if claims.trims == Some(true)));
        assert!(matches!(disk_claims(&[]), Seen::Unknown(_)));
    }
}
