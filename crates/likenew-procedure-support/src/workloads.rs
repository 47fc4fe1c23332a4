//! Workloads that several procedures run.

use std::ops::Range;

use likenew_core::io::{DataClass, Op};
use likenew_core::workload::{Mix, Stream, Until, Workload};

use crate::pattern::Pattern;

/// Block of the preparing writes, if a file's size is a multiple of it.
const BLOCK: u32 = 1 << 20;
const DEPTH: u32 = 8;

/// Writes the first `bytes` of a drive once sequentially, so that reads meet data and no write is the first
/// at its address. `file_bytes` is the size of a folder's files: no I/O crosses its multiples.
pub fn prepare(bytes: u64, file_bytes: u64, data: DataClass) -> Workload {
    let block = BLOCK.min(1 << file_bytes.trailing_zeros().min(31));
    sequential_write("prepare", 0..bytes, block, DEPTH, data)
}

/// Writes a range of addresses once sequentially.
pub fn sequential_write(
    name: impl Into<String>,
    range: Range<u64>,
    block: u32,
    depth: u32,
    data: DataClass,
) -> Workload {
    let until = Until::bytes(range.end - range.start);
    let place = Pattern::Sequential.over(range);
    Workload::new(name, until, vec![Stream::closed(Mix::Only(Op::Write), block, place, depth, data)])
}
