//! Traces of every format.

use std::io::{Cursor, Write as _};

use likenew_trace::{OpenOptions, open_stream, survey};

use super::file;
use crate::{Input, Target};

/// A target's name, the files of its seeds, and the options for reading an input.
type Source = (&'static str, &'static [&'static str], fn(&[Vec<u8>]) -> bool);

pub(super) fn targets() -> Vec<Target> {
    let formats: [Source; 11] = [
        ("trace likenew", &["own"], |parts| trace(parts, "likenew")),
        ("trace iolog", &["iolog-2", "iolog-3"], |parts| trace(parts, "iolog")),
        ("trace blkparse", &["blkparse", "blkparse-queued"], |parts| trace(parts, "blkparse")),
        ("trace blktrace", &["blktrace", "blktrace-big-endian"], |parts| trace(parts, "blktrace")),
        ("trace tracefs", &["tracefs", "tracefs-bios", "blk-tracer"], |parts| trace(parts, "tracefs")),
        ("trace biosnoop", &["biosnoop", "biosnoop-libbpf"], |parts| trace(parts, "biosnoop")),
        ("trace msr", &["msr"], |parts| trace(parts, "msr")),
        ("trace systor", &["systor"], |parts| trace(parts, "systor")),
        ("trace alibaba", &["alibaba"], |parts| trace(parts, "alibaba")),
        ("trace tencent", &["tencent"], |parts| trace(parts, "tencent")),
        ("trace fiu", &["fiu"], |parts| trace(parts, "fiu")),
    ];
    let seeds = |names: &[&str]| -> Vec<Input> {
        names.iter().map(|name| vec![file(&format!("crates/likenew-fuzz/corpus/traces/{name}"))]).collect()
    };
    let mut targets: Vec<Target> =
        formats.into_iter().map(|(name, names, check)| Target { name, seeds: seeds(names), check }).collect();
    // As a user gives it: the format is detected from the content.
    let all: Vec<&str> = formats.iter().flat_map(|(_, names, _)| names.iter().copied()).collect();
    targets.push(Target {
        name: "trace unknown",
        seeds: seeds(&all),
        check: |parts| read(parts, &OpenOptions::default()),
    });
    // Damage to a compressed file is mostly refused by the decompressor; the lines themselves are damaged
    // above.
    for (name, pack) in [("trace gzip", gzip as fn(&[u8]) -> Vec<u8>), ("trace zstd", zstandard)] {
        let pack = |input: &Input| -> Input { input.iter().map(|part| pack(part)).collect() };
        let packed = seeds(&all).iter().map(pack).collect();
        targets.push(Target { name, seeds: packed, check: |parts| read(parts, &OpenOptions::default()) });
    }
    targets
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).and_then(|()| packed.finish()).expect("memory takes everything")
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("memory takes everything")
}

fn trace(parts: &[Vec<u8>], format: &str) -> bool {
    read(
        parts,
        &OpenOptions { format: Some(format.parse().expect("it is a format")), ..OpenOptions::default() },
    )
}

/// Reads all of it, like the survey of a trace before a replay.
fn read(parts: &[Vec<u8>], options: &OpenOptions) -> bool {
    let Ok(mut trace) = open_stream("fuzzed", Box::new(Cursor::new(parts[0].clone())), options) else {
        return false;
    };
    let is_read = survey(&mut trace).is_ok();
    let _ = (trace.notes(), trace.volume(), trace.head().is_some());
    is_read
}
