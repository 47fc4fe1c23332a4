//! Walks through folders: how many files of which kind with how many bytes, opening no more of them than
//! necessary.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, FsWord, OFlags, Stat, fstatfs, statat};
use rustix::io::Errno;

use super::content::{self, is_file};
use super::group::{Group, HEAD};
use super::spots::Spots;
use super::{Refusals, Request};
use crate::scratch::is_scratch;

/// Shorter files than this are not opened only to see what they are: they are many and come to little.
const SNIFFED_MIN: u64 = 16 << 10;

/// A file that was seen.
#[derive(Debug)]
pub(super) struct FileEntry {
    pub(super) path: PathBuf,
    pub(super) device: u64,
    pub(super) inode: u64,
    /// Whether it may have holes.
    pub(super) sparse: bool,
}

/// What was seen of one group.
pub(super) struct GroupSample {
    pub(super) group: Group,
    pub(super) files: u64,
    pub(super) spots: Spots<FileEntry>,
}

/// What was seen in all.
pub(super) struct Walk<'a> {
    request: &'a Request,
    pub(super) piles: Vec<GroupSample>,
    pub(super) refusals: Refusals,
    pub(super) other_file_systems: u64,
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Files of several names, and folders that were entered, by device and inode.
    visited: HashSet<(u64, u64)>,
}

/// A folder that is still to be entered.
struct Folder {
    path: PathBuf,
    /// Of the folder that the user named.
    device: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(request: &'a Request, spots_max: usize) -> Self {
        let pile = |(index, group): (usize, &Group)| GroupSample {
            group: *group,
            files: 0,
            spots: Spots::new(spots_max, request.seed.wrapping_add(index as u64)),
        };
        Self {
            request,
            piles: Group::ALL.iter().enumerate().map(pile).collect(),
            refusals: Refusals::default(),
            other_file_systems: 0,
            files: 0,
            bytes: 0,
            visited: HashSet::new(),
        }
    }

    /// Everything below a folder that the user named. `watch` is asked now and then whether to continue.
    pub(super) fn run(
        &mut self,
        top: &Path,
        device: u64,
        watch: &mut dyn FnMut(&Self) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut folders = vec![Folder { path: top.to_owned(), device }];
        while let Some(folder) = folders.pop() {
            if let Err(errno) = self.enter(&folder, &mut folders, watch) {
                self.refusals.add(&folder.path, errno);
            }
            watch(self)?;
        }
        ControlFlow::Continue(())
    }

    fn enter(
        &mut self,
        folder: &Folder,
        folders: &mut Vec<Folder>,
        watch: &mut dyn FnMut(&Self) -> ControlFlow<()>,
    ) -> rustix::io::Result<()> {
        let (fd, stat) = content::open(&folder.path, OFlags::DIRECTORY)?;
        let elsewhere = stat.st_dev != folder.device;
        if elsewhere && (!self.request.cross || is_pseudo(fstatfs(&fd)?.f_type)) {
            self.other_file_systems += 1;
            return Ok(());
        }
        if !self.visited.insert((stat.st_dev, stat.st_ino)) || is_scratch(&folder.path) {
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
            let path = folder.path.join(std::ffi::OsStr::from_bytes(name.as_bytes()));
            match statat(&fd, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
                // A file that is deleted during the walk is no loss.
                Err(Errno::NOENT) => {}
                Err(errno) => self.refusals.add(&path, errno),
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                    below.push(Folder { path, device: folder.device });
                }
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
        let bytes = if sparse { data_bytes(&path, length).unwrap_or(allocated) } else { length };
        let group = Group::of_name(name, bytes).unwrap_or_else(|| group_of_content(&path, bytes));
        let pile = &mut self.piles[group as usize];
        pile.files += 1;
        pile.spots.add(FileEntry { path, device, inode, sparse }, bytes);
        (self.files, self.bytes) = (self.files + 1, self.bytes.saturating_add(bytes));
    }
}

fn data_bytes(path: &Path, length: u64) -> rustix::io::Result<u64> {
    let (fd, _) = content::open(path, OFlags::empty())?;
    Ok(content::sum(&content::data(&fd, length)))
}

fn group_of_content(path: &Path, bytes: u64) -> Group {
    let mut head = [0; HEAD];
    if bytes < SNIFFED_MIN {
        return Group::Other;
    }
    let read = content::open(path, OFlags::empty()).and_then(|(fd, _)| rustix::io::pread(&fd, &mut head, 0));
    read.map_or(Group::Other, |bytes| Group::of_content(&head[..bytes]))
}

/// Whether a file system of this number holds no files but shows the kernel's own state: the numbers of linux/magic.h.
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
    PSEUDO.iter().any(|visited| FsWord::from(*visited) == number)
}
