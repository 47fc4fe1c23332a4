//! The part of the map that a drive without memory for all of it has at hand.
//!
//! The map lies in the flash in segments; the least recently used one leaves when another is wanted. A segment that is not
//! here is read before it is used, and one that was changed is programmed when it leaves (demand paging of the map: Gupta,
//! Kim and Urgaonkar, "DFTL: A Flash Translation Layer Employing Demand-based Selective Caching of Page-level Address
//! Mappings", ASPLOS 2009). Where in the flash the segments lie is not modeled: they take no spare, and a segment's
//! number says which die it is on.

use std::num::NonZeroUsize;

use lru::LruCache;
use rustc_hash::FxBuildHasher;

/// Bytes of one entry of the map in flash and in memory.
const ENTRY_BYTES: u32 = 4;

/// How large the cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapCacheParameters {
    /// Memory for it.
    pub bytes: u64,
    /// Bytes of a segment.
    pub segment_bytes: u32,
    /// How much of the memory the host lends, if it lends any.
    pub host: Option<HostShare>,
}

/// The part of the cache that lies in memory of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostShare {
    /// What the drive would like to have; a part of the cache's bytes.
    pub bytes: u64,
    /// With less than this it uses none.
    pub bytes_least: u64,
}

/// Which segments are at hand.
pub(crate) struct MapCache {
    segments: LruCache<u32, bool, FxBuildHasher>,
    pages_per_segment: u32,
}

/// What using a page's entry costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MapAccess {
    /// A segment that has to be read.
    pub(crate) read: Option<u32>,
    /// A changed segment has left and has to be programmed.
    pub(crate) programs: bool,
}

impl MapCache {
    /// An empty cache; there is room for one segment at least.
    pub(crate) fn new(parameters: MapCacheParameters) -> Self {
        let segments = (parameters.bytes / u64::from(parameters.segment_bytes)).max(1);
        let segments = NonZeroUsize::new(segments as usize).expect("one at least");
        Self {
            segments: LruCache::with_hasher(segments, FxBuildHasher),
            pages_per_segment: parameters.segment_bytes / ENTRY_BYTES,
        }
    }

    /// Uses the entry of a page, and changes it.
    pub(crate) fn access(&mut self, page: u32, changes: bool) -> MapAccess {
        let segment = page / self.pages_per_segment;
        if let Some(changed) = self.segments.get_mut(&segment) {
            *changed |= changes;
            return MapAccess::default();
        }
        let left = self.segments.push(segment, changes);
        MapAccess { read: Some(segment), programs: left.is_some_and(|(_, changed)| changed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_segment_leaves_and_is_programmed_if_it_was_changed() {
        let mut cache = MapCache::new(MapCacheParameters { bytes: 8192, segment_bytes: 4096, host: None });
        let read = |segment| MapAccess { read: Some(segment), programs: false };
        assert_eq!(cache.access(0, true), read(0));
        assert_eq!(cache.access(1023, false), MapAccess::default());
        assert_eq!(cache.access(1024, false), read(1));
        assert_eq!(cache.access(5, false), MapAccess::default());
        assert_eq!(cache.access(2048, false), read(2), "segment 1 leaves unchanged");
        assert_eq!(
            cache.access(1024, false),
            MapAccess { read: Some(1), programs: true },
            "segment 0 was changed"
        );
    }
}
