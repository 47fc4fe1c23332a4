//! Exports and imports one run as one file: a tar of its folder's files, compressed with Zstandard.
//!
//! A run stores a serial number as a hash that is keyed with the machine's identity. Whoever knows that identity can try all
//! numbers. So an export hashes it again with a secret of the owner. Exports of one drive by one owner share the hash; nobody
//! else can look the number up. Names below `/dev/disk/by-id/` hold serial numbers and are hashed in the same way.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use likenew_core::input::{self, FileKind};
use likenew_core::units::amount;
use regex::bytes::{Captures, Regex};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::archive::{Archive, run_name};
use crate::error::ArchiveError;
use crate::run::{FINDINGS, MACHINE, OBSERVATIONS, PLAN, Record, SEGMENTS};
use crate::samples::SampleReader;
use crate::{folder, wording};

/// An exported run, mostly samples: 4 GiB hold some hundred million I/Os.
pub const BUNDLE: FileKind = FileKind { name: "an exported run", bytes_max: 4 << 30 };
/// Its samples. Chosen: twice the size of the file, as samples are compressed already.
const SAMPLES: FileKind = FileKind { name: "a file of samples", bytes_max: 8 << 30 };
/// The first file of a bundle, which identifies it.
const LABEL: &str = "likenew-run.json";
/// The version of the bundle's format.
const SCHEMA: u64 = 1;
/// Zstandard's level: its default.
const LEVEL: i32 = 3;
/// Bytes of an owner's secret.
const KEY_BYTES: usize = 32;
/// Bytes of an exported hash: as many as a run's own hash has.
const HASH_BYTES: usize = 16;
/// Most bytes after the last file: programs fill a tar up to 10 KiB.
const REST_BYTES_MAX: u64 = 64 << 10;
/// Most files of samples: the first, and one for each time that the run was resumed.
const SAMPLE_FILES_MAX: usize = 1_000;

/// The owner's secret for hashes in exported runs. Whoever has it can tell whether an export is of a given drive.
#[derive(Clone)]
pub struct ExportKey([u8; KEY_BYTES]);

#[derive(Serialize, Deserialize)]
struct Label {
    schema: u64,
}

impl ExportKey {
    /// Reads the secret in this file. If there is no file, makes one that only the owner can read, with a secret from `random`.
    ///
    /// # Errors
    /// The file cannot be read or written, or holds something else.
    pub fn open(
        path: &Path,
        random: impl FnOnce() -> io::Result<[u8; KEY_BYTES]>,
    ) -> Result<Self, ArchiveError> {
        if let Some(key) = Self::read(path)? {
            return Ok(key);
        }
        let key = random().map_err(ArchiveError::system("make", path))?;
        // Written under another name that nobody can guess, so that two exports at once use the same, whole key.
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(ArchiveError::system("create", folder))?;
        let named =
            tempfile::Builder::new().prefix(".export.key.").tempfile_in(folder).and_then(|mut file| {
                file.write_all(&key)?;
                file.as_file().sync_all()?;
                file.persist_noclobber(path).map_err(|error| error.error)
            });
        match named {
            Ok(_) => Ok(Self(key)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Self::read(path)?
                .ok_or_else(|| ArchiveError::system("read", path)(ErrorKind::NotFound.into())),
            Err(error) => Err(ArchiveError::system("write", path)(error)),
        }
    }

    fn read(path: &Path) -> Result<Option<Self>, ArchiveError> {
        match input::read(path, FileKind { name: "a key", bytes_max: KEY_BYTES as u64 }) {
            Err(error) if error.is_missing() => Ok(None),
            read => {
                let bytes = read.map_err(ArchiveError::input(path, None))?;
                let damaged = |_| ArchiveError::damaged_file(path, None, wording::EXPORT_KEY_DAMAGED);
                Ok(Some(Self(bytes.try_into().map_err(damaged)?)))
            }
        }
    }

    fn hash(&self, text: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length is one");
        mac.update(b"likenew export");
        mac.update(text);
        mac.finalize().into_bytes().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl std::fmt::Debug for ExportKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExportKey")
    }
}

/// The largest size of a file of a run; `None` for a file that no run has.
fn kind_of(name: &str) -> Option<FileKind> {
    match name {
        PLAN => Some(input::PLAN),
        MACHINE => Some(input::MACHINE),
        SEGMENTS | OBSERVATIONS => Some(input::RECORDS),
        FINDINGS => Some(input::FINDINGS),
        "live.jsonl" => Some(input::NOTES),
        "samples.parquet" => Some(SAMPLES),
        _ => {
            let number: usize = name.strip_prefix("samples-")?.strip_suffix(".parquet")?.parse().ok()?;
            let is_ours =
                (2..=SAMPLE_FILES_MAX).contains(&number) && name == format!("samples-{number}.parquet");
            is_ours.then_some(SAMPLES)
        }
    }
}

/// Writes a run as one file, which must not exist yet.
///
/// # Errors
/// The run cannot be read, or the file cannot be written; then nothing is left of the file.
pub fn export(folder: &Path, to: &Path, key: &ExportKey) -> Result<(), ArchiveError> {
    let record = Record::open(folder)?;
    let file = File::create_new(to).map_err(ArchiveError::system("write", to))?;
    let written = write_bundle(&record, file, to, key);
    if written.is_err() {
        // The earlier error says what is wrong.
        let _ = fs::remove_file(to);
    }
    written
}

fn write_bundle(record: &Record, file: File, to: &Path, key: &ExportKey) -> Result<(), ArchiveError> {
    let failed = || ArchiveError::system("write", to);
    let mut compressor = zstd::Encoder::new(file, LEVEL).map_err(failed())?;
    // The checksum shows a damaged byte when the file is read.
    compressor.include_checksum(true).map_err(failed())?;
    let mut tar = tar::Builder::new(compressor);
    let label = serde_json::to_vec(&Label { schema: SCHEMA }).expect("a number is plain");
    append(&mut tar, LABEL, label.len() as u64, &label[..]).map_err(failed())?;
    for name in file_names(&record.path)? {
        let (path, kind) = (record.path.join(&name), kind_of(&name).expect("only files of a run are listed"));
        if name.ends_with(".parquet") {
            let samples = folder::input(&path, kind).map_err(ArchiveError::input(&path, None))?;
            let bytes = samples.metadata().map_err(ArchiveError::system("read", &path))?.len();
            append(&mut tar, &name, bytes, samples.take(bytes)).map_err(failed())?;
        } else {
            let text = folder::input(&path, kind).and_then(|file| input::read_file(file, kind));
            let text = text.map_err(ArchiveError::input(&path, None))?;
            let text = without_serials(text, record, key);
            append(&mut tar, &name, text.len() as u64, &text[..]).map_err(failed())?;
        }
    }
    let file = tar.into_inner().and_then(zstd::Encoder::finish).map_err(failed())?;
    file.sync_all().map_err(failed())
}

fn append(tar: &mut tar::Builder<impl Write>, name: &str, bytes: u64, content: impl Read) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o644);
    tar.append_data(&mut header, name, content)
}

