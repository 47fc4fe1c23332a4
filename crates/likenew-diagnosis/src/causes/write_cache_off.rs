//! A drive without a write cache.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

use super::commands::write_cache_on;
use super::{background_evidence, small_writes_evidence};

/// Time of a 4K random write over that of a read above which nothing caches it. Chosen: an arm has to move for each.
const CACHED: f64 = 0.3;

/// The write cache is off.
pub(super) struct WriteCacheOff;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "write_cache_off",
    title: wording::write_cache_off::TITLE,
    summary: wording::write_cache_off::SUMMARY,
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
            wording::write_cache_off::write_through,
            wording::write_cache_off::SHOW_CACHE,
        );
        small_writes_evidence(&mut log_odds, case, "cached_writes", CACHED);
        log_odds.add_measured(
            "writes_below",
            case.is_below(Metric::RandomWrite),
            0.7,
            wording::write_cache_off::writes_below,
            wording::write_cache_off::GIVE_RATED,
        );
        background_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, wording::virtual_disk, Hint::NONE);
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let enable = wording::write_cache_off::enable();
        vec![match write_cache_on(case) {
            Some(command) => command.add_to(enable),
            None => enable,
        }]
    }
}
