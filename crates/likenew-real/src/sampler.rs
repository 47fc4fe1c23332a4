//! Reads the kernel's counters of every block device, again and again, to watch drives.
//!
//! Nothing here sends a command to a drive, except for its temperature, and nothing waits for one: a drive
//! that hangs is still shown.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};
use likenew_core::findings::{DriveFacts, DriveReading, Layer, Reading, Role};
use likenew_core::target_error::TargetError;
use likenew_core::units::{Nanos, amount};

use crate::block::{BlockDevice, DeviceNumber, begins_numbered, bottoms, open_path, parse_stat};
use crate::clock::Monotonic;
use crate::identify::HealthSource;
use crate::mounts::{Mount, Store, swaps};
use crate::standards::clean;
use crate::target_error::ErrorContext as _;
use crate::wording::{action, record as wording};

/// How often mounts, sizes and stacks are read again. Chosen: they seldom change, and reading them costs more
/// than the counters.
const FACTS_EVERY: Nanos = Nanos::from_secs(5);
/// A signal is noticed within this time, however long a wait is. Chosen: a delay of 100 ms is not felt.
const SLICE: Nanos = Nanos::from_millis(100);
/// Most bytes of a file that are read; no file that is read here is longer.
const LINE_MAX: usize = 512;

/// Reads all counters whenever it is asked to.
#[derive(Debug)]
pub struct Sampler {
    sys: PathBuf,
    clock: Monotonic,
    temperatures: bool,
    devices: BTreeMap<String, KnownDevice>,
    /// The names of all disks when their facts were read, each with its instance.
    disks: Vec<(String, u64)>,
    facts_due: Nanos,
}

/// The state of a device between two readings.
#[derive(Debug)]
struct KnownDevice {
    /// The device's folder in /sys.
    folder: PathBuf,
    instance: u64,
    facts: Arc<DriveFacts>,
    thermometer: Option<Thermometer>,
}

impl Sampler {
    /// A sampler of this machine, whose clock starts now. Without `temperatures`, nothing is asked of a drive.
    pub fn new(temperatures: bool) -> Self {
        Self::at_root(Path::new("/sys"), temperatures)
    }

    fn at_root(sys: &Path, temperatures: bool) -> Self {
        Self {
            sys: sys.to_owned(),
            clock: Monotonic::start(),
            temperatures,
            devices: BTreeMap::new(),
            disks: Vec::new(),
            facts_due: Nanos::ZERO,
        }
    }

    /// The time on its clock.
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Waits until `until`, or until `goes_on` returns false.
    pub fn wait(&self, until: Nanos, goes_on: impl Fn() -> bool) {
        while goes_on() && self.now() < until {
            self.clock.rest(until.min(self.now() + SLICE));
        }
    }

    /// Reads the counters of every drive and partition there is now.
    ///
    /// # Errors
    /// The system does not list its block devices.
    pub fn read(&mut self) -> Result<Reading, TargetError> {
        let now = self.now();
        self.find_devices(now)?;
        let mut drives = Vec::with_capacity(self.devices.len());
        let mut gone = Vec::new();
        for (name, known) in &self.devices {
            match read_one(name, known, self.clock) {
                Some(drive) => drives.push(drive),
                None => gone.push(name.clone()),
            }
        }
        gone.iter().for_each(|name| drop(self.devices.remove(name)));
        Ok(Reading { at: self.now(), drives })
    }

    /// The kernel's name of a drive by any of its names: `sda`, `/dev/sda1`, `/dev/mapper/home`, or a file or
    /// folder on it.
    ///
    /// # Errors
    /// `TargetError::Unsuitable`: there is no such drive, or the named file is on none.
    pub fn find(&self, text: &str) -> Result<String, TargetError> {
        if !text.contains('/') && !text.starts_with('.') && self.sys.join("class/block").join(text).exists() {
            return Ok(text.to_owned());
        }
        let path = Path::new(text);
        let unknown = |error: std::io::Error| {
            let names: Vec<String> = self.names().unwrap_or_default();
            TargetError::Unsuitable(wording::no_such_drive(text, &error, &names))
        };
        fs::metadata(path).map_err(unknown)?;
        let device = match DeviceNumber::at(path) {
            Some(number) => BlockDevice::by_number(number),
            None => {
                // Opened as a path only: to open a pipe would wait for a writer.
                let open = open_path(path).context_at(action::LOOK_AT, path)?;
                Mount::containing(open).and_then(|mount| mount.block_device())
            }
        };
        device.map(|device| device.name()).ok_or_else(|| TargetError::Unsuitable(wording::not_counted(text)))
    }