/// The files of a run that exist, the plan and the machine first.
fn file_names(folder: &Path) -> Result<Vec<String>, ArchiveError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(ArchiveError::system("read", folder))? {
        let name = entry.map_err(ArchiveError::system("read", folder))?.file_name();
        names.extend(name.into_string().ok().filter(|name| kind_of(name).is_some()));
    }
    names.sort_by_key(|name| (name != PLAN, name != MACHINE, name.clone()));
    Ok(names)
}

/// The text with all hashes of serial numbers, and all names that hold such numbers, hashed with the owner's secret.
fn without_serials(mut text: Vec<u8>, record: &Record, key: &ExportKey) -> Vec<u8> {
    let facts = record.observations.iter().filter_map(|observation| observation.result.facts());
    let serials = facts.flat_map(|facts| &facts.drives).filter_map(|drive| drive.identity.serial.value());
    let serials: BTreeSet<&str> =
        serials.map(|serial| serial.hash.as_str()).filter(|hash| !hash.is_empty()).collect();
    for hash in serials {
        let pattern = Regex::new(&regex::escape(hash)).expect("an escaped text is a pattern");
        text = pattern.replace_all(&text, key.hash(hash.as_bytes()).as_bytes()).into_owned();
    }
    let by_id = Regex::new(r#"(/dev/disk/by-id/)([^\s"'`,;/]+)"#).expect("a pattern");
    by_id
        .replace_all(&text, |captures: &Captures<'_>| {
            // As in a plan or in JSON, where an escaped space has two backslashes.
            let name = String::from_utf8_lossy(&captures[2]).replace(r"\\", r"\");
            [&captures[1], key.hash(name.as_bytes()).as_bytes()].concat()
        })
        .into_owned()
}

/// Unpacks a file that [`export`] wrote into a new folder of the archive, and returns that folder. Sizes,
/// names and the run itself are checked before anything is kept.
///
/// # Errors
/// The file is no exported run, is damaged, or its run is already kept. Then nothing is left behind.
pub fn import(from: &Path, archive: &Archive) -> Result<PathBuf, ArchiveError> {
    let bad = |reason: String| ArchiveError::BadBundle { path: from.to_owned(), reason };
    let file = input::open(from, BUNDLE).map_err(|error| match error {
        input::InputError::System(source) => {
            ArchiveError::System { action: "read", path: from.to_owned(), source }
        }
        other => bad(other.to_string()),
    })?;
    let root = archive.root();
    fs::create_dir_all(root).map_err(ArchiveError::system("create", root))?;
    let unpacked = tempfile::Builder::new()
        .prefix(".import-")
        .tempdir_in(root)
        .map_err(ArchiveError::system("write to", root))?;
    unpack(file.take(BUNDLE.bytes_max), unpacked.path(), bad)?;
    let record = Record::open(unpacked.path()).map_err(|error| bad(inside(&error, unpacked.path())))?;
    for name in file_names(unpacked.path())?.iter().filter(|name| name.ends_with(".parquet")) {
        SampleReader::open(&unpacked.path().join(name))
            .map_err(|error| bad(inside(&error, unpacked.path())))?;
    }
    let name = run_name(&record.header.plan, &record.header.machine);
    let kept = root.join(&name);
    if Record::open(&kept).is_ok_and(|kept| Record { path: record.path.clone(), ..kept } == record) {
        return Err(ArchiveError::KeptAlready(kept));
    }
    let folder = archive.create_folder(&name)?;
    // This replaces the folder just made, and fails if anything has come into it since.
    let unpacked = unpacked.keep();
    if let Err(source) = fs::rename(&unpacked, &folder) {
        let _ = fs::remove_dir_all(&unpacked);
        let _ = fs::remove_dir(&folder);
        return Err(ArchiveError::system("write", &folder)(source));
    }
    folder::sync(root)?;
    Ok(folder)
}

/// The message without the path of a folder that the user never sees.
fn inside(error: &ArchiveError, folder: &Path) -> String {
    match error {
        ArchiveError::Broken { path, line: _, reason } => {
            let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
            if name.is_empty() { reason.clone() } else { format!("{name}: {reason}") }
        }
        other => other.to_string().replace(&format!("{}/", folder.display()), ""),
    }
}

fn unpack(
    packed: impl Read,
    folder: &Path,
    bad: impl Fn(String) -> ArchiveError,
) -> Result<(), ArchiveError> {
    let truncated = |error: io::Error| bad(wording::truncated_bundle(&error.to_string()));
    let mut tar = tar::Archive::new(zstd::Decoder::new(packed).map_err(truncated)?);
    let mut entries = tar.entries().map_err(truncated)?;
    let label = entries.next().and_then(Result::ok).ok_or_else(|| bad(wording::NOT_A_BUNDLE.into()))?;
    check_label(label).map_err(&bad)?;
    let mut names = BTreeSet::new();
    for entry in entries {
        let mut entry = entry.map_err(truncated)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = kind_of(&name).ok_or_else(|| bad(wording::foreign_entry(&name)))?;
        if !entry.header().entry_type().is_file() {
            return Err(bad(wording::not_a_file(&name)));
        }
        if entry.size() > kind.bytes_max {
            return Err(bad(wording::large_entry(&name, &amount(kind.bytes_max))));
        }
        if !names.insert(name.clone()) {
            return Err(bad(wording::repeated_entry(&name)));
        }
        let path = folder.join(&name);
        let written = folder::create(&path).and_then(|mut file| {
            let bytes = io::copy(&mut entry, &mut file)?;
            file.sync_all()?;
            Ok(bytes)
        });
        // The bundle is to blame if it cannot be read, but not for a full drive.
        let written = written.map_err(|error| match error.raw_os_error() {
            Some(_) => ArchiveError::system("write", &path)(error),
            None => truncated(error),
        })?;
        if written != entry.size() {
            return Err(truncated(ErrorKind::UnexpectedEof.into()));
        }
    }
    // The checksum comes last, after the filling of the tar's last block.
    let rest_bytes =
        io::copy(&mut tar.into_inner().take(REST_BYTES_MAX + 1), &mut io::sink()).map_err(truncated)?;
    if rest_bytes > REST_BYTES_MAX {
        return Err(bad(wording::DATA_AFTER_THE_END.into()));
    }
    Ok(())
}

fn check_label(label: tar::Entry<'_, impl Read>) -> Result<(), String> {
    /// Most bytes of the label, which has some 20.
    const LABEL_BYTES_MAX: u64 = 4 << 10;
    let is_label = &*label.path_bytes() == LABEL.as_bytes() && label.header().entry_type().is_file();
    let parsed = is_label.then(|| serde_json::from_reader(label.take(LABEL_BYTES_MAX)));
    match parsed {
        Some(Ok(Label { schema: SCHEMA })) => Ok(()),
        Some(Ok(Label { schema })) => Err(wording::other_bundle_schema(schema)),
        _ => Err(wording::NOT_A_BUNDLE.into()),
    }
}
