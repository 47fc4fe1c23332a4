//! A volume with a rate limit after a burst.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

/// Ratio of IOPS at QD32 to those at QD1 below which a limit holds both. Chosen: every medium with queues gains more.
const DEPTH_HELPS: f64 = 1.5;
/// Ratio of two rates in IOPS up to which one limit holds both. Chosen: credits that came back in idle time make
/// a short test faster.
const HELD_ALIKE: f64 = 3.0;

/// The volume has used up its credits.
pub(super) struct TokenBucket;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "token_bucket",
    title: wording::token_bucket::TITLE,
    summary: wording::token_bucket::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::FlatAfterBurst,
        Symptom::WriteCliff,
        Symptom::SlowsUnderLoad,
        Symptom::Uneven,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("token_bucket.md"),
};

impl Cause for TokenBucket {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "burst",
            case.measurements.burst_over_flat,
            1.3,
            wording::token_bucket::burst,
            wording::token_bucket::RUN_LONGER,
        );
        log_odds.add_measured(
            "burst_of_load",
            case.measurements.load_burst_over_flat,
            1.3,
            wording::token_bucket::burst_of_load,
            Hint::NONE,
        );
        log_odds.add_fact(
            "virtual",
            case.drive().map(|_| case.virtual_by().is_some()),
            wording::virtual_disk,
            wording::SHOW_PROVIDER,
        );
        log_odds.add_fact(
            "cloud",
            case.drive().map(|drive| drive.cloud.is_some()),
            wording::token_bucket::cloud,
            Hint::NONE,
        );
        log_odds.add_measured(
            "deep_below",
            case.is_below(Metric::RandomReadQd32),
            0.7,
            wording::token_bucket::deep_below,
            wording::token_bucket::GIVE_RATED,
        );
        log_odds.add_measured(
            "depth_helps",
            case.measurements.deep_over_single,
            DEPTH_HELPS,
            wording::token_bucket::depth_helps,
            Hint::NONE,
        );
        let [writes, reads] =
            [Metric::RandomWrite, Metric::RandomReadQd32].map(|of| case.measurements.metric(of));
        log_odds.add_measured(
            "writes_above",
            writes.zip(reads).map(|(writes, reads)| writes.divide_by(reads)),
            HELD_ALIKE,
            wording::token_bucket::writes_above,
            Hint::NONE,
        );
        let held = case.delta.map(|since| &since.counts).and_then(|counts| {
            let each = [
                &counts.volume_iops_exceeded_us,
                &counts.volume_throughput_exceeded_us,
                &counts.instance_iops_exceeded_us,
                &counts.instance_throughput_exceeded_us,
            ];
            each.into_iter().filter_map(|count| count.get()).reduce(|one, other| one + other)
        });
        // A volume is also held to its limit when that is all it was sold with.
        let held = held.filter(|_| case.is_below(Metric::RandomReadQd32).is_some());
        log_odds.add_count(
            "throttle_count_cloud",
            held.map(|us| us > 0),
            wording::token_bucket::throttle_count,
            Hint::NONE,
        );
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::token_bucket::raise_limits(), wording::token_bucket::spread_work()]
    }
}
