//! What lies on a block device is written again where it lies: the refresh joined with the device, its consent, and a journal on another drive.

use std::fs;
use std::path::{Path, PathBuf};

use likenew_archive::AuditLog;
use likenew_core::cure::{CureEnd, Cured, Piece};
use likenew_core::fault::Fault;
use likenew_real::apart::check_apart;
use likenew_real::consent::{Agreement, Consent};
use likenew_real::device_ground::DeviceGround;
use likenew_refresh::{Found, Journal, Refresh, RefreshError, Task, create_paper, open_paper};
use serde::{Deserialize, Serialize};

use crate::exit::Failure;
use crate::interrupt;

/// What a device is known by, and where the journal of its rewriting lies.
pub(crate) struct Rewriting {
    pub(crate) agreement: Agreement,
    pub(crate) journal: PathBuf,
}

/// Whoever goes on after a cut has to know this.
#[derive(PartialEq, Serialize, Deserialize)]
struct Note {
    pieces: Vec<Piece>,
}

impl Rewriting {
    /// Of the device at `path`, with its journal where somebody wants it, or beside the log of what was done to drives.
    ///
    /// # Errors
    /// There is no such place on another drive.
    pub(crate) fn new(path: &Path, agreement: Agreement, journal: Option<PathBuf>) -> Result<Self, Failure> {
        let journal = match journal {
            Some(journal) => std::path::absolute(&journal)
                .map_err(|error| Failure::Usage(format!("\"{}\" is no path: {error}", journal.display())))?,
            None => {
                let log =
                    AuditLog::default_path(|name| std::env::var_os(name)).map_err(anyhow::Error::new)?;
                let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
                let id = agreement.id.replace(|letter| !is_plain(letter), "_");
                log.with_file_name(format!("refresh-{id}.journal"))
            }
        };
        let folder = journal.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.ok_or_else(|| Failure::Usage(format!("{} is no file", journal.display())))?;
        fs::create_dir_all(folder).map_err(Fault::system(format!("make {}", folder.display())))?;
        check_apart(folder, path)?;
        Ok(Self { agreement, journal })
    }

    /// What is said before anything is done.
    pub(crate) fn announced(&self, path: &Path) -> String {
        format!(
            "What is slow to read on {} is written again where it lies; nothing of it is lost. Nothing else may use it meanwhile. What is being \
             written is kept in {}, until it was read back.",
            path.display(),
            self.journal.display()
        )
    }

    /// Goes on with a rewriting that was cut off, if there is one, and says so.
    ///
    /// # Errors
    /// Why it can not go on, and what to do; the journal stays.
    pub(crate) fn go_on(&self, path: &Path) -> Result<(), Fault> {
        if !self.journal.exists() {
            return Ok(());
        }
        let mut ground = DeviceGround::of(Consent::to_rewrite(path, &self.agreement)?)?;
        if self.finish(&mut ground, None)?.is_some_and(|cured| cured.end == CureEnd::Complete) {
            anstream::eprintln!(
                "A run was cut off while it wrote {} again; that is done now.",
                path.display()
            );
        }
        Ok(())
    }

    /// Writes these pieces again, and first what an earlier run was writing when it was cut off.
    ///
    /// # Errors
    /// Nothing could be begun.
    pub(crate) fn rewrite(&self, consent: Consent, pieces: &[Piece]) -> Result<Cured, Fault> {
        let mut ground = DeviceGround::of(consent)?;
        let note = Note { pieces: pieces.to_vec() };
        if let Some(cured) = self.finish(&mut ground, Some(&note))? {
            return Ok(cured);
        }
        let task = Task {
            identity: self.agreement.id.clone(),
            note: serde_json::to_string(&note).expect("plain values"),
            ranges: pieces.iter().map(|piece| piece.offset..piece.offset + piece.bytes).collect(),
            marks: ground.marks().to_vec(),
            ..Task::default()
        };
        let paper =
            create_paper(&self.journal).map_err(Fault::system(format!("make {}", self.journal.display())))?;
        match Refresh::begin(&mut ground, paper, &task) {
            Ok(refresh) => self.lead(refresh),
            Err(error) => {
                self.remove()?;
                Err(Fault::Refused(error.to_string()))
            }
        }
    }

