//! A drive without memory of its own that got none of the host.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use super::{hard_disk_evidence, scale_by};

/// The drive keeps its map in flash, since it was given no memory.
pub(super) struct NoHostMemory;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "host_memory",
    summary: "it has no memory for its map and the host gives it none",
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
            |ratio| format!("small reads anywhere take {} as long as within a few MiB", scale_by(ratio)),
            "compare small reads near each other with small reads anywhere",
        );
        let memory = case.drive().and_then(|drive| drive.host_memory.as_ref());
        let least = memory.and_then(|memory| {
            Some(memory.given_bytes.get()? < memory.least_bytes.get().unwrap_or(1).max(1))
        });
        log_odds.add_fact(
            "memory_refused",
            memory.and_then(|memory| memory.is_refused()).or(least),
            |is| {
                if is {
                    "it asked for memory of the host and has none".into()
                } else {
                    "it has the memory of the host that it asked for, or wants none".into()
                }
            },
            Hint::of_root("ask the drive as root"),
        );
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![Fix {
            description: "let the kernel give it what it asks for: add nvme.max_host_mem_size_mb=512 to the kernel's command line".into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "memory of the host, up to what it asks for",
            check: "likenew check again after the next start",
            action: None,
        }]
    }
}
