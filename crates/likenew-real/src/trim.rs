//! TRIM on a real drive: the layers on its way, what the drive claims, and what becomes of blocks that a file
//! of ours freed.
//!
//! Raw reads touch only blocks that a file of ours holds, or has held and that the file system reports as
//! still free. TRIM is asked for only over the range that our own file has freed.

#[allow(unsafe_code, reason = "a file tells its blocks by an ioctl only")]
mod extents;
mod read_back;

use std::ops::Range;
use std::os::fd::AsFd;

use likenew_core::counters::DiscardCounters;
use likenew_core::facts::LayerKind;
use likenew_core::fix::FixReport;
use likenew_core::probe::{Layer, ProbeResult, ReadsAs, TrimCapabilities, TrimMethod, TrimPath, TrimReport};
use likenew_core::units::Nanos;
use rustix::fs::{fstatvfs, stat, syncfs};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};

pub(crate) use self::extents::{Extent, Flush, device_extents, extents, fuzzed_extents, fuzzed_free_space};
pub(crate) use self::read_back::read_back;
use crate::block::{BlockDevice, layer_kind};
use crate::clock::Monotonic;
use crate::drive_commands::{NvmeCommand, identify_ata, open_drive, read_nvme};
use crate::identify::usb_device;
use crate::mounts::Mount;
use crate::space::SpaceUsage;
use crate::standards::ata::TrimSupport;
use crate::standards::nvme::{Controller, Namespace};
use crate::standards::scsi;
use crate::wording::trim as wording;

/// The device of a folder or file.
pub(crate) struct MountedDevice {
    pub(crate) mount: Mount,
    /// The block device that its file system is on, or one of them.
    pub(crate) device: Option<BlockDevice>,
}

impl MountedDevice {
    /// The device below an open file or folder.
    pub(crate) fn find(fd: impl AsFd) -> Option<Self> {
        let mount = Mount::containing(fd)?;
        let device = mount.block_device();
        Some(Self { mount, device })
    }

    /// Why its files' blocks cannot be followed to a device, if they cannot: a sentence without a full stop.
    pub(crate) fn unsuitable(&self) -> Option<String> {
        let sentence = match &*self.mount.kind {
            "ext4" | "xfs" if self.mount.has_option("rtdev") => wording::XFS_REALTIME,
            "ext4" | "xfs" if self.device.is_none() => wording::DEVICE_BELOW_NOT_LISTED,
            "ext4" | "xfs" => return None,
            "btrfs" | "bcachefs" => wording::BTRFS,
            "zfs" => wording::ZFS,
            "overlay" | "aufs" => wording::OVERLAY,
            "tmpfs" | "ramfs" | "devtmpfs" | "rootfs" => wording::MEMORY,
            "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "9p" | "ceph" | "afs" | "lustre" | "virtiofs"
            | "glusterfs" | "vboxsf" => wording::REMOTE,
            kind if kind.starts_with("fuse") => wording::FUSE,
            kind => {
                return Some(wording::kind_unsupported(kind));
            }
        };
        Some(sentence.to_owned())
    }

    /// The device and everything that it is built on.
    fn stack(&self) -> Vec<BlockDevice> {
        self.device.as_ref().map(BlockDevice::stack).unwrap_or_default()
    }

    /// Whether the file system sends TRIM by itself as soon as blocks are freed.
    pub(crate) fn discards_immediately(&self) -> bool {
        self.mount.has_option("discard")
    }
}

// Sends TRIM for blocks that a file of ours has freed: by asking the file system, or by waiting for one that
// does it on its own.

/// How often the counters are read while a file system trims. Chosen: a trim takes seconds, reading the
/// counters microseconds.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// Waits until `is_done`, or until `until` at the longest, for what a file system does in its own time.
fn wait_for(is_done: impl Fn() -> bool, until: Nanos, clock: &Monotonic) {
    while !is_done() && clock.now() < until {
        clock.rest((clock.now() + POLL_INTERVAL).min(until));
    }
}

