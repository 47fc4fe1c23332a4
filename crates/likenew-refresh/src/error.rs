//! Why a refresh was refused or has stopped.

use std::io;
use std::path::PathBuf;

use likenew_core::target_error::system_reason;
use likenew_core::units::amount;

/// Why a refresh was refused or has stopped, as a sentence that says what to do.
///
/// [`RefreshError::is_refusal`] tells which errors precede any write to the store.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// Nothing can be done with these ranges, this chunk or this store.
    #[error("{0}; nothing was changed")]
    Unsuitable(String),
    /// The file for a new journal is not empty.
    #[error(
        "the journal's file is not empty; if it is the journal of an interrupted refresh, resume with it; nothing was changed"
    )]
    NotEmpty,
    /// The file in the place of the journal may not be our own.
    #[error(
        "{} is in the way: {reason}; check it, then move or remove it. Nothing was changed",
        path.display()
    )]
    NotOurs {
        /// The path of that file.
        path: PathBuf,
        /// Why it may not be our own.
        reason: String,
    },
    /// Another run uses the journal.
    #[error("another run of likenew uses {}; wait until it ends; nothing was changed", .0.display())]
    InUse(PathBuf),
    /// The journal lists fewer witnesses than the store has.
    #[error(
        "the journal lists fewer places to check for changes than this drive has: its partitions have changed since, or the journal is forged. Nothing was written. Compare the chunks in it with the data on the drive before you remove it"
    )]
    OtherWitnesses,
    /// The file is not a journal, or only the beginning of one.
    #[error(
        "this journal is incomplete ({0}). If the refresh was interrupted at its start, nothing was written: remove the journal and start again. Otherwise keep it: saved chunks can be taken out of it"
    )]
    NoJournal(String),
    /// Another version of this program wrote the journal.
    #[error(
        "the journal is of another version of likenew ({0}); resume with that version; nothing was changed"
    )]
    OtherVersion(String),
    /// The file is a journal, but its content cannot be true.
    #[error(
        "the journal is damaged ({0}), so nothing was written. Keep it: the chunks saved in it can be compared with the data on the drive"
    )]
    Damaged(String),
    /// The journal belongs to another store.
    #[error(
        "the journal is of \"{journal}\", and this is \"{store}\"; give the one it belongs to. Nothing was changed"
    )]
    OtherStore {
        /// The store that the journal was begun for.
        journal: String,
        /// The store that was given.
        store: String,
    },
    /// Another program has written to the store since, but all chunks in flight are intact.
    #[error(
        "another program has written there since the refresh was interrupted (perhaps it was mounted). Nothing is lost: all chunks in flight are intact. Remove the journal and start again; nothing was changed"
    )]
    ChangedButWhole,
    /// Another program has written to the store since, and chunks in flight differ from what was saved.
    #[error(
        "another program has written there since the refresh was interrupted (perhaps it was mounted), and {sectors} blocks of the chunk at byte {offset} differ from the saved copy. Only the owner can tell which is right, so nothing was written: take the saved chunks out of the journal, check the file system (fsck), and compare"
    )]
    Changed {
        /// First byte of the first differing chunk.
        offset: u64,
        /// Blocks that differ.
        sectors: u64,
    },
    /// More blocks of a chunk differ than a loss of power explains.
    #[error(
        "{sectors} blocks of the chunk at byte {offset} differ from the saved copy, more than half of it. A power loss seldom does that, so nothing was written. Keep the journal: the chunks saved in it can be compared with the data on the drive"
    )]
    TooMuch {
        /// First byte of the chunk.
        offset: u64,
        /// Blocks that differ.
        sectors: u64,
    },
    /// The refresh was finished.
    #[error("this refresh is finished; remove its journal")]
    Finished,
    /// The journal's file failed.
    #[error(
        "could not {action} the journal: {}; free some space there, or check that drive, and continue. The data on the drive is unchanged",
        system_reason(source)
    )]
    Journal {
        /// What could not be done to the journal.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The present data of blocks to restore cannot be saved.
    #[error(
        "could not save the present data of the blocks to restore: {}; free some space beside the journal, which keeps the earlier data, and continue",
        system_reason(.0)
    )]
    Salvage(io::Error),
    /// A part of the store cannot be read.
    #[error(
        "could not read {} at byte {offset}: {}. Nothing was written there; copy what you need to another drive first",
        amount(*length), system_reason(source)
    )]
    Read {
        /// First byte.
        offset: u64,
        /// Bytes that were to be read.
        length: u64,
        /// The system's error.
        source: io::Error,
    },
    /// A part of the store cannot be written. The journal keeps its data.
    #[error(
        "could not write {} at byte {offset}: {}. The journal holds what was there: keep it, and resume when the drive takes writes again",
        amount(*length), system_reason(source)
    )]
    Write {
        /// First byte.
        offset: u64,
        /// Bytes that were to be written.
        length: u64,
        /// The system's error.
        source: io::Error,
    },
    /// Other programs got access before written data was read back.
    #[error(
        "another program wrote to {} at byte {offset} before they were read back. The journal holds the earlier data: compare it with the present data, then remove it",
        amount(*length)
    )]
    Lost {
        /// First byte.
        offset: u64,
        /// Bytes that were compared.
        length: u64,
    },
    /// Another program wants the store.
    #[error(
        "stopped, because another program wants to use it; the data is unchanged; continue when that program has ended"
    )]
    Wanted,
    /// The store cannot be flushed. The journal keeps what was written since the last flush.
    #[error(
        "could not flush: {}. The journal holds the last chunks: keep it, and resume when the drive takes writes again",
        system_reason(.0)
    )]
    Flush(io::Error),
    /// Written data cannot be read back. The journal keeps it.
    #[error(
        "could not read back {} at byte {offset}: {}. The journal holds what was there: keep it, copy what you need to another drive, and resume only when the drive can be read again",
        amount(*length), system_reason(source)
    )]
    ReadBack {
        /// First byte.
        offset: u64,
        /// Bytes that were to be read.
        length: u64,
        /// The system's error.
        source: io::Error,
    },
    /// Written data reads back differently. The journal keeps it.
    #[error(
        "{} at byte {offset} did not read back as written: do not trust this drive. The journal holds what was there: take the saved chunks out of it, and copy what you need to another drive",
        amount(*length)
    )]
    NotKept {
        /// First byte.
        offset: u64,
        /// Bytes that were compared.
        length: u64,
    },
}

impl RefreshError {
    /// Whether the call that returned this error wrote nothing to the store.
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

    /// Whether the journal of a refresh that ended with this error holds data that the store may lack.
    pub fn needs_journal(&self) -> bool {
        !self.is_refusal() && !matches!(self, Self::Read { .. } | Self::Wanted)
    }

    /// The error of a failed write.
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

/// EIO, ENODATA, EILSEQ and EREMOTEIO of asm-generic/errno.h: the kernel returns them for a sector that the
/// medium cannot read (`blk_errors` of its block layer).
const MEDIUM_ERRORS: [i32; 4] = [5, 61, 84, 121];

/// Whether a read succeeded; `false` if the medium has lost the data.
///
/// # Errors
/// The read failed for another reason, which says nothing about the data.
pub(crate) fn is_readable(read: io::Result<()>) -> io::Result<bool> {
    match read {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error().is_some_and(|errno| MEDIUM_ERRORS.contains(&errno)) => Ok(false),
        Err(error) => Err(error),
    }
}
