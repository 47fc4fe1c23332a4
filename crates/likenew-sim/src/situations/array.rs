//! A mirror whose second member is being rebuilt from this drive: reading the whole drive for that slows down
//! all other I/O.
//!
//! Linux copies in windows, of which it asks in pieces of 64 KiB (`RESYNC_BLOCK_SIZE` of
//! drivers/md/raid1-10.c), as fast as the members allow, and slows down to `sync_speed_min` while other
//! programs use the array. Here the rate is what was set, at random moments and places (assumed: copying
//! sequentially would cost an arm less, and a copy that gives way costs less, too).

use crate::faults::drive_faults::NeighborParameters;

/// Bytes of one piece.
const PIECE_BYTES: u32 = 64 << 10;
/// Its name in md.
pub(crate) const MD_ACTION: &str = "recover";

/// The copying, at so many bytes a second.
pub(crate) fn rebuilding(bytes_per_s: u64) -> NeighborParameters {
    let ios_per_s = bytes_per_s.div_ceil(PIECE_BYTES.into()).min(u32::MAX.into()) as u32;
    NeighborParameters { ios_per_s, io_bytes: PIECE_BYTES, write_percent: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_as_much_as_was_reported() {
        let NeighborParameters { ios_per_s, io_bytes, write_percent } = rebuilding(100_000_000);
        assert_eq!((ios_per_s, io_bytes, write_percent), (1526, 65_536, 0));
        assert_eq!(rebuilding(1).ios_per_s, 1);
    }
}