    fn names(&self) -> Result<Vec<String>, TargetError> {
        let folder = self.sys.join("block");
        let list = fs::read_dir(&folder).context(action::list_devices_in(folder.display()))?;
        let mut names: Vec<String> =
            list.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    /// Follows devices that come and go, and reads the facts of all when that is due.
    fn find_devices(&mut self, now: Nanos) -> Result<(), TargetError> {
        let with_instance = |name: String| {
            let instance = instance(&self.sys.join("block").join(&name));
            (name, instance)
        };
        let disks: Vec<(String, u64)> = self.names()?.into_iter().map(with_instance).collect();
        if now < self.facts_due && disks == self.disks {
            return Ok(());
        }
        self.facts_due = now + FACTS_EVERY;
        let uses = Uses::read();
        let mut before = std::mem::take(&mut self.devices);
        for (name, instance) in &disks {
            let (disk, instance) = (device_in(&self.sys, name), *instance);
            // A hidden path to a drive, which the kernel counts under the drive's own name.
            if disk.attribute("hidden").as_deref() == Some("1") {
                continue;
            }
            for device in std::iter::once(disk.clone()).chain(disk.partitions()) {
                let name = device.name();
                let again = before.remove(&name).filter(|known| known.instance == instance);
                let thermometer = again.and_then(|known| known.thermometer).or_else(|| {
                    let asks = self.temperatures && !device.is_partition();
                    asks.then(|| Thermometer::start(HealthSource::of_disk(disk.folder()), self.clock))
                        .flatten()
                });
                let facts = Arc::new(uses.facts(&device));
                let folder = device.folder().to_owned();
                self.devices.insert(name, KnownDevice { folder, instance, facts, thermometer });
            }
        }
        self.disks = disks;
        Ok(())
    }
}

fn read_one(name: &str, device: &KnownDevice, clock: Monotonic) -> Option<DriveReading> {
    let mut line = [0; LINE_MAX];
    let text = read_line(&device.folder.join("stat"), &mut line)?;
    let at = clock.now();
    let stat = parse_stat(text)?;
    // Of idle drives, usually most of them, this file need not be read.
    let in_flight = match stat.in_flight {
        0 => Some([0, 0]),
        _ => read_line(&device.folder.join("inflight"), &mut line).and_then(pair),
    };
    let temperature_c = device.thermometer.as_ref().and_then(|thermometer| thermometer.read(at));
    let facts = Arc::clone(&device.facts);
    Some(DriveReading {
        name: name.to_owned(),
        instance: device.instance,
        at,
        stat,
        in_flight,
        temperature_c,
        facts,
    })
}

fn pair(text: &str) -> Option<[u64; 2]> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    Some([numbers.next()?.ok()?, numbers.next()?.ok()?])
}

/// The number that the kernel gives every disk in order of appearance; a loop device gets a new one with each
/// file.
fn instance(folder: &Path) -> u64 {
    let mut line = [0; LINE_MAX];
    read_line(&folder.join("diskseq"), &mut line).and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

fn read_line<'a>(path: &Path, line: &'a mut [u8; LINE_MAX]) -> Option<&'a str> {
    let length = File::open(path).ok()?.read(line).ok()?;
    std::str::from_utf8(&line[..length]).ok()
}

// Facts about a device from /sys and /proc that seldom change, for watching it.

/// Layers at most: a deeper stack would be a bug.
const LEVELS_MAX: u16 = 16;

/// The device of this name, below a root of /sys.
fn device_in(sys: &Path, name: &str) -> BlockDevice {
    let link = sys.join("class/block").join(name);
    BlockDevice::at(std::fs::canonicalize(&link).unwrap_or(link))
}

/// What is mounted, and what serves as swap, read once for all devices.
pub(crate) struct Uses {
    mounts: Vec<(DeviceNumber, String)>,
    swaps: Vec<Store>,
}

impl Uses {
    /// The uses at this moment.
    pub(crate) fn read() -> Self {
        let uses = |mount: Mount| {
            // A file system of several devices shows none of their numbers, but the name of one.
            let source = Path::new(&mount.source);
            let of_source = source.starts_with("/dev").then(|| DeviceNumber::at(source)).flatten();
            (of_source.unwrap_or(mount.device), mount.point)
        };
        // Only for a report, so gaps are acceptable.
        let mounts = crate::mounts::all().unwrap_or_default();
        Self { mounts: mounts.into_iter().map(uses).collect(), swaps: swaps().unwrap_or_default() }
    }

