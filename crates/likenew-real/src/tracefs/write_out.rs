//! The output file of a recording, where it is on a drive that is recorded.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

/// Sends what was written to a file to its drive from the calling thread.
///
/// A file's data otherwise waits in memory until a worker of the kernel writes it out, and nothing in the
/// records of that says whose data it was. What a thread writes out itself bears its number, so a recording
/// can leave it out. What the file system writes to its journal and tables because of the file remains.
#[derive(Debug)]
pub struct WriteOut(File);

impl WriteOut {
    /// For the file at `path`, which is there.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        OpenOptions::new().write(true).open(path).map(Self)
    }

    /// Starts to write out what is in memory of the file, and waits for none of it.
    ///
    /// # Errors
    /// The file system cannot.
    #[allow(unsafe_code, reason = "rustix has no sync_file_range")]
    pub fn start(&self) -> io::Result<()> {
        // SAFETY: the descriptor is open, and no memory is handed over.
        let answer = unsafe { libc::sync_file_range(self.0.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Lowers the priority of the calling thread: what is recorded comes before the packing of its trace.
pub fn step_back() {
    // Where it is refused, the priority stays.
    let _ = rustix::process::setpriority_process(None, 10);
}
