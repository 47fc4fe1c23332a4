//! What a drive reports of itself: by NVMe's Identify, ATA's IDENTIFY DEVICE, or SCSI's page of logical block
//! provisioning.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use likenew_core::probe::ProbeResult;
use likenew_core::trim::{ReadsAs, TrimCapabilities};
use rustix::fs::{Mode, OFlags, open, stat};
use rustix::io::Errno;

use crate::block::BlockDevice;
use crate::nvme_admin::ReadCommand;
use crate::standards::ata::TrimSupport;
use crate::standards::nvme::{Controller, Namespace};
use crate::standards::scsi;
use crate::wording::trim as wording;
use crate::{ata_command, nvme_admin};

/// What the lowest device of a stack claims.
pub(crate) fn disk_claims(stack: &[BlockDevice]) -> ProbeResult {
    let Some(disk) = stack.last() else {
        return ProbeResult::Unknown(wording::NO_DEVICE_BELOW_IT.to_owned());
    };
    let name = disk.name();
    if let Some(claims) = disk.binary_attribute("device/vpd_pgb2").as_deref().and_then(scsi_claims) {
        return ProbeResult::TrimClaims(claims);
    }
    let is_nvme = name.starts_with("nvme");
    if !is_nvme && !name.starts_with("sd") && !name.starts_with("hd") {
        return ProbeResult::Unknown(wording::kind_reports_none(&name));
    }
    let device = match open_disk(disk) {
        Ok(device) => device,
        Err(Errno::ACCESS | Errno::PERM) => {
            return ProbeResult::Unknown(wording::needs_root(&name));
        }
        Err(errno) => return ProbeResult::Unknown(wording::not_opened(&name, errno)),
    };
    let claims = if is_nvme {
        nvme_claims(&device)
    } else {
        ata_command::identify(&device).map(|identify| Some(ata_claims(identify.trim())))
    };
    match claims {
        Ok(Some(claims)) => ProbeResult::TrimClaims(claims),
        Ok(None) => ProbeResult::Unknown(wording::invalid_answer(&name)),
        Err(errno) => ProbeResult::Unknown(wording::no_answer(&name, errno)),
    }
}

/// Bytes that the lowest device of a stack counts as in use, and which counter says so; `None` where none
/// does.
pub(crate) fn allocated_bytes(stack: &[BlockDevice]) -> Option<(u64, String)> {
    let disk = stack.last()?;
    if let Some(file) = disk.attribute("loop/backing_file") {
        let blocks = stat(&*file).ok()?.st_blocks.cast_unsigned();
        // The unit of `st_blocks` is 512 bytes on every file system (stat(2)). Some give none, although the
        // file holds something.
        return (blocks > 0).then(|| (blocks * 512, wording::blocks_of_file(&file, &disk.name())));
    }
    if !disk.name().starts_with("nvme") {
        return None;
    }
    let (answer, _) = nvme_admin::read(open_disk(disk).ok()?, ReadCommand::Namespace).ok()?;
    let namespace = Namespace::parse(&answer)?;
    let bytes = namespace.used_blocks?.checked_mul(namespace.format.block_bytes)?;
    Some((bytes, wording::namespace_utilization(&disk.name())))
}

fn open_disk(disk: &BlockDevice) -> Result<OwnedFd, Errno> {
    let path = PathBuf::from("/dev").join(disk.name().replace('!', "/"));
    open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())
}

fn scsi_claims(page: &[u8]) -> Option<TrimCapabilities> {
    let found = scsi::provisioning(page)?;
    Some(TrimCapabilities {
        trims: Some(found.unmaps),
        reads_as: Some(if found.reads_as & 1 == 1 { ReadsAs::Zeros } else { ReadsAs::Anything }),
        evidence: wording::scsi_claims(found.unmaps, found.reads_as),
    })
}

