//! Runs a refresh with all of its files to its end, from its beginning or from where it was cut off. Files
//! and devices are refreshed alike.

use std::path::PathBuf;
use std::time::SystemTime;

use likenew_core::drive::BlockStore;

use crate::error::RefreshError;
use crate::journal::Journal;
use crate::journal_file::{JournalFile, JournalPaths};
use crate::plan::{StoreFacts, Task};
use crate::refresh::{Progress, Refresh};
use crate::resume::InspectedRefresh;
use crate::salvage_file::SalvageFile;
use crate::wording;

/// A refresh under way, with its files.
#[derive(Debug)]
pub struct RefreshSession<S> {
    refresh: Refresh<S, JournalFile>,
    salvage: Option<PathBuf>,
}

/// How a session ended.
#[derive(Debug)]
pub enum End {
    /// Everything was rewritten.
    Complete,
    /// The caller stopped it, and nothing is in flight.
    Stopped,
    /// Another program wants the store, and nothing is in flight.
    Wanted,
    /// It cannot continue.
    Failed(RefreshError),
}

/// The result of a session.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// How far it came.
    pub progress: Progress,
    /// The file with torn data, if any was found.
    pub salvage: Option<PathBuf>,
    /// The path of the journal, if it is still needed.
    pub journal: Option<PathBuf>,
}

impl<S: BlockStore> RefreshSession<S> {
    /// Begins a refresh. Nothing is written to the store yet; if it cannot begin, no journal is left.
    ///
    /// # Errors
    /// As for [`Refresh::begin`], or there is something in the place of the journal.
    pub fn begin(store: S, paths: &JournalPaths, task: &Task) -> Result<Self, RefreshError> {
        let file = JournalFile::create(paths)?;
        match Refresh::begin(store, file, task) {
            Ok(refresh) => Ok(Self { refresh, salvage: None }),
            Err(error) => {
                if let Some(file) = JournalFile::open(paths)? {
                    file.remove()?;
                }
                Err(error)
            }
        }
    }

    /// Resumes an interrupted refresh. Existing data where chunks are restored is first saved to a separate
    /// file.
    ///
    /// # Errors
    /// As for [`InspectedRefresh::resume`]; the journal stays.
    pub fn resume(inspected: InspectedRefresh<S, JournalFile>) -> Result<Self, RefreshError> {
        let mut salvage = SalvageFile::new(inspected.journal().file().paths().clone());
        let refresh = inspected.resume(&mut salvage)?;
        Ok(Self { refresh, salvage: salvage.into() })
    }

    /// Runs it to its end, or until `stops` says so or another program wants the store. With `stays`, the
    /// journal of an incomplete refresh is kept, and the next session resumes from it. Otherwise it is kept
    /// only if it holds data that the store may lack.
    ///
    /// # Errors
    /// The final flush or the removal of the journal failed: the journal stays.
    pub fn run(
        mut self,
        stays: bool,
        mut stops: impl FnMut(Progress) -> bool,
    ) -> Result<Outcome, RefreshError> {
        let end = loop {
            match self.refresh.step() {
                Ok(Some(_)) if stops(self.refresh.progress()) => {
                    break self.refresh.stop().map_or_else(End::Failed, |()| End::Stopped);
                }
                Ok(Some(_)) => {}
                Ok(None) => break End::Complete,
                Err(RefreshError::Wanted) => break End::Wanted,
                Err(error) => break End::Failed(error),
            }
        };
        let stays = match &end {
            End::Complete => false,
            End::Stopped | End::Wanted => stays,
            End::Failed(error) => error.needs_journal(),
        };
        let progress = self.refresh.progress();
        let (mut store, file) = self.refresh.into_parts();
        let journal = stays.then(|| file.path());
        if !stays {
            store.finish().map_err(RefreshError::Flush)?;
            file.remove()?;
        }
        Ok(Outcome { end, progress, salvage: self.salvage, journal })
    }
}

impl<S: BlockStore> InspectedRefresh<S, JournalFile> {
    /// Notes durably the boot in which the refresh is resumed, as [`JournalFile::note_resumed_in`] does.
    ///
    /// # Errors
    /// The system's error.
    pub fn note_resumed_in(&self, boot: &str) -> Result<(), RefreshError> {
        self.journal().file().note_resumed_in(boot)
    }
}

/// An interrupted refresh. Its journal is our own; nothing else has been checked.
#[derive(Debug)]
pub struct InterruptedRefresh {
    paths: JournalPaths,
    file: JournalFile,
    identity: String,
    note: String,
}

/// What the journal and the store together say about an interrupted refresh.
#[derive(Debug)]
pub enum State<S> {
    /// It can be resumed.
    Resumable(Box<InspectedRefresh<S, JournalFile>>),
    /// It was finished.
    Finished(JournalFile),
    /// Another program has written to the store since, but all chunks in flight are intact.
    Changed(JournalFile),
}

impl InterruptedRefresh {
    /// Looks for an interrupted refresh. A journal that was cut off before it saved anything is removed.
    ///
    /// # Errors
    /// The file may not be our own, is used by another run, or is damaged; or the system's error.
    pub fn find(paths: &JournalPaths) -> Result<Option<Self>, RefreshError> {
        let Some(mut file) = JournalFile::open(paths)? else { return Ok(None) };
        let (identity, note) = match Journal::open(&mut file) {
            Ok(journal) => (journal.identity().to_owned(), journal.note().to_owned()),
            Err(RefreshError::NoJournal(reason)) => {
                if Journal::has_chunks(&mut file)? {
                    return Err(RefreshError::Damaged(wording::chunks_without_plan(&reason)));
                }
                file.remove()?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        Ok(Some(Self { paths: paths.clone(), file, identity, note }))
    }

    /// The identity of the store in its task.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The task's note for resuming.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// When its journal was last written.
    ///
    /// # Errors
    /// The system's error.
    pub fn saved_at(&self) -> std::io::Result<SystemTime> {
        self.file.modified()
    }

    /// The boot in which it was last resumed, as in [`JournalFile::resumed_in`].
    ///
    /// # Errors
    /// The system's error.
    pub fn resumed_in(&self) -> std::io::Result<Option<String>> {
        self.file.resumed_in()
    }

    /// Compares the journal with the store, without writing anything, and with all that is `known` of the
    /// store otherwise.
    ///
    /// # Errors
    /// As for [`InspectedRefresh::inspect`]; the journal stays.
    pub fn inspect<S: BlockStore>(self, store: S, known: StoreFacts<'_>) -> Result<State<S>, RefreshError> {
        let Self { paths, file, .. } = self;
        let gone = || RefreshError::journal("open")(std::io::ErrorKind::NotFound.into());
        let file_again = || JournalFile::open(&paths)?.ok_or_else(gone);
        match InspectedRefresh::inspect(store, file, known) {
            Ok(inspected) => Ok(State::Resumable(Box::new(inspected))),
            Err(RefreshError::Finished) => file_again().map(State::Finished),
            Err(RefreshError::ChangedButWhole) => file_again().map(State::Changed),
            Err(error) => Err(error),
        }
    }
}
