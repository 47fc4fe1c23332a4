//! Power cuts while free space is overwritten.

use std::fs::{self, File};

use serde_json::Value;

use super::medium::{Medium, Sectors};
use super::recorder::Event;
use super::run::{
    APART, CutResult, FileSystem, RecordedRun, SCRATCH, copy, cut_each, data, free, in_memory, places, record,
};
use crate::serve::are_there;
use crate::serve::mounted::MAKE_EXT4;

pub(crate) const EXT4: FileSystem = FileSystem {
    make: &MAKE_EXT4,
    check: &["e2fsck", "-f", "-n"],
    bytes: 128 << 20,
    sectors: Sectors::MayBeGarbage,
};
pub(crate) const XFS: FileSystem = FileSystem {
    make: &["mkfs.xfs", "-q", "-K"],
    check: &["xfs_repair", "-n", "-f"],
    bytes: 320 << 20,
    sectors: Sectors::AreWhole,
};
pub(crate) const BTRFS: FileSystem = FileSystem {
    make: &["mkfs.btrfs", "-q", "-K", "-M"],
    check: &["btrfs", "check", "--readonly"],
    bytes: 224 << 20,
    sectors: Sectors::MayBeGarbage,
};

pub(crate) const OVERWRITE: [&str; 13] = [
    "--step",
    "overwrite",
    "--passes",
    "2",
    "--idle",
    "1s",
    "--bytes",
    "64MiB",
    "--overwrite-max",
    "64MiB",
    "--reserve",
    "8MiB",
    "--yes",
];

/// Cuts the power of a recorded run at this many points.
fn cut(recorded: &RecordedRun, count: usize, workers: usize, seed: u64) -> Vec<CutResult> {
    let events = &recorded.past.events;
    // Without flushes nothing would be durable and this test would show nothing.
    let flushes =
        events.iter().filter(|event| matches!(event, Event::Flush { covers } if *covers > 0)).count();
    assert!(flushes > 50, "{flushes} flushes among {} events", events.len());
    let cuts = places(events.len(), count, seed);
    let results = cut_each(recorded, &cuts, workers, |image, point, cut| {
        let (mount, result) = recorded.mount(image, point, cut);
        recorded.compare(point, &[], cut);
        drop(mount);
        recorded.is_sound(image, cut);
        result
    });
    assert_eq!(results.len(), count);
    // Most of them came during the overwriting, and after writes of the owner.
    let count_of = |is: &dyn Fn(&CutResult) -> bool| results.iter().filter(|result| is(result)).count();
    assert!(
        count_of(&|result| result.has_leftover) > count / 2,
        "{} of {count}",
        count_of(&|result| result.has_leftover)
    );
    assert!(count_of(&|result| result.meanwhile > 0) > count / 2);
    println!(
        "attack: power lost while free space is overwritten, {} | {count} | no byte lost, also of {} files written meanwhile",
        recorded.system,
        results.iter().map(|result| result.meanwhile).max().unwrap_or(0)
    );
    results
}

#[test]
fn a_few_losses_of_power_cost_no_byte_and_runs_go_on() {
    if !are_there(&["e2fsck"]) {
        return;
    }
    let Some(recorded) = record(&EXT4, &OVERWRITE) else { return };
    cut(&recorded, 16, 2, 1);
    what_is_left_is_removed_and_runs_go_on(&recorded, 6);
}

#[test]
#[ignore = "one of the matrices of cuts and kills"]
fn whole_cuts_five_hundred_losses_of_power_cost_no_byte_and_runs_go_on() {
    if !are_there(&["e2fsck"]) {
        return;
    }
    let Some(recorded) = record(&EXT4, &OVERWRITE) else { return };
    cut(&recorded, 500, 2, 1);
    what_is_left_is_removed_and_runs_go_on(&recorded, 24);
}

