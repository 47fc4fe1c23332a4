//! What is offered to clients.

use crate::protocol::transmission;

/// One drive, as clients see it. It is also the default export, which has the empty name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name.
    pub name: String,
    /// A sentence for people.
    pub description: String,
    /// Bytes; a multiple of `block`.
    pub capacity: u64,
    /// Offsets and lengths of requests are multiples of this, in bytes.
    pub block: u32,
    /// Whether it may only be read.
    pub read_only: bool,
    /// Whether the drive takes TRIM.
    pub trims: bool,
    /// Whether it is a rotating disk.
    pub rotates: bool,
}

impl Export {
    /// Whether a client means this one.
    pub(crate) fn is_named(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }

    /// Transmission flags. Every connection reaches the same drive, and a flush covers what all of them have
    /// written, so there may be several.
    pub(crate) fn flags(&self, structured: bool) -> u16 {
        let when = |condition: bool, flag: u16| if condition { flag } else { 0 };
        let writable = !self.read_only;
        transmission::HAS_FLAGS
            | transmission::SEND_FLUSH
            | transmission::CAN_MULTI_CONN
            | transmission::SEND_CACHE
            | when(self.read_only, transmission::READ_ONLY)
            | when(
                writable,
                transmission::SEND_FUA | transmission::SEND_WRITE_ZEROES | transmission::SEND_FAST_ZERO,
            )
            | when(writable && self.trims, transmission::SEND_TRIM)
            | when(self.rotates, transmission::ROTATIONAL)
            | when(structured, transmission::SEND_DF)
    }

    /// The preferred size of requests: a page of the client's memory, or a block of the drive.
    pub(crate) fn preferred_block(&self) -> u32 {
        const PAGE: u32 = 4096;
        self.block.max(PAGE)
    }
}
