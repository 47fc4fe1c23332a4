//! A drive without DRAM that received no host memory buffer.

use likenew_core::answer::Action;
use likenew_core::facts::DriveKind;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

use super::hard_disk_evidence;

/// The drive keeps its mapping table in flash, because it has no memory for it.
pub(super) struct NoHostMemory;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "host_memory",
    title: wording::host_memory::TITLE,
    summary: wording::host_memory::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::SlowOverWideSpan,
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("host_memory.md"),
};

impl Cause for NoHostMemory {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "spread_costs",
            case.measurements.wide_over_narrow,
            1.5,
            wording::host_memory::spread_costs,
            wording::host_memory::COMPARE_SPANS,
        );
        let memory = case.drive().and_then(|drive| drive.host_memory.as_ref());
        let least = memory.and_then(|memory| {
            Some(memory.given_bytes.get()? < memory.least_bytes.get().unwrap_or(1).max(1))
        });
        log_odds.add_fact(
            "memory_refused",
            memory.and_then(|memory| memory.is_refused()).or(least),
            wording::host_memory::memory_refused,
            wording::host_memory::ASK_DRIVE,
        );
        let is_nvme = case.drive().and_then(|drive| match drive.kind {
            DriveKind::Nvme => Some(true),
            DriveKind::Sata | DriveKind::Scsi | DriveKind::Usb | DriveKind::Card => Some(false),
            _ => drive.link.bus.value().map(|bus| bus == "PCIe"),
        });
        log_odds.add_fact("nvme", is_nvme, wording::host_memory::nvme, wording::SHOW_LINK);
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, wording::virtual_disk, Hint::NONE);
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::host_memory::allow()]
    }
}
