//! Which other programs have a file or device open, as /proc shows it to this user: all of them to root,
//! otherwise the user's own.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, makedev, statx};

use crate::block::{DeviceNumber, entries};
use crate::mounts::{Mount, Store};

/// A program, with its process number and its name.
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

/// The purpose for which a program has something open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Writing, through a descriptor or a mapping in memory.
    Writing,
    /// Any purpose.
    Any,
}

/// Another program that has one of these open, and which one that is.
pub(crate) fn opener_of(candidates: &[Store], access: Access) -> Option<(Program, Store)> {
    other_processes().find_map(|folder| {
        let store = tables(&folder).iter().find_map(|task| {
            let open = || descriptors(task).find_map(|name| opened_store(task, &name, candidates, access));
            let mapped = || writable_maps(task).find_map(|range| mapped_store(task, range, candidates));
            open().or_else(mapped)
        });
        Some((program(folder), store?))
    })
}

/// Another program that may write to a file on one of these mounts, through a descriptor or a mapping. The
/// file has one of these sizes; if one size is unknown, any file counts.
pub(crate) fn writer_of_shown<'a>(
    mounts: &[&'a Mount],
    sizes: &[Option<u64>],
) -> Option<(Program, &'a Mount)> {
    if mounts.is_empty() {
        return None;
    }
    let shown = |link: &Path| {
        let wanted = StatxFlags::TYPE | StatxFlags::SIZE | StatxFlags::MNT_ID;
        let stat = statx(CWD, link, AtFlags::STATX_DONT_SYNC, wanted).ok()?;
        let is_file = FileType::from_raw_mode(stat.stx_mode.into()) == FileType::RegularFile;
        let may_be = sizes.iter().any(|size| size.is_none_or(|size| size == stat.stx_size));
        let mount = mounts.iter().copied().find(|mount| mount.id == stat.stx_mnt_id)?;
        (is_file && may_be).then_some(mount)
    };
    other_processes().find_map(|folder| {
        let mount = tables(&folder).iter().find_map(|task| {
            let open = |name: String| shown(&task.join("fd").join(&name)).filter(|_| writes(task, &name));
            let mapped = |(addresses, _)| shown(&task.join("map_files").join(addresses));
            descriptors(task).find_map(open).or_else(|| writable_maps(task).find_map(mapped))
        });
        Some((program(folder), mount?))
    })
}

/// Whether the FUSE file system with this number may show other files or block devices: a server has some
/// open, or no server is visible. Standard streams do not count, nor what a server cannot read, such as a
/// log. A program that serves an unknown FUSE file system counts as a server of this one.
pub(crate) fn fuse_servers_have_files(system: DeviceNumber) -> bool {
    let serves = |folder: &Path, descriptor: &str| {
        fs::read_link(folder.join("fd").join(descriptor)).is_ok_and(|link| link == Path::new("/dev/fuse"))
            && fs::read_to_string(folder.join("fdinfo").join(descriptor))
                .ok()
                .and_then(|text| fuse_connection(&text))
                .is_none_or(|served| served == system.minor)
    };
    let tasks = other_processes().flat_map(|folder| tables(&folder));
    let servers: Vec<PathBuf> =
        tasks.filter(|task| descriptors(task).any(|name| serves(task, &name))).collect();
    let has_files = |folder: &PathBuf| {
        descriptors(folder).any(|name| {
            let may_read =
                !["0", "1", "2"].contains(&&*name) && opened_for(folder, &name) != Some(WRITE_ONLY);
            may_read && store_of(&folder.join("fd").join(&name)).is_some()
        })
    };
    servers.is_empty() || servers.iter().any(has_files)
}

/// The minor number of the file system that a descriptor of /dev/fuse serves, from the line
/// `fuse_connection:` of its `fdinfo` (`fuse_dev_show_fdinfo` in fs/fuse/dev.c of the Linux sources).
pub(crate) fn fuse_connection(text: &str) -> Option<u32> {
    text.lines().find_map(|line| line.strip_prefix("fuse_connection:"))?.trim().parse().ok()
}

