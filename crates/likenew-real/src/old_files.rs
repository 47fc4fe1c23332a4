//! Pieces of the owner's old files, opened only for reading, as one range of addresses.
//!
//! Left out are files on other file systems, files of our own, links, and files with holes or compression.
//! Nothing is changed, not even the time of the last access, if the system allows that.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use likenew_core::io::{Io, Op, Outcome};
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_core::workload::{self as old, Access, OLD_AGE_S, OLD_PIECE_BYTES, OLD_PIECES_MAX, OLD_SEARCH};
use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::Errno;
use walkdir::WalkDir;

use crate::clock::{Monotonic, wall_seconds};
use crate::medium::{DirectIo, Medium, Spot, geometry, perform_at, set_direct};
use crate::scratch::is_scratch;
use crate::target_error::ErrorContext as _;
use crate::trim::{Flush, extents};
use crate::wording::{action, target as wording};

/// Limits for searching a folder.
#[derive(Clone, Copy)]
struct Bounds {
    /// Shorter files are skipped.
    bytes_least: u64,
    /// Younger files, by seconds since they were written, are skipped.
    age_s_least: u64,
    /// Most names that are examined.
    names_max: usize,
    /// Most files that are remembered.
    files_max: usize,
    time: Nanos,
}

/// Limits for a few pieces of a few files.
const SAMPLE: Bounds = Bounds {
    bytes_least: OLD_PIECE_BYTES,
    age_s_least: OLD_AGE_S,
    names_max: 200_000,
    files_max: 4096,
    time: OLD_SEARCH,
};
/// Limits for all files worth rewriting: opening a shorter one takes as long as reading it.
const ALL: Bounds = Bounds {
    bytes_least: 1 << 20,
    age_s_least: OLD_AGE_S,
    names_max: 20_000_000,
    files_max: 2_000_000,
    time: Nanos::from_secs(1800),
};
/// The unit of `st_blocks` on every file system (stat(2)).
const STAT_BLOCK: u64 = 512;
/// Pieces begin at multiples of this within a file.
const STEP: u64 = 1 << 20;

/// The owner's files in a folder that are at least 30 days old and 1 MiB long, the oldest first. Of the
/// longer ones [`Probe::OldFiles`](likenew_core::probe::Probe::OldFiles) takes pieces.
///
/// # Errors
/// A sentence without a full stop, if the folder cannot be searched.
pub fn old_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let search = Search::run(folder, Monotonic::start(), wall_seconds(), ALL)?;
    Ok(search.by_age().into_iter().map(|candidate| candidate.path).collect())
}

/// A file, and where on the drive it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedFile {
    /// The file's first byte on the device of the file system; 0 if that is unknown.
    pub address: u64,
    /// The file's path.
    pub path: PathBuf,
}

/// The owner's files in a folder that are at least 1 MiB long, in the order in which they lie on the drive.
///
/// # Errors
/// A sentence without a full stop, if the folder cannot be searched.
pub fn files_in_address_order(folder: &Path) -> Result<Vec<PlacedFile>, String> {
    let bounds = Bounds { age_s_least: 0, ..ALL };
    let search = Search::run(folder, Monotonic::start(), wall_seconds(), bounds)?;
    let placed = |Candidate { path, bytes, .. }: Candidate| {
        let extents = open_checked(&path).and_then(|(fd, ..)| extents(&fd, bytes, Flush::First));
        let first = extents.ok().and_then(|extents| extents.first().map(|extent| extent.physical));
        PlacedFile { address: first.unwrap_or(0), path }
    };
    let mut files: Vec<PlacedFile> = search.by_age().into_iter().map(placed).collect();
    files.sort_by(|one, other| one.address.cmp(&other.address).then_with(|| one.path.cmp(&other.path)));
    Ok(files)
}

/// Bytes of the owner's files in a folder that are at least 1 MiB long, and were last written at least
/// `age_s_least` seconds ago. `None` if a short search did not meet all of them.
pub fn file_bytes(folder: &Path, age_s_least: u64) -> Option<u64> {
    let bounds = Bounds { bytes_least: ALL.bytes_least, age_s_least, ..SAMPLE };
    let search = Search::run(folder, Monotonic::start(), wall_seconds(), bounds).ok()?;
    (!search.is_part).then(|| search.candidates.iter().map(|candidate| candidate.bytes).sum())
}

