//! Places that are never rewritten, so a change in them shows that the store was in use.
//!
//! They are where partition tables, volumes and file systems leave a mark when they are used, at both ends,
//! and evenly all over. They keep their old data; places that are used often are rewritten by that anyway.

use std::io;
use std::ops::Range;

use likenew_core::drive::BlockStore;
use twox_hash::XxHash3_64;

use crate::ranges::Ranges;

/// A store shorter than this has none: half of a small file would be witnesses.
const STORE_BYTES_MIN: u64 = 1 << 20;
/// Both ends: partition tables, boot sectors, superblocks, the headers of volumes; of files, the page in
/// which databases count changes.
const ENDS_BYTES: u64 = 1 << 20;
/// Limit of a single place, as a share of the store.
const SHARE: u64 = 256;
/// Evenly spaced places at most, one in each MiB of small stores, of this length.
const SPOTS_MAX: u64 = 32;
const SPOT_BYTES: u64 = 4096;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Places of marks beyond the first MiB: checkpoints of f2fs and the inside of LUKS1 (2 MiB), LUKS2 (16 MiB);
/// copies of btrfs's superblock (64 MiB, 256 GiB); the file table of NTFS (3 GiB) (kernel documentation of
/// f2fs and btrfs, cryptsetup's FAQ, mkntfs).
const MARK_RANGES: [Range<u64>; 5] = [
    2 * MIB..4 * MIB + 64 * 1024,
    16 * MIB..16 * MIB + 128 * 1024,
    64 * MIB..64 * MIB + 4096,
    3 * GIB..3 * GIB + 64 * 1024,
    256 * GIB..256 * GIB + 4096,
];

/// Of a store of so many bytes, with `marks` as further places.
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

/// A hash (XXH3) over all of them.
///
/// # Errors
/// One cannot be read.
pub(crate) fn fingerprint(
    witnesses: &Ranges,
    store: &mut impl BlockStore,
) -> Result<u64, (Range<u64>, io::Error)> {
    let mut hash = XxHash3_64::new();
    let mut buffer = Vec::new();
    for place in witnesses.as_slice() {
        let mut at = place.start;
        while at < place.end {
            let end = (at + ENDS_BYTES).min(place.end);
            buffer.resize((end - at) as usize, 0);
            store.read_at(at, &mut buffer).map_err(|error| (at..end, error))?;
            std::hash::Hasher::write(&mut hash, &buffer);
            at = end;
        }
    }
    Ok(std::hash::Hasher::finish(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_few_and_where_marks_lie() {
        for bytes in [MIB, 16 * MIB, 256 * MIB, 8 * GIB, 512 * GIB, 16 << 40] {
            let all = witnesses(bytes, 512, &[]);
            assert!(all.bytes() <= bytes / 24, "{} of {bytes}", all.bytes());
            let covers = |at: u64| all.as_slice().iter().any(|place| place.contains(&at));
            assert!(covers(0) && covers(1024) && covers(bytes - 1));
        }
        let all = witnesses(512 * GIB, 4096, &[5 * GIB + 100..5 * GIB + 200, 0..1]);
        let covers = |at: u64| all.as_slice().iter().any(|place| place.contains(&at));
        for at in [64 << 10, 2 * MIB, 16 * MIB + 1024, 64 * MIB, 256 * GIB, 5 * GIB] {
            assert!(covers(at), "{at}");
        }
        assert!(witnesses(MIB - 512, 512, &[]).as_slice().is_empty());
    }
}
