//! The numbers of the protocol, by the names that doc/proto.md gives them. All integers are sent with the
//! highest byte first. The error numbers that it knows, and limits on clients, which keep memory bounded whatever they send.

use std::io;

use likenew_core::io::Outcome;
use likenew_core::units::Nanos;

/// The first magic number of a server.
pub(crate) const NBD_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// The magic number of every option, and the second one of a server: it speaks the newstyle handshake.
pub(crate) const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// The magic number of every reply to an option.
pub(crate) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// The magic number of every request.
pub(crate) const REQUEST_MAGIC: u32 = 0x2560_9513;
/// The magic number of a simple reply.
pub(crate) const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// The magic number of each chunk of a structured reply.
pub(crate) const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Handshake flags, of the server and of the client alike.
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

/// Kinds of replies to options.
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

/// Information about an export.
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

/// Flags of commands.
pub(crate) mod flag {
    pub(crate) const FUA: u16 = 1;
    pub(crate) const NO_HOLE: u16 = 1 << 1;
    pub(crate) const DF: u16 = 1 << 2;
    pub(crate) const REQ_ONE: u16 = 1 << 3;
    pub(crate) const FAST_ZERO: u16 = 1 << 4;
}

/// Chunks of structured replies.
pub(crate) mod chunk {
    /// The flag of the last one.
    pub(crate) const DONE: u16 = 1;
    pub(crate) const NONE: u16 = 0;
    pub(crate) const OFFSET_DATA: u16 = 1;
    pub(crate) const OFFSET_HOLE: u16 = 2;
    pub(crate) const BLOCK_STATUS: u16 = 5;
    const ERROR: u16 = 1 << 15;
    pub(crate) const ERROR_ALONE: u16 = ERROR + 1;
    pub(crate) const ERROR_OFFSET: u16 = ERROR + 2;
}

/// The only metadata context there is.
pub(crate) mod allocation {
    pub(crate) const NAME: &str = "base:allocation";
    pub(crate) const ID: u32 = 1;
    /// Nothing is allocated, and it reads as zeros.
    pub(crate) const HOLE_OF_ZEROS: u32 = 0b11;
    /// It is allocated.
    pub(crate) const DATA: u32 = 0;
}

/// An error number of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Errno {
    /// EPERM: the export may only be read.
    Perm = 1,
    /// EIO: the drive's own.
    Io = 5,
    /// ENOMEM.
    NoMemory = 12,
    /// EINVAL: the request makes no sense.
    Invalid = 22,
    /// ENOSPC: a write beyond the end, or the store is full.
    NoSpace = 28,
    /// EOVERFLOW: too long to be answered in one piece.
    Overflow = 75,
    /// ENOTSUP: it cannot be done quickly.
    NotSupported = 95,
    /// ESHUTDOWN: the server is about to end.
    Shutdown = 108,
}

impl Errno {
    /// Maps a drive's outcome to the protocol; `None` when all of it was done. Errors without a number in the
    /// protocol become EIO.
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

    /// Maps the store's error to the protocol.
    pub(crate) fn of_store(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull => Self::NoSpace,
            io::ErrorKind::OutOfMemory => Self::NoMemory,
            _ => Self::Io,
        }
    }

    /// The number that is sent.
    pub(crate) fn number(self) -> u32 {
        self as u32
    }
}

/// The longest payload of a read or a write, in bytes: what doc/proto.md expects of every server.
pub(crate) const PAYLOAD_MAX: u32 = 32 << 20;
/// The longest I/O sent to the drive, in bytes. Longer requests reach it in pieces, all at once, as Linux
/// sends them (`max_sectors_kb` is 1280).
pub(crate) const PIECE_MAX: u32 = 1 << 20;
/// The longest range in one TRIM to the drive, in bytes: Linux has 2 GiB less a sector (`discard_max_bytes`).
pub(crate) const TRIM_MAX: u32 = 1 << 30;
/// I/Os that the drive's lane takes at once. Further ones queue.
pub(crate) const DEPTH: u32 = 1024;
/// Requests of one client that may be under way; beyond them it is not read from.
pub(crate) const REQUESTS_MAX: usize = 1024;
/// Bytes held for one client: of requests under way, and of replies that it has not read.
pub(crate) const HELD_BYTES_MAX: u64 = 64 << 20;
/// The same for all clients together, beside what each may hold in any case.
pub(crate) const HELD_BYTES_MAX_OF_ALL: u64 = 256 << 20;
/// Bytes that a client may hold whatever others do. Chosen: more than one request of the kernel or of usual programs.
pub(crate) const HELD_BYTES_SHARE: u64 = 4 << 20;
/// Clients at once.
pub(crate) const CONNECTIONS_MAX: usize = 32;
/// A client that has not chosen the export within this wall time is dropped.
pub(crate) const HANDSHAKE: Nanos = Nanos::from_secs(10);
/// Options that a client may send.
pub(crate) const OPTIONS_MAX: u32 = 256;
/// The longest data of an option that is parsed: a name has 4096 bytes at most.
pub(crate) const OPTION_BYTES_MAX: u32 = 16 << 10;
/// Longer data of an option ends the connection, without skipping it.
pub(crate) const OPTION_BYTES_SKIPPED_MAX: u32 = 1 << 20;
/// Bytes that are read from one client before others have their turn.
pub(crate) const TURN_BYTES: usize = 512 << 10;
/// Notes about one client, at most.
pub(crate) const NOTES_MAX: u32 = 5;
/// The most extents in an answer to BLOCK_STATUS.
pub(crate) const EXTENTS_MAX: usize = 4096;
/// How long clients may take to fetch their answers once the server ends, in wall time. Chosen: a client that
/// is alive fetches at once; one that hangs must not keep the server.
pub(crate) const FAREWELL: Nanos = Nanos::from_secs(10);
/// How often an idle drive is advanced to the present, in wall time. Chosen: often enough for its background
/// work, too rarely to use the processor.
pub(crate) const IDLE: Nanos = Nanos::from_millis(100);
/// How long the drive is simulated before clients are looked at again. Chosen: as [`IDLE`].
pub(crate) const PATIENCE: Nanos = Nanos::from_millis(100);
/// Wall time by which the drive's is taken on in one piece, so that its length can be seen. Chosen: a piece of a drive that is
/// simulated a hundred times too slowly takes as long as [`PATIENCE`].
pub(crate) const SLICE: Nanos = Nanos::from_millis(1);
