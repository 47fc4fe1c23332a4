//! What is known against doing something to a model or firmware, with its sources: `deny.toml`.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

/// Something that is done to a drive, or advised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Trimming what is free in mounted file systems.
    Fstrim,
    /// Discard of space outside of partitions.
    DiscardFree,
    /// Rewriting what is there, in place.
    Refresh,
    /// Filling free space of a file system.
    OverwriteFree,
    /// Discard of a whole device or partition.
    Discard,
    /// Writing all of it.
    Overwrite,
    /// Format NVM with an erase.
    NvmeFormat,
    /// NVMe's Sanitize.
    NvmeSanitize,
    /// SECURITY ERASE UNIT.
    AtaSecureErase,
    /// ATA's Sanitize.
    AtaSanitize,
}

impl Step {
    /// Whether the drive itself erases: such a command can not be ended, and what goes wrong in it may cost the drive.
    pub fn is_by_the_drive(self) -> bool {
        matches!(self, Self::NvmeFormat | Self::NvmeSanitize | Self::AtaSecureErase | Self::AtaSanitize)
    }

    /// Whether everything on the device is lost by it.
    pub fn destroys(self) -> bool {
        self.is_by_the_drive() || matches!(self, Self::Discard | Self::Overwrite)
    }
}

/// How much stands against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It is never done.
    Deny,
    /// It is said first.
    Warn,
}

/// One entry that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// How much stands against it.
    pub level: Level,
    /// A reason: a sentence without a full stop.
    pub why: &'static str,
    /// Where that is from.
    pub source: &'static str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    entry: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    model: String,
    #[serde(default)]
    firmware: String,
    steps: Vec<Step>,
    level: Level,
    why: String,
    source: String,
}

struct Entry {
    model: Regex,
    firmware: Regex,
    written: Written,
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("deny.toml")).expect("the list is read by a test");
    let from_start = |pattern: &str| Regex::new(&format!("^(?:{pattern})")).expect("so are its patterns");
    let entries = file.entry.into_iter();
    entries
        .map(|written| Entry {
            model: from_start(&written.model),
            firmware: from_start(&written.firmware),
            written,
        })
        .collect()
});

/// What is known against doing this to a model with this firmware; an unknown firmware may be any.
pub fn known_against(step: Step, model: &str, firmware: Option<&str>) -> Vec<Known> {
    // Models of SATA drives come with their bus for a maker where SCSI tells them.
    let model = model.trim().trim_start_matches("ATA ").trim_start();
    let fits = |entry: &&Entry| {
        entry.written.steps.contains(&step)
            && entry.model.is_match(model)
            && firmware.is_none_or(|firmware| entry.firmware.is_match(firmware.trim()))
    };
    let known = |entry: &'static Entry| Known {
        level: entry.written.level,
        why: &entry.written.why,
        source: &entry.written.source,
    };
    ENTRIES.iter().filter(fits).map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_can_be_read_and_has_a_source() {
        assert!(ENTRIES.len() >= 9);
        for Entry { written, .. } in ENTRIES.iter() {
            assert!(written.source.starts_with("https://"), "{}", written.source);
            assert!(!written.steps.is_empty() && !written.why.ends_with('.'), "{}", written.why);
        }
    }

    #[test]
    fn what_is_known_is_found_for_its_step_and_firmware_alone() {
        let levels = |step, model, firmware| {
            known_against(step, model, firmware).iter().map(|known| known.level).collect::<Vec<_>>()
        };
        use Level::{Deny, Warn};
        for (step, model, firmware, expected) in [
            (Step::NvmeSanitize, "INTEL SSDPEKNW010T8", Some("002C"), &[Deny][..]),
            (Step::NvmeFormat, "INTEL SSDPEKNW010T8", Some("002C"), &[]),
            (Step::NvmeFormat, "INTEL SSDPEKKF256G8L", None, &[Deny]),
            (Step::NvmeFormat, "INTEL SSDPEKKF512G8L", None, &[]),
            (Step::NvmeFormat, "SAMSUNG MZVLV256HCHP-000L1", None, &[Warn]),
            (Step::Discard, "ATA SuperSSpeed S238 128GB", None, &[Deny]),
            (Step::Discard, "Samsung SSD 860 EVO 1TB", Some("RVT04B6Q"), &[Warn]),
            (Step::Overwrite, "Samsung SSD 980 PRO 2TB", Some("3B2QGXA7"), &[Warn]),
            (Step::Overwrite, "Samsung SSD 980 PRO 2TB", Some("5B2QGXA7"), &[]),
            (Step::Overwrite, "Samsung SSD 980 PRO 2TB", None, &[Warn]),
            (Step::Discard, "My Samsung SSD 860 EVO", None, &[]),
        ] {
            assert_eq!(levels(step, model, firmware), expected, "{step:?} {model} {firmware:?}");
        }
    }
}
