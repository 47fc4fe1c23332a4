//! Bytes that all programs together read from and write to a drive, as the kernel counts them.

use std::fs::{self, File};
use std::path::Path;

use likenew_core::counters::Counters;
use likenew_core::stat::Stat;
use likenew_core::units::Nanos;

use crate::block::{BlockDevice, parse_stat};
use crate::mounts::{Mount, btrfs_devices};

/// The counters of one whole disk, with all of its partitions and volumes.
#[derive(Debug)]
pub struct DriveTraffic(CounterSource);

impl DriveTraffic {
    /// The counters of the disk below a block device; `None` if there are several disks, or the kernel does not count.
    pub fn of_device(path: &Path) -> Option<Self> {
        let device = BlockDevice::at_path(path)?;
        Self::counted(CounterSource::of_device(&device))
    }

    /// The counters of the disk below a folder's file system; `None` if there are several disks, or the kernel does not count.
    pub fn of_folder(folder: &Path) -> Option<Self> {
        let mount = File::open(folder).ok().and_then(Mount::containing)?;
        Self::counted(CounterSource::of_mount(&mount))
    }

    fn counted(source: CounterSource) -> Option<Self> {
        source.disk_bytes().map(|_| Self(source))
    }

    /// Bytes read and written since the drive was attached; `None` once it is gone.
    pub fn bytes(&self) -> Option<u64> {
        self.0.disk_bytes()
    }

    /// Whether files in this folder are known to be on the same disk.
    pub fn holds(&self, folder: &Path) -> bool {
        let mount = File::open(folder).ok().and_then(Mount::containing);
        mount.is_some_and(|mount| CounterSource::of_mount(&mount).disk == self.0.disk)
    }
}

// Counters of the devices below a target.

/// The devices below a target whose counters are read; empty if no device counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct CounterSource {
    /// A partition has its own counters.
    devices: Vec<BlockDevice>,
    /// The one disk below all devices; `None` if there are several.
    disk: Option<BlockDevice>,
}

impl CounterSource {
    /// The counters of one device.
    pub(crate) fn of_device(device: &BlockDevice) -> Self {
        Self::for_devices(vec![device.clone()])
    }

    fn for_devices(devices: Vec<BlockDevice>) -> Self {
        let disk = if let [device] = &devices[..] { disk_below(device.clone()) } else { None };
        Self { devices, disk }
    }

    /// The counters of the devices below a mount. Memory, networks, layers, and pools other than btrfs have none.
    pub(crate) fn of_mount(mount: &Mount) -> Self {
        // btrfs has a device number that no device has, and names one of its devices.
        let devices = match (BlockDevice::by_number(mount.device), mount.block_device()) {
            (Some(device), _) => vec![device],
            (None, Some(device)) if mount.kind == "btrfs" => btrfs_devices(Path::new("/sys"), device),
            (None, _) => return Self::default(),
        };
        Self::for_devices(devices)
    }

    pub(crate) fn devices(&self) -> &[BlockDevice] {
        &self.devices
    }

    /// The kernel's names of the devices.
    pub(crate) fn names(&self) -> Vec<String> {
        self.devices.iter().map(BlockDevice::name).collect()
    }

    /// Bytes that all programs have read from and written to the one disk.
    pub(crate) fn disk_bytes(&self) -> Option<u64> {
        let counters = self.disk.as_ref().and_then(read_one)?;
        Some(counters.bytes_read.saturating_add(counters.bytes_written))
    }

    /// The sum of all counters; `None` if a device is gone or does not count.
    pub(crate) fn read(&self) -> Option<Counters> {
        let counters: Option<Vec<Counters>> = self.devices.iter().map(read_one).collect();
        let total = counters?.into_iter().reduce(|sum, next| sum.plus(&next))?;
        let disk = self.disk.as_ref().and_then(read_one).map(|counted| counted.disk_counters());
        Some(Counters { kernel: kernel_time(), disk, ..total })
    }
}

/// The disk of a partition, or the one device below a mapping; `None` if there are several.
fn disk_below(device: BlockDevice) -> Option<BlockDevice> {
    match &device.devices_below()[..] {
        [] => Some(device),
        [below] => disk_below(below.clone()),
        _ => None,
    }
}

fn read_one(device: &BlockDevice) -> Option<Counters> {
    // A partition is counted if its disk is.
    let iostats = ["queue/iostats", "../queue/iostats"];
    let is_off = iostats.into_iter().any(|name| device.attribute(name).as_deref() == Some("0"));
    let counters = parse_counters(&device.attribute("stat")?)?;
    // Device mapper and md count by themselves, although older kernels report counting as off by default (seen with 6.1).
    let counts_itself = || ["dm", "md"].into_iter().any(|layer| device.folder().join(layer).is_dir());
    let has_counted = counters.reads + counters.writes > 0;
    (!is_off || has_counted && counts_itself()).then_some(counters)
}

