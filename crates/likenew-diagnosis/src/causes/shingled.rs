//! A disk whose tracks overlap.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

use super::{hard_disk_evidence, small_writes_evidence};

/// Latency of a write over that of a read, as a ratio: no arm reaches a place this fast, even in the best
/// order. Chosen: well below an ordered queue.
const AT_ONCE: f64 = 0.08;

/// Latency of a write over that of a read, as a ratio, that no arm explains. Chosen: without a cache a write waits
/// for a seek and half a revolution, as a read does, and a whole revolution more if it is verified.
const BEYOND_SEEK: f64 = 4.0;

/// The disk is shingled.
pub(super) struct Shingled;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "shingled",
    title: wording::shingled::TITLE,
    summary: wording::shingled::SUMMARY,
    kind: Kind::ByDesign,
    endangers: false,
    explains: &[
        Symptom::WriteCliff,
        Symptom::Stalls,
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
    ],
    manual: include_str!("shingled.md"),
};

impl Cause for Shingled {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, wording::virtual_disk, Hint::NONE);
        let database = case.drive().map(|drive| &drive.database);
        // A database without this entry says nothing.
        log_odds.add_fact(
            "database",
            database.and_then(|database| database.shingled.get()).filter(|is| *is),
            |_| wording::shingled::database(),
            wording::shingled::INSTALL_DATABASE,
        );
        log_odds.add_fact(
            "knows_trim",
            case.drive().and_then(|drive| drive.identity.knows_trim.get()),
            wording::shingled::knows_trim,
            Hint::NONE,
        );
        log_odds.add_measured(
            "write_cliff",
            case.measurements.write_cliff.map(|drop| drop.ratio),
            3.0,
            wording::shingled::write_cliff,
            wording::shingled::WRITE_LONGER,
        );
        // It writes random data to one place at first, without moving the arm.
        small_writes_evidence(&mut log_odds, case, "cached_writes", AT_ONCE);
        small_writes_evidence(&mut log_odds, case, "writes_beyond_seek", BEYOND_SEEK);
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::shingled::give_idle_time(), wording::shingled::use_other_disk()]
    }
}
