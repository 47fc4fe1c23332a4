//! Bytes from a client that were not parsed yet.

use std::io::{self, ErrorKind, Read};

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
