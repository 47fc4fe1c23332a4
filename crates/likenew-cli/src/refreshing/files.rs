//! Rewrites files of a folder: old ones that are slow, or all of them.
//!
//! Each file is leased while no other program has it open. An old one is read once to measure its speed, rewritten if it is
//! slow, and read again. The first few decide whether to continue: if rewriting makes no file faster, more wear would be for
//! nothing. If all are rewritten, in address order, their write speed counts, and none is read for its speed.

use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use likenew_core::drive::{BlockStore as _, LeaseState};
use likenew_core::fix::{FixEnd, FixReport, REWRITE_GAIN_MIN, RewriteSettings};
use likenew_core::probe::ProbeResult;
use likenew_core::target_error::TargetError;
use likenew_real::clock::{Boot, Monotonic};
use likenew_real::drive_traffic::DriveTraffic;
use likenew_real::file_store::FileStore;
use likenew_real::folder_times::FolderTimes;
use likenew_real::old_files::{files_in_address_order, old_files};
use likenew_refresh::{
    End, Folder, InspectedRefresh, InterruptedRefresh, JournalFile, JournalPaths, Progress, RefreshError,
    RefreshSession, State, StoreFacts, Task,
};
use serde::{Deserialize, Serialize};

use super::{TimedStore, WriteTimer, find_interrupted_refresh, report_salvage};
use crate::interrupt;
use crate::wording::refresh as wording;

/// The journal in the folder while a file is rewritten.
const JOURNAL: &str = ".likenew-refresh-journal";
/// The old content of torn places, from before they were restored.
const SALVAGE: &str = ".likenew-refresh-salvage";
/// Bytes of one read; before each read, checks whether another program waits for the file.
const READ_BYTES: u64 = 4 << 20;
/// Files after which the refresh ends, unless they became faster.
const TRIAL_FILES: usize = 4;

/// What a resumed refresh needs to know.
#[derive(Serialize, Deserialize)]
struct Note {
    /// Relative to the folder, which may be mounted elsewhere later.
    path: PathBuf,
    times: String,
    /// The boot in which the refresh began, if the system reports it.
    boot: Option<String>,
}

