//! A volume whose blocks are still in a snapshot, from which each is fetched on its first read or write.

use super::shared::*;

/// Shortest fetch of a block, in nanoseconds: AWS says tens of milliseconds ("Initialize Amazon EBS
/// volumes"). Chosen: half of the shortest such time.
const FETCH_NS: f64 = 5e6;

/// Age of a file below which this machine has written it. Chosen: a volume made from a snapshot takes longer to be in use.
const JUST_WRITTEN_S: u64 = 3600;

pub(super) static CAUSE: Cause = Cause {
    name: "lazy_volume",
    title: "snapshot not loaded",
    summary: "each block is fetched from a snapshot when it is first read",
    manual: include_str!("lazy_volume.md"),
    kind: CauseKind::NotTheDrive,
    prior: -1.5,
    explains: &[&[RepeatReadFaster, SlowRegions, NewDataFaster, Uneven, RewrittenFaster], SLOW_READS],
    evidence: &[
        measured("repeat_read_faster", 4.0, -6.0, 1.5, |case| {
            let ratio = case.measurements.repeat_over_first?;
            let times = times(ratio);
            Some((ratio, format!("The same regions are {times} as fast when they are read again.")))
        })
        .hint(Hint::thorough("Read the same regions twice, without any cache")),
        needs_virtual_disk(3.5, -5.0),
        // Data in a host's memory is also faster when read again, but was not slow the first time.
        measured("slow_fetch", 0.5, -4.0, FETCH_NS, |case| {
            let access_ns = case.measurements.access_ns?;
            let time = Nanos(access_ns.value as u64);
            Some((access_ns, format!("A first 4K random read takes {time}.")))
        }),
        fact("just_written", -8.0, 0.0, |case| {
            // What is read in a folder was just written anyway.
            case.site.filter(|site| site.kind == drive::TargetKind::File)?;
            let age_s = case.facts?.files.as_ref()?.inode_age_s_p50.get()?;
            let text = "What is read was written within the last hour, so it is in no snapshot.";
            only_if(age_s < JUST_WRITTEN_S, text)
        }),
        fact("full_speed", -3.0, 0.0, |case| {
            either(
                case.reads_at_full_speed()?,
                "First sequential reads are not slow.",
                "First sequential reads are slow.",
            )
        }),
        counted_reads(1.0, -4.0),
    ],
    actions: |case| {
        let action =
            Action::new("read_whole_volume", "Read the whole volume once: later reads need no snapshot");
        vec![action.command(format!(
            "fio --name=once --filename={} --rw=read --bs=1M --iodepth=32 --ioengine=libaio --direct=1 --readonly",
            device(case)
        ))]
    },
    costs: &[("read_whole_volume", "one read of every block")],
    ..Cause::BLANK
};