/// Mounts that other programs see and this one does not, each with a program that sees it.
///
/// # Errors
/// There is another mount namespace in which no program lets its mounts be read.
pub(crate) fn mounts_elsewhere() -> io::Result<Vec<(Mount, Program)>> {
    let mut namespaces = vec![fs::read_link("/proc/self/ns/mnt").ok()];
    let mut mounts = Vec::new();
    let mut unread = Vec::new();
    for folder in other_processes() {
        let namespace = fs::read_link(folder.join("ns/mnt")).ok();
        if namespace.is_none() || namespaces.contains(&namespace) {
            continue;
        }
        match fs::read(folder.join("mountinfo")) {
            Ok(text) => {
                namespaces.push(namespace);
                let seen_by = program(folder);
                mounts.extend(Mount::parse_all(&text).into_iter().map(|mount| (mount, seen_by.clone())));
            }
            // The program has ended, and its view with it.
            Err(_) if fs::read_link(folder.join("ns/mnt")).is_err() => {}
            // Another program in the namespace may let its own be read.
            Err(error) => unread.push((namespace, error)),
        }
    }
    match unread.into_iter().find(|(namespace, _)| !namespaces.contains(namespace)) {
        Some((_, error)) => Err(error),
        None => Ok(mounts),
    }
}

/// Folders in /proc of all other programs. Children of this one that run no program of their own yet are left
/// out, as they hold copies of all our descriptors.
fn other_processes() -> impl Iterator<Item = PathBuf> {
    let own = std::process::id();
    let image = fs::read_link("/proc/self/exe").ok();
    let is_own = move |process: u32, folder: &Path| {
        process == own || (parent(folder) == Some(own) && fs::read_link(folder.join("exe")).ok() == image)
    };
    entries(Path::new("/proc")).filter_map(move |entry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        let folder = entry.path();
        (!is_own(process, &folder)).then_some(folder)
    })
}

/// The parent of a process: the second field of `stat` after the name in brackets, which may hold anything (proc(5)).
fn parent(folder: &Path) -> Option<u32> {
    let text = fs::read(folder.join("stat")).ok()?;
    parent_of(&String::from_utf8_lossy(&text))
}

pub(crate) fn parent_of(text: &str) -> Option<u32> {
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn program(folder: PathBuf) -> Program {
    let process = folder.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap_or_default();
    let name = fs::read(folder.join("comm")).unwrap_or_default();
    Program { process, name: crate::standards::clean(String::from_utf8_lossy(&name).trim()) }
}

/// For each table of descriptors in a process, the folder in /proc of one thread with that table. Usually all threads share
/// one. A thread may have its own (unshare(2), `CLONE_FILES`), and the first thread's table is gone once that thread has ended.
fn tables(process: &Path) -> Vec<PathBuf> {
    let number = |folder: &Path| folder.file_name()?.to_str()?.parse::<libc::pid_t>().ok();
    let mut tables: Vec<PathBuf> = Vec::new();
    for thread in entries(&process.join("task")).map(|thread| thread.path()) {
        let has_same = |known: &PathBuf| {
            number(known).zip(number(&thread)).is_some_and(|(one, other)| share_descriptors(one, other))
        };
        if !tables.iter().any(has_same) {
            tables.push(thread);
        }
    }
    tables
}

/// Whether two threads share a table of descriptors; false if the kernel does not say.
#[allow(unsafe_code, reason = "rustix has no kcmp(2)")]
fn share_descriptors(one: libc::pid_t, other: libc::pid_t) -> bool {
    /// `enum kcmp_type` in linux/kcmp.h of the Linux sources.
    const KCMP_FILES: libc::c_int = 2;
    // SAFETY: the call takes numbers only and changes nothing.
    unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_FILES, 0, 0) == 0 }
}

fn descriptors(folder: &Path) -> impl Iterator<Item = String> + use<> {
    entries(&folder.join("fd")).filter_map(|entry| entry.file_name().into_string().ok())
}

