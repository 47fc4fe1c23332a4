//! What is mounted where, and what serves as swap, as the kernel lists it.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, StatxFlags, major, minor, statx};

use crate::loop_device::Store;

/// Numbers of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DeviceNumber {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl DeviceNumber {
    pub(crate) fn of(device: u64) -> Self {
        Self { major: major(device), minor: minor(device) }
    }

    /// Of the block device at `path`, if it is one.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        metadata.file_type().is_block_device().then(|| Self::of(metadata.rdev()))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

/// One line of /proc/self/mountinfo (proc(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) id: u64,
    pub(crate) device: DeviceNumber,
    pub(crate) point: String,
    pub(crate) kind: String,
    pub(crate) source: String,
    /// Options of the mount and of the file system, comma-separated.
    pub(crate) options: String,
}

impl Mount {
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let before: Vec<&str> = before.split(' ').collect();
        let mut after = after.split(' ');
        let (kind, source) = (after.next()?.to_owned(), unescape(after.next()?));
        Some(Self {
            id: before.first()?.parse().ok()?,
            device: DeviceNumber::parse(before.get(2)?)?,
            point: unescape(before.get(4)?),
            kind,
            source,
            options: format!("{},{}", before.get(5)?, after.next().unwrap_or("")),
        })
    }

    /// Whether an option is set, alone or with a value.
    pub(crate) fn has_option(&self, name: &str) -> bool {
        let is_it = |option: &str| {
            option == name || option.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
        };
        self.options.split(',').any(is_it)
    }

    /// The mount that holds an open file or folder.
    pub(crate) fn of(fd: impl AsFd) -> Option<Self> {
        let status = statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
        let known = StatxFlags::from_bits_retain(status.stx_mask).contains(StatxFlags::MNT_ID);
        all().into_iter().find(|mount| known && mount.id == status.stx_mnt_id)
    }
}

/// Everything that is mounted, as far as this process can see.
pub(crate) fn all() -> Vec<Mount> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(Mount::parse).collect()
}

/// Where a device is mounted, if anywhere.
pub(crate) fn mounted_at(device: DeviceNumber) -> Option<String> {
    // A file system of several devices shows none of their numbers, so its source is compared, too.
    let is_on =
        |mount: &Mount| mount.device == device || DeviceNumber::at(Path::new(&mount.source)) == Some(device);
    all().into_iter().find(is_on).map(|mount| mount.point)
}

/// Whether a device serves as swap.
pub(crate) fn is_swap(device: DeviceNumber) -> bool {
    swaps().contains(&Store::Device(device))
}

/// Devices and files that serve as swap.
pub(crate) fn swaps() -> Vec<Store> {
    let text = fs::read_to_string("/proc/swaps").unwrap_or_default();
    swap_names(&text).filter_map(|name| Store::at(Path::new(&name))).collect()
}

/// The first word of each line but the head (proc(5)).
pub(crate) fn swap_names(text: &str) -> impl Iterator<Item = String> {
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescape)
}

/// Undoes the kernel's octal spelling of blanks and backslashes in names, `\040`.
pub(crate) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..3).filter(|_| *first == b'\\').and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            bytes.push(byte);
            rest = &tail[3..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_blanks_and_optional_fields_is_read() {
        let line = r"36 35 98:0 /mnt1 /mnt\040two rw,noatime master:1 shared:2 - ext3 /dev/my\134root rw,errors=continue";
        let mount = Mount::parse(line).unwrap();
        assert_eq!((mount.id, mount.device), (36, DeviceNumber { major: 98, minor: 0 }));
        assert_eq!((&*mount.point, &*mount.kind, &*mount.source), ("/mnt two", "ext3", r"/dev/my\root"));
        assert_eq!(mount.options, "rw,noatime,rw,errors=continue");
        for line in ["", "36 35", "a b c - d", "36 35 98:0 /mnt1 - ext3 /dev/x rw"] {
            assert_eq!(Mount::parse(line), None, "{line}");
        }
    }

    #[test]
    fn octal_is_undone_and_nothing_else() {
        for (text, plain) in
            [(r"a\040b", "a b"), (r"\", r"\"), (r"\04", r"\04"), (r"\999", r"\999"), ("", "")]
        {
            assert_eq!(unescape(text), plain);
        }
    }

    #[test]
    fn this_machine_has_a_root() {
        let root = fs::File::open("/").unwrap();
        assert_eq!(Mount::of(&root).map(|mount| mount.point).as_deref(), Some("/"));
    }
}
