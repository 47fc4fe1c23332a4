//! A pseudo-SLC cache: flash that is written with one bit a cell until it is full.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Indicator, Kind, LogOdds, Metric, Symptom, wording};

use super::hard_disk_evidence;

/// The pseudo-SLC cache is full.
pub(super) struct SlcCache;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "slc_cache",
    title: wording::slc_cache::TITLE,
    summary: wording::slc_cache::SUMMARY,
    kind: Kind::ByDesign,
    endangers: false,
    explains: &[Symptom::WriteCliff, Symptom::Below(Metric::SustainedWrite)],
    manual: include_str!("slc_cache.md"),
};

/// Speed of writing places again over their first writes, beyond the drop, from which it was the places that were slow and not the
/// bytes. Chosen: the smallest drop that counts as a write cliff.
const REWRITTEN_FASTER: f64 = 1.3;

impl Cause for SlcCache {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let drop = case.measurements.write_cliff;
        log_odds.add_measured(
            "write_cliff",
            drop.map(|drop| drop.ratio),
            1.3,
            wording::slc_cache::write_cliff,
            wording::slc_cache::WRITE_MORE,
        );
        // A cache fills with the same bytes again, or with fewer if it was not empty. A drop that comes much later belongs to the
        // place that is written.
        let again = drop.and_then(|drop| Some(drop.again_at_bytes?.divide_by(drop.at_bytes)));
        let alike = again.map(|again| if again.value > 1.0 { again.inverse() } else { again });
        log_odds.add_measured(
            "cliff_repeats",
            alike,
            0.4,
            |alike| wording::slc_cache::cliff_repeats(again.unwrap_or(alike)),
            wording::slc_cache::REST_AND_WRITE,
        );
        log_odds.add_measured(
            "rewritten_faster",
            case.measurements.rewritten_over_first.filter(|_| drop.is_some()),
            REWRITTEN_FASTER,
            wording::scattered_data::rewritten_faster,
            Hint::NONE,
        );
        log_odds.add_measured(
            "cliff_at_half_rate",
            drop.and_then(|drop| drop.at_half_rate),
            0.75,
            wording::slc_cache::cliff_at_half_rate,
            wording::WRITE_AT_HALF_RATE,
        );
        log_odds.add_measured(
            "slower_when_warm",
            case.measurements.rested_over_loaded,
            1.3,
            wording::slc_cache::slower_when_warm,
            Hint::NONE,
        );
        let beyond = case.beyond_normal(Indicator::WriteCliff).filter(|_| !case.normal.is_empty());
        log_odds.add_measured(
            "cliff_beyond_normal",
            beyond,
            1.3,
            wording::slc_cache::cliff_beyond_normal,
            Hint::NONE,
        );
        // Memory that survives a power loss need not be flushed, so the flush shows nothing of it.
        let is_protected = case.facts.and_then(|facts| {
            let bottom = facts.stack.iter().find(|layer| layer.on.is_empty())?;
            bottom.write_cache.value().map(|cache| cache == "write through")
        });
        log_odds.add_fact(
            "protected_memory",
            is_protected.filter(|is| *is && !case.is_disk()),
            |_| wording::slc_cache::protected_memory(),
            Hint::NONE,
        );
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, wording::virtual_disk, Hint::NONE);
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::slc_cache::wait(), wording::slc_cache::keep_free()]
    }
}