/// The candidate that a descriptor leads to, if it was opened for this access.
fn opened_store(folder: &Path, descriptor: &str, candidates: &[Store], access: Access) -> Option<Store> {
    let store = store_of(&folder.join("fd").join(descriptor)).filter(|store| candidates.contains(store))?;
    (access == Access::Any || writes(folder, descriptor)).then_some(store)
}

/// Asks the kernel's memory only: a network file system that does not answer must not block this.
fn store_of(link: &Path) -> Option<Store> {
    let stat = statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE | StatxFlags::INO).ok()?;
    match FileType::from_raw_mode(stat.stx_mode.into()) {
        FileType::BlockDevice => {
            Some(Store::Device(DeviceNumber { major: stat.stx_rdev_major, minor: stat.stx_rdev_minor }))
        }
        FileType::RegularFile => {
            Some(Store::File { device: makedev(stat.stx_dev_major, stat.stx_dev_minor), inode: stat.stx_ino })
        }
        _ => None,
    }
}

/// `O_WRONLY` (open(2)).
const WRITE_ONLY: u32 = 1;

/// Whether a descriptor was opened for writing. If that is unknown, and the descriptor is still open, the answer is yes.
fn writes(folder: &Path, descriptor: &str) -> bool {
    opened_for(folder, descriptor)
        .map_or_else(|| folder.join("fd").join(descriptor).symlink_metadata().is_ok(), |purpose| purpose != 0)
}

fn opened_for(folder: &Path, descriptor: &str) -> Option<u32> {
    purpose(&fs::read_to_string(folder.join("fdinfo").join(descriptor)).ok()?)
}

/// What a descriptor was opened for: the lowest two bits of the line `flags:` of its `fdinfo`, in octal (open(2)).
pub(crate) fn purpose(text: &str) -> Option<u32> {
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    u32::from_str_radix(flags.trim(), 8).ok().map(|flags| flags & 0o3)
}

/// The addresses and name of each file or device that a program has mapped as shared and writable, as `maps`
/// spells them (proc(5)). Such a mapping outlives the descriptor that it was made with.
fn writable_maps(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> + use<> {
    // Nothing is shown of another user's program, or of one that has ended.
    let text = fs::read(folder.join("maps")).unwrap_or_default();
    let maps: Vec<_> = text.split(|byte| *byte == b'\n').filter_map(writable_map).collect();
    maps.into_iter()
}

pub(crate) fn writable_map(line: &[u8]) -> Option<(String, PathBuf)> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let (addresses, permissions, rest) = (words.next()?, words.next()?, words.next()?);
    let name = &rest[rest.iter().position(|byte| *byte == b'/')?..];
    let is_shared = permissions.ends_with(b"s") && permissions.contains(&b'w');
    let addresses = String::from_utf8_lossy(addresses).into_owned();
    (is_shared && !name.starts_with(b"/memfd:")).then(|| (addresses, OsStr::from_bytes(name).into()))
}

