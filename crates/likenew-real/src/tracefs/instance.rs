//! A separate instance of the kernel's tracing, so that no other tracing is touched; removed on every way
//! out.
//!
//! A process that is killed leaves its instance behind. Each instance has a lock, which the system releases when
//! the process ends, however it ends. So the next process knows which instances are left over, and removes them.
//! Only one process at a time creates or removes instances, as a new instance has no lock for a moment.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use likenew_core::target_error::TargetError;
use rustix::fs::{Access, AtFlags, CWD, FlockOperation, OFlags, accessat, flock};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::block::entries;
use crate::hold::Tries;
use crate::mounts;
use crate::scratch::lock;
use crate::wording::{action, record as wording};

const PREFIX: &str = "likenew-";

/// A tracing instance. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Instance {
    inner: Arc<InstanceDirectory>,
}

/// Every instance of this process, for ways out on which no value is dropped.
static OPEN_DIRECTORIES: Mutex<Vec<Weak<InstanceDirectory>>> = Mutex::new(Vec::new());

/// How many instances this process has made.
static INSTANCE_COUNT: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
struct InstanceDirectory {
    path: PathBuf,
    /// The raw buffers of all processors. An instance cannot be removed while they are open.
    pipes: Mutex<Vec<File>>,
    _lock: File,
    /// Dropped last: a mount of our own has to outlive its instance.
    _root: TracefsRoot,
}

impl Instance {
    /// Makes an instance that records nothing yet.
    ///
    /// # Errors
    /// No rights, no tracefs, or the system refuses.
    pub(crate) fn create(root: TracefsRoot) -> Result<Self, TargetError> {
        let _turn = set_switch(&root).map_err(|error| in_tracefs(action::WAIT_FOR_INSTANCES, error))?;
        let number = INSTANCE_COUNT.fetch_add(1, Ordering::Relaxed);
        let path = root.instances().join(format!("{PREFIX}{}-{number}", std::process::id()));
        let make = || {
            fs::create_dir(&path)?;
            let directory = File::open(&path)?;
            flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
            io::Result::Ok(directory)
        };
        let inner = make().map_err(|error| in_tracefs(action::MAKE_INSTANCE, error))?;
        let inner = Arc::new(InstanceDirectory { path, pipes: Mutex::default(), _lock: inner, _root: root });
        lock(&OPEN_DIRECTORIES).push(Arc::downgrade(&inner));
        Ok(Self { inner })
    }

    /// Writes a setting of the instance.
    ///
    /// # Errors
    /// There is no such setting, or it does not take this value.
    pub(crate) fn set(&self, name: &str, value: &str) -> Result<(), TargetError> {
        put(&self.inner.path.join(name), value)
            .map_err(|error| in_tracefs(&action::set_instance(name, value), error))
    }

    /// Reads a file of the instance.
    ///
    /// # Errors
    /// There is no such file.
    pub(crate) fn read(&self, name: &str) -> Result<String, TargetError> {
        get(&self.inner.path.join(name)).map_err(|error| in_tracefs(&action::read_instance(name), error))
    }

    /// Opens the raw buffers of all processors, for reading without waiting. Returns the processors' numbers.
    ///
    /// # Errors
    /// A buffer cannot be opened.
    pub(crate) fn open_pipes(&self) -> Result<Vec<u32>, TargetError> {
        let wrong = |error| in_tracefs(action::OPEN_TRACE_BUFFERS, error);
        let mut cpus: Vec<u32> = fs::read_dir(self.inner.path.join("per_cpu"))
            .map_err(wrong)?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_prefix("cpu")?.parse().ok())
            .collect();
        cpus.sort_unstable();
        let mut pipes = lock(&self.inner.pipes);
        for cpu in &cpus {
            let path = self.inner.path.join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            pipes.push(OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(wrong)?);
        }
        Ok(cpus)
    }

    /// The open buffers. They are gone once another program has asked for all instances to be removed.
    pub(crate) fn pipes(&self) -> Pipes<'_> {
        Pipes(lock(&self.inner.pipes))
    }

    /// Removes instances that killed recorders have left, and returns their names.
    pub(crate) fn remove_leftovers(root: &TracefsRoot) -> Vec<String> {
        let Ok(_turn) = set_switch(root) else { return Vec::new() };
        let ours = entries(&root.instances())
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
        ours.filter(|entry| is_leftover(&entry.path()) && remove(&entry.path()).is_ok())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }
}

/// The raw buffers, held for a while.
pub(crate) struct Pipes<'a>(MutexGuard<'a, Vec<File>>);

impl Pipes<'_> {
    /// Reads one page of a processor's records, by the processor's place in the list; nothing if there are none now.
    pub(crate) fn read(&mut self, index: usize, page: &mut [u8]) -> io::Result<usize> {
        let Some(pipe) = self.0.get_mut(index) else { return Ok(0) };
        match pipe.read(page) {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(0)
            }
            read => read,
        }
    }
}

/// Removes the instances of this process, from any thread.
pub fn remove_all() {
    let inner: Vec<_> = std::mem::take(&mut *lock(&OPEN_DIRECTORIES));
    for inner in inner.iter().filter_map(Weak::upgrade) {
        inner.remove();
    }
}

