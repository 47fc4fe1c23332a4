//! Rewritten files, resuming after a power cut, and changes by other programs in between.

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::time::SystemTime;

use likenew_core::units::Nanos;
use likenew_refresh::Refresh;

use super::*;

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

/// A folder with a file in it; `None`, with a message, if files cannot be leased.
fn folder() -> Option<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film");
    fs::write(&path, bytes(9 << 20)).unwrap();
    fs::File::open(&path).unwrap().sync_all().unwrap();
    if let Err(target_error) = FileStore::take(&path) {
        eprintln!("SKIPPED: {target_error}");
        return None;
    }
    Some((folder, path))
}

/// Interrupts the refresh of a file after one chunk, and returns its journal.
fn cut_off(folder: &Path, path: &Path) -> PathBuf {
    let mut store = FileStore::take(path).unwrap();
    let note = Note::for_file(path.strip_prefix(folder).unwrap(), &store, Some(&Boot::from_id("first")));
    let (_, place) = place(folder).unwrap();
    let file = JournalFile::create(&place).unwrap();
    let task = note.task(&store);
    Refresh::begin(&mut store, file, &task).unwrap().step().unwrap();
    place.path()
}

/// Resumes in the same boot.
fn resume_after_kill(folder: &Path) -> Result<Option<ResumeReport>, TargetError> {
    resume(folder, Some(&Boot::from_id("first")))
}

/// Resumes after a power cut.
fn resume_after_cut(folder: &Path) -> Result<Option<ResumeReport>, TargetError> {
    resume(folder, Some(&Boot::from_id("second")))
}

/// Addresses without sentinel blocks: inside the chunk that was being written, and outside.
const INSIDE: u64 = 96 << 10;
const OUTSIDE: u64 = (5 << 20) + (96 << 10);

/// Writes a block into the chunk that was being written.
fn write_block(path: &Path, bytes: &[u8; 4096]) {
    write_block_at(path, bytes, INSIDE);
}

fn write_block_at(path: &Path, bytes: &[u8; 4096], place: u64) {
    fs::File::options().write(true).open(path).unwrap().write_all_at(bytes, place).unwrap();
}

fn block_at(path: &Path, place: u64) -> Vec<u8> {
    fs::read(path).unwrap()[place as usize..][..4096].to_vec()
}

#[test]
fn a_slow_file_is_written_again_once_and_a_fast_one_left() {
    let Some((folder, path)) = folder() else { return };
    let clock = Monotonic::start();
    let timer = RefCell::new(WriteTimer::start(None));
    let before = fs::metadata(&path).unwrap();
    let mut sum = RefreshTotals::default();
    refresh_one(folder.path(), &path, Some(f64::INFINITY), (&clock, &timer), &mut sum).unwrap();
    // All but the sentinel blocks, which are never written, because they show writes of other programs.
    let written = sum.fix_report.bytes_written;
    assert!((8 << 20..9 << 20).contains(&written) && sum.gains.len() == 1, "{written}");
    assert!(fs::read(&path).unwrap() == bytes(9 << 20));
    let after = fs::metadata(&path).unwrap();
    assert_eq!(
        (after.ino(), after.mtime_nsec(), after.len()),
        (before.ino(), before.mtime_nsec(), before.len())
    );
    refresh_one(folder.path(), &path, Some(1.0), (&clock, &timer), &mut sum).unwrap();
    assert_eq!(
        (sum.fix_report.bytes_written, &*sum.fix_report.skips[0].reason),
        (written, "they read fast enough")
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no journal is left");
    // Another program has it open.
    let held = fs::File::open(&path).unwrap();
    let reason =
        refresh_one(folder.path(), &path, Some(f64::INFINITY), (&clock, &timer), &mut sum).unwrap_err();
    assert!(reason.reason.contains("another program has it open") && !reason.is_the_drive, "{reason:?}");
    drop(held);
}

#[test]
fn what_was_cut_off_goes_on_before_anything_else() {
    let Some((folder, path)) = folder() else { return };
    assert_eq!(resume_after_kill(folder.path()).unwrap(), None);
    let place = cut_off(folder.path(), &path);
    assert_eq!(
        resume_after_kill(folder.path()).unwrap(),
        Some(ResumeReport { file: path.clone(), salvage: None, is_newer: false })
    );
    assert!(fs::read(&path).unwrap() == bytes(9 << 20));
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "neither journal nor anything set salvage is left"
    );
    // An empty journal: the power failed as it was created.
    fs::write(&place, "").unwrap();
    assert_eq!(resume_after_kill(folder.path()).unwrap(), None);
    assert!(!place.exists());
}

