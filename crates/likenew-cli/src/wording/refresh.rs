//! Sentences about data that is rewritten in place, and about an interrupted refresh.

use std::fmt::Display;
use std::path::Path;

likenew_core::sentences! {
    pub(crate) fn device_announcement(path: &Path, journal: &Path) =
        "Rewrites existing data of {} in place. Journal: {}. If this is interrupted, run the same command \
         again.", path.display(), journal.display();
    pub(crate) fn salvage_kept(path: &Path) =
        "Half-written data is saved in {}; delete it when your files are fine.", path.display();
    pub(crate) fn completed(path: impl Display) = "An interrupted rewrite of {path} is finished now.";
    pub(crate) fn newer_time(path: impl Display) =
        "The modification time of {path} is newer than before, so backups copy it once more.";
    pub(crate) fn file_cannot_go_on(reason: impl Display, journal: &Path) =
        "an interrupted rewrite of a file here cannot be resumed: {reason} (its journal is {})",
        journal.display();
    pub(crate) fn device_cannot_go_on(reason: impl Display, journal: &Path) =
        "an interrupted rewrite of this drive cannot be resumed: {reason} (its journal is {})",
        journal.display();
    pub(crate) fn file_left_as_it_was(path: impl Display, error: impl Display) =
        "the rewrite of {path} was interrupted; no data is missing, and the rest was not rewritten: {error}";
    pub(crate) fn foreign_note(error: impl Display) = "its note is not from likenew: {error}";
    pub(crate) fn another_file(path: impl Display) = "{path} is another file now";
    pub(crate) fn compare_with_backup(path: impl Display, reason: &str) =
        "{path} {reason}; compare it with a backup, then delete the journal";
    pub(crate) fn no_journal(error: impl Display) = "no journal can be kept in the folder: {error}";
    pub(crate) fn unreadable(error: impl Display) = "it cannot be read: {error}";
    pub(crate) fn journal_not_a_file(path: impl Display) = "{path} is not a file";
}

pub(crate) const DEVICE_CHANGED_SINCE: &str = "A rewrite of this drive was interrupted, and the drive was written to since. No data is missing; the rest was not rewritten.";

pub(crate) const WRITTEN_SINCE: &str = "was written to since, and parts of it differ from the saved copy";
pub(crate) const DIFFERS_WITHOUT_POWER_LOSS: &str = "changed since it was saved, without a power loss of this machine: another program wrote there, or the drive lost power";
pub(crate) const MOVED_SINCE: &str = "was moved since, and parts of it differ from the saved copy";

pub(crate) const PAUSED: &str = "paused: another program uses the drive";
pub(crate) const RESUMED: &str = "rewriting resumes";

pub(crate) const NO_OLD_FILES: &str = "no file here is 1 MiB or more and unchanged for 30 days";
pub(crate) const NO_FILES: &str = "no file here is 1 MiB or more";
pub(crate) const STOPPED: &str = "it was stopped before";
pub(crate) const FIRST_NOT_FASTER: &str = "the first files did not get faster";
pub(crate) const FAST_ENOUGH: &str = "they read fast enough";
pub(crate) const IN_USE: &str = "another program opened it";
pub(crate) const ZEROS: &str = "they are zeros";

pub(crate) fn with_journal(error: impl Display, journal: Option<&Path>) -> String {
    journal.map_or_else(
        || error.to_string(),
        |journal| format!("{error} (the journal is {})", journal.display()),
    )
}