impl InstanceDirectory {
    fn remove(&self) {
        lock(&self.pipes).clear();
        // A file of the instance may be open for a moment: in a child that another thread has just made, or while it is read.
        let is_busy = |error: &io::Error| Errno::from_io_error(error) == Some(Errno::BUSY);
        let busy = |removed: &io::Result<()>| removed.as_ref().is_err_and(is_busy);
        let _ = Tries::CLAIM.until_free(busy, || remove(&self.path));
    }
}

impl Drop for InstanceDirectory {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Waits until no other process creates or removes instances. The turn ends when the descriptor is dropped.
fn set_switch(root: &TracefsRoot) -> io::Result<File> {
    let instances = File::open(root.instances())?;
    flock(&instances, FlockOperation::LockExclusive)?;
    Ok(instances)
}

fn is_leftover(path: &Path) -> bool {
    let Ok(directory) = File::open(path) else { return false };
    flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Stops an instance and removes it.
fn remove(path: &Path) -> io::Result<()> {
    // If a setting cannot be written, removing the instance fails, or stops it as well.
    let _ = put(&path.join("tracing_on"), "0");
    let _ = put(&path.join("events/enable"), "0");
    fs::remove_dir(path)
}

/// Longer than any file of an instance but its traces.
const FILE_BYTES: usize = 64 << 10;

/// Reads a file in large pieces: some files of tracefs end after the first read.
fn get(path: &Path) -> io::Result<String> {
    let (mut file, mut text, mut length) = (File::open(path)?, vec![0; FILE_BYTES], 0);
    while length < text.len() {
        match file.read(&mut text[length..])? {
            0 => break,
            read => length += read,
        }
    }
    text.truncate(length);
    String::from_utf8(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn put(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

// The kernel's tracing file system: where it is mounted, or a private mount that no other process sees.

/// The root of tracefs.
#[derive(Debug)]
pub(crate) struct TracefsRoot {
    path: PathBuf,
    /// A mount that is attached nowhere: it goes with its last descriptor, however this process ends.
    _mount: Option<OwnedFd>,
}

impl TracefsRoot {
    /// Takes the mounted tracefs, or mounts one.
    ///
    /// # Errors
    /// A refusal that says what is missing and what to do.
    pub(crate) fn find() -> Result<Self, TargetError> {
        let usable =
            |path: &Path| accessat(CWD, path.join(INSTANCES), Access::WRITE_OK, AtFlags::empty()).is_ok();
        let mounted = mounts::all().unwrap_or_default().into_iter().filter(|mount| mount.kind == "tracefs");
        let mut paths = mounted.map(|mount| PathBuf::from(mount.point));
        if let Some(path) = paths.find(|path| usable(path)) {
            return Ok(Self { path, _mount: None });
        }
        let mount = mount().map_err(access_error)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        if !usable(&path) {
            return Err(TargetError::Refused(wording::not_writable()));
        }
        Ok(Self { path, _mount: Some(mount) })
    }

    /// Where instances are made.
    pub(crate) fn instances(&self) -> PathBuf {
        self.path.join(INSTANCES)
    }
}

const INSTANCES: &str = "instances";

fn mount() -> Result<OwnedFd, Errno> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// Why tracefs is not available, in words.
fn access_error(errno: Errno) -> TargetError {
    match errno {
        Errno::NODEV => TargetError::Unsuitable(wording::NO_TRACING.into()),
        Errno::NOSYS => TargetError::Unsuitable(wording::NOT_MOUNTED.into()),
        _ if is_locked_down() => TargetError::Refused(wording::LOCKED_DOWN.into()),
        Errno::PERM | Errno::ACCESS => TargetError::Refused(wording::needs_root()),
        errno => TargetError::system(action::MOUNT_TRACEFS)(errno.into()),
    }
}

/// Whether the kernel refuses tracing as a matter of policy.
fn is_locked_down() -> bool {
    let text = std::fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    text.contains("[confidentiality]")
}

/// The meaning of a failure to open, read or write in tracefs.
pub(crate) fn in_tracefs(doing: &str, error: std::io::Error) -> TargetError {
    match Errno::from_io_error(&error) {
        Some(Errno::PERM | Errno::ACCESS) if is_locked_down() => {
            TargetError::Refused(wording::LOCKED_DOWN.into())
        }
        Some(Errno::PERM | Errno::ACCESS) => TargetError::Refused(wording::tracefs_refused(doing, &error)),
        _ => TargetError::system(doing)(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_what_to_do() {
        for (errno, words) in
            [(Errno::PERM, "sudo"), (Errno::NODEV, "CONFIG_FTRACE"), (Errno::NOSYS, "mount -t tracefs")]
        {
            let message = access_error(errno).to_string();
            assert!(message.contains(words), "{message}");
        }
        assert!(access_error(Errno::NOMEM).to_string().starts_with("could not mount"));
    }

    #[test]
    fn a_mount_of_our_own_is_attached_nowhere() {
        let before = mounts::all().unwrap().len();
        match mount() {
            Ok(fd) => {
                assert!(Path::new(&format!("/proc/self/fd/{}/events/block", fd.as_raw_fd())).exists());
                assert_eq!(mounts::all().unwrap().len(), before);
            }
            Err(errno) => eprintln!("SKIPPED: no tracefs here: {errno}"),
        }
    }
}