/// Time without change after which counters are taken as final. Chosen: a drive needs less for one TRIM.
const QUIET: Nanos = Nanos::from_millis(250);
/// Longest wait for counters to become final.
const SETTLING_MAX: Nanos = Nanos::from_secs(5);

/// How far the counters have moved since `before`, once the last TRIM is counted: XFS answers before it is done
/// (since Linux 6.6). `accepted` bytes are all that can be counted.
fn settled(
    devices: &[BlockDevice],
    before: &Counters,
    accepted: u64,
    clock: &Monotonic,
) -> Vec<DiscardCounters> {
    let moved = || Counters::read(devices).since(before);
    let (mut latest, mut changed_at) = (moved(), clock.now());
    let until = changed_at + SETTLING_MAX;
    while latest.first().is_some_and(|top| top.bytes < accepted)
        && clock.now() < until.min(changed_at + QUIET)
    {
        clock.rest(clock.now() + POLL_INTERVAL);
        let now = moved();
        if now != latest {
            (latest, changed_at) = (now, clock.now());
        }
    }
    latest
}

/// Sends TRIM, and watches the counters while it does. Has to be made before anything is freed.
pub(crate) struct Sender {
    immediate: bool,
    devices: Vec<BlockDevice>,
    before: Counters,
}

impl Sender {
    /// Notes the present counters.
    pub(crate) fn new(mounted: &MountedDevice) -> Self {
        let devices = mounted.stack();
        Self { immediate: mounted.discards_immediately(), before: Counters::read(&devices), devices }
    }

    /// Sends TRIM for `places`, which were freed just now and hold `bytes`. If the places are unknown,
    /// `places` says why.
    pub(crate) fn send(
        &self,
        folder: impl AsFd,
        places: Result<&[Range<u64>], &str>,
        bytes: u64,
        wait: Nanos,
        clock: &Monotonic,
    ) -> TrimReport {
        let started_at = clock.now();
        let mut sent = match places {
            _ if self.immediate => self.wait_for_mount(bytes, started_at + wait, clock),
            Ok(places) => ask(folder, places),
            Err(reason) => {
                TrimReport { refusal: Some(wording::location_unknown(reason)), ..TrimReport::default() }
            }
        };
        sent.bytes = bytes;
        sent.elapsed = clock.now() - started_at;
        sent.discard_counters = settled(&self.devices, &self.before, sent.accepted_bytes.unwrap_or(0), clock);
        sent
    }

    /// A file system with `discard` sends TRIM when its journal is written, and that was done.
    fn wait_for_mount(&self, bytes: u64, until: Nanos, clock: &Monotonic) -> TrimReport {
        let is_counted = || {
            let moved = Counters::read(&self.devices).since(&self.before);
            moved.first().is_some_and(|top| top.bytes >= bytes)
        };
        wait_for(is_counted, until, clock);
        TrimReport { means: TrimMethod::Mount, ..TrimReport::default() }
    }
}

/// Asks the file system to trim these places, and nothing else.
fn ask(folder: impl AsFd, places: &[Range<u64>]) -> TrimReport {
    let mut accepted = 0;
    for place in places {
        match fitrim(&folder, place) {
            Ok(bytes) => accepted += bytes,
            Err(errno) => return TrimReport { refusal: Some(refusal(errno)), ..TrimReport::default() },
        }
    }
    TrimReport { means: TrimMethod::Fitrim, accepted_bytes: Some(accepted), ..TrimReport::default() }
}

/// Why a file system sends no TRIM, in words.
pub(super) fn refusal(errno: Errno) -> String {
    match errno {
        Errno::PERM | Errno::ACCESS => wording::TRIM_NEEDS_ROOT.to_owned(),
        Errno::OPNOTSUPP | Errno::NOTTY => wording::TRIM_UNSUPPORTED.to_owned(),
        errno => wording::trim_refused(errno),
    }
}

// Asks a file system to send TRIM for a range, as fstrim does.

/// `FITRIM` of linux/fs.h.
const FITRIM: Opcode = 0xC018_5879;

/// `struct fstrim_range` of linux/fs.h.
#[repr(C)]
struct Range64 {
    start: u64,
    length: u64,
    shortest: u64,
}

