//! A volume whose blocks are still in a snapshot.

use likenew_core::answer::Action;
use likenew_core::drive;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

use super::commands::device;

/// Shortest fetch of a block, in nanoseconds: AWS says tens of milliseconds ("Initialize Amazon EBS
/// volumes"). Chosen: half of the shortest such time.
const FETCH_NS: f64 = 5e6;

/// Age of a file below which this machine has written it. Chosen: a volume that is made of a snapshot takes longer to be in use.
const JUST_WRITTEN_S: u64 = 3600;

/// The volume fetches each block on its first read or write.
pub(super) struct LazyVolume;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "lazy_volume",
    title: wording::lazy_volume::TITLE,
    summary: wording::lazy_volume::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::RepeatReadFaster,
        Symptom::SlowRegions,
        Symptom::NewDataFaster,
        Symptom::Uneven,
        Symptom::RewrittenFaster,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("lazy_volume.md"),
};

impl Cause for LazyVolume {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "repeat_read_faster",
            case.measurements.repeat_over_first,
            1.5,
            wording::lazy_volume::repeat_read_faster,
            wording::lazy_volume::READ_TWICE,
        );
        log_odds.add_fact(
            "virtual",
            case.drive().map(|_| case.virtual_by().is_some()),
            wording::virtual_disk,
            wording::SHOW_PROVIDER,
        );
        // Data in a host's memory is also faster when read again, but was not slow the first time.
        log_odds.add_measured(
            "slow_fetch",
            case.measurements.access_ns,
            FETCH_NS,
            |access| wording::lazy_volume::slow_fetch(access.value),
            Hint::NONE,
        );
        // In a folder what was just written is read anyway.
        let is_file = case.site.as_ref().is_some_and(|site| site.kind == drive::Kind::File);
        let age_s =
            case.facts.filter(|_| is_file).and_then(|facts| facts.files.as_ref()?.inode_age_s_p50.get());
        log_odds.add_fact(
            "just_written",
            age_s.filter(|age_s| *age_s < JUST_WRITTEN_S).map(|_| true),
            wording::lazy_volume::just_written,
            Hint::NONE,
        );
        log_odds.add_fact(
            "full_speed",
            case.reads_at_full_speed(),
            wording::lazy_volume::full_speed,
            Hint::NONE,
        );
        log_odds.add_measured(
            "counted_reads",
            case.measurements.counted_over_read,
            0.8,
            wording::counted_reads,
            Hint::NONE,
        );
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let command = format!(
            "fio --name=once --filename={} --rw=read --bs=1M --iodepth=32 --ioengine=libaio --direct=1 --readonly",
            device(case)
        );
        vec![wording::lazy_volume::read_all().command(command)]
    }
}
