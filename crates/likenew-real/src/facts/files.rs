//! How old and how fragmented files are: a bounded sample of a folder, of which no name is kept.

use std::fs::{File, Metadata};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use likenew_core::facts::{Fact, Files};
use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use walkdir::WalkDir;

use super::roots::unreadable_fact;
use crate::scratch::DIRECTORY;
use crate::trim::{Flush, extents};
use crate::wording::facts as wording;

/// Names examined, at most.
const ENTRIES_MAX: usize = 20_000;
/// Files whose extents are queried, at most, spread evenly over those seen.
const MAPPED_MAX: usize = 400;
/// Shorter files have one extent anyway.
const MAPPED_BYTES_MIN: u64 = 1 << 20;
/// Bytes of a MiB, 2²⁰.
const MIB: f64 = (1 << 20) as f64;
/// Holes of a file that are looked at. Chosen: some tens of milliseconds.
const HOLES_MAX: usize = 20_000;
const HOLES: &str = "SEEK_HOLE";
const TIMES: &str = "statx";
const PLACES: &str = "FIEMAP";

/// Of the folder at `path`, as far as one file system goes, or of the file there.
pub(crate) fn sample(path: &Path) -> Files {
    let walk = WalkDir::new(path).same_file_system(true).follow_links(false);
    let is_ours = |name: &std::ffi::OsStr| name == DIRECTORY;
    let entries = walk.into_iter().filter_entry(|entry| !is_ours(entry.file_name()));
    let (mut visited, mut entries_seen) = (Vec::new(), 0);
    for entry in entries.take(ENTRIES_MAX) {
        entries_seen += 1;
        let Ok(entry) = entry else { continue };
        if let Some(metadata) = entry.metadata().ok().filter(Metadata::is_file) {
            visited.push((entry.into_path(), metadata));
        }
    }
    let mut files = ages(visited.iter().map(|(_, metadata)| metadata));
    files.is_part = Fact::new(entries_seen == ENTRIES_MAX, TIMES);
    let long: Vec<_> = visited.iter().filter(|(_, metadata)| metadata.len() >= MAPPED_BYTES_MIN).collect();
    let step = long.len().div_ceil(MAPPED_MAX).max(1);
    let mut pieces = Pieces::default();
    for (path, metadata) in long.into_iter().step_by(step) {
        // Nothing but a regular file is opened, even if it was replaced by something else since it was seen.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if let Ok(file) = rustix::fs::open(path, flags, Mode::empty()) {
            pieces.add(&file, metadata.len());
        }
    }
    pieces.tell(&mut files);
    files
}

/// Of one open file.
pub(crate) fn sample_file(file: impl AsFd) -> Files {
    let metadata = file.as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata());
    let metadata = match metadata {
        Ok(metadata) => metadata,
        Err(error) => return Files { files: unreadable_fact(&error, TIMES), ..Files::default() },
    };
    let mut files = ages(std::iter::once(&metadata));
    files.hole_bytes = hole_bytes(&file, metadata.len());
    let mut pieces = Pieces::default();
    pieces.add(&file, metadata.len());
    pieces.tell(&mut files);
    files
}

/// Totals of the extents of some files.
#[derive(Default)]
struct Pieces {
    files: u64,
    pieces: u64,
    most: u64,
    bytes: u64,
    refusal: Option<String>,
}

impl Pieces {
    fn add(&mut self, file: impl AsFd, bytes: u64) {
        // Dirty data stays in memory: nothing is written for the sake of an answer.
        match extents(file, bytes, Flush::Never) {
            Ok(found) => {
                // Adjacent extents on the drive count as one, however the file system stores them.
                let joined = found.windows(2).filter(|pair| {
                    pair[0].physical.checked_add(pair[0].length) == Some(pair[1].physical)
                        && pair[1].physical > 0
                });
                let pieces = found.len().saturating_sub(joined.count()) as u64;
                self.files += 1;
                self.pieces += pieces;
                self.most = self.most.max(pieces);
                self.bytes += found.iter().map(|extent| extent.length).sum::<u64>().min(bytes);
            }
            Err(errno) => self.refusal = Some(errno.to_string()),
        }
    }

