//! Old files of a folder's owner are written again: what opens a file joined with what rewrites it and loses nothing.
//!
//! Each file is taken while nobody has it open, read once to see how fast it is, written again if it is slow, and read once more. The first few decide
//! whether to go on: where writing again makes nothing faster, wearing the drive any further would be for nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use likenew_core::cure::{CureEnd, Cured};
use likenew_core::fault::Fault;
use likenew_core::ground::Ground as _;
use likenew_core::look::Seen;
use likenew_real::clock::Monotonic;
use likenew_real::file_ground::FileGround;
use likenew_real::old_files::old_files;
use likenew_refresh::{Found, Journal, Refresh, RefreshError, Task, create_paper, open_paper};
use serde::{Deserialize, Serialize};

use crate::interrupt;

/// Lies in the folder while a file is written again.
const JOURNAL: &str = ".likenew-refresh-journal";
/// What stood in places that were torn, as they were before they were restored.
const ASIDE: &str = ".likenew-refresh-aside";
/// How much is read at once, and one after the other.
const READ_BYTES: u64 = 4 << 20;
/// After so many files it is asked whether any of them became faster, by so much.
const TRIAL_FILES: usize = 4;
const GAIN_LEAST: f64 = 1.15;

/// Who goes on after a cut has to know this.
#[derive(Serialize, Deserialize)]
struct Note {
    /// In the folder: after a cut that may be mounted somewhere else.
    path: PathBuf,
    times: String,
    /// Where it was mounted when the refresh began.
    #[serde(default)]
    mounting: String,
}

impl Note {
    fn of(folder: &Path, path: &Path, ground: &FileGround) -> Self {
        let path = path.strip_prefix(folder).unwrap_or(path).to_owned();
        Self { path, times: ground.times(), mounting: ground.mounting() }
    }
}

/// A write of ours changes the file's time as it begins, which is right after the journal was made durable. A cut may come before the time
/// is put back. So long after the journal was written a change is believed to be ours if the power has gone since …
const OURS: Duration = Duration::from_secs(60);
/// … and so long if it has not, and we were killed: then nothing was torn, and the time alone is to be put back.
const OURS_KILLED: Duration = Duration::from_secs(10);

/// What going on has come to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GoneOn {
    /// The file that is whole now.
    pub(crate) file: PathBuf,
    /// Where is kept what was torn, or somebody's, if anything was.
    pub(crate) aside: Option<PathBuf>,
}

/// Goes on with what was cut off in a folder, and says so.
///
/// # Errors
/// As [`go_on`].
pub(crate) fn go_on_aloud(folder: &Path) -> Result<(), Fault> {
    let Some(GoneOn { file, aside }) = go_on(folder)? else { return Ok(()) };
    anstream::eprintln!("A run was cut off while it wrote {} again; that is done now.", file.display());
    if let Some(aside) = aside {
        anstream::eprintln!(
            "What the cut had torn in it is kept in {}; if nothing is amiss, remove that.",
            aside.display()
        );
    }
    Ok(())
}

