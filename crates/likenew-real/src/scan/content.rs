//! How far pieces of files compress, with zip and in a drive that compresses data; and what kind of thing a file holds.

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use flate2::{Compress, Compression, FlushCompress, Status};
use rustix::fs::{Advice, FileType, Mode, OFlags, SeekFrom, Stat, fadvise, fstat, openat, seek};
use rustix::io::Errno;
use strum::{IntoStaticStr, VariantArray};

use crate::medium::read_fully;

/// Bytes of a piece: twice what zip looks back over.
pub(super) const PIECE: usize = 64 << 10;
/// Bytes that a drive compresses on its own: its mapping unit.
const UNIT: usize = 4096;

/// How far a piece compresses, each as compressed length over length, `0 ..= 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Every 4 KiB compressed alone, with zstd at level 1.
    pub unit_share: f64,
    /// The whole piece of 64 KiB compressed, with DEFLATE as zip uses it.
    pub zip_share: f64,
}

/// Compresses pieces, with the memory for that.
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

    /// A piece that does not become shorter is stored as it is, so that no share exceeds 1.
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
        // Only the owner of a file may ask for that flag.
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

/// Reads the piece around a place in a file, which is given as a share of the file's data. Returns the
/// piece's length, or nothing if the file has become shorter.
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
    // Reading ahead of the piece would be in vain; it does no harm if the system does not take this advice.
    let _ = fadvise(fd, 0, None, Advice::Random);
    read_fully(fd, &mut piece[..wanted], start)
}

/// Whether a file is a regular one.
pub(super) fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

// Kinds of files: by the end of a file's name, or by its first bytes if the name does not say.

/// Kinds of files, no finer than this: what matters is how far a kind compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Group {
    /// Photographs and drawings.
    Pictures,
    /// Music and other sound.
    Music,
    /// Films.
    Video,
    /// Archives, packages and other compressed files.
    Archives,
    /// Texts with layout, spreadsheets and slides, e-books.
    Documents,
    /// Programs and libraries.
    #[strum(serialize = "programs and libraries")]
    Programs,
    /// Databases, images of disks and of virtual machines.
    #[strum(serialize = "databases and disk images")]
    Databases,
    /// Source code, logs, markup, tables as text.
    #[strum(serialize = "source and text")]
    Text,
    /// Everything else.
    #[strum(serialize = "other files")]
    Other,
}

impl Group {
    /// All of them, in the order in which they are listed.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The group's name in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The group by the end of a file's name, and by its size if two kinds share an ending; `None` if that does not tell.
    pub(super) fn of_name(name: &[u8], bytes: u64) -> Option<Self> {
        let dot = name.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0)?;
        let ending = std::str::from_utf8(&name[dot + 1..]).ok()?.to_ascii_lowercase();
        if ending == "ts" {
            // TypeScript, or a transport stream: no film is that short, and hardly any source that long.
            return Some(if bytes < 1 << 20 { Self::Text } else { Self::Video });
        }
        let known = ENDINGS.iter().find(|(_, endings)| endings.contains(&&*ending));
        known.map(|(group, _)| *group)
    }

    /// The group by the first bytes of a file.
    pub(super) fn of_content(head: &[u8]) -> Self {
        let Some(kind) = infer::get(head) else {
            return if is_text(head) { Self::Text } else { Self::Other };
        };
        match (kind.mime_type(), kind.matcher_type()) {
            ("application/pdf" | "application/postscript" | "application/rtf", _) => Self::Documents,
            ("application/vnd.sqlite3" | "application/x-qemu-disk", _) => Self::Databases,
            ("application/x-x509-ca-cert", _) => Self::Text,
            (_, infer::MatcherType::Image) => Self::Pictures,
            (_, infer::MatcherType::Audio) => Self::Music,
            (_, infer::MatcherType::Video) => Self::Video,
            (_, infer::MatcherType::Archive) => Self::Archives,
            (_, infer::MatcherType::Doc | infer::MatcherType::Book) => Self::Documents,
            (_, infer::MatcherType::App) => Self::Programs,
            (_, infer::MatcherType::Text) => Self::Text,
            (_, infer::MatcherType::Font | infer::MatcherType::Custom) => Self::Other,
        }
    }
}

/// How many first bytes of a file are examined.
pub(super) const HEAD: usize = 4096;

// rustfmt would give each ending a line.
#[rustfmt::skip]
const TEXT_ENDINGS: [&str; 104] = [
    "txt", "md", "rst", "log", "csv", "tsv", "json", "jsonl", "ndjson", "xml", "html", "htm", "xhtml",
    "css", "scss", "sass", "less", "js", "mjs", "cjs", "jsx", "tsx", "map", "c", "h", "cc", "cpp", "cxx",
    "hh", "hpp", "hxx", "rs", "go", "py", "pyi", "java", "kt", "kts", "scala", "rb", "php", "pl", "pm",
    "sh", "bash", "zsh", "fish", "lua", "swift", "m", "mm", "cs", "fs", "vb", "hs", "ml", "mli", "erl",
    "ex", "exs", "clj", "el", "lisp", "r", "jl", "sql", "toml", "yaml", "yml", "ini", "cfg", "conf",
    "properties", "tex", "bib", "sty", "cls", "srt", "vtt", "sub", "patch", "diff", "cmake", "mk", "make",
    "in", "am", "ac", "m4", "po", "pot", "svg", "ps1", "bat", "cmd", "proto", "thrift", "gradle", "lock",
    "ipynb", "vue", "svelte", "desktop", "service",
];

