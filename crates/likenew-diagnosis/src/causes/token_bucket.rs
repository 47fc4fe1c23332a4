//! A volume that is held to a rate after a burst.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use super::{percent, scale_by};

/// The volume has used up its credits.
pub(super) struct TokenBucket;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "token_bucket",
    summary: "its credits are used up, and it is held to the rate that is paid for",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::FlatAfterBurst,
        Symptom::WriteCliff,
        Symptom::SlowsUnderLoad,
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
            |ratio| {
                format!("a run of small I/Os began {} as fast as it ended, and ended flat", scale_by(ratio))
            },
            "run it for longer than its burst lasts",
        );
        log_odds.add_fact(
            "virtual",
            case.drive().map(|_| case.virtual_by().is_some()),
            |is| if is { "a hypervisor or a cloud shows it".into() } else { "no hypervisor shows it".into() },
            Hint::of_facts("look at what shows it"),
        );
        log_odds.add_fact(
            "cloud",
            case.drive().map(|drive| drive.cloud.is_some()),
            |is| {
                if is {
                    "it is a cloud's volume, which are sold by rates".into()
                } else {
                    "it is no volume of a known cloud".into()
                }
            },
            "",
        );
        log_odds.add_measured(
            "deep_below",
            case.is_below(Metric::RandomReadQd32),
            0.7,
            |share| format!("small reads 32 at a time are at {} of what they should be", percent(share)),
            Hint::from("give what its small reads should be")
                .with_command("likenew check {} --advertised random_read_qd32=3000"),
        );
        let counts = case.delta.map(|since| &since.counts);
        let held = counts.and_then(|counts| {
            let each = [
                &counts.volume_iops_exceeded_us,
                &counts.volume_throughput_exceeded_us,
                &counts.instance_iops_exceeded_us,
                &counts.instance_throughput_exceeded_us,
            ];
            each.into_iter().filter_map(|count| count.get()).reduce(|one, other| one + other)
        });
        log_odds.add_count(
            "throttle_count_cloud",
            held.map(|us| us > 0),
            |is| {
                if is {
                    "the volume counts time in which it was held back".into()
                } else {
                    "the volume counts no time in which it was held back".into()
                }
            },
            "",
        );
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![
            Fix {
                description: "pay for more I/Os or bytes a second, or for a larger machine where the machine is the limit".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "money",
                check: "likenew check again",
                action: None,
            },
            Fix {
                description: "spread the work, so that credits come back".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "time",
                check: "likenew watch",
                action: None,
            },
        ]
    }
}
