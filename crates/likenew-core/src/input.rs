//! Reads files that users name or can change, whole and into bounded memory.
//!
//! [`read`], [`read_text`], [`read_stream`] and [`next_line`] read all such files. They refuse a folder,
//! device or named pipe before opening it, and a file too large for its kind before reading it. Traces are
//! read as streams, with limits of their own.

use std::fs::{self, File, FileType};
use std::io::{self, BufRead, Read};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use crate::target_error::system_reason;
use crate::units::amount;

/// A kind of file, and how large one can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    /// Its name in messages, with its article.
    pub name: &'static str,
    /// Most bytes; larger files are refused.
    pub bytes_max: u64,
}

/// A plan: those of commands have some kilobytes. A parser may need 100 times a file's size in memory.
pub const PLAN: FileKind = FileKind { name: "a plan", bytes_max: 4 << 20 };
/// The file of a simulated drive: the largest in the catalog has 5 KB.
pub const DRIVE: FileKind = FileKind { name: "a drive's file", bytes_max: 1 << 20 };
/// A saved simulated drive: for 1 TB, two maps of 244 million pages at 8 bytes each are 4 GiB.
pub const SNAPSHOT: FileKind = FileKind { name: "a saved drive", bytes_max: 8 << 30 };
/// The file of an application: the largest in the library has 2 KB.
pub const APPLICATION: FileKind = FileKind { name: "an application's file", bytes_max: 1 << 20 };
/// Output of fio: a job with all bins of its histograms takes some 100 KB.
pub const FIO_RESULT: FileKind = FileKind { name: "a result of fio", bytes_max: 64 << 20 };
/// Output of a program: a kernel's log has some megabytes.
pub const OUTPUT: FileKind = FileKind { name: "a program's output", bytes_max: 64 << 20 };
/// The label that a server writes beside an image: three lines.
pub const LABEL: FileKind = FileKind { name: "an image's label", bytes_max: 64 << 10 };
/// A secret of a server: one line, and no more is read.
pub const SECRET: FileKind = FileKind { name: "a file with a secret", bytes_max: 4 << 10 };
/// What was measured on which machine: some kilobytes.
pub const MACHINE: FileKind = FileKind { name: "a machine's record", bytes_max: 4 << 20 };
/// What a run concluded: tables and curves.
pub const FINDINGS: FileKind = FileKind { name: "a file of findings", bytes_max: 64 << 20 };
/// Device types of drives behind controllers and bridges: 100 bytes each.
pub const DEVICE_TYPES: FileKind = FileKind { name: "a file of types", bytes_max: 1 << 20 };
/// A line of a run: the 65,536 samples that a workload can keep, at some 100 bytes each, are 7 MB.
pub const RECORD: FileKind = FileKind { name: "a line of a run", bytes_max: 64 << 20 };
/// All lines of a run: at most 20,000 workloads (no longer plan is started) of 40 KB each. Parsed, they take
/// a few times as much memory.
pub const RECORDS: FileKind = FileKind { name: "a file of a run", bytes_max: 1 << 30 };
/// The notes of a watch, read one after the other. A reading of ten drives takes 2 KB.
pub const NOTES: FileKind = FileKind { name: "a file of notes", bytes_max: 4 << 30 };
/// What a run notes about itself while it is under way: three lines.
pub const LIVE_NOTE: FileKind = FileKind { name: "a note of a run", bytes_max: 64 << 10 };
/// The log of a run, read line by line.
pub const LOG: FileKind = FileKind { name: "a log", bytes_max: u64::MAX };
/// Most lines of a run: the workloads at which a dry run ends, as many probes and interruptions again, and
/// room to spare.
pub const RECORD_LINES_MAX: usize = 50_000;

/// A trace, read as a stream.
pub const TRACE: FileKind = FileKind { name: "a trace", bytes_max: u64::MAX };
/// A file of samples, read in groups.
pub const SAMPLES: FileKind = FileKind { name: "a file of samples", bytes_max: u64::MAX };