#[test]
fn what_somebody_has_written_since_is_not_restored() {
    let Some((folder, path)) = folder() else { return };
    let place = cut_off(folder.path(), &path);
    write_block(&path, &[7; 4096]);
    let changed = modified(&path);
    let refused = resume_after_kill(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("was written to since") && refused.contains(JOURNAL), "{refused}");
    assert!(block_at(&path, INSIDE) == [7; 4096] && place.exists());
    assert_eq!(modified(&path), changed);
    // A change long after the journal was written comes from another program, whatever happened in between.
    let journal = fs::File::options().write(true).open(&place).unwrap();
    journal.set_modified(changed - 2 * OWN_WRITE_WINDOW).unwrap();
    drop(journal);
    let refused = resume_after_cut(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("was written to since") && block_at(&path, INSIDE) == [7; 4096], "{refused}");
    // Another program has written the same data: nothing is lost either way, and the modification time is
    // that program's.
    let same = bytes(9 << 20)[INSIDE as usize..][..4096].try_into().unwrap();
    write_block(&path, &same);
    let changed = modified(&path);
    assert_eq!(
        resume_after_kill(folder.path()).unwrap(),
        Some(ResumeReport { file: path.clone(), salvage: None, is_newer: true })
    );
    assert!(fs::read(&path).unwrap() == bytes(9 << 20));
    assert_eq!(modified(&path), changed);
}

#[test]
fn after_a_kill_another_programs_change_outside_of_the_chunk_keeps_its_time() {
    for resumes in [resume_after_kill, resume_after_cut] {
        let Some((folder, path)) = folder() else { return };
        cut_off(folder.path(), &path);
        // A program that waited for the file gets it at once.
        write_block_at(&path, &[7; 4096], OUTSIDE);
        let changed = modified(&path);
        assert_eq!(
            resumes(folder.path()).unwrap(),
            Some(ResumeReport { file: path.clone(), salvage: None, is_newer: true })
        );
        assert!(block_at(&path, OUTSIDE) == [7; 4096]);
        assert_eq!(modified(&path), changed, "rsync and make have to see the change");
    }
}

#[test]
fn what_differs_though_the_power_was_never_lost_stays() {
    let Some((folder, path)) = folder() else { return };
    let before = modified(&path);
    let place = cut_off(folder.path(), &path);
    write_block(&path, &[7; 4096]);
    let refuses = |boot: Option<&Boot>, word: &str| {
        let refused = resume(folder.path(), boot).unwrap_err().to_string();
        assert!(refused.contains(word) && refused.contains("compare it with a backup"), "{refused}");
        assert!(block_at(&path, INSIDE) == [7; 4096] && place.exists());
    };
    let first = Boot::from_id("first");
    refuses(Some(&first), "was written to since");
    // A change in this boot cannot come from a power cut in another one.
    let earlier = Boot { id: "second".to_owned(), started_at: before - Duration::from_secs(60) };
    refuses(Some(&earlier), "was written to since");
    // Another program has set back the modification time, or only the drive lost power.
    fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    refuses(Some(&first), "without a power loss of this machine");
    // The boot is unknown.
    refuses(None, "without a power loss of this machine");
    // It was resumed in the second boot, and killed there.
    let (_, journal) = super::place(folder.path()).unwrap();
    JournalFile::open(&journal).unwrap().unwrap().note_resumed_in("second").unwrap();
    refuses(Some(&Boot::from_id("second")), "without a power loss of this machine");
    JournalFile::open(&journal).unwrap().unwrap().note_resumed_in("").unwrap();
    refuses(Some(&Boot::from_id("third")), "without a power loss of this machine");
}

