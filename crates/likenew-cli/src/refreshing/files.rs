//! Old files of a folder's owner are written again.
//!
//! Each file is taken while nobody has it open, read once to see how fast it is, written again if it is slow, and read once more. The first few decide
//! whether to go on: where writing again makes nothing faster, wearing the drive any further would be for nothing.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use likenew_core::block_store::{BlockStore as _, LeaseState};
use likenew_core::fix::{FixEnd, FixReport, REWRITE_GAIN_MIN};
use likenew_core::lab_error::LabError;
use likenew_core::probe::ProbeResult;
use likenew_real::boot::Boot;
use likenew_real::clock::Monotonic;
use likenew_real::file_store::FileStore;
use likenew_real::folder_times::FolderTimes;
use likenew_real::old_files::old_files;
use likenew_refresh::{
    End, Folder, InspectedRefresh, InterruptedRefresh, JournalFile, JournalPaths, Progress, RefreshError,
    RefreshSession, State, StoreFacts, Task,
};
use serde::{Deserialize, Serialize};

use super::{find_interrupted_refresh, report_salvage};
use crate::interrupt;
use crate::wording::refresh as wording;

/// Lies in the folder while a file is written again.
const JOURNAL: &str = ".likenew-refresh-journal";
/// What stood in places that were torn, as they were before they were restored.
const SALVAGE: &str = ".likenew-refresh-salvage";
/// How much is read at once, and one after the other; before each it is asked whether somebody waits for the file.
const READ_BYTES: u64 = 4 << 20;
/// After so many files it is asked whether any of them became faster.
const TRIAL_FILES: usize = 4;

/// Who goes on after a cut has to know this.
#[derive(Serialize, Deserialize)]
struct Note {
    /// In the folder: after a cut that may be mounted somewhere else.
    path: PathBuf,
    times: String,
    /// In which boot the refresh began, if the system tells.
    boot: Option<String>,
}

impl Note {
    /// Of the file of this name in the folder.
    fn for_file(name: &Path, store: &FileStore, boot: Option<&Boot>) -> Self {
        Self { path: name.to_owned(), times: store.times(), boot: boot.map(|boot| boot.id.clone()) }
    }

    fn task(&self, store: &FileStore) -> Task {
        Task {
            identity: store.identity().to_owned(),
            note: serde_json::to_string(self).expect("plain values"),
            ranges: store.ranges().to_vec(),
            ..Task::default()
        }
    }
}

/// A write of ours changes the file's time as it begins, which is right after the journal was made durable, and the power may go before the time
/// is put back. A change that came later than this after the journal was written is somebody else's, and nothing is written over it.
const OWN_WRITE_WINDOW: Duration = Duration::from_secs(60);

/// Names the boot in place of the kernel, for tests that cannot take the power away from the machine they run on.
const BOOT: &str = "LIKENEW_BOOT_ID";

/// Which start of the machine this is.
fn present_boot() -> Option<Boot> {
    match std::env::var(BOOT) {
        Ok(id) if !id.is_empty() => Some(Boot::from_id(&id)),
        _ => Boot::present(),
    }
}

/// What going on has come to.
#[derive(Debug, PartialEq, Eq)]
struct ResumeReport {
    /// The file that is whole now.
    file: PathBuf,
    /// Where is kept what was torn, or somebody's, if anything was.
    salvage: Option<PathBuf>,
    /// Whether its time of modification is not the one from before the refresh.
    is_newer: bool,
}

fn place(folder: &Path) -> io::Result<(Folder, JournalPaths)> {
    let folder = Folder::open(folder)?;
    let place = JournalPaths::new(folder.clone(), JOURNAL, SALVAGE);
    Ok((folder, place))
}

/// Goes on with what was cut off in a folder, and says so.
///
/// # Errors
/// Why it cannot go on, and what to do; the journal stays.
pub(crate) fn resume_and_report(folder: &Path) -> Result<(), LabError> {
    if let Some(ResumeReport { file, is_newer, .. }) = resume(folder, present_boot().as_ref())? {
        let file = file.display();
        anstream::eprintln!("{}", wording::completed(&file));
        if is_newer {
            anstream::eprintln!("{}", wording::newer_time(&file));
        }
    }
    Ok(())
}

