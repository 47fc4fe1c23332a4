//! Buffers of a connection: bytes to be sent, and received bytes to be parsed.

use std::io::{self, ErrorKind, Read, Write};

/// Bytes of capacity that an empty outbox keeps for the next replies.
const KEPT_BYTES: usize = 1 << 20;

/// Spare bytes for heads of further replies. Without them, the next head of 32 bytes would double the buffer.
const HEADS_BYTES: usize = 64 << 10;

/// Bytes to be sent, in order. Integers are sent in network byte order.
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

    /// Appends this many bytes, to be filled in by the caller. Allocates only for them and for some more heads.
    pub(crate) fn room(&mut self, length: usize) -> &mut [u8] {
        let had = self.bytes.len();
        self.bytes.reserve_exact(length + HEADS_BYTES);
        self.bytes.resize(had + length, 0);
        &mut self.bytes[had..]
    }

    /// The current end, for [`rewind`](Self::rewind).
    pub(crate) fn mark(&self) -> usize {
        self.bytes.len()
    }

    /// Removes everything added since the mark.
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.bytes.truncate(mark);
    }

    /// Bytes not sent yet.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Bytes of memory beyond what is always kept.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity().saturating_sub(KEPT_BYTES)
    }

    /// Whether everything was sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sends as much as the stream takes without blocking.
    ///
    /// # Errors
    /// The connection failed.
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
            // A client that never reads everything must not make the buffer grow.
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        Ok(())
    }
}

/// Received bytes, in order: `bytes[start..end]`. `bytes` never shrinks, because growing it again would fill the new
/// part with zeros just before a read overwrites them.
#[derive(Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    /// Bytes received.
    Some(usize),
    /// Nothing to read now.
    Nothing,
    /// The client closed the connection.
    Closed,
}

impl Inbox {
    /// Reads once, at most `most` bytes.
    ///
    /// # Errors
    /// The connection failed.
    pub(crate) fn fill(&mut self, stream: &mut impl Read, most: usize) -> io::Result<ReadOutcome> {
        self.bytes.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.len());
        let room = self.end + most;
        if self.bytes.len() < room {
            self.bytes.resize(room, 0);
        }
        let read = stream.read(&mut self.bytes[self.end..room]);
        self.end += read.as_ref().map_or(0, |count| *count);
        match read {
            Ok(0) => Ok(ReadOutcome::Closed),
            Ok(count) => Ok(ReadOutcome::Some(count)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(ReadOutcome::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// Bytes not taken yet.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    /// The first `N` bytes, which stay; `None` until they are there.
    pub(crate) fn peek<const N: usize>(&self) -> Option<&[u8; N]> {
        self.bytes[self.start..self.end].first_chunk()
    }

    /// Takes the first `count` bytes; `None` until they are there.
    pub(crate) fn take(&mut self, count: usize) -> Option<&[u8]> {
        if self.len() < count {
            return None;
        }
        self.start += count;
        Some(&self.bytes[self.start - count..self.start])
    }

    /// Takes the first `N` bytes; `None` until they are there.
    pub(crate) fn take_array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N).map(|bytes| bytes.try_into().expect("as many were taken"))
    }

    /// Drops at most `most` bytes and returns how many were dropped.
    pub(crate) fn skip(&mut self, most: u64) -> u64 {
        let count = most.min(self.len() as u64);
        self.start += count as usize;
        count
    }
}