/// Why a file was not read. The message does not name the file, which the caller knows.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// Something other than an ordinary file is there.
    #[error("it is {actual}, and {} is an ordinary file", kind.name)]
    NotAFile {
        /// What is there.
        actual: &'static str,
        /// What was expected.
        kind: FileKind,
    },
    /// The file is larger than its kind can be.
    #[error("it is larger than {}, and {} never is", amount(kind.bytes_max), kind.name)]
    TooLarge {
        /// What was expected.
        kind: FileKind,
    },
    /// The file is not text.
    #[error("it is not text (line {line})")]
    NotText {
        /// The line with the first byte that is not UTF-8, from 1.
        line: usize,
    },
    /// The system refused.
    #[error("{}", system_reason(.0))]
    System(#[from] io::Error),
}

impl InputError {
    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::System(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
    }
}

impl From<InputError> for io::Error {
    fn from(error: InputError) -> Self {
        match error {
            InputError::System(error) => error,
            other => Self::new(io::ErrorKind::InvalidInput, other),
        }
    }
}

/// Where the shell puts what it has opened: `<(smartctl -x /dev/sda)` is `/dev/fd/63`.
const INHERITED: [&str; 3] = ["/dev/fd", "/dev/stdin", "/proc/self/fd"];

/// Opens an ordinary file, or a pipe that the shell has opened. Anything else is refused: opening a named
/// pipe would block, and opening a device may do something.
///
/// # Errors
/// The path is something else, or the system refuses.
pub fn open(path: &Path, kind: FileKind) -> Result<File, InputError> {
    let is_inherited = INHERITED.iter().any(|folder| path.starts_with(folder));
    let check = |actual: FileType| {
        if is_inherited && actual.is_fifo() { Ok(()) } else { check_type(actual, kind) }
    };
    check(fs::metadata(path)?.file_type())?;
    let file = File::open(path)?;
    check(file.metadata()?.file_type())?;
    Ok(file)
}

/// Checks that an open file is an ordinary file.
///
/// # Errors
/// It is something else, or the system refuses.
pub fn check(file: &File, kind: FileKind) -> Result<(), InputError> {
    check_type(file.metadata()?.file_type(), kind)
}

/// Reads a file whole.
///
/// # Errors
/// It is not an ordinary file, or larger than its kind can be, or the system refuses.
pub fn read(path: &Path, kind: FileKind) -> Result<Vec<u8>, InputError> {
    read_file(open(path, kind)?, kind)
}

/// Reads an open file whole.
///
/// # Errors
/// It is larger than its kind can be, or the system refuses.
pub fn read_file(file: File, kind: FileKind) -> Result<Vec<u8>, InputError> {
    if file.metadata()?.len() > kind.bytes_max {
        return Err(InputError::TooLarge { kind });
    }
    read_stream(file, kind)
}

/// Reads a file of text whole.
///
/// # Errors
/// As for [`read`], or the file is not text.
pub fn read_text(path: &Path, kind: FileKind) -> Result<String, InputError> {
    text(read(path, kind)?)
}

/// Reads a stream, such as standard input, to its end.
///
/// # Errors
/// It is longer than its kind can be, or the system refuses.
pub fn read_stream(stream: impl Read, kind: FileKind) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    // A file can grow while it is read, and some files in /proc report no size.
    stream.take(kind.bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > kind.bytes_max { Err(InputError::TooLarge { kind }) } else { Ok(bytes) }
}

/// A parser's message on one line: it may quote names that contain line breaks.
pub fn one_line(message: &str) -> String {
    message.replace(['\n', '\r'], "\u{fffd}")
}

/// Bytes as text.
///
/// # Errors
/// They are not UTF-8.
pub fn text(bytes: Vec<u8>) -> Result<String, InputError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        InputError::NotText { line: 1 + good.iter().filter(|byte| **byte == b'\n').count() }
    })
}