/// The largest readable file of the owner in a folder, of at least `bytes_least` bytes.
pub fn largest_file(folder: &Path, bytes_least: u64) -> Option<PathBuf> {
    let bounds = Bounds { bytes_least, age_s_least: 0, ..SAMPLE };
    let mut candidates = Search::run(folder, Monotonic::start(), wall_seconds(), bounds).ok()?.candidates;
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.bytes));
    candidates.into_iter().map(|candidate| candidate.path).find(|path| open_checked(path).is_ok())
}

/// Pieces of old files that were found. The files are not kept open, as that would keep them from being
/// rewritten, and their file system from being unmounted.
pub(crate) struct OldFiles {
    files: Vec<OldFile>,
    /// What was found, for reports.
    pub(crate) pieces: old::OldFiles,
}

/// A file, and where in it pieces begin.
struct OldFile {
    path: PathBuf,
    /// The file's numbers of device and inode.
    id: (u64, u64),
    offsets: Vec<u64>,
}

/// Pieces of old files, open for reading as long as this lives.
pub(crate) struct OpenOldFiles {
    geometry: Geometry,
    files: Vec<OwnedFd>,
    pieces: Vec<Piece>,
    can_direct: bool,
}

struct Piece {
    /// Index among the files.
    file: usize,
    offset: u64,
}

/// A file that is old enough.
struct Candidate {
    path: PathBuf,
    bytes: u64,
    age_s: u64,
}

impl OldFiles {
    /// Searches a folder for old files; `now_s` is the time in seconds since 1970.
    ///
    /// # Errors
    /// A sentence without a full stop, if there is no old file.
    pub(crate) fn find(folder: &Path, clock: &Monotonic, now_s: u64) -> Result<Self, String> {
        let search = Search::run(folder, *clock, now_s, SAMPLE)?;
        let is_part = search.is_part;
        let candidates = search.by_age();
        let (mut files, mut ages_s) = (Vec::new(), Vec::new());
        for (candidate, count) in deal(&candidates) {
            // A file that has disappeared meanwhile is left out.
            let Ok((_, _, id)) = open_checked(&candidate.path) else { continue };
            let room = candidate.bytes - OLD_PIECE_BYTES;
            let offsets = (1..=count as u64).map(|index| room / (count as u64 + 1) * index);
            let offsets = offsets.map(|offset| offset - offset % STEP).collect();
            files.push(OldFile { path: candidate.path.clone(), id, offsets });
            ages_s.extend(std::iter::repeat_n(candidate.age_s, count));
        }
        if files.is_empty() {
            let days = OLD_AGE_S / 86_400;
            return Err(wording::no_old_files(OLD_PIECE_BYTES, days));
        }
        let pieces = old::OldFiles { ages_s, files: files.len() as u64, is_part };
        Ok(Self { files, pieces })
    }

    /// Opens the files that have pieces.
    ///
    /// # Errors
    /// A sentence without a full stop: a file is gone, or another one has its name now.
    pub(crate) fn open(&self) -> Result<OpenOldFiles, String> {
        let (mut files, mut pieces, mut block, mut can_direct) = (Vec::new(), Vec::new(), 1, true);
        for OldFile { path, id, offsets } in &self.files {
            let (fd, direct, id_now) = open_checked(path).map_err(wording::old_file_not_opened)?;
            if id_now != *id {
                return Err(wording::OLD_FILE_REPLACED.to_owned());
            }
            block = block.max(direct.block);
            can_direct &= direct.flags.contains(OFlags::DIRECT);
            pieces.extend(offsets.iter().map(|offset| Piece { file: files.len(), offset: *offset }));
            files.push(fd);
        }
        let capacity = pieces.len() as u64 * OLD_PIECE_BYTES;
        let geometry = Geometry { boundary: Some(OLD_PIECE_BYTES), ..geometry(capacity, block, false) };
        Ok(OpenOldFiles { geometry, files, pieces, can_direct })
    }
}

impl OpenOldFiles {
    fn place(&self, io: &Io) -> Spot<'_> {
        let piece = &self.pieces[(io.offset / OLD_PIECE_BYTES) as usize];
        let fd = self.files[piece.file].as_fd();
        Spot { fd, offset: piece.offset + io.offset % OLD_PIECE_BYTES }
    }
}

