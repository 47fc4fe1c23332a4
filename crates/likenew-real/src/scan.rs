//! Scans folders of the user's: what kinds of files are there, and how far do they compress?
//!
//! It only reads: all names, sizes and kinds, and a sample of the contents. It follows no symbolic link,
//! enters no other file system unless asked, counts a file with several names once and a file with holes by
//! its data. The results are kinds, counts and shares; the names of what could not be read are for the person
//! at the terminal alone.

mod content;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{AtFlags, Dir, FileType, FsWord, OFlags, Stat, fstatfs, statat};
use rustix::io::Errno;

use self::content::{Compressor, HEAD, PIECE, is_file};
pub use self::content::{Group, Shares};
use crate::clock::Monotonic;
use crate::scratch::is_scratch;
use crate::target_error::{ErrorContext as _, not_possible};
use crate::wording::{action, target as wording};

/// What to scan, and for how long.
#[derive(Clone, Debug)]
pub struct Request {
    /// The folders.
    pub folders: Vec<PathBuf>,
    /// Bytes of content that are read at most.
    pub sample_bytes: u64,
    /// The scan ends after this time with what it has.
    pub time: Nanos,
    /// Whether to enter other file systems that are mounted in the folders.
    pub cross: bool,
    /// The seed of all randomness.
    pub seed: u64,
}

/// The progress of a scan.
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

/// The results of a scan.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Every group with at least one file.
    pub groups: Vec<GroupScan>,
    /// What could not be read.
    pub refusals: Refusals,
    /// Folders that were not entered because another file system is mounted there.
    pub other_file_systems: u64,
    /// Whether time ran out before everything was seen.
    pub out_of_time: bool,
}

/// The results of one group.
#[derive(Clone, Debug)]
pub struct GroupScan {
    /// The group.
    pub group: Group,
    /// How many files it has.
    pub files: u64,
    /// Their bytes, without holes.
    pub bytes: u64,
    /// Bytes of these files that were sampled.
    pub sampled_bytes: u64,
    /// The shares of each piece that was read. Every byte of the group was equally likely to be in a piece.
    pub pieces: Vec<Shares>,
}

/// What could not be read.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    /// How many files and folders.
    pub count: u64,
    /// The first of them with the system's answer; at most [`Refusals::NAMED_MAX`].
    pub examples: Vec<(PathBuf, std::io::ErrorKind)>,
}

impl Refusals {
    /// Most refusals that are named: a longer list would not be read.
    pub const NAMED_MAX: usize = 5;

    fn add(&mut self, path: &Path, errno: Errno) {
        self.count += 1;
        if self.examples.len() < Self::NAMED_MAX {
            self.examples.push((path.to_owned(), errno.kind()));
        }
    }
}

/// Why a scan has no result.
#[derive(Debug)]
pub enum ScanError {
    /// The user asked to stop.
    Interrupted,
    /// A folder that the user named cannot be scanned.
    TargetError(TargetError),
}

/// No group gets fewer pieces than this, as far as the sample allows, so that something can be said of each.
const PIECES_MIN: u64 = 32;
/// The part of the time that may be spent before any content is read.
const WALK_PART: f64 = 0.75;