    /// Ends what the journal says was begun. What came of it, if that was what is asked for now.
    fn finish(&self, ground: &mut DeviceGround, asked: Option<&Note>) -> Result<Option<Cured>, Fault> {
        if !self.journal.exists() {
            return Ok(None);
        }
        let place = self.journal.display();
        let refused = |error: &dyn std::fmt::Display| {
            Fault::Refused(format!(
                "this drive was being written again when a run was cut off, and it can not go on: {error} (its journal is {place})"
            ))
        };
        let mut paper = open_paper(&self.journal).map_err(|error| refused(&error))?;
        let journal = match Journal::open(&mut paper) {
            Ok(journal) => journal,
            // It was cut off before anything was touched.
            Err(RefreshError::NoJournal(_)) => {
                self.remove()?;
                return Ok(None);
            }
            Err(error) => return Err(refused(&error)),
        };
        let note: Option<Note> = serde_json::from_str(journal.note()).ok();
        let found = match Found::look(ground, paper, &self.agreement.id) {
            Ok(found) => found,
            Err(RefreshError::Finished) => {
                self.remove()?;
                return Ok(None);
            }
            Err(error) => return Err(refused(&error)),
        };
        let aside = self.journal.with_added_extension("aside");
        let mut set_aside = create_paper(&aside).map_err(|error| refused(&error))?;
        let refresh = found.go_on(&mut set_aside).map_err(|error| refused(&error))?;
        // What was set aside is somebody's, if there is any of it.
        if set_aside.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            fs::remove_file(&aside).map_err(Fault::system(format!("remove {}", aside.display())))?;
        } else {
            anstream::eprintln!(
                "What the cut had torn is kept in {}; if nothing is amiss, remove that.",
                aside.display()
            );
        }
        let cured = self.lead(refresh)?;
        let is_it = asked.is_none() || note.as_ref() == asked;
        Ok(Some(cured).filter(|cured| is_it || cured.end != CureEnd::Complete))
    }

    /// Leads a refresh to its end, or to where somebody or the drive ends it. Its journal stays if it is needed.
    fn lead(&self, mut refresh: Refresh<&mut DeviceGround, fs::File>) -> Result<Cured, Fault> {
        let end = loop {
            match refresh.step() {
                Ok(Some(_)) if interrupt::asked() => break Ok(CureEnd::Stopped),
                Ok(Some(_)) => {}
                Ok(None) => break Ok(CureEnd::Complete),
                Err(error) => break Err(error),
            }
        };
        let progress = refresh.progress();
        let left = progress.all_bytes - progress.done_bytes;
        let mut cured =
            Cured { bytes: progress.done_bytes, bytes_written: progress.written_bytes, ..Cured::default() };
        let zeros = progress.zero_bytes;
        if zeros > 0 {
            cured.leave(zeros, "they are zeros");
        }
        match end {
            Ok(CureEnd::Stopped) => {
                cured.end = CureEnd::Stopped;
                cured.leave(left, "it was stopped before");
                // The journal knows how far it came.
                refresh.stop().map_err(|error| Fault::Refused(error.to_string()))?;
            }
            Ok(_) => self.remove()?,
            Err(error) => {
                cured.end = CureEnd::Failed;
                let needs = error.needs_journal();
                let journal = if needs {
                    format!(" (the journal is {})", self.journal.display())
                } else {
                    String::new()
                };
                cured.leave(left, format!("{error}{journal}"));
                if !needs {
                    self.remove()?;
                }
            }
        }
        Ok(cured)
    }

    fn remove(&self) -> Result<(), Fault> {
        fs::remove_file(&self.journal).map_err(Fault::system(format!("remove {}", self.journal.display())))
    }
}
