//! Scans folders of the user's: what kinds of files are there, and how far do they compress?
//!
//! It only reads: all names, sizes and kinds, and of the contents a sample. It follows no symbolic link,
//! enters no other file system unless asked, counts a file of several names once and a file with holes by its
//! data. What comes out are kinds, counts and shares; the names of what could not be read are for the person
//! at the terminal alone.

mod content;
mod group;
mod spots;
mod walk;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use likenew_core::lab_error::LabError;
use likenew_core::units::Nanos;
use rand::{SeedableRng as _, seq::SliceRandom as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{OFlags, fstatfs};
use rustix::io::Errno;

use crate::clock::Monotonic;
use crate::lab_error::not_possible;
use crate::wording::action;
use crate::wording::target as wording;
use content::{Compressor, PIECE};
use spots::Spot;
use walk::{FileEntry, GroupSample, Walk};

pub use content::Shares;
pub use group::Group;

/// What to scan, and for how long.
#[derive(Clone, Debug)]
pub struct Request {
    /// The folders.
    pub folders: Vec<PathBuf>,
    /// Bytes of content that are read at most.
    pub sample_bytes: u64,
    /// It ends after this time with what it has.
    pub time: Nanos,
    /// Whether to enter file systems that are mounted below.
    pub cross: bool,
    /// The seed of all randomness.
    pub seed: u64,
}

/// The progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Files seen.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of content read.
    pub sampled_bytes: u64,
    /// Bytes of content that will be read, once that is known.
    pub sample_bytes: Option<u64>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Every group of which there is a file.
    pub groups: Vec<GroupScan>,
    /// What could not be read.
    pub refusals: Refusals,
    /// Folders that were not entered because another file system is mounted there.
    pub other_file_systems: u64,
    /// Whether time ran out before all was seen.
    pub out_of_time: bool,
}

/// The results of one group.
#[derive(Clone, Debug)]
pub struct GroupScan {
    /// Which.
    pub group: Group,
    /// Files of it.
    pub files: u64,
    /// Their bytes, without holes.
    pub bytes: u64,
    /// Bytes of them that were sampled.
    pub sampled_bytes: u64,
    /// The shares of each piece that was read. Every byte of the group was equally likely to be in one.
    pub pieces: Vec<Shares>,
}

/// What could not be read.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    /// Files and folders.
    pub count: u64,
    /// The first of them with the system's answer; at most [`Refusals::NAMED_MAX`].
    pub examples: Vec<(PathBuf, std::io::ErrorKind)>,
}

impl Refusals {
    /// A longer list would not be read.
    pub const NAMED_MAX: usize = 5;

    fn add(&mut self, path: &Path, errno: Errno) {
        self.count += 1;
        if self.examples.len() < Self::NAMED_MAX {
            self.examples.push((path.to_owned(), errno.kind()));
        }
    }
}

/// Why there is no result.
#[derive(Debug)]
pub enum ScanError {
    /// The user asked to stop.
    Interrupted,
    /// The named folder cannot be scanned.
    LabError(LabError),
}

/// No group gets fewer pieces than this, as far as the sample allows, so that something can be said of each.
const PIECES_MIN: u64 = 32;
/// The part of the time that may be spent before any content is read.
const WALK_PART: f64 = 0.75;

