//! Why a refresh was refused, or has stopped.

use std::io;
use std::path::PathBuf;

use likenew_core::target_error::system_reason;
use likenew_core::units::amount;

/// Every reason, as a sentence that says what to do.
///
/// [`RefreshError::is_refusal`] says which come before anything was written to the store.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// Ranges, chunk or store are such that nothing can be done with them.
    #[error("{0}; nothing was changed")]
    Unsuitable(String),
    /// The file for a new journal holds something.
    #[error(
        "the journal's file is not empty; if it is the journal of an interrupted refresh, resume with it; nothing was changed"
    )]
    NotEmpty,
    /// What is in the place of the journal need not be our own.
    #[error(
        "{} is in the way: {reason}; check it, then move or remove it. Nothing was changed",
        path.display()
    )]
    NotOurs {
        /// What is there.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Another run has the journal.
    #[error("another run of likenew uses {}; wait until it ends; nothing was changed", .0.display())]
    InUse(PathBuf),
    /// It names fewer places that are never rewritten than there are.
    #[error(
        "the journal lists fewer places to check for changes than this drive has: its partitions have changed since, or the journal is forged. Nothing was written. Compare the chunks in it with the data on the drive before you remove it"
    )]
    OtherWitnesses,
    /// It is not a journal, or only the beginning of one.
    #[error(
        "this journal is incomplete ({0}). If the refresh was interrupted at its start, nothing was written: remove the journal and start again. Otherwise keep it: saved chunks can be taken out of it"
    )]
    NoJournal(String),
    /// Another version of this program wrote it.
    #[error(
        "the journal is of another version of likenew ({0}); resume with that version; nothing was changed"
    )]
    OtherVersion(String),
    /// It is a journal, and what it says cannot be true.
    #[error(
        "the journal is damaged ({0}), so nothing was written. Keep it: the chunks saved in it can be compared with the data on the drive"
    )]
    Damaged(String),
    /// It belongs to something else.
    #[error(
        "the journal is of \"{journal}\", and this is \"{store}\"; give the one it belongs to. Nothing was changed"
    )]
    OtherStore {
        /// What the journal was begun for.
        journal: String,
        /// What was given.
        store: String,
    },
    /// Somebody has written to the store since, and nothing of ours is missing.
    #[error(
        "another program has written there since the refresh was interrupted (perhaps it was mounted). Nothing is lost: all chunks in flight are intact. Remove the journal and start again; nothing was changed"
    )]
    ChangedButWhole,
    /// Somebody has written to the store since, and chunks in flight differ from what was saved.
    #[error(
        "another program has written there since the refresh was interrupted (perhaps it was mounted), and {sectors} blocks of the chunk at byte {offset} differ from the saved copy. Only the owner can tell which is right, so nothing was written: take the saved chunks out of the journal, check the file system (fsck), and compare"
    )]
    Changed {
        /// Where the first differing chunk begins.
        offset: u64,
        /// How many blocks differ.
        sectors: u64,
    },
    /// More differs than a cut explains.
    #[error(
        "{sectors} blocks of the chunk at byte {offset} differ from the saved copy, more than half of it. A power loss seldom does that, so nothing was written. If no program has written there since, confirm that, and the chunk is restored; otherwise take the saved chunks out of the journal and compare"
    )]
    TooMuch {
        /// Where the chunk begins.
        offset: u64,
        /// How many blocks differ.
        sectors: u64,
    },
    /// It was finished.
    #[error("this refresh is finished; remove its journal")]
    Finished,
    /// The journal's file failed.
    #[error(
        "could not {action} the journal: {}; free some space there, or check that drive, and continue. The data on the drive is unchanged",
        system_reason(source)
    )]
    Journal {
        /// What was being done.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// What was torn cannot be kept.
    #[error(
        "could not save the present data of the blocks to restore: {}; free some space beside the journal, which keeps the earlier data, and continue",
        system_reason(.0)
    )]
    Salvage(io::Error),
    /// A place cannot be read.
    #[error(
        "could not read {} at byte {offset}: {}. Nothing was written there; copy what you need to another drive first",
        amount(*length), system_reason(source)
    )]
    Read {
        /// Where.
        offset: u64,
        /// Bytes that were to be read.
        length: u64,
        /// The system's answer.
        source: io::Error,
    },
    /// A place cannot be written. The journal keeps what was there.
    #[error(
        "could not write {} at byte {offset}: {}. The journal holds what was there: keep it, and resume when the drive takes writes again",
        amount(*length), system_reason(source)
    )]
    Write {
        /// Where.
        offset: u64,
        /// Bytes that were to be written.
        length: u64,
        /// The system's answer.
        source: io::Error,
    },
    /// Others were let in before what was written had been read back.
    #[error(
        "another program wrote to {} at byte {offset} before they were read back. The journal holds the earlier data: compare it with the present data, then remove it",
        amount(*length)
    )]
    Lost {
        /// Where.
        offset: u64,
        /// Bytes that were compared.
        length: u64,
    },
    /// Somebody else wants the store.
    #[error(
        "stopped, because another program wants to use it; the data is unchanged; continue when that program has ended"
    )]
    Wanted,
    /// The store cannot be flushed. The journal keeps what was written since the last time.
    #[error(
        "could not flush: {}. The journal holds the last chunks: keep it, and resume when the drive takes writes again",
        system_reason(.0)
    )]
    Flush(io::Error),
    /// What was written cannot be read back. The journal keeps it.
    #[error(
        "could not read back {} at byte {offset}: {}. The journal holds what was there: keep it, copy what you need to another drive, and resume only when the drive can be read again",
        amount(*length), system_reason(source)
    )]
    ReadBack {
        /// Where.
        offset: u64,
        /// Bytes that were to be read.
        length: u64,
        /// The system's answer.
        source: io::Error,
    },
    /// What was written is not what is read. The journal keeps it.
    #[error(
        "{} at byte {offset} did not read back as written: do not trust this drive. The journal holds what was there: take the saved chunks out of it, and copy what you need to another drive",
        amount(*length)
    )]
    NotKept {
        /// Where.
        offset: u64,
        /// Bytes that were compared.
        length: u64,
    },
}

