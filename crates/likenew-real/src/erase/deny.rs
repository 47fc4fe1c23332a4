//! Known problems of an action on a model or firmware, with sources: `deny.toml`.

use std::sync::LazyLock;

use likenew_core::feasibility::ActionKind;
use regex::Regex;
use serde::Deserialize;

/// How serious it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The action is never done.
    Deny,
    /// The user is warned first.
    Warn,
}

/// One entry that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenyMatch {
    /// How serious it is.
    pub level: Level,
    /// A reason: a sentence without a full stop.
    pub reason: &'static str,
    /// The source.
    pub source: &'static str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    entry: Vec<DenyEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DenyEntry {
    model: String,
    #[serde(default)]
    firmware: String,
    steps: Vec<ActionKind>,
    level: Level,
    reason: String,
    source: String,
}

struct Entry {
    model: Regex,
    firmware: Regex,
    written: DenyEntry,
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

/// Known problems of this action on a model with this firmware; an unknown firmware may be any.
pub fn matching_denials(action: ActionKind, model: &str, firmware: Option<&str>) -> Vec<DenyMatch> {
    // Models of SATA drives come with their bus for a maker where SCSI tells them.
    let model = model.trim().trim_start_matches("ATA ").trim_start();
    let fits = |entry: &&Entry| {
        entry.written.steps.contains(&action)
            && entry.model.is_match(model)
            && firmware.is_none_or(|firmware| entry.firmware.is_match(firmware.trim()))
    };
    let known = |entry: &'static Entry| DenyMatch {
        level: entry.written.level,
        reason: &entry.written.reason,
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
            assert!(!written.steps.is_empty() && !written.reason.ends_with('.'), "{}", written.reason);
        }
    }

    #[test]
    fn what_is_known_is_found_for_its_step_and_firmware_alone() {
        let levels = |action, model, firmware| {
            matching_denials(action, model, firmware).iter().map(|known| known.level).collect::<Vec<_>>()
        };
        use Level::{Deny, Warn};
        for (action, model, firmware, expected) in [
            (ActionKind::NvmeSanitize, "INTEL SSDPEKNW010T8", Some("002C"), &[Deny][..]),
            (ActionKind::NvmeFormat, "INTEL SSDPEKNW010T8", Some("002C"), &[]),
            (ActionKind::NvmeFormat, "INTEL SSDPEKKF256G8L", None, &[Deny]),
            (ActionKind::NvmeFormat, "INTEL SSDPEKKF512G8L", None, &[]),
            (ActionKind::NvmeFormat, "SAMSUNG MZVLV256HCHP-000L1", None, &[Warn]),
            (ActionKind::Discard, "ATA SuperSSpeed S238 128GB", None, &[Deny]),
            (ActionKind::Discard, "Samsung SSD 860 EVO 1TB", Some("RVT04B6Q"), &[Warn]),
            (ActionKind::Overwrite, "Samsung SSD 980 PRO 2TB", Some("3B2QGXA7"), &[Warn]),
            (ActionKind::Overwrite, "Samsung SSD 980 PRO 2TB", Some("5B2QGXA7"), &[]),
            (ActionKind::Overwrite, "Samsung SSD 980 PRO 2TB", None, &[Warn]),
            (ActionKind::Discard, "My Samsung SSD 860 EVO", None, &[]),
        ] {
            assert_eq!(levels(action, model, firmware), expected, "{action:?} {model} {firmware:?}");
        }
    }
}