/// Goes on with the file that a run was writing again when it was cut off, and says which that was; nothing where there is none.
///
/// # Errors
/// Why it can not go on, and what to do; the journal stays.
pub(crate) fn go_on(folder: &Path) -> Result<Option<GoneOn>, Fault> {
    let place = folder.join(JOURNAL);
    if !place.exists() {
        return Ok(None);
    }
    let refused = |why: String| {
        Fault::Refused(format!(
            "a file was being written again here when a run was cut off, and it can not go on: {why} (its journal is {})",
            place.display()
        ))
    };
    let told = |error: RefreshError| refused(error.to_string());
    let system = |error: io::Error| refused(error.to_string());
    let mut paper = open_paper(&place).map_err(system)?;
    let saved_at = paper.metadata().and_then(|metadata| metadata.modified()).map_err(system)?;
    let journal = match Journal::open(&mut paper) {
        Ok(journal) => journal,
        // It was cut off before anything was touched.
        Err(RefreshError::NoJournal(_)) => {
            remove(&place).map_err(system)?;
            return Ok(None);
        }
        Err(error) => return Err(told(error)),
    };
    let note: Note = serde_json::from_str(journal.note())
        .map_err(|error| refused(format!("its note is none of ours: {error}")))?;
    let identity = journal.identity().to_owned();
    let path = folder.join(&note.path);
    let changed_at = std::fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
    let mut ground = FileGround::take(&path).map_err(|fault| refused(fault.to_string()))?;
    if ground.identity() != identity {
        return Err(refused(format!("{} is another file now", path.display())));
    }
    // Where the power has not gone since, nothing was torn, and what differs is somebody's.
    let was_cut = note.mounting != ground.mounting();
    let since = changed_at.ok().and_then(|changed| changed.duration_since(saved_at).ok());
    let times = ground.times();
    let is_untouched;
    (ground, is_untouched) = ground.with_times(&note.times).map_err(|fault| refused(fault.to_string()))?;
    let is_ours =
        is_untouched || since.is_some_and(|since| since <= if was_cut { OURS } else { OURS_KILLED });
    if !is_ours {
        // Whoever has written to it since did so then.
        (ground, _) = ground.with_times(&times)?;
    }
    match Found::look(&mut ground, &mut paper, &identity) {
        Ok(found) if !(is_untouched || is_ours && was_cut) && found.differences().next().is_some() => {
            return Err(refused(format!(
                "{} was written to since, and parts of it differ from what was saved: compare it with a backup, then remove the journal",
                path.display()
            )));
        }
        Ok(_) => {}
        // It was cut off when all was done and durable.
        Err(RefreshError::Finished) => {
            ground.put_times_back().map_err(system)?;
            remove(&place).map_err(system)?;
            return Ok(None);
        }
        // Nothing of ours is to be restored.
        Err(RefreshError::ChangedButWhole) => {
            remove(&place).map_err(system)?;
            return Ok(None);
        }
        Err(error) => return Err(told(error)),
    }
    // Before the journal is written to: from then on its time says nothing of the change any more.
    ground.put_times_back().map_err(system)?;
    let found = Found::look(&mut ground, paper, &identity).map_err(told)?;
    let mut set_aside = open_aside(folder).map_err(system)?;
    let mut refresh = found.go_on(&mut set_aside.1).map_err(told)?;
    let failed = loop {
        match refresh.step() {
            Ok(Some(_)) => {}
            Ok(None) | Err(RefreshError::Wanted(_)) => break None,
            Err(error) if error.needs_journal() => return Err(told(error)),
            Err(error) => break Some(error),
        }
    };
    drop(refresh);
    ground.give_back()?;
    let (aside, paper) = set_aside;
    // What was set aside may be somebody's, if there is any of it.
    let is_empty = paper.metadata().is_ok_and(|metadata| metadata.len() == 0);
    if is_empty {
        remove(&aside).map_err(system)?;
    }
    remove(&place).map_err(system)?;
    match failed {
        None => Ok(Some(GoneOn { file: path, aside: (!is_empty).then_some(aside) })),
        Some(error) => Err(Fault::Refused(format!(
            "{} was being written again when a run was cut off; nothing of it is missing, and the rest was left as it is: {error}",
            path.display()
        ))),
    }
}

/// Where to keep what is torn: beside what an earlier run has kept, or was about to when it was cut off itself.
fn open_aside(folder: &Path) -> io::Result<(PathBuf, std::fs::File)> {
    let path = folder.join(ASIDE);
    let paper = match create_paper(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open_paper(&path)?,
        paper => paper?,
    };
    Ok((path, paper))
}

/// Removes it for good: a journal that came back after a cut would speak of what is long over.
fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)?;
    let folder = path.parent().expect("a file lies in a folder");
    std::fs::File::open(folder)?.sync_all()
}

/// What became of all of them.
#[derive(Default)]
struct Sum {
    cured: Cured,
    /// How many times as fast each file was read afterwards.
    gains: Vec<f64>,
}

impl Sum {
    /// Whether the first files have become no faster.
    fn is_in_vain(&self) -> bool {
        let mut gains = self.gains.clone();
        gains.sort_by(f64::total_cmp);
        gains.len() >= TRIAL_FILES && gains[gains.len() / 2] < GAIN_LEAST
    }
}

