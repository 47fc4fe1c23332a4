//! A slow region of a disk: addresses at a fixed place that are read only after some retries.

use crate::disk::disk_parameters::DiskParameters;
use crate::faults::drive_faults::DriveFaults;

/// Where it begins, in percent of the addresses.
const AT_PERCENT: u64 = 40;
/// Retries after which a disk fails a read, one turn each (assumed: error recovery of a few tenths of a
/// second).
const RETRIES_MAX: u32 = 40;

/// The faults of a disk with this share of the addresses in a slow region. What its file says of retries
/// applies to all of it.
pub(crate) fn with_slow_region(
    faults: Option<DriveFaults>,
    disk: &DiskParameters,
    capacity_bytes: u64,
    share: f64,
) -> DriveFaults {
    let mut faults = faults.unwrap_or_default();
    let sector = u64::from(disk.platters.sector_bytes);
    let start = capacity_bytes / 100 * AT_PERCENT / sector * sector;
    let bytes = ((capacity_bytes as f64 * share) as u64 / sector * sector).max(sector);
    if faults.slow.is_empty() && faults.unreadable.is_empty() {
        (faults.retry, faults.retries_max) = (disk.platters.revolution, RETRIES_MAX);
    }
    faults.slow.push(start..(start + bytes).min(capacity_bytes));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mechanism;

    #[test]
    fn a_share_of_the_addresses_takes_turns() {
        let entry = crate::catalog().iter().find(|entry| entry.name == "wd6400aaks").unwrap();
        let Mechanism::Disk(disk) = entry.model.mechanism else { panic!("it is a disk") };
        let faults = with_slow_region(None, &disk, 100_000_000_000, 0.01);
        assert_eq!((faults.retry, faults.retries_max), (disk.platters.revolution, 40));
        let [zone] = &faults.slow[..] else { panic!("one zone") };
        assert_eq!((zone.start, zone.end - zone.start), (40_000_000_000, 1_000_000_000));
        assert!(with_slow_region(Some(faults), &disk, 1_000_000, 0.0).slow.len() == 2);
    }
}
