//! All drives while they are watched.

use std::collections::BTreeMap;

use likenew_core::findings::{Reading, Role};
use likenew_core::units::Nanos;

use crate::drive_history::DriveHistory;

/// How long a drive that was unplugged is shown as gone. Chosen: time enough to notice it.
const GONE_SHOWN_FOR: Nanos = Nanos::from_secs(60);

/// Which drives are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only these names; all if empty.
    pub names: Vec<String>,
    /// Also idle devices that are not drives: loop devices, RAM disks, slots without a medium.
    pub all: bool,
    /// Partitions as well.
    pub partitions: bool,
}

/// Every drive and what it did.
#[derive(Clone, Debug, Default)]
pub struct Drives {
    at: Nanos,
    started_at: Option<Nanos>,
    histories: BTreeMap<(String, usize, String), DriveHistory>,
}

impl Drives {
    /// The next reading.
    pub fn take(&mut self, reading: Reading) {
        self.at = reading.at;
        self.started_at.get_or_insert(reading.at);
        let mut missing: Vec<_> = self.histories.keys().cloned().collect();
        for drive in reading.drives {
            let key = key(&drive.name);
            missing.retain(|other| *other != key);
            match self.histories.get_mut(&key) {
                Some(history) => history.take(drive),
                None => drop(self.histories.insert(key, DriveHistory::new(drive))),
            }
        }
        for key in missing {
            self.histories.get_mut(&key).expect("the key is one of them").miss(reading.at);
        }
        let at = self.at;
        self.histories
            .retain(|_, history| history.gone_since().is_none_or(|since| at.since(since) < GONE_SHOWN_FOR));
    }

    /// Those in a scope, in the order of their names.
    pub fn in_scope(&self, scope: &Scope) -> impl Iterator<Item = &DriveHistory> {
        self.histories.values().filter(|history| {
            if !scope.names.is_empty() {
                return scope.names.iter().any(|name| name == history.name());
            }
            let is_part = history.facts().role == Role::Partition;
            (!is_part || scope.partitions) && (scope.all || history.is_visible())
        })
    }

    /// The one of this name.
    pub fn by_name(&self, name: &str) -> Option<&DriveHistory> {
        self.histories.get(&key(name))
    }

    /// When the last reading was taken, on the reader's clock.
    pub fn at(&self) -> Nanos {
        self.at
    }

    /// How long they have been watched.
    pub fn watch_time(&self) -> Nanos {
        self.started_at.map_or(Nanos::ZERO, |started_at| self.at.since(started_at))
    }
}

/// Puts `sdb` before `sdaa` and `dm-2` before `dm-10`, and kinds of drives together.
fn key(name: &str) -> (String, usize, String) {
    (name.chars().take(2).collect(), name.len(), name.to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use likenew_core::findings::{DriveFacts, DriveReading};
    use likenew_core::stat::{OpStat, Stat};

    use super::*;
    use crate::drive_history::State;

    /// A drive's reading at so many milliseconds, with the fields of its stat file.
    pub(crate) fn reading(name: &str, instance: u64, at_ms: u64, line: &str) -> DriveReading {
        let field: Vec<u64> = line.split(' ').map(|text| text.parse().unwrap()).collect();
        let op = |at: usize| OpStat {
            ios: field[at],
            merged: field[at + 1],
            sectors: field[at + 2],
            ms: field[at + 3],
        };
        let stat = Stat {
            read: op(0),
            write: op(4),
            discard: (field.len() > 11).then(|| op(11)),
            flush: None,
            in_flight: field[8],
            busy_ms: field[9],
            weighted_ms: field[10],
        };
        let role = match name {
            name if name.starts_with("loop") => Role::Virtual,
            name if name.ends_with("p1") => Role::Partition,
            _ => Role::Drive,
        };
        let facts = DriveFacts {
            path: format!("/dev/{name}"),
            role,
            capacity_bytes: 1 << 40,
            ..DriveFacts::default()
        };
        DriveReading {
            name: name.into(),
            instance,
            at: Nanos::from_millis(at_ms),
            stat,
            in_flight: None,
            temperature_c: None,
            facts: Arc::new(facts),
        }
    }

    pub(crate) fn at(ms: u64, drives: Vec<DriveReading>) -> Reading {
        Reading { at: Nanos::from_millis(ms), drives }
    }

    const IDLE: &str = "0 0 0 0 0 0 0 0 0 0 0";

    fn names(drives: &Drives, scope: &Scope) -> Vec<String> {
        drives.in_scope(scope).map(|history| history.name().to_owned()).collect()
    }

    #[test]
    fn idle_stand_ins_and_partitions_are_shown_when_asked_for() {
        let mut drives = Drives::default();
        let all =
            |ms| ["sdaa", "sdb", "loop10", "loop2", "sdbp1"].map(|name| reading(name, 1, ms, IDLE)).to_vec();
        drives.take(at(0, all(0)));
        assert_eq!(names(&drives, &Scope::default()), ["sdb", "sdaa"]);
        let mut next = all(1000);
        next[2] = reading("loop10", 1, 1000, "1 0 8 0 0 0 0 0 0 0 0");
        drives.take(at(1000, next));
        drives.take(at(2000, all(2000)));
        assert_eq!(names(&drives, &Scope::default()), ["loop10", "sdb", "sdaa"], "it has had I/O");
        let every = Scope { all: true, partitions: true, ..Scope::default() };
        assert_eq!(names(&drives, &every), ["loop2", "loop10", "sdb", "sdaa", "sdbp1"]);
        let partition = Scope { names: vec!["sdbp1".into()], ..Scope::default() };
        assert_eq!(names(&drives, &partition), ["sdbp1"]);
    }

    #[test]
    fn a_drive_that_is_pulled_and_put_back_has_no_rates_across_the_gap() {
        let mut drives = Drives::default();
        let state = |drives: &Drives| {
            drives.by_name("sda").map(|history| (history.state(), history.activity().is_some()))
        };
        drives.take(at(0, vec![reading("sda", 1, 0, "9 0 0 0 0 0 0 0 0 0 0")]));
        assert_eq!(state(&drives), Some((State::Appeared, false)));
        drives.take(at(1000, vec![reading("sda", 1, 1000, "10 0 0 0 0 0 0 0 0 0 0")]));
        assert_eq!(state(&drives), Some((State::IntervalCounts, true)));
        drives.take(at(2000, vec![]));
        assert_eq!(state(&drives), Some((State::Gone, false)));
        assert!(drives.by_name("sda").unwrap().is_news());
        drives.take(at(2500, vec![]));
        assert!(!drives.by_name("sda").unwrap().is_news(), "it goes only once");
        drives.take(at(3000, vec![reading("sda", 1, 3000, "11 0 0 0 0 0 0 0 0 0 0")]));
        assert_eq!(state(&drives), Some((State::Appeared, false)));
        drives.take(at(4000, vec![reading("sda", 2, 4000, "1 0 0 0 0 0 0 0 0 0 0")]));
        assert_eq!(state(&drives), Some((State::Restarted, false)));
        drives.take(at(5000, vec![]));
        drives.take(at(70_000, vec![]));
        assert_eq!(state(&drives), None, "gone for good");
        assert_eq!(drives.watch_time(), Nanos::from_secs(70));
    }

    #[test]
    fn the_past_does_not_grow() {
        let mut drives = Drives::default();
        for second in 0..1000 {
            drives.take(at(second * 1000, vec![reading("sda", 1, second * 1000, IDLE)]));
        }
        assert_eq!(drives.by_name("sda").unwrap().past().len(), DriveHistory::HISTORY_MAX);
    }
}
