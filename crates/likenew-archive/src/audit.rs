//! The audit log: what was done to drives that could harm them. Each step has a line of JSON before it and one after it, each
//! durable before anything else happens. The log is kept apart from runs, so that it outlives them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use likenew_core::input::{self, RECORD, RECORDS};
use likenew_core::state_folder::state_folder;
use serde::{Deserialize, Serialize};

use crate::error::ArchiveError;
use crate::folder::json;
use crate::wording;

/// The version of the lines that this program writes, which is the newest that it reads.
pub const AUDIT_SCHEMA: u32 = 1;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Version of the line's schema.
    pub schema: u32,
    /// Date and time as text, such as `2026-03-14T15:09:26Z`.
    pub at: String,
    /// Version of likenew.
    pub likenew: String,
    /// Release of the kernel, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Number of the process. With `step`, it ties the line before a step to the line after it.
    pub process: u32,
    /// Number of the step within the process.
    pub step: u64,
    /// The action, as data that a later reader compares: `discard-device`, `nvme-format`.
    pub action: String,
    /// The action in words, with all parameters: `format namespace 1 with user data erase, LBA format 0`.
    pub request: String,
    /// The drive.
    pub drive: AuditedDrive,
    /// The consent.
    pub consent: AuditConsent,
    /// How it ended; absent in the line before the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<AuditOutcome>,
}

/// A drive, as it was at that time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditedDrive {
    /// What identifies it, such as its serial number.
    pub id: String,
    /// What kind of name `id` is: `serial number`.
    pub id_kind: String,
    /// Maker and model, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its firmware, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Its path at that time.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// What the user typed to consent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditConsent {
    /// The stable name of the drive; empty where no consent is needed.
    pub id: String,
    /// What may be destroyed.
    pub destroy: Vec<String>,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditOutcome {
    /// Whether all of it was done.
    pub complete: bool,
    /// How it ended, in words.
    pub message: String,
    /// Bytes that the step should cover.
    pub bytes_asked: u64,
    /// Bytes that it covered.
    pub bytes_done: u64,
}

/// The log, open for writing.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    file: File,
    step: u64,
}

/// A step that was announced and must be ended.
#[derive(Debug)]
#[must_use = "what was announced has to be ended"]
pub struct AuditStep(AuditEntry);

impl AuditLog {
    /// The log's path: `audit.jsonl` in the [`state_folder`]. `env` looks up a variable.
    ///
    /// # Errors
    /// [`ArchiveError::NoState`] when neither variable is an absolute path.
    pub fn default_path(env: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, ArchiveError> {
        state_folder(env).map(|state| state.join("audit.jsonl")).ok_or(ArchiveError::NoState)
    }

    /// Opens the log, and creates it and its folder if missing. Only the owner can read it, because it names drives.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ArchiveError> {
        let path = path.into();
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(ArchiveError::system("create", folder))?;
        let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut options = OpenOptions::new();
        let options = options.read(true).append(true).create(true).mode(0o600).custom_flags(nofollow);
        let file = options.open(&path).map_err(ArchiveError::system("write", &path))?;
        crate::folder::sync(folder)?;
        Ok(Self { path, file, step: 0 })
    }

    /// Announces a step. Nothing may be done before this returns. Process, step and schema are filled in.
    ///
    /// # Errors
    /// The line could not be made durable: then the step must not be taken.
    pub fn begin(&mut self, entry: AuditEntry) -> Result<AuditStep, ArchiveError> {
        self.step += 1;
        let process = std::process::id();
        let entry = AuditEntry { schema: AUDIT_SCHEMA, process, step: self.step, outcome: None, ..entry };
        self.append(&entry)?;
        Ok(AuditStep(entry))
    }

    /// Records how a step ended, and when.
    ///
    /// # Errors
    /// The line could not be made durable.
    pub fn end(
        &mut self,
        step: AuditStep,
        at: impl Into<String>,
        outcome: AuditOutcome,
    ) -> Result<(), ArchiveError> {
        self.append(&AuditEntry { at: at.into(), outcome: Some(outcome), ..step.0 })
    }

    /// Appends a line in one write, under a lock, so that lines of several processes never mix.
    fn append(&mut self, entry: &AuditEntry) -> Result<(), ArchiveError> {
        let line = json(&self.path, entry, false)?;
        let written = self.file.lock().and_then(|()| {
            // A kill may have left half a line: begin a new line after it.
            let end = self.file.seek(SeekFrom::End(0))?;
            let mut last = [b'\n'];
            if end > 0 {
                self.file.seek(SeekFrom::Start(end - 1))?;
                self.file.read_exact(&mut last)?;
            }
            let before = if last == [b'\n'] { "" } else { "\n" };
            self.file.write_all(format!("{before}{line}\n").as_bytes())?;
            self.file.sync_all()
        });
        let unlocked = self.file.unlock();
        written.and(unlocked).map_err(ArchiveError::system("write", &self.path))
    }
}

/// All lines of a log, oldest first; none if there is no log. Lines that cannot be read, as a kill or a full
/// drive leaves them, are left out, and the notes say so.
///
/// # Errors
/// The file cannot be read.
pub fn read_audit(path: &Path) -> Result<(Vec<AuditEntry>, Vec<String>), ArchiveError> {
    let (mut entries, mut notes) = (Vec::new(), Vec::new());
    let file = match input::open(path, RECORDS) {
        Err(error) if error.is_missing() => return Ok((entries, notes)),
        file => file.map_err(ArchiveError::input(path, None))?,
    };
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    for number in 1.. {
        let length = input::next_line(&mut reader, &mut line, RECORD);
        if length.map_err(ArchiveError::input(path, Some(number)))? == 0 {
            break;
        }
        if line == b"\n" {
            continue;
        }
        match serde_json::from_slice::<AuditEntry>(&line) {
            Ok(entry) if entry.schema <= AUDIT_SCHEMA => entries.push(entry),
            Ok(_) => notes.push(wording::newer_line(number)),
            Err(_) => notes.push(wording::incomplete_line(number)),
        }
    }
    Ok((entries, notes))
}

