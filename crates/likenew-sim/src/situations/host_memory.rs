//! Host memory in which a drive without its own DRAM keeps a part of its mapping table (NVMe's Host Memory
//! Buffer).

use crate::flash::map_cache::{HostShare, MapCacheParameters};

/// The mapping cache of a drive that was granted so much host memory. Less than its minimum is not used at
/// all (HMMIN of Identify Controller: NVM Express Base Specification 2.0).
pub(crate) fn granted_cache(cache: MapCacheParameters, host: HostShare, offered: u64) -> MapCacheParameters {
    let given = if offered < host.bytes_least { 0 } else { offered.min(host.bytes) };
    MapCacheParameters { bytes: cache.bytes - host.bytes + given, ..cache }
}

/// How much host memory a mapping cache holds that was limited like that.
pub(crate) fn used(cut: MapCacheParameters, own: MapCacheParameters, host: HostShare) -> u64 {
    cut.bytes + host.bytes - own.bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_is_not_used() {
        let cache = MapCacheParameters { bytes: 100, segment_bytes: 64, host: None };
        let host = HostShare { bytes: 90, bytes_least: 30 };
        let bytes = |offered| granted_cache(cache, host, offered).bytes;
        assert_eq!([0, 29, 30, 90, 500].map(bytes), [10, 10, 40, 100, 100]);
        assert_eq!(used(granted_cache(cache, host, 30), cache, host), 30);
    }
}
