//! The mapping (FTL) cache of a drive whose memory cannot hold the whole mapping table.
//!
//! The table lies in flash in segments. A segment that is not cached is read before use. It replaces the
//! least recently used one, which is programmed if it was changed (demand paging of the map: Gupta, Kim and
//! Urgaonkar, "DFTL: A Flash Translation Layer Employing Demand-based Selective Caching of Page-level Address
//! Mappings", ASPLOS 2009). Where segments lie in flash is not modeled: they take no spare, and a segment's
//! number decides its die.

use std::num::NonZeroUsize;

use lru::LruCache;
use rustc_hash::FxBuildHasher;

use crate::drive_file::parameters;
use crate::value::Value;

/// Bytes per entry of the mapping table, in flash and in memory.
const ENTRY_BYTES: u32 = 4;

parameters! {
    /// The size of the mapping cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MapCacheParameters {
        /// Bytes of memory for it.
        pub bytes: u64 = whole("bytes", 512..=1 << 36) => ("size", Value::Bytes),
        /// Bytes per segment.
        pub segment_bytes: u32 = whole("segment_bytes", 64..=65_536) => ("segment", Value::Bytes),
        /// The part that the host may lend, if any.
        pub host: Option<HostShare>,
    }
}

/// The part of the mapping cache in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostShare {
    /// Bytes that the drive asks for; included in the cache's bytes.
    pub bytes: u64,
    /// With less than this, the drive uses no host memory.
    pub bytes_least: u64,
}

/// The cached segments.
pub(crate) struct MapCache {
    segments: LruCache<u32, bool, FxBuildHasher>,
    pages_per_segment: u32,
}

/// What access to an entry costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MapAccess {
    /// The segment that has to be read.
    pub(crate) read: Option<u32>,
    /// Whether a changed segment was evicted and has to be programmed.
    pub(crate) programs: bool,
}

impl MapCache {
    /// An empty cache with room for at least one segment.
    pub(crate) fn new(parameters: MapCacheParameters) -> Self {
        let segments = (parameters.bytes / u64::from(parameters.segment_bytes)).max(1);
        let segments = NonZeroUsize::new(segments as usize).expect("one at least");
        Self {
            segments: LruCache::with_hasher(segments, FxBuildHasher),
            pages_per_segment: parameters.segment_bytes / ENTRY_BYTES,
        }
    }

    /// Uses the entry of a page, and changes it if `changes`.
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