/// Asks the file system to trim the free space in a range of its device, and returns how many bytes it says
/// that it trimmed.
///
/// # Errors
/// The system's error: `EPERM` without root, `EOPNOTSUPP` if the device takes no TRIM.
#[allow(unsafe_code, reason = "a file system is asked for TRIM by an ioctl only")]
pub(crate) fn fitrim(file: impl AsFd, range: &Range<u64>) -> Result<u64, Errno> {
    let mut request = Range64 { start: range.start, length: range.end - range.start, shortest: 0 };
    // SAFETY: the kernel reads and writes one `struct fstrim_range`.
    unsafe { ioctl(file, Updater::<FITRIM, Range64>::new(&mut request)) }?;
    Ok(request.length)
}

// How much the system has discarded on each device of a stack.

/// The counters at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters(Vec<DiscardCounters>);

impl Counters {
    /// The counters of these devices, without devices that do not count.
    pub(crate) fn read(devices: &[BlockDevice]) -> Self {
        let counters = |device: &BlockDevice| {
            let discard = device.stat()?.discard?;
            Some(DiscardCounters { device: device.name(), ios: discard.ios, bytes: discard.bytes() })
        };
        Self(devices.iter().filter_map(counters).collect())
    }

    /// How far the counters have moved since `before`.
    pub(crate) fn since(&self, before: &Self) -> Vec<DiscardCounters> {
        let moved = self.0.iter().filter_map(|now| {
            let then = before.0.iter().find(|then| then.device == now.device)?;
            let (ios, bytes) = (now.ios.wrapping_sub(then.ios), now.bytes.wrapping_sub(then.bytes));
            Some(DiscardCounters { device: now.device.clone(), ios, bytes })
        });
        moved.collect()
    }
}

// Sends TRIM for all free space of a file system, as fstrim does.

/// Asks the file system of a folder to send TRIM for all its free space. Deleted files count as free once
/// their deletion is written out.
pub(crate) fn trim_free_space(folder: impl AsFd, mounted: &MountedDevice, clock: &Monotonic) -> ProbeResult {
    let devices = mounted.stack();
    if let Err(errno) = syncfs(&folder) {
        return ProbeResult::Unknown(wording::not_synced(errno));
    }
    let free_bytes = fstatvfs(&folder).ok().map(|usage| SpaceUsage::from(usage).free_bytes);
    let (before, started_at) = (Counters::read(&devices), clock.now());
    match fitrim(&folder, &(0..u64::MAX)) {
        Ok(answer) => {
            let elapsed = clock.now() - started_at;
            let bytes = trimmed_bytes(&mounted.mount.kind, answer, free_bytes);
            let discard_counters = settled(&devices, &before, bytes, clock);
            ProbeResult::FixReport(FixReport { bytes, elapsed, discard_counters, ..FixReport::default() })
        }
        Err(errno) => ProbeResult::Unknown(refusal(errno)),
    }
}

/// The bytes that a file system trimmed, by its answer. XFS answers with the length that it was asked for
/// (`xfs_ioc_trim` in fs/xfs/xfs_discard.c of the Linux sources), so its answer is limited to the free space.
fn trimmed_bytes(kind: &str, answer: u64, free_bytes: Option<u64>) -> u64 {
    let most = free_bytes.filter(|_| kind == "xfs");
    most.map_or(answer, |most| answer.min(most))
}

// Which layers are between a file system and the medium, and which of them pass TRIM on, as /sys and the mount say.

/// File systems that send TRIM when they are asked to (FITRIM), and most of them by themselves when mounted
/// with `discard`.
pub(crate) const SENDERS: [&str; 15] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "bcachefs", "f2fs", "jfs", "nilfs2", "gfs2", "ocfs2", "vfat",
    "exfat", "ntfs3", "hfsplus",
];

