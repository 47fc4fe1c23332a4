//! The identity of a drive, as the system and the drive itself report.

use hmac::{Hmac, KeyInit as _, Mac as _};
use likenew_core::facts::{DriveKind, Fact, Identity, Serial};
use sha2::Sha256;

use super::machine::{Question, Roots, Subject};
use crate::block::BlockDevice;
use crate::drive_commands::NvmeCommand;
use crate::identify::{SERIAL, StableId, usb_port, virtual_by};
use crate::standards::ata::IdentifyDevice;
use crate::standards::nvme::Controller;
use crate::standards::scsi;
use crate::wording::facts as wording;

/// What the hash is made for, so that no other use of the machine ID gives the same one.
const PURPOSE: &[u8] = b"likenew: serial number of a drive";

const SILENT: &str = wording::NOT_REPORTED;

/// The identity of a drive.
pub(crate) fn identity(subject: &Subject<'_>) -> Identity {
    let identify = subject.ata_identify();
    let sectors = subject.roots.count::<u64>(&subject.device, "size");
    Identity {
        model: model(subject, &identify),
        firmware: firmware(subject, &identify),
        serial: serial(subject, &identify),
        namespace: subject.device.namespace().map_or(Fact::NotQueried, |number| Fact::new(number, "/sys")),
        port: match subject.kind {
            DriveKind::Usb => {
                Fact::from_option(usb_port(&subject.device), wording::CONNECTION_NOT_LISTED, "/sys")
            }
            _ => Fact::NotQueried,
        },
        capacity_bytes: sectors.and_then(wording::TOO_LARGE, |sectors| sectors.checked_mul(512)),
        rotation_rpm: rotation(subject, &identify),
        virtual_by: virtualization(subject),
        knows_trim: knows_trim(subject, identify),
    }
}

fn model(subject: &Subject<'_>, identify: &Fact<IdentifyDevice>) -> Fact<String> {
    if subject.kind == DriveKind::Card {
        return subject.line("device/name");
    }
    // /sys has SCSI's 16 characters of a model, ATA has 40.
    let whole = identify.clone().and_then(wording::NO_MODEL, |identify| identify.model());
    let udev = || {
        if subject.kind == DriveKind::Sata { subject.udev("ID_MODEL_ENC") } else { Fact::NotQueried }
    };
    let system = || match subject.device.model() {
        Some(model) => {
            Fact::new(crate::standards::clean(&model), Roots::place(&subject.device, "device/model"))
        }
        None => subject.line("device/model"),
    };
    let known = [whole, udev(), system()];
    first_known(known)
}

fn first_known<T>(facts: impl IntoIterator<Item = Fact<T>>) -> Fact<T> {
    let mut last = Fact::NotQueried;
    for fact in facts {
        if fact.value().is_some() {
            return fact;
        }
        if !fact.is_not_queried() {
            last = fact;
        }
    }
    last
}

fn firmware(subject: &Subject<'_>, identify: &Fact<IdentifyDevice>) -> Fact<String> {
    if matches!(subject.kind, DriveKind::Virtual | DriveKind::Memory | DriveKind::Network | DriveKind::Other)
    {
        return Fact::NotQueried;
    }
    let ata = identify.clone().and_then(wording::NO_FIRMWARE, |identify| identify.firmware());
    first_known([
        ata,
        subject.line("device/firmware_rev"),
        subject.line("device/fwrev"),
        subject.line("device/rev"),
    ])
}

fn serial(subject: &Subject<'_>, identify: &Fact<IdentifyDevice>) -> Fact<Serial> {
    if matches!(subject.kind, DriveKind::Memory | DriveKind::Network) {
        return Fact::NotQueried;
    }
    let origin = wording::HASHED_SERIAL;
    let ata = identify.clone().and_then(wording::NO_SERIAL, |identify| identify.serial());
    let plain = ata.value().cloned().or_else(|| {
        let id = StableId::of_drive(&subject.device)?;
        (id.kind == SERIAL).then_some(id.text)
    });
    let reason =
        if subject.kind == DriveKind::Usb { wording::BRIDGE_SERIAL } else { wording::NO_READABLE_SERIAL };
    hashed_serial(subject.roots, Fact::from_option(plain, reason, origin))
}

/// A serial number with its hash.
pub(crate) fn hashed_serial(roots: &Roots, plain: Fact<String>) -> Fact<Serial> {
    plain.and_then(wording::NO_MACHINE_ID, |plain| {
        Some(Serial { hash: hash(roots, &plain)?, plain: Some(plain) })
    })
}