/// A line of `stat`, as the counters of a run.
fn parse_counters(text: &str) -> Option<Counters> {
    let Stat { read, write, discard, flush, busy_ms, .. } = parse_stat(text)?;
    Some(Counters {
        reads: read.ios,
        bytes_read: read.bytes(),
        writes: write.ios,
        bytes_written: write.bytes(),
        busy: Nanos::from_millis(busy_ms),
        io_time: Some(Nanos::from_millis(read.ms.saturating_add(write.ms))),
        discards: discard.map(|discard| discard.ios),
        bytes_discarded: discard.map(|discard| discard.bytes()),
        flushes: flush.map(|flush| flush.ios),
        kernel: None,
        disk: None,
        devices: 1,
    })
}

// Time that this machine's processors spend in the kernel.

/// The file in which the kernel counts that time (proc_stat(5)).
const STAT: &str = "/proc/stat";
/// Fields of the first line with time in the kernel: for programs and kernel threads, in interrupts, and in
/// work that interrupts put off.
const KERNEL: [usize; 3] = [3, 6, 7];

/// Time that all processors together have spent in the kernel since the machine started, in ticks of mostly 10 ms.
pub(crate) fn kernel_time() -> Option<Nanos> {
    parse_kernel_time(&fs::read_to_string(STAT).ok()?, rustix::param::clock_ticks_per_second())
}

