//! The compression of a file, recognized by its first bytes.

use std::io::{self, BufReader, Read};

use flate2::read::MultiGzDecoder;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

const BUFFER: usize = 256 << 10;

/// Whether Zstandard data begins with a skippable frame, as that of some parallel compressors does.
fn is_skippable(magic: &[u8]) -> bool {
    matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}

/// The decompressed stream, and the name of its compression. Several gzip members or Zstandard frames are one
/// stream.
///
/// # Errors
/// The stream cannot be read.
pub fn decompress(
    mut stream: Box<dyn Read + Send>,
) -> io::Result<(Box<dyn Read + Send>, Option<&'static str>)> {
    let mut magic = Vec::with_capacity(ZSTANDARD.len());
    stream.by_ref().take(ZSTANDARD.len() as u64).read_to_end(&mut magic)?;
    let (gzip, zstandard) = (magic.starts_with(&GZIP), magic == ZSTANDARD || is_skippable(&magic));
    let whole = io::Cursor::new(magic).chain(stream);
    if gzip {
        let packed = BufReader::with_capacity(BUFFER, whole);
        return Ok((Box::new(MultiGzDecoder::new(packed)), Some("gzip")));
    }
    if zstandard {
        let packed = BufReader::with_capacity(BUFFER, whole);
        return Ok((Box::new(zstd::Decoder::with_buffer(packed)?), Some("Zstandard")));
    }
    Ok((Box::new(whole), None))
}
