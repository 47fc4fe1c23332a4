//! Records: a saved piece in a file is a block that describes it, followed by its bytes. A buffer in memory
//! has the block in front of a chunk, so that both go to the journal in one write without a copy.

use std::ops::Range;

use twox_hash::XxHash3_64;

/// Records begin at multiples of this, and their bytes this far after.
pub(crate) const BLOCK: usize = 4096;

const MAGIC: [u8; 8] = *b"LN-saved";
/// Bytes of a record's block that are hashed; the hash follows them.
const HASHED_BYTES: usize = 56;

/// The header of a saved piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The hash of the journal's plan.
    pub(crate) journal: u64,
    /// Number of the record, one more than that of the record before.
    pub(crate) turn: u64,
    pub(crate) kind: Kind,
    /// Where its bytes are from. For [`Kind::Committed`] it is empty, at the first byte that is not done.
    pub(crate) range: Range<u64>,
    /// A hash over the bytes, `range`, `turn` and `journal`.
    pub(crate) hash: u64,
}

/// What a record is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The bytes of a chunk that is about to be written.
    Chunk,
    /// Everything before `range` is durable.
    Committed,
    /// The previous data at a place that was restored.
    Original,
}

impl Record {
    /// A record of these bytes.
    pub(crate) fn new(journal: u64, turn: u64, kind: Kind, range: Range<u64>, bytes: &[u8]) -> Self {
        let mut record = Self { journal, turn, kind, range, hash: 0 };
        record.hash = record.hash_of(bytes);
        record
    }

    /// Bytes after the block.
    pub(crate) fn length(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Its hash if these are its bytes.
    pub(crate) fn hash_of(&self, bytes: &[u8]) -> u64 {
        let Self { journal, turn, ref range, .. } = *self;
        let mut belongs = [0; 32];
        for (into, value) in belongs.chunks_mut(8).zip([journal, turn, range.start, range.end]) {
            into.copy_from_slice(&u64::to_le_bytes(value));
        }
        XxHash3_64::oneshot_with_seed(XxHash3_64::oneshot(&belongs), bytes)
    }

    /// Writes the block: magic, kind, journal, turn, start, end, hash of the bytes, and hash of all these,
    /// little-endian, followed by zeros.
    pub(crate) fn encode(&self, block: &mut [u8]) {
        let kind = match self.kind {
            Kind::Chunk => 1,
            Kind::Committed => 2,
            Kind::Original => 3,
        };
        block[..BLOCK].fill(0);
        block[..8].copy_from_slice(&MAGIC);
        let values = [kind, self.journal, self.turn, self.range.start, self.range.end, self.hash];
        for (into, value) in block[8..].chunks_mut(8).zip(values) {
            into.copy_from_slice(&u64::to_le_bytes(value));
        }
        let hash = XxHash3_64::oneshot(&block[..HASHED_BYTES]);
        block[HASHED_BYTES..HASHED_BYTES + 8].copy_from_slice(&hash.to_le_bytes());
    }

    /// The record in a block, if the block is intact.
    pub(crate) fn decode(block: &[u8]) -> Option<Self> {
        let value = |index: usize| {
            let bytes = block.get(index * 8..index * 8 + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
        };
        if block.get(..8)? != MAGIC || value(7)? != XxHash3_64::oneshot(&block[..HASHED_BYTES]) {
            return None;
        }
        let kind = match value(1)? {
            1 => Kind::Chunk,
            2 => Kind::Committed,
            3 => Kind::Original,
            _ => return None,
        };
        let range = value(4)?..value(5)?;
        if range.start > range.end || (kind == Kind::Committed) != range.is_empty() {
            return None;
        }
        Some(Self { journal: value(2)?, turn: value(3)?, kind, range, hash: value(6)? })
    }
}

/// A record's block and its chunk. The chunk begins at a multiple of 4096, as direct I/O requires.
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

    /// The block before the chunk.
    pub(crate) fn block(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..][..BLOCK]
    }

    /// The first `length` bytes of the chunk.
    pub(crate) fn chunk(&mut self, length: u64) -> &mut [u8] {
        &mut self.bytes[self.start + BLOCK..][..length as usize]
    }

    /// The block and the first `length` bytes of the chunk.
    pub(crate) fn all(&self, length: u64) -> &[u8] {
        &self.bytes[self.start..][..BLOCK + length as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_and_no_bit_of_it_can_change() {
        let record = Record::new(7, 9, Kind::Chunk, 4096..8192, &[3; 4096]);
        let mut block = vec![0xFF; BLOCK];
        record.encode(&mut block);
        assert_eq!(Record::decode(&block), Some(record.clone()));
        for bit in 0..(HASHED_BYTES + 8) * 8 {
            block[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Record::decode(&block), None, "bit {bit}");
            block[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(Record::decode(&block[..50]), None);
        assert_eq!(record.hash_of(&[3; 4096]), record.hash);
        assert_ne!(Record { turn: 8, ..record.clone() }.hash_of(&[3; 4096]), record.hash);
        assert_ne!(Record { range: 0..4096, ..record.clone() }.hash_of(&[3; 4096]), record.hash);
    }
}
