//! Commands to drives: those that only read, and the one that formats an NVMe namespace.

use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, Updater, ioctl};

use crate::standards::ata::{IDENTIFY_WORDS, IdentifyDevice};
use crate::standards::nvme::IDENTIFY_BYTES;
use crate::target_error::last_errno;

/// Opens the device with this kernel name for commands to it.
///
/// # Errors
/// The system's error.
pub(crate) fn open_drive(name: &str) -> Result<OwnedFd, Errno> {
    let path = Path::new("/dev").join(name.replace('!', "/"));
    open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())
}

// Commands that read from an ATA drive: an answer that the kernel has kept, or a query through SCSI (SAT-3,
// ATA PASS-THROUGH (16)).

/// Bytes of every answer.
pub(crate) const ANSWER_BYTES: usize = 512;
/// `HDIO_GET_IDENTITY` of linux/hdreg.h, and `SG_IO` of scsi/sg.h.
const HDIO_GET_IDENTITY: Opcode = 0x030D;
const SG_IO: Opcode = 0x2285;
/// Time limit of a command in ms: a sleeping drive wakes within it.
const ATA_TIMEOUT_MS: u32 = 15_000;

/// A command to an ATA drive. All of these only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtaCommand {
    /// SMART READ DATA.
    SmartData,
    /// SMART READ THRESHOLDS.
    SmartThresholds,
    /// One page of a log (READ LOG EXT).
    Log(u8, u8),
}

/// IDENTIFY DEVICE, as the kernel read it when it found the drive.
///
/// # Errors
/// The system's error: `ENOTTY` or `EINVAL` if the device is no ATA drive.
pub(crate) fn identify_ata(device: impl AsFd) -> Result<IdentifyDevice, Errno> {
    // SAFETY: the kernel writes the 512 bytes of IDENTIFY DEVICE.
    let words = unsafe { ioctl(device, Getter::<HDIO_GET_IDENTITY, [u16; IDENTIFY_WORDS]>::new()) }?;
    Ok(IdentifyDevice::new(words))
}

/// `struct sg_io_hdr` of scsi/sg.h.
#[repr(C)]
#[derive(Default)]
struct Header {
    interface: i32,
    direction: i32,
    command_length: u8,
    sense_length: u8,
    pieces: u16,
    data_length: u32,
    data: usize,
    command: usize,
    sense: usize,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    user: usize,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residue: i32,
    duration_ms: u32,
    info: u32,
}

/// Sends a command to the drive, and returns its answer.
///
/// # Errors
/// The system's error; `EIO` if the drive or its controller refused.
pub(crate) fn read_ata(device: impl AsFd, what: AtaCommand) -> Result<Vec<u8>, Errno> {
    #[cfg(target_pointer_width = "64")]
    const {
        assert!(size_of::<Header>() == 88)
    };
    const SG_DXFER_FROM_DEV: i32 = -3;
    let command = command(what);
    let (mut answer, mut sense) = (vec![0; ANSWER_BYTES], [0u8; 32]);
    let mut header = Header {
        interface: i32::from(b'S'),
        direction: SG_DXFER_FROM_DEV,
        command_length: command.len() as u8,
        sense_length: sense.len() as u8,
        data_length: ANSWER_BYTES as u32,
        data: answer.as_mut_ptr() as usize,
        command: command.as_ptr() as usize,
        sense: sense.as_mut_ptr() as usize,
        timeout_ms: ATA_TIMEOUT_MS,
        ..Header::default()
    };
    // SAFETY: the kernel reads the header and the command, and writes the header, at most `data_length` bytes
    // of data and `sense_length` of sense, all of which live until it returns.
    unsafe { ioctl(device, Updater::<SG_IO, Header>::new(&mut header)) }?;
    let refused = header.status != 0 || header.host_status != 0 || header.driver_status & 0xF != 0;
    if refused { Err(Errno::IO) } else { Ok(answer) }
}

/// The command block (SAT-3, table 170): protocol 4 (data come in) and one block of 512 bytes, counted in the
/// field of sectors. Then features, count, address and the command of ATA (ACS-3).
fn command(what: AtaCommand) -> [u8; 16] {
    const PIO_IN: u8 = 4 << 1;
    const EXTENDED: u8 = 1;
    const ONE_BLOCK_IN: u8 = 0b0000_1110;
    let (protocol, feature, low, middle, high, code) = match what {
        AtaCommand::SmartData => (PIO_IN, 0xD0, 0, 0x4F, 0xC2, 0xB0),
        AtaCommand::SmartThresholds => (PIO_IN, 0xD1, 0, 0x4F, 0xC2, 0xB0),
        AtaCommand::Log(log, page) => (PIO_IN | EXTENDED, 0, log, page, 0, 0x2F),
    };
    [0x85, protocol, ONE_BLOCK_IN, 0, feature, 0, 1, 0, low, 0, middle, 0, high, 0, code, 0]
}

// Admin commands to an NVMe drive (linux/nvme_ioctl.h): those that only read, and the one that formats.

