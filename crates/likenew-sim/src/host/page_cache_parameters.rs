//! What the memory of the host is like.

use likenew_core::units::Nanos;

/// The page cache of a host, after Linux. Shares of memory are in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCacheParameters {
    /// Memory that may hold pages: 4 GiB is assumed, about what is left on a machine of 8 GiB.
    pub bytes: u64,
    /// Bytes of a page, as on x86-64 and most others.
    pub page_bytes: u32,
    /// Bytes a second between the page cache and a program. 8 GB/s is assumed: one core that copies what no
    /// cache of it holds.
    pub copy_bytes_per_s: u64,
    /// Further time of one I/O: the system call and the search for its pages. 500 ns is assumed.
    pub call: Nanos,
    /// A read that misses goes to the drive in I/Os of at most this: Linux's window of read-ahead
    /// (`read_ahead_kb`, 128 by default).
    pub read_bytes_max: u32,
    /// Writeback joins adjacent pages up to this many bytes: close to `max_sectors_kb`, 1280 by default; 1
    /// MiB is assumed.
    pub write_bytes_max: u32,
    /// I/Os of writing back that are in flight at once; 32 is assumed.
    pub writes_max: u32,
    /// From this share of dirty pages on they are written back (`vm.dirty_background_ratio`, 10 by default).
    pub background_percent: u32,
    /// Share of dirty pages above which a writing program has to wait (`vm.dirty_ratio`, 20 by default).
    pub dirty_percent: u32,
    /// Dirty pages that are older are written back (`vm.dirty_expire_centisecs`, 3000 by default).
    pub expire: Nanos,
    /// How often writeback checks for dirty pages (`vm.dirty_writeback_centisecs`, 500 by default).
    pub poll_interval: Nanos,
}

impl Default for PageCacheParameters {
    fn default() -> Self {
        Self {
            bytes: 4 << 30,
            page_bytes: 4096,
            copy_bytes_per_s: 8_000_000_000,
            call: Nanos(500),
            read_bytes_max: 128 << 10,
            write_bytes_max: 1 << 20,
            writes_max: 32,
            background_percent: 10,
            dirty_percent: 20,
            expire: Nanos::from_secs(30),
            poll_interval: Nanos::from_secs(5),
        }
    }
}

impl PageCacheParameters {
    /// The same with so much memory.
    #[must_use]
    pub fn with_bytes(self, bytes: u64) -> Self {
        Self { bytes, ..self }
    }
}