/// Hashes a serial number with the machine ID as key, which is to be kept secret (machine-id(5)). So trying
/// all serial numbers does not reveal the one behind a hash, and a drive always has the same hash on this
/// machine.
fn hash(roots: &Roots, serial: &str) -> Option<String> {
    let id = roots.line("/etc/machine-id");
    let id = id.value().filter(|id| id.len() >= 32)?;
    let mut mac = Hmac::<Sha256>::new_from_slice(id.as_bytes()).ok()?;
    mac.update(PURPOSE);
    mac.update(serial.trim().as_bytes());
    let bytes = mac.finalize().into_bytes();
    Some(bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// A name for this machine. Its hash tells machines apart whose host names repeat, as those of clones do.
pub(crate) fn machine_name(roots: &Roots) -> String {
    /// Characters of the hash: enough for the machines of one laboratory.
    const HASH_CHARS: usize = 8;
    let host = roots.line("/proc/sys/kernel/hostname").value().cloned().unwrap_or_default();
    let hash = hash(roots, "machine name").unwrap_or_default();
    format!("{host}-{}", hash.get(..HASH_CHARS).unwrap_or_default())
}

/// The rotation rate. ATA: from IDENTIFY DEVICE, or from udev, which read that. SCSI: from page B1h.
fn rotation(subject: &Subject<'_>, identify: &Fact<IdentifyDevice>) -> Fact<u32> {
    match subject.kind {
        DriveKind::Nvme | DriveKind::Card => return Fact::new(0, wording::ALWAYS_FLASH),
        DriveKind::Virtual | DriveKind::Memory | DriveKind::Network | DriveKind::Other => {
            return Fact::NotQueried;
        }
        _ => {}
    }
    let ata = identify.clone().and_then(SILENT, |identify| identify.rotation_rpm());
    let scsi = scsi_rotation(subject.roots, &subject.device);
    let udev = subject.udev("ID_ATA_ROTATION_RATE_RPM").and_then(SILENT, |text| text.parse().ok());
    first_known([ata, scsi, udev])
}

/// The rotation rate from SCSI's page B1h, as the kernel keeps it.
pub(crate) fn scsi_rotation(roots: &Roots, device: &BlockDevice) -> Fact<u32> {
    let page = roots.bytes(&Roots::place(device, "device/vpd_pgb1"));
    page.and_then(SILENT, |page| scsi::rotation_rpm(&page))
}

/// PCI vendor numbers of controllers that exist in software only (the PCI ID database). The drives at them
/// can have any model that was typed. Emulated controllers of Intel and others, as in QEMU, have such a
/// number as their subsystem's vendor.
const EMULATORS: [(u64, &str); 4] =
    [(0x1AF4, "QEMU"), (0x1B36, "QEMU"), (0x15AD, "VMware"), (0x80EE, "VirtualBox")];

fn virtualization(subject: &Subject<'_>) -> Fact<Option<String>> {
    let device = &subject.device;
    let place = Roots::place(device, "device");
    match virtual_by(device.model().as_deref(), device.hypervisor()) {
        Some(by) => Fact::new(Some(by), place),
        None => emulated_by(subject).unwrap_or_else(|| Fact::new(None, place)),
    }
}

/// The emulator of a drive, by the nearest controller above the drive. USB is left out: a guest may have been
/// given a real bridge, which is then behind an emulated port.
fn emulated_by(subject: &Subject<'_>) -> Option<Fact<Option<String>>> {
    if !matches!(subject.kind, DriveKind::Nvme | DriveKind::Sata | DriveKind::Scsi) {
        return None;
    }
    let number = |folder: &str, name: &str| subject.roots.hexadecimal(&format!("{folder}/{name}")).get();
    let controller = subject
        .ancestors()
        .find(|folder| number(folder, "vendor").is_some() && number(folder, "class").is_some())?;
    ["vendor", "subsystem_vendor"].into_iter().find_map(|name| {
        let vendor = number(&controller, name)?;
        let (_, by) = EMULATORS.iter().find(|(known, _)| *known == vendor)?;
        Some(Fact::new(Some((*by).to_owned()), format!("{controller}/{name}")))
    })
}

/// Whether the drive takes TRIM (ATA), Dataset Management (NVMe) or UNMAP (SCSI).
fn knows_trim(subject: &Subject<'_>, identify: Fact<IdentifyDevice>) -> Fact<bool> {
    match subject.kind {
        DriveKind::Sata => identify.map(|identify| identify.trim().trims),
        DriveKind::Nvme => subject
            .query(Question::Nvme(NvmeCommand::Controller))
            .and_then(wording::SHORT_ANSWER, |answer| Some(Controller::parse(&answer)?.trims())),
        DriveKind::Scsi | DriveKind::Usb => subject
            .roots
            .bytes(&Roots::place(&subject.device, "device/vpd_pgb2"))
            .and_then(wording::UNEXPECTED_PAGE, |page| Some(scsi::provisioning(&page)?.unmaps)),
        _ => Fact::NotQueried,
    }
}
