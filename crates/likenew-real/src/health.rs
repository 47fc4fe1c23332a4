//! What the system knows about a drive's state without any command to the drive.

use std::fs;
use std::path::{Path, PathBuf};

use likenew_core::target::Health;

/// Where a disk's temperature can be read, if anywhere: the hardware monitor that its driver offers (nvme, drivetemp).
#[derive(Clone, Debug, Default)]
pub(crate) struct HealthSource {
    temperature: Option<PathBuf>,
}

impl HealthSource {
    /// Looks below a disk's folder in /sys/block.
    pub(crate) fn of_disk(disk: &Path) -> Self {
        // NVMe: device/hwmon3 (a child of the controller) · SATA with drivetemp: device/hwmon/hwmon3.
        let monitors = [disk.join("device"), disk.join("device/hwmon"), disk.join("device/device/hwmon")];
        let inputs = monitors.iter().flat_map(fs::read_dir).flatten().flatten().map(|entry| entry.path());
        let is_monitor = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"hwmon"))
        };
        let temperature =
            inputs.filter(is_monitor).map(|path| path.join("temp1_input")).find(|path| path.exists());
        Self { temperature }
    }

    /// Whether there is a temperature to be read.
    pub(crate) fn has_temperature(&self) -> bool {
        self.temperature.is_some()
    }

    /// What is known now.
    pub(crate) fn read(&self) -> Health {
        let millidegrees = self.temperature.as_ref().and_then(|path| fs::read_to_string(path).ok());
        let temperature_c = millidegrees
            .and_then(|text| text.trim().parse::<f64>().ok())
            .and_then(|millidegrees| plausible_c(millidegrees / 1e3));
        Health { temperature_c, ..Health::default() }
    }
}

/// Degrees that a drive can have. Volumes of RAID controllers, bridges and drives without a sensor say 0, -1,
/// 127, 255 or absolute zero.
pub(crate) fn plausible_c(degrees: f64) -> Option<f64> {
    let is_measured = degrees.abs() >= 0.5 && degrees != -1.0 && (-60.0..=125.0).contains(&degrees);
    is_measured.then_some(degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temperature_is_found_where_drivers_put_it() {
        for place in ["device/hwmon3", "device/hwmon/hwmon3"] {
            let disk = tempfile::tempdir().unwrap();
            let monitor = disk.path().join(place);
            fs::create_dir_all(&monitor).unwrap();
            assert_eq!(HealthSource::of_disk(disk.path()).read(), Health::default());
            fs::write(monitor.join("temp1_input"), "38850\n").unwrap();
            let source = HealthSource::of_disk(disk.path());
            assert_eq!(source.read().temperature_c, Some(38.85));
            fs::write(monitor.join("temp1_input"), "nonsense").unwrap();
            assert_eq!(source.read().temperature_c, None);
        }
    }

    #[test]
    fn what_stands_for_no_temperature_is_none() {
        for degrees in [0.0, -1.0, -0.001, 127.0, 128.0, -128.0, 255.0, -273.0, 65_262.0, f64::NAN] {
            assert_eq!(plausible_c(degrees), None, "{degrees}");
        }
        assert_eq!([-20.0, 1.0, 38.85, 125.0].map(plausible_c), [-20.0, 1.0, 38.85, 125.0].map(Some));
    }
}
