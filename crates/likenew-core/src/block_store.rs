//! Storage that can be rewritten in place: a block device, a file, a simulated drive, as bytes at offsets.
//!
//! A [`Target`](crate::target::Target) is measured; a block store keeps its contents. It knows no time and no
//! depth, and its errors are the system's.

use std::io;

/// Who may use a store at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// The holder alone, and no other program waits for it.
    Active,
    /// The holder alone, but another program waits for it: start nothing new, and give the store back once
    /// nothing is in flight.
    BreakRequested,
    /// Other programs may have written to it by now: nothing is written to it any more.
    Lost,
}

/// Bytes that are read and written in whole blocks, with a volatile cache that can be flushed.
pub trait BlockStore {
    /// All its bytes: a multiple of [`BlockStore::block`].
    fn bytes(&self) -> u64;

    /// Offsets and lengths are multiples of this: a power of two, 512 at least.
    fn block(&self) -> u32;

    /// Reads all of `into` from there on. Buffers at multiples of 4096 bytes may be spared a copy.
    ///
    /// # Errors
    /// The system's; the contents of `into` are then undefined.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes` there. It is durable after the next [`BlockStore::flush`] that succeeds.
    ///
    /// # Errors
    /// The system's error; any of the blocks may then have been written. With [`io::ErrorKind::ResourceBusy`]
    /// nothing was written: another program is about to use the store, so leave it alone.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Returns when everything written would survive a loss of power.
    ///
    /// # Errors
    /// The system's; nothing written since the last flush may then be relied upon.
    fn flush(&mut self) -> io::Result<()>;

    /// Who may use it. Asked before each read of a few hundred milliseconds, and before each write.
    fn lease_state(&mut self) -> LeaseState {
        LeaseState::Active
    }

    /// Makes durable what belongs to it beside its bytes, such as the times of a file. This is done last
    /// before its journal is removed.
    ///
    /// # Errors
    /// As [`BlockStore::flush`].
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

impl<G: BlockStore + ?Sized> BlockStore for &mut G {
    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn block(&self) -> u32 {
        (**self).block()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        (**self).read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).write_at(offset, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (**self).flush()
    }

    fn lease_state(&mut self) -> LeaseState {
        (**self).lease_state()
    }

    fn finish(&mut self) -> io::Result<()> {
        (**self).finish()
    }
}
