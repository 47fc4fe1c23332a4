//! A volume with a rate limit after a burst.

use super::shared::*;

/// Ratio of IOPS at QD32 to those at QD1 below which a limit holds both. Chosen: every medium with queues gains more.
const DEPTH_HELPS: f64 = 1.5;
/// Ratio of two rates in IOPS up to which one limit holds both. Chosen: credits that came back in idle time make
/// a short test faster.
const HELD_ALIKE: f64 = 3.0;
/// Speed of a second pass of writes over that of the end of the first, from which no limit held the first one.
/// Chosen: half as much again is beyond the credits that a rest of seconds brings.
const WRITES_COME_BACK: f64 = 1.5;

pub(super) static CAUSE: Cause = Cause {
    name: "token_bucket",
    title: "burst credits used up",
    summary: "the volume has used up its burst credits and is held to its baseline rate",
    manual: include_str!("token_bucket.md"),
    kind: CauseKind::NotTheDrive,
    prior: -1.5,
    explains: &[&[FlatAfterBurst, WriteCliff, SlowsUnderLoad, Uneven], SLOW],
    evidence: &[
        measured("burst", 4.0, -3.0, 1.3, |case| {
            let ratio = case.measurements.burst_over_flat?;
            let times = times(ratio);
            Some((ratio, format!("4K random reads were {times} as fast at the start as at their end.")))
        })
        .hint(Hint::thorough("Run it for longer than its burst lasts")),
        measured("burst_of_load", 4.0, 0.0, 1.3, |case| {
            let ratio = case.measurements.load_burst_over_flat?;
            let times = times(ratio);
            Some((ratio, format!("Sequential reads began {times} as fast as the one rate that followed.")))
        }),
        needs_virtual_disk(-0.5, -5.0).in_group("shown"),
        fact("cloud", 2.5, -1.0, |case| {
            either(
                case.drive()?.cloud.is_some(),
                "It is a cloud volume with provisioned IOPS and throughput.",
                "It is not a volume of a known cloud.",
            )
        })
        .in_group("shown"),
        measured("deep_below", -4.0, 3.0, 0.7, |case| {
            let below = case.is_below(Metric::RandomReadQd32)?;
            Some((below, format!("4K random reads at QD32 reach {} of their reference.", share(below))))
        })
        .hint(Hint::here("Give its rated IOPS with --advertised random_read_qd32=IOPS")),
        depth_helps(-2.0, 3.0, DEPTH_HELPS),
        measured("writes_above", -5.0, 0.5, HELD_ALIKE, |case| {
            let writes = case.measurements.metric(Metric::RandomWrite)?;
            let ratio = writes.divide_by(case.measurements.metric(Metric::RandomReadQd32)?);
            let times = times(ratio);
            Some((ratio, format!("4K random writes reach {times} the IOPS of 4K random reads at QD32.")))
        }),
        // A limit holds a second pass as it held the first.
        measured("rewritten_faster", -3.0, 0.0, WRITES_COME_BACK, |case| {
            rewritten_faster(case.measurements.rewritten_over_first?)
        }),
        count("throttle_count_cloud", 4.0, -2.0, |case| {
            let counts = &case.delta?.counts;
            let each = [
                &counts.volume_iops_exceeded_us,
                &counts.volume_throughput_exceeded_us,
                &counts.instance_iops_exceeded_us,
                &counts.instance_throughput_exceeded_us,
            ];
            let held_us =
                each.into_iter().filter_map(|count| count.get()).reduce(|one, other| one + other)?;
            // A volume is also held to its limit when that is all it was sold with.
            case.is_below(Metric::RandomReadQd32)?;
            either(
                held_us > 0,
                "The volume counted time in which it was throttled.",
                "The volume counted no time in which it was throttled.",
            )
        }),
    ],
    actions: |_| {
        vec![
            Action::new("raise_limits", "Raise the volume's IOPS or throughput, or the machine's limit"),
            Action::new("spread_work", "Spread the load over time, so that credits come back"),
        ]
    },
    costs: &[("raise_limits", "money"), ("spread_work", "time")],
    ..Cause::BLANK
};
