//! Commands of administration to an NVMe drive (linux/nvme_ioctl.h): those that only read, and the one that formats.

use std::os::fd::{AsFd, AsRawFd as _};

use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};

use crate::standards::nvme::IDENTIFY_BYTES;

/// `NVME_IOCTL_ADMIN_CMD` and `NVME_IOCTL_ID`.
const NVME_IOCTL_ADMIN_CMD: Opcode = 0xC048_4E41;
const NVME_IOCTL_ID: Opcode = 0x4E40;
/// Every namespace.
const ALL: u32 = 0xFFFF_FFFF;
/// A drive that does not answer is waited for no longer.
const TIMEOUT_MS: u32 = 5000;

/// What is read. There is nothing among these that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadCommand {
    /// Numbers of the active namespaces, four bytes each, ascending, up to a zero.
    Namespaces,
    /// Identify of the namespace.
    Namespace,
    /// Identify of the controller.
    Controller,
    /// So many bytes of a log page, of the whole drive.
    Log(u8, u32),
    /// So many bytes of a log page of the first namespace, where a maker's page wants one to be named.
    LogOfFirst(u8, u32),
    /// The current value of a feature, and its data.
    Feature(u8),
}

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_length: u32,
    data_length: u32,
    words_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// The answer, and the value that came with it.
///
/// # Errors
/// The system's; `EIO` where the drive refused.
pub(crate) fn read(device: impl AsFd, what: ReadCommand) -> Result<(Vec<u8>, u32), Errno> {
    const { assert!(size_of::<AdminCommand>() == 72) };
    // Identify (6), Get Log Page (2) and Get Features (10) of the NVM Express Base Specification, figure 138;
    // a log page is asked for in units of four bytes, less one.
    let log = |page: u8, bytes: u32| u32::from(page) | (bytes / 4).saturating_sub(1) << 16;
    let (opcode, namespace, word_10, bytes) = match what {
        ReadCommand::Namespace => (6, number(&device)?, 0, IDENTIFY_BYTES),
        ReadCommand::Controller => (6, 0, 1, IDENTIFY_BYTES),
        ReadCommand::Namespaces => (6, 0, 2, IDENTIFY_BYTES),
        ReadCommand::Log(page, bytes) => (2, ALL, log(page, bytes), bytes as usize),
        ReadCommand::LogOfFirst(page, bytes) => (2, 1, log(page, bytes), bytes as usize),
        ReadCommand::Feature(feature) => (10, 0, feature.into(), IDENTIFY_BYTES),
    };
    let mut answer = vec![0; bytes];
    let mut command = AdminCommand {
        opcode,
        namespace,
        address: answer.as_mut_ptr() as u64,
        data_length: bytes as u32,
        words_10_15: [word_10, 0, 0, 0, 0, 0],
        timeout_ms: TIMEOUT_MS,
        ..AdminCommand::default()
    };
    // SAFETY: the kernel reads one `struct nvme_passthru_cmd`, writes its result into it, and writes
    // `data_length` bytes to `address`, which is the answer's own memory.
    let status = unsafe { ioctl(&device, AdminUpdater::new(&mut command)) };
    status?;
    Ok((answer, command.result))
}

/// A Format NVM, whole: `erase::format` alone makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) namespace: u32,
    pub(crate) word_10: u32,
    pub(crate) timeout_ms: u32,
}

/// Sends it, and answers the drive's status: zero when it was done.
///
/// # Errors
/// The system's, when it has not reached the drive.
pub(crate) fn format(device: impl AsFd, what: Format) -> Result<u16, Errno> {
    let mut command = AdminCommand {
        opcode: 0x80,
        namespace: what.namespace,
        words_10_15: [what.word_10, 0, 0, 0, 0, 0],
        timeout_ms: what.timeout_ms,
        ..AdminCommand::default()
    };
    // SAFETY: the kernel reads one `struct nvme_passthru_cmd`, which names no memory of data, and writes its
    // result into it.
    let answer =
        unsafe { libc::ioctl(device.as_fd().as_raw_fd(), NVME_IOCTL_ADMIN_CMD as _, &raw mut command) };
    // What is positive is the drive's own word.
    u16::try_from(answer)
        .map_err(|_| Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}

type AdminUpdater<'a> = Updater<'a, NVME_IOCTL_ADMIN_CMD, AdminCommand>;

/// The number of a namespace is what the ioctl returns.
pub(crate) fn number(device: impl AsFd) -> Result<u32, Errno> {
    // SAFETY: the call takes no argument and touches no memory.
    let answer = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), NVME_IOCTL_ID as _) };
    u32::try_from(answer)
        .map_err(|_| Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}
