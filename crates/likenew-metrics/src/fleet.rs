//! Everything that metrics are made from.

use std::collections::BTreeMap;

use likenew_history::{DriveHistory, History, HistoryError, Page};

/// The drives of a history, as they were at their latest checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fleet {
    /// By machine and key: each drive once, in a fixed order.
    pub(crate) drives: BTreeMap<(String, String), DriveHistory>,
    /// Runs that cannot be read, by machine.
    pub(crate) damaged_runs: BTreeMap<String, usize>,
}

impl Fleet {
    /// Reads all drives of a history.
    ///
    /// # Errors
    /// The database fails.
    pub fn read(history: &mut History) -> Result<Self, HistoryError> {
        let mut fleet = Self::default();
        fleet.damaged_runs.insert(history.machine_of(history.archive_name()).to_owned(), 0);
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