pub(crate) fn parse_kernel_time(text: &str, ticks_per_s: u64) -> Option<Nanos> {
    let fields: Vec<&str> = text.lines().find(|line| line.starts_with("cpu "))?.split_whitespace().collect();
    let ticks: Option<Vec<u64>> = KERNEL.into_iter().map(|at| fields.get(at)?.parse().ok()).collect();
    let tick_ns = 1_000_000_000_u64.checked_div(ticks_per_s)?;
    ticks?.into_iter().try_fold(0_u64, u64::checked_add)?.checked_mul(tick_ns).map(Nanos)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use likenew_core::counters::DiskCounters;

    use super::*;
    use crate::block::DeviceNumber;

    /// The fields of a disk under Linux 6.18; tests cut them to those of older kernels.
    const FIELDS: [&str; 17] = [
        "18243", "1702", "1622528", "9121", "51020", "33", "8161024", "70112", "2", "51234", "79999", "77",
        "1", "4096", "5", "312", "400",
    ];

    fn device(root: &Path, name: &str, fields: usize) -> PathBuf {
        let folder = root.join(name);
        fs::create_dir_all(folder.join("queue")).unwrap();
        fs::write(folder.join("stat"), format!("  {}\n", FIELDS[..fields].join("    "))).unwrap();
        folder
    }

    fn of_folders(folders: Vec<PathBuf>) -> CounterSource {
        CounterSource::for_devices(folders.into_iter().map(BlockDevice::at).collect())
    }

    #[test]
    fn the_fields_of_every_kernel_are_read() {
        let root = tempfile::tempdir().unwrap();
        for (count, discards, flushes) in
            [(11, None, None), (15, Some((77, 4096 * 512)), None), (17, Some((77, 4096 * 512)), Some(312))]
        {
            let source = of_folders(vec![device(root.path(), "sda", count)]);
            let counters = source.read().unwrap();
            assert_eq!((counters.reads, counters.bytes_read), (18_243, 1_622_528 * 512));
            assert_eq!((counters.writes, counters.bytes_written), (51_020, 8_161_024 * 512));
            assert_eq!((counters.busy, counters.devices), (Nanos::from_millis(51_234), 1));
            assert_eq!(counters.io_time, Some(Nanos::from_millis(9_121 + 70_112)));
            assert_eq!(source.disk_bytes(), Some((1_622_528 + 8_161_024) * 512));
            assert_eq!(counters.discards.zip(counters.bytes_discarded), discards);
            assert_eq!(counters.flushes, flushes);
        }
        assert_eq!(parse_counters(&[FIELDS.join(" "), "9 9".into()].join(" ")).unwrap().flushes, Some(312));
        for text in ["", "1 2 3", "a b c d e f g h i j k", &FIELDS[..10].join(" ")] {
            assert_eq!(parse_counters(text), None, "{text}");
        }
    }

    #[test]
    fn several_devices_are_counted_together_and_a_silent_one_silences_all() {
        let root = tempfile::tempdir().unwrap();
        let devices = vec![device(root.path(), "sda", 17), device(root.path(), "sdb", 15)];
        let source = of_folders(devices);
        assert_eq!(source.names(), ["sda", "sdb"]);
        let both = source.read().unwrap();
        assert_eq!((both.devices, both.reads, both.flushes), (2, 2 * 18_243, None));
        fs::write(root.path().join("sdb/queue/iostats"), "0\n").unwrap();
        assert_eq!(source.read(), None);
        fs::write(root.path().join("sdb/queue/iostats"), "1\n").unwrap();
        assert!(source.read().is_some());
        fs::remove_file(root.path().join("sda/stat")).unwrap();
        assert_eq!(source.read(), None);
        assert_eq!(CounterSource::default().read(), None);
    }

    #[test]
    fn a_layer_that_has_counted_counts_whatever_its_queue_says() {
        let root = tempfile::tempdir().unwrap();
        let mapping = device(root.path(), "dm-0", 17);
        fs::write(mapping.join("queue/iostats"), "0\n").unwrap();
        let source = of_folders(vec![mapping.clone()]);
        assert_eq!(source.read(), None, "a disk that does not count");
        fs::create_dir(mapping.join("dm")).unwrap();
        assert_eq!(source.read().unwrap().reads, 18_243);
        fs::write(mapping.join("stat"), "0 ".repeat(17)).unwrap();
        assert_eq!(source.read(), None, "it may have counted nothing, or not count");
    }

    #[test]
    fn the_disk_decides_whether_a_partition_is_counted() {
        let root = tempfile::tempdir().unwrap();
        device(root.path(), "sda", 17);
        let partition = device(root.path(), "sda/sda1", 17);
        let source = of_folders(vec![partition]);
        assert!(source.read().is_some());
        fs::write(root.path().join("sda/queue/iostats"), "0\n").unwrap();
        assert_eq!(source.read(), None);
    }

    #[test]
    fn a_partition_and_a_mapping_tell_what_their_disk_does() {
        let root = tempfile::tempdir().unwrap();
        let disk = device(root.path(), "sda", 17);
        let partition = device(root.path(), "sda/sda1", 17);
        fs::write(partition.join("partition"), "1\n").unwrap();
        fs::write(partition.join("stat"), "7 0 56 0 9 0 72 0 0 0 0 0 0 0 0 0 0\n").unwrap();
        let mapping = device(root.path(), "dm-0", 17);
        fs::create_dir(mapping.join("slaves")).unwrap();
        std::os::unix::fs::symlink(&partition, mapping.join("slaves/sda1")).unwrap();
        let of_sda = DiskCounters {
            reads: 18_243,
            bytes_read: 1_622_528 * 512,
            writes: 51_020,
            io_time: Some(Nanos::from_millis(9_121 + 70_112)),
        };
        for folder in [disk, partition.clone(), mapping.clone()] {
            let counted = of_folders(vec![folder.clone()]).read().unwrap();
            assert_eq!(counted.disk, Some(of_sda), "{}", folder.display());
        }
        assert_eq!(of_folders(vec![partition]).read().unwrap().reads, 7);
        let other = device(root.path(), "sdb", 17);
        std::os::unix::fs::symlink(other, mapping.join("slaves/sdb")).unwrap();
        assert_eq!(of_folders(vec![mapping]).read().unwrap().disk, None, "two disks");
    }

    #[test]
    fn memory_and_networks_count_nothing() {
        let mount = |kind: &str, source: &str| Mount {
            id: 1,
            device: DeviceNumber { major: 0, minor: 9999 },
            root: "/".into(),
            point: "/x".into(),
            kind: kind.into(),
            source: source.into(),
            options: "rw".into(),
        };
        for (kind, source) in
            [("tmpfs", "tmpfs"), ("overlay", "overlay"), ("nfs4", "server:/x"), ("btrfs", "/nowhere")]
        {
            assert_eq!(CounterSource::of_mount(&mount(kind, source)).read(), None, "{kind}");
        }
    }

    #[test]
    fn programs_waiting_and_idling_do_not_count() {
        let text = "cpu  9000 100 120 80000 500 7 3 11 0 0\ncpu0 9000 100 120 80000 500 7 3 11 0 0\nintr 1\n";
        assert_eq!(parse_kernel_time(text, 100), Some(Nanos::from_millis(1300)));
        for text in ["", "cpu0 1 2 3 4 5 6 7", "cpu  1 2 3 4", "cpu  1 2 x 4 5 6 7"] {
            assert_eq!(parse_kernel_time(text, 100), None, "{text}");
        }
        assert_eq!(parse_kernel_time(text, 0), None);
    }

    #[test]
    fn it_never_goes_back() {
        let first = kernel_time().expect("Linux counts it");
        assert!(kernel_time().unwrap() >= first && first > Nanos::ZERO);
    }
}
