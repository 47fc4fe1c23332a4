//! Old files are written again where they lie, and the power goes, or the program is killed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use super::overwrite::{BTRFS, EXT4, XFS};
use super::owner_files::{FolderState, OLD, make_old_again};
use super::recorder::Event;
use super::run::{APART, FileSystem, RecordedRun, begin, chance, copy, cut_each, data, places, record};
use crate::serve::server::until;
use crate::serve::{are_there, system};
use crate::support::CommandOutput;

const JOURNAL: &str = ".likenew-refresh-journal";
const SALVAGE: &str = ".likenew-refresh-salvage";
/// How a journal begins.
const TITLE: &[u8] = b"likenew refresh journal";
const REFRESH: [&str; 11] = [
    "--step",
    "refresh",
    "--idle",
    "1s",
    "--bytes",
    "128MiB",
    "--overwrite-max",
    "64MiB",
    "--reserve",
    "8MiB",
    "--yes",
];

/// What was cut off is done before anything else, and before a plan is refused that makes no sense.
const GO_ON: [&str; 4] = ["--passes", "0", "--yes", "--no-archive"];

/// Another boot than the one in which the run began, as if the power had really gone.
const AFTER_THE_CUT: (&str, &str) = ("LIKENEW_BOOT_ID", "after the cut");

/// What was seen of one cut.
struct Cut {
    had_journal: bool,
    was_torn: bool,
    /// The time of one old file is that of a write of ours.
    is_newer: bool,
    has_gone_on: bool,
    has_salvage: bool,
}

const BLOCK: usize = 4096;

/// The blocks of a file by which it is known: not those of its holes.
fn blocks(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    file.chunks_exact(BLOCK).filter(|block| block.iter().any(|byte| *byte != 0))
}

/// From the first event of the first journal to the last write of an old file.
fn refresh(recorded: &RecordedRun, old: &[&[u8]]) -> std::ops::Range<usize> {
    let blocks: HashSet<&[u8]> = old.iter().flat_map(|bytes| blocks(bytes)).collect();
    let events = recorded.past.events.iter().enumerate();
    let written = events.filter_map(|(index, event)| match event {
        Event::Write { bytes, .. } => Some((index, bytes)),
        Event::Trim(_) | Event::Flush { .. } => None,
    });
    // What the owner writes meanwhile is shorter.
    let (heads, films): (Vec<_>, Vec<_>) = written
        .filter(|(_, bytes)| bytes.starts_with(TITLE) || bytes.len() >= 128 << 10)
        .filter(|(_, bytes)| {
            bytes.starts_with(TITLE) || bytes.chunks_exact(BLOCK).any(|block| blocks.contains(block))
        })
        .partition(|(_, bytes)| bytes.starts_with(TITLE));
    assert!(!heads.is_empty() && !films.is_empty(), "nothing was written again: {}", recorded.message);
    let (first, last) = (heads[0].0, films[films.len() - 1].0);
    first.saturating_sub(12)..(last + 12).min(recorded.past.events.len())
}

/// How many bytes of this file's content were written, wherever: each that is written again goes to the journal first.
fn written_bytes(recorded: &RecordedRun, file: &[u8]) -> usize {
    let blocks: HashSet<&[u8]> = blocks(file).collect();
    let writes = recorded.past.events.iter().filter_map(|event| match event {
        Event::Write { bytes, .. } => Some(bytes),
        Event::Trim(_) | Event::Flush { .. } => None,
    });
    writes.flat_map(|bytes| bytes.chunks_exact(BLOCK)).filter(|block| blocks.contains(block)).count() * BLOCK
}