/// Scans folders. `watch` is called many times a second, and `Break` ends it.
///
/// # Errors
/// A folder that is none, that cannot be read, or that shows the kernel's state and holds no files; or an interruption.
pub fn scan(
    request: &Request,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Scan, ScanError> {
    let tops = request.folders.iter().map(|folder| top(folder)).collect::<Result<Vec<_>, _>>();
    let tops = tops.map_err(ScanError::LabError)?;
    let clock = Monotonic::start();
    let pieces = (request.sample_bytes / PIECE as u64).max(1);
    let mut walk = Walk::new(request, 2 * usize::try_from(pieces).unwrap_or(usize::MAX / 2));
    let mut interrupted = false;
    let mut out_of_time = false;
    let walk_end = Nanos((request.time.0 as f64 * WALK_PART) as u64);
    for (path, device) in tops {
        let flow = walk.run(&path, device, &mut |walk| {
            let (files, bytes) = (walk.files, walk.bytes);
            interrupted |= watch(Progress { files, bytes, sampled_bytes: 0, sample_bytes: None }).is_break();
            out_of_time |= clock.now() >= walk_end;
            if interrupted || out_of_time { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if flow.is_break() {
            break;
        }
    }
    if interrupted {
        return Err(ScanError::Interrupted);
    }
    let mut sampler = Sampler::new(walk, pieces, request.seed);
    sampler.out_of_time = out_of_time;
    sampler.run(&clock, request.time, watch)?;
    Ok(sampler.finish())
}

/// The folder that was meant, and the number of its device.
fn top(folder: &Path) -> Result<(PathBuf, u64), LabError> {
    let path = std::fs::canonicalize(folder).map_err(|error| match Errno::from_io_error(&error) {
        Some(errno) => not_possible(action::SEARCH, folder, errno),
        None => LabError::system(action::search(folder.display()))(error),
    })?;
    let refused = |errno| match errno {
        Errno::NOTDIR => LabError::Unsuitable(wording::not_a_folder_of_files(folder.display())),
        errno => not_possible(action::SEARCH, folder, errno),
    };
    let (fd, stat) = content::open(&path, OFlags::DIRECTORY).map_err(refused)?;
    if walk::is_pseudo(fstatfs(&fd).map_err(refused)?.f_type) {
        return Err(LabError::Unsuitable(wording::virtual_file_system(folder.display())));
    }
    Ok((path, stat.st_dev))
}

/// Reads the pieces that were chosen.
struct Sampler {
    scan: Scan,
    /// Index of the group, and the place.
    selection: Vec<(usize, Spot<FileEntry>)>,
    files: u64,
    bytes: u64,
    out_of_time: bool,
}

impl Sampler {
    fn new(walk: Walk<'_>, pieces: u64, seed: u64) -> Self {
        let Walk { piles, refusals, other_file_systems, files, bytes, .. } = walk;
        let piles: Vec<GroupSample> = piles.into_iter().filter(|pile| pile.files > 0).collect();
        let with_bytes = piles.iter().filter(|pile| pile.spots.bytes() > 0).count().max(1) as u64;
        let each = PIECES_MIN.min(pieces / with_bytes);
        let shared = (pieces - each * with_bytes) as f64;
        let (mut groups, mut selection) = (Vec::new(), Vec::new());
        for GroupSample { group, files, spots } in piles {
            let own = spots.bytes();
            let count = each + (shared * own as f64 / bytes.max(1) as f64) as u64;
            let index = groups.len();
            selection.extend(spots.take(count as usize).into_iter().map(|spot| (index, spot)));
            groups.push(GroupScan { group, files, bytes: own, sampled_bytes: 0, pieces: Vec::new() });
        }
        // In no order, so that a sample that has to end early is still one of everything.
        selection.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let scan = Scan { groups, refusals, other_file_systems, out_of_time: false };
        Self { scan, selection, files, bytes, out_of_time: false }
    }

    fn run(
        &mut self,
        clock: &Monotonic,
        time: Nanos,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), ScanError> {
        let mut compressor = Compressor::new();
        let mut piece = Box::new([0; PIECE]);
        let (mut sampled_bytes, sample_bytes) = (0, Some(self.selection.len() as u64 * PIECE as u64));
        let mut refused = std::collections::HashSet::new();
        for (index, spot) in std::mem::take(&mut self.selection) {
            let (files, bytes) = (self.files, self.bytes);
            if watch(Progress { files, bytes, sampled_bytes, sample_bytes }).is_break() {
                return Err(ScanError::Interrupted);
            }
            if clock.now() >= time {
                self.out_of_time = true;
                return Ok(());
            }
            match read(&spot, &mut piece) {
                Ok(0) => {}
                Ok(read) => {
                    let group = &mut self.scan.groups[index];
                    // Two spots of a small group may be in one piece, which counts only once.
                    group.sampled_bytes = group.bytes.min(group.sampled_bytes + read as u64);
                    group.pieces.push(compressor.shares(&piece[..read]));
                    sampled_bytes += read as u64;
                }
                Err(errno) if refused.insert((spot.file.device, spot.file.inode)) => {
                    self.scan.refusals.add(&spot.file.path, errno);
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn finish(self) -> Scan {
        Scan { out_of_time: self.out_of_time, ..self.scan }
    }
}

/// Reads the piece at a spot; nothing, when the file is not the one that was seen any more.
fn read(spot: &Spot<FileEntry>, piece: &mut [u8; PIECE]) -> rustix::io::Result<usize> {
    let (fd, stat) = match content::open(&spot.file.path, OFlags::empty()) {
        Err(Errno::NOENT) => return Ok(0),
        opened => opened?,
    };
    if (stat.st_dev, stat.st_ino) != (spot.file.device, spot.file.inode) || !content::is_file(&stat) {
        return Ok(0);
    }
    let length = stat.st_size.cast_unsigned();
    let data =
        if spot.file.sparse { content::data(&fd, length) } else { std::iter::once(0..length).collect() };
    content::read_piece(&fd, &data, spot.share, piece)
}
