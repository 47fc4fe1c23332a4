//! Rewrites a block device in place: connects the refresh with the device, its consent, and a journal on
//! another drive.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use likenew_archive::AuditLog;
use likenew_core::fix::{AddressRange, FixEnd, FixReport, RewriteSettings};
use likenew_core::target_error::TargetError;
use likenew_real::consent::{Agreement, Consent};
use likenew_real::device_store::DeviceStore;
use likenew_real::drive_lock::check_disjoint;
use likenew_real::drive_traffic::DriveTraffic;
use likenew_refresh::{
    Folder, JournalPaths, Progress, RefreshError, RefreshSession, State, StoreFacts, Task,
};
use serde::{Deserialize, Serialize};

use super::{TimedStore, WriteTimer, find_interrupted_refresh, report_salvage, to_fix_report};
use crate::exit::{Failure, Result};
use crate::interrupt;
use crate::wording::{not_a_path, refresh as wording};

/// The refresh of a device: its agreement, and the path of its journal.
pub(crate) struct DeviceRefresh {
    pub(crate) agreement: Agreement,
    pub(crate) journal: PathBuf,
}

/// What a resumed refresh needs to know.
#[derive(PartialEq, Serialize, Deserialize)]
struct Note {
    pieces: Vec<AddressRange>,
}

impl DeviceRefresh {
    /// For the device at `path`, with its journal at the named path or beside the audit log.
    ///
    /// # Errors
    /// The folder of the journal cannot be made, or is not on another drive.
    pub(crate) fn new(path: &Path, agreement: Agreement, journal: Option<PathBuf>) -> Result<Self> {
        let journal = match journal {
            Some(journal) => std::path::absolute(&journal)
                .map_err(|error| Failure::Usage(not_a_path(journal.display(), error)))?,
            None => {
                let log =
                    AuditLog::default_path(|name| std::env::var_os(name)).map_err(anyhow::Error::new)?;
                let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
                let id = agreement.id.replace(|letter| !is_plain(letter), "_");
                log.with_file_name(format!("refresh-{id}.journal"))
            }
        };
        let folder = journal.parent().filter(|_| journal.file_name().is_some());
        let folder = folder.ok_or_else(|| Failure::Usage(wording::journal_not_a_file(journal.display())))?;
        fs::create_dir_all(folder).map_err(TargetError::system(format!("make {}", folder.display())))?;
        check_disjoint(folder, path)?;
        Ok(Self { agreement, journal })
    }

    /// The announcement before anything is done.
    pub(crate) fn announce_text(&self, path: &Path) -> String {
        wording::device_announcement(path, &self.journal)
    }

    /// Resumes an interrupted refresh, if there is one, and reports it.
    ///
    /// # Errors
    /// Why it cannot continue, and what to do; the journal stays.
    pub(crate) fn resume_and_report(&self, path: &Path) -> Result<(), TargetError> {
        if !self.journal.exists() {
            return Ok(());
        }
        let mut store = DeviceStore::open(Consent::to_rewrite(path, &self.agreement)?)?;
        let timer = RefCell::new(self.timer(path, RewriteSettings::default()));
        let resumed = self.resume(&mut store, None, &timer)?;
        if resumed.is_some_and(|fix_report| fix_report.end == FixEnd::Complete) {
            crate::console::note(wording::completed(path.display()));
        }
        Ok(())
    }

    /// Finishes an interrupted refresh, then rewrites these pieces.
    ///
    /// # Errors
    /// The refresh could not begin.
    pub(crate) fn refresh(
        &self,
        path: &Path,
        consent: Consent,
        pieces: &[AddressRange],
        settings: RewriteSettings,
    ) -> Result<FixReport, TargetError> {
        let mut store = DeviceStore::open(consent)?;
        let note = Note { pieces: pieces.to_vec() };
        let timer = RefCell::new(self.timer(path, settings));
        if let Some(fix_report) = self.resume(&mut store, Some(&note), &timer)? {
            return Ok(fix_report);
        }
        let task = Task {
            identity: self.agreement.id.clone(),
            note: serde_json::to_string(&note).expect("plain values"),
            ranges: pieces.iter().map(|piece| piece.offset..piece.offset + piece.bytes).collect(),
            marks: store.marks().to_vec(),
            ..Task::default()
        };
        let timed = TimedStore { store: &mut store, timer: &timer };
        let begun = RefreshSession::begin(timed, &self.place()?, &task);
        run_session(begun.map_err(|error| TargetError::Refused(error.to_string()))?, &timer)
    }

    fn timer(&self, path: &Path, settings: RewriteSettings) -> WriteTimer {
        let folder = self.journal.parent().expect("a journal has a folder");
        WriteTimer::start(settings.bytes_per_s_max).yield_drive(DriveTraffic::of_device(path), folder)
    }

    fn place(&self) -> Result<JournalPaths, TargetError> {
        let (folder, name) = (self.journal.parent(), self.journal.file_name());
        let (folder, name) = folder.zip(name).expect("a journal has a folder and a name");
        let opened =
            Folder::open(folder).map_err(TargetError::system(format!("open {}", folder.display())))?;
        let mut salvage = name.to_owned();
        salvage.push(".salvage");
        Ok(JournalPaths::new(opened, name, salvage))
    }

