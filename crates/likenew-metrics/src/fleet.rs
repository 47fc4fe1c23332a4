//! Everything that metrics are made from.

use std::collections::BTreeMap;

use likenew_history::{DriveHistory, History, HistoryError, Page};

/// Paths below it hold serial numbers.
const BY_ID: &str = "/dev/disk/by-id";

/// The drives of a history, as they were at their latest checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fleet {
    /// By machine and key: each drive once, in a fixed order.
    pub(crate) drives: BTreeMap<(String, String), DriveHistory>,
    /// Runs that cannot be read, by machine.
    pub(crate) damaged_runs: BTreeMap<String, usize>,
    /// This machine.
    pub(crate) host: String,
    /// By the target, as its label has it: why it could not be checked, or that it was.
    pub(crate) attempts: BTreeMap<String, Option<String>>,
}

/// A target that this command was to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// As it was named.
    pub target: String,
    /// Why it could not be checked.
    pub reason: Option<String>,
}

impl Fleet {
    /// Reads all drives of a history.
    ///
    /// # Errors
    /// The database fails.
    pub fn read(history: &mut History) -> Result<Self, HistoryError> {
        let host = history.machine_of(history.archive_name()).to_owned();
        let damaged_runs = BTreeMap::from([(host.clone(), 0)]);
        let mut fleet = Self { host, damaged_runs, ..Self::default() };
        for row in history.drives(Page { offset: 0, rows: u32::MAX })? {
            let machine = history.machine_of(&row.archive).to_owned();
            let checks = history.checks(&row)?;
            fleet.add(machine, DriveHistory::new(row, checks));
        }
        for run in history.damaged()? {
            *fleet.damaged_runs.entry(history.machine_of(&run.archive).to_owned()).or_default() += 1;
        }
        Ok(fleet)
    }

    /// Adds what became of the checks of one command on this machine.
    #[must_use]
    pub fn with_attempts(mut self, attempts: &[Attempt]) -> Self {
        for Attempt { target, reason } in attempts {
            let device = device(target);
            let reason = reason.as_ref().map(|reason| reason.replace(target, &device));
            // Names below by-id have one label; one that failed stands for all of them.
            let known = self.attempts.entry(device).or_default();
            *known = known.take().or(reason);
        }
        self
    }

    /// Two users of a machine may each have checked the same drive: then the later check counts.
    fn add(&mut self, machine: String, drive: DriveHistory) {
        let date = |drive: &DriveHistory| drive.checks.last().map(|check| check.run.started_at.clone());
        self.damaged_runs.entry(machine.clone()).or_default();
        let place = (machine, drive.drive.key.clone());
        if self.drives.get(&place).is_none_or(|known| date(known) < date(&drive)) {
            self.drives.insert(place, drive);
        }
    }

    /// From drives with their machines, and damaged runs of machines.
    pub fn new(
        drives: impl IntoIterator<Item = (String, DriveHistory)>,
        damaged_runs: impl IntoIterator<Item = (String, usize)>,
    ) -> Self {
        let mut fleet = Self::default();
        drives.into_iter().for_each(|(machine, drive)| fleet.add(machine, drive));
        fleet.damaged_runs.extend(damaged_runs);
        fleet
    }
}

/// The target as it was named, without a serial number.
pub(crate) fn device(target: &str) -> String {
    if target.starts_with(BY_ID) { BY_ID.to_owned() } else { target.to_owned() }
}