    /// Where a device is mounted, the shortest path first, or that it is swap.
    fn uses_of(&self, device: &BlockDevice) -> Vec<String> {
        let Some(number) = device.number() else { return Vec::new() };
        let mounted = self.mounts.iter().filter(|(on, _)| *on == number);
        let mut uses: Vec<String> = mounted.map(|(_, point)| clean(point)).collect();
        uses.sort_by_key(|point| (point.len(), point.clone()));
        uses.dedup();
        if self.swaps.contains(&Store::Device(number)) {
            uses.push("swap".to_owned());
        }
        uses
    }

    /// All facts of a device.
    pub(crate) fn facts(&self, device: &BlockDevice) -> DriveFacts {
        let disk = device.disk();
        let mut facts = DriveFacts {
            path: device.node().display().to_string(),
            role: role(device),
            model: model(device),
            capacity_bytes: device.bytes().unwrap_or(0),
            stack: self.stack(device),
            ..DriveFacts::default()
        };
        self.add_uses(device, 0, &mut facts.used_by);
        for (name, attribute) in [
            ("serial", "device/serial"),
            ("firmware", "device/firmware_rev"),
            ("firmware", "device/rev"),
            ("scheduler", "queue/scheduler"),
            ("queue requests max", "queue/nr_requests"),
            ("largest request KiB", "queue/max_sectors_kb"),
            ("read-ahead KiB", "queue/read_ahead_kb"),
            ("write cache", "queue/write_cache"),
            ("physical block bytes", "queue/physical_block_size"),
            ("largest discard bytes", "queue/discard_max_bytes"),
            ("zones", "queue/zoned"),
        ] {
            if let Some(value) = disk.attribute(attribute).filter(|value| value != "none") {
                facts.facts.push((name.to_owned(), clean(&value)));
            }
        }
        if let Some(bus) = disk.bus() {
            facts.facts.insert(0, ("bus".to_owned(), bus));
        }
        if let Some(rotates) = disk.attribute("queue/rotational").filter(|_| facts.role == Role::Drive) {
            facts.facts.push(("rotating".into(), if rotates == "1" { "yes" } else { "no" }.into()));
        }
        facts.caveats = caveats(&disk, facts.role);
        facts
    }

    /// Adds the uses of the device, of its partitions and of everything on them.
    fn add_uses(&self, device: &BlockDevice, level: u16, uses: &mut Vec<String>) {
        uses.extend(self.uses_of(device));
        if level < LEVELS_MAX {
            devices_above(device).iter().for_each(|above| self.add_uses(above, level + 1, uses));
        }
        if level == 0 {
            uses.dedup();
        }
    }

    /// The layers over a device's drives, from the drives at the bottom to the top.
    fn stack(&self, device: &BlockDevice) -> Vec<Layer> {
        let mut stack = Vec::new();
        for bottom in bottoms(std::slice::from_ref(device)) {
            self.add_layer(&bottom, 0, &mut stack);
        }
        stack
    }

    fn add_layer(&self, device: &BlockDevice, level: u16, stack: &mut Vec<Layer>) {
        let words = [Some(amount(device.bytes().unwrap_or(0))), model(device)];
        let words = words.into_iter().flatten().chain(self.uses_of(device)).collect::<Vec<_>>().join("  ");
        stack.push(Layer { level, name: device.name(), words });
        if level < LEVELS_MAX {
            devices_above(device).iter().for_each(|above| self.add_layer(above, level + 1, stack));
        }
    }
}

fn devices_above(device: &BlockDevice) -> Vec<BlockDevice> {
    let mut above = device.partitions();
    above.sort_by_key(|part| (part.name().len(), part.name()));
    above.extend(device.holder_devices());
    above
}

fn role(device: &BlockDevice) -> Role {
    let name = device.name();
    let stands = |prefix: &str| begins_numbered(&name, prefix);
    if device.is_partition() {
        Role::Partition
    } else if ["loop", "ram", "zram"].into_iter().any(stands) {
        Role::Virtual
    } else if ["dm-", "md"].into_iter().any(stands) || name.starts_with("md_") || !device.slaves().is_empty()
    {
        Role::Layer
    } else {
        Role::Drive
    }
}

fn model(device: &BlockDevice) -> Option<String> {
    let own = ["dm/name", "loop/backing_file"].iter().find_map(|name| device.attribute(name));
    let raid = || device.attribute("md/level");
    own.or_else(raid)
        .or_else(|| if device.is_partition() { None } else { device.model() })
        .map(|text| clean(&text))
}

