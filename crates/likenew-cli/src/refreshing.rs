//! Old files of a folder's owner are written again: what opens a file joined with what rewrites it and loses nothing.
//!
//! Each file is taken while nobody has it open, read once to see how fast it is, written again if it is slow, and read once more. The first few decide
//! whether to go on: where writing again makes nothing faster, wearing the drive any further would be for nothing.

use std::io;
use std::path::{Path, PathBuf};

use likenew_core::cure::{CureEnd, Cured, LeftOut};
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
    path: PathBuf,
    times: String,
}

/// Goes on with the file that a run was writing again when it was cut off, and says which that was; nothing where there is none.
///
/// # Errors
/// Why it can not go on, and what to do; the journal stays.
pub(crate) fn go_on(folder: &Path) -> Result<Option<PathBuf>, Fault> {
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
    let mut paper = open_paper(&place).map_err(|error| refused(error.to_string()))?;
    let journal = match Journal::open(&mut paper) {
        Ok(journal) => journal,
        // It was cut off before anything was touched.
        Err(RefreshError::NoJournal(_)) => {
            remove(&place).map_err(|error| refused(error.to_string()))?;
            return Ok(None);
        }
        Err(error) => return Err(refused(error.to_string())),
    };
    let note: Note = serde_json::from_str(journal.note())
        .map_err(|error| refused(format!("its note is none of ours: {error}")))?;
    let identity = journal.identity().to_owned();
    let (mut ground, is_untouched) = FileGround::take(&note.path)?.with_times(&note.times)?;
    if ground.identity() != identity {
        return Err(refused(format!("{} is another file now", note.path.display())));
    }
    let found = Found::look(&mut ground, paper, &identity).map_err(|error| refused(error.to_string()))?;
    // A cut may come between a write of ours and the times, but then what differs may be somebody's, too: only the owner can tell.
    if !is_untouched && found.differences().next().is_some() {
        return Err(refused(format!(
            "{} was written to since, and parts of it differ from what was saved: compare it with a backup, then remove the journal",
            note.path.display()
        )));
    }
    let aside = folder.join(ASIDE);
    let mut set_aside = create_paper(&aside).map_err(|error| refused(error.to_string()))?;
    let mut refresh = found.go_on(&mut set_aside).map_err(|error| refused(error.to_string()))?;
    while refresh.step().map_err(|error| refused(error.to_string()))?.is_some() {}
    drop(refresh);
    ground.give_back()?;
    // What was set aside is somebody's, if there is any of it.
    if set_aside.metadata().is_ok_and(|metadata| metadata.len() == 0) {
        remove(&aside).map_err(|error| refused(error.to_string()))?;
    }
    remove(&place).map_err(|error| refused(error.to_string()))?;
    Ok(Some(note.path))
}

fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

/// What became of all of them.
#[derive(Default)]
struct Sum {
    cured: Cured,
    /// How many times as fast each file was read afterwards.
    gains: Vec<f64>,
}

impl Sum {
    fn leave(&mut self, bytes: u64, why: impl Into<String>) {
        let why = why.into();
        match self.cured.left_out.iter_mut().find(|left| left.why == why) {
            Some(left) => left.bytes += bytes,
            None => self.cured.left_out.push(LeftOut { bytes, why }),
        }
    }

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
    // A run that goes on has left one in the middle.
    if let Err(fault) = go_on(folder) {
        return Seen::Unknown(fault.to_string());
    }
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
            sum.leave(bytes, "it was stopped before");
            sum.cured.end = CureEnd::Stopped;
        } else if sum.is_in_vain() {
            sum.leave(bytes, "the first files became no faster by it");
        } else if let Err(why) = refresh_one(folder, &path, slower_than, &clock, &mut sum) {
            // Names stay out of what is kept.
            sum.leave(bytes, why.replace(&*path.to_string_lossy(), "a file"));
            if folder.join(JOURNAL).exists() {
                break;
            }
        }
    }
    sum.cured.took = clock.now();
    Seen::Cured(sum.cured)
}

/// Reads a file and writes it again if it is slow.
fn refresh_one(
    folder: &Path,
    path: &Path,
    slower_than: f64,
    clock: &Monotonic,
    sum: &mut Sum,
) -> Result<(), String> {
    let mut ground = FileGround::take(path).map_err(|fault| fault.to_string())?;
    for left in ground.left_out().to_vec() {
        sum.leave(left.place.end - left.place.start, left.why);
    }
    let bytes: u64 = ground.ranges().iter().map(|range| range.end - range.start).sum();
    if bytes == 0 {
        return Ok(());
    }
    let before = speed(&mut ground, clock).map_err(|error| format!("it can not be read: {error}"))?;
    if before >= slower_than {
        sum.leave(bytes, "they are read fast enough");
        return ground.give_back().map_err(|fault| fault.to_string());
    }
    let note = Note { path: path.to_owned(), times: ground.times() };
    let task = Task {
        identity: ground.identity().to_owned(),
        note: serde_json::to_string(&note).expect("plain values"),
        ranges: ground.ranges().to_vec(),
        ..Task::default()
    };
    let journal = folder.join(JOURNAL);
    let paper =
        create_paper(&journal).map_err(|error| format!("no journal can be made in the folder: {error}"))?;
    let written = rewrite(&mut ground, paper, &task)?;
    remove(&journal).map_err(|error| error.to_string())?;
    sum.cured.bytes += bytes;
    sum.cured.bytes_written += written;
    let after = speed(&mut ground, clock).map_err(|error| format!("it can not be read: {error}"))?;
    sum.gains.push(after / before);
    ground.give_back().map_err(|fault| fault.to_string())
}

/// Bytes that were written; it ends early where somebody wants the file or asks to stop. The journal may then be removed.
fn rewrite(ground: &mut FileGround, paper: std::fs::File, task: &Task) -> Result<u64, String> {
    let mut refresh = Refresh::begin(ground, paper, task).map_err(|error| error.to_string())?;
    loop {
        match refresh.step() {
            Ok(Some(_)) if interrupt::asked() => {
                let written = refresh.progress().written_bytes;
                refresh.stop().map_err(|error| error.to_string())?;
                return Ok(written);
            }
            Ok(Some(_)) => {}
            Ok(None) | Err(RefreshError::Wanted(_)) => return Ok(refresh.progress().written_bytes),
            Err(error) => return Err(error.to_string()),
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
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index % 251) as u8).collect()
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
        let mut ground = FileGround::take(path).unwrap();
        let note = serde_json::to_string(&Note { path: path.to_owned(), times: ground.times() }).unwrap();
        let (identity, ranges) = (ground.identity().to_owned(), ground.ranges().to_vec());
        let task = Task { identity, note, ranges, ..Task::default() };
        let place = folder.join(JOURNAL);
        Refresh::begin(&mut ground, create_paper(&place).unwrap(), &task).unwrap().step().unwrap();
        place
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
        assert!(why.contains("another program has it open"), "{why}");
        drop(held);
    }

    #[test]
    fn what_was_cut_off_goes_on_before_anything_else() {
        let Some((folder, path)) = folder() else { return };
        assert_eq!(go_on(folder.path()).unwrap(), None);
        let place = cut_off(folder.path(), &path);
        assert_eq!(go_on(folder.path()).unwrap(), Some(path.clone()));
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
        let mut sum = Sum::default();
        sum.leave(5, "a");
        sum.leave(6, "a");
        sum.leave(7, "b");
        let left: Vec<u64> = sum.cured.left_out.iter().map(|left| left.bytes).collect();
        assert_eq!(left, [11, 7]);
    }
}
