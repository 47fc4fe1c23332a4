//! Workloads that several procedures run.

use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

/// Block of the preparing writes, if a file's size is a multiple of it.
const BLOCK: u32 = 1 << 20;
const DEPTH: u32 = 8;

/// Writes the first `bytes` of a drive once sequentially, so that reads meet data and no write is the first
/// at its address. `file_bytes` is the size of a folder's files: no I/O crosses its multiples.
pub fn prepare(bytes: u64, file_bytes: u64, data: DataClass) -> Workload {
    let block = BLOCK.min(1 << file_bytes.trailing_zeros().min(31));
    let place = AccessPattern::Sequential(Region::bytes(0..bytes));
    let stream = Stream::closed(Mix::Only(Op::Write), block, place, DEPTH, data);
    Workload::new("prepare", Until::bytes(bytes), vec![stream])
}
