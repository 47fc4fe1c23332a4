//! The numbers of the protocol, under their names in doc/proto.md, its error numbers, and the limits that bound a
//! client's use of memory and time. All integers are sent in network byte order.

use std::io;

use likenew_core::io::Outcome;
use likenew_core::units::Nanos;

/// The first magic number of a server.
pub(crate) const NBD_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// The magic number of every option, and a server's second one, which announces the newstyle handshake.
pub(crate) const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// The magic number of every reply to an option.
pub(crate) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// The magic number of every request.
pub(crate) const REQUEST_MAGIC: u32 = 0x2560_9513;
/// The magic number of a simple reply.
pub(crate) const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// The magic number of each chunk of a structured reply.
pub(crate) const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Handshake flags of server and client.
pub(crate) mod handshake {
    pub(crate) const FIXED_NEWSTYLE: u16 = 1;
    pub(crate) const NO_ZEROES: u16 = 1 << 1;
}

/// Options.
pub(crate) mod option {
    pub(crate) const EXPORT_NAME: u32 = 1;
    pub(crate) const ABORT: u32 = 2;
    pub(crate) const LIST: u32 = 3;
    pub(crate) const STARTTLS: u32 = 5;
    pub(crate) const INFO: u32 = 6;
    pub(crate) const GO: u32 = 7;
    pub(crate) const STRUCTURED_REPLY: u32 = 8;
    pub(crate) const LIST_META_CONTEXT: u32 = 9;
    pub(crate) const SET_META_CONTEXT: u32 = 10;
}

/// Types of replies to options.
pub(crate) mod rep {
    pub(crate) const ACK: u32 = 1;
    pub(crate) const SERVER: u32 = 2;
    pub(crate) const INFO: u32 = 3;
    pub(crate) const META_CONTEXT: u32 = 4;
    const ERROR: u32 = 1 << 31;
    pub(crate) const ERR_UNSUP: u32 = ERROR + 1;
    pub(crate) const ERR_INVALID: u32 = ERROR + 3;
    pub(crate) const ERR_UNKNOWN: u32 = ERROR + 6;
    pub(crate) const ERR_SHUTDOWN: u32 = ERROR + 7;
    pub(crate) const ERR_TOO_BIG: u32 = ERROR + 9;
}

/// Types of information about an export.
pub(crate) mod info {
    pub(crate) const EXPORT: u16 = 0;
    pub(crate) const NAME: u16 = 1;
    pub(crate) const DESCRIPTION: u16 = 2;
    pub(crate) const BLOCK_SIZE: u16 = 3;
}

/// Transmission flags of an export.
pub(crate) mod transmission {
    pub(crate) const HAS_FLAGS: u16 = 1;
    pub(crate) const READ_ONLY: u16 = 1 << 1;
    pub(crate) const SEND_FLUSH: u16 = 1 << 2;
    pub(crate) const SEND_FUA: u16 = 1 << 3;
    pub(crate) const ROTATIONAL: u16 = 1 << 4;
    pub(crate) const SEND_TRIM: u16 = 1 << 5;
    pub(crate) const SEND_WRITE_ZEROES: u16 = 1 << 6;
    pub(crate) const SEND_DF: u16 = 1 << 7;
    pub(crate) const CAN_MULTI_CONN: u16 = 1 << 8;
    pub(crate) const SEND_CACHE: u16 = 1 << 10;
    pub(crate) const SEND_FAST_ZERO: u16 = 1 << 11;
}

/// Commands.
pub(crate) mod command {
    pub(crate) const READ: u16 = 0;
    pub(crate) const WRITE: u16 = 1;
    pub(crate) const DISC: u16 = 2;
    pub(crate) const FLUSH: u16 = 3;
    pub(crate) const TRIM: u16 = 4;
    pub(crate) const CACHE: u16 = 5;
    pub(crate) const WRITE_ZEROES: u16 = 6;
    pub(crate) const BLOCK_STATUS: u16 = 7;
}

/// Flags of requests.
pub(crate) mod flag {
    pub(crate) const FUA: u16 = 1;
    pub(crate) const NO_HOLE: u16 = 1 << 1;
    pub(crate) const DF: u16 = 1 << 2;
    pub(crate) const REQ_ONE: u16 = 1 << 3;
    pub(crate) const FAST_ZERO: u16 = 1 << 4;
}

/// Types of chunks in structured replies.
pub(crate) mod chunk {
    /// The flag of the last chunk of a reply.
    pub(crate) const DONE: u16 = 1;
    pub(crate) const NONE: u16 = 0;
    pub(crate) const OFFSET_DATA: u16 = 1;
    pub(crate) const OFFSET_HOLE: u16 = 2;
    pub(crate) const BLOCK_STATUS: u16 = 5;
    const ERROR: u16 = 1 << 15;
    pub(crate) const ERROR_ALONE: u16 = ERROR + 1;
    pub(crate) const ERROR_OFFSET: u16 = ERROR + 2;
}

