//! A drive's state on file: what it is, where it comes from, and what its mechanism holds.
//!
//! A file begins with a line of text, then the length of the header, the header, and the state, compressed and with a
//! checksum. State is only read back by the version that wrote it.

use std::io::{self, Read as _, Write};

use serde::{Deserialize, Serialize};

const MAGIC: &[u8] = b"likenew drive snapshot\n";
/// The time that compression takes is less than that of writing what it saves.
const LEVEL: i32 = 1;
/// Longer headers are nonsense: a drive's file has a few kilobytes.
const HEADER_BYTES_MAX: u32 = 1 << 24;

/// No drive holds more: two maps of the 244 million pages of 1 TB, 8 bytes each, are 4 GiB. A few packed bytes can be any number of others.
const STATE_BYTES_MAX: u64 = 32 << 30;

/// What a drive is that was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version of likenew that saved it.
    pub(crate) version: String,
    /// How the drive was named when it was made.
    pub(crate) spec: String,
    /// Its file.
    pub(crate) text: String,
}

/// This version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes a snapshot.
pub(crate) fn write(header: &Header, state: &[u8], mut out: impl Write) -> io::Result<()> {
    let header = postcard::to_stdvec(header).map_err(io::Error::other)?;
    out.write_all(MAGIC)?;
    out.write_all(&(header.len() as u32).to_le_bytes())?;
    out.write_all(&header)?;
    let mut encoder = zstd::Encoder::new(out, LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(state)?;
    encoder.finish()?.flush()
}

/// The header of a snapshot and what follows it.
///
/// # Errors
/// A sentence that says what the bytes are instead.
pub(crate) fn read_header(bytes: &[u8]) -> Result<(Header, &[u8]), String> {
    let none = || "it is no snapshot of a drive: save one with likenew sim save".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(none)?;
    let (length, rest) = rest.split_first_chunk().ok_or_else(none)?;
    let length = u32::from_le_bytes(*length);
    if length > HEADER_BYTES_MAX {
        return Err(none());
    }
    let (header, state) =
        rest.split_at_checked(length as usize).ok_or("it ends in its header: save it again")?;
    // The version comes first, so that it can be told whatever follows it.
    let (version, _) = postcard::take_from_bytes::<String>(header).map_err(|_| none())?;
    if version != VERSION {
        return Err(format!(
            "it was saved by version {version} and can not be read by {VERSION}: save it again"
        ));
    }
    let header = postcard::from_bytes(header).map_err(|_| none())?;
    Ok((header, state))
}

/// The state that follows a header.
///
/// # Errors
/// A sentence, if it is incomplete or damaged.
pub(crate) fn read_state(state: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    zstd::Decoder::new(state)
        .and_then(|decoder| decoder.take(STATE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("its state is damaged ({error}): save it again"))?;
    if bytes.len() as u64 > STATE_BYTES_MAX {
        return Err("its state is larger than that of any drive: save it again".to_owned());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            version: VERSION.into(),
            spec: "sim:tiny-flash?state=used".into(),
            text: "kind = \"flash\"".into(),
        }
    }

    fn snapshot() -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&header(), &[7; 10_000], &mut bytes).unwrap();
        bytes
    }

    fn read(bytes: &[u8]) -> Result<(Header, Vec<u8>), String> {
        let (header, state) = read_header(bytes)?;
        Ok((header, read_state(state)?))
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&snapshot()), Ok((header(), vec![7; 10_000])));
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = Vec::new();
        write(&Header { version: "0.0.0".into(), ..header() }, &[], &mut bytes).unwrap();
        assert!(read(&bytes).unwrap_err().contains("version 0.0.0"));
    }

    #[test]
    fn nothing_that_is_cut_short_or_damaged_is_taken_for_a_drive() {
        let whole = snapshot();
        assert!((0..whole.len()).all(|length| read(&whole[..length]).is_err()));
        let (_, state) = read_header(&whole).unwrap();
        let start = whole.len() - state.len();
        for index in start..whole.len() {
            let mut damaged = whole.clone();
            damaged[index] ^= 1;
            assert_ne!(read(&damaged), Ok((header(), vec![7; 10_001])), "byte {index}");
            assert!(
                read(&damaged).map_or(true, |(_, state)| state == [7; 10_000]),
                "byte {index} matters unnoticed"
            );
        }
        assert!(read(b"").is_err() && read(b"kind = \"flash\"").is_err());
    }
}