/// Has old files written again, cuts the power in so many places of that, and goes on each time.
fn cut(file_system: &FileSystem, count: usize, workers: usize) -> Option<Vec<Cut>> {
    if !are_there(&[file_system.make[0], file_system.check[0]]) {
        return None;
    }
    let recorded = record(file_system, &REFRESH)?;
    let old: Vec<Vec<u8>> = OLD.into_iter().map(|name| recorded.owned.bytes(name).to_vec()).collect();
    for file in &old {
        let written = written_bytes(&recorded, file);
        assert!(written > file.len() * 3 / 2, "{written} of {}: {}", file.len(), recorded.message);
    }
    let within = refresh(&recorded, &old.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let cuts: Vec<usize> =
        places(within.len(), count, 5).into_iter().map(|place| within.start + place).collect();
    let results = cut_each(&recorded, &cuts, workers, |image, point, cut| {
        let (mount, _) = recorded.mount(image, point, cut);
        let had_journal = point.join(JOURNAL).exists();
        let left = FolderState::of(point, &[&APART[..], &[JOURNAL]].concat());
        let arguments = [&["recondition", point.to_str().unwrap()][..], &GO_ON].concat();
        let ran =
            CommandOutput::of(recorded.sandbox.command(&arguments).env(AFTER_THE_CUT.0, AFTER_THE_CUT.1));
        assert_eq!(ran.status(), Some(2), "cut after {cut} events: {}", ran.stderr());
        assert!(!point.join(JOURNAL).exists(), "cut after {cut} events: {}", ran.stderr());
        let has_gone_on = ran.stderr().contains("is finished now");
        let has_salvage = point.join(SALVAGE).exists();
        assert_eq!(has_salvage, ran.stderr().contains(SALVAGE));
        let now = FolderState::of(point, &[&APART[..], &[SALVAGE]].concat());
        // A time can be that of our own write where one was under way; from there on nobody moves it.
        let difference = if had_journal {
            recorded.owned.difference_after_cut(&now)
        } else {
            recorded.owned.difference(&now)
        };
        if let Some(reason) = difference.or_else(|| left.moved_time(&now)) {
            panic!("cut after {cut} events: {reason}");
        }
        let is_newer = !recorded.owned.newer(&now).is_empty();
        assert_eq!(ran.stderr().contains("newer than before"), is_newer && has_gone_on, "{}", ran.stderr());
        drop(mount);
        recorded.is_sound(image, cut);
        let was_torn = recorded.owned.difference_after_cut(&left).is_some();
        Cut { had_journal, was_torn, is_newer, has_gone_on, has_salvage }
    });
    let count_of = |is: fn(&Cut) -> bool| results.iter().filter(|cut| is(cut)).count();
    assert_eq!(results.len(), count);
    assert!(count_of(|cut| cut.had_journal) > 0);
    println!(
        "attack: power lost while old files are rewritten, {} | {count} | no byte, hole, link or attribute lost, no \
         time moved by resuming; {} had left a journal, {} a torn file and {} the time of our own write, {} were resumed",
        file_system.name(),
        count_of(|cut| cut.had_journal),
        count_of(|cut| cut.was_torn),
        count_of(|cut| cut.is_newer),
        count_of(|cut| cut.has_gone_on)
    );
    Some(results)
}

#[test]
fn a_few_losses_of_power_while_old_files_are_written_again_cost_no_byte() {
    cut(&EXT4, 10, 2);
}

#[test]
fn a_few_losses_of_power_while_old_files_are_written_again_on_xfs_cost_no_byte() {
    cut(&XFS, 4, 1);
}

#[test]
fn a_few_losses_of_power_while_old_files_are_written_again_on_btrfs_cost_no_byte() {
    cut(&BTRFS, 4, 1);
}

#[test]
#[ignore = "one of the matrices of cuts and kills"]
fn whole_cuts_of_power_while_old_files_are_written_again_cost_no_byte() {
    let Some(results) = cut(&EXT4, 160, 2) else { return };
    let count = |is: fn(&Cut) -> bool| results.iter().filter(|cut| is(cut)).count();
    assert!(count(|cut| cut.had_journal) > 80 && count(|cut| cut.has_gone_on) > 25);
    assert!(count(|cut| cut.was_torn) > 3 && count(|cut| cut.has_salvage) > 3);
}

#[test]
#[ignore = "one of the matrices of cuts and kills"]
fn whole_cuts_of_power_while_old_files_are_written_again_on_xfs_cost_no_byte() {
    // By one alone: two images of one file system are not mounted at the same time.
    let Some(results) = cut(&XFS, 120, 1) else { return };
    assert!(results.iter().filter(|cut| cut.has_gone_on).count() > 10);
}

#[test]
#[ignore = "one of the matrices of cuts and kills"]
fn whole_cuts_of_power_while_old_files_are_written_again_on_btrfs_cost_no_byte() {
    let Some(results) = cut(&BTRFS, 120, 1) else { return };
    assert!(results.iter().filter(|cut| cut.has_gone_on).count() > 10);
}

#[test]
fn a_few_kills_while_old_files_are_written_again_cost_no_byte() {
    kill_often(&EXT4, 3);
}

#[test]
#[ignore = "one of the matrices of cuts and kills"]
fn whole_cuts_kills_while_old_files_are_written_again_cost_no_byte_and_it_goes_on() {
    kill_often(&EXT4, 110);
}

#[test]
#[ignore = "one of the matrices of cuts and kills"]
fn whole_cuts_kills_while_old_files_are_written_again_on_xfs_cost_no_byte_and_it_goes_on() {
    kill_often(&XFS, 110);
}

#[test]
#[ignore = "one of the matrices of cuts and kills"]
fn whole_cuts_kills_while_old_files_are_written_again_on_btrfs_cost_no_byte_and_it_goes_on() {
    kill_often(&BTRFS, 110);
}

fn kill_often(file_system: &FileSystem, kills: usize) {
    let Some((sandbox, recorder, mounted)) = begin(file_system) else { return };
    let point = mounted.point();
    let folder = point.to_str().unwrap();
    let before = FolderState::of(point, &APART);
    recorder.recording.begin();
    let mut child = sandbox.start(&[&["recondition", folder][..], &REFRESH].concat());
    until("it writes a file again", || point.join(JOURNAL).exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let run = sandbox.runs().pop().unwrap();
    let begun = sandbox.work().join("begun");
    copy(&data(&sandbox), &begun);
    let (mut next, mut left, mut newer) = (chance(2), 0, 0);
    for kill in 0..kills {
        left += usize::from(point.join(JOURNAL).exists());
        let killed = FolderState::of(point, &[&APART[..], &[JOURNAL]].concat());
        let ran = sandbox.run(&[&["recondition", folder][..], &GO_ON].concat());
        ran.code(2);
        assert!(!point.join(JOURNAL).exists() && !point.join(SALVAGE).exists(), "{}", ran.stderr());
        let now = FolderState::of(point, &APART);
        // A kill tears nothing, and nobody moves a time afterwards.
        let difference = before.difference_after_cut(&killed).or_else(|| before.difference_after_cut(&now));
        if let Some(reason) = difference.or_else(|| killed.moved_time(&now)) {
            panic!("kill {kill}: {reason}");
        }
        newer += usize::from(!before.newer(&now).is_empty());
        // Only what has lain there for long is written again.
        make_old_again(point);
        fs::remove_dir_all(data(&sandbox)).unwrap();
        copy(&begun, &data(&sandbox));
        system("sync", &["-f", folder]);
        // All that lies there is slow to read again.
        recorder.recording.begin();
        let mut child = sandbox.start(&["resume", run.to_str().unwrap(), "--yes", "--reserve", "8MiB"]);
        until("it writes a file again", || {
            point.join(JOURNAL).exists() || child.try_wait().unwrap().is_some()
        });
        std::thread::sleep(Duration::from_millis(next(400)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(left > kills / 4, "only {left} of {kills} came while a file was written again");
    // A run that was cut off while it wrote a file again goes on to its end by itself.
    let resumed =
        sandbox.run(&["resume", run.to_str().unwrap(), "--yes", "--reserve", "8MiB", "--json", "-"]);
    assert!(resumed.json()["answers"][0]["answer"].as_str().is_some(), "{}", resumed.stderr());
    assert!(!point.join(JOURNAL).exists());
    let difference = before.difference_after_cut(&FolderState::of(point, &APART));
    assert!(difference.is_none(), "{difference:?}");
    println!(
        "attack: killed while old files are rewritten, {} | {kills} | no byte, hole, link or attribute lost, no time moved by resuming; {left} had left a \
         journal and {newer} the time of our own write",
        file_system.name()
    );
}

#[test]
fn what_another_program_saves_after_a_kill_stays_though_it_is_mounted_anew() {
    let Some((sandbox, recorder, mounted)) = begin(&EXT4) else { return };
    let point = mounted.point();
    let folder = point.to_str().unwrap();
    recorder.recording.begin();
    let mut child = sandbox.start(&[&["recondition", folder][..], &REFRESH].concat());
    let saved = || likenew_refresh::scan_saved_pieces(&mut File::open(point.join(JOURNAL)).ok()?).ok();
    until("it has saved a chunk", || saved().is_some_and(|chunks| !chunks.is_empty()));
    child.kill().unwrap();
    child.wait().unwrap();
    let chunks = saved().unwrap();
    let mut journal = File::open(point.join(JOURNAL)).unwrap();
    let note = likenew_refresh::Journal::open(&mut journal).unwrap().note().to_owned();
    drop(journal);
    let note: serde_json::Value = serde_json::from_str(&note).unwrap();
    let path = point.join(note["path"].as_str().unwrap());
    // Into each that may be in flight, where no witness stands.
    let places: Vec<u64> = chunks.iter().map(|chunk| chunk.range.start + (96 << 10)).collect();
    let file = File::options().write(true).open(&path).unwrap();
    for place in &places {
        file.write_all_at(&[7; BLOCK], *place).unwrap();
    }
    drop(file);
    let theirs = fs::metadata(&path).unwrap().modified().unwrap();
    system("umount", &[folder]);
    system("mount", &[mounted.device(), folder]);
    let ran = sandbox.run(&[&["recondition", folder][..], &GO_ON].concat());
    ran.code(3).says("was written to since").says("compare it with a backup");
    let bytes = fs::read(&path).unwrap();
    assert!(places.iter().all(|place| bytes[*place as usize..][..BLOCK] == [7; BLOCK]), "{places:?}");
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), theirs);
    assert!(point.join(JOURNAL).exists());
}