/// Steps that began and never ended, because the program was killed or the power was cut.
pub fn unfinished_steps(entries: &[AuditEntry]) -> Vec<&AuditEntry> {
    // Process ids are reused, so the next line of a step decides. From the end, each line's next one is
    // known.
    let mut next = HashMap::new();
    let mut begun: Vec<&AuditEntry> = Vec::new();
    for entry in entries.iter().rev() {
        let step = (entry.process, entry.step, entry.drive.id.as_str());
        let ends = next.insert(step, entry.outcome.is_some()).unwrap_or(false);
        if entry.outcome.is_none() && !ends {
            begun.push(entry);
        }
    }
    begun.reverse();
    begun
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(action: &str) -> AuditEntry {
        AuditEntry {
            schema: 0,
            at: "2026-03-14T15:09:26Z".into(),
            likenew: "0.1.0".into(),
            kernel: Some("6.18".into()),
            process: 0,
            step: 0,
            action: action.into(),
            request: format!("{action}, in words"),
            drive: AuditedDrive {
                id: "S3RIAL \"1\"\n".into(),
                id_kind: "serial number".into(),
                model: Some("Ünïcode".into()),
                firmware: None,
                path: "/dev/x".into(),
                bytes: u64::MAX,
            },
            consent: AuditConsent { id: "S3RIAL".into(), destroy: vec!["ext".into()] },
            outcome: None,
        }
    }

    fn outcome(complete: bool) -> AuditOutcome {
        AuditOutcome { complete, message: "done".into(), bytes_asked: 10, bytes_done: 9 }
    }

    #[test]
    fn what_was_done_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/likenew/audit.jsonl");
        assert_eq!(read_audit(&path).unwrap(), (vec![], vec![]));
        let mut log = AuditLog::open(&path).unwrap();
        let first = log.begin(entry("discard-device")).unwrap();
        assert_eq!(read_audit(&path).unwrap().0.len(), 1, "durable before the step");
        log.end(first, "2026-03-14T15:10:00Z", outcome(true)).unwrap();
        let _killed = log.begin(entry("nvme-format")).unwrap();
        // Another process writes to the same log.
        let mut other = AuditLog::open(&path).unwrap();
        let third = other.begin(entry("overwrite")).unwrap();
        other.end(third, "later", outcome(false)).unwrap();
        let (entries, notes) = read_audit(&path).unwrap();
        assert_eq!((entries.len(), notes.len()), (5, 0));
        assert_eq!(entries[1].outcome, Some(outcome(true)));
        assert_eq!((entries[0].schema, entries[0].process, entries[0].step), (1, std::process::id(), 1));
        assert_eq!(entries[1].drive, entry("x").drive);
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        let unfinished = unfinished_steps(&entries);
        assert_eq!(unfinished.iter().map(|entry| &*entry.action).collect::<Vec<_>>(), ["nvme-format"]);
    }

    #[test]
    fn a_cut_at_any_byte_costs_one_line_at_most_and_nothing_that_follows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut log = AuditLog::open(&path).unwrap();
        let step = log.begin(entry("one")).unwrap();
        log.end(step, "later", outcome(true)).unwrap();
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
        let edges = (first - 1..first + 3).chain(whole.len() - 3..whole.len());
        for cut in (0..whole.len()).step_by(29).chain(edges) {
            fs::write(&path, &whole[..cut]).unwrap();
            let mut log = AuditLog::open(&path).unwrap();
            let step = log.begin(entry("two")).unwrap();
            log.end(step, "later", outcome(true)).unwrap();
            let (entries, notes) = read_audit(&path).unwrap();
            // A line that lacks only its line end is complete again.
            let expected = usize::from(cut >= first) + usize::from(cut + 1 >= whole.len());
            assert_eq!(entries.len(), expected + 2, "{cut}");
            assert!(entries[expected..].iter().all(|entry| entry.action == "two"), "{cut}");
            assert!(notes.len() <= 1, "{notes:?}");
        }
        fs::write(&path, "nonsense\n{\"schema\": 99}\n").unwrap();
        let (entries, notes) = read_audit(&path).unwrap();
        assert_eq!((entries.len(), notes.len()), (0, 2));
    }

    #[test]
    fn lines_of_several_writers_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    let mut log = AuditLog::open(path).unwrap();
                    for _ in 0..10 {
                        let step = log.begin(entry(&format!("thread {thread}"))).unwrap();
                        log.end(step, "later", outcome(true)).unwrap();
                    }
                });
            }
        });
        let (entries, notes) = read_audit(&path).unwrap();
        assert_eq!((entries.len(), notes.len()), (80, 0));
    }

    #[test]
    fn its_place_is_that_of_states() {
        let env = |state: Option<&'static str>, home: Option<&'static str>| {
            AuditLog::default_path(move |name| if name == "HOME" { home } else { state }.map(OsString::from))
        };
        assert_eq!(env(Some("/s"), Some("/h")).unwrap(), Path::new("/s/likenew/audit.jsonl"));
        assert_eq!(env(Some("s"), Some("/h")).unwrap(), Path::new("/h/.local/state/likenew/audit.jsonl"));
        assert!(matches!(env(None, None), Err(ArchiveError::NoState)));
    }
}