/// `NVME_IOCTL_ADMIN_CMD` and `NVME_IOCTL_ID`.
const NVME_IOCTL_ADMIN_CMD: Opcode = 0xC048_4E41;
const NVME_IOCTL_ID: Opcode = 0x4E40;
/// Every namespace.
const ALL_NAMESPACES: u32 = 0xFFFF_FFFF;
/// Time limit of a command in ms.
const NVME_TIMEOUT_MS: u32 = 5000;

/// An admin command that reads. None of these writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NvmeCommand {
    /// Numbers of the active namespaces, four bytes each, ascending, up to a zero.
    Namespaces,
    /// Identify Namespace.
    Namespace,
    /// Identify Controller.
    Controller,
    /// A page of a log of the whole drive, and how many bytes of it to read. A maker's own page (from C0h on)
    /// is read for the first namespace, as such a page may need one.
    Log(u8, u32),
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

/// Sends a command to the drive, and returns the data of the answer and its result value.
///
/// # Errors
/// The system's error; `EIO` if the drive refuses the command.
pub(crate) fn read_nvme(device: impl AsFd, what: NvmeCommand) -> Result<(Vec<u8>, u32), Errno> {
    const { assert!(size_of::<AdminCommand>() == 72) };
    // Identify (6), Get Log Page (2) and Get Features (10) of the NVM Express Base Specification, figure 138;
    // a log page is asked for in units of four bytes, less one.
    let log = |page: u8, bytes: u32| u32::from(page) | (bytes / 4).saturating_sub(1) << 16;
    let (opcode, namespace, word_10, bytes) = match what {
        NvmeCommand::Namespace => (6, namespace_number(&device)?, 0, IDENTIFY_BYTES),
        NvmeCommand::Controller => (6, 0, 1, IDENTIFY_BYTES),
        NvmeCommand::Namespaces => (6, 0, 2, IDENTIFY_BYTES),
        NvmeCommand::Log(page @ 0xC0.., bytes) => (2, 1, log(page, bytes), bytes as usize),
        NvmeCommand::Log(page, bytes) => (2, ALL_NAMESPACES, log(page, bytes), bytes as usize),
        NvmeCommand::Feature(feature) => (10, 0, feature.into(), IDENTIFY_BYTES),
    };
    let mut answer = vec![0; bytes];
    let mut command = AdminCommand {
        opcode,
        namespace,
        address: answer.as_mut_ptr() as u64,
        data_length: bytes as u32,
        words_10_15: [word_10, 0, 0, 0, 0, 0],
        timeout_ms: NVME_TIMEOUT_MS,
        ..AdminCommand::default()
    };
    // SAFETY: the kernel writes `data_length` bytes to `address`, which is the answer's own memory.
    match unsafe { send(device, &mut command) }? {
        0 => Ok((answer, command.result)),
        _ => Err(Errno::IO),
    }
}

/// Sends a Format NVM, which only `erase::format` makes, and returns the drive's status: zero for success.
///
/// # Errors
/// The system's error, if the command did not reach the drive.
pub(crate) fn format_namespace(
    device: impl AsFd,
    namespace: u32,
    word_10: u32,
    timeout_ms: u32,
) -> Result<u16, Errno> {
    let mut command = AdminCommand {
        opcode: 0x80,
        namespace,
        words_10_15: [word_10, 0, 0, 0, 0, 0],
        timeout_ms,
        ..AdminCommand::default()
    };
    // SAFETY: the command points to no data.
    unsafe { send(device, &mut command) }
}

/// Sends a command, and returns the drive's status: zero for success.
///
/// # Errors
/// The system's error, if the command did not reach the drive.
///
/// # Safety
/// `address` has to be that of `data_length` bytes that the kernel may write.
unsafe fn send(device: impl AsFd, command: &mut AdminCommand) -> Result<u16, Errno> {
    // SAFETY: the kernel reads one `struct nvme_passthru_cmd` and writes its result into it; the caller answers for the data.
    let answer = unsafe {
        libc::ioctl(device.as_fd().as_raw_fd(), NVME_IOCTL_ADMIN_CMD as _, std::ptr::from_mut(command))
    };
    // A positive answer is the drive's own status, which rustix takes for success.
    u16::try_from(answer).map_err(|_| last_errno())
}

/// The number of the namespace that is open, which the ioctl returns.
pub(crate) fn namespace_number(device: impl AsFd) -> Result<u32, Errno> {
    // SAFETY: the call takes no argument and touches no memory.
    let answer = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), NVME_IOCTL_ID as _) };
    u32::try_from(answer).map_err(|_| last_errno())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_only_read() {
        for what in [AtaCommand::SmartData, AtaCommand::SmartThresholds, AtaCommand::Log(4, 7)] {
            let command = command(what);
            assert_eq!(
                (command[0], command[1] >> 1 & 0xF, command[2] >> 3 & 1),
                (0x85, 4, 1),
                "data come in"
            );
            // SMART with the features that read, and READ LOG EXT.
            assert!(matches!((command[14], command[4]), (0xB0, 0xD0 | 0xD1) | (0x2F, 0)));
        }
    }
}
