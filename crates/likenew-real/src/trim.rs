//! TRIM on a real drive: the layers on its way, what the drive claims, and what becomes of blocks that a file
//! of ours freed.
//!
//! Raw reads touch only blocks that a file of ours holds, or has held and that the file system reports as
//! still free. TRIM is asked for only over the range that our own file has freed.

#[allow(unsafe_code, reason = "a file tells its blocks by an ioctl only")]
mod extents;
mod layers;
mod read_back;

use std::ops::Range;
use std::os::fd::AsFd;

use likenew_core::counters::DiscardCounters;
use likenew_core::fix::FixReport;
use likenew_core::probe::{ProbeResult, TrimMethod, TrimReport};
use likenew_core::units::Nanos;
use rustix::fs::syncfs;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};

pub(crate) use self::extents::{Extent, Flush, device_extents, extents, fuzzed_extents, fuzzed_free_space};
pub(crate) use self::layers::{SENDERS, device_path, disk_claims, mount_path, stack, unmap_rule};
pub(crate) use self::read_back::read_back;
use crate::block::BlockDevice;
use crate::clock::Monotonic;
use crate::mounts::Mount;
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
        self.device.as_ref().map(stack).unwrap_or_default()
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
        sent.discard_counters = Counters::read(&self.devices).since(&self.before);
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
    let (before, started_at) = (Counters::read(&devices), clock.now());
    match fitrim(&folder, &(0..u64::MAX)) {
        Ok(bytes) => ProbeResult::FixReport(FixReport {
            bytes,
            elapsed: clock.now() - started_at,
            discard_counters: Counters::read(&devices).since(&before),
            ..FixReport::default()
        }),
        Err(errno) => ProbeResult::Unknown(refusal(errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::DeviceNumber;

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
}
