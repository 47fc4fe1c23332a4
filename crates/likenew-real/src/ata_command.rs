//! Commands to an ATA drive, of those that only read: as the kernel kept the answer, or through SCSI (SAT-3,
//! ATA PASS-THROUGH (16)).

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, Updater, ioctl};

use crate::standards::ata::{IDENTIFY_WORDS, IdentifyDevice};

/// Bytes of every answer.
pub(crate) const ANSWER_BYTES: usize = 512;
/// `HDIO_GET_IDENTITY` of linux/hdreg.h, and `SG_IO` of scsi/sg.h.
const HDIO_GET_IDENTITY: Opcode = 0x030D;
const SG_IO: Opcode = 0x2285;
/// Time limit of a command: a sleeping drive wakes within it.
const TIMEOUT_MS: u32 = 15_000;

/// The commands. All of them only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadCommand {
    /// SMART READ DATA.
    SmartData,
    /// SMART READ THRESHOLDS.
    SmartThresholds,
    /// One page of a log (READ LOG EXT).
    Log(u8, u8),
}

/// IDENTIFY DEVICE as the kernel has read it when it found the drive.
///
/// # Errors
/// The system's; `ENOTTY` or `EINVAL` of what is no ATA drive.
pub(crate) fn identify(device: impl AsFd) -> Result<IdentifyDevice, Errno> {
    // SAFETY: the kernel writes the 512 bytes of IDENTIFY DEVICE.
    let words = unsafe { ioctl(device, Getter::<HDIO_GET_IDENTITY, [u16; IDENTIFY_WORDS]>::new()) }?;
    Ok(IdentifyDevice::new(words))
}

/// `struct sg_io_hdr` of scsi/sg.h.
#[repr(C)]
struct Header {
    interface: i32,
    direction: i32,
    command_length: u8,
    sense_length: u8,
    pieces: u16,
    data_length: u32,
    data: *mut u8,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    user: *mut u8,
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

/// Asks the drive.
///
/// # Errors
/// The system's; `EIO` where the drive or its controller refused.
pub(crate) fn read(device: impl AsFd, what: ReadCommand) -> Result<Vec<u8>, Errno> {
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
        pieces: 0,
        data_length: ANSWER_BYTES as u32,
        data: answer.as_mut_ptr(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: TIMEOUT_MS,
        flags: 0,
        pack_id: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residue: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: the kernel reads the header and the command, and writes the header, at most `data_length` bytes
    // of data and `sense_length` of sense, all of which live until it returns.
    unsafe { ioctl(device, Updater::<SG_IO, Header>::new(&mut header)) }?;
    let refused = header.status != 0 || header.host_status != 0 || header.driver_status & 0xF != 0;
    if refused { Err(Errno::IO) } else { Ok(answer) }
}

/// The command block: protocol 4 (data come in), one block of 512 bytes counted in the field of sectors, then
/// features, count, address and the command of ATA (SAT-3, table 170; ACS-3 for the commands).
fn command(what: ReadCommand) -> [u8; 16] {
    const PIO_IN: u8 = 4 << 1;
    const EXTENDED: u8 = 1;
    const ONE_BLOCK_IN: u8 = 0b0000_1110;
    let (protocol, feature, low, middle, high, code) = match what {
        ReadCommand::SmartData => (PIO_IN, 0xD0, 0, 0x4F, 0xC2, 0xB0),
        ReadCommand::SmartThresholds => (PIO_IN, 0xD1, 0, 0x4F, 0xC2, 0xB0),
        ReadCommand::Log(log, page) => (PIO_IN | EXTENDED, 0, log, page, 0, 0x2F),
    };
    [0x85, protocol, ONE_BLOCK_IN, 0, feature, 0, 1, 0, low, 0, middle, 0, high, 0, code, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_only_read() {
        for what in [ReadCommand::SmartData, ReadCommand::SmartThresholds, ReadCommand::Log(4, 7)] {
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