/// The only supported metadata context.
pub(crate) mod allocation {
    pub(crate) const NAME: &str = "base:allocation";
    pub(crate) const ID: u32 = 1;
    /// The range is not allocated and reads as zeros.
    pub(crate) const HOLE_OF_ZEROS: u32 = 0b11;
    /// The range is allocated.
    pub(crate) const DATA: u32 = 0;
}

/// An error number of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Errno {
    /// EPERM: the export is read-only.
    Perm = 1,
    /// EIO: the drive failed.
    Io = 5,
    /// ENOMEM: the drive or the store has no memory.
    NoMemory = 12,
    /// EINVAL: the request is invalid.
    Invalid = 22,
    /// ENOSPC: a write beyond the end, or the store is full.
    NoSpace = 28,
    /// EOVERFLOW: the answer would be too long.
    Overflow = 75,
    /// ENOTSUP: the request cannot be done quickly.
    NotSupported = 95,
    /// ESHUTDOWN: the server is shutting down.
    Shutdown = 108,
}

impl Errno {
    /// The error for a drive's outcome; `None` if everything was done. Outcomes without a number in the protocol become
    /// EIO.
    pub(crate) fn of_outcome(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::Done => None,
            Outcome::Error(1) => Some(Self::Perm),
            Outcome::Error(12) => Some(Self::NoMemory),
            Outcome::Error(22) => Some(Self::Invalid),
            Outcome::Error(28) => Some(Self::NoSpace),
            Outcome::Error(95) => Some(Self::NotSupported),
            Outcome::Short(_) | Outcome::Error(_) => Some(Self::Io),
        }
    }

    /// The error for a store's error.
    pub(crate) fn of_store(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull => Self::NoSpace,
            io::ErrorKind::OutOfMemory => Self::NoMemory,
            _ => Self::Io,
        }
    }

    /// The number in a reply.
    pub(crate) fn number(self) -> u32 {
        self as u32
    }
}

/// Longest payload of a read or write, in bytes: what doc/proto.md expects of every server.
pub(crate) const PAYLOAD_MAX: u32 = 32 << 20;
/// Longest I/O for the drive, in bytes. Longer requests are split into pieces that are submitted together, as Linux
/// does (`max_sectors_kb` is 1280).
pub(crate) const PIECE_MAX: u32 = 1 << 20;
/// Longest range of one TRIM for the drive, in bytes. Linux has 2 GiB less a sector (`discard_max_bytes`).
pub(crate) const TRIM_MAX: u32 = 1 << 30;
/// Queue depth of the drive's lane. Further I/Os wait in the server.
pub(crate) const DEPTH: u32 = 1024;
/// Most requests of one client in progress. With so many, the server stops reading from the client.
pub(crate) const REQUESTS_MAX: usize = 1024;
/// Most bytes held for one client: requests in progress, and replies that the client has not read.
pub(crate) const HELD_BYTES_MAX: u64 = 64 << 20;
/// Most bytes held for all clients together, besides the share that each client has in any case.
pub(crate) const HELD_BYTES_MAX_OF_ALL: u64 = 256 << 20;
/// Bytes that a client may hold whatever others do. Chosen: more than one request of the kernel or of usual programs.
pub(crate) const HELD_BYTES_SHARE: u64 = 4 << 20;
/// Most clients at once.
pub(crate) const CONNECTIONS_MAX: usize = 32;
/// Wall time in which a client must select the export.
pub(crate) const HANDSHAKE: Nanos = Nanos::from_secs(10);
/// Most options of one client.
pub(crate) const OPTIONS_MAX: u32 = 256;
/// Longest option data that is parsed, in bytes; an export's name has at most 4096.
pub(crate) const OPTION_BYTES_MAX: u32 = 16 << 10;
/// Longest option data that is skipped, in bytes. Longer data ends the connection.
pub(crate) const OPTION_BYTES_SKIPPED_MAX: u32 = 1 << 20;
/// Bytes that are read from one client before the others have their turn.
pub(crate) const TURN_BYTES: usize = 512 << 10;
/// Most notes about one client.
pub(crate) const NOTES_MAX: u32 = 5;
/// Most extents in an answer to BLOCK_STATUS.
pub(crate) const EXTENTS_MAX: usize = 4096;
/// Wall time in which clients may fetch their answers when the server ends. Chosen: a live client fetches at once, and
/// a client that hangs must not keep the server.
pub(crate) const FAREWELL: Nanos = Nanos::from_secs(10);
/// Wall time after which an idle drive is advanced to the present. Chosen: often enough for its background work, too
/// rarely to use the processor.
pub(crate) const IDLE: Nanos = Nanos::from_millis(100);
/// Longest wall time spent on simulation before clients are served again. Chosen: as [`IDLE`].
pub(crate) const PATIENCE: Nanos = Nanos::from_millis(100);
/// Wall time that the drive catches up in one step, so that [`PATIENCE`] can be checked between steps. Chosen: a step
/// of a drive that is simulated a hundred times too slowly takes as long as [`PATIENCE`].
pub(crate) const SLICE: Nanos = Nanos::from_millis(1);