/// TRIM's way down from a mounted file system.
pub(crate) fn mount_path(mounted: &MountedDevice) -> TrimPath {
    let mut path = mounted.device.as_ref().map(device_path).unwrap_or_default();
    let sends = SENDERS.contains(&&*mounted.mount.kind);
    let evidence = match &*mounted.mount.kind {
        _ if sends && mounted.discards_immediately() => wording::MOUNTED_WITH_DISCARD,
        _ if sends => wording::MOUNTED_WITHOUT_DISCARD,
        "zfs" => wording::ZFS_AUTOTRIM,
        _ => wording::SENDING_UNKNOWN,
    };
    let (name, kind) = (mounted.mount.point.clone(), mounted.mount.kind.clone());
    let top = Layer { passes: sends.then_some(true), ..without_limits(name, kind, evidence.to_owned()) };
    path.immediate = sends.then(|| mounted.discards_immediately());
    path.layers.insert(0, top);
    path
}

/// TRIM's way down from a block device.
pub(crate) fn device_path(device: &BlockDevice) -> TrimPath {
    let stack = device.stack();
    let medium = stack.last().filter(|last| !is_loop(last));
    let rotates = medium.and_then(|medium| medium.attribute("queue/rotational")).map(|text| text == "1");
    let medium_bytes = stack.last().and_then(BlockDevice::bytes);
    TrimPath { layers: stack.iter().map(layer).collect(), immediate: None, rotates, medium_bytes }
}

fn layer(device: &BlockDevice) -> Layer {
    let number = |name: &str| device.attribute(name)?.parse::<u64>().ok();
    let (kind, name) = (layer_kind(device), device.name());
    if kind == LayerKind::Partition {
        return without_limits(name, words(kind, device), wording::as_the_disk(&device.disk().name()));
    }
    let most = number("queue/discard_max_bytes");
    let provisioning = device.provisioning_mode();
    let passes = most.map(|bytes| bytes > 0);
    let limit = most.map(|bytes| format!("queue/discard_max_bytes = {bytes}"));
    let mode = provisioning.as_ref().map(|mode| format!("provisioning_mode = {mode}"));
    let evidence: Vec<String> = limit.into_iter().chain(mode).collect();
    Layer {
        passes,
        discard_max_bytes: most,
        granularity_bytes: number("queue/discard_granularity").filter(|bytes| *bytes > 0),
        evidence: if evidence.is_empty() { wording::NOT_IN_SYS.to_owned() } else { evidence.join(", ") },
        remedy: (passes == Some(false)).then(|| remedy(kind, device)).flatten(),
        kind: words(kind, device),
        name,
    }
}

/// A layer whose limits of discards are unknown.
fn without_limits(name: String, kind: String, evidence: String) -> Layer {
    let (discard_max_bytes, granularity_bytes) = (None, None);
    Layer { name, kind, passes: None, discard_max_bytes, granularity_bytes, evidence, remedy: None }
}

fn is_loop(device: &BlockDevice) -> bool {
    device.attribute("loop/backing_file").is_some()
}

/// The kind of a device in words.
fn words(kind: LayerKind, device: &BlockDevice) -> String {
    match kind {
        LayerKind::Array => format!("array ({})", device.attribute("md/level").unwrap_or_default()),
        kind => kind.words().to_owned(),
    }
}

/// The udev rule with which the kernel sends TRIM to a disk that supports UNMAP, but does not announce thin
/// provisioning. The rule names the numbers of the disk's USB bridge, or else the disk's names.
pub(crate) fn unmap_rule(device: &BlockDevice) -> Option<String> {
    let page = device.binary_attribute("device/vpd_pgb2")?;
    let is_unsent =
        device.provisioning_mode().as_deref() == Some("full") && scsi::provisioning(&page)?.unmaps;
    let is_word = |text: &String| !text.contains(['"', '\\', '*', '?', '[', '|']);
    let by = |device: &BlockDevice, names: [&str; 2]| {
        let [first, second] = names.map(|name| {
            let value = device.attribute(name).filter(is_word)?;
            Some(format!("ATTRS{{{name}}}==\"{value}\""))
        });
        Some(format!("{}, {}", first?, second?))
    };
    let device = usb_device(device).map_or_else(
        || by(&BlockDevice::at(device.folder().join("device")), ["vendor", "model"]),
        |usb| by(&usb, ["idVendor", "idProduct"]),
    )?;
    is_unsent.then(|| {
        format!(
            "ACTION==\"add|change\", SUBSYSTEM==\"scsi_disk\", {device}, ATTR{{provisioning_mode}}=\"unmap\""
        )
    })
}

