//! Lists the trace formats and detects which one a file has. Each format is one file here, which exports it as `FORMAT`,
//! and one line of [`FORMATS`].

mod alibaba;
mod biosnoop;
mod blkparse;
mod blktrace;
mod block_layer;
mod fiu;
mod iolog;
pub(crate) mod likenew;
mod msr;
mod spc;
mod systor;
mod tencent;
mod tracefs;

use std::fmt;
use std::str::FromStr;

use likenew_core::io::Op;

use crate::error::{FileProblem, LineError};
use crate::intake::{Intake, LATENESS, Separators, Volumes};
use crate::lines::Framing;
use crate::wording;

pub use iolog::{IologVersion, IologWriter};
pub use likenew::{TraceHead, TraceWriter};

/// Bytes of a sector, the unit in Linux's block layer and in several formats.
const SECTOR: u64 = 512;

/// Letters of the operations in several formats.
const READ_OR_WRITE: [(&str, Op); 2] = [("R", Op::Read), ("W", Op::Write)];

/// Every format.
pub static FORMATS: [&Format; 12] = [
    &likenew::FORMAT,
    &iolog::FORMAT,
    &blkparse::FORMAT,
    &blktrace::FORMAT,
    &tracefs::FORMAT,
    &biosnoop::FORMAT,
    &msr::FORMAT,
    &systor::FORMAT,
    &alibaba::FORMAT,
    &tencent::FORMAT,
    &fiu::FORMAT,
    &spc::FORMAT,
];

/// A format of traces.
pub struct Format {
    /// Its name for `--format`.
    pub name: &'static str,
    /// Bytes with which a file of this format, and no other, begins; empty if there are none.
    magics: &'static [&'static [u8]],
    /// What to do about a file that begins with these bytes, if it is like this format and cannot be read.
    problem: fn(&[u8]) -> Option<FileProblem>,
    /// How a line with names of columns begins, in lower case; empty if the format has no such line. The line may be
    /// missing in a file.
    pub(crate) header: &'static str,
    /// How the format spells names of volumes.
    pub(crate) separators: Separators,
    /// Whether files consist of lines or of records.
    pub(crate) framing: Framing,
    /// By how many records a record may be late.
    pub(crate) lateness: usize,
    /// Makes a parser for the format's lines.
    pub(crate) parser: fn() -> Box<dyn Parse>,
}

impl Format {
    const fn new(name: &'static str, parser: fn() -> Box<dyn Parse>) -> Self {
        let (separators, framing, lateness) = (Separators::PLAIN, Framing::Lines, LATENESS);
        Self { name, magics: &[], problem: |_| None, header: "", separators, framing, lateness, parser }
    }

    /// Detects the format from the first bytes of a file.
    ///
    /// # Errors
    /// The kind of file, where it is known, and what to do about it.
    pub(crate) fn detect(ahead: &[u8]) -> Result<&'static Self, FileProblem> {
        if ahead.is_empty() {
            return Err(FileProblem::Empty);
        }
        let begins = |format: &&&Self| format.magics.iter().any(|magic| ahead.starts_with(magic));
        if let Some(format) = FORMATS.iter().find(begins) {
            return Ok(format);
        }
        let of_format = FORMATS.iter().find_map(|format| (format.problem)(ahead));
        if let Some(problem) = of_format.or_else(|| known_problem(ahead)) {
            return Err(problem);
        }
        let line = first_line(ahead);
        let lower = line.to_ascii_lowercase();
        let has_header =
            |format: &&&Self| !format.header.is_empty() && lower.starts_with(format.header.as_bytes());
        let by_header = FORMATS.iter().find(has_header);
        let found = by_header.or_else(|| FORMATS.iter().find(|format| format.reads(line)));
        found.copied().ok_or_else(|| match line {
            _ if is_iostat(ahead) => FileProblem::Iostat,
            _ if is_system_call(line) => FileProblem::Strace,
            _ => FileProblem::UnknownFormat {
                start: line[..line.len().min(60)].escape_ascii().to_string(),
                formats: format_names(),
            },
        })
    }

    /// Whether this line can be the format's first one.
    fn reads(&self, line: &[u8]) -> bool {
        let mut intake = Intake::new(Volumes::new(None, Separators::PLAIN), LATENESS);
        let mut parser = (self.parser)();
        parser.begin(line, &mut intake);
        let names_columns = !self.header.is_empty() && is_header(line);
        !line.is_empty() && (names_columns || parser.line(line, &mut intake).is_ok())
    }
}

