//! Parses and validates a client's requests before anything is done.

use crate::handshake::Export;
use crate::protocol::{Errno, PAYLOAD_MAX, REQUEST_MAGIC, command, flag};
use crate::wording;

/// The head of a request as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) flags: u16,
    pub(crate) kind: u16,
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

/// A command with its flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Read; `single_reply` demands one chunk.
    Read {
        single_reply: bool,
    },
    Write,
    Disconnect,
    Flush,
    Trim,
    /// Write zeros. `keep_allocated`: the range must stay allocated.
    Zero {
        keep_allocated: bool,
        only_fast: bool,
    },
    Cache,
    /// Report which parts are allocated. `single_extent`: only the first one.
    Status {
        single_extent: bool,
    },
}

/// A request that was validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValidRequest {
    pub(crate) cookie: u64,
    pub(crate) command: Command,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// Whether the answer must wait until the data is durable (FUA).
    pub(crate) durable: bool,
    /// The data of a write.
    pub(crate) payload: Vec<u8>,
}

impl ValidRequest {
    /// Bytes held for the request until its reply was sent.
    pub(crate) fn buffered_bytes(&self) -> u64 {
        match self.command {
            Command::Read { .. } | Command::Write => u64::from(self.length),
            _ => 0,
        }
    }
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) errno: Errno,
    pub(crate) reason: &'static str,
}

/// Negotiated options on which requests depend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NegotiatedOptions {
    /// Structured replies.
    pub(crate) structured: bool,
    /// The metadata context `base:allocation`.
    pub(crate) allocation: bool,
}

const fn refuse(errno: Errno, reason: &'static str) -> Refusal {
    Refusal { errno, reason }
}

impl Header {
    /// Bytes of a request's head.
    pub(crate) const BYTES: usize = 28;

    /// Reads the head; `None` without its magic number.
    pub(crate) fn read(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk::<4>()?;
        let (flags, rest) = rest.split_first_chunk::<2>()?;
        let (kind, rest) = rest.split_first_chunk::<2>()?;
        let (cookie, rest) = rest.split_first_chunk::<8>()?;
        let (offset, rest) = rest.split_first_chunk::<8>()?;
        let (length, _) = rest.split_first_chunk::<4>()?;
        (u32::from_be_bytes(*magic) == REQUEST_MAGIC).then(|| Self {
            flags: u16::from_be_bytes(*flags),
            kind: u16::from_be_bytes(*kind),
            cookie: u64::from_be_bytes(*cookie),
            offset: u64::from_be_bytes(*offset),
            length: u32::from_be_bytes(*length),
        })
    }

    /// Bytes of data that follow the head.
    pub(crate) fn payload_bytes(&self) -> u32 {
        if self.kind == command::WRITE { self.length } else { 0 }
    }

    /// Bytes that will be held for the request, if it is valid, until its reply was sent.
    pub(crate) fn buffered_bytes(&self) -> u32 {
        let holds = matches!(self.kind, command::READ | command::WRITE) && self.length <= PAYLOAD_MAX;
        if holds { self.length } else { 0 }
    }

    /// Validates the request and returns its command.
    ///
    /// # Errors
    /// The request is forbidden or invalid.
    pub(crate) fn command(
        &self,
        export: &Export,
        negotiation: NegotiatedOptions,
    ) -> Result<Command, Refusal> {
        let (command, flags) = self.command_and_flags(negotiation)?;
        if matches!(command, Command::Disconnect) {
            return Ok(command);
        }
        if self.flags & !(flags | flag::FUA) != 0 {
            return Err(refuse(Errno::Invalid, wording::COMMAND_FLAGS));
        }
        let writes = matches!(command, Command::Write | Command::Trim | Command::Zero { .. });
        if writes && export.read_only {
            return Err(refuse(Errno::Perm, wording::READ_ONLY));
        }
        match command {
            Command::Flush if (self.offset, self.length) != (0, 0) => {
                return Err(refuse(Errno::Invalid, wording::FLUSH_OF_RANGE));
            }
            Command::Trim if !export.trims => {
                return Err(refuse(Errno::Invalid, wording::NO_TRIM));
            }
            Command::Status { .. } if !negotiation.allocation => {
                return Err(refuse(Errno::Invalid, wording::STATUS_WITHOUT_CONTEXT));
            }
            Command::Status { .. } if self.length == 0 => {
                return Err(refuse(Errno::Invalid, wording::STATUS_OF_NOTHING));
            }
            _ => {}
        }
        self.check_range(command, export)?;
        Ok(command)
    }

    /// The command and the flags that it may have besides FUA.
    fn command_and_flags(&self, negotiation: NegotiatedOptions) -> Result<(Command, u16), Refusal> {
        let has = |flag: u16| self.flags & flag != 0;
        let single_reply = if negotiation.structured { flag::DF } else { 0 };
        Ok(match self.kind {
            command::READ => (Command::Read { single_reply: has(flag::DF) }, single_reply),
            command::WRITE => (Command::Write, 0),
            command::DISC => (Command::Disconnect, 0),
            command::FLUSH => (Command::Flush, 0),
            command::TRIM => (Command::Trim, 0),
            command::CACHE => (Command::Cache, 0),
            command::WRITE_ZEROES => {
                let command =
                    Command::Zero { keep_allocated: has(flag::NO_HOLE), only_fast: has(flag::FAST_ZERO) };
                (command, flag::NO_HOLE | flag::FAST_ZERO)
            }
            command::BLOCK_STATUS => (Command::Status { single_extent: has(flag::REQ_ONE) }, flag::REQ_ONE),
            _ => return Err(refuse(Errno::Invalid, wording::COMMAND_UNKNOWN)),
        })
    }

    fn check_range(&self, command: Command, export: &Export) -> Result<(), Refusal> {
        let (block, length) = (u64::from(export.block), u64::from(self.length));
        if !self.offset.is_multiple_of(block) || !length.is_multiple_of(block) {
            return Err(refuse(Errno::Invalid, wording::NOT_IN_BLOCKS));
        }
        let fits = self.offset.checked_add(length).is_some_and(|end| end <= export.capacity);
        if !fits {
            let errno = match command {
                Command::Write | Command::Zero { .. } => Errno::NoSpace,
                _ => Errno::Invalid,
            };
            return Err(refuse(errno, wording::BEYOND_END));
        }
        if self.length > PAYLOAD_MAX {
            match command {
                Command::Read { single_reply: true } => {
                    return Err(refuse(Errno::Overflow, wording::LONG_CHUNK));
                }
                Command::Read { .. } | Command::Write => {
                    return Err(refuse(Errno::Invalid, wording::LONG_PAYLOAD));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