/// Scans folders. `watch` is called many times a second, and `Break` ends it.
///
/// # Errors
/// A folder that is none, cannot be read, or shows the kernel's state instead of files; or an interruption.
pub fn scan(
    request: &Request,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Scan, ScanError> {
    let tops = request.folders.iter().map(|folder| top(folder)).collect::<Result<Vec<_>, _>>();
    let tops = tops.map_err(ScanError::TargetError)?;
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
    let Walk { samples, refusals, other_file_systems, files, bytes, .. } = walk;
    let (groups, selection) = choose(samples, bytes, pieces, request.seed);
    let mut scan = Scan { groups, refusals, other_file_systems, out_of_time };
    let sample_bytes = Some(selection.len() as u64 * PIECE as u64);
    let mut progress = Progress { files, bytes, sampled_bytes: 0, sample_bytes };
    let mut compressor = Compressor::new();
    let mut piece = Box::new([0; PIECE]);
    let mut refused = HashSet::new();
    for (index, spot) in selection {
        if watch(progress).is_break() {
            return Err(ScanError::Interrupted);
        }
        if clock.now() >= request.time {
            scan.out_of_time = true;
            break;
        }
        match read(&spot, &mut piece) {
            Ok(0) => {}
            Ok(read) => {
                let group = &mut scan.groups[index];
                // Two spots of a small group may be in one piece, which counts only once.
                group.sampled_bytes = group.bytes.min(group.sampled_bytes + read as u64);
                group.pieces.push(compressor.shares(&piece[..read]));
                progress.sampled_bytes += read as u64;
            }
            Err(errno) if refused.insert((spot.file.device, spot.file.inode)) => {
                scan.refusals.add(&spot.file.path, errno);
            }
            Err(_) => {}
        }
    }
    Ok(scan)
}

/// The path of a folder without links, and the number of the folder's device.
fn top(folder: &Path) -> Result<(PathBuf, u64), TargetError> {
    let path = std::fs::canonicalize(folder).context_at(action::SEARCH, folder)?;
    let refused = |errno| match errno {
        Errno::NOTDIR => TargetError::Unsuitable(wording::not_a_folder_of_files(folder.display())),
        errno => not_possible(action::SEARCH, folder, errno),
    };
    let (fd, stat) = content::open(&path, OFlags::DIRECTORY).map_err(refused)?;
    if is_pseudo(fstatfs(&fd).map_err(refused)?.f_type) {
        return Err(TargetError::Unsuitable(wording::virtual_file_system(folder.display())));
    }
    Ok((path, stat.st_dev))
}

/// The groups that have files, and the pieces to read: for each the index of its group, and its place.
fn choose(
    samples: Vec<GroupSample>,
    bytes: u64,
    pieces: u64,
    seed: u64,
) -> (Vec<GroupScan>, Vec<(usize, Spot<FileEntry>)>) {
    let samples: Vec<GroupSample> = samples.into_iter().filter(|sample| sample.files > 0).collect();
    let with_bytes = samples.iter().filter(|sample| sample.spots.bytes() > 0).count().max(1) as u64;
    let each = PIECES_MIN.min(pieces / with_bytes);
    let shared = (pieces - each * with_bytes) as f64;
    let (mut groups, mut selection) = (Vec::new(), Vec::new());
    for GroupSample { group, files, spots } in samples {
        let own = spots.bytes();
        let count = each + (shared * own as f64 / bytes.max(1) as f64) as u64;
        let index = groups.len();
        selection.extend(spots.take(count as usize).into_iter().map(|spot| (index, spot)));
        groups.push(GroupScan { group, files, bytes: own, sampled_bytes: 0, pieces: Vec::new() });
    }
    // Shuffled, so that a sample that has to end early still covers everything.
    selection.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    (groups, selection)
}

/// Reads the piece at a spot; nothing, if the file is no longer the one that was seen.
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

// Walks through folders: how many files and bytes there are of which kind. No more files are opened than
// necessary.

/// Files shorter than this are not opened to see their kind: they are many and hold little.
const SNIFFED_MIN: u64 = 16 << 10;

/// A file that was seen.
#[derive(Debug)]
pub(super) struct FileEntry {
    pub(super) path: PathBuf,
    pub(super) device: u64,
    pub(super) inode: u64,
    /// Whether the file may have holes.
    pub(super) sparse: bool,
}

/// The files of one group that were seen, and the spots in them.
pub(super) struct GroupSample {
    pub(super) group: Group,
    pub(super) files: u64,
    pub(super) spots: Spots<FileEntry>,
}

/// A walk through folders, with what was seen so far.
pub(super) struct Walk<'a> {
    request: &'a Request,
    pub(super) samples: Vec<GroupSample>,
    pub(super) refusals: Refusals,
    pub(super) other_file_systems: u64,
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Files with several names, and folders that were entered, by device and inode.
    visited: HashSet<(u64, u64)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(request: &'a Request, spots_max: usize) -> Self {
        let sample = |(index, group): (usize, &Group)| GroupSample {
            group: *group,
            files: 0,
            spots: Spots::new(spots_max, request.seed.wrapping_add(index as u64)),
        };
        Self {
            request,
            samples: Group::ALL.iter().enumerate().map(sample).collect(),
            refusals: Refusals::default(),
            other_file_systems: 0,
            files: 0,
            bytes: 0,
            visited: HashSet::new(),
        }
    }

    /// Walks everything below a folder that the user named. `watch` is asked now and then whether to continue.
    pub(super) fn run(
        &mut self,
        top: &Path,
        device: u64,
        watch: &mut dyn FnMut(&Self) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut folders = vec![top.to_owned()];
        while let Some(folder) = folders.pop() {
            if let Err(errno) = self.enter(&folder, device, &mut folders, watch) {
                self.refusals.add(&folder, errno);
            }
            watch(self)?;
        }
        ControlFlow::Continue(())
    }

    fn enter(
        &mut self,
        folder: &Path,
        device: u64,
        folders: &mut Vec<PathBuf>,
        watch: &mut dyn FnMut(&Self) -> ControlFlow<()>,
    ) -> rustix::io::Result<()> {
        let (fd, stat) = content::open(folder, OFlags::DIRECTORY)?;
        let elsewhere = stat.st_dev != device;
        if elsewhere && (!self.request.cross || is_pseudo(fstatfs(&fd)?.f_type)) {
            self.other_file_systems += 1;
            return Ok(());
        }
        if !self.visited.insert((stat.st_dev, stat.st_ino)) || is_scratch(folder) {
            return Ok(());
        }
        // By name, so that the same folder is always walked in the same order.
        let mut names = Dir::read_from(&fd)?
            .map(|entry| entry.map(|entry| entry.file_name().to_owned()))
            .collect::<rustix::io::Result<Vec<_>>>()?;
        names.retain(|name| name.as_bytes() != b"." && name.as_bytes() != b"..");
        names.sort_unstable();
        let mut below = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let path = folder.join(std::ffi::OsStr::from_bytes(name.as_bytes()));
            match statat(&fd, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
                // A file that is deleted during the walk is no loss.
                Err(Errno::NOENT) => {}
                Err(errno) => self.refusals.add(&path, errno),
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => below.push(path),
                Ok(stat) if is_file(&stat) => self.visit(path, name.as_bytes(), &stat),
                // Links, pipes, sockets and devices hold no data of their own.
                Ok(_) => {}
            }
            if index % 64 == 63 && watch(self).is_break() {
                break;
            }
        }
        folders.extend(below.into_iter().rev());
        Ok(())
    }

    fn visit(&mut self, path: PathBuf, name: &[u8], stat: &Stat) {
        let (device, inode) = (stat.st_dev, stat.st_ino);
        if stat.st_nlink > 1 && !self.visited.insert((device, inode)) {
            return;
        }
        let length = stat.st_size.cast_unsigned();
        // The unit of `st_blocks` is 512 bytes on every file system (stat(2)).
        let allocated = stat.st_blocks.cast_unsigned() * 512;
        let sparse = allocated < length;
        let opened = || content::open(&path, OFlags::empty());
        let data = || Some(content::sum(&content::data(opened().ok()?.0, length)));
        let bytes = if sparse { data().unwrap_or(allocated) } else { length };
        let group = Group::of_name(name, bytes).unwrap_or_else(|| group_of_content(&path, bytes));
        let sample = &mut self.samples[group as usize];
        sample.files += 1;
        sample.spots.add(FileEntry { path, device, inode, sparse }, bytes);
        (self.files, self.bytes) = (self.files + 1, self.bytes.saturating_add(bytes));
    }
}

