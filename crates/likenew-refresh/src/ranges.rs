//! Ranges of bytes to rewrite: whole blocks, ordered by address, without overlaps. And witnesses: places that
//! are never rewritten, so that a change in them shows that the store was in use.
//!
//! Witnesses are at both ends, evenly spread over the store, and where partition tables, volumes and file
//! systems leave a mark when used. Witnesses keep their old data; those that are often used are rewritten by
//! that anyway.

use std::ops::Range;

use likenew_core::drive::BlockStore;
use twox_hash::XxHash3_64;

use super::error::RefreshError;
use super::wording;

/// Non-empty ranges of bytes in ascending order, without overlaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<Range<u64>>);

/// Most ranges in a journal.
pub(crate) const RANGES_MAX: usize = 1 << 18;

impl Ranges {
    /// These ranges of a store of `bytes` bytes in blocks of `block`, with adjacent ranges joined.
    ///
    /// # Errors
    /// A range is empty, reaches beyond the end, is not in whole blocks, or begins before the previous range
    /// ends; or there are too many ranges.
    pub fn new(ranges: &[Range<u64>], bytes: u64, block: u32) -> Result<Self, RefreshError> {
        let block = u64::from(block);
        let mut kept: Vec<Range<u64>> = Vec::new();
        let refuse = |reason| Err(RefreshError::Unsuitable(reason));
        for range in ranges {
            if range.is_empty() {
                return refuse(wording::empty_range(range));
            }
            if range.end > bytes {
                return refuse(wording::range_beyond_end(range, bytes));
            }
            if !range.start.is_multiple_of(block) || !range.end.is_multiple_of(block) {
                return refuse(wording::range_not_in_blocks(range, block));
            }
            match kept.last_mut() {
                Some(last) if range.start < last.end => {
                    return refuse(wording::overlapping_range(range, last.end));
                }
                Some(last) if range.start == last.end => last.end = range.end,
                _ => kept.push(range.clone()),
            }
        }
        if kept.len() > RANGES_MAX {
            return refuse(wording::too_many_ranges(kept.len(), RANGES_MAX));
        }
        Ok(Self(kept))
    }

    /// The union of any ranges, each extended to whole blocks and cut off at `bytes`.
    pub fn union(mut ranges: Vec<Range<u64>>, bytes: u64, block: u32) -> Self {
        let block = u64::from(block);
        for range in &mut ranges {
            let end = range.end.checked_next_multiple_of(block).unwrap_or(u64::MAX).min(bytes);
            *range = range.start - range.start % block..end;
        }
        ranges.retain(|range| !range.is_empty());
        ranges.sort_by_key(|range| range.start);
        let mut kept: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            match kept.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => kept.push(range),
            }
        }
        Self(kept)
    }

    /// These ranges without `others`, such as ranges that are not in use.
    #[must_use]
    pub fn subtract(&self, others: &Self) -> Self {
        let (mut kept, mut others) = (Vec::new(), others.0.iter().peekable());
        for range in &self.0 {
            let mut at = range.start;
            while others.next_if(|other| other.end <= at).is_some() {}
            while let Some(other) = others.peek().filter(|other| other.start < range.end) {
                if at < other.start {
                    kept.push(at..other.start);
                }
                at = at.max(other.end);
                if other.end > range.end {
                    break;
                }
                others.next();
            }
            if at < range.end {
                kept.push(at..range.end);
            }
        }
        Self(kept)
    }

    /// The ranges in ascending order.
    pub fn as_slice(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Their bytes before `offset`.
    pub fn bytes_before(&self, offset: u64) -> u64 {
        self.0.iter().map(|range| range.end.min(offset).saturating_sub(range.start)).sum()
    }

    /// The first chunk that begins at or after `from`. Chunks end at multiples of `chunk` bytes of the store,
    /// and at the end of their range.
    pub(crate) fn chunk_from(&self, from: u64, chunk: u32) -> Option<Range<u64>> {
        let index = self.0.partition_point(|range| range.end <= from);
        let range = self.0.get(index)?;
        let start = range.start.max(from);
        let end = start.checked_add(1)?.checked_next_multiple_of(u64::from(chunk)).unwrap_or(u64::MAX);
        Some(start..end.min(range.end))
    }

    /// Whether `place` is exactly one of the chunks.
    pub(crate) fn has_chunk(&self, place: &Range<u64>, chunk: u32) -> bool {
        let begins = self.0.binary_search_by_key(&place.start, |range| range.start).is_ok();
        (begins || place.start.is_multiple_of(u64::from(chunk)))
            && self.chunk_from(place.start, chunk).as_ref() == Some(place)
    }
}