/// Writes old files again that are read slower than so many bytes a second.
pub(crate) fn refresh_files(folder: &Path, slower_than: f64) -> Seen {
    let clock = Monotonic::start();
    let files = match old_files(folder) {
        Ok(files) => files,
        Err(why) => return Seen::Unknown(why),
    };
    if files.is_empty() {
        return Seen::Unknown("no file of 1 MiB or more has lain here for 30 days".to_owned());
    }
    let mut sum = Sum::default();
    for path in files {
        let bytes = std::fs::symlink_metadata(&path).map_or(0, |metadata| metadata.len());
        if interrupt::asked() {
            sum.cured.leave(bytes, "it was stopped before");
            sum.cured.end = CureEnd::Stopped;
        } else if sum.is_in_vain() {
            sum.cured.leave(bytes, "the first files became no faster by it");
        } else if let Err(Trouble { why, is_the_drive }) =
            refresh_one(folder, &path, slower_than, &clock, &mut sum)
        {
            // Names stay out of what is kept.
            sum.cured.leave(bytes, why.replace(&*path.to_string_lossy(), "a file"));
            if is_the_drive || folder.join(JOURNAL).exists() {
                sum.cured.end = CureEnd::Failed;
                break;
            }
        }
    }
    sum.cured.took = clock.now();
    Seen::Cured(sum.cured)
}

/// Why a file was left.
#[derive(Debug)]
struct Trouble {
    why: String,
    /// Whether no other file is tried, since something could not be read or written.
    is_the_drive: bool,
}

impl Trouble {
    fn of_the_drive(error: &io::Error) -> Self {
        Self { why: format!("it can not be read: {error}"), is_the_drive: true }
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self { why: fault.to_string(), is_the_drive: false }
    }
}

/// Reads a file and writes it again if it is slow.
fn refresh_one(
    folder: &Path,
    path: &Path,
    slower_than: f64,
    clock: &Monotonic,
    sum: &mut Sum,
) -> Result<(), Trouble> {
    let mut ground = FileGround::take(path)?;
    for left in ground.left_out().to_vec() {
        sum.cured.leave(left.place.end - left.place.start, left.why);
    }
    let bytes: u64 = ground.ranges().iter().map(|range| range.end - range.start).sum();
    if bytes == 0 {
        return Ok(());
    }
    let before = speed(&mut ground, clock).map_err(|error| Trouble::of_the_drive(&error))?;
    if before >= slower_than {
        sum.cured.leave(bytes, "they are read fast enough");
        return Ok(ground.give_back()?);
    }
    let note = Note::of(folder, path, &ground);
    let task = Task {
        identity: ground.identity().to_owned(),
        note: serde_json::to_string(&note).expect("plain values"),
        ranges: ground.ranges().to_vec(),
        ..Task::default()
    };
    let journal = folder.join(JOURNAL);
    let no_journal = |error: io::Error| Trouble {
        why: format!("no journal can be kept in the folder: {error}"),
        is_the_drive: true,
    };
    let paper = create_paper(&journal).map_err(no_journal)?;
    let written = rewrite(&mut ground, paper, &task);
    if !written.as_ref().is_err_and(RefreshError::needs_journal) {
        remove(&journal).map_err(no_journal)?;
    }
    let written =
        written.map_err(|error| Trouble { why: error.to_string(), is_the_drive: !error.is_refusal() })?;
    sum.cured.bytes += bytes;
    sum.cured.bytes_written += written;
    let after = speed(&mut ground, clock).map_err(|error| Trouble::of_the_drive(&error))?;
    sum.gains.push(after / before);
    Ok(ground.give_back()?)
}

/// Bytes that were written; it ends early where somebody wants the file or asks to stop. The journal may then be removed.
fn rewrite(ground: &mut FileGround, paper: std::fs::File, task: &Task) -> Result<u64, RefreshError> {
    let mut refresh = Refresh::begin(ground, paper, task)?;
    loop {
        match refresh.step() {
            Ok(Some(_)) if interrupt::asked() => {
                let written = refresh.progress().written_bytes;
                refresh.stop()?;
                return Ok(written);
            }
            Ok(Some(_)) => {}
            Ok(None) | Err(RefreshError::Wanted(_)) => return Ok(refresh.progress().written_bytes),
            Err(error) => return Err(error),
        }
    }
}

