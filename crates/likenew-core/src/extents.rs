//! Where a file system has placed the data of a target.

use serde::{Deserialize, Serialize};

/// A range of a target's addresses that is contiguous on the device below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// First byte of the target.
    pub offset: u64,
    /// First byte on the device of the file system.
    pub device_offset: u64,
    /// Length of the piece.
    pub bytes: u64,
}

/// All extents of a target, in order of its addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtentMap {
    extents: Vec<Extent>,
}

impl ExtentMap {
    /// A file in more extents than this is not mapped: a run folder keeps every extent.
    pub const EXTENTS_MAX: usize = 200_000;

    /// Of extents in any order that do not overlap.
    pub fn new(mut extents: Vec<Extent>) -> Self {
        extents.sort_unstable_by_key(|extent| extent.offset);
        Self { extents }
    }

    /// The extents of `bytes` from `offset` on that have a place on the device.
    pub fn pieces(&self, offset: u64, bytes: u64) -> impl Iterator<Item = Extent> {
        let end = offset.saturating_add(bytes);
        let first = self.extents.partition_point(|extent| extent.offset + extent.bytes <= offset);
        self.extents[first..].iter().take_while(move |extent| extent.offset < end).map(move |extent| {
            let from = extent.offset.max(offset);
            let to = (extent.offset + extent.bytes).min(end);
            Extent {
                offset: from,
                device_offset: extent.device_offset + (from - extent.offset),
                bytes: to - from,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_at_extents_and_leaves_out_holes() {
        let extent = |offset, device_offset, bytes| Extent { offset, device_offset, bytes };
        let map = ExtentMap::new(vec![extent(200, 5000, 50), extent(0, 1000, 100), extent(100, 7000, 50)]);
        let pieces = |offset, bytes| map.pieces(offset, bytes).collect::<Vec<_>>();
        assert_eq!(pieces(90, 20), [extent(90, 1090, 10), extent(100, 7000, 10)]);
        assert_eq!(pieces(140, 100), [extent(140, 7040, 10), extent(200, 5000, 40)]);
        assert_eq!(pieces(150, 50), []);
        assert_eq!(pieces(250, u64::MAX), []);
        assert_eq!(pieces(0, u64::MAX).len(), 3);
    }
}
