//! Reads and writes a drive's state as a file.
//!
//! The file begins with a line of text, then the length of the header, the header, and the state, compressed
//! with a checksum. Only the version that wrote a state reads it back.

use std::io::{self, Read as _, Write};

use serde::{Deserialize, Serialize};

use crate::device::SnapshotError;
use crate::model::{Mechanism, Model};
use crate::situations::layers::CHUNK_BYTES;

const MAGIC: &[u8] = b"likenew drive snapshot\n";
/// Compression level. It takes less time than writing the bytes that it saves.
const LEVEL: i32 = 1;
/// The longest header; a drive's file has a few kilobytes.
const HEADER_BYTES_MAX: u32 = 1 << 24;

/// The largest state: two mapping tables for the 244 million pages of 1 TB, 8 bytes per entry, take 4 GiB. A
/// limit is needed because a few packed bytes can unpack to any size.
const STATE_BYTES_MAX: u64 = 8 << 30;
/// Bytes that any drive may need for queues, counters and lists that do not grow with its size.
const STATE_BYTES_LEAST: u64 = 1 << 20;
/// The most bytes per flash page: entries in both tables of at most five bytes each, what a compressing map
/// knows about its parts, and its share of the block's list.
const FLASH_PAGE_BYTES: u64 = 64;
/// The most bytes per piece in a shingled disk's persistent cache: its entries in a table and in a list, with
/// numbers of at most ten bytes.
const PIECE_BYTES: u64 = 128;

/// What a snapshot says about its drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The likenew version that saved it.
    pub(crate) version: String,
    /// The spec that the drive was made from.
    pub(crate) spec: String,
    /// The text of its file.
    pub(crate) text: String,
}

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The largest state of a drive of this model, written bytes included if it keeps data.
pub(crate) fn state_bytes_max(model: &Model, keeps_data: bool) -> u64 {
    // Each kept sector also stores its number and length.
    let kept = |bytes: u64| if keeps_data { bytes.saturating_add(bytes / 512 * 16) } else { 0 };
    let most = match &model.mechanism {
        Mechanism::Flash(flash) => {
            let pages = flash.flash.pages();
            let bytes = pages.saturating_mul(flash.parameters.page_bytes.into());
            pages.saturating_mul(FLASH_PAGE_BYTES).saturating_add(kept(bytes))
        }
        Mechanism::Disk(disk) => {
            let pieces = disk.shingles.map_or(0, |shingles| u64::from(shingles.map_entries));
            pieces.saturating_mul(PIECE_BYTES).saturating_add(kept(model.capacity_bytes))
        }
        // Which chunks of a restored volume were fetched.
        Mechanism::Volume(_) => {
            (model.capacity_bytes / CHUNK_BYTES).saturating_mul(10).saturating_add(kept(model.capacity_bytes))
        }
    };
    most.saturating_add(STATE_BYTES_LEAST).min(STATE_BYTES_MAX)
}

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

/// Splits a snapshot into its header and what follows.
///
/// # Errors
/// The bytes are no snapshot, or one of another version.
pub(crate) fn read_header(bytes: &[u8]) -> Result<(Header, &[u8]), SnapshotError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(SnapshotError::NotSaved)?;
    let (length, rest) = rest.split_first_chunk().ok_or(SnapshotError::NotSaved)?;
    let length = u32::from_le_bytes(*length);
    if length > HEADER_BYTES_MAX {
        return Err(SnapshotError::NotSaved);
    }
    let (header, state) = rest.split_at_checked(length as usize).ok_or(SnapshotError::ShortHeader)?;
    // The version comes first, so that any version can report it.
    let (version, _) = postcard::take_from_bytes::<String>(header).map_err(|_| SnapshotError::NotSaved)?;
    if version != VERSION {
        return Err(SnapshotError::OtherVersion { version, reader: VERSION });
    }
    let header = postcard::from_bytes(header).map_err(|_| SnapshotError::NotSaved)?;
    Ok((header, state))
}

/// Unpacks the state behind a header, up to `bytes_max`.
///
/// # Errors
/// The state is incomplete, damaged or longer.
pub(crate) fn read_state(state: &[u8], bytes_max: u64) -> Result<Vec<u8>, SnapshotError> {
    let mut bytes = Vec::new();
    zstd::Decoder::new(state)
        .and_then(|decoder| decoder.take(bytes_max + 1).read_to_end(&mut bytes))
        .map_err(|error| SnapshotError::BadState(error.to_string()))?;
    if bytes.len() as u64 > bytes_max {
        return Err(SnapshotError::LargeState { bytes_max });
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

    fn read(bytes: &[u8]) -> Result<(Header, Vec<u8>), SnapshotError> {
        let (header, state) = read_header(bytes)?;
        Ok((header, read_state(state, 10_000)?))
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&snapshot()), Ok((header(), vec![7; 10_000])));
    }

    #[test]
    fn a_small_file_unpacks_no_further_than_its_model() {
        let mut bomb = Vec::new();
        write(&header(), &vec![0; 64 << 20], &mut bomb).unwrap();
        assert!(bomb.len() < 64 << 10, "{}", bomb.len());
        let reason = read(&bomb).unwrap_err().to_string();
        assert!(
            reason.contains("unpacks to more than 10.0 KB, and no drive of its model holds more")
                || reason.contains("unpacks to more than 9.77 KiB"),
            "{reason}"
        );
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = Vec::new();
        write(&Header { version: "0.0.0".into(), ..header() }, &[], &mut bytes).unwrap();
        assert!(read(&bytes).unwrap_err().to_string().contains("version 0.0.0"));
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
