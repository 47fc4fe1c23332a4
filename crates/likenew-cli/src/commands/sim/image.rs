//! The file of `--store`: the drive's bytes as a sparse file, with its identity and its saved internal state
//! beside it.
//!
//! `FILE` is byte for byte what the drive holds, `FILE.drive` identifies the drive, and `FILE.snapshot` is
//! its internal state after a clean end. An existing file without a matching `FILE.drive` is never written.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use likenew_core::input;
use likenew_sim::SimDrive;
use serde::{Deserialize, Serialize};

use crate::exit::{Failure, Result};
use crate::output_file::{self, OutputFile};
use crate::wording::sim as wording;

/// Version of the format of `FILE.drive`.
const SCHEMA: u32 = 1;

/// The drive that a file belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Label {
    schema: u32,
    target: String,
    capacity_bytes: u64,
    /// Whether the internal state was saved when the last serve ended.
    clean: bool,
}

/// The file of a store, locked by this process.
#[derive(Debug)]
pub(crate) struct StoreFile {
    path: PathBuf,
    file: File,
    label: Label,
}

impl StoreFile {
    /// Creates the file, or opens that of an earlier serve of the same drive.
    ///
    /// # Errors
    /// The file belongs to another program or another drive, is in use, or cannot be opened. Nothing was changed then.
    pub(crate) fn open(path: &Path, target: &str, capacity_bytes: u64) -> Result<Self> {
        let shown = path.display();
        Failure::reject_if(path.to_string_lossy().contains('?'), wording::store_with_question_mark(&shown))?;
        let label = Label { schema: SCHEMA, target: target.to_owned(), capacity_bytes, clean: true };
        match OpenOptions::new().read(true).write(true).create_new(true).open(path) {
            Ok(file) => {
                let mut store = Self { path: path.to_owned(), file, label };
                store.lock()?;
                // With this label, the next serve can tell that this one failed.
                store.write_label(true)?;
                Ok(store)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Self::take_up(path, &label),
            Err(error) => Err(anyhow::Error::new(error).context(wording::could_not_make(shown)).into()),
        }
    }

    fn take_up(path: &Path, expected: &Label) -> Result<Self> {
        let shown = path.display();
        let beside = label_path(path);
        let text = input::read_text(&beside, input::LABEL)
            .map_err(|error| Failure::Refused(wording::store_without_label(&shown, &beside, error)))?;
        let label: Label = serde_json::from_str(&text)
            .map_err(|error| Failure::Refused(wording::bad_label(&beside, error)))?;
        if (label.schema, &label.target, label.capacity_bytes)
            != (SCHEMA, &expected.target, expected.capacity_bytes)
        {
            return Err(Failure::Usage(wording::store_of_another_drive(
                shown,
                &label.target,
                &expected.target,
            )));
        }
        // Bytes in the file are overwritten, so it must not be somebody else's file behind a link.
        let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let opened = OpenOptions::new().read(true).write(true).custom_flags(nofollow).open(path);
        let file = opened.with_context(|| wording::could_not_open(&shown))?;
        let store = Self { path: path.to_owned(), file, label };
        store.lock()?;
        Ok(store)
    }

    fn lock(&self) -> Result<()> {
        let locked = self.file.try_lock();
        locked.map_err(|_| Failure::Refused(wording::served_already(&self.path)))
    }

    /// The target that opens the last saved internal state, if one was saved.
    pub(crate) fn saved_target(&self) -> Option<String> {
        let path = self.snapshot_path();
        path.exists().then(|| format!("sim:{}", path.display()))
    }

    /// A warning before serving, if the last serve did not end cleanly.
    pub(crate) fn remark(&self) -> Option<String> {
        if self.label.clean {
            return None;
        }
        Some(wording::unclean_end(&self.path, self.snapshot_path().exists()))
    }

    /// Returns the file for the bytes, and marks the store as not ended cleanly.
    pub(crate) fn begin(&mut self) -> Result<File> {
        self.write_label(false)?;
        Ok(self.file.try_clone().context(wording::STORE_NOT_SHARED)?)
    }

    /// Saves the internal state and marks the store as ended cleanly. The bytes are in the file already.
    pub(crate) fn end(&mut self, drive: &mut SimDrive) -> Result<()> {
        let path = self.snapshot_path();
        let new = OutputFile::begin(&path)?;
        let mut save = || -> anyhow::Result<()> {
            let mut out = BufWriter::new(new.file());
            drive.save(&mut out)?;
            out.flush()?;
            Ok(self.file.sync_all()?)
        };
        save().with_context(|| wording::state_not_saved(&path))?;
        new.finish()?;
        self.write_label(true)
    }

    fn write_label(&mut self, clean: bool) -> Result<()> {
        self.label.clean = clean;
        let text = serde_json::to_string_pretty(&self.label).expect("a label is plain values");
        output_file::write(&label_path(&self.path), &(text + "\n"))
    }

    fn snapshot_path(&self) -> PathBuf {
        sibling_path(&self.path, ".snapshot")
    }
}

fn label_path(path: &Path) -> PathBuf {
    sibling_path(path, ".drive")
}

/// The file of the same name with this suffix.
fn sibling_path(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_behind_a_link_is_not_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("store"), folder.path().join("elsewhere"));
        let open = || StoreFile::open(&path, "sim:x", 4096).map(drop).map_err(|failure| failure.message());
        assert_eq!((open(), open()), (Ok(()), Ok(())));
        std::fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(open().unwrap_err().contains("store"));
    }
}
