//! Fuzzes traces of every format.

use std::io::{Cursor, Write as _};

use likenew_trace::{FORMATS, Format, OpenOptions, open_stream, survey};

use super::named_files;
use crate::Target;

pub(super) fn targets() -> Vec<Target> {
    // A file is named after its format; further files of a format have a suffix after a hyphen.
    let files = named_files("crates/likenew-fuzz/corpus/traces");
    let inputs_of = |format: &str| {
        let is_of = |name: &str| {
            name.strip_prefix(format).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        files.iter().filter(|(name, _)| is_of(name)).map(|(_, input)| input.clone()).collect()
    };
    let target = |format: &'static Format| {
        let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
        Target::new(format!("trace {}", format.name), inputs_of(format.name), move |parts| {
            read(parts, &options)
        })
    };
    let mut targets: Vec<Target> = FORMATS.into_iter().map(target).collect();
    // Here the format is detected from the contents, as for users. The decompressor refuses most damage to compressed
    // files; the targets above damage the lines themselves.
    for (name, pack) in [
        ("trace unknown", <[u8]>::to_vec as fn(&[u8]) -> Vec<u8>),
        ("trace gzip", gzip),
        ("trace zstd", zstandard),
    ] {
        let packed = files.iter().map(|(_, input)| input.iter().map(|part| pack(part)).collect()).collect();
        targets.push(Target::new(name, packed, |parts| read(parts, &OpenOptions::default())));
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

/// Reads the whole trace, as the survey before a replay does.
fn read(parts: &[Vec<u8>], options: &OpenOptions) -> bool {
    let Ok(mut trace) = open_stream("fuzzed", Box::new(Cursor::new(parts[0].clone())), options) else {
        return false;
    };
    let is_read = survey(&mut trace).is_ok();
    let _ = (trace.notes(), trace.volume(), trace.head().is_some());
    is_read
}
