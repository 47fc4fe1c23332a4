//! Memory that answers in place of the drive.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Risk, Symptom};

use super::scale_by;

/// A cache answers.
pub(super) struct ReadCache;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "read_cache",
    summary: "a cache answers in place of the drive, so that these are no figures of it",
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
            |share| format!("the drive counted {} what was read", scale_by(share)),
            Hint::of_machine("compare the drive's counters with what was read"),
        );
        log_odds.add_measured(
            "faster_than_link",
            case.fastest_over_link(),
            1.05,
            |of| format!("some reads in order reach {} what the link carries", scale_by(of)),
            "",
        );
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![
            Fix {
                description: "read past the cache, or more than it holds; a host's cache in front of a virtual disk is switched off there".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "nothing",
                check: "likenew cache",
                action: None,
            },
        ]
    }
}