fn caveats(disk: &BlockDevice, role: Role) -> Vec<String> {
    let mut caveats = Vec::new();
    if disk.attribute("queue/iostats").as_deref() == Some("0") {
        caveats.push(wording::counting_off(&disk.name()));
    }
    if role == Role::Layer {
        caveats.push(wording::COUNTED_BELOW.to_owned());
    }
    caveats
}

// A drive's temperature, read now and then by a separate thread: the driver asks the drive, and one that
// hangs would block the caller.

/// How often a drive is asked. Each time costs it a command, and keeps some disks from spinning down (Linux,
/// Documentation/hwmon/drivetemp.rst). Chosen: temperatures change over minutes.
const INTERVAL: Duration = Duration::from_secs(10);
/// An answer older than this does not count. Chosen: three answers have been missed by then.
const STALE: Nanos = Nanos::from_secs(35);

/// Asks until it is dropped. A thread that waits for a drive that hangs is left behind.
#[derive(Debug)]
pub(crate) struct Thermometer {
    last: Arc<Mutex<Option<(Nanos, f64)>>>,
    _stop: Sender<()>,
}

impl Thermometer {
    /// Starts for a drive whose driver offers a temperature.
    pub(crate) fn start(source: HealthSource, clock: Monotonic) -> Option<Self> {
        if !source.has_temperature() {
            return None;
        }
        let (stop, stopped) = bounded::<()>(0);
        let last = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&last);
        let ask = move || {
            loop {
                if let Some(degrees) = source.read().temperature_c {
                    *shared.lock().unwrap_or_else(PoisonError::into_inner) = Some((clock.now(), degrees));
                }
                // Nothing is ever sent: the channel closes when the thermometer is dropped.
                if stopped.recv_timeout(INTERVAL) != Err(crossbeam_channel::RecvTimeoutError::Timeout) {
                    break;
                }
            }
        };
        std::thread::Builder::new().name("thermometer".into()).spawn(ask).ok()?;
        Some(Self { last, _stop: stop })
    }

    /// The last answer in degrees Celsius, unless it is too old.
    pub(crate) fn read(&self, now: Nanos) -> Option<f64> {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.filter(|(at, _)| now.since(*at) < STALE).map(|(_, degrees)| degrees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("class")).unwrap();
            fs::create_dir_all(root.path().join("block")).unwrap();
            std::os::unix::fs::symlink(root.path().join("block"), root.path().join("class/block")).unwrap();
            Self(root)
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.0.path().join("block").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn remove(&self, name: &str) {
            fs::remove_dir_all(self.0.path().join("block").join(name)).unwrap();
        }
    }

    fn names(reading: &Reading) -> Vec<&str> {
        reading.drives.iter().map(|drive| drive.name.as_str()).collect()
    }

    #[test]
    fn drives_come_and_go_and_are_replaced() {
        let tree = Tree::new();
        tree.write("sda/stat", "1 0 8 1 2 0 16 2 3 4 5\n");
        tree.write("sda/inflight", "       1        2\n");
        tree.write("sda/diskseq", "7\n");
        tree.write("sda/sda1/partition", "1");
        tree.write("sda/sda1/stat", "1 0 8 1 0 0 0 0 0 1 1\n");
        tree.write("nvme0c0n1/stat", "9 9 9 9 9 9 9 9 9 9 9\n");
        tree.write("nvme0c0n1/hidden", "1");
        let mut sampler = Sampler::at_root(tree.0.path(), true);
        let first = sampler.read().unwrap();
        assert_eq!(names(&first), ["sda", "sda1"]);
        let sda = &first.drives[0];
        assert_eq!((sda.instance, sda.in_flight, sda.stat.write.ios), (7, Some([1, 2]), 2));

        tree.write("sdb/stat", "0 0 0 0 0 0 0 0 0 0 0\n");
        tree.write("sda/diskseq", "8\n");
        let second = sampler.read().unwrap();
        assert_eq!((names(&second), second.drives[0].instance), (vec!["sda", "sda1", "sdb"], 8));
        assert!(second.at >= first.at);

        tree.remove("sda");
        assert_eq!(names(&sampler.read().unwrap()), ["sdb"]);
        fs::remove_dir_all(tree.0.path().join("block")).unwrap();
        assert!(sampler.read().unwrap_err().to_string().contains("list the block devices"));
    }

    #[test]
    fn a_line_that_is_no_counters_is_no_drive() {
        let tree = Tree::new();
        tree.write("sda/stat", "nonsense\n");
        assert_eq!(names(&Sampler::at_root(tree.0.path(), false).read().unwrap()), [""; 0]);
    }

    #[test]
    fn a_drive_is_found_by_name_and_a_wrong_name_is_reported_the_right_ones() {
        let tree = Tree::new();
        tree.write("sda/stat", "1 0 8 1 2 0 16 2 3 4 5\n");
        let sampler = Sampler::at_root(tree.0.path(), false);
        assert_eq!(sampler.find("sda").unwrap(), "sda");
        assert!(sampler.find("sdz").unwrap_err().to_string().contains("known are sda"));
        let target_error = sampler.find("/proc").unwrap_err();
        assert!(
            matches!(&target_error, TargetError::Unsuitable(text) if text.contains("no visible block device")),
            "{target_error}"
        );
    }

    #[test]
    fn this_machine_is_read() {
        let mut sampler = Sampler::new(false);
        let (first, second) = (sampler.read().unwrap(), sampler.read().unwrap());
        for (before, after) in first.drives.iter().zip(&second.drives) {
            assert!(after.at > before.at && after.stat.since(&before.stat).is_some(), "{after:?}");
        }
        let started_at = sampler.now();
        sampler.wait(Nanos::NEVER, || sampler.now() < started_at + Nanos::from_millis(2));
    }

    /// A drive with two partitions; the second is encrypted, with a volume on it.
    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let block = root.path().join("class/block");
        let write = |name: &str, text: &str| {
            let path = block.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("sda/size", "4194304\n");
        write("sda/device/model", "Pocket\x1b[2J\n");
        write("sda/queue/iostats", "0\n");
        write("sda/queue/rotational", "1\n");
        for (part, sectors) in [("sda1", "2048"), ("sda2", "4192256")] {
            write(&format!("sda/{part}/partition"), "1\n");
            write(&format!("sda/{part}/size"), sectors);
        }
        let link = |from: &str, to: &str| {
            fs::create_dir_all(block.join(from).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(block.join(to), block.join(from)).unwrap();
        };
        link("sda/sda2/holders/dm-0", "dm-0");
        write("dm-0/dm/name", "luks\n");
        link("dm-0/slaves/sda2", "sda/sda2");
        link("dm-0/holders/dm-1", "dm-1");
        write("dm-1/dm/name", "home\n");
        write("dm-1/dev", "253:1\n");
        link("dm-1/slaves/dm-0", "dm-0");
        for part in ["sda1", "sda2"] {
            link(part, &format!("sda/{part}"));
        }
        root
    }

    #[test]
    fn a_stack_is_followed_from_any_of_its_layers() {
        let root = tree();
        let home = DeviceNumber { major: 253, minor: 1 };
        let uses = Uses { mounts: vec![(home, "/home".into())], swaps: vec![Store::Device(home)] };
        let expected = [(0, "sda"), (1, "sda1"), (1, "sda2"), (2, "dm-0"), (3, "dm-1")];
        for name in ["sda", "dm-1", "sda2"] {
            let facts = uses.facts(&device_in(root.path(), name));
            let stack: Vec<(u16, &str)> =
                facts.stack.iter().map(|layer| (layer.level, layer.name.as_str())).collect();
            assert_eq!(stack, expected, "{name}");
            assert_eq!(facts.used_by, ["/home", "swap"], "{name}");
        }
        let disk = uses.facts(&device_in(root.path(), "sda"));
        assert_eq!((disk.role, disk.capacity_bytes), (Role::Drive, 2 << 30));
        assert_eq!(disk.model.as_deref(), Some("Pocket?[2J"), "nothing that a terminal acts on");
        assert!(disk.caveats[0].contains("queue/iostats is 0"), "{:?}", disk.caveats);
        assert_eq!(disk.facts.last().unwrap(), &("rotating".to_owned(), "yes".to_owned()));
        let roles = ["sda1", "dm-0"].map(|name| uses.facts(&device_in(root.path(), name)).role);
        assert_eq!(roles, [Role::Partition, Role::Layer]);
    }

    #[test]
    fn an_answer_comes_and_grows_old() {
        let disk = tempfile::tempdir().unwrap();
        let clock = Monotonic::start();
        assert!(Thermometer::start(HealthSource::of_disk(disk.path()), clock).is_none());
        std::fs::create_dir_all(disk.path().join("device/hwmon1")).unwrap();
        std::fs::write(disk.path().join("device/hwmon1/temp1_input"), "41000\n").unwrap();
        let thermometer = Thermometer::start(HealthSource::of_disk(disk.path()), clock).unwrap();
        while thermometer.read(clock.now()).is_none() {
            clock.rest(clock.now() + Nanos::from_millis(1));
        }
        let now = clock.now();
        assert_eq!(thermometer.read(now), Some(41.0));
        assert_eq!(thermometer.read(now + STALE), None);
    }
}
