//! How far pieces of files compress: as zip would have it, and as a drive would that compresses what it is given.

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use flate2::{Compress, Compression, FlushCompress, Status};
use rustix::fs::{Advice, FileType, Mode, OFlags, SeekFrom, Stat, fadvise, fstat, openat, seek};
use rustix::io::Errno;

/// Bytes of a piece: twice what zip looks back over.
pub(super) const PIECE: usize = 64 << 10;
/// Bytes that a drive compresses on their own: its unit of mapping.
const UNIT: usize = 4096;

/// What one piece came to, each as compressed length over length, `0 ..= 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Each 4 KiB on their own, with zstd at level 1.
    pub unit_share: f64,
    /// The whole piece of 64 KiB, with DEFLATE as zip uses it.
    pub zip_share: f64,
}

/// Compresses pieces; holds what that needs.
pub(super) struct Compressor {
    unit: zstd::bulk::Compressor<'static>,
    zip: Compress,
    out: Vec<u8>,
}

impl Compressor {
    pub(super) fn new() -> Self {
        let unit = zstd::bulk::Compressor::new(1).expect("there is a level 1");
        // Somewhat more than the longest stored form of a piece.
        let out = vec![0; PIECE + PIECE / 8];
        Self { unit, zip: Compress::new(Compression::default(), false), out }
    }

    /// What does not become shorter is stored as it is, so that no share exceeds 1.
    pub(super) fn shares(&mut self, piece: &[u8]) -> Shares {
        assert!(!piece.is_empty() && piece.len() <= PIECE, "a piece has 1 to {PIECE} bytes");
        let units: usize = piece.chunks(UNIT).map(|unit| self.compress_unit(unit).min(unit.len())).sum();
        let whole = self.zip(piece).min(piece.len());
        let share = |bytes: usize| bytes as f64 / piece.len() as f64;
        Shares { unit_share: share(units), zip_share: share(whole) }
    }

    fn compress_unit(&mut self, unit: &[u8]) -> usize {
        self.unit.compress_to_buffer(unit, self.out.as_mut_slice()).expect("the output has room for it")
    }

    fn zip(&mut self, piece: &[u8]) -> usize {
        self.zip.reset();
        let status = self.zip.compress(piece, &mut self.out, FlushCompress::Finish);
        assert!(matches!(status, Ok(Status::StreamEnd)), "the output has room for it: {status:?}");
        self.zip.total_out() as usize
    }
}

/// Opens a file of the user's for reading, following no link and, where the system allows it, without leaving a trace in
/// its time of access.
pub(super) fn open(path: &Path, more: OFlags) -> rustix::io::Result<(OwnedFd, Stat)> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
    let open = |flags| openat(rustix::fs::CWD, path, flags, Mode::empty());
    let fd = match open(flags | OFlags::NOATIME) {
        // Only the owner of a file may ask for that.
        Err(Errno::PERM) => open(flags)?,
        other => other?,
    };
    let stat = fstat(&fd)?;
    Ok((fd, stat))
}

/// Where a file has data: holes read as zeros and take no space.
pub(super) fn data(fd: impl AsFd, length: u64) -> Vec<Range<u64>> {
    let (mut ranges, mut at) = (Vec::new(), 0);
    while at < length {
        let start = match seek(&fd, SeekFrom::Data(at)) {
            Ok(start) => start,
            // Nothing but a hole follows.
            Err(Errno::NXIO) => return ranges,
            // A file system that knows no holes has none.
            Err(_) => at,
        };
        let end = seek(&fd, SeekFrom::Hole(start)).unwrap_or(length).min(length);
        if start >= end {
            return ranges;
        }
        ranges.push(start..end);
        at = end;
    }
    ranges
}

/// The bytes of these ranges.
pub(super) fn sum(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// Reads the piece around a place in a file, given as a share of its data, and says how long it is. Nothing, when the file
/// has become shorter.
pub(super) fn read_piece(
    fd: &OwnedFd,
    data: &[Range<u64>],
    share: f64,
    piece: &mut [u8; PIECE],
) -> rustix::io::Result<usize> {
    let mut left = (share * sum(data) as f64) as u64;
    let Some(range) = data.iter().find(|range| {
        let bytes = range.end - range.start;
        let within = left < bytes;
        left -= if within { 0 } else { bytes };
        within
    }) else {
        return Ok(0);
    };
    let start = range.start + left / PIECE as u64 * PIECE as u64;
    let wanted = (range.end - start).min(PIECE as u64) as usize;
    // More than was asked for would only be read ahead in vain; a system that does not take the advice does no harm.
    let _ = fadvise(fd, 0, None, Advice::Random);
    let mut read = 0;
    while read < wanted {
        match rustix::io::pread(fd, &mut piece[read..wanted], start + read as u64) {
            Ok(0) => break,
            Ok(bytes) => read += bytes,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(read)
}

/// Whether it is a plain file.
pub(super) fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn zeros_vanish_random_bytes_stay_and_text_lies_between() {
        let mut compressor = Compressor::new();
        let zeros = compressor.shares(&[0; PIECE]);
        assert!(zeros.unit_share < 0.02 && zeros.zip_share < 0.002, "{zeros:?}");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let noise: Vec<u8> = (0..PIECE).map(|_| random.random()).collect();
        assert_eq!(compressor.shares(&noise), Shares { unit_share: 1.0, zip_share: 1.0 });
        let text = include_str!("content.rs");
        let shares = compressor.shares(&text.as_bytes()[..5000]);
        // Zip finds more, as it sees more at once.
        assert!(
            0.2 < shares.zip_share && shares.zip_share < shares.unit_share && shares.unit_share < 0.6,
            "{shares:?}"
        );
        assert_eq!(compressor.shares(b"x").unit_share, 1.0);
    }

    #[test]
    fn holes_are_no_data() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(64 << 20).unwrap();
        file.write_all_at(&[7; 256 << 10], 8 << 20).unwrap();
        file.write_all_at(&[9; 256 << 10], 32 << 20).unwrap();
        let (fd, stat) = open(&path, OFlags::empty()).unwrap();
        let ranges = data(&fd, stat.st_size as u64);
        assert!(is_file(&stat));
        if ranges.len() == 1 {
            eprintln!("this file system does not say where holes are, so this test shows nothing");
            return;
        }
        assert_eq!(ranges, [8 << 20..(8 << 20) + (256 << 10), 32 << 20..(32 << 20) + (256 << 10)]);
        let mut piece = [0; PIECE];
        for (share, byte) in [(0.0, 7), (0.49, 7), (0.51, 9), (0.999, 9)] {
            assert_eq!(read_piece(&fd, &ranges, share, &mut piece).unwrap(), PIECE, "{share}");
            assert!(piece.iter().all(|found| *found == byte), "{share}");
        }
        assert_eq!(read_piece(&fd, &[], 0.5, &mut piece).unwrap(), 0);
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
        assert_eq!(open(&link, OFlags::empty()).err(), Some(Errno::LOOP));
    }
}
