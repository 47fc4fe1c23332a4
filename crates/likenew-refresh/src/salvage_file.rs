//! The file for existing data that a restored chunk replaces: most likely torn, but kept all the same.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::durable_file::DurableFile;
use crate::journal_file::{JournalPaths, create_own, open_own};
use crate::wording;

/// Files at most; there are never so many, as each holds what one cut has torn.
const FILES_MAX: u32 = 1000;

/// A file that is made when there is something to keep. One that is there already is left as it is, and the
/// next number is taken.
#[derive(Debug)]
pub struct SalvageFile {
    paths: JournalPaths,
    file: Option<(File, PathBuf)>,
}

impl SalvageFile {
    pub(crate) fn new(paths: JournalPaths) -> Self {
        Self { paths, file: None }
    }

    /// Where it is, if there was anything to keep.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|(_, path)| &**path)
    }

    fn create(&self) -> io::Result<(File, PathBuf)> {
        let folder = self.paths.folder();
        for number in 1..=FILES_MAX {
            let mut name = OsString::from(self.paths.salvage());
            if number > 1 {
                name.push(format!("-{number}"));
            }
            let path = folder.path().join(&name);
            match create_own(folder, &name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return Ok((made?, path)),
            }
            // One of ours that was made right before a cut and holds nothing.
            if let Ok(Some(file)) = open_own(folder, &name)
                && file.metadata()?.len() == 0
            {
                return Ok((file, path));
            }
        }
        let first = folder.path().join(self.paths.salvage());
        Err(io::Error::other(wording::too_many_salvage_files(&first, FILES_MAX)))
    }
}

impl DurableFile for SalvageFile {
    fn bytes(&mut self) -> io::Result<u64> {
        self.file.as_mut().map_or(Ok(0), |(file, _)| file.bytes())
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        match &mut self.file {
            Some((file, _)) => file.read_at(offset, into),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(self.create()?);
        }
        let (file, _) = self.file.as_mut().expect("it was just made");
        file.write_at(offset, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |(file, _)| file.sync())
    }
}

impl From<SalvageFile> for Option<PathBuf> {
    fn from(salvage: SalvageFile) -> Self {
        salvage.file.map(|(_, path)| path)
    }
}
