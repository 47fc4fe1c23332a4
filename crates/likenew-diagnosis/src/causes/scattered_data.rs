//! Data whose pages are scattered over all erase blocks.

use likenew_core::answer::Action;

use crate::steps::steps;
use crate::{Case, Cause, CauseDescriptor, Kind, LogOdds, Metric, Symptom, wording};

use super::{disturbance_evidence, hard_disk_evidence, slowest_writes};

/// Every erase block holds both current and outdated pages.
pub(super) struct ScatteredData;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "scattered_data",
    title: wording::scattered_data::TITLE,
    summary: wording::scattered_data::SUMMARY,
    kind: Kind::Drive,
    endangers: false,
    explains: &[
        Symptom::RewrittenFaster,
        Symptom::WriteCliff,
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::SequentialRead),
        Symptom::Stalls,
    ],
    manual: include_str!("scattered_data.md"),
};

/// Share of a file system in use, in percent, from which hardly anything is left to trim. Chosen: the same as
/// of a drive that is nearly full.
const IN_USE_PERCENT: f64 = 90.0;
/// Speed of a second sequential pass over that of the end of the first, from which the first one paid for
/// garbage collection. Chosen: the smallest drop that counts as a write cliff.
const FASTER: f64 = 1.3;

/// Share of its reference from which a random read is as fast as when new. Chosen: the scatter of a check.
const AS_NEW: f64 = 0.9;

/// Writes over reads, each as a share of its reference, that little but garbage collection leaves. Chosen: misaligned writes still reach
/// half.
const FAR_BELOW: f64 = 0.35;

impl Cause for ScatteredData {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    /// Data that was written in small pieces lies on some dies more than on others, which slows down sequential reads and no random
    /// ones.
    fn explains(&self, case: &Case<'_>, symptom: Symptom) -> bool {
        let reads_as_new = || {
            let reads = [Metric::RandomRead, Metric::RandomReadQd32].map(|metric| case.shortfall(metric));
            reads.iter().flatten().all(|(share, _)| share.value >= AS_NEW)
                && reads.iter().any(Option::is_some)
        };
        DESCRIPTOR.explains.contains(&symptom)
            && (symptom != Symptom::Below(Metric::SequentialRead)
                || reads_as_new() && !case.reads_fill_link())
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "rewritten_faster",
            case.measurements.rewritten_over_first,
            FASTER,
            wording::scattered_data::rewritten_faster,
            wording::scattered_data::WRITE_TWICE,
        );
        log_odds.add_measured(
            "trim_helps",
            case.measurements.trimmed_over_rested,
            FASTER,
            wording::no_trim::trim_helps,
            wording::no_trim::TRIM_AND_WRITE,
        );
        log_odds.add_fact(
            "trim_arrives",
            case.receives_trim(),
            wording::scattered_data::trim_arrives,
            wording::no_trim::SHOW_TIMER,
        );
        let in_use = case.facts.and_then(|facts| facts.file_system.as_ref()?.used_percent.get());
        log_odds.add_fact(
            "nothing_free",
            in_use.map(|percent| percent >= IN_USE_PERCENT),
            wording::scattered_data::nothing_free,
            wording::nearly_full::SHOW_FILL,
        );
        disturbance_evidence(&mut log_odds, case);
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, wording::virtual_disk, crate::Hint::NONE);
        log_odds.add_measured(
            "writes_below_reads",
            slowest_writes(case),
            0.7,
            wording::writes_against_reads,
            wording::no_trim::COMPARE,
        );
        // Writes that are too slow to be written twice.
        log_odds.add_measured(
            "writes_far_below",
            slowest_writes(case).filter(|_| case.measurements.rewritten_over_first.is_none()),
            FAR_BELOW,
            wording::writes_against_reads,
            crate::Hint::NONE,
        );
        log_odds.add_measured(
            "slower_when_warm",
            case.measurements.rested_over_loaded,
            FASTER,
            wording::heat::slower_when_warm,
            crate::Hint::NONE,
        );
        log_odds.add_count(
            "throttle_count",
            case.throttled(),
            wording::heat::throttle_count,
            wording::heat::READ_COUNTERS,
        );
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        steps(case, DESCRIPTOR.name)
    }

    fn statement(&self, _: &Case<'_>) -> String {
        wording::scattered_data::statement()
    }
}
