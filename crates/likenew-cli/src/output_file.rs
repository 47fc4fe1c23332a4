//! A file that a user asked for, such as a picture. It is written beside its path and renamed at the end: a file is
//! replaced as a whole, and a link instead of its target. A device, a pipe or a folder is refused.

use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use likenew_report::card;
use likenew_report::labeled_document::LabeledDocument;
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
        Failure::reject_if(kind.is_dir(), wording::folder_instead_of_file(path))?;
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

/// The folder of a path; the current one for a mere name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The system's error, without the library's words.
fn plain(error: &io::Error) -> io::Error {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let code = error.raw_os_error().or_else(|| source?.raw_os_error());
    code.map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

/// A picture file, whose name decides its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PictureFile {
    path: PathBuf,
    is_png: bool,
}

impl PictureFile {
    /// Takes the format from the end of the path.
    ///
    /// # Errors
    /// The path does not end as a picture does, or this build cannot draw that format.
    pub(crate) fn parse(path: &str) -> Result<Self, String> {
        let path = PathBuf::from(path);
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        match extension.as_deref().and_then(std::ffi::OsStr::to_str) {
            Some("svg") => Ok(Self { path, is_png: false }),
            Some("png") if cfg!(feature = "png") => Ok(Self { path, is_png: true }),
            Some("png") => Err(wording::NO_PNG_IN_BUILD.to_owned()),
            _ => Err(wording::NO_PICTURE.to_owned()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Draws a document into it.
    ///
    /// # Errors
    /// This machine has no fonts for a PNG, or those of [`write`].
    pub(crate) fn write(&self, document: &LabeledDocument) -> Result<()> {
        let svg = card::svg(document);
        let picture = if self.is_png { rasterized(&svg)? } else { svg.into_bytes() };
        write(&self.path, &picture)
    }
}

#[cfg(feature = "png")]
fn rasterized(svg: &str) -> Result<Vec<u8>> {
    use resvg::{tiny_skia, usvg};

    let mut options = usvg::Options::default();
    options.fontdb_mut().load_system_fonts();
    Failure::refuse_if(options.fontdb.is_empty(), wording::NO_FONTS)?;
    let tree = usvg::Tree::from_str(svg, &options).expect("it is a picture of our own");
    let size = tree.size().to_int_size();
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height()).expect("it is small");
    resvg::render(&tree, tiny_skia::Transform::default(), &mut pixels.as_mut());
    Ok(pixels.encode_png().expect("pixels are encoded in memory"))
}

#[cfg(not(feature = "png"))]
fn rasterized(_svg: &str) -> Result<Vec<u8>> {
    unreachable!("a path of a PNG is refused")
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

    #[test]
    fn the_end_of_a_name_says_what_is_drawn() {
        assert!(!PictureFile::parse("a/drive.SVG").unwrap().is_png);
        for wrong in ["drive", "drive.jpg", "-", "png"] {
            assert!(PictureFile::parse(wrong).unwrap_err().contains(".svg"), "{wrong}");
        }
    }

    #[cfg(feature = "png")]
    #[test]
    fn a_png_has_the_size_of_the_picture_and_ink_on_it() {
        let paper = r##"<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"><rect width="300" height="100" fill="#fff"/>TEXT</svg>"##;
        let text =
            r##"<text x="10" y="50" font-size="40" font-family="Open Sans, DejaVu Sans">drive</text>"##;
        let drawn = |text| rasterized(&paper.replace("TEXT", text)).unwrap();
        let (empty, written) = (drawn(""), drawn(text));
        assert!(written.starts_with(b"\x89PNG\r\n\x1a\n"));
        let side = |at: usize| u32::from_be_bytes(written[at..at + 4].try_into().unwrap());
        assert_eq!((side(16), side(20)), (300, 100));
        assert!(written.len() > empty.len() + 500, "{} and {} bytes", written.len(), empty.len());
    }
}
