//! What is mounted where, and what serves as swap, as the kernel lists it.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{AtFlags, StatxFlags, statx};

use crate::device_number::DeviceNumber;

/// One line of /proc/self/mountinfo (proc(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) id: u64,
    pub(crate) device: DeviceNumber,
    /// The folder of the file system that is its root here: `/` unless only a part of it is mounted.
    pub(crate) root: String,
    /// In words: a path need not be text.
    pub(crate) point: String,
    pub(crate) kind: String,
    pub(crate) source: OsString,
    /// Options of the mount and of the file system, comma-separated.
    pub(crate) options: String,
}

impl Mount {
    pub(crate) fn parse(line: &str) -> Option<Self> {
        Self::of_line(line.as_bytes())
    }

    /// Names of files are bytes, and the kernel passes on all but blanks and backslashes as they are.
    fn of_line(line: &[u8]) -> Option<Self> {
        let separator = line.windows(3).position(|window| window == b" - ")?;
        let before: Vec<&[u8]> = line[..separator].split(|byte| *byte == b' ').collect();
        let mut after = line[separator + 3..].split(|byte| *byte == b' ');
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (kind, source) = (text(after.next()?), OsString::from_vec(unescape_bytes(after.next()?)));
        Some(Self {
            id: text(before.first()?).parse().ok()?,
            device: DeviceNumber::parse(&text(before.get(2)?))?,
            root: text(&unescape_bytes(before.get(3)?)),
            point: text(&unescape_bytes(before.get(4)?)),
            kind,
            source,
            options: format!("{},{}", text(before.get(5)?), text(after.next().unwrap_or_default())),
        })
    }

    /// All of a file such as /proc/self/mountinfo.
    pub(crate) fn parse_all(lines: &[u8]) -> Vec<Self> {
        lines.split(|byte| *byte == b'\n').filter_map(Self::of_line).collect()
    }

    /// The folders that a layered file system (overlayfs) shows as one, the one that takes writes first, as
    /// they are called where it was mounted.
    pub(crate) fn layers(&self) -> Vec<PathBuf> {
        let mut layers = Vec::new();
        for option in self.options.split(',') {
            // What stands between colons has its own colons behind backslashes, and the kernel spells
            // backslashes in octal.
            let (name, value) = option.split_once('=').unwrap_or_default();
            let value = unescape(value);
            match name {
                "upperdir" => layers.insert(0, value.into()),
                "lowerdir" => layers
                    .extend(value.replace("\\:", "\0").split(':').map(|path| path.replace('\0', ":").into())),
                "lowerdir+" | "datadir+" => layers.push(value.into()),
                _ => {}
            }
        }
        layers.retain(|layer: &PathBuf| layer.is_absolute());
        layers
    }

    /// Whether an option is set, alone or with a value.
    pub(crate) fn has_option(&self, name: &str) -> bool {
        let is_it = |option: &str| {
            option == name || option.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
        };
        self.options.split(',').any(is_it)
    }

    /// The mount that holds an open file or folder; none where the system does not say.
    pub(crate) fn containing(fd: impl AsFd) -> Option<Self> {
        Self::find(fd).ok().flatten()
    }

    /// The same for callers that must distinguish a list that cannot be read from one without this mount.
    /// `None` where it is not among the mounts that this process sees, as in a changed root.
    ///
    /// # Errors
    /// The list cannot be read.
    pub(crate) fn find(fd: impl AsFd) -> io::Result<Option<Self>> {
        let status = statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
        let known = StatxFlags::from_bits_retain(status.stx_mask).contains(StatxFlags::MNT_ID);
        Ok(all()?.into_iter().find(|mount| known && mount.id == status.stx_mnt_id))
    }
}

/// Everything that is mounted, as far as this process can see.
///
/// # Errors
/// The list cannot be read, which does not mean that nothing is mounted.
pub(crate) fn all() -> io::Result<Vec<Mount>> {
    Ok(Mount::parse_all(&fs::read("/proc/self/mountinfo")?))
}

/// Where a device is mounted, as far as that is known, for a report.
pub(crate) fn mounted_at(device: DeviceNumber) -> Option<String> {
    // A file system of several devices shows none of their numbers, so its source is compared, too.
    let is_on =
        |mount: &Mount| mount.device == device || DeviceNumber::at(Path::new(&mount.source)) == Some(device);
    all().ok()?.into_iter().find(is_on).map(|mount| mount.point)
}

/// Undoes the kernel's octal spelling of blanks and backslashes in names, `\040`.
pub(crate) fn unescape(text: &str) -> String {
    String::from_utf8_lossy(&unescape_bytes(text.as_bytes())).into_owned()
}

/// The same of a name as it is, whether or not that is text.
pub(crate) fn unescape_bytes(name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
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
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_blanks_and_optional_fields_is_read() {
        let line = r"36 35 98:0 /mnt1 /mnt\040two rw,noatime master:1 shared:2 - ext3 /dev/my\134root rw,errors=continue";
        let mount = Mount::parse(line).unwrap();
        assert_eq!((mount.id, mount.device), (36, DeviceNumber { major: 98, minor: 0 }));
        assert_eq!((&*mount.root, &*mount.point, &*mount.kind), ("/mnt1", "/mnt two", "ext3"));
        assert_eq!(mount.source, r"/dev/my\root");
        assert_eq!(mount.options, "rw,noatime,rw,errors=continue");
        for line in ["", "36 35", "a b c - d", "36 35 98:0 /mnt1 - ext3 /dev/x rw"] {
            assert_eq!(Mount::parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_other_mount() {
        let text =
            b"36 35 98:0 / /mnt rw - ext4 /dev/sda rw\n37 35 98:1 / /mnt/caf\xe9 rw - ext4 /dev/caf\xe9 rw\n\
                     38 35 98:2 / /mnt/two rw - ext4 /dev/sdb rw\n";
        let mounts = Mount::parse_all(text);
        let points: Vec<&str> = mounts.iter().map(|mount| &*mount.point).collect();
        assert_eq!(points, ["/mnt", "/mnt/caf\u{fffd}", "/mnt/two"]);
        assert_eq!(mounts[1].source, OsString::from_vec(b"/dev/caf\xe9".to_vec()));
    }

    #[test]
    fn layers_are_named_in_the_options() {
        let layers = |options: &str| {
            let line = format!("36 35 0:45 / /merged rw - overlay overlay {options}");
            Mount::parse(&line)
                .unwrap()
                .layers()
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(layers(r"rw,lowerdir=/l1:/l2,upperdir=/a\040b\054c,workdir=/w"), ["/a b,c", "/l1", "/l2"]);
        assert_eq!(layers(r"ro,lowerdir+=/l1,lowerdir+=/l2,datadir+=/d"), ["/l1", "/l2", "/d"]);
        assert_eq!(layers(r"rw,lowerdir=/l\134:1:relative"), ["/l:1"]);
        assert_eq!(layers("rw"), [""; 0]);
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
        assert_eq!(Mount::containing(&root).map(|mount| mount.point).as_deref(), Some("/"));
    }
}
