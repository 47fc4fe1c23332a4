//! Reads the kernel's counters of every block device, again and again.
//!
//! Nothing here sends a command to a drive, except for its temperature, and nothing waits for one: a drive
//! that hangs is still shown.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use likenew_core::lab_error::LabError;
use likenew_core::reading::{DriveFacts, DriveReading, Reading};
use likenew_core::units::Nanos;

use crate::block::BlockDevice;
use crate::clock::Monotonic;
use crate::device_number::DeviceNumber;
use crate::drive_facts::{Devices, Uses};
use crate::health::HealthSource;
use crate::mounts::Mount;
use crate::stat;
use crate::thermometer::Thermometer;
use crate::wording::action;
use crate::wording::record as wording;

/// How often mounts, sizes and stacks are read again. Chosen: they seldom change, and reading them costs more
/// than the counters.
const FACTS_EVERY: Nanos = Nanos::from_secs(5);
/// A signal is noticed within this time, however long a wait is. Chosen: a delay of 100 ms is not felt.
const SLICE: Nanos = Nanos::from_millis(100);
/// No file that is read here is longer.
const LINE_MAX: usize = 512;

/// Reads all counters whenever it is asked to.
#[derive(Debug)]
pub struct Sampler {
    sys: PathBuf,
    clock: Monotonic,
    temperatures: bool,
    devices: BTreeMap<String, KnownDevice>,
    /// Names and instances of all disks when their facts were read.
    disks: Vec<(String, u64)>,
    facts_due: Nanos,
}

/// The state of a device between two readings.
#[derive(Debug)]
struct KnownDevice {
    /// Its folder in /sys.
    folder: PathBuf,
    instance: u64,
    facts: Arc<DriveFacts>,
    thermometer: Option<Thermometer>,
}

impl Sampler {
    /// Of this machine. Its clock starts now. Without `temperatures` no drive is asked for anything.
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

    /// Waits until `until`, or for as long as `goes_on` says so.
    pub fn wait(&self, until: Nanos, goes_on: impl Fn() -> bool) {
        while goes_on() && self.now() < until {
            self.clock.rest(until.min(self.now() + SLICE));
        }
    }

    /// Reads the counters of every drive and partition there is now.
    ///
    /// # Errors
    /// The system does not list its block devices.
    pub fn read(&mut self) -> Result<Reading, LabError> {
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
    /// `LabError::Unsuitable`: there is no such drive, or the named file is on none.
    pub fn find(&self, text: &str) -> Result<String, LabError> {
        if !text.contains('/') && !text.starts_with('.') && self.sys.join("class/block").join(text).exists() {
            return Ok(text.to_owned());
        }
        let path = Path::new(text);
        let unknown = |error: std::io::Error| {
            let names: Vec<String> = self.names().unwrap_or_default();
            LabError::Unsuitable(wording::no_such_drive(text, &error, &names))
        };
        fs::metadata(path).map_err(unknown)?;
        let device = match DeviceNumber::at(path) {
            Some(number) => BlockDevice::by_number(number),
            None => device_below(path)?,
        };
        device.map(|device| device.name()).ok_or_else(|| LabError::Unsuitable(wording::not_counted(text)))
    }

    fn names(&self) -> Result<Vec<String>, LabError> {
        let folder = self.sys.join("block");
        let list =
            fs::read_dir(&folder).map_err(LabError::system(action::list_devices_in(folder.display())))?;
        let mut names: Vec<String> =
            list.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    /// Follows devices that come and go, and reads their facts when that is due.
    fn find_devices(&mut self, now: Nanos) -> Result<(), LabError> {
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
        let devices = Devices { sys: &self.sys, uses: &uses };
        let mut before = std::mem::take(&mut self.devices);
        for (name, instance) in &disks {
            let (disk, instance) = (devices.device(name), *instance);
            // One of several ways to a drive, which the kernel counts under the drive's own name.
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
                let facts = Arc::new(devices.facts(&device));
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
    let stat = stat::parse(text)?;
    // Idle drives, most of the time most of them, are not asked what is in flight.
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

/// The device below a file or folder.
fn device_below(path: &Path) -> Result<Option<BlockDevice>, LabError> {
    let open = File::open(path).map_err(LabError::system(action::look_at(path.display())))?;
    let Some(mount) = Mount::containing(open) else { return Ok(None) };
    let by_source = || DeviceNumber::at(Path::new(&mount.source)).and_then(BlockDevice::by_number);
    Ok(BlockDevice::by_number(mount.device).or_else(by_source))
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
        let lab_error = sampler.find("/proc").unwrap_err();
        assert!(
            matches!(&lab_error, LabError::Unsuitable(text) if text.contains("no visible block device")),
            "{lab_error}"
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
}
