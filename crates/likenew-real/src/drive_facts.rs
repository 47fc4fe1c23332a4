//! Facts about a device from /sys and /proc that seldom change, for watching it.

use std::path::Path;

use likenew_core::reading::{DriveFacts, Layer, Role};
use likenew_core::units::amount;

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::loop_device::Store;
use crate::mounts::Mount;
use crate::standards::bytes::clean;
use crate::swaps::swaps;
use crate::wording::record as wording;

/// Layers at most: a deeper stack would be a bug.
const LEVELS_MAX: u16 = 16;

/// What is mounted and swapped to, read once for all devices.
pub(crate) struct Uses {
    mounts: Vec<(DeviceNumber, String)>,
    swaps: Vec<Store>,
}

impl Uses {
    /// As it is now.
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
}

/// Devices by their names, below one root of /sys.
pub(crate) struct Devices<'a> {
    pub(crate) sys: &'a Path,
    pub(crate) uses: &'a Uses,
}

impl Devices<'_> {
    /// The device of this name.
    pub(crate) fn device(&self, name: &str) -> BlockDevice {
        let link = self.sys.join("class/block").join(name);
        BlockDevice::at(std::fs::canonicalize(&link).unwrap_or(link))
    }

    /// Everything about it.
    pub(crate) fn facts(&self, device: &BlockDevice) -> DriveFacts {
        let disk = device.disk();
        let mut facts = DriveFacts {
            path: format!("/dev/{}", device.name().replace('!', "/")),
            role: role(device),
            model: model(device),
            capacity_bytes: capacity(device),
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

    /// Uses of the device, of its partitions and of everything on them.
    fn add_uses(&self, device: &BlockDevice, level: u16, uses: &mut Vec<String>) {
        uses.extend(self.uses.uses_of(device));
        if level < LEVELS_MAX {
            self.devices_above(device).iter().for_each(|above| self.add_uses(above, level + 1, uses));
        }
        if level == 0 {
            uses.dedup();
        }
    }

    fn devices_above(&self, device: &BlockDevice) -> Vec<BlockDevice> {
        let mut above = device.partitions();
        above.sort_by_key(|part| (part.name().len(), part.name()));
        above.extend(device.holders().iter().map(|name| self.device(name)));
        above
    }

    /// From the drives at the bottom to everything above them.
    fn stack(&self, device: &BlockDevice) -> Vec<Layer> {
        let mut stack = Vec::new();
        let mut bottoms = Vec::new();
        self.add_bottoms(device, 0, &mut bottoms);
        for bottom in bottoms {
            self.add_layer(&bottom, 0, &mut stack);
        }
        stack
    }

    fn add_bottoms(&self, device: &BlockDevice, level: u16, bottoms: &mut Vec<BlockDevice>) {
        let disk = device.disk();
        let below = disk.slaves();
        if level == LEVELS_MAX || below.is_empty() {
            if !bottoms.iter().any(|bottom| bottom.folder() == disk.folder()) {
                bottoms.push(disk);
            }
            return;
        }
        below.iter().for_each(|name| self.add_bottoms(&self.device(name), level + 1, bottoms));
    }

    fn add_layer(&self, device: &BlockDevice, level: u16, stack: &mut Vec<Layer>) {
        let words = [Some(amount(capacity(device))), model(device)];
        let words =
            words.into_iter().flatten().chain(self.uses.uses_of(device)).collect::<Vec<_>>().join("  ");
        stack.push(Layer { level, name: device.name(), words });
        if level < LEVELS_MAX {
            self.devices_above(device).iter().for_each(|above| self.add_layer(above, level + 1, stack));
        }
    }
}

fn capacity(device: &BlockDevice) -> u64 {
    // /sys counts in sectors of 512 bytes, whatever the device's own are.
    device.attribute("size").and_then(|sectors| sectors.parse::<u64>().ok()).unwrap_or(0).saturating_mul(512)
}

fn role(device: &BlockDevice) -> Role {
    let name = device.name();
    let stands = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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
        fs::create_dir_all(block.join("sda/sda2/holders/dm-0")).unwrap();
        write("dm-0/dm/name", "luks\n");
        fs::create_dir_all(block.join("dm-0/slaves/sda2")).unwrap();
        fs::create_dir_all(block.join("dm-0/holders/dm-1")).unwrap();
        write("dm-1/dm/name", "home\n");
        write("dm-1/dev", "253:1\n");
        fs::create_dir_all(block.join("dm-1/slaves/dm-0")).unwrap();
        for part in ["sda1", "sda2"] {
            std::os::unix::fs::symlink(block.join("sda").join(part), block.join(part)).unwrap();
        }
        root
    }

    #[test]
    fn a_stack_is_followed_from_any_of_its_layers() {
        let root = tree();
        let home = DeviceNumber { major: 253, minor: 1 };
        let uses = Uses { mounts: vec![(home, "/home".into())], swaps: vec![Store::Device(home)] };
        let devices = Devices { sys: root.path(), uses: &uses };
        let expected = [(0, "sda"), (1, "sda1"), (1, "sda2"), (2, "dm-0"), (3, "dm-1")];
        for name in ["sda", "dm-1", "sda2"] {
            let facts = devices.facts(&devices.device(name));
            let stack: Vec<(u16, &str)> =
                facts.stack.iter().map(|layer| (layer.level, layer.name.as_str())).collect();
            assert_eq!(stack, expected, "{name}");
            assert_eq!(facts.used_by, ["/home", "swap"], "{name}");
        }
        let disk = devices.facts(&devices.device("sda"));
        assert_eq!((disk.role, disk.capacity_bytes), (Role::Drive, 2 << 30));
        assert_eq!(disk.model.as_deref(), Some("Pocket?[2J"), "nothing that a terminal acts on");
        assert!(disk.caveats[0].contains("queue/iostats is 0"), "{:?}", disk.caveats);
        assert_eq!(disk.facts.last().unwrap(), &("rotating".to_owned(), "yes".to_owned()));
        let roles = ["sda1", "dm-0"].map(|name| devices.facts(&devices.device(name)).role);
        assert_eq!(roles, [Role::Partition, Role::Layer]);
    }
}