#[test]
fn what_a_loss_of_power_has_torn_is_restored_and_the_time_is_never_put_back() {
    let Some((folder, path)) = folder() else { return };
    fs::write(folder.path().join(SALVAGE), "").unwrap();
    let place = cut_off(folder.path(), &path);
    // The power failed in the middle of a write, before the time was set back.
    write_block(&path, &[7; 4096]);
    let left = modified(&path);
    let salvage = folder.path().join(SALVAGE);
    assert_eq!(
        resume_after_cut(folder.path()).unwrap(),
        Some(ResumeReport { file: path.clone(), salvage: Some(salvage.clone()), is_newer: true })
    );
    assert!(fs::read(&path).unwrap() == bytes(9 << 20) && !place.exists());
    assert!(fs::read(&salvage).unwrap().ends_with(&[7; 4096]), "what lay there is kept");
    assert_eq!(modified(&path), left, "nobody can tell any more whose it is");
    // Killed in the middle of a write, whose time was not set back: another program may have written as well.
    fs::remove_file(&salvage).unwrap();
    let place = cut_off(folder.path(), &path);
    let ours = modified(&place) + Duration::from_secs(1);
    fs::File::options().write(true).open(&path).unwrap().set_modified(ours).unwrap();
    assert_eq!(
        resume_after_kill(folder.path()).unwrap(),
        Some(ResumeReport { file: path.clone(), salvage: None, is_newer: true })
    );
    assert_eq!(modified(&path), ours);
}

#[test]
fn a_journal_notes_the_boot_in_which_it_is_gone_on_with() {
    let Some((folder, path)) = folder() else { return };
    cut_off(folder.path(), &path);
    let (_, place) = place(folder.path()).unwrap();
    let interrupted = find_interrupted_refresh(&place).unwrap().unwrap();
    assert_eq!(interrupted.resumed_in().unwrap(), None);
    drop(interrupted);
    let journal = JournalFile::open(&place).unwrap().unwrap();
    journal.note_resumed_in("second").unwrap();
    drop(journal);
    let interrupted = find_interrupted_refresh(&place).unwrap().unwrap();
    assert_eq!(interrupted.resumed_in().unwrap().as_deref(), Some("second"));
}

#[test]
fn a_journal_of_what_is_done_is_removed() {
    let Some((folder, path)) = folder() else { return };
    let mut store = FileStore::take(&path).unwrap();
    let (_, place) = place(folder.path()).unwrap();
    let task = Note::for_file(Path::new("film"), &store, None).task(&store);
    let mut refresh = Refresh::begin(&mut store, JournalFile::create(&place).unwrap(), &task).unwrap();
    while refresh.step().unwrap().is_some() {}
    drop(refresh);
    let place = place.path();
    drop(store);
    assert_eq!(resume_after_kill(folder.path()).unwrap(), None);
    assert!(fs::read(&path).unwrap() == bytes(9 << 20) && !place.exists());
}

#[test]
fn a_file_that_became_another_is_not_touched() {
    let Some((folder, path)) = folder() else { return };
    let place = cut_off(folder.path(), &path);
    let other = folder.path().join("other");
    fs::write(&other, vec![9; 9 << 20]).unwrap();
    fs::rename(&other, &path).unwrap();
    let refused = resume_after_kill(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("another file now") && refused.contains(JOURNAL), "{refused}");
    assert!(fs::read(&path).unwrap() == vec![9; 9 << 20] && place.exists());
}

/// Plants a journal of a file outside of the folder, as an attacker who knows everything about that
/// file could. `name` is the file in its note.
fn planted(folder: &Path, name: &str) -> PathBuf {
    let mut store = FileStore::take(&folder.parent().unwrap().join("victim")).unwrap();
    let (_, place) = place(folder).unwrap();
    let task = Note::for_file(Path::new(name), &store, None).task(&store);
    let file = JournalFile::create(&place).unwrap();
    Refresh::begin(&mut store, file, &task).unwrap().step().unwrap();
    place.path()
}

