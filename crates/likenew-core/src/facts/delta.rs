//! What changed between two collections of facts: before a phase of a measurement and after it.

use serde::{Deserialize, Serialize};

use super::log::LogLine;
use super::{Counts, Drive, Fact, Facts};

/// Differences, drive by drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FactsDelta {
    /// The drives that both collections know, in the order of the later one.
    pub drives: Vec<DriveDelta>,
}

/// What changed at one drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriveDelta {
    /// The kernel's name.
    pub name: String,
    /// What was counted in between, I/O of all programs included.
    pub counts: Counts,
    /// Temperature before.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub temperature_before_c: Fact<f64>,
    /// Temperature after.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub temperature_after_c: Fact<f64>,
    /// What the link could carry before.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub ceiling_before_bytes_per_s: Fact<u64>,
    /// What it can carry after; a link that saves power may have been slower before.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub ceiling_after_bytes_per_s: Fact<u64>,
    /// New lines of the kernel's log.
    pub log: Vec<LogLine>,
}

impl Facts {
    /// What changed since earlier facts of the same target. A drive that only one of them knows is left out.
    pub fn since(&self, before: &Self) -> FactsDelta {
        let drives = self.drives.iter().filter_map(|after| {
            let earlier = before.drives.iter().find(|drive| drive.name == after.name)?;
            Some(DriveDelta::from_drives(earlier, after))
        });
        FactsDelta { drives: drives.collect() }
    }
}

impl DriveDelta {
    fn from_drives(before: &Drive, after: &Drive) -> Self {
        let lines = |drive: &Drive| drive.log.lines.value().cloned().unwrap_or_default();
        let old = lines(before);
        let log = match before.log.lines {
            // Without a log before, which of the lines are new is not known.
            Fact::Value { .. } => lines(after).into_iter().filter(|line| !old.contains(line)).collect(),
            _ => Vec::new(),
        };
        Self {
            name: after.name.clone(),
            counts: after.counts.since(&before.counts),
            temperature_before_c: before.health.temperature_c.clone(),
            temperature_after_c: after.health.temperature_c.clone(),
            ceiling_before_bytes_per_s: before.link.ceiling_bytes_per_s.clone(),
            ceiling_after_bytes_per_s: after.link.ceiling_bytes_per_s.clone(),
            log,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::log::LogKind;

    fn facts(name: &str, throttled: u64, log: &[&str]) -> Facts {
        let line = |text: &&str| LogLine { at_s: 1.0, kind: LogKind::Heat, text: (*text).to_owned() };
        let mut drive = Drive { name: name.into(), ..Drive::default() };
        drive.counts.throttled_light_s = Fact::new(throttled, "SMART log");
        drive.log.lines = Fact::new(log.iter().map(line).collect(), "/dev/kmsg");
        Facts { drives: vec![drive], ..Facts::default() }
    }

    #[test]
    fn a_phase_has_what_was_counted_and_logged_in_it() {
        let since = facts("nvme0n1", 30, &["a", "b"]).since(&facts("nvme0n1", 10, &["a"]));
        let [drive] = &since.drives[..] else { panic!("one drive") };
        assert_eq!(drive.counts.throttled_light_s.get(), Some(20));
        assert_eq!(drive.log.iter().map(|line| &*line.text).collect::<Vec<_>>(), ["b"]);
        assert_eq!(facts("sda", 1, &[]).since(&facts("sdb", 1, &[])), FactsDelta::default());
    }
}
