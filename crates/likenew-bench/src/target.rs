//! What benchmarks of Likenew's I/O engine run on: temporary targets (a tmpfs, a loop device, a file with a latency
//! of its own), kinds of I/O ([`IoCase`]), and processes that keep the cores busy.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use xshell::{Shell, cmd};

/// One kind of I/O.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IoCase {
    pub(crate) random: bool,
    pub(crate) write: bool,
    /// Bytes of one I/O.
    pub(crate) block: u32,
    /// I/Os in flight in each thread.
    pub(crate) depth: u32,
    /// Bytes of address space.
    pub(crate) span: u64,
    /// Threads (numjobs of fio), each with a queue of its own.
    pub(crate) lanes: u32,
}

impl IoCase {
    /// The case in one line, without columns.
    pub(crate) fn name(&self) -> String {
        self.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// fio's name for the pattern.
    pub(crate) fn fio_rw(&self) -> &'static str {
        match (self.random, self.write) {
            (false, false) => "read",
            (false, true) => "write",
            (true, false) => "randread",
            (true, true) => "randwrite",
        }
    }
}

impl fmt::Display for IoCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = likenew_core::units::exact_size(u64::from(self.block));
        write!(f, "{:9} {size:>4} QD{:<2}", self.fio_rw(), self.depth)?;
        if self.lanes > 1 { write!(f, " T{}", self.lanes) } else { Ok(()) }
    }
}

/// A separate tmpfs; unmounted when dropped.
pub(crate) struct Tmpfs {
    folder: TempDir,
}

impl Tmpfs {
    /// Mounts a tmpfs of this many bytes.
    ///
    /// # Errors
    /// Not root, or the system refuses.
    pub(crate) fn mount(bytes: u64) -> anyhow::Result<Self> {
        ensure!(rustix::process::geteuid().is_root(), "tmpfs and loop devices are made by root: use sudo");
        let sh = Shell::new()?;
        let folder = tempfile::tempdir()?;
        let path = folder.path();
        let option = format!("size={bytes}");
        cmd!(sh, "mount -t tmpfs -o {option} likenew-bench {path}").quiet().run()?;
        Ok(Self { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let path = self.folder.path();
        // A detached loop device may hold a file in the tmpfs for another moment.
        let unmounted = Shell::new().and_then(|sh| cmd!(sh, "umount --lazy {path}").quiet().run());
        if let Err(error) = unmounted {
            eprintln!("could not unmount {}: {error}", path.display());
        }
    }
}

/// A file in memory that another process serves, so that each I/O takes tens of microseconds: nbdkit behind
/// nbdfuse. Unmounted when dropped.
pub(crate) struct ServedFile {
    server: Child,
    file: PathBuf,
    _folder: TempDir,
}

impl ServedFile {
    /// Serves this many bytes of memory.
    ///
    /// # Errors
    /// nbdkit or nbdfuse are not installed, or the system has no FUSE.
    pub(crate) fn in_memory(bytes: u64) -> anyhow::Result<Self> {
        Self::with_arguments(&["--command", "nbdkit", "--single", "memory", &bytes.to_string()])
    }

    /// Serves what nbdfuse opens by these arguments.
    ///
    /// # Errors
    /// nbdfuse is not installed, finds nothing, or the system has no FUSE.
    pub(crate) fn with_arguments(arguments: &[&str]) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("served");
        std::fs::write(&file, "")?;
        let server = Command::new("nbdfuse")
            .arg(&file)
            .args(arguments)
            .stdin(Stdio::null())
            .spawn()
            .context("could not start nbdfuse (Debian package libnbd-bin)")?;
        let served = Self { server, file, _folder: folder };
        for _ in 0..500 {
            if std::fs::metadata(&served.file)?.len() > 0 {
                return Ok(served);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        anyhow::bail!("nbdfuse has served nothing for 5 s; is what it serves installed?")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.file
    }
}

impl Drop for ServedFile {
    fn drop(&mut self) {
        let file = &self.file;
        let unmounted = Shell::new().and_then(|sh| cmd!(sh, "fusermount3 -u {file}").quiet().run());
        if let Err(error) = unmounted {
            eprintln!("could not unmount {}: {error}", file.display());
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}

/// Processes that keep cores busy; killed when dropped.
pub(crate) struct CpuLoad(Vec<Child>);

impl CpuLoad {
    /// # Errors
    /// There is no shell.
    pub(crate) fn start(processes: u32) -> anyhow::Result<Self> {
        let mut busy = Self(Vec::new());
        for _ in 0..processes {
            busy.0.push(Command::new("sh").args(["-c", "while :; do :; done"]).spawn()?);
        }
        Ok(busy)
    }
}

impl Drop for CpuLoad {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A loop device over a temporary file; detached when dropped.
pub(crate) struct LoopDevice {
    pub(crate) device: PathBuf,
}

impl LoopDevice {
    /// Attaches a loop device over `file`. With `is_direct`, I/O bypasses the page cache, so that the file's own latency
    /// shows; a file on tmpfs has none.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn attach(file: &Path, is_direct: bool) -> anyhow::Result<Self> {
        let sh = Shell::new()?;
        let direct = if is_direct { "--direct-io=on" } else { "--direct-io=off" };
        let device = cmd!(sh, "losetup {direct} --find --show {file}")
            .quiet()
            .read()
            .context("could not attach a loop device")?;
        Ok(Self { device: device.trim().into() })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let device = &self.device;
        let detached = Shell::new().and_then(|sh| cmd!(sh, "losetup --detach {device}").quiet().run());
        if let Err(error) = detached {
            eprintln!("could not detach {}: {error}", device.display());
        }
    }
}
