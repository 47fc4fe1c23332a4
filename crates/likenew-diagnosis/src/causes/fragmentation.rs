//! Files in many fragments.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Measured, Metric, Origin, Symptom, wording};

use super::commands::defragment;
use super::hard_disk_evidence;

/// Time of the seeks in a MiB over that of moving it, from which files are fragmented. Chosen: reads lose a
/// quarter.
const SEEKS_COST: f64 = 0.35;
/// Speed that seeks leave over the speed that was measured, from which they explain it. Chosen: seeks to the next
/// fragment may take a third of random ones.
const FITS: f64 = 0.3;
/// Time to reach a fragment, in nanoseconds, where it was not measured, and rate in bytes a second: a disk at 7,200 rpm.
const ACCESS_NS: f64 = 12e6;
const RATE: f64 = 85e6;

/// Files lie in many pieces.
pub(super) struct Fragmentation;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "fragmentation",
    title: wording::fragmentation::TITLE,
    summary: wording::fragmentation::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::NewDataFaster,
        Symptom::SlowRegions,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomWrite),
    ],
    manual: include_str!("fragmentation.md"),
};

impl Cause for Fragmentation {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let pieces = case.facts.and_then(|facts| facts.files.as_ref()?.extents_per_mib.get());
        let has_many = pieces.is_some_and(|pieces| pieces * seek_cost(case) > SEEKS_COST);
        log_odds.add_fact(
            "many_pieces",
            pieces.map(|_| has_many),
            |is| match pieces {
                Some(pieces) if is => wording::fragmentation::many(pieces),
                _ => wording::fragmentation::few(),
            },
            wording::fragmentation::SHOW_FRAGMENTS,
        );
        // What is read is as slow as the seeks make it.
        let with_seeks = pieces.map(|pieces| 1.0 / (1.0 + pieces * seek_cost(case)));
        log_odds.add_measured(
            "reads_fit_seeks",
            with_seeks
                .zip(case.is_below(Metric::SequentialRead))
                .filter(|_| has_many)
                .map(|(with_seeks, share)| Measured::with_interval(with_seeks, 0.0).divide_by(share)),
            FITS,
            wording::fragmentation::reads_fit_seeks,
            Hint::NONE,
        );
        hard_disk_evidence(&mut log_odds, case);
        log_odds.add_measured(
            "new_file_faster",
            case.measurements.new_over_old_data,
            1.5,
            wording::fragmentation::new_file_faster,
            wording::WRITE_AND_READ_BACK,
        );
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let command = defragment(case).map(|command| command.does);
        vec![Action { command, ..wording::fragmentation::defragment() }]
    }
}

/// The time to reach a fragment over that of moving a MiB at the speed that the disk could have.
fn seek_cost(case: &Case<'_>) -> f64 {
    let access_ns = case.measurements.access_ns.map_or(ACCESS_NS, |access| access.value);
    let reference = case.shortfall(Metric::SequentialRead).map(|(_, reference)| reference);
    let rate = reference.filter(|of| of.origin != Origin::Link).map_or(RATE, |of| of.value);
    access_ns / ((1 << 20) as f64 / rate * 1e9)
}
