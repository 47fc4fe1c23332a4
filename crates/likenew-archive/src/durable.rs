//! Writing so that it is on the drive, whole or not at all.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::error::ArchiveError;

/// Replaces a file of a run folder: writes it under another name, then renames it; durable when this returns.
/// Whatever happens, the name holds the old content or the new one.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> Result<(), ArchiveError> {
    let (path, unfinished) = (folder.join(name), folder.join(format!(".{name}.unfinished")));
    // What a killed run left, or a link of somebody else's, is never written to.
    let _ = fs::remove_file(&unfinished);
    let written = File::create_new(&unfinished)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&unfinished, &path));
    if let Err(source) = written {
        // The first error is the one that says what is wrong; a leftover is removed by the next attempt.
        let _ = fs::remove_file(&unfinished);
        return Err(ArchiveError::system("write", &path)(source));
    }
    sync_folder(folder)
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), ArchiveError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(ArchiveError::system("write", folder))
}
