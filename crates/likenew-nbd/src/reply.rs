//! Answers to requests as bytes: simple replies, and structured ones where the client has agreed on them.

use crate::outbox::Outbox;
use crate::protocol::{CHUNK_MAGIC, Errno, SIMPLE_REPLY_MAGIC, allocation, chunk};

/// The request that an answer belongs to, and the form of the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply {
    pub(crate) cookie: u64,
    pub(crate) structured: bool,
}

impl Reply {
    /// It was done, and there are no bytes to return.
    pub(crate) fn ok(self, out: &mut Outbox) {
        if self.structured { self.chunk(out, chunk::DONE, chunk::NONE, 0) } else { self.simple(out, 0) }
    }

    /// It was not done; `at` is the address where the drive failed, where that is known.
    pub(crate) fn error(self, out: &mut Outbox, errno: Errno, reason: &str, at: Option<u64>) {
        if !self.structured {
            return self.simple(out, errno.number());
        }
        let length = 4 + 2 + reason.len() as u32;
        match at {
            None => self.chunk(out, chunk::DONE, chunk::ERROR_ALONE, length),
            Some(_) => self.chunk(out, chunk::DONE, chunk::ERROR_OFFSET, length + 8),
        }
        out.put_u32(errno.number());
        out.put_u16(reason.len() as u16);
        out.put(reason.as_bytes());
        at.into_iter().for_each(|at| out.put_u64(at));
    }

    /// The header of a simple reply without an error; the bytes read follow.
    pub(crate) fn simple_data(self, out: &mut Outbox) {
        self.simple(out, 0);
    }

    /// The header of a chunk of so many bytes from `offset` on; they follow.
    pub(crate) fn data_chunk(self, out: &mut Outbox, is_last: bool, offset: u64, length: u32) {
        self.chunk(out, last(is_last), chunk::OFFSET_DATA, length + 8);
        out.put_u64(offset);
    }

    /// A chunk of zeros.
    pub(crate) fn hole_chunk(self, out: &mut Outbox, is_last: bool, offset: u64, length: u32) {
        self.chunk(out, last(is_last), chunk::OFFSET_HOLE, 12);
        out.put_u64(offset);
        out.put_u32(length);
    }

    /// Which extents are allocated, from the start of the range on.
    pub(crate) fn extents(self, out: &mut Outbox, extents: &[(u32, bool)]) {
        self.chunk(out, chunk::DONE, chunk::BLOCK_STATUS, 4 + 8 * extents.len() as u32);
        out.put_u32(allocation::ID);
        for (length, is_held) in extents {
            out.put_u32(*length);
            out.put_u32(if *is_held { allocation::DATA } else { allocation::HOLE_OF_ZEROS });
        }
    }

    fn simple(self, out: &mut Outbox, errno: u32) {
        out.put_u32(SIMPLE_REPLY_MAGIC);
        out.put_u32(errno);
        out.put_u64(self.cookie);
    }

    fn chunk(self, out: &mut Outbox, flags: u16, kind: u16, length: u32) {
        out.put_u32(CHUNK_MAGIC);
        out.put_u16(flags);
        out.put_u16(kind);
        out.put_u64(self.cookie);
        out.put_u32(length);
    }
}

fn last(is_last: bool) -> u16 {
    if is_last { chunk::DONE } else { 0 }
}