impl Medium for OpenOldFiles {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn spot(&self, io: &Io) -> Option<Spot<'_>> {
        (io.op == Op::Read).then(|| self.place(io))
    }

    fn perform(&self, io: &Io, buffer: &mut [u8]) -> Outcome {
        match io.op {
            Op::Read => perform_at(self.place(io), io, buffer),
            Op::Flush => Outcome::Done,
            Op::Write | Op::Trim => Outcome::Error(Errno::ROFS.raw_os_error()),
        }
    }

    fn prepare_access(&self, access: Access) -> Result<(), TargetError> {
        let direct = self.can_direct && access == Access::Direct;
        let mut files = self.files.iter();
        files.try_for_each(|file| set_direct(file, direct)).context(action::CHANGE_DIRECT_IO)
    }

    fn make_cold(&self) -> Result<(), TargetError> {
        Err(TargetError::Unsuitable(wording::CACHE_KEEPS_FILES.into()))
    }
}

/// How many pieces to take of which file: one of each, the oldest first; more of each if files are few.
fn deal(candidates: &[Candidate]) -> impl Iterator<Item = (&Candidate, usize)> {
    let each = OLD_PIECES_MAX.div_ceil(candidates.len().max(1));
    let mut left = OLD_PIECES_MAX;
    candidates.iter().map_while(move |candidate| {
        let count = each.min((candidate.bytes / OLD_PIECE_BYTES) as usize).min(left);
        left -= count;
        (count > 0).then_some((candidate, count))
    })
}

/// Opens a file for reading, and returns its numbers of device and inode, too.
fn open_checked(path: &Path) -> rustix::io::Result<(OwnedFd, DirectIo, (u64, u64))> {
    let read = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let by = |more: OFlags| DirectIo::open(|flags| open(path, read | more | flags, Mode::empty()));
    // Only a file's owner may leave the time of the last access alone.
    let (fd, direct) = by(OFlags::NOATIME).or_else(|_| by(OFlags::empty()))?;
    let stat = fstat(&fd)?;
    Ok((fd, direct, (stat.st_dev, stat.st_ino)))
}

/// What was found in the folders of one file system.
struct Search {
    candidates: Vec<Candidate>,
    /// Whether the search ended at one of its bounds.
    is_part: bool,
}

impl Search {
    /// Looks through a folder; folders below that cannot be entered are skipped.
    fn run(folder: &Path, clock: Monotonic, now_s: u64, bounds: Bounds) -> Result<Self, String> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = open(folder, flags, Mode::empty()).and_then(fstat);
        let device = top.map_err(|errno| wording::not_searched(folder.display(), errno))?.st_dev;
        let mut search = Self { candidates: Vec::new(), is_part: false };
        let (until, mut names) = (clock.now() + bounds.time, 0);
        // Inodes of files with several names, each counted once.
        let mut visited = HashSet::new();
        // Files come before folders, so that all of a folder is seen once it was entered.
        let walk = WalkDir::new(folder)
            .min_depth(1)
            .same_file_system(true)
            .sort_by_key(|entry| entry.file_type().is_dir());
        for entry in walk.into_iter().filter_entry(|entry| !is_scratch(entry.path())) {
            names += 1;
            // A file or folder may be gone, or not ours to see.
            let Ok((metadata, entry)) = entry.and_then(|entry| Ok((entry.metadata()?, entry))) else {
                continue;
            };
            if metadata.dev() != device {
                continue;
            }
            let Bounds { names_max, files_max, .. } = bounds;
            let is_over = clock.now() >= until || names >= names_max || search.candidates.len() >= files_max;
            if metadata.is_dir() && is_over {
                search.is_part = true;
                break;
            }
            let is_whole = metadata.blocks() * STAT_BLOCK >= metadata.len();
            if !metadata.is_file()
                || metadata.len() < bounds.bytes_least
                || !is_whole
                || (metadata.nlink() > 1 && !visited.insert(metadata.ino()))
            {
                continue;
            }
            let age_s = now_s.saturating_sub(written_s(&metadata));
            if age_s >= bounds.age_s_least {
                search.candidates.push(Candidate { path: entry.into_path(), bytes: metadata.len(), age_s });
            }
        }
        Ok(search)
    }

    /// The oldest first; equal ones by name, so that the same folder gives the same order.
    fn by_age(mut self) -> Vec<Candidate> {
        let older = |one: &Candidate, other: &Candidate| {
            other.age_s.cmp(&one.age_s).then_with(|| one.path.cmp(&other.path))
        };
        self.candidates.sort_by(older);
        self.candidates
    }
}

