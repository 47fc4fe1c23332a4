//! Hints to the processor about large tables. They save time, and change no result.

/// Tells the processor that an entry is needed soon, so that it waits for memory while something else is done. An index
/// behind the end is none.
#[inline(always)]
pub(crate) fn prefetch<T>(table: &[T], index: usize) {
    // Stable Rust offers it for x86-64 alone.
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = table.get(index) {
        safe_arch::prefetch_t0(entry);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}
