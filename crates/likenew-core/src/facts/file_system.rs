//! The file system of a folder or file, and who sends TRIM for it.

use serde::{Deserialize, Serialize};

use super::Fact;

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSystem {
    /// Where it is mounted.
    pub point: String,
    /// `ext4`, `btrfs` …
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub kind: Fact<String>,
    /// What it was mounted from.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub source: Fact<String>,
    /// Options of the mount and of the file system.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub options: Fact<Vec<String>>,
    /// Its size.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub total_bytes: Fact<u64>,
    /// Bytes in use.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub used_bytes: Fact<u64>,
    /// Bytes not in use.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub free_bytes: Fact<u64>,
    /// Free bytes that are reserved for root.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub reserved_bytes: Fact<u64>,
    /// How full it is, in percent of what an ordinary user could fill.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub used_percent: Fact<f64>,
    /// Whether it compresses what is written, so that a drive gets fewer bytes than programs write.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub compresses: Fact<bool>,
    /// Who sends TRIM to the drive.
    pub trimming: Trimming,
}

impl FileSystem {
    /// Whether an option is set, alone or with a value; unknown where the options are.
    pub fn has_option(&self, name: &str) -> Option<bool> {
        let is_it = |option: &String| {
            option.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        Some(self.options.value()?.iter().any(is_it))
    }
}

/// How TRIM is sent for a file system: by the mount itself, or by the timer that runs fstrim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trimming {
    /// Whether it is mounted with `discard`, so that it sends TRIM as soon as something is deleted.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub immediate: Fact<bool>,
    /// Whether there is a timer for fstrim.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub timer_present: Fact<bool>,
    /// Whether that timer starts with the system.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub timer_enabled: Fact<bool>,
    /// How long ago it last ran.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub timer_last_run_age_s: Fact<u64>,
    /// Whether the timer, when it runs, trims this file system.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub timer_covers: Fact<bool>,
    /// Why it does or does not: a sentence without a full stop.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub timer_coverage_reason: Fact<String>,
}

impl Trimming {
    /// Whether anything sends TRIM for this file system now and then, as far as known.
    pub fn is_sent(&self) -> Option<bool> {
        match (self.immediate.get(), self.timer_enabled.get(), self.timer_covers.get()) {
            (Some(true), ..) | (_, Some(true), Some(true)) => Some(true),
            (Some(false), Some(false), _) | (Some(false), _, Some(false)) => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trim_is_sent_by_the_mount_or_by_a_timer_that_covers_it() {
        let of = |immediate, enabled, covers| {
            let fact = |value: Option<bool>| Fact::from_option(value, "nobody says", "test");
            let (immediate, timer_enabled, timer_covers) = (fact(immediate), fact(enabled), fact(covers));
            Trimming { immediate, timer_enabled, timer_covers, ..Trimming::default() }.is_sent()
        };
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(of(yes, no, no), yes);
        assert_eq!(of(no, yes, yes), yes);
        assert_eq!(of(no, yes, no), no);
        assert_eq!(of(no, no, yes), no);
        assert_eq!(of(no, yes, None), None);
        assert_eq!(of(None, no, no), None);
    }

    #[test]
    fn an_option_is_known_by_its_whole_name() {
        let options = ["rw", "discard=async", "nodiscard2"].map(str::to_owned).to_vec();
        let system = FileSystem { options: Fact::new(options, "mountinfo"), ..FileSystem::default() };
        assert_eq!((system.has_option("discard"), system.has_option("nodiscard")), (Some(true), Some(false)));
        assert_eq!(FileSystem::default().has_option("rw"), None);
    }
}