/// When a file was last written here, in seconds since 1970: copies keep the original's time of modification, but were
/// written when they were made here.
fn written_s(metadata: &Metadata) -> u64 {
    let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    let made_s = born.map_or_else(|| metadata.ctime().max(0).cast_unsigned(), |born| born.as_secs());
    made_s.max(metadata.mtime().max(0).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use likenew_core::io::{DataClass, Slot};

    use super::*;
    use crate::scratch::{DIRECTORY, MARKER};

    const MIB: usize = 1 << 20;

    fn find(folder: &Path, days: u64) -> Result<OldFiles, String> {
        OldFiles::find(folder, &Monotonic::start(), wall_seconds() + days * 86_400)
    }

    #[test]
    fn whole_files_that_have_lain_long_are_found_once_and_read_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("below")).unwrap();
        let long: Vec<u8> = (0..20 * MIB).map(|index| (index / MIB) as u8).collect();
        fs::write(at("below/long"), &long).unwrap();
        fs::write(at("short"), vec![1; 8 * MIB - 1]).unwrap();
        fs::File::create(at("hole")).unwrap().set_len(64 << 20).unwrap();
        fs::hard_link(at("below/long"), at("again")).unwrap();
        symlink(at("below/long"), at("link")).unwrap();
        fs::create_dir(at(DIRECTORY)).unwrap();
        fs::write(at(DIRECTORY).join(MARKER), "").unwrap();
        fs::write(at(DIRECTORY).join("ours"), &long).unwrap();
        let (both, none) = (Some((28 * MIB - 1) as u64), Some(0));
        assert_eq!((file_bytes(folder.path(), 0), file_bytes(folder.path(), OLD_AGE_S)), (both, none));
        assert!(find(folder.path(), 29).err().unwrap().contains("has been here for 30 days"));

        let old = find(folder.path(), 31).unwrap();
        let days: Vec<u64> = old.pieces.ages_s.iter().map(|age| age / 86_400).collect();
        assert_eq!((old.pieces.files, days, old.pieces.is_part), (1, vec![31, 31], false));
        let old = old.open().unwrap();
        assert_eq!(old.geometry.capacity, 2 * OLD_PIECE_BYTES);
        // Two pieces of 8 MiB divide the 12 MiB of space into thirds.
        let mut buffer = vec![0; 4096];
        for (offset, byte) in [(0, 4), (OLD_PIECE_BYTES, 8), (OLD_PIECE_BYTES + 3 * MIB as u64, 11)] {
            let io =
                Io { slot: Slot(0), op: Op::Read, offset, length: 4096, data: DataClass::Zero, sync: None };
            old.prepare_access(Access::Buffered).unwrap();
            assert_eq!(old.perform(&io, &mut buffer), Outcome::Done);
            assert!(buffer.iter().all(|buffer| *buffer == byte), "{offset}: {}", buffer[0]);
            let refused = old.perform(&Io { op: Op::Write, ..io }, &mut buffer);
            assert_eq!(refused, Outcome::Error(Errno::ROFS.raw_os_error()));
        }
        assert_eq!(fs::read(at("below/long")).unwrap(), long);
    }

    #[test]
    fn a_file_that_became_another_is_not_taken_for_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("film"), vec![1; 9 * MIB]).unwrap();
        let old = find(folder.path(), 31).unwrap();
        assert!(old.open().is_ok());
        fs::write(at("other"), vec![2; 9 * MIB]).unwrap();
        fs::rename(at("other"), at("film")).unwrap();
        assert!(old.open().err().unwrap().contains("replaced"));
        fs::remove_file(at("film")).unwrap();
        assert!(old.open().err().unwrap().contains("cannot be opened"));
    }

    #[test]
    fn each_old_file_gives_a_piece_and_a_few_give_several() {
        let candidates = |sizes: &[usize]| -> Vec<Candidate> {
            let candidate =
                |mib: &usize| Candidate { path: "a".into(), bytes: (*mib * MIB) as u64, age_s: 0 };
            sizes.iter().map(candidate).collect()
        };
        let counts =
            |sizes: &[usize]| -> Vec<usize> { deal(&candidates(sizes)).map(|(_, count)| count).collect() };
        assert_eq!(counts(&[1000]), [24]);
        assert_eq!(counts(&[17, 1000]), [2, 12]);
        assert_eq!(counts(&[8; 40]), [1; 24]);
        assert!(counts(&[]).is_empty());
    }
}