/// Reads the next line into `line`, including its end, and returns its length in bytes; 0 at the end of the stream.
///
/// # Errors
/// It is longer than its kind can be, or the system refuses.
pub fn next_line(stream: &mut impl BufRead, line: &mut Vec<u8>, kind: FileKind) -> Result<usize, InputError> {
    line.clear();
    let length = stream.take(kind.bytes_max.saturating_add(1)).read_until(b'\n', line)?;
    if length as u64 > kind.bytes_max { Err(InputError::TooLarge { kind }) } else { Ok(length) }
}

fn check_type(actual: FileType, kind: FileKind) -> Result<(), InputError> {
    if actual.is_file() {
        return Ok(());
    }
    let names = [
        (actual.is_dir(), "a folder"),
        (actual.is_fifo(), "a pipe"),
        (actual.is_char_device() || actual.is_block_device(), "a device"),
        (actual.is_socket(), "a socket"),
        (actual.is_symlink(), "a link"),
    ];
    let actual = names.into_iter().find(|(is_it, _)| *is_it).map_or("something else", |(_, name)| name);
    Err(InputError::NotAFile { actual, kind })
}

/// Least Jaro-Winkler similarity of a name that is suggested. Chosen: typing errors are above, other words
/// below; clap uses the same for options.
pub const SIMILARITY_MIN: f64 = 0.7;

/// The known name most similar to what was typed, if one is similar enough.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(typed, name), name))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: FileKind = FileKind { name: "a plan", bytes_max: 10 };

    #[test]
    fn only_ordinary_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, kind) in
            [(Path::new("/dev/zero"), "a device"), (folder.path(), "a folder"), (&socket, "a socket")]
        {
            let error = read(path, SMALL).unwrap_err().to_string();
            assert_eq!(error, format!("it is {kind}, and a plan is an ordinary file"));
        }
        assert!(read(&folder.path().join("none"), SMALL).unwrap_err().is_missing());
    }

    #[test]
    fn a_pipe_is_read_where_the_shell_has_opened_it() {
        let (reader, mut writer) = io::pipe().unwrap();
        io::Write::write_all(&mut writer, b"a plan").unwrap();
        drop(writer);
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&reader);
        assert_eq!(read_text(Path::new(&format!("/dev/fd/{descriptor}")), SMALL).unwrap(), "a plan");
        let named =
            read(Path::new(&format!("/proc/{}/fd/{descriptor}", std::process::id())), SMALL).unwrap_err();
        assert_eq!(named.to_string(), "it is a pipe, and a plan is an ordinary file");
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // 1 PiB of holes: reading it would end this test another way.
        for (length, fits) in [(0, true), (10, true), (11, false), (1 << 50, false)] {
            if file.as_file().set_len(length).is_err() {
                continue;
            }
            assert_eq!(read(file.path(), SMALL).is_ok(), fits, "{length}");
        }
        let error = read_stream(io::repeat(0), SMALL).unwrap_err().to_string();
        assert_eq!(error, "it is larger than 10 B, and a plan never is");
    }

    #[test]
    fn text_and_lines_are_bounded() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"a\nb\xff").unwrap();
        assert_eq!(read_text(file.path(), SMALL).unwrap_err().to_string(), "it is not text (line 2)");
        let (mut stream, mut line) = (&b"123456789\nx"[..], Vec::new());
        assert_eq!(next_line(&mut stream, &mut line, SMALL).unwrap(), 10);
        assert_eq!((next_line(&mut stream, &mut line, SMALL).unwrap(), &line[..]), (1, &b"x"[..]));
        assert_eq!(next_line(&mut stream, &mut line, SMALL).unwrap(), 0);
        let mut endless = io::BufReader::new(io::repeat(0));
        assert!(matches!(next_line(&mut endless, &mut line, SMALL), Err(InputError::TooLarge { .. })));
        assert_eq!(line.len(), 11);
    }

    #[test]
    fn the_most_similar_name_is_suggested_and_no_other() {
        let names = ["bench", "check", "cache"];
        assert_eq!(nearest("benhc", names), Some("bench"));
        assert_eq!(nearest("chekc", names), Some("check"));
        assert_eq!(nearest("xyz", names), None);
    }
}