fn ata_claims(found: TrimSupport) -> TrimCapabilities {
    let TrimSupport { trims, reads_same, reads_zeros } = found;
    let reads_as = match (reads_same, reads_zeros) {
        (true, true) => ReadsAs::Zeros,
        (true, false) => ReadsAs::Same,
        _ => ReadsAs::Anything,
    };
    TrimCapabilities {
        trims: Some(trims),
        reads_as: Some(reads_as),
        evidence: wording::ata_claims(trims, reads_same, reads_zeros),
    }
}

fn nvme_claims(device: impl AsFd) -> Result<Option<TrimCapabilities>, Errno> {
    let (controller, _) = nvme_admin::read(&device, ReadCommand::Controller)?;
    let (namespace, _) = nvme_admin::read(&device, ReadCommand::Namespace)?;
    let answers = Controller::parse(&controller).zip(Namespace::parse(&namespace));
    Ok(answers.map(|(controller, namespace)| claims_of(controller.trims(), namespace.deallocated)))
}

/// What NVMe's Dataset Management and DLFEAT claim.
fn claims_of(trims: bool, deallocated: u8) -> TrimCapabilities {
    let reads_as = match deallocated & 0b111 {
        1 => ReadsAs::Zeros,
        2 => ReadsAs::Ones,
        _ => ReadsAs::Anything,
    };
    TrimCapabilities {
        trims: Some(trims),
        reads_as: Some(reads_as),
        evidence: wording::nvme_claims(trims, deallocated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scsi_claims_are_two_fields_of_one_page() {
        let page = |flags: u8| [0, 0xB2, 0, 4, 0, flags, 2, 0];
        let claims = scsi_claims(&page(0b1000_0100)).unwrap();
        assert_eq!((claims.trims, claims.reads_as), (Some(true), Some(ReadsAs::Zeros)));
        let claims = scsi_claims(&page(0b0000_0000)).unwrap();
        assert_eq!((claims.trims, claims.reads_as), (Some(false), Some(ReadsAs::Anything)));
        assert_eq!(scsi_claims(&[0; 64]), None, "another page");
    }

    #[test]
    fn ata_claims_are_three_bits() {
        let claims = |trims, reads_same, reads_zeros| {
            let claims = ata_claims(TrimSupport { trims, reads_same, reads_zeros });
            (claims.trims.unwrap(), claims.reads_as.unwrap())
        };
        assert_eq!(claims(true, true, true), (true, ReadsAs::Zeros));
        assert_eq!(claims(true, true, false), (true, ReadsAs::Same));
        assert_eq!(
            claims(true, false, true),
            (true, ReadsAs::Anything),
            "zeros are promised only together with DRAT"
        );
        assert_eq!(claims(false, false, false), (false, ReadsAs::Anything));
    }

    #[test]
    fn nvme_claims_come_from_controller_and_namespace() {
        let claims = claims_of(true, 0b1001);
        assert_eq!((claims.trims, claims.reads_as), (Some(true), Some(ReadsAs::Zeros)));
        let claims = claims_of(false, 2);
        assert_eq!((claims.trims, claims.reads_as), (Some(false), Some(ReadsAs::Ones)));
    }

    #[test]
    fn a_device_that_makes_no_claims_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let device = folder.path().join("loop77");
        std::fs::create_dir_all(device.join("device")).unwrap();
        let device = BlockDevice::at(device);
        assert!(
            matches!(disk_claims(std::slice::from_ref(&device)), ProbeResult::Unknown(reason) if reason.contains("loop77"))
        );
        std::fs::write(device.folder().join("device/vpd_pgb2"), [0, 0xB2, 0, 4, 0, 0x84, 0, 0]).unwrap();
        assert!(
            matches!(disk_claims(&[device]), ProbeResult::TrimClaims(claims) if claims.trims == Some(true))
        );
        assert!(matches!(disk_claims(&[]), ProbeResult::Unknown(_)));
    }
}
