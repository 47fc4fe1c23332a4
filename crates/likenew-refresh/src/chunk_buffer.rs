//! Memory for one chunk with the block of its record in front, so that both go to the journal in one write
//! and neither is copied.

use crate::record::BLOCK;

/// The bytes of the chunk begin at a multiple of 4096, as direct I/O wants it.
#[derive(Debug)]
pub(crate) struct ChunkBuffer {
    bytes: Vec<u8>,
    start: usize,
}

impl ChunkBuffer {
    pub(crate) fn new(chunk_bytes: u32) -> Self {
        let bytes = vec![0; chunk_bytes as usize + 2 * BLOCK];
        let start = bytes.as_ptr().align_offset(BLOCK).min(BLOCK);
        Self { bytes, start }
    }

    /// The block in front.
    pub(crate) fn block(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..][..BLOCK]
    }

    /// So many bytes of the chunk.
    pub(crate) fn chunk(&mut self, length: u64) -> &mut [u8] {
        &mut self.bytes[self.start + BLOCK..][..length as usize]
    }

    /// Both.
    pub(crate) fn all(&self, length: u64) -> &[u8] {
        &self.bytes[self.start..][..BLOCK + length as usize]
    }
}
