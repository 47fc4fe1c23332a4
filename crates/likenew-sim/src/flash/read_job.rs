//! What the dies of a flash drive are asked to read, and for whom.

use super::translation_layer::Cell;

/// Who waits for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A request of the host.
    Host(u32),
    /// The missing part of a page in the write buffer.
    Fill(u32),
    /// A request of the host that needs this part of the map first.
    Map(u32),
    /// The map itself, for a change of it.
    Nobody,
}

/// One array read and the pages of it that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadJob {
    pub(crate) reader: Reader,
    pub(crate) cell: Cell,
    /// The array is read so many times.
    pub(crate) senses: u32,
    /// Size of what crosses the channel.
    pub(crate) size: u32,
    /// Bytes of it that the host wants.
    pub(crate) bytes: u32,
}