impl Note {
    /// For the file of this name in the folder.
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

/// Time after the journal was written in which a new modification time of the file may be our own. A write changes
/// it right after the journal became durable, and power may fail before it is set back. A later change comes from
/// another program, and is not overwritten. Chosen: a minute is longer than any write of a chunk takes.
const OWN_WRITE_WINDOW: Duration = Duration::from_secs(60);

/// Replaces the kernel's boot id, for tests, which cannot cut the power of their machine.
const BOOT: &str = "LIKENEW_BOOT_ID";

/// The current boot of the machine.
fn present_boot() -> Option<Boot> {
    match std::env::var(BOOT) {
        Ok(id) if !id.is_empty() => Some(Boot::from_id(&id)),
        _ => Boot::present(),
    }
}

/// The result of resuming.
#[derive(Debug, PartialEq, Eq)]
struct ResumeReport {
    /// The file that is complete now.
    file: PathBuf,
    /// Where torn data, or data of another program, is kept, if there was any.
    salvage: Option<PathBuf>,
    /// Whether its modification time differs from the one before the refresh.
    is_newer: bool,
}

fn place(folder: &Path) -> io::Result<(Folder, JournalPaths)> {
    let folder = Folder::open(folder)?;
    let place = JournalPaths::new(folder.clone(), JOURNAL, SALVAGE);
    Ok((folder, place))
}

/// Resumes an interrupted refresh in a folder, and reports it.
///
/// # Errors
/// Why it cannot continue, and what to do; the journal stays.
pub(crate) fn resume_and_report(folder: &Path) -> Result<(), TargetError> {
    if let Some(ResumeReport { file, is_newer, .. }) = resume(folder, present_boot().as_ref())? {
        let file = file.display();
        crate::console::note(wording::completed(&file));
        if is_newer {
            crate::console::note(wording::newer_time(&file));
        }
    }
    Ok(())
}

/// Resumes the interrupted refresh of a file; `None` if there was nothing to restore.
fn resume(folder: &Path, boot: Option<&Boot>) -> Result<Option<ResumeReport>, TargetError> {
    let (opened, place) = place(folder).map_err(TargetError::system(format!("open {}", folder.display())))?;
    let refused = |reason: String| TargetError::Refused(wording::file_cannot_go_on(reason, &place.path()));
    let text = |error: RefreshError| match error {
        // Without this error the user would not know that a run was interrupted here.
        RefreshError::NotOurs { .. } | RefreshError::InUse(_) => TargetError::Refused(error.to_string()),
        error => refused(error.to_string()),
    };
    let times = FolderTimes::watch(&opened);
    let Some(interrupted) = find_interrupted_refresh(&place).map_err(text)? else { return Ok(None) };
    let note: Note =
        serde_json::from_str(interrupted.note()).map_err(|error| refused(wording::foreign_note(error)))?;
    let path = folder.join(&note.path);
    let mut store = FileStore::take_from(&opened, folder, &note.path)
        .map_err(|target_error| refused(target_error.to_string()))?;
    if store.identity() != interrupted.identity() {
        return Err(refused(wording::another_file(path.display())));
    }
    let since = FileChanges::inspect(&store, &note, &interrupted, boot)
        .map_err(|target_error| refused(target_error.to_string()))?;
    let (identity, ranges) = (store.identity().to_owned(), store.ranges().to_vec());
    match interrupted.inspect(&mut store, StoreFacts::from(&*identity)).map_err(text)? {
        // It was interrupted when everything was done and durable.
        State::Finished(file) => {
            file.remove().map_err(text)?;
            Ok(None)
        }
        // There is nothing of the refresh to restore.
        State::Changed(file) => {
            file.remove().map_err(text)?;
            Ok(None)
        }
        State::Resumable(inspected) => {
            if let Some(reason) = since.objection(&inspected, &ranges) {
                return Err(refused(wording::compare_with_backup(path.display(), reason)));
            }
            // Noted before anything is saved or restored in this boot.
            inspected.note_resumed_in(boot.map_or("", |boot| &boot.id)).map_err(text)?;
            let session = RefreshSession::resume(*inspected).map_err(text)?;
            let outcome = session.run(false, |_| false).map_err(text)?;
            times.map(FolderTimes::restore);
            report_salvage(&outcome);
            match (outcome.end, outcome.journal) {
                (End::Failed(error), Some(_)) => Err(text(error)),
                (End::Failed(error), None) => {
                    Err(TargetError::Refused(wording::file_left_as_it_was(path.display(), error)))
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

/// What happened to a file since its refresh was interrupted.
///
/// Nobody can tell afterwards whether this program or another changed the modification time: a program
/// that waited for the file gets it as soon as this one is killed. So the time is not set back.
struct FileChanges {
    /// Whether the power failed; nothing else tears a write in flight.
    has_lost_power: bool,
    /// Whether its modification time is unchanged.
    is_untouched: bool,
    /// Whether the interrupted write may have changed that time.
    may_be_ours: bool,
}

impl FileChanges {
    fn inspect(
        store: &FileStore,
        note: &Note,
        interrupted: &InterruptedRefresh,
        boot: Option<&Boot>,
    ) -> Result<Self, TargetError> {
        let system = TargetError::system("read the journal");
        let last = interrupted.resumed_in().and_then(|last| Ok((last, interrupted.saved_at()?)));
        let (last, saved_at) = last.map_err(system)?;
        // An unknown boot may be the current one.
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

    /// Why nothing is restored, as the rest of a sentence: something differs, and another program may have written it.
    fn objection(
        &self,
        inspected: &InspectedRefresh<&mut FileStore, JournalFile>,
        ranges: &[Range<u64>],
    ) -> Option<&'static str> {
        inspected.differences().next()?;
        let nobody_else_wrote = self.is_untouched || (self.has_lost_power && self.may_be_ours);
        if !nobody_else_wrote {
            return Some(wording::WRITTEN_SINCE);
        }
        if !self.has_lost_power {
            return Some(wording::DIFFERS_WITHOUT_POWER_LOSS);
        }
        let is_in_ranges = |place: &Range<u64>| {
            ranges.iter().any(|range| range.start <= place.start && place.end <= range.end)
        };
        let is_alone = inspected.differences().all(|difference| is_in_ranges(&difference.range));
        (!is_alone).then_some(wording::MOVED_SINCE)
    }
}

/// The totals over all files.
#[derive(Default)]
struct RefreshTotals {
    fix_report: FixReport,
    /// For each file, read speed after the refresh divided by that before.
    gains: Vec<f64>,
}

impl RefreshTotals {
    /// Whether the first files became no faster.
    fn is_fruitless(&self) -> bool {
        let mut gains = self.gains.clone();
        gains.sort_by(f64::total_cmp);
        gains.len() >= TRIAL_FILES && gains[gains.len() / 2] < REWRITE_GAIN_MIN
    }
}

/// Rewrites old files that read slower than this, in bytes a second.
pub(crate) fn refresh_files(folder: &Path, slower_than: f64) -> ProbeResult {
    let files = match old_files(folder) {
        Ok(files) => files,
        Err(reason) => return ProbeResult::Unknown(reason),
    };
    if files.is_empty() {
        return ProbeResult::Unknown(wording::NO_OLD_FILES.to_owned());
    }
    let how = FileRewriting { slower_than: Some(slower_than), bytes_per_s_max: None };
    ProbeResult::FixReport(rewrite_each(folder, &files, how).0)
}

/// Rewrites all files that begin at or behind byte `from` of the drive, in address order.
pub(crate) fn rewrite_files(folder: &Path, settings: RewriteSettings, from: u64) -> ProbeResult {
    let files = match files_in_address_order(folder) {
        Ok(files) => files,
        Err(reason) => return ProbeResult::Unknown(reason),
    };
    if files.is_empty() {
        return ProbeResult::Unknown(wording::NO_FILES.to_owned());
    }
    let left = files.into_iter().filter(|file| file.address >= from);
    let (addresses, paths): (Vec<u64>, Vec<PathBuf>) = left.map(|file| (file.address, file.path)).unzip();
    let how = FileRewriting { slower_than: None, bytes_per_s_max: settings.bytes_per_s_max };
    let (fix_report, finished) = rewrite_each(folder, &paths, how);
    let is_stopped = fix_report.end == FixEnd::Stopped;
    let stopped_at = addresses.get(finished).copied().filter(|_| is_stopped);
    ProbeResult::FixReport(FixReport { stopped_at, ..fix_report })
}

/// How files are rewritten.
#[derive(Clone, Copy, Debug)]
struct FileRewriting {
    /// Rewrite only files that read slower than this, in bytes a second; `None` rewrites all.
    slower_than: Option<f64>,
    bytes_per_s_max: Option<u64>,
}

/// Rewrites files one after the other. Returns the report, and how many files are finished.
fn rewrite_each(folder: &Path, files: &[PathBuf], how: FileRewriting) -> (FixReport, usize) {
    let clock = Monotonic::start();
    // Reading files for their speed moves bytes that the timer does not know of.
    let traffic = how.slower_than.is_none().then(|| DriveTraffic::of_folder(folder)).flatten();
    let timer = RefCell::new(WriteTimer::start(how.bytes_per_s_max).yield_drive(traffic, folder));
    let mut sum = RefreshTotals::default();
    let mut finished = 0;
    for path in files {
        let bytes = std::fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
        if interrupt::is_requested() {
            sum.fix_report.skip(bytes, wording::STOPPED);
            sum.fix_report.end = FixEnd::Stopped;
        } else if sum.is_fruitless() {
            sum.fix_report.skip(bytes, wording::FIRST_NOT_FASTER);
        } else if let Err(RefreshFailure { reason, is_the_drive }) =
            refresh_one(folder, path, how.slower_than, (&clock, &timer), &mut sum)
        {
            // Reports keep no names of files.
            sum.fix_report.skip(bytes, reason.replace(&*path.to_string_lossy(), "a file"));
            if is_the_drive || folder.join(JOURNAL).exists() {
                sum.fix_report.end = FixEnd::Failed;
                break;
            }
        }
        finished += usize::from(sum.fix_report.end == FixEnd::Complete);
    }
    sum.fix_report.elapsed = clock.now();
    sum.fix_report.paused = timer.borrow().paused;
    if how.slower_than.is_none() {
        sum.fix_report.write_speeds = std::mem::take(&mut timer.borrow_mut().speeds);
    }
    (sum.fix_report, finished)
}

/// Why a file was not rewritten.
#[derive(Debug)]
struct RefreshFailure {
    reason: String,
    /// Whether to stop, because something could not be read or written.
    is_the_drive: bool,
}

impl From<RefreshError> for RefreshFailure {
    fn from(error: RefreshError) -> Self {
        Self { reason: error.to_string(), is_the_drive: !error.is_refusal() }
    }
}

impl From<TargetError> for RefreshFailure {
    fn from(target_error: TargetError) -> Self {
        Self { reason: target_error.to_string(), is_the_drive: false }
    }
}

/// Rewrites a file if it reads slower than `slower_than`, or always without that.
fn refresh_one(
    folder: &Path,
    path: &Path,
    slower_than: Option<f64>,
    (clock, timer): (&Monotonic, &RefCell<WriteTimer>),
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
    let before = slower_than.map(|_| speed(&mut store, clock)).transpose()?;
    if before.zip(slower_than).is_some_and(|(before, slower_than)| before >= slower_than) {
        sum.fix_report.skip(bytes, wording::FAST_ENOUGH);
        return Ok(store.give_back()?);
    }
    let task = Note::for_file(name, &store, present_boot().as_ref()).task(&store);
    let written_before = sum.fix_report.bytes_written;
    let timed = TimedStore { store: &mut store, timer };
    let outcome = RefreshSession::begin(timed, &place, &task)?.run(false, |progress| {
        timer.borrow().keep_pace(written_before + progress.written_bytes);
        interrupt::is_requested()
    })?;
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
        End::Wanted => sum.fix_report.skip(all_bytes - done_bytes, wording::IN_USE),
        End::Complete | End::Failed(_) => match before.map(|before| (before, speed(&mut store, clock))) {
            Some((before, Ok(after))) => sum.gains.push(after / before),
            Some((_, Err(trouble))) if trouble.is_the_drive => return Err(trouble),
            Some((_, Err(_))) | None => {}
        },
    }
    Ok(store.give_back()?)
}

/// Bytes a second of one sequential read.
fn speed(store: &mut FileStore, clock: &Monotonic) -> Result<f64, RefreshFailure> {
    let started_at = clock.now();
    let ranges = store.ranges().to_vec();
    let mut buffer = vec![0; READ_BYTES as usize];
    let mut bytes = 0;
    for range in ranges {
        for offset in (range.start..range.end).step_by(READ_BYTES as usize) {
            let length = READ_BYTES.min(range.end - offset) as usize;
            if store.lease_state() != LeaseState::Active {
                return Err(RefreshFailure { reason: wording::IN_USE.to_owned(), is_the_drive: false });
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