fn group_of_content(path: &Path, bytes: u64) -> Group {
    let mut head = [0; HEAD];
    if bytes < SNIFFED_MIN {
        return Group::Other;
    }
    let read = content::open(path, OFlags::empty()).and_then(|(fd, _)| rustix::io::pread(&fd, &mut head, 0));
    read.map_or(Group::Other, |bytes| Group::of_content(&head[..bytes]))
}

/// Whether file systems of this type show the kernel's own state instead of files: magic numbers of linux/magic.h.
pub(super) fn is_pseudo(number: FsWord) -> bool {
    const PSEUDO: [u32; 19] = [
        0x0000_9fa0, // proc
        0x6265_6572, // sysfs
        0x0027_e0eb, // cgroup
        0x6367_7270, // cgroup2
        0x6462_6720, // debugfs
        0x7472_6163, // tracefs
        0x7363_6673, // securityfs
        0xf97c_ff8c, // selinuxfs
        0x0000_1cd1, // devpts
        0x1980_0202, // mqueue
        0x9584_58f6, // hugetlbfs
        0x6165_676c, // pstore
        0xde5e_81e4, // efivarfs
        0x4249_4e4d, // binfmt_misc
        0xcafe_4a11, // bpf
        0x6265_6570, // configfs
        0x6573_5543, // fusectl
        0x0000_0187, // autofs
        0x6e73_6673, // nsfs
    ];
    PSEUDO.map(FsWord::from).contains(&number)
}

// Which bytes are sampled: a systematic sample over all bytes of a group, taken in one pass over the files.

