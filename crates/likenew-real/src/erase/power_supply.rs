//! Whether the machine's power lasts, as the kernel says (Documentation/ABI/testing/sysfs-class-power).

use std::fs;
use std::path::Path;

/// The machine's power source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerSupply {
    /// Mains, or it says that it is not discharging.
    Mains,
    /// A battery, which holds so many percent.
    Battery(u8),
    /// A battery that does not say how full it is.
    BatteryOfUnknownCharge,
    /// The kernel knows of no supply: most machines without a battery are so.
    Unlisted,
}

impl PowerSupply {
    /// Of this machine.
    pub fn now() -> Self {
        Self::listed_in(Path::new("/sys/class/power_supply"))
    }

    fn listed_in(folder: &Path) -> Self {
        let mut battery = Self::Unlisted;
        for supply in fs::read_dir(folder).into_iter().flatten().flatten() {
            let text = |name: &str| {
                let text = fs::read_to_string(supply.path().join(name)).unwrap_or_default();
                text.trim().to_owned()
            };
            // Mice and headsets have batteries, too.
            if text("scope") == "Device" {
                continue;
            }
            match (&*text("type"), &*text("online")) {
                ("Mains" | "USB" | "Wireless", "1" | "2") => return Self::Mains,
                ("Battery" | "UPS", _) => {
                    let charge = text("capacity").parse::<u8>().ok().filter(|percent| *percent <= 100);
                    // The emptiest of several decides.
                    battery = match (battery, charge) {
                        (Self::Battery(other), Some(percent)) => Self::Battery(percent.min(other)),
                        (Self::BatteryOfUnknownCharge, _) | (_, None) => Self::BatteryOfUnknownCharge,
                        (_, Some(percent)) => Self::Battery(percent),
                    };
                }
                _ => {}
            }
        }
        battery
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laptops_and_desktops_and_their_mice_are_distinguished() {
        let mains = [("type", "Mains"), ("online", "1")];
        let unplugged = [("type", "Mains"), ("online", "0")];
        let half = [("type", "Battery"), ("capacity", "55")];
        let low = [("type", "Battery"), ("capacity", "7")];
        let silent = [("type", "Battery"), ("status", "Unknown")];
        let mouse = [("type", "Battery"), ("capacity", "3"), ("scope", "Device")];
        for (supplies, expected) in [
            (&[][..], PowerSupply::Unlisted),
            (&[&mouse[..]], PowerSupply::Unlisted),
            (&[&mains, &low], PowerSupply::Mains),
            (&[&unplugged, &half, &mouse], PowerSupply::Battery(55)),
            (&[&half, &low], PowerSupply::Battery(7)),
            (&[&half, &silent], PowerSupply::BatteryOfUnknownCharge),
        ] {
            let root = tempfile::tempdir().unwrap();
            for (index, supply) in supplies.iter().enumerate() {
                let folder = root.path().join(index.to_string());
                fs::create_dir(&folder).unwrap();
                supply.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
            }
            assert_eq!(PowerSupply::listed_in(root.path()), expected);
        }
        assert_eq!(PowerSupply::listed_in(Path::new("/does/not/exist")), PowerSupply::Unlisted);
    }
}
