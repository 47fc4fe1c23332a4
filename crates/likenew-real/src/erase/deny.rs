//! What is known against doing something to a model or firmware, with its sources: `deny.toml`.

use std::sync::LazyLock;

use likenew_core::outlook::Deed;
use regex::Regex;
use serde::Deserialize;

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
    steps: Vec<Deed>,
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
pub fn known_against(deed: Deed, model: &str, firmware: Option<&str>) -> Vec<Known> {
    // Models of SATA drives come with their bus for a maker where SCSI tells them.
    let model = model.trim().trim_start_matches("ATA ").trim_start();
    let fits = |entry: &&Entry| {
        entry.written.steps.contains(&deed)
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
        let levels = |deed, model, firmware| {
            known_against(deed, model, firmware).iter().map(|known| known.level).collect::<Vec<_>>()
        };
        use Level::{Deny, Warn};
        for (deed, model, firmware, expected) in [
            (Deed::NvmeSanitize, "INTEL SSDPEKNW010T8", Some("002C"), &[Deny][..]),
            (Deed::NvmeFormat, "INTEL SSDPEKNW010T8", Some("002C"), &[]),
            (Deed::NvmeFormat, "INTEL SSDPEKKF256G8L", None, &[Deny]),
            (Deed::NvmeFormat, "INTEL SSDPEKKF512G8L", None, &[]),
            (Deed::NvmeFormat, "SAMSUNG MZVLV256HCHP-000L1", None, &[Warn]),
            (Deed::Discard, "ATA SuperSSpeed S238 128GB", None, &[Deny]),
            (Deed::Discard, "Samsung SSD 860 EVO 1TB", Some("RVT04B6Q"), &[Warn]),
            (Deed::Overwrite, "Samsung SSD 980 PRO 2TB", Some("3B2QGXA7"), &[Warn]),
            (Deed::Overwrite, "Samsung SSD 980 PRO 2TB", Some("5B2QGXA7"), &[]),
            (Deed::Overwrite, "Samsung SSD 980 PRO 2TB", None, &[Warn]),
            (Deed::Discard, "My Samsung SSD 860 EVO", None, &[]),
        ] {
            assert_eq!(levels(deed, model, firmware), expected, "{deed:?} {model} {firmware:?}");
        }
    }
}
