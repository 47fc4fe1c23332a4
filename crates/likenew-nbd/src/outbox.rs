//! Bytes for a client that were not sent yet.

use std::io::{self, ErrorKind, Write};

/// Capacity that is kept for the next replies.
const KEPT_BYTES: usize = 1 << 20;

/// Memory for heads of replies beside their bytes: without it a head of 32 bytes would double the memory.
const HEADS_BYTES: usize = 64 << 10;

/// Bytes in order of departure. Integers go with the highest byte first.
#[derive(Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    start: usize,
}

impl Outbox {
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn put_u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    pub(crate) fn put_u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    pub(crate) fn put_u64(&mut self, value: u64) {
        self.put(&value.to_be_bytes());
    }

    /// So many bytes more, to be filled in. There is no more memory for them than they take, and for the heads of some more.
    pub(crate) fn room(&mut self, length: usize) -> &mut [u8] {
        let had = self.bytes.len();
        self.bytes.reserve_exact(length + HEADS_BYTES);
        self.bytes.resize(had + length, 0);
        &mut self.bytes[had..]
    }

    /// Where the next byte will be, to come [back](Self::rewind) to.
    pub(crate) fn mark(&self) -> usize {
        self.bytes.len()
    }

    /// Removes what was added since the mark.
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.bytes.truncate(mark);
    }

    /// How many were not sent.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// The memory that they take, beyond what is kept in any case.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity().saturating_sub(KEPT_BYTES)
    }

    /// Whether all of them were sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sends as much as the stream takes now.
    ///
    /// # Errors
    /// The connection has failed.
    pub(crate) fn send(&mut self, stream: &mut impl Write) -> io::Result<()> {
        while !self.is_empty() {
            match stream.write(&self.bytes[self.start..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.start += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.is_empty() {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BYTES);
            self.start = 0;
        } else if self.start > KEPT_BYTES {
            // A client that never reads all of it must not make it grow.
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        Ok(())
    }
}