    /// Finishes the refresh in the journal. Returns its outcome if it is the requested one, or did not complete.
    fn resume(
        &self,
        store: &mut DeviceStore,
        requested: Option<&Note>,
        timer: &RefCell<WriteTimer>,
    ) -> Result<Option<FixReport>, TargetError> {
        let refused = |error: RefreshError| match error {
            // Without this error the user would not know that a run was interrupted.
            RefreshError::NotOurs { .. } | RefreshError::InUse(_) => TargetError::Refused(error.to_string()),
            error => TargetError::Refused(wording::device_cannot_go_on(error, &self.journal)),
        };
        let Some(interrupted) = find_interrupted_refresh(&self.place()?).map_err(refused)? else {
            return Ok(None);
        };
        let note: Option<Note> = serde_json::from_str(interrupted.note()).ok();
        let marks = store.marks().to_vec();
        let known = StoreFacts { identity: &self.agreement.id, marks: &marks };
        let timed = TimedStore { store, timer };
        let inspected = match interrupted.inspect(timed, known).map_err(refused)? {
            State::Resumable(inspected) => *inspected,
            State::Finished(file) => {
                file.remove().map_err(refused)?;
                return Ok(None);
            }
            State::Changed(file) => {
                file.remove().map_err(refused)?;
                crate::console::note(wording::DEVICE_CHANGED_SINCE);
                return Ok(None);
            }
        };
        let fix_report = run_session(RefreshSession::resume(inspected).map_err(refused)?, timer)?;
        let is_it = requested.is_none() || note.as_ref() == requested;
        Ok(Some(fix_report).filter(|fix_report| is_it || fix_report.end != FixEnd::Complete))
    }
}

/// Runs a session to its end, or until the user or the drive ends it; its journal then has the progress.
fn run_session(
    session: RefreshSession<TimedStore<'_, &mut DeviceStore>>,
    timer: &RefCell<WriteTimer>,
) -> Result<FixReport, TargetError> {
    let stops = |progress: Progress| {
        timer.borrow().keep_pace(progress.written_bytes);
        interrupt::is_requested()
    };
    let outcome = session.run(true, stops).map_err(|error| TargetError::Refused(error.to_string()))?;
    report_salvage(&outcome);
    let mut timer = timer.borrow_mut();
    let (write_speeds, paused) = (std::mem::take(&mut timer.speeds), std::mem::take(&mut timer.paused));
    Ok(FixReport { write_speeds, paused, ..to_fix_report(&outcome) })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;
    use std::process::Command;

    use likenew_refresh::{JournalFile, Refresh, Settings};

    use super::*;

    /// A loop device, detached whatever happens.
    struct LoopAttachment(PathBuf);

    impl LoopAttachment {
        fn to(image: &Path) -> Option<Self> {
            let output = Command::new("losetup").args(["--find", "--show"]).arg(image).output();
            match output {
                Ok(output) if output.status.success() => {
                    Some(Self(String::from_utf8(output.stdout).unwrap().trim().into()))
                }
                refused => {
                    eprintln!("SKIPPED: no loop device: {refused:?}");
                    None
                }
            }
        }
    }

    impl Drop for LoopAttachment {
        fn drop(&mut self) {
            let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
        }
    }

    #[test]
    fn a_device_that_was_cut_off_again_while_it_went_on_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let (image, journal) = (folder.path().join("image"), folder.path().join("journal"));
        let content: Vec<u8> = (0..8 << 20).map(|index: u32| (index / 512 * 31 + index) as u8).collect();
        fs::write(&image, &content).unwrap();
        let Some(device) = LoopAttachment::to(&image) else { return };
        let agreement = Agreement { id: image.to_str().unwrap().to_owned(), destroy: Vec::new() };
        let refresh = match DeviceRefresh::new(&device.0, agreement.clone(), Some(journal.clone())) {
            Ok(refresh) => refresh,
            Err(reason) => return eprintln!("SKIPPED: {}", reason.message()),
        };
        let mut store = DeviceStore::open(Consent::to_rewrite(&device.0, &agreement).unwrap()).unwrap();
        let task = Task {
            identity: agreement.id.clone(),
            note: serde_json::to_string(&Note { pieces: Vec::new() }).unwrap(),
            ranges: std::iter::once(0..content.len() as u64).collect(),
            settings: Settings { chunk_bytes: 64 << 10, ..Settings::default() },
            ..Task::default()
        };
        let file = JournalFile::create(&refresh.place().unwrap()).unwrap();
        let mut begun = Refresh::begin(&mut store, file, &task).unwrap();
        for _ in 0..9 {
            begun.step().unwrap().expect("there are more chunks");
        }
        let last = begun.progress().written_bytes;
        drop(begun);
        // The last chunk was torn. What an earlier run found torn is already kept.
        let interrupted = find_interrupted_refresh(&refresh.place().unwrap()).unwrap().unwrap();
        let known = StoreFacts { identity: &agreement.id, marks: &[] };
        let State::Resumable(inspected) = interrupted.inspect(&mut store, known).unwrap() else {
            panic!("{last} bytes were written")
        };
        let torn = inspected.in_flight().last().unwrap().start + 8192;
        drop(inspected);
        drop(store);
        fs::File::options().write(true).open(&image).unwrap().write_all_at(&[7; 512], torn).unwrap();
        let (first, second) =
            (folder.path().join("journal.salvage"), folder.path().join("journal.salvage-2"));
        fs::write(&first, "kept").unwrap();

        refresh.resume_and_report(&device.0).unwrap();
        assert!(fs::read(&image).unwrap() == content && !journal.exists());
        assert_eq!(fs::read(first).unwrap(), b"kept");
        assert!(fs::read(second).unwrap().ends_with(&[7; 512]));
    }

    #[test]
    fn a_journal_has_a_name() {
        let agreement = Agreement { id: "a drive".to_owned(), destroy: Vec::new() };
        for place in ["/", "/tmp/.."] {
            let refused = DeviceRefresh::new(Path::new("/dev/null"), agreement.clone(), Some(place.into()));
            assert!(matches!(refused, Err(Failure::Usage(_))), "{place}");
        }
    }
}