/// Bytes a second, read once in order.
fn speed(ground: &mut FileGround, clock: &Monotonic) -> io::Result<f64> {
    let began = clock.now();
    let ranges = ground.ranges().to_vec();
    let mut buffer = vec![0; READ_BYTES as usize];
    let mut bytes = 0;
    for range in ranges {
        for offset in (range.start..range.end).step_by(READ_BYTES as usize) {
            let length = READ_BYTES.min(range.end - offset) as usize;
            ground.read_at(offset, &mut buffer[..length])?;
            bytes += length;
        }
    }
    Ok(bytes as f64 / (clock.now() - began).as_secs_f64().max(1e-9))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};
    use std::time::SystemTime;

    use super::*;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index % 251) as u8).collect()
    }

    fn modified(path: &Path) -> SystemTime {
        fs::metadata(path).unwrap().modified().unwrap()
    }

    /// A folder with a file in it, where files can be taken; that is said where they can not.
    fn folder() -> Option<(tempfile::TempDir, PathBuf)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film");
        fs::write(&path, bytes(9 << 20)).unwrap();
        fs::File::open(&path).unwrap().sync_all().unwrap();
        if let Err(fault) = FileGround::take(&path) {
            eprintln!("SKIPPED: {fault}");
            return None;
        }
        Some((folder, path))
    }

    /// A file of which one chunk was written again when it was cut off, and the journal of that.
    fn cut_off(folder: &Path, path: &Path) -> PathBuf {
        cut_off_in(None, folder, path)
    }

    /// The same, where it was mounted otherwise then.
    fn cut_off_in(mounting: Option<&str>, folder: &Path, path: &Path) -> PathBuf {
        let mut ground = FileGround::take(path).unwrap();
        let mut note = Note::of(folder, path, &ground);
        note.mounting = mounting.map_or(note.mounting, str::to_owned);
        let note = serde_json::to_string(&note).unwrap();
        let (identity, ranges) = (ground.identity().to_owned(), ground.ranges().to_vec());
        let task = Task { identity, note, ranges, ..Task::default() };
        let place = folder.join(JOURNAL);
        Refresh::begin(&mut ground, create_paper(&place).unwrap(), &task).unwrap().step().unwrap();
        place
    }

    /// Writes a block into the chunk that was being written, where no witness stands.
    fn write_block(path: &Path, bytes: &[u8; 4096]) {
        fs::File::options().write(true).open(path).unwrap().write_all_at(bytes, 96 << 10).unwrap();
    }

    #[test]
    fn a_slow_file_is_written_again_once_and_a_fast_one_left() {
        let Some((folder, path)) = folder() else { return };
        let clock = Monotonic::start();
        let before = fs::metadata(&path).unwrap();
        let mut sum = Sum::default();
        refresh_one(folder.path(), &path, f64::INFINITY, &clock, &mut sum).unwrap();
        // All but the places that are never written, by which somebody else's writing would show.
        let written = sum.cured.bytes_written;
        assert!((8 << 20..9 << 20).contains(&written) && sum.gains.len() == 1, "{written}");
        assert!(fs::read(&path).unwrap() == bytes(9 << 20));
        let after = fs::metadata(&path).unwrap();
        assert_eq!(
            (after.ino(), after.mtime_nsec(), after.len()),
            (before.ino(), before.mtime_nsec(), before.len())
        );
        refresh_one(folder.path(), &path, 1.0, &clock, &mut sum).unwrap();
        assert_eq!(
            (sum.cured.bytes_written, &*sum.cured.left_out[0].why),
            (written, "they are read fast enough")
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no journal is left");
        // Somebody has it open.
        let held = fs::File::open(&path).unwrap();
        let why = refresh_one(folder.path(), &path, f64::INFINITY, &clock, &mut sum).unwrap_err();
        assert!(why.why.contains("another program has it open") && !why.is_the_drive, "{why:?}");
        drop(held);
    }

    #[test]
    fn what_was_cut_off_goes_on_before_anything_else() {
        let Some((folder, path)) = folder() else { return };
        assert_eq!(go_on(folder.path()).unwrap(), None);
        let place = cut_off(folder.path(), &path);
        assert_eq!(go_on(folder.path()).unwrap(), Some(GoneOn { file: path.clone(), aside: None }));
        assert!(fs::read(&path).unwrap() == bytes(9 << 20));
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "neither journal nor anything set aside is left"
        );
        // A journal of nothing: the cut came while it was begun.
        fs::write(&place, "").unwrap();
        assert_eq!(go_on(folder.path()).unwrap(), None);
        assert!(!place.exists());
    }

    #[test]
    fn what_somebody_has_written_since_is_not_restored() {
        let Some((folder, path)) = folder() else { return };
        let place = cut_off(folder.path(), &path);
        write_block(&path, &[7; 4096]);
        let changed = modified(&path);
        let refused = go_on(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("was written to since") && refused.contains(JOURNAL), "{refused}");
        assert!(fs::read(&path).unwrap()[96 << 10..][..4096] == [7; 4096] && place.exists());
        assert_eq!(modified(&path), changed);
        // Somebody has written what was there, later than we can have: nothing is lost either way, and the time is theirs.
        let same = bytes(9 << 20)[96 << 10..][..4096].try_into().unwrap();
        write_block(&path, &same);
        let journal = fs::File::options().write(true).open(&place).unwrap();
        journal.set_modified(modified(&path) - 2 * OURS).unwrap();
        drop(journal);
        let changed = modified(&path);
        assert_eq!(go_on(folder.path()).unwrap(), Some(GoneOn { file: path.clone(), aside: None }));
        assert!(fs::read(&path).unwrap() == bytes(9 << 20));
        assert_eq!(modified(&path), changed);
    }

    #[test]
    fn what_a_loss_of_power_has_torn_is_restored_although_the_time_was_not_put_back() {
        let Some((folder, path)) = folder() else { return };
        let before = modified(&path);
        fs::write(folder.path().join(ASIDE), "").unwrap();
        let place = cut_off_in(Some("another boot"), folder.path(), &path);
        write_block(&path, &[7; 4096]);
        let aside = folder.path().join(ASIDE);
        assert_eq!(
            go_on(folder.path()).unwrap(),
            Some(GoneOn { file: path.clone(), aside: Some(aside.clone()) })
        );
        assert!(fs::read(&path).unwrap() == bytes(9 << 20) && !place.exists());
        assert!(fs::read(&aside).unwrap().ends_with(&[7; 4096]), "what lay there is kept");
        assert_eq!(modified(&path), before);
        // Killed in the middle of a write, whose time was not put back.
        fs::remove_file(&aside).unwrap();
        let place = cut_off(folder.path(), &path);
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified(&place)).unwrap();
        assert_eq!(go_on(folder.path()).unwrap(), Some(GoneOn { file: path.clone(), aside: None }));
        assert_eq!(modified(&path), before);
        // Long after the journal was written it is somebody else's change, whatever has happened in between.
        let place = cut_off_in(Some("another boot"), folder.path(), &path);
        write_block(&path, &[7; 4096]);
        let journal = fs::File::options().write(true).open(&place).unwrap();
        journal.set_modified(modified(&path) - 2 * OURS).unwrap();
        assert!(go_on(folder.path()).unwrap_err().to_string().contains("was written to since"));
    }

    #[test]
    fn a_journal_of_what_is_done_is_removed() {
        let Some((folder, path)) = folder() else { return };
        let place = folder.path().join(JOURNAL);
        let mut ground = FileGround::take(&path).unwrap();
        let note = serde_json::to_string(&Note::of(folder.path(), &path, &ground)).unwrap();
        let (identity, ranges) = (ground.identity().to_owned(), ground.ranges().to_vec());
        let task = Task { identity, note, ranges, ..Task::default() };
        rewrite(&mut ground, create_paper(&place).unwrap(), &task).unwrap();
        drop(ground);
        assert_eq!(go_on(folder.path()).unwrap(), None);
        assert!(fs::read(&path).unwrap() == bytes(9 << 20) && !place.exists());
    }

    #[test]
    fn a_file_that_became_another_is_not_touched() {
        let Some((folder, path)) = folder() else { return };
        let place = cut_off(folder.path(), &path);
        let other = folder.path().join("other");
        fs::write(&other, vec![9; 9 << 20]).unwrap();
        fs::rename(&other, &path).unwrap();
        let refused = go_on(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("another file now") && refused.contains(JOURNAL), "{refused}");
        assert!(fs::read(&path).unwrap() == vec![9; 9 << 20] && place.exists());
    }

    #[test]
    fn a_few_files_that_become_no_faster_end_it() {
        let gains = |gains: &[f64]| Sum { gains: gains.to_vec(), ..Sum::default() }.is_in_vain();
        assert!(!gains(&[]) && !gains(&[1.0, 1.0, 1.0]));
        assert!(gains(&[1.0, 1.1, 0.9, 1.0]) && !gains(&[3.0, 1.0, 4.0, 2.5]));
    }
}