    fn tell(&self, files: &mut Files) {
        let reason = match &self.refusal {
            Some(reason) if self.files == 0 => wording::places_unknown(reason),
            _ => wording::NO_LARGE_FILE.to_owned(),
        };
        let is_known = self.files > 0 && self.bytes > 0;
        files.files_mapped = Fact::new(self.files, PLACES);
        let beyond_first = self.pieces.saturating_sub(self.files) as f64;
        let per_mib = is_known.then(|| (1000.0 * beyond_first / (self.bytes as f64 / MIB)).round() / 1000.0);
        files.extents_per_mib = Fact::from_option(per_mib, &reason, PLACES);
        files.extents_max = Fact::from_option(is_known.then_some(self.most), &reason, PLACES);
    }
}

/// Bytes of a file that lie in holes, as far as its file system reports them. None where it has more than [`HOLES_MAX`].
pub(crate) fn hole_bytes(file: impl AsFd, length: u64) -> Fact<u64> {
    let (mut at, mut holes) = (0, 0);
    for _ in 0..HOLES_MAX {
        let data = match rustix::fs::seek(&file, SeekFrom::Data(at)) {
            Ok(data) => data.min(length),
            Err(Errno::NXIO) => length,
            Err(errno) => return unreadable_fact(&errno.into(), HOLES),
        };
        holes += data.saturating_sub(at);
        match rustix::fs::seek(&file, SeekFrom::Hole(data)) {
            Ok(hole) if data < length => at = hole,
            _ => return Fact::new(holes, HOLES),
        }
    }
    Fact::unknown(wording::TOO_MANY_HOLES, HOLES)
}

/// Counts and ages.
fn ages<'a>(all: impl Iterator<Item = &'a Metadata>) -> Files {
    let now = jiff::Timestamp::now().as_second();
    let age = |since: i64| u64::try_from(now.saturating_sub(since)).unwrap_or(0);
    let (mut contents, mut inodes, mut bytes) = (Vec::new(), Vec::new(), 0u64);
    for metadata in all {
        contents.push(age(metadata.mtime()));
        inodes.push(age(metadata.ctime()));
        bytes = bytes.saturating_add(metadata.len());
    }
    contents.sort_unstable();
    inodes.sort_unstable();
    let quantile = |sorted: &[u64], percent: usize| {
        let value = sorted.get((sorted.len().saturating_sub(1) * percent + 50) / 100).copied();
        Fact::from_option(value, wording::NO_FILES, TIMES)
    };
    Files {
        files: Fact::new(contents.len() as u64, TIMES),
        bytes: Fact::new(bytes, TIMES),
        content_age_s_p10: quantile(&contents, 10),
        content_age_s_p50: quantile(&contents, 50),
        content_age_s_p90: quantile(&contents, 90),
        inode_age_s_p50: quantile(&inodes, 50),
        inode_age_s_p90: quantile(&inodes, 90),
        ..Files::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_reported_by_numbers_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(DIRECTORY)).unwrap();
        std::fs::write(folder.path().join(DIRECTORY).join("ours"), [0; 100]).unwrap();
        for (name, bytes, age) in [("a", 2 << 20, 1000), ("b", 10, 2000), ("c", 10, 90_000)] {
            let path = folder.path().join(name);
            std::fs::write(&path, vec![7; bytes]).unwrap();
            let then = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
            File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
        }
        let files = sample(folder.path());
        assert_eq!(
            (files.files.get(), files.bytes.get()),
            (Some(3), Some((2 << 20) + 20)),
            "ours are left out"
        );
        assert!((1990..2100).contains(&files.content_age_s_p50.get().unwrap()), "{files:?}");
        assert!(files.content_age_s_p90.get().unwrap() >= 90_000);
        assert!(files.inode_age_s_p90.get().unwrap() < 100, "the inode cannot be set back");
        assert_eq!(files.is_part.get(), Some(false));
        let nothing = sample(&folder.path().join("nowhere"));
        assert_eq!((nothing.files.get(), nothing.content_age_s_p50.get()), (Some(0), None));
    }

    #[test]
    fn one_file_is_reported_like_a_folder_of_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [1; 4096]).unwrap();
        let files = sample_file(file.as_file());
        assert_eq!(
            (files.files.get(), files.bytes.get(), files.hole_bytes.get()),
            (Some(1), Some(4096), Some(0))
        );
        file.as_file().set_len(3 << 20).unwrap();
        std::os::unix::fs::FileExt::write_all_at(file.as_file(), &[1; 4096], 1 << 20).unwrap();
        assert_eq!(sample_file(file.as_file()).hole_bytes.get(), Some((3 << 20) - 2 * 4096));
    }
}