const ENDINGS: [(Group, &[&str]); 8] = [
    (
        Group::Pictures,
        &[
            "jpg", "jpeg", "jpe", "jxl", "png", "gif", "bmp", "tif", "tiff", "webp", "heic", "heif", "avif",
            "jp2", "svgz", "ico", "psd", "xcf", "kra", "raw", "cr2", "cr3", "crw", "nef", "nrw", "arw",
            "sr2", "dng", "orf", "rw2", "raf", "pef", "srw", "x3f", "exr", "hdr", "tga",
        ],
    ),
    (
        Group::Music,
        &[
            "mp3", "m4a", "aac", "ogg", "oga", "opus", "flac", "wav", "aif", "aiff", "wma", "ape", "wv",
            "mka", "mid", "midi", "alac", "dsf", "amr", "caf",
        ],
    ),
    (
        Group::Video,
        &[
            "mp4", "m4v", "mkv", "webm", "avi", "mov", "mpg", "mpeg", "mpe", "m2ts", "mts", "wmv", "flv",
            "vob", "ogv", "3gp", "3g2", "rm", "rmvb", "asf", "divx",
        ],
    ),
    (
        Group::Archives,
        &[
            "zip", "gz", "tgz", "bz2", "tbz2", "xz", "txz", "zst", "tzst", "lz", "lz4", "lzma", "br", "7z",
            "rar", "tar", "cpio", "cab", "ar", "deb", "rpm", "apk", "jar", "war", "whl", "crate", "egg",
            "snap", "flatpak", "appimage", "dmg", "msi", "xpi", "crx", "z", "arj",
        ],
    ),
    (
        Group::Documents,
        &[
            "pdf", "doc", "docx", "docm", "dot", "dotx", "xls", "xlsx", "xlsm", "xlsb", "ppt", "pptx", "pps",
            "ppsx", "odt", "ods", "odp", "odg", "rtf", "ps", "eps", "djvu", "epub", "mobi", "azw", "azw3",
            "fb2", "pages", "numbers", "key", "vsd", "vsdx", "one", "xps",
        ],
    ),
    (
        Group::Programs,
        &[
            "exe", "dll", "so", "o", "a", "lib", "obj", "ko", "dylib", "sys", "com", "ocx", "drv", "elf",
            "bin", "class", "pyc", "pyo", "wasm", "rlib", "rmeta", "dex", "efi", "node", "mo",
        ],
    ),
    (
        Group::Databases,
        &[
            "db", "sqlite", "sqlite3", "db3", "mdb", "accdb", "frm", "myd", "myi", "ibd", "mdf", "ldf",
            "ndf", "dbf", "edb", "pst", "ost", "vmdk", "vdi", "vhd", "vhdx", "qcow", "qcow2", "img", "iso",
            "hds", "parquet", "feather", "arrow", "h5", "hdf5", "rdb", "ldb", "sst", "wal",
        ],
    ),
    (Group::Text, &TEXT_ENDINGS),
];

/// Whether the bytes are UTF-8 without any that texts have no use for. A character may be cut off at the end.
fn is_text(head: &[u8]) -> bool {
    let whole = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let is_odd = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    whole && !head.is_empty() && !head.iter().any(is_odd)
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
        // zip finds more, as it sees more at once.
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
            assert!(piece.iter().all(|read| *read == byte), "{share}");
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

    #[test]
    fn names_say_what_a_file_is() {
        for (name, group) in [
            ("IMG_0001.JPG", Some(Group::Pictures)),
            ("a.tar.gz", Some(Group::Archives)),
            ("libc.so", Some(Group::Programs)),
            ("libc.so.6", None),
            ("main.rs", Some(Group::Text)),
            (".bashrc", None),
            ("README", None),
            ("no.", None),
            ("", None),
        ] {
            assert_eq!(Group::of_name(name.as_bytes(), 1), group, "{name}");
        }
        assert_eq!(Group::of_name(b"x.\xff\xfe", 1), None);
        assert_eq!(Group::of_name(b"main.ts", 9000), Some(Group::Text));
        assert_eq!(Group::of_name(b"film.ts", 9 << 30), Some(Group::Video));
    }

    #[test]
    fn no_ending_belongs_to_two_groups() {
        let mut endings: Vec<&str> = ENDINGS.iter().flat_map(|(_, endings)| *endings).copied().collect();
        let count = endings.len();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), count);
        assert!(endings.iter().all(|ending| !ending.is_empty()));
    }

    #[test]
    fn first_bytes_say_what_a_name_does_not() {
        for (head, group) in [
            (&b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"[..], Group::Programs),
            (b"%PDF-1.7\n", Group::Documents),
            (b"SQLite format 3\0", Group::Databases),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Group::Pictures),
            (b"PK\x03\x04\x14\0", Group::Archives),
            (b"#!/bin/sh\necho hello\n", Group::Text),
            ("Grüße an alle".as_bytes(), Group::Text),
            ("cut off in a characte\u{fc}".as_bytes().split_last().unwrap().1, Group::Text),
            (b"\0\0\0\0", Group::Other),
            (b"", Group::Other),
        ] {
            assert_eq!(Group::of_content(head), group, "{head:?}");
        }
    }
}