/// Goes on with the file that a run was writing again when it was cut off, and says which that was; nothing where there is none.
fn resume(folder: &Path, boot: Option<&Boot>) -> Result<Option<ResumeReport>, LabError> {
    let (opened, place) = place(folder).map_err(LabError::system(format!("open {}", folder.display())))?;
    let refused = |reason: String| LabError::Refused(wording::file_cannot_go_on(reason, &place.path()));
    let text = |error: RefreshError| match error {
        // Then nobody knows that a run was cut off here.
        RefreshError::NotOurs { .. } | RefreshError::InUse(_) => LabError::Refused(error.to_string()),
        error => refused(error.to_string()),
    };
    let times = FolderTimes::watch(&opened);
    let Some(interrupted) = find_interrupted_refresh(&place).map_err(text)? else { return Ok(None) };
    let note: Note =
        serde_json::from_str(interrupted.note()).map_err(|error| refused(wording::foreign_note(error)))?;
    let path = folder.join(&note.path);
    let mut store = FileStore::take_from(&opened, folder, &note.path)
        .map_err(|lab_error| refused(lab_error.to_string()))?;
    if store.identity() != interrupted.identity() {
        return Err(refused(wording::another_file(path.display())));
    }
    let since = FileChanges::inspect(&store, &note, &interrupted, boot)
        .map_err(|lab_error| refused(lab_error.to_string()))?;
    let (identity, ranges) = (store.identity().to_owned(), store.ranges().to_vec());
    match interrupted.inspect(&mut store, StoreFacts::from(&*identity)).map_err(text)? {
        // It was cut off when all was done and durable.
        State::Finished(file) => {
            file.remove().map_err(text)?;
            Ok(None)
        }
        // Nothing of ours is to be restored.
        State::Changed(file) => {
            file.remove().map_err(text)?;
            Ok(None)
        }
        State::Resumable(found) => {
            if let Some(reason) = since.objection(&found, &ranges) {
                return Err(refused(wording::compare_with_backup(path.display(), reason)));
            }
            // Before anything is saved or restored in this boot.
            found.note_resumed_in(boot.map_or("", |boot| &boot.id)).map_err(text)?;
            let session = RefreshSession::resume(*found).map_err(text)?;
            let outcome = session.run(false, |_| false).map_err(text)?;
            times.map(FolderTimes::restore);
            report_salvage(&outcome);
            match (outcome.end, outcome.journal) {
                (End::Failed(error), Some(_)) => Err(text(error)),
                (End::Failed(error), None) => {
                    Err(LabError::Refused(wording::file_left_as_it_was(path.display(), error)))
                }
                _ => Ok(Some(ResumeReport {
                    file: path,
                    salvage: outcome.salvage,
                    is_newer: !since.is_untouched,
                })),
            }
        }
    }
}

/// What is known of the time since a file was cut off.
///
/// Whether we have changed its time of modification or somebody else has, nobody can tell afterwards: whoever waited for the file is let in as soon as we
/// are killed. So that time stays as it is found.
struct FileChanges {
    /// The power has gone, and nothing else tears parts in flight.
    has_lost_power: bool,
    /// Its time of modification is as it was.
    is_untouched: bool,
    /// If it is not, the change can be that of the write that was cut off.
    may_be_ours: bool,
}

impl FileChanges {
    fn inspect(
        store: &FileStore,
        note: &Note,
        interrupted: &InterruptedRefresh,
        boot: Option<&Boot>,
    ) -> Result<Self, LabError> {
        let system = LabError::system("look at the journal");
        let last = interrupted.resumed_in().and_then(|last| Ok((last, interrupted.saved_at()?)));
        let (last, saved_at) = last.map_err(system)?;
        // An unknown one, and one that nobody has noted, may be the present one.
        let last = last.or_else(|| note.boot.clone()).filter(|last| !last.is_empty());
        let has_lost_power = boot.zip(last).is_some_and(|(boot, last)| boot.id != last);
        let modified = store.modified();
        let is_soon = modified.duration_since(saved_at).is_ok_and(|since| since <= OWN_WRITE_WINDOW);
        let is_before = boot.is_some_and(|boot| modified < boot.started_at);
        Ok(Self {
            has_lost_power,
            is_untouched: store.is_as_old_as(&note.times)?,
            may_be_ours: is_soon && is_before,
        })
    }

    /// Why nothing is restored, if something differs and that may be somebody's: the rest of a sentence.
    fn objection(
        &self,
        found: &InspectedRefresh<&mut FileStore, JournalFile>,
        ranges: &[Range<u64>],
    ) -> Option<&'static str> {
        found.differences().next()?;
        let nobody_else_wrote = self.is_untouched || (self.has_lost_power && self.may_be_ours);
        if !nobody_else_wrote {
            return Some(wording::WRITTEN_SINCE);
        }
        if !self.has_lost_power {
            return Some(
                "differs in parts from what was saved, and this machine has not lost power since: another program has written there, or the drive \
                 alone was without power",
            );
        }
        let is_in_ranges = |place: &Range<u64>| {
            ranges.iter().any(|range| range.start <= place.start && place.end <= range.end)
        };
        let is_alone = found.differences().all(|difference| is_in_ranges(&difference.range));
        (!is_alone).then_some(wording::MOVED_SINCE)
    }
}

/// What became of all of them.
#[derive(Default)]
struct RefreshTotals {
    fix_report: FixReport,
    /// How many times as fast each file was read afterwards.
    gains: Vec<f64>,
}

impl RefreshTotals {
    /// Whether the first files have become no faster.
    fn is_fruitless(&self) -> bool {
        let mut gains = self.gains.clone();
        gains.sort_by(f64::total_cmp);
        gains.len() >= TRIAL_FILES && gains[gains.len() / 2] < REWRITE_GAIN_MIN
    }
}

