//! How much the drive holds, from probes and whole passes.

use likenew_core::damage::Kind;
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use serde::Serialize;

use super::device_wrap::{DeviceWrap, device_wrap};
use super::narrowing::ProbeSummary;
use super::task::Task;
use super::workload_plan::WorkloadPlan;

/// The row of the table `capacity`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Capacity {
    /// The capacity that the target reports.
    pub(super) announced_bytes: u64,
    /// Bytes from the first address that were written completely and read back.
    pub(super) read_back_bytes: u64,
    /// Of those, bytes that read back as written.
    pub(super) intact_bytes: u64,
    /// Of those, bytes that read back wrong.
    pub(super) damaged_bytes: u64,
    /// Lower bound of the capacity.
    pub(super) holds_at_least_bytes: u64,
    /// Upper bound of the capacity, if one was found.
    pub(super) holds_at_most_bytes: Option<u64>,
    /// Size at which addresses wrap around, if they do: the target's own, or those of the device below its
    /// file system.
    pub(super) wraps_at_bytes: Option<u64>,
    /// The evidence for that from the device below the file system.
    #[serde(skip)]
    pub(super) device_wrap: Option<DeviceWrap>,
}

impl Capacity {
    /// From everything that was found.
    pub(super) fn from_evidence(workload_plan: &WorkloadPlan<'_>, evidence: &Evidence) -> Self {
        let searched =
            workload_plan.history.iter().any(|(task, _)| task.is_probe()) && !workload_plan.layout.is_folder;
        let known = if searched {
            ProbeSummary::from_probes(&workload_plan.layout, &workload_plan.history)
        } else {
            ProbeSummary::default()
        };
        let last_read = workload_plan.last_read();
        let passed = workload_plan.reads().next().is_some();
        let (mut checked, mut damaged, mut lost) = (0, 0, 0);
        for (_, damage) in last_read.iter().filter(|_| passed) {
            checked += damage.checked_bytes;
            damaged += damage.bytes();
            lost += damage.bytes() - damage.bytes_of(Kind::Wrong);
        }
        let intact = checked - damaged;
        let whole = checked == workload_plan.layout.span && !workload_plan.layout.is_folder;
        let by_extents = WorkloadPlan::extents(evidence).map(|map| device_wrap(map, &last_read));
        let own_addresses = known.wraps_at.or_else(|| wrapped_in_passes(workload_plan));
        let wraps = match by_extents {
            Some(by_extents) => by_extents.map(|wrap| wrap.at),
            None if workload_plan.layout.is_folder => None,
            // A drive that holds more does not wrap around there.
            None => own_addresses.filter(|wrap| intact <= *wrap),
        };
        let limits = [wraps, known.absent_from, (whole && lost > 0).then(|| checked - lost)];
        let at_most = limits.into_iter().flatten().min();
        let at_least = intact.max(known.present_until);
        Self {
            announced_bytes: evidence.geometry.capacity,
            read_back_bytes: checked,
            intact_bytes: intact,
            damaged_bytes: damaged,
            holds_at_least_bytes: at_most.map_or(at_least, |most| at_least.min(most)),
            holds_at_most_bytes: at_most,
            wraps_at_bytes: wraps,
            device_wrap: by_extents.flatten(),
        }
    }
}

/// The common divisor of all distances found in the passes.
fn wrapped_in_passes(workload_plan: &WorkloadPlan<'_>) -> Option<u64> {
    let reads = workload_plan
        .history
        .iter()
        .filter(|(task, _)| matches!(task, Task::Part { op: Op::Read, .. } | Task::ReadBack { .. }));
    super::narrowing::wraps_at(reads.map(|(_, segment)| *segment))
}
