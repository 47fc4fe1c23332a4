//! Memory for large tables, and prefetch hints. They save time and change no result.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::{fmt, io};

use bytemuck::Pod;
use memmap2::{Advice, MmapMut};
use serde::de::{Error as _, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Hints that an entry is needed soon, so that its memory access overlaps with other work. Ignores an index
/// beyond the end.
#[inline(always)]
pub fn prefetch<T>(table: &[T], index: usize) {
    // Stable Rust can prefetch on x86-64 only.
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = table.get(index) {
        safe_arch::prefetch_t0(entry);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}

/// A large table that starts as zeros. Memory pages that were never written take up none.
pub struct Table<T> {
    mapping: MmapMut,
    entry: PhantomData<T>,
}

/// Table size from which large memory pages are used. Chosen: below that, processor caches hold the page
/// table, and large pages would only waste memory.
const LARGE_PAGES_BYTES_MIN: usize = 64 << 20;

impl<T: Pod> Table<T> {
    /// A table of `length` zeros.
    ///
    /// # Panics
    /// The system has no address space for it, as with an allocation of that size.
    pub fn zeroed(length: usize) -> Self {
        Self::map(length).expect("the memory that a drive needs was checked")
    }

    fn map(length: usize) -> io::Result<Self> {
        let bytes = length.checked_mul(size_of::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { mapping: MmapMut::map_anon(bytes)?, entry: PhantomData })
    }

    /// Uses large memory pages, for a table whose entries will nearly all be used. A random access then misses
    /// memory once instead of also for its address translation. On a system without large pages this has no effect.
    pub fn use_large_pages(&self) {
        if self.mapping.len() >= LARGE_PAGES_BYTES_MIN {
            let _ = self.mapping.advise(Advice::HugePage);
        }
    }
}

/// Checks that the system can give this process pieces of memory of these sizes.
///
/// # Errors
/// The system's error, such as because of a limit.
pub(crate) fn reserve(pieces: &[u64]) -> io::Result<()> {
    let map =
        |bytes: &u64| MmapMut::map_anon(usize::try_from(*bytes).map_err(|_| io::ErrorKind::OutOfMemory)?);
    pieces.iter().map(map).collect::<io::Result<Vec<_>>>().map(drop)
}

impl<T: Pod> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.mapping)
    }
}

impl<T: Pod> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.mapping)
    }
}

/// Serializes as a list of entries.
impl<T: Pod + Serialize> Serialize for Table<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, T: Pod + Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(TableVisitor(PhantomData))
    }
}

/// The name of a table in serde's errors.
const TABLE: &str = "sized list";

/// Deserializes a table entry by entry, so that a large table is in memory only once.
struct TableVisitor<T>(PhantomData<T>);

impl<'de, T: Pod + Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
    type Value = Table<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TABLE)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Table<T>, A::Error> {
        let length = entries.size_hint().ok_or_else(|| A::Error::invalid_type(Unexpected::Seq, &self))?;
        let mut table = Table::map(length).map_err(A::Error::custom)?;
        for index in 0..length {
            table[index] = entries.next_element()?.ok_or_else(|| A::Error::invalid_length(index, &self))?;
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_saved_as_the_list_that_it_is() {
        let mut table = Table::<u32>::zeroed(1000);
        (table[0], table[999]) = (1, u32::MAX);
        table.use_large_pages();
        let bytes = postcard::to_stdvec(&table).unwrap();
        assert_eq!(bytes, postcard::to_stdvec(&table.to_vec()).unwrap());
        let again: Table<u32> = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(again[..], table[..]);
        // A length that exceeds the data, and any memory.
        assert!(postcard::from_bytes::<Table<u32>>(&bytes[..900]).is_err());
        let boundless = postcard::to_stdvec(&(u64::MAX >> 3)).unwrap();
        assert!(postcard::from_bytes::<Table<u32>>(&boundless).is_err());
        assert_eq!(Table::<u32>::zeroed(0).len(), 0);
    }
}
