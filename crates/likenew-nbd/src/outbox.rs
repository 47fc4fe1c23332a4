//! Bytes for a client that were not sent yet, and bytes from it that were not parsed yet.

use std::io::{self, ErrorKind, Read, Write};

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

/// Bytes in order of arrival: `bytes[start..end]`. `bytes` never shrinks, because growing it again would fill the
/// new part with zeros, which the next read overwrites anyway.
#[derive(Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    /// So many bytes have come.
    Some(usize),
    /// There is nothing now.
    Nothing,
    /// The client has gone.
    CompletedRequest,
}

impl Inbox {
    /// Reads once, at most `most` bytes.
    ///
    /// # Errors
    /// The connection has failed.
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
            Ok(0) => Ok(ReadOutcome::CompletedRequest),
            Ok(count) => Ok(ReadOutcome::Some(count)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(ReadOutcome::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    /// The first `N` without taking them, once so many are there.
    pub(crate) fn peek<const N: usize>(&self) -> Option<&[u8; N]> {
        self.bytes[self.start..self.end].first_chunk()
    }

    /// The first `count`, once so many are there.
    pub(crate) fn take(&mut self, count: usize) -> Option<&[u8]> {
        if self.len() < count {
            return None;
        }
        self.start += count;
        Some(&self.bytes[self.start - count..self.start])
    }

    /// The first `N`, once so many are there.
    pub(crate) fn take_array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N).map(|bytes| bytes.try_into().expect("as many were taken"))
    }

    /// Drops up to `most`, and says how many.
    pub(crate) fn skip(&mut self, most: u64) -> u64 {
        let count = most.min(self.len() as u64);
        self.start += count as usize;
        count
    }
}
