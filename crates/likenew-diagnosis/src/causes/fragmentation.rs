//! Files in many fragments.

use super::shared::*;

/// Time of the seeks in a MiB over that of moving it, from which files are fragmented. Chosen: reads lose a
/// quarter.
const SEEKS_COST: f64 = 0.35;
/// Speed that seeks leave over the measured speed, from which seeks explain it. Chosen: seeks to the next
/// fragment may take a third of random ones.
const FITS: f64 = 0.3;
/// Time to reach a fragment, in nanoseconds, if not measured. It and `RATE`, in bytes a second, are of a disk at 7,200 rpm.
const ACCESS_NS: f64 = 12e6;
const RATE: f64 = 85e6;

pub(super) static CAUSE: Cause = Cause {
    name: "fragmentation",
    title: "fragmented files",
    summary: "files are fragmented, and each fragment costs a seek",
    manual: include_str!("fragmentation.md"),
    kind: CauseKind::NotTheDrive,
    prior: -1.0,
    explains: &[&[NewDataFaster, SlowRegions, Below(Metric::SequentialRead)], SLOW_WRITES],
    evidence: &[
        fact("many_pieces", 4.0, -6.0, |case| {
            let pieces = pieces_per_mib(case)?;
            if pieces * seek_cost(case) > SEEKS_COST {
                Some((true, format!("Files have {} fragments per MiB.", digits(pieces))))
            } else {
                Some((false, "Files have few fragments.".into()))
            }
        })
        .hint(Hint::facts("See how fragmented the files are")),
        // Reads are as slow as the seeks make them.
        measured("reads_fit_seeks", 1.5, -2.0, FITS, |case| {
            let seeks = pieces_per_mib(case)? * seek_cost(case);
            let share = case.is_below(Metric::SequentialRead).filter(|_| seeks > SEEKS_COST)?;
            let ratio = Measured::with_interval(1.0 / (1.0 + seeks), 0.0).divide_by(share);
            let times = times(ratio);
            let text = format!("With a seek for each fragment, reads would be {times} as fast as they are.");
            Some((ratio, text))
        }),
        hard_disk(3.0, -3.0),
        measured("new_file_faster", 2.0, -0.5, 1.5, |case| {
            let ratio = case.measurements.new_over_old_data?;
            let times = times(ratio);
            Some((ratio, format!("A newly written file is read {times} as fast as existing files.")))
        })
        .hint(WRITE_AND_READ_BACK),
    ],
    actions: |case| {
        let text = "Defragment the worst files, but none that snapshots or reflinks share";
        vec![Action { command: command(case), ..Action::new("defragment", text) }]
    },
    costs: &[("defragment", "one write of these files")],
    ..Cause::BLANK
};

fn pieces_per_mib(case: &Case<'_>) -> Option<f64> {
    case.facts?.files.as_ref()?.extents_per_mib.get()
}

/// The time to reach a fragment over that of moving a MiB at the speed that the disk could have.
fn seek_cost(case: &Case<'_>) -> f64 {
    let access_ns = case.measurements.access_ns.map_or(ACCESS_NS, |access| access.value);
    let reference = case.shortfall(Metric::SequentialRead).map(|(_, reference)| reference);
    let rate = reference
        .filter(|reference| reference.origin.is_of_this_drive())
        .map_or(RATE, |reference| reference.value);
    access_ns / ((1 << 20) as f64 / rate * 1e9)
}

/// The program of the file system that defragments files.
fn command(case: &Case<'_>) -> Option<String> {
    let system = case.facts?.file_system.as_ref()?;
    let point = shell_quote(&system.point);
    Some(match system.kind.value()?.as_str() {
        "ext4" => format!("e4defrag {point}"),
        "xfs" => format!("xfs_fsr -v {point}"),
        "btrfs" => format!("btrfs filesystem defragment -r {point}"),
        _ => return None,
    })
}
