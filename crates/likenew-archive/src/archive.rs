//! The archive: the folder that holds all runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use likenew_core::procedure::Plan;
use likenew_core::segment::Stop;

use crate::error::ArchiveError;
use crate::folder;
use crate::folder::Machine;
use crate::run::{Header, PLAN, Record, Run};

/// A folder of runs.
#[derive(Clone, Debug)]
pub struct Archive {
    root: PathBuf,
}

/// A run in an archive.
#[derive(Debug)]
pub struct Entry {
    /// Its folder.
    pub path: PathBuf,
    /// Its plan and target, or why they cannot be read.
    pub header: Result<Header, ArchiveError>,
}

impl Archive {
    /// An archive in this folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where a user's runs belong: `$XDG_DATA_HOME/likenew/runs`, else `$HOME/.local/share/likenew/runs` (XDG
    /// Base Directory Specification 0.8, which ignores relative paths). `env` looks up a variable.
    ///
    /// # Errors
    /// [`ArchiveError::NoHome`] when neither variable is an absolute path.
    pub fn default_root(env: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, ArchiveError> {
        let absolute = |name| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
        data.map(|data| data.join("likenew/runs")).ok_or(ArchiveError::NoHome)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Starts a run in a new folder. Its name is the date, procedure and target, and a number if that name is
    /// taken.
    ///
    /// # Errors
    /// The folder or its first files could not be written; then nothing is left behind.
    pub fn create(&self, plan: &Plan, machine: &Machine) -> Result<Run, ArchiveError> {
        fs::create_dir_all(&self.root).map_err(ArchiveError::system("create", &self.root))?;
        let folder = self.create_folder(&run_name(plan, machine))?;
        let run = Run::create(&folder, plan, machine);
        if run.is_err() {
            // The folder is new and holds only what was just written; the earlier error says what is wrong.
            let _ = fs::remove_dir_all(&folder);
        }
        let run = run?;
        folder::sync(&self.root)?;
        Ok(run)
    }

    pub(crate) fn create_folder(&self, name: &str) -> Result<PathBuf, ArchiveError> {
        let mut path = self.root.join(name);
        for number in 2u64.. {
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    path = self.root.join(format!("{name}-{number}"));
                }
                created => {
                    created.map_err(ArchiveError::system("create", &path))?;
                    break;
                }
            }
        }
        Ok(path)
    }

    /// The runs in the archive by name, so the oldest first. Anything else in the folder is ignored; a
    /// damaged run is listed with its error. An archive that does not exist yet is empty.
    ///
    /// # Errors
    /// The folder could not be read.
    pub fn list(&self) -> Result<Vec<Entry>, ArchiveError> {
        let entry = |path: PathBuf| Entry { header: Header::open(&path), path };
        Ok(self.folders()?.into_iter().map(entry).collect())
    }

    /// The folders of these runs, unread. A hidden folder holds a run that is being imported.
    ///
    /// # Errors
    /// The folder could not be read.
    pub fn folders(&self) -> Result<Vec<PathBuf>, ArchiveError> {
        let folder = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder.map_err(ArchiveError::system("read", &self.root))?,
        };
        let mut folders = Vec::new();
        for item in folder {
            let item = item.map_err(ArchiveError::system("read", &self.root))?;
            let (path, is_hidden) = (item.path(), item.file_name().as_encoded_bytes().starts_with(b"."));
            // A link is no run, because it may lead anywhere.
            let is_folder = item.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_hidden && is_folder && path.join(PLAN).symlink_metadata().is_ok() {
                folders.push(path);
            }
        }
        folders.sort();
        Ok(folders)
    }

    /// Reads a run folder, wherever it is.
    ///
    /// # Errors
    /// It is not a run folder, has a newer schema, or is damaged.
    pub fn open(path: &Path) -> Result<Record, ArchiveError> {
        Record::open(path)
    }

    /// Reads a run folder and opens it to continue the run. Leaves out a line that a kill cut off, and workloads at the end that
    /// were stopped early. Those run again as a whole, once [`Run::cut_after`] has removed them.
    ///
    /// # Errors
    /// As for [`Archive::open`], or another program is writing the run, or it may not be written.
    pub fn resume(path: &Path) -> Result<(Run, Record), ArchiveError> {
        let run = Run::reopen(path)?;
        let mut record = Record::open(path)?;
        while record.segments.last().is_some_and(|segment| segment.stop != Stop::Reached) {
            record.segments.pop();
        }
        let kept = record.segments.len();
        record.observations.retain(|observation| observation.after <= kept);
        Ok((run, record))
    }
}

/// Longer parts of folder names are cut, because the whole name has to fit the 255 bytes that file systems allow.
const PART_CHARS_MAX: usize = 64;

/// The name of a run's folder, unless it is taken.
pub(crate) fn run_name(plan: &Plan, machine: &Machine) -> String {
    folder_name(&machine.started_at, &plan.procedure, &machine.identity.name)
}

/// A folder name of letters, digits, dots and dashes, whatever the parts hold.
fn folder_name(started_at: &str, procedure: &str, target: &str) -> String {
    let parts = [started_at, procedure, target].map(|part| {
        let mut name = String::new();
        for character in part.chars() {
            if character.is_ascii_alphanumeric() || (character == '.' && !name.is_empty()) {
                name.push(character);
            } else if !name.is_empty() && !name.ends_with('-') {
                name.push('-');
            }
        }
        name.truncate(PART_CHARS_MAX);
        name.trim_end_matches(['-', '.']).to_owned()
    });
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "run".to_owned() } else { parts.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_belong_where_xdg_says() {
        let root = |data: &'static str, home: &'static str| {
            Archive::default_root(move |name| match name {
                "XDG_DATA_HOME" => Some(data.into()),
                "HOME" if !home.is_empty() => Some(home.into()),
                _ => None,
            })
        };
        assert_eq!(root("/data", "/home/me").unwrap(), Path::new("/data/likenew/runs"));
        for unusable in ["", "relative"] {
            assert_eq!(root(unusable, "/home/me").unwrap(), Path::new("/home/me/.local/share/likenew/runs"));
        }
        assert!(matches!(root("", ""), Err(ArchiveError::NoHome)));
    }

    #[test]
    fn folder_names_are_tame() {
        let name = |target| folder_name("2026-03-14T15:09:26Z", "fill", target);
        assert_eq!(name("/dev/sda"), "2026-03-14T15-09-26Z-fill-dev-sda");
        assert_eq!(
            name("sim:x25m?state=used&fill=0.8"),
            "2026-03-14T15-09-26Z-fill-sim-x25m-state-used-fill-0.8"
        );
        assert_eq!(name("../../etc"), "2026-03-14T15-09-26Z-fill-etc");
        assert_eq!(folder_name("", "..", "/"), "run");
    }

    proptest! {
        #[test]
        fn any_name_stays_in_its_folder(started_at in ".*", procedure in ".*", target in ".*") {
            let name = folder_name(&started_at, &procedure, &target);
            prop_assert!(name.len() <= 200 && !name.starts_with(['.', '-']) && !name.contains("--"));
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-'));
        }
    }
}
