//! What kind of thing a file holds: by the end of its name, and by its first bytes where the name does not say.

/// Files are grouped no finer than this: what matters is how far their kind compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    Programs,
    /// Databases, images of disks and of virtual machines.
    Databases,
    /// Source code, logs, markup, tables as text.
    Text,
    /// Everything else.
    Other,
}

impl Group {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 9] = [
        Self::Pictures,
        Self::Music,
        Self::Video,
        Self::Archives,
        Self::Documents,
        Self::Programs,
        Self::Databases,
        Self::Text,
        Self::Other,
    ];

    /// As reports call it.
    pub fn name(self) -> &'static str {
        [
            "pictures",
            "music",
            "video",
            "archives",
            "documents",
            "programs and libraries",
            "databases and disk images",
            "source and text",
            "other files",
        ][self as usize]
    }

    /// By the end of a file's name, and its size where two kinds share an ending; `None` where that says nothing.
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

    /// By the first bytes of a file.
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

// rustfmt would give each of them a line.
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

/// Whether it reads as UTF-8 without any byte that texts have no use for. A character may be cut off at the end.
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
    use super::*;

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
        let mut all: Vec<&str> = ENDINGS.iter().flat_map(|(_, endings)| *endings).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(all.iter().all(|ending| !ending.is_empty()));
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