/// The first distance between spots in bytes: what a drive compresses at a time.
const DISTANCE: u64 = 4096;

/// A place in a file.
#[derive(Debug)]
pub(super) struct Spot<F> {
    /// The file; spots of one file share it.
    pub(super) file: Rc<F>,
    /// The place in the file's data, as a share of it, `0 ..= 1`.
    pub(super) share: f64,
    /// The place in the bytes of the whole group.
    position: u64,
}

/// Keeps spots at equal distances in all bytes that were added, from a random start. Each byte has the same
/// chance; large files have many spots and small ones few. When there are too many, every other one is
/// dropped and the distance doubles. So neither the number of files nor their size has to be known beforehand
/// (systematic sampling; Cochran, "Sampling Techniques", 1977, chapter 8).
pub(super) struct Spots<F> {
    spots: Vec<Spot<F>>,
    most: usize,
    distance: u64,
    next: u64,
    bytes: u64,
    random: Xoshiro256PlusPlus,
}

impl<F> Spots<F> {
    /// At most `most` spots, at least half as many once there are enough bytes.
    pub(super) fn new(most: usize, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let next = random.random_range(0..DISTANCE);
        Self { spots: Vec::new(), most: most.max(2), distance: DISTANCE, next, bytes: 0, random }
    }

    /// Adds a file of this many bytes, with the spots that fall on it.
    pub(super) fn add(&mut self, file: F, bytes: u64) {
        let end = self.bytes.saturating_add(bytes);
        if self.next < end {
            let file = Rc::new(file);
            while self.next < end {
                let share = (self.next - self.bytes) as f64 / bytes as f64;
                self.spots.push(Spot { file: Rc::clone(&file), share, position: self.next });
                self.next = self.next.saturating_add(self.distance);
                if self.spots.len() > self.most {
                    self.thin();
                }
            }
        }
        self.bytes = end;
    }

    fn thin(&mut self) {
        let first = self.random.random_range(0..2);
        let mut index = 0;
        self.spots.retain(|_| {
            index += 1;
            (index + first) % 2 == 0
        });
        self.distance = self.distance.saturating_mul(2);
        let last = self.spots.last().expect("of three or more, one stays").position;
        self.next = last.saturating_add(self.distance);
    }

    /// Bytes of all files that were added.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// This many of the spots, or all if there are fewer, still spread evenly.
    pub(super) fn take(mut self, count: usize) -> Vec<Spot<F>> {
        let (kept, count) = (self.spots.len(), count.min(self.spots.len()));
        let offset: f64 = self.random.random();
        let chosen = |index: usize| ((index as f64 + offset) * kept as f64 / count as f64) as usize;
        let mut chosen = (0..count).map(|index| chosen(index).min(kept - 1)).peekable();
        let spots = self.spots.into_iter().enumerate();
        spots.filter_map(|(index, spot)| chosen.next_if_eq(&index).map(|_| spot)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn spots_are_spread_by_bytes(files in prop::collection::vec(0u64..50_000_000, 1..200), seed: u64) {
            let mut spots = Spots::new(512, seed);
            files.iter().enumerate().for_each(|(index, bytes)| spots.add(index, *bytes));
            let total: u64 = files.iter().sum();
            prop_assert_eq!(spots.bytes(), total);
            let taken = spots.take(200);
            prop_assert!(taken.len() == 200 || taken.len() as u64 + 1 >= total / DISTANCE);
            for spot in &taken {
                prop_assert!((0.0..1.0).contains(&spot.share) && files[*spot.file] > 0);
            }
            // Each file's part of the spots is its part of the bytes, give or take what rounding does.
            for (index, bytes) in files.iter().enumerate() {
                let hits = taken.iter().filter(|spot| *spot.file == index).count() as f64;
                let fair = taken.len() as f64 * *bytes as f64 / total.max(1) as f64;
                prop_assert!((hits - fair).abs() <= 2.5, "{} of {} in file {}, {} are fair", hits, taken.len(), index, fair);
            }
        }
    }

    #[test]
    fn every_byte_has_the_same_chance() {
        let mut in_first_half = 0;
        for seed in 0..400 {
            let mut spots = Spots::new(3, seed);
            spots.add((), 1 << 20);
            in_first_half += spots.take(1).iter().filter(|spot| spot.share < 0.5).count();
        }
        assert!((150..250).contains(&in_first_half), "{in_first_half} of 400");
    }
}
