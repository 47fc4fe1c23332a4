//! Which other programs have a file or device open, as /proc shows it to whoever asks: all of them to root, else one's own.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, makedev, statx};

use crate::mounts::{DeviceNumber, Mount};

/// A program, by its number and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) process: u32,
    pub(crate) name: String,
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (process {})", self.name, self.process)
    }
}

/// What is looked for behind descriptors.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sought {
    /// A block device, under whatever name it was opened.
    Device(DeviceNumber),
    /// A file, by the numbers of its file system and of itself.
    File(u64, u64),
}

/// Another program that has it open for writing.
pub(crate) fn writer_of(sought: Sought) -> Option<Program> {
    others()
        .find(|folder| descriptors(folder).any(|name| is_it(folder, &name, sought) && writes(folder, &name)))
        .map(program)
}

/// Another program that has it open for whatever purpose.
pub(crate) fn opener_of(sought: Sought) -> Option<Program> {
    others().find(|folder| descriptors(folder).any(|name| is_it(folder, &name, sought))).map(program)
}

/// A program to which a device is mounted, at a place that this one does not see.
pub(crate) fn mounted_elsewhere(device: DeviceNumber) -> Option<(Program, String)> {
    let own = fs::read_link("/proc/self/ns/mnt").ok();
    let mut seen = vec![own];
    for folder in others() {
        let namespace = fs::read_link(folder.join("ns/mnt")).ok();
        if namespace.is_none() || seen.contains(&namespace) {
            continue;
        }
        seen.push(namespace);
        let text = fs::read_to_string(folder.join("mountinfo")).unwrap_or_default();
        if let Some(mount) = text.lines().filter_map(Mount::parse).find(|mount| mount.device == device) {
            return Some((program(folder), mount.point));
        }
    }
    None
}

/// Folders in /proc of all programs but this one, and but what it is about to start: until a child runs its own program, it holds
/// copies of all descriptors.
fn others() -> impl Iterator<Item = PathBuf> {
    let own = std::process::id();
    let image = fs::read_link("/proc/self/exe").ok();
    let is_own = move |process: u32, folder: &Path| {
        process == own || (parent(folder) == Some(own) && fs::read_link(folder.join("exe")).ok() == image)
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        let folder = entry.path();
        (!is_own(process, &folder)).then_some(folder)
    })
}

/// The fourth field of `stat`, after a name in brackets that may hold anything (proc(5)).
fn parent(folder: &Path) -> Option<u32> {
    let text = fs::read_to_string(folder.join("stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn program(folder: PathBuf) -> Program {
    let process = folder.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap_or_default();
    let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
    Program { process, name: crate::drive_facts::clean(name.trim()) }
}

fn descriptors(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Asks nobody but the kernel's memory: a file on a network that does not answer must not stop this.
fn is_it(folder: &Path, descriptor: &str, sought: Sought) -> bool {
    let path = folder.join("fd").join(descriptor);
    let wanted = StatxFlags::TYPE | StatxFlags::INO;
    let Ok(found) = statx(CWD, path, AtFlags::STATX_DONT_SYNC, wanted) else { return false };
    let kind = FileType::from_raw_mode(found.stx_mode.into());
    match sought {
        Sought::Device(DeviceNumber { major, minor }) => {
            kind == FileType::BlockDevice && (found.stx_rdev_major, found.stx_rdev_minor) == (major, minor)
        }
        Sought::File(device, inode) => {
            kind == FileType::RegularFile
                && (makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino) == (device, inode)
        }
    }
}

/// The line `flags:` of its `fdinfo`, in octal; the lowest two bits say what it was opened for (open(2)).
fn writes(folder: &Path, descriptor: &str) -> bool {
    let text = fs::read_to_string(folder.join("fdinfo").join(descriptor)).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).is_some_and(|flags| flags & 0o3 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;
    use std::process::{Command, Stdio};

    #[test]
    fn a_program_that_reads_is_told_from_one_that_writes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let metadata = file.as_file().metadata().unwrap();
        let sought = Sought::File(metadata.dev(), metadata.ino());
        assert_eq!(opener_of(sought), None, "this one does not count");
        for (stdin, writes) in [(fs::File::open(file.path()), false), (fs::File::create(file.path()), true)] {
            let mut sleep = Command::new("sleep");
            let mut sleep = sleep.arg("60").stdin(Stdio::from(stdin.unwrap())).spawn().unwrap();
            let found = (opener_of(sought), writer_of(sought));
            sleep.kill().unwrap();
            sleep.wait().unwrap();
            let is_sleep = |program: &Program| program.process == sleep.id() && program.name == "sleep";
            assert!(found.0.as_ref().is_some_and(is_sleep), "{found:?}");
            assert_eq!(found.1.is_some(), writes);
        }
    }
}
