//! A file that a user asked for. It is written beside its path and renamed at the end: a file is
//! replaced as a whole, and a link instead of its target. A device, a pipe or a folder is refused.

use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use tempfile::{Builder, NamedTempFile};

use crate::exit::{Failure, Result};
use crate::wording;

/// Permissions of a new file, before the umask of the process.
const MODE: u32 = 0o666;

/// Refuses a path that cannot take a file, before hours are spent on its content.
///
/// # Errors
/// Wrong usage: its folder does not exist, or it is a folder, a device, a pipe or a link to one.
pub(crate) fn check(path: &Path) -> Result<()> {
    // A link to nothing can take a file, as can a link to a file.
    if let Ok(there) = path.metadata() {
        let kind = there.file_type();
        if kind.is_dir() {
            return Err(Failure::Usage(wording::folder_instead_of_file(path)));
        }
        if !kind.is_file() {
            let is_device = kind.is_block_device() || kind.is_char_device();
            return Err(Failure::Usage(wording::no_regular_file(path, is_device)));
        }
    }
    let folder = folder_of(path);
    if folder.is_dir() { Ok(()) } else { Err(Failure::Usage(wording::no_folder_for(path, folder))) }
}

/// Makes a folder, unless it exists.
///
/// # Errors
/// Something else is there, or it cannot be made.
pub(crate) fn create_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|error| Failure::Usage(wording::could_not_make(path, &error)))
}

/// Puts a text or a picture into a file.
///
/// # Errors
/// As for [`check`], or the file cannot be written; the old one then stays.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    let mut file = OutputFile::begin(path)?;
    let written = file.unfinished.write_all(contents.as_ref());
    written.with_context(|| wording::could_not_write(path))?;
    file.finish().map(drop)
}

/// A file that does not have its name yet. It is deleted unless [`OutputFile::finish`] is called.
pub(crate) struct OutputFile {
    path: PathBuf,
    unfinished: NamedTempFile,
}

impl OutputFile {
    /// Begins a file, with the permissions of the one that it replaces, and its owner where that may be set.
    ///
    /// # Errors
    /// As for [`check`], or its folder cannot be written to.
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        check(path)?;
        let replaced = path.symlink_metadata().ok().filter(|there| there.file_type().is_file());
        let begin = || {
            let unfinished = Builder::new()
                .prefix(".likenew-")
                .permissions(Permissions::from_mode(MODE))
                .tempfile_in(folder_of(path))?;
            if let Some(there) = replaced {
                // Root leaves a user's file to the user; nobody else may give a file away.
                let _ = fchown(unfinished.as_file(), Some(there.uid()), Some(there.gid()));
                unfinished.as_file().set_permissions(there.permissions())?;
            }
            Ok(unfinished)
        };
        // The library's message would name the temporary file, which nobody asked for.
        let unfinished = begin().map_err(|error: io::Error| anyhow!(plain(&error)));
        Ok(Self {
            path: path.to_owned(),
            unfinished: unfinished.with_context(|| wording::could_not_write(path))?,
        })
    }

    /// The file, to write to.
    pub(crate) fn file(&self) -> &File {
        self.unfinished.as_file()
    }

    /// Gives the file its name, and returns it for further writes.
    ///
    /// # Errors
    /// The file cannot be made durable, or its folder cannot be written to any more.
    pub(crate) fn finish(self) -> Result<File> {
        let Self { path, unfinished } = self;
        let finished = unfinished
            .as_file()
            .sync_all()
            .and_then(|()| unfinished.persist(&path).map_err(|error| error.error));
        Ok(finished.with_context(|| wording::could_not_write(&path))?)
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The system's error, without the library's words.
fn plain(error: &io::Error) -> io::Error {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let code = error.raw_os_error().or_else(|| source?.raw_os_error());
    code.map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn message(path: &Path) -> Result<(), String> {
        let checked = check(path).map_err(|failure| failure.message());
        let written = write(path, "new").map_err(|failure| failure.message());
        assert_eq!(checked.is_err(), written.is_err(), "{checked:?} {written:?}");
        written
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("report.json"), folder.path().join("another name"));
        fs::write(&path, "a longer text").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        // Only root can give a file away.
        let _ = std::os::unix::fs::chown(&path, Some(65534), Some(65534));
        let owner = path.metadata().unwrap().uid();
        fs::hard_link(&path, &other).unwrap();
        message(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        let now = path.metadata().unwrap();
        assert_eq!((now.permissions().mode() & 0o777, now.uid()), (0o640, owner));
        assert_eq!(fs::read_to_string(&other).unwrap(), "a longer text", "it was not written in place");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside it");
        drop(OutputFile::begin(&path).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left of an unfinished one");
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (photo, link) = (folder.path().join("photo"), folder.path().join("link"));
        fs::write(&photo, "a photo").unwrap();
        for target in ["photo", "nothing"] {
            symlink(target, &link).unwrap();
            message(&link).unwrap();
            assert_eq!(fs::read_to_string(&photo).unwrap(), "a photo");
            assert!(link.symlink_metadata().unwrap().is_file() && !folder.path().join("nothing").exists());
            fs::remove_file(&link).unwrap();
        }
    }

    #[test]
    fn devices_pipes_and_folders_are_refused_also_behind_links() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (path, reason) in [
            (Path::new("/dev/null"), "it is a device"),
            (&pipe, "it is not a file"),
            (folder.path(), "it is a folder; give the name of a file"),
            (Path::new("no/such/folder.json"), "the folder no/such does not exist"),
        ] {
            assert!(message(path).unwrap_err().contains(reason), "{reason}");
            if path.exists() {
                let link = folder.path().join("link");
                symlink(path, &link).unwrap();
                assert!(message(&link).unwrap_err().contains(reason), "a link to: {reason}");
                fs::remove_file(link).unwrap();
            }
        }
    }
}
