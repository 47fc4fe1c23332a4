//! Every sentence of the history that is not at a variant of [`HistoryError`](crate::HistoryError).

use std::path::Path;

/// A run that began at no time.
pub(crate) fn no_date(folder: &Path, text: &str) -> String {
    format!(
        "{}: started_at is {text:?}, which is not a date since 1970",
        folder.join("machine.json").display()
    )
}

/// What to do about a file that cannot be opened.
pub(crate) const CHECK_FILE: &str =
    "move it away, and it is made again from the run folders, or name another file with --history";
/// A database with tables that no history has.
pub(crate) const OF_ANOTHER_PROGRAM: &str = "it is the database of another program";
/// What to do about it.
pub(crate) const NAME_ANOTHER: &str = "name another file with --history";
/// What to do about a server that cannot be reached.
pub(crate) const CHECK_SERVER: &str = "check its address, and that the server runs and lets you in";
/// A server with tables of an earlier version, for a user who may not change them.
pub(crate) const NEEDS_OWNER: &str = "let a user who may change its tables run likenew history once, which makes them or brings them up to date";
/// After another program held a file for minutes.
pub(crate) const WAIT_FOR_FILE: &str =
    "another program holds it; try again when that has ended, or name another file with --history";