/// Parses the lines or records of one format.
pub(crate) trait Parse: Send {
    /// Receives the first bytes of the file, before any line.
    fn begin(&mut self, _ahead: &[u8], _intake: &mut Intake) {}

    /// Whether a last line that is cut off only gives a note, because a killed recorder leaves one.
    fn forgives_torn_end(&self) -> bool {
        false
    }

    /// Takes one line without its line end; never an empty one.
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError>;

    /// Is called at the end of the file.
    fn end(&mut self, _intake: &mut Intake) -> Result<(), LineError> {
        Ok(())
    }

    /// The trace's header, if the format has one.
    fn head(&self) -> Option<&TraceHead> {
        None
    }
}

/// For formats in which no line depends on another.
impl<F: FnMut(&[u8], &mut Intake) -> Result<(), LineError> + Send> Parse for F {
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        self(line, intake)
    }
}

/// Whether a line of CSV names its columns.
pub(crate) fn is_header(line: &[u8]) -> bool {
    line.len() > 9 && (line[..9].eq_ignore_ascii_case(b"timestamp") || line.starts_with(b"device_id,"))
}

/// The first line that is not a comment, without its line end; empty if there is none.
fn first_line(ahead: &[u8]) -> &[u8] {
    let mut lines = ahead.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.find(|line| !line.is_empty() && !is_comment(line)).unwrap_or_default()
}

fn is_comment(line: &[u8]) -> bool {
    line[0] == b'#' || line.starts_with(b"cpus=") || line.starts_with(b"CPU:") || line.starts_with(b"Attach")
}

/// Whether the first lines contain the head of an iostat table: `Device r/s …`, or `Device:` in older versions.
fn is_iostat(ahead: &[u8]) -> bool {
    let is_head = |line: &[u8]| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.next().is_some_and(|word| [&b"Device"[..], b"Device:"].contains(&word))
            && words.next().is_some_and(|word| word.ends_with(b"/s") || word == b"tps")
    };
    ahead.split(|byte| *byte == b'\n').take(20).any(is_head)
}

/// Whether strace printed the line: `openat(AT_FDCWD, "x", O_RDONLY) = 3`, possibly after a process and a time.
fn is_system_call(line: &[u8]) -> bool {
    let Some(open) = line.iter().position(|byte| *byte == b'(') else { return false };
    let (before, call) = line.split_at(open);
    let name = before.rsplit(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    let has_ended = |end: &[u8]| call.windows(end.len()).any(|window| window == end);
    name.first().is_some_and(u8::is_ascii_lowercase)
        && name.iter().all(is_name)
        && (has_ended(b") = ") || has_ended(b")  ") || has_ended(b"<unfinished ..."))
}

/// Names of all formats for `--format`.
pub fn format_names() -> String {
    FORMATS.map(|format| format.name).join(", ")
}

/// What the first bytes of a file show it to be, if that is no trace.
fn known_problem(ahead: &[u8]) -> Option<FileProblem> {
    Some(match ahead {
        [0x17, 0x08, 0x44, ..] => FileProblem::TraceCmdBinary,
        _ if ahead.starts_with(b"PERFILE2") => FileProblem::PerfBinary,
        [b'P', b'K', 3, 4, ..] | [0xfd, b'7', b'z', b'X', b'Z', ..] | [b'B', b'Z', b'h', ..] => {
            FileProblem::Packed
        }
        _ if ahead.get(257..262) == Some(b"ustar") => FileProblem::TarArchive,
        _ if ahead[..ahead.len().min(4096)].contains(&0) => FileProblem::NotText,
        _ => return None,
    })
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl FromStr for &'static Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = FORMATS.iter().find(|format| format.name == text);
        known.copied().ok_or_else(|| wording::no_such_format(text, &format_names()))
    }
}