#[test]
fn a_journal_that_somebody_has_planted_changes_no_other_file() {
    let Some((outer, _)) = folder() else { return };
    let (victim, folder) = (outer.path().join("victim"), outer.path().join("of somebody"));
    fs::write(&victim, bytes(9 << 20)).unwrap();
    fs::File::open(&victim).unwrap().sync_all().unwrap();
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink("../victim", folder.join("film")).unwrap();
    std::os::unix::fs::symlink("..", folder.join("up")).unwrap();
    let absolute = victim.to_str().unwrap();
    let mut attempts = 0;
    for name in ["../victim", absolute, "film", "up/victim", "/proc/self/cwd/victim"] {
        let journal = planted(&folder, name);
        // The victim differs from the journal, so it would be written.
        write_block(&victim, &[7; 4096]);
        let before = fs::metadata(&victim).unwrap();
        for (owner, word) in [(0, "Nothing was changed"), (65534, "belongs to user 65534")] {
            let is_root = std::os::unix::fs::chown(&journal, Some(owner), Some(owner)).is_ok();
            let refused = resume_after_kill(&folder).unwrap_err().to_string();
            assert!(refused.contains(word) || !is_root, "{name}: {refused}");
            let after = fs::metadata(&victim).unwrap();
            assert_eq!((after.ctime(), after.ctime_nsec()), (before.ctime(), before.ctime_nsec()));
            assert!(fs::read(&victim).unwrap()[96 << 10..][..4096] == [7; 4096] && journal.exists());
            attempts += 1;
        }
        fs::remove_file(journal).unwrap();
        fs::write(&victim, bytes(9 << 20)).unwrap();
        fs::File::open(&victim).unwrap().sync_all().unwrap();
    }
    // By a hard link, the journal leads to the victim, but then the victim is a file of that folder.
    fs::hard_link(&victim, folder.join("second")).unwrap();
    planted(&folder, "second");
    assert_eq!(resume_after_kill(&folder).unwrap().unwrap().file, folder.join("second"));
    assert!(fs::read(&victim).unwrap() == bytes(9 << 20));
    println!(
        "attack: journals planted in a folder to have a file outside it written | {attempts} | refused, nothing written"
    );
}

#[test]
fn a_few_files_that_become_no_faster_end_it() {
    let gains =
        |gains: &[f64]| RefreshTotals { gains: gains.to_vec(), ..RefreshTotals::default() }.is_fruitless();
    assert!(!gains(&[]) && !gains(&[1.0, 1.0, 1.0]));
    assert!(gains(&[1.0, 1.1, 0.9, 1.0]) && !gains(&[3.0, 1.0, 4.0, 2.5]));
}

#[test]
fn all_files_are_written_again_in_the_order_in_which_they_lie_on_the_drive() {
    let Some((folder, path)) = folder() else { return };
    let other = folder.path().join("album");
    fs::write(&other, bytes(5 << 20)).unwrap();
    fs::File::open(&other).unwrap().sync_all().unwrap();
    let report = |from| match rewrite_files(folder.path(), RewriteSettings::default(), from) {
        ProbeResult::FixReport(report) => report,
        refused => panic!("{refused:?}"),
    };
    let complete = report(0);
    // All but the sentinel blocks, which are never written, because they show writes of other programs.
    assert!((12 << 20..14 << 20).contains(&complete.bytes_written), "{complete:?}");
    let timed: u64 = complete.write_speeds.points().iter().map(|point| point.bytes).sum();
    assert_eq!((timed, complete.end), (complete.bytes_written, FixEnd::Complete));
    assert!(fs::read(&path).unwrap() == bytes(9 << 20) && fs::read(&other).unwrap() == bytes(5 << 20));
    let files = files_in_address_order(folder.path()).unwrap();
    assert!(files.is_sorted_by_key(|file| file.address) && files.len() == 2, "{files:?}");
    // Files that were rewritten before a stop are not rewritten again.
    let last = &files[1];
    let length = fs::metadata(&last.path).unwrap().len();
    let continued = report(last.address);
    assert!(continued.bytes_written <= length && continued.bytes_written > 0, "{continued:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no journal is left");
}

#[test]
fn files_are_written_no_faster_than_they_may_be() {
    let Some((folder, _)) = folder() else { return };
    let clock = Monotonic::start();
    let settings = RewriteSettings { bytes_per_s_max: Some(8 << 20) };
    let ProbeResult::FixReport(report) = rewrite_files(folder.path(), settings, 0) else {
        panic!("it is possible")
    };
    assert!(report.bytes_written > 8 << 20 && clock.now() >= Nanos::from_secs(1), "{report:?}");
}