#[test]
#[ignore = "one of the matrices of cuts and kills"]
fn whole_cuts_neither_do_they_on_xfs() {
    if !are_there(&["mkfs.xfs", "xfs_repair"]) {
        return;
    }
    let Some(recorded) = record(&XFS, &OVERWRITE) else { return };
    // Only one: two images of one file system cannot be mounted at the same time.
    cut(&recorded, 100, 1, 2);
}

#[test]
#[ignore = "one of the matrices of cuts and kills"]
fn whole_cuts_neither_do_they_on_btrfs() {
    if !are_there(&["mkfs.btrfs", "btrfs"]) {
        return;
    }
    let Some(recorded) = record(&BTRFS, &OVERWRITE) else { return };
    cut(&recorded, 100, 1, 3);
    what_is_left_is_removed_and_runs_go_on(&recorded, 24);
}

/// After a cut the next run in the folder removes the leftovers, or the interrupted run is resumed to its
/// end.
fn what_is_left_is_removed_and_runs_go_on(recorded: &RecordedRun, cuts: usize) {
    let memory = in_memory();
    let image = memory.path().join("image");
    let file = File::create(&image).unwrap();
    let mut medium = Medium::new(&recorded.past, recorded.sectors);
    let (sandbox, point) = (&recorded.sandbox, &*recorded.point);
    let (mut left, mut gone_on) = (0, 0);
    let mut known = recorded.archives.clone();
    known.dedup_by_key(|(position, _)| *position);
    let step = known.len().div_ceil(cuts).max(1);
    for (index, (cut, archive)) in known.into_iter().step_by(step).enumerate() {
        medium.cut(cut, 7 + cut as u64, &file);
        let (mount, result) = recorded.mount(&image, point, cut);
        left += usize::from(result.has_leftover);
        fs::remove_dir_all(data(sandbox)).unwrap();
        copy(&archive, &data(sandbox));
        let run = sandbox.runs().pop().filter(|run| run.join("segments.jsonl").exists());
        if let Some(run) = run.filter(|_| index % 4 == 0) {
            let resumed =
                sandbox.run(&["resume", run.to_str().unwrap(), "--yes", "--reserve", "8MiB", "--json", "-"]);
            let is_over = resumed.stderr().contains("is complete, so there is nothing to resume");
            if !is_over {
                if result.has_leftover {
                    resumed.says("An earlier run has left");
                }
                let document: Value = resumed.json();
                assert_eq!(
                    document["tables"]["passes"].as_array().map(Vec::len),
                    Some(2),
                    "{}",
                    resumed.stderr()
                );
                gone_on += 1;
            }
        }
        if point.join(SCRATCH).exists() {
            let left: Vec<_> = fs::read_dir(point.join(SCRATCH)).unwrap().map(Result::unwrap).collect();
            let left: Vec<_> =
                left.iter().map(|entry| (entry.file_name(), entry.metadata().unwrap().len())).collect();
            let marker = fs::read(point.join(SCRATCH).join("LIKENEW-SCRATCH.txt"));
            let removed = sandbox.run(&["recondition", point.to_str().unwrap(), "--passes", "0", "--yes"]);
            let is_gone = !point.join(SCRATCH).exists();
            assert!(is_gone, "cut after {cut} events: {}: {left:?}, marker {marker:?}", removed.stderr());
            removed.code(2).says("An earlier run has left");
        }
        recorded.compare(point, &APART, cut);
        crate::serve::system("sync", &["-f", point.to_str().unwrap()]);
        let back = free(point);
        assert!(
            back + (16 << 20) > recorded.free,
            "cut after {cut} events: {back} of {} are free again",
            recorded.free
        );
        drop(mount);
        recorded.is_sound(&image, cut);
    }
    assert!(left * 5 >= cuts * 2 && gone_on * 12 >= cuts, "{left} had left something, {gone_on} went on");
    println!(
        "attack: power lost while free space is overwritten, and the run started again, {} | {cuts} | all free space came back; {left} had left \
         files, {gone_on} were resumed to their end",
        recorded.system
    );
}