impl RefreshError {
    /// Whether nothing was written to the store by the call that ended with it.
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self,
            Self::Journal { .. }
                | Self::Salvage(_)
                | Self::Lost { .. }
                | Self::Read { .. }
                | Self::Write { .. }
                | Self::Wanted
                | Self::Flush(_)
                | Self::ReadBack { .. }
                | Self::NotKept { .. }
        )
    }

    /// Whether a refresh that has ended with it under way has left something in its journal that may be
    /// missing on the store.
    pub fn needs_journal(&self) -> bool {
        !self.is_refusal() && !matches!(self, Self::Read { .. } | Self::Wanted)
    }

    /// What a failed write comes to.
    pub(crate) fn write(offset: u64, length: u64) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::ResourceBusy => Self::Wanted,
            _ => Self::Write { offset, length, source },
        }
    }

    pub(crate) fn journal(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Journal { action, source }
    }

    pub(crate) fn read_back(offset: u64, length: u64) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::ReadBack { offset, length, source }
    }

    pub(crate) fn read(offset: u64, length: u64) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Read { offset, length, source }
    }
}

/// EIO, ENODATA, EILSEQ and EREMOTEIO of asm-generic/errno.h: what the kernel answers for a sector that the
/// medium does not give back (`blk_errors` of its block layer).
const MEDIUM_ERRORS: [i32; 4] = [5, 61, 84, 121];

/// Whether what was read is there, or the medium has lost it.
///
/// # Errors
/// Any other reason not to read, which says nothing of what is there.
pub(crate) fn is_readable(read: io::Result<()>) -> io::Result<bool> {
    match read {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error().is_some_and(|errno| MEDIUM_ERRORS.contains(&errno)) => Ok(false),
        Err(error) => Err(error),
    }
}
