//! One drive that facts are collected of, with everything that several readers need of it.

use likenew_core::facts::{DriveKind, Fact, LayerKind};

use super::machine_query::{MachineQuery, Question, fact};
use super::roots::Roots;
use crate::block::BlockDevice;
use crate::layer_kind::layer_kind;
use crate::standards::ata::IdentifyDevice;
use crate::standards::scsi;
use crate::wording::facts as wording;

/// A drive at the bottom of a stack.
pub(crate) struct Subject<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) queries: &'a dyn MachineQuery,
    pub(crate) device: BlockDevice,
    pub(crate) kind: DriveKind,
    /// Its folder without links, as the machine calls it.
    pub(crate) folder: String,
    /// The controller of an NVMe drive: `nvme0`.
    pub(crate) controller: Option<String>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(roots: &'a Roots, queries: &'a dyn MachineQuery, device: BlockDevice) -> Self {
        let folder = roots.folder_of(&device);
        let controller = controller(roots, &device);
        let kind = kind(&device, &folder, controller.is_some());
        Self { roots, queries, device, kind, folder, controller }
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> String {
        self.device.name()
    }

    /// An attribute of the device.
    pub(crate) fn line(&self, name: &str) -> Fact<String> {
        self.roots.attribute(&self.device, name)
    }

    /// Asks the drive.
    pub(crate) fn query(&self, question: Question) -> Fact<Vec<u8>> {
        fact(self.queries.query(&self.name(), question), question.origin())
    }

    /// ATA's IDENTIFY DEVICE: from the page that the kernel keeps of it, which everyone may read, or by a
    /// query.
    pub(crate) fn ata_identify(&self) -> Fact<IdentifyDevice> {
        if self.kind != DriveKind::Sata {
            return Fact::NotQueried;
        }
        let page = self.roots.bytes(&Roots::place(&self.device, "device/vpd_pg89"));
        let inside = |page: Vec<u8>| scsi::ata_identify(&page).and_then(IdentifyDevice::parse);
        let kept = page.and_then(wording::UNEXPECTED_PAGE, inside);
        if kept.value().is_some() {
            return kept;
        }
        self.query(Question::AtaIdentify)
            .and_then(wording::SHORT_ANSWER, |answer| IdentifyDevice::parse(&answer))
    }

    /// What udev keeps of it.
    pub(crate) fn udev(&self, name: &str) -> Fact<String> {
        let Some(number) = self.device.number() else { return Fact::NotQueried };
        let file = format!("/run/udev/data/b{}:{}", number.major, number.minor);
        self.roots.text(&file).and_then(wording::NOT_IN_UDEV, |_| self.device.udev(name))
    }

    /// Folders from the drive up to the root of /sys, as the machine calls them.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = String> + use<> {
        let path = std::path::PathBuf::from(&self.folder);
        let all: Vec<String> = path.ancestors().skip(1).map(|folder| folder.display().to_string()).collect();
        all.into_iter().take_while(|folder| folder.starts_with("/sys/devices/"))
    }
}

/// The controller of a namespace; with multipath, the first of those that its subsystem has.
fn controller(roots: &Roots, device: &BlockDevice) -> Option<String> {
    if !device.name().starts_with("nvme") {
        return None;
    }
    let folder = roots.resolve_path(&Roots::place(device, "device"))?;
    let own = folder.rsplit('/').next()?.to_owned();
    if roots.exists(&format!("/sys/class/nvme/{own}")) {
        return Some(own);
    }
    roots.names(&folder).into_iter().find(|name| roots.exists(&format!("/sys/class/nvme/{name}")))
}

fn kind(device: &BlockDevice, folder: &str, has_controller: bool) -> DriveKind {
    match layer_kind(device) {
        LayerKind::UsbDisk => DriveKind::Usb,
        LayerKind::VirtualDisk => DriveKind::Virtual,
        LayerKind::Memory => DriveKind::Memory,
        LayerKind::Network => DriveKind::Network,
        LayerKind::Disk if has_controller || device.name().starts_with("nvme") => DriveKind::Nvme,
        LayerKind::Disk if device.name().starts_with("mmcblk") => DriveKind::Card,
        LayerKind::Disk if is_ata(device, folder) => DriveKind::Sata,
        LayerKind::Disk if device.name().starts_with("sd") => DriveKind::Scsi,
        _ => DriveKind::Other,
    }
}

/// Behind an ATA port, or a disk of ATA behind a controller for SAS.
fn is_ata(device: &BlockDevice, folder: &str) -> bool {
    let on_port = folder.split('/').any(|part| {
        part.strip_prefix("ata")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    });
    on_port || device.attribute("device/vendor").as_deref() == Some("ATA")
}