/// What would let TRIM pass a layer.
fn remedy(kind: LayerKind, device: &BlockDevice) -> Option<String> {
    let level = device.attribute("md/level").unwrap_or_default();
    Some(match kind {
        LayerKind::Crypt => {
            let name = device.attribute("dm/name").unwrap_or_else(|| "NAME".to_owned());
            wording::allow_through_encryption(&name)
        }
        LayerKind::Array if ["raid4", "raid5", "raid6"].contains(&&*level) => {
            wording::PARITY_ARRAY.to_owned()
        }
        LayerKind::Loop => wording::LOOP_FILE.to_owned(),
        LayerKind::UsbDisk | LayerKind::Disk => match unmap_rule(device) {
            Some(rule) => wording::unmap_by_rule(&rule),
            None if kind == LayerKind::UsbDisk => wording::USB_BRIDGE.to_owned(),
            None => return None,
        },
        LayerKind::VirtualDisk => wording::VIRTUAL_DISK.to_owned(),
        LayerKind::LogicalVolume
        | LayerKind::Thin
        | LayerKind::ThinPool
        | LayerKind::Cache
        | LayerKind::Multipath
        | LayerKind::Mapping
        | LayerKind::Array => wording::CHECK_LAYERS.to_owned(),
        _ => return None,
    })
}

// What a drive reports about TRIM, by NVMe's Identify, ATA's IDENTIFY DEVICE, or SCSI's page of logical block
// provisioning.

/// What the lowest device of a stack reports about TRIM.
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
    let device = match open_drive(&name) {
        Ok(device) => device,
        Err(Errno::ACCESS | Errno::PERM) => {
            return ProbeResult::Unknown(wording::needs_root(&name));
        }
        Err(errno) => return ProbeResult::Unknown(wording::not_opened(&name, errno)),
    };
    let claims = if is_nvme {
        nvme_claims(&device)
    } else {
        identify_ata(&device).map(|identify| Some(ata_claims(identify.trim())))
    };
    match claims {
        Ok(Some(claims)) => ProbeResult::TrimClaims(claims),
        Ok(None) => ProbeResult::Unknown(wording::invalid_answer(&name)),
        Err(errno) => ProbeResult::Unknown(wording::no_answer(&name, errno)),
    }
}

/// Bytes that the lowest device of a stack counts as in use, and which counter says so; `None` if there is no
/// such counter.
pub(crate) fn allocated_bytes(stack: &[BlockDevice]) -> Option<(u64, String)> {
    let disk = stack.last()?;
    if let Some(file) = disk.attribute("loop/backing_file") {
        let blocks = stat(&*file).ok()?.st_blocks.cast_unsigned();
        // The unit of `st_blocks` is 512 bytes on every file system (stat(2)). Some report none, although the
        // file holds something.
        return (blocks > 0).then(|| (blocks * 512, wording::blocks_of_file(&file, &disk.name())));
    }
    if !disk.name().starts_with("nvme") {
        return None;
    }
    let (answer, _) = read_nvme(open_drive(&disk.name()).ok()?, NvmeCommand::Namespace).ok()?;
    let namespace = Namespace::parse(&answer)?;
    let bytes = namespace.used_blocks?.checked_mul(namespace.format.block_bytes)?;
    Some((bytes, wording::namespace_utilization(&disk.name())))
}

fn claims(trims: bool, reads_as: ReadsAs, evidence: String) -> TrimCapabilities {
    TrimCapabilities { trims: Some(trims), reads_as: Some(reads_as), evidence }
}

fn scsi_claims(page: &[u8]) -> Option<TrimCapabilities> {
    let provisioning = scsi::provisioning(page)?;
    let reads_as = if provisioning.reads_as & 1 == 1 { ReadsAs::Zeros } else { ReadsAs::Anything };
    Some(claims(
        provisioning.unmaps,
        reads_as,
        wording::scsi_claims(provisioning.unmaps, provisioning.reads_as),
    ))
}

