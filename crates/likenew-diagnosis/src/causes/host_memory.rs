//! A drive without memory of its own that got none of the host.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use super::{arm, times};

/// The drive keeps its map in flash, since it was given no memory.
pub(super) struct NoHostMemory;

const CARD: Card = Card {
    name: "host_memory",
    because: "it has no memory for its map and the host gives it none",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::SpreadCosts,
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("host_memory.md"),
};

impl Cause for NoHostMemory {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        scales.sign(
            "spread_costs",
            case.signs.wide_over_narrow,
            1.5,
            |ratio| format!("small reads anywhere take {} as long as within a few MiB", times(ratio)),
            "compare small reads near each other with small reads anywhere",
        );
        let memory = case.drive().and_then(|drive| drive.host_memory.as_ref());
        let least = memory.and_then(|memory| {
            Some(memory.given_bytes.get()? < memory.least_bytes.get().unwrap_or(1).max(1))
        });
        scales.fact(
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
        arm(&mut scales, case);
        let shown = case.virtual_by().map(|_| true);
        scales.fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![Cure {
            what: "let the kernel give it what it asks for: add nvme.max_host_mem_size_mb=512 to the kernel's command line".into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "memory of the host, up to what it asks for",
            check: "likenew check again after the next start",
            deed: None,
        }]
    }
}
