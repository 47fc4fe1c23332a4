//! Where the bytes are kept that clients write. What was never written, or was taken back, reads as zeros.

mod image;
mod pages;

use std::io;
use std::ops::Range;

pub use image::Image;
pub use pages::Pages;

/// Bytes by address.
pub trait Store: Send {
    /// Fills the buffer with the contents at `offset`.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Keeps these bytes at `offset`.
    ///
    /// # Errors
    /// It cannot be written; [`io::ErrorKind::StorageFull`] when there is no space. The contents of the range
    /// are then unknown.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// The range reads as zeros from now on, and its whole pages take no space.
    ///
    /// # Errors
    /// It cannot be written.
    fn clear(&mut self, range: Range<u64>) -> io::Result<()>;

    /// Where what begins at `range.start` ends, at most at `range.end`, and whether anything is kept there.
    ///
    /// # Errors
    /// It cannot be found out.
    fn stretch(&mut self, range: Range<u64>) -> io::Result<StoreExtent>;

    /// Bytes that are kept now.
    fn buffered_bytes(&self) -> u64;
}

/// A range that is kept, or of which nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreExtent {
    /// The first byte behind it.
    pub end: u64,
    /// Whether bytes are kept there; where not, it reads as zeros.
    pub is_held: bool,
}

/// Whether all bytes are zero.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4096] = [0; 4096];
    bytes.chunks(ZEROS.len()).all(|chunk| chunk == &ZEROS[..chunk.len()])
}