fn ata_claims(trim_support: TrimSupport) -> TrimCapabilities {
    let TrimSupport { trims, reads_same, reads_zeros } = trim_support;
    let reads_as = match (reads_same, reads_zeros) {
        (true, true) => ReadsAs::Zeros,
        (true, false) => ReadsAs::Same,
        _ => ReadsAs::Anything,
    };
    claims(trims, reads_as, wording::ata_claims(trims, reads_same, reads_zeros))
}

fn nvme_claims(device: impl AsFd) -> Result<Option<TrimCapabilities>, Errno> {
    let (controller, _) = read_nvme(&device, NvmeCommand::Controller)?;
    let (namespace, _) = read_nvme(&device, NvmeCommand::Namespace)?;
    let answers = Controller::parse(&controller).zip(Namespace::parse(&namespace));
    Ok(answers.map(|(controller, namespace)| claims_of(controller.trims(), namespace.deallocated)))
}

/// What NVMe's Dataset Management and DLFEAT say about TRIM.
fn claims_of(trims: bool, deallocated: u8) -> TrimCapabilities {
    let reads_as = match deallocated & 0b111 {
        1 => ReadsAs::Zeros,
        2 => ReadsAs::Ones,
        _ => ReadsAs::Anything,
    };
    claims(trims, reads_as, wording::nvme_claims(trims, deallocated))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::DeviceNumber;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn mounted(kind: &str, options: &str, device: bool) -> MountedDevice {
        let mount = Mount {
            id: 1,
            device: DeviceNumber { major: 0, minor: 0 },
            root: "/".into(),
            point: "/mnt".into(),
            kind: kind.into(),
            source: "/dev/x".into(),
            options: options.into(),
        };
        MountedDevice { mount, device: device.then(|| BlockDevice::at("/nowhere".into())) }
    }

    #[test]
    fn only_file_systems_whose_files_can_be_followed_are_suitable() {
        assert_eq!(mounted("ext4", "rw", true).unsuitable(), None);
        assert_eq!(mounted("xfs", "rw,discard", true).unsuitable(), None);
        for (kind, options, device, words) in [
            ("ext4", "rw", false, "/sys"),
            ("xfs", "rw,rtdev=/dev/sdb", true, "two devices"),
            ("btrfs", "rw", true, "make an ext4 or xfs"),
            ("zfs", "rw", false, "zpool status -t"),
            ("overlay", "rw", false, "file system below"),
            ("tmpfs", "rw", false, "folder on a drive"),
            ("nfs4", "rw", false, "run likenew trim there"),
            ("fuse.sshfs", "rw", false, "FUSE"),
            ("hfsplus", "rw", true, "hfsplus"),
        ] {
            let reason = mounted(kind, options, device).unsuitable().unwrap();
            assert!(reason.contains(words), "{kind}: {reason}");
        }
    }

    #[test]
    fn a_mount_that_discards_at_once_is_known_by_its_option() {
        assert!(mounted("ext4", "rw,discard", true).discards_immediately());
        assert!(mounted("btrfs", "rw,discard=async", true).discards_immediately());
        assert!(!mounted("ext4", "rw,nodiscard,x-discards", true).discards_immediately());
    }

    #[test]
    fn xfs_counts_no_more_than_is_free_as_trimmed() {
        for (kind, answer, free, trimmed) in [
            ("xfs", 3000, Some(1000), 1000),
            ("xfs", 800, Some(1000), 800),
            ("xfs", 3000, None, 3000),
            ("ext4", 3000, Some(1000), 3000),
        ] {
            assert_eq!(trimmed_bytes(kind, answer, free), trimmed, "{kind} {answer} {free:?}");
        }
    }

    #[test]
    fn what_takes_a_moment_is_waited_for_and_what_never_comes_is_given_up() {
        let (clock, calls) = (Monotonic::start(), std::cell::Cell::new(0));
        let comes_the_third_time = || {
            calls.set(calls.get() + 1);
            calls.get() == 3
        };
        wait_for(comes_the_third_time, clock.now() + Nanos::from_secs(3600), &clock);
        assert_eq!(calls.get(), 3);
        let until = clock.now() + Nanos::from_millis(120);
        wait_for(|| false, until, &clock);
        assert!(clock.now() >= until);
    }

    #[test]
    fn discards_are_the_twelfth_and_fourteenth_number() {
        let folder = tempfile::tempdir().unwrap();
        let device = |name: &str, stat: &str| {
            let folder = folder.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("stat"), stat).unwrap();
            BlockDevice::at(folder)
        };
        let sda = device("sda", "  1 2 3 4 5 6 7 8 9 10 11   12 13 14 15 16 17");
        let of_an_old_kernel = device("sdb", "1 2 3 4 5 6 7 8 9 10 11");
        let Counters(counters) = Counters::read(&[sda, of_an_old_kernel]);
        let [discard_counters] = &counters[..] else { panic!("an old kernel counts no discards") };
        let expected = DiscardCounters { device: "sda".into(), ios: 12, bytes: 14 * 512 };
        assert_eq!(*discard_counters, expected);
        let later = Counters(vec![DiscardCounters { ios: 15, bytes: 20 * 512, ..discard_counters.clone() }]);
        let moved = later.since(&Counters(vec![expected]));
        assert_eq!((moved[0].ios, moved[0].bytes), (3, 6 * 512));
        assert!(later.since(&Counters::default()).is_empty());
    }

    /// A part of a /sys.
    struct Sys(tempfile::TempDir);

    impl Sys {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn device(&self, path: &str, attributes: &[(&str, &str)]) -> BlockDevice {
            let folder = self.0.path().join(path);
            fs::create_dir_all(&folder).unwrap();
            for (name, value) in attributes {
                let file = folder.join(name);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, format!("{value}\n")).unwrap();
            }
            BlockDevice::at(folder)
        }

        fn built_on(&self, device: &BlockDevice, below: &BlockDevice) {
            let slaves = device.folder().join("slaves");
            fs::create_dir_all(&slaves).unwrap();
            symlink(below.folder(), slaves.join(below.name())).unwrap();
        }
    }

    const PASSES: (&str, &str) = ("queue/discard_max_bytes", "2147450880");
    const BLOCKS: (&str, &str) = ("queue/discard_max_bytes", "0");

    #[test]
    fn encryption_on_a_partition_is_named_with_its_fix() {
        let sys = Sys::new();
        let disk = sys
            .device("nvme0n1", &[PASSES, ("queue/rotational", "0"), ("queue/discard_granularity", "4096")]);
        let part = sys.device("nvme0n1/nvme0n1p2", &[("partition", "2")]);
        let crypt = sys.device("dm-0", &[BLOCKS, ("dm/uuid", "CRYPT-LUKS2-0123"), ("dm/name", "home")]);
        sys.built_on(&crypt, &part);
        let path = device_path(&crypt);
        let kinds: Vec<&str> = path.layers.iter().map(|layer| &*layer.kind).collect();
        assert_eq!(kinds, ["encryption (dm-crypt)", "partition", "disk"]);
        let passes: Vec<Option<bool>> = path.layers.iter().map(|layer| layer.passes).collect();
        assert_eq!(passes, [Some(false), None, Some(true)]);
        let blocked = path.blocked_by().unwrap();
        assert_eq!(blocked.name, "dm-0");
        assert!(blocked.remedy.as_ref().unwrap().contains("refresh home"));
        assert_eq!((path.layers[2].granularity_bytes, path.rotates), (Some(4096), Some(false)));
        assert_eq!(disk.name(), "nvme0n1");
    }

    #[test]
    fn an_array_has_all_its_members_and_a_fix_that_is_careful() {
        let sys = Sys::new();
        let array = sys.device("md0", &[BLOCKS, ("md/level", "raid5")]);
        for name in ["sda", "sdb", "sdc"] {
            sys.built_on(&array, &sys.device(name, &[PASSES]));
        }
        let path = device_path(&array);
        assert_eq!(path.layers.len(), 4);
        assert_eq!(path.blocked_by().unwrap().kind, "array (raid5)");
        assert!(path.blocked_by().unwrap().remedy.as_ref().unwrap().contains("rebuild"));
    }

    #[test]
    fn a_usb_bridge_that_announces_nothing_is_to_blame_for_what_lies_on_it() {
        let sys = Sys::new();
        let disk = sys.device(
            "pci0/usb2/2-1/host6/sdb",
            &[BLOCKS, ("device/scsi_disk/6:0:0:0/provisioning_mode", "full")],
        );
        let volume = sys.device("dm-1", &[BLOCKS, ("dm/uuid", "LVM-x"), ("dm/name", "vg-lv")]);
        sys.built_on(&volume, &disk);
        let path = device_path(&volume);
        let blocked = path.blocked_by().unwrap();
        assert_eq!((&*blocked.name, &*blocked.kind), ("sdb", "disk behind USB"));
        assert!(blocked.evidence.contains("provisioning_mode = full"), "{}", blocked.evidence);
        assert!(blocked.remedy.as_ref().unwrap().contains("connect the drive directly"));
    }

    #[test]
    fn a_disk_that_supports_unmap_has_a_rule_for_it() {
        let sys = Sys::new();
        let rule = |mode: &str, page: &[u8]| {
            let usb = [("idVendor", "152d"), ("idProduct", "0578")];
            sys.device("usb2/2-1", &usb);
            let disk = sys.device(
                "usb2/2-1/host6/sdb",
                &[BLOCKS, ("device/scsi_disk/6:0:0:0/provisioning_mode", mode)],
            );
            fs::write(disk.folder().join("device/vpd_pgb2"), page).unwrap();
            unmap_rule(&disk)
        };
        let (unmaps, silent) = ([0, 0xB2, 0, 4, 0, 0x84, 2, 0], [0, 0xB2, 0, 4, 0, 0x04, 2, 0]);
        assert_eq!(
            rule("full", &unmaps).unwrap(),
            r#"ACTION=="add|change", SUBSYSTEM=="scsi_disk", ATTRS{idVendor}=="152d", ATTRS{idProduct}=="0578", ATTR{provisioning_mode}="unmap""#
        );
        for (mode, page) in [("full", &silent[..]), ("unmap", &unmaps), ("disabled", &unmaps), ("full", &[])]
        {
            assert_eq!(rule(mode, page), None, "{mode}");
        }
    }

    #[test]
    fn what_says_nothing_blocks_nothing() {
        let sys = Sys::new();
        let path = device_path(&sys.device("sdz", &[]));
        assert_eq!((path.layers[0].passes, path.blocked_by()), (None, None));
        assert_eq!(path.layers[0].evidence, "/sys does not report it");
        let virtual_disk = sys.device("vda", &[BLOCKS]);
        let bus = sys.0.path().join("bus/virtio");
        fs::create_dir_all(&bus).unwrap();
        fs::create_dir_all(virtual_disk.folder().join("device")).unwrap();
        symlink(&bus, virtual_disk.folder().join("device/subsystem")).unwrap();
        let path = device_path(&virtual_disk);
        assert!(path.blocked_by().unwrap().remedy.as_ref().unwrap().contains("discard=unmap"));
        let own_file =
            sys.device("loop9", &[BLOCKS, ("loop/backing_file", "/x/y"), ("queue/rotational", "1")]);
        let path = device_path(&own_file);
        assert!(path.blocked_by().unwrap().remedy.as_ref().unwrap().contains("punch holes"));
        assert_eq!(
            path.rotates, None,
            "a loop device reports what its file's disk reports, which is not below it here"
        );
    }

    #[test]
    fn a_circle_ends() {
        let sys = Sys::new();
        let (first, second) = (sys.device("dm-0", &[PASSES]), sys.device("dm-1", &[PASSES]));
        sys.built_on(&first, &second);
        sys.built_on(&second, &first);
        assert_eq!(first.stack().len(), 2);
    }

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