/// Writes old files again that are read slower than so many bytes a second.
pub(crate) fn refresh_files(folder: &Path, slower_than: f64) -> ProbeResult {
    let clock = Monotonic::start();
    let files = match old_files(folder) {
        Ok(files) => files,
        Err(reason) => return ProbeResult::Unknown(reason),
    };
    if files.is_empty() {
        return ProbeResult::Unknown(wording::NO_OLD_FILES.to_owned());
    }
    let mut sum = RefreshTotals::default();
    for path in files {
        let bytes = std::fs::symlink_metadata(&path).map_or(0, |metadata| metadata.len());
        if interrupt::is_requested() {
            sum.fix_report.skip(bytes, wording::STOPPED);
            sum.fix_report.end = FixEnd::Stopped;
        } else if sum.is_fruitless() {
            sum.fix_report.skip(bytes, wording::FIRST_NOT_FASTER);
        } else if let Err(RefreshFailure { reason, is_the_drive }) =
            refresh_one(folder, &path, slower_than, &clock, &mut sum)
        {
            // Names stay out of what is kept.
            sum.fix_report.skip(bytes, reason.replace(&*path.to_string_lossy(), "a file"));
            if is_the_drive || folder.join(JOURNAL).exists() {
                sum.fix_report.end = FixEnd::Failed;
                break;
            }
        }
    }
    sum.fix_report.elapsed = clock.now();
    ProbeResult::FixReport(sum.fix_report)
}

/// Why a file was left.
#[derive(Debug)]
struct RefreshFailure {
    reason: String,
    /// Whether no other file is tried, since something could not be read or written.
    is_the_drive: bool,
}

impl From<RefreshError> for RefreshFailure {
    fn from(error: RefreshError) -> Self {
        Self { reason: error.to_string(), is_the_drive: !error.is_refusal() }
    }
}

impl From<LabError> for RefreshFailure {
    fn from(lab_error: LabError) -> Self {
        Self { reason: lab_error.to_string(), is_the_drive: false }
    }
}

/// Reads a file and writes it again if it is slow.
fn refresh_one(
    folder: &Path,
    path: &Path,
    slower_than: f64,
    clock: &Monotonic,
    sum: &mut RefreshTotals,
) -> Result<(), RefreshFailure> {
    let name = path.strip_prefix(folder).unwrap_or(path);
    let no_journal =
        |error: io::Error| RefreshFailure { reason: wording::no_journal(error), is_the_drive: true };
    let (opened, place) = place(folder).map_err(no_journal)?;
    let mut store = FileStore::take_from(&opened, folder, name)?;
    for left in store.skips().to_vec() {
        sum.fix_report.skip(left.place.end - left.place.start, left.reason);
    }
    let bytes: u64 = store.ranges().iter().map(|range| range.end - range.start).sum();
    if bytes == 0 {
        return Ok(());
    }
    let before = speed(&mut store, clock)?;
    if before >= slower_than {
        sum.fix_report.skip(bytes, wording::FAST_ENOUGH);
        return Ok(store.give_back()?);
    }
    let task = Note::for_file(name, &store, present_boot().as_ref()).task(&store);
    let outcome =
        RefreshSession::begin(&mut store, &place, &task)?.run(false, |_| interrupt::is_requested())?;
    if let End::Failed(error) = outcome.end {
        return Err(error.into());
    }
    let Progress { done_bytes, all_bytes, written_bytes, .. } = outcome.progress;
    sum.fix_report.bytes += done_bytes;
    sum.fix_report.bytes_written += written_bytes;
    match outcome.end {
        End::Stopped => {
            sum.fix_report.skip(all_bytes - done_bytes, wording::STOPPED);
            sum.fix_report.end = FixEnd::Stopped;
        }
        End::Wanted => sum.fix_report.skip(all_bytes - done_bytes, LEASE_BREAK_REASON),
        End::Complete | End::Failed(_) => match speed(&mut store, clock) {
            Ok(after) => sum.gains.push(after / before),
            Err(trouble) if trouble.is_the_drive => return Err(trouble),
            Err(_) => {}
        },
    }
    Ok(store.give_back()?)
}

const LEASE_BREAK_REASON: &str = wording::IN_USE;

/// Bytes a second, read once in order.
fn speed(store: &mut FileStore, clock: &Monotonic) -> Result<f64, RefreshFailure> {
    let started_at = clock.now();
    let ranges = store.ranges().to_vec();
    let mut buffer = vec![0; READ_BYTES as usize];
    let mut bytes = 0;
    for range in ranges {
        for offset in (range.start..range.end).step_by(READ_BYTES as usize) {
            let length = READ_BYTES.min(range.end - offset) as usize;
            if store.lease_state() != LeaseState::Active {
                return Err(RefreshFailure { reason: LEASE_BREAK_REASON.to_owned(), is_the_drive: false });
            }
            store
                .read_at(offset, &mut buffer[..length])
                .map_err(|error| RefreshFailure { reason: wording::unreadable(error), is_the_drive: true })?;
            bytes += length;
        }
    }
    Ok(bytes as f64 / (clock.now() - started_at).as_secs_f64().max(1e-9))
}

#[cfg(test)]
mod tests;
