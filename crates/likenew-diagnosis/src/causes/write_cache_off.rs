//! A drive that may not say "done" before it is.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Measured, Metric, Risk, Symptom};

use super::commands::write_cache_on;
use super::{percent, scale_by, setting};

/// The write cache is off.
pub(super) struct WriteCacheOff;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "write_cache_off",
    summary: "its write cache is switched off, so that each write waits for the medium",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
    ],
    manual: include_str!("write_cache_off.md"),
};

impl Cause for WriteCacheOff {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let cache =
            case.facts.and_then(|facts| facts.stack.iter().rev().find_map(|layer| layer.write_cache.value()));
        log_odds.add_fact(
            "write_through",
            cache.map(|cache| cache == "write through"),
            |is| {
                if is {
                    "the kernel says that it has no write cache, or that it is off".into()
                } else {
                    "its write cache is on".into()
                }
            },
            Hint::of_facts("look at its write cache"),
        );
        // Flash without a cache is as fast as flash is; an arm has to go to each place.
        let each = case.measurements.metric(Metric::RandomWrite).zip(case.measurements.access_ns);
        let each = each.filter(|_| case.is_disk());
        log_odds.add_measured(
            "cached_writes",
            each.map(|(writes, access)| {
                Measured::with_interval(1e9, 0.0).divide_by(writes).divide_by(access)
            }),
            0.3,
            |ratio| format!("a small write takes {} as long as a small read", scale_by(ratio)),
            Hint::of_writing("write small blocks at random places"),
        );
        log_odds.add_measured(
            "writes_below",
            case.is_below(Metric::RandomWrite),
            0.7,
            |share| format!("small writes are at {} of what they should be", percent(share)),
            "give what its small writes should be",
        );
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        let what = "switch it on, if the data can bear a loss of power or the drive is protected against it";
        vec![setting(what, write_cache_on(case), Risk::Low, "nothing")]
    }
}