/// A shorter store has only the witnesses of its marks: otherwise half of a small file would be witnesses.
const STORE_BYTES_MIN: u64 = 1 << 20;
/// Bytes of a witness at each end. It covers partition tables, boot sectors, superblocks and headers of
/// volumes, and in files the page in which databases count changes.
const ENDS_BYTES: u64 = 1 << 20;
/// Longest witness: one part in this many of the store's bytes.
const SHARE: u64 = 256;
/// Most evenly spaced witnesses. Small stores have one in each MiB.
const SPOTS_MAX: u64 = 32;
/// Bytes of an evenly spaced witness.
const SPOT_BYTES: u64 = 4096;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Marks beyond the first MiB: checkpoints of f2fs and the inside of LUKS1 (2 MiB), LUKS2 (16 MiB); copies of
/// btrfs's superblock (64 MiB, 256 GiB); the file table of NTFS (3 GiB) (kernel documentation of f2fs and
/// btrfs, cryptsetup's FAQ, mkntfs).
const MARK_RANGES: [Range<u64>; 5] = [
    2 * MIB..4 * MIB + 64 * 1024,
    16 * MIB..16 * MIB + 128 * 1024,
    64 * MIB..64 * MIB + 4096,
    3 * GIB..3 * GIB + 64 * 1024,
    256 * GIB..256 * GIB + 4096,
];

/// The witnesses of a store of `bytes` bytes, including `marks`.
pub(crate) fn witnesses(bytes: u64, block: u32, marks: &[Range<u64>]) -> Ranges {
    let mut places = marks.to_vec();
    if bytes >= STORE_BYTES_MIN {
        let longest = bytes / SHARE;
        let ends = ENDS_BYTES.min(longest);
        places.extend([0..ends, bytes - ends..bytes]);
        places.extend(
            MARK_RANGES.into_iter().filter(|place| place.end - place.start <= longest && place.end <= bytes),
        );
        let spots = SPOTS_MAX.min(bytes / MIB);
        let spot = SPOT_BYTES.min(longest);
        places.extend((1..spots).map(|index| index * (bytes / spots)).map(|start| start..start + spot));
    }
    Ranges::union(places, bytes, block)
}

/// A hash (XXH3) over the content of all witnesses.
///
/// # Errors
/// A witness cannot be read.
pub(crate) fn fingerprint(witnesses: &Ranges, store: &mut impl BlockStore) -> Result<u64, RefreshError> {
    let mut hash = XxHash3_64::new();
    let mut buffer = Vec::new();
    for place in witnesses.as_slice() {
        for at in place.clone().step_by(ENDS_BYTES as usize) {
            let length = ENDS_BYTES.min(place.end - at);
            buffer.resize(length as usize, 0);
            store.read_at(at, &mut buffer).map_err(RefreshError::read(at, length))?;
            std::hash::Hasher::write(&mut hash, &buffer);
        }
    }
    Ok(std::hash::Hasher::finish(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_end_at_multiples_of_their_length_and_where_their_range_ends() {
        let ranges = Ranges::new(&[512..4096, 8192..20480], 1 << 20, 512).unwrap();
        let mut chunks = Vec::new();
        let mut at = 0;
        while let Some(chunk) = ranges.chunk_from(at, 8192) {
            at = chunk.end;
            assert!(ranges.has_chunk(&chunk, 8192));
            chunks.push(chunk);
        }
        assert_eq!(chunks, [512..4096, 8192..16384, 16384..20480]);
        for place in [512..1024, 1024..4096, 0..4096, 8192..20480, 16384..24576, 4096..8192] {
            assert!(!ranges.has_chunk(&place, 8192), "{place:?}");
        }
        assert_eq!((ranges.bytes(), ranges.bytes_before(16384)), (3584 + 12288, 3584 + 8192));
    }

    #[test]
    fn ranges_without_others() {
        let ranges = Ranges(vec![0..100, 200..300]);
        let cut = |others: &[Range<u64>]| ranges.subtract(&Ranges(others.to_vec())).0;
        assert_eq!(cut(&[]), [0..100, 200..300]);
        assert_eq!(cut(&[50..60, 160..170]), [0..50, 60..100, 200..300]);
        assert_eq!(cut(&[0..10, 90..210, 250..260, 290..400]), [10..90, 210..250, 260..290]);
        assert_eq!(cut(&[0..250, 250..300]), [0..0; 0]);
        assert_eq!(cut(&[100..200, 300..400]), [0..100, 200..300]);
    }

    #[test]
    fn a_union_is_in_whole_blocks() {
        assert_eq!(
            Ranges::union(vec![600..700, 1..2, 5000..9000, 900..1030], 8000, 512).0,
            [0..1536, 4608..8000]
        );
    }

    #[test]
    fn they_are_few_and_where_marks_lie() {
        for bytes in [MIB, 16 * MIB, 256 * MIB, 8 * GIB, 512 * GIB, 16 << 40] {
            let places = witnesses(bytes, 512, &[]);
            assert!(places.bytes() <= bytes / 24, "{} of {bytes}", places.bytes());
            let covers = |at: u64| places.as_slice().iter().any(|place| place.contains(&at));
            assert!(covers(0) && covers(1024) && covers(bytes - 1));
        }
        let places = witnesses(512 * GIB, 4096, &[5 * GIB + 100..5 * GIB + 200, 0..1]);
        let covers = |at: u64| places.as_slice().iter().any(|place| place.contains(&at));
        for at in [64 << 10, 2 * MIB, 16 * MIB + 1024, 64 * MIB, 256 * GIB, 5 * GIB] {
            assert!(covers(at), "{at}");
        }
        assert!(witnesses(MIB - 512, 512, &[]).as_slice().is_empty());
    }
}
