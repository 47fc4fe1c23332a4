//! Memory that serves reads in place of the drive.

use likenew_core::answer::Action;

use super::disturbance_evidence;
use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Symptom, wording};

/// A cache answers.
pub(super) struct ReadCache;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "read_cache",
    title: wording::read_cache::TITLE,
    summary: wording::read_cache::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::FasterThanLink,
        Symptom::RepeatReadFaster,
        Symptom::NewDataFaster,
        Symptom::SlowOverWideSpan,
        Symptom::SlowsUnderLoad,
        Symptom::Uneven,
    ],
    manual: include_str!("read_cache.md"),
};

impl Cause for ReadCache {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "counted_reads",
            case.measurements.counted_over_read,
            0.8,
            wording::counted_reads,
            wording::read_cache::COMPARE_COUNTERS,
        );
        log_odds.add_measured(
            "faster_than_link",
            case.fastest_over_link(),
            1.05,
            wording::read_cache::faster_than_link,
            Hint::NONE,
        );
        // A snapshot that is fetched on first access makes first reads slow, a cache only second ones fast.
        log_odds.add_measured(
            "repeat_read_faster",
            case.measurements.repeat_over_first.filter(|_| case.reads_at_full_speed() == Some(true)),
            2.0,
            wording::read_cache::repeat_read_faster,
            Hint::NONE,
        );
        disturbance_evidence(&mut log_odds, case);
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::read_cache::bypass()]
    }
}