/// The link of a mapping is exact, and only root may follow it; others have the name.
fn mapped_store(folder: &Path, (addresses, name): (String, PathBuf), candidates: &[Store]) -> Option<Store> {
    let store = store_of(&folder.join("map_files").join(addresses)).or_else(|| store_of(&name));
    store.filter(|store| candidates.contains(store))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_program_that_reads_is_distinguished_from_one_that_writes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let candidates = [Store::at(file.path()).unwrap()];
        assert_eq!(opener_of(&candidates, Access::Any), None, "this one does not count");
        for (stdin, writes) in [(fs::File::open(file.path()), false), (fs::File::create(file.path()), true)] {
            let mut sleep = Command::new("sleep");
            let mut sleep = sleep.arg("60").stdin(Stdio::from(stdin.unwrap())).spawn().unwrap();
            let openers = (opener_of(&candidates, Access::Any), opener_of(&candidates, Access::Writing));
            sleep.kill().unwrap();
            sleep.wait().unwrap();
            let is_sleep = |(program, store): &(Program, Store)| {
                program.process == sleep.id() && program.name == "sleep" && *store == candidates[0]
            };
            assert!(openers.0.as_ref().is_some_and(is_sleep), "{openers:?}");
            assert_eq!(openers.1.is_some(), writes);
        }
    }

    #[test]
    fn a_thread_with_descriptors_of_its_own_hides_nothing() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let candidates = [Store::at(file.path()).unwrap()];
        // One thread opens it in a table of its own; in the second case the first thread ends.
        let script = |first_ends: bool| {
            format!(
                "import ctypes, os, sys, threading, time\n\
                 libc = ctypes.CDLL(None)\n\
                 def work():\n\
                 \x20   assert libc.unshare(0x400) == 0\n\
                 \x20   os.open({:?}, os.O_RDWR)\n\
                 \x20   print('open', flush=True)\n\
                 \x20   time.sleep(60)\n\
                 threading.Thread(target=work, daemon=True).start()\n\
                 {}",
                file.path().display().to_string(),
                if first_ends { "libc.pthread_exit(None)" } else { "time.sleep(60)" }
            )
        };
        for first_ends in [false, true] {
            let mut python = Command::new("python3");
            let python = python.args(["-c", &script(first_ends)]).stdout(Stdio::piped()).spawn();
            let Ok(mut python) = python else { return eprintln!("no python3, so this test shows nothing") };
            let mut line = String::new();
            std::io::BufRead::read_line(
                &mut std::io::BufReader::new(python.stdout.take().unwrap()),
                &mut line,
            )
            .unwrap();
            let opener = opener_of(&candidates, Access::Writing);
            python.kill().unwrap();
            python.wait().unwrap();
            assert_eq!(line, "open\n");
            assert_eq!(opener.map(|(program, _)| program.process), Some(python.id()), "{first_ends}");
        }
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_other_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = b"7f12a000-7f12b000 r-xp 00000000 fe:00 130 /usr/lib/caf\xe9.so\n".to_vec();
        text.extend(b"7f12c000-7f12d000 rw-s 00000000 fe:00 131 /srv/disk-\xe9.img\n");
        fs::write(folder.path().join("maps"), text).unwrap();
        let maps: Vec<_> = writable_maps(folder.path()).collect();
        let name = PathBuf::from(OsStr::from_bytes(b"/srv/disk-\xe9.img"));
        assert_eq!(maps, [("7f12c000-7f12d000".to_owned(), name)]);
    }

    #[test]
    fn a_descriptor_that_does_not_say_what_it_is_for_may_write() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), text).unwrap();
        };
        write("fd/3", b"");
        assert!(writes(folder.path(), "3") && !writes(folder.path(), "4"), "4 is closed");
        for (text, expected) in
            [(&b"pos:\t0\nflags:\t0100000\n"[..], false), (b"flags:\t02\n\xe9", true), (b"pos:\t0\n", true)]
        {
            write("fdinfo/3", text);
            assert_eq!(writes(folder.path(), "3"), expected);
        }
    }

    #[test]
    fn memory_shared_with_a_file_is_distinguished_from_other_memory() {
        let map_of = |line: &str| {
            writable_map(line.as_bytes()).map(|(addresses, name)| (addresses, name.display().to_string()))
        };
        let shared = "7f12a000-7f12b000 rw-s 00000000 fe:00 131 /srv/a disk.img";
        assert_eq!(map_of(shared), Some(("7f12a000-7f12b000".into(), "/srv/a disk.img".into())));
        for line in [
            "7f12a000-7f12b000 rw-p 00000000 fe:00 131 /srv/disk.img",
            "7f12a000-7f12b000 r--s 00000000 fe:00 131 /srv/disk.img",
            "7f12a000-7f12b000 rw-s 00000000 00:01 7 /memfd:ring (deleted)",
            "7ffd1000-7ffd2000 rw-s 00000000 00:00 0",
            "",
        ] {
            assert_eq!(map_of(line), None, "{line}");
        }
    }
}
