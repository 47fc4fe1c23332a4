//! A volume that was made from a snapshot: its data is fetched from the store of snapshots when it is first
//! touched.
//!
//! "Storage blocks must be downloaded from Amazon S3 and written to the volume before you can access them",
//! which costs latency "the first time each block is accessed" (Amazon EBS User Guide, initialize volumes).
//! Chunks of 512 KiB are those of a snapshot (EBS direct APIs). A chunk takes 30 ms (assumed), and all chunks
//! share 100 MiB a second (the least of the rates that EBS sells for it). Writes of whole chunks need not
//! wait.

use std::collections::BTreeMap;

use likenew_core::io::{Io, Op};
use likenew_core::units::Nanos;
use serde::{Deserialize, Serialize};

use super::io_hook::IoHook;
use crate::snapshot_error::SnapshotError;
use crate::timeline::{Timeline, transfer_time};

/// Bytes that are fetched together.
pub const CHUNK_BYTES: u64 = 512 << 10;
/// Time until a chunk from the store arrives. Assumed.
const LATENCY: Nanos = Nanos::from_millis(30);
/// Bytes per second that all chunks share: the least of the rates that Amazon sells for EBS.
const BYTES_PER_S: u64 = 100 << 20;

/// The fetching in time.
pub(crate) struct SnapshotRestore {
    /// When each chunk that was touched is there.
    present: BTreeMap<u64, Nanos>,
    store: Timeline,
}

/// What is saved: the chunks that are there, and the volume.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedState {
    present: Vec<u64>,
    pub(crate) inner: Vec<u8>,
}

impl SnapshotRestore {
    /// A volume that was just made, or was saved.
    pub(crate) fn new(saved: Option<&SavedState>) -> Self {
        let there = saved.map_or(&[][..], |saved| &saved.present).iter().map(|chunk| (*chunk, Nanos::ZERO));
        Self { present: there.collect(), store: Timeline::default() }
    }

    /// What was saved.
    ///
    /// # Errors
    /// These bytes are not such a volume.
    pub(crate) fn unpack(state: &[u8]) -> Result<SavedState, SnapshotError> {
        Ok(postcard::from_bytes(state)?)
    }

    fn fetch(&mut self, chunk: u64, now: Nanos) -> Nanos {
        let store = &mut self.store;
        let fetched = || store.reserve(now, transfer_time(CHUNK_BYTES, BYTES_PER_S)) + LATENCY;
        *self.present.entry(chunk).or_insert_with(fetched)
    }
}

impl IoHook for SnapshotRestore {
    fn delay_before(&mut self, io: &Io, now: Nanos) -> Nanos {
        if !matches!(io.op, Op::Read | Op::Write) {
            return now;
        }
        let end = io.offset + u64::from(io.length);
        let chunks = io.offset / CHUNK_BYTES..end.div_ceil(CHUNK_BYTES);
        chunks.fold(now, |ready, chunk| {
            let covers = io.offset <= chunk * CHUNK_BYTES && end >= (chunk + 1) * CHUNK_BYTES;
            if io.op == Op::Write && covers {
                self.present.entry(chunk).or_insert(now);
                return ready;
            }
            ready.max(self.fetch(chunk, now))
        })
    }

    fn save(&self, inner: Vec<u8>) -> Vec<u8> {
        let saved = SavedState { present: self.present.keys().copied().collect(), inner };
        postcard::to_stdvec(&saved).expect("plain values can be written to memory")
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::io::{DataClass, Slot};

    use super::*;

    fn io(op: Op, offset: u64, length: u64) -> Io {
        Io { slot: Slot(0), op, offset, length: length as u32, data: DataClass::Random }
    }

    #[test]
    fn only_the_first_touch_of_a_chunk_waits() {
        let mut volume = SnapshotRestore::new(None);
        let first = volume.delay_before(&io(Op::Read, 4096, 4096), Nanos::ZERO);
        assert_eq!(first, Nanos::from_millis(35), "5 ms of the store's rate");
        let meanwhile = Nanos::from_millis(1);
        assert_eq!(volume.delay_before(&io(Op::Read, 8192, 4096), meanwhile), first);
        assert_eq!(volume.delay_before(&io(Op::Write, CHUNK_BYTES, 4096), meanwhile), Nanos::from_millis(40));
        let late = Nanos::from_secs(1);
        assert_eq!(volume.delay_before(&io(Op::Read, 0, 2 * CHUNK_BYTES), late), late);
    }

    #[test]
    fn a_chunk_that_is_written_whole_is_never_fetched() {
        let mut volume = SnapshotRestore::new(None);
        let whole = io(Op::Write, 0, 2 * CHUNK_BYTES);
        assert_eq!(volume.delay_before(&whole, Nanos(7)), Nanos(7));
        assert_eq!(volume.delay_before(&io(Op::Read, CHUNK_BYTES, 4096), Nanos(8)), Nanos(8));
        let saved = SnapshotRestore::unpack(&volume.save(vec![1, 2])).unwrap();
        assert_eq!(saved.inner, [1, 2]);
        let mut again = SnapshotRestore::new(Some(&saved));
        assert_eq!(again.delay_before(&io(Op::Read, 0, 4096), Nanos(9)), Nanos(9));
        assert!(again.delay_before(&io(Op::Read, 3 * CHUNK_BYTES, 4096), Nanos(9)) > Nanos(9));
    }
}
