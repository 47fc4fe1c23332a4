//! Which formats there are, which one a file has, and what its lines mean: one file for a format or a group of them.

mod biosnoop;
mod blkparse;
mod blktrace;
mod block_layer;
mod iolog;
pub(crate) mod likenew;
mod published;
mod tracefs;

use std::fmt;
use std::str::FromStr;

use crate::error::{LineError, TraceError};
use crate::intake::{Intake, LATENESS, Separators, Volumes};
use crate::lines::Framing;
use crate::wording;

pub use iolog::{IologVersion, IologWriter};
pub use likenew::{TraceHead, TraceWriter};

use likenew::FIRST_LINE;

/// Bytes of a sector, the unit of Linux's block layer and of several formats.
const SECTOR: u64 = 512;

/// Every format.
pub static FORMATS: [Format; 12] = [
    likenew::FORMAT,
    iolog::FORMAT,
    blkparse::FORMAT,
    blktrace::FORMAT,
    tracefs::FORMAT,
    biosnoop::FORMAT,
    published::MSR,
    published::SYSTOR,
    published::ALIBABA,
    published::TENCENT,
    published::FIU,
    published::SPC,
];

/// A format of traces.
pub struct Format {
    /// Its name for `--format`.
    pub name: &'static str,
    /// Its files alone begin with one of these, where there is such a thing.
    magics: &'static [&'static [u8]],
    /// What a line with the names of the columns begins with, in lower case; empty where there is none. Files
    /// without this line are of the format as well.
    pub(crate) header: &'static str,
    /// How it spells the names of its volumes.
    pub(crate) separators: Separators,
    /// How its files are divided.
    pub(crate) framing: Framing,
    /// How many records late a record may come.
    pub(crate) lateness: usize,
    /// Makes what reads its lines.
    pub(crate) parser: fn() -> Box<dyn Parse>,
}

impl Format {
    const fn new(name: &'static str, parser: fn() -> Box<dyn Parse>) -> Self {
        let (separators, framing, lateness) = (Separators::PLAIN, Framing::Lines, LATENESS);
        Self { name, magics: &[], header: "", separators, framing, lateness, parser }
    }

    /// The format of a file of this name that begins so.
    ///
    /// # Errors
    /// What the file looks like, and what to do.
    pub(crate) fn detect(file: &str, ahead: &[u8]) -> Result<&'static Self, TraceError> {
        if ahead.is_empty() {
            return Err(TraceError::Empty { file: file.to_owned() });
        }
        let begins = |format: &&Self| format.magics.iter().any(|magic| ahead.starts_with(magic));
        if let Some(format) = FORMATS.iter().find(begins) {
            return Ok(format);
        }
        refuse_known(file, ahead)?;
        let mut lines = ahead.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        let line = lines.find(|line| !line.is_empty() && !is_comment(line)).unwrap_or_default();
        let lower = line.to_ascii_lowercase();
        if lower.starts_with(b"time") && lower.ends_with(b" lat(ms)") && !lower.starts_with(b"time(s) ") {
            return Err(TraceError::Biosnoop { file: file.to_owned() });
        }
        let has_header =
            |format: &&Self| !format.header.is_empty() && lower.starts_with(format.header.as_bytes());
        let by_header = FORMATS.iter().find(has_header);
        by_header.or_else(|| FORMATS.iter().find(|format| format.reads(line))).ok_or_else(|| {
            let file = file.to_owned();
            match line {
                _ if is_iostat(ahead) => TraceError::Iostat { file },
                _ if is_system_call(line) => TraceError::Strace { file },
                _ => TraceError::UnknownFormat {
                    file,
                    start: line[..line.len().min(60)].escape_ascii().to_string(),
                    formats: format_names(),
                },
            }
        })
    }

    /// Whether this line can be its first.
    fn reads(&self, line: &[u8]) -> bool {
        let mut intake = Intake::new(Volumes::new(None, Separators::PLAIN), LATENESS);
        let mut parser = (self.parser)();
        parser.begin(line, &mut intake);
        let names_columns = !self.header.is_empty() && is_header(line);
        !line.is_empty() && (names_columns || parser.line(line, &mut intake).is_ok())
    }
}

/// The lines of one format.
pub(crate) trait Parse: Send {
    /// The file begins so.
    fn begin(&mut self, _ahead: &[u8], _intake: &mut Intake) {}

    /// Whether a last line that was cut off is left out with a note, as a recorder that was killed leaves
    /// one.
    fn forgives_torn_end(&self) -> bool {
        false
    }

    /// Takes one line without its end; never an empty one.
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError>;

    /// The file has ended.
    fn end(&mut self, _intake: &mut Intake) -> Result<(), LineError> {
        Ok(())
    }

    /// The trace's header.
    fn head(&self) -> Option<&TraceHead> {
        None
    }
}

/// Whether a line of CSV names its columns.
pub(crate) fn is_header(line: &[u8]) -> bool {
    line.len() > 9 && (line[..9].eq_ignore_ascii_case(b"timestamp") || line.starts_with(b"device_id,"))
}

fn is_comment(line: &[u8]) -> bool {
    line[0] == b'#' || line.starts_with(b"cpus=") || line.starts_with(b"CPU:") || line.starts_with(b"Attach")
}

/// Whether there is a head of iostat's tables among the first lines: `Device r/s …`, in older versions `Device:`.
fn is_iostat(ahead: &[u8]) -> bool {
    let is_head = |line: &[u8]| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.next().is_some_and(|word| [&b"Device"[..], b"Device:"].contains(&word))
            && words.next().is_some_and(|word| word.ends_with(b"/s") || word == b"tps")
    };
    ahead.split(|byte| *byte == b'\n').take(20).any(is_head)
}

/// Whether strace printed a line: `openat(AT_FDCWD, "x", O_RDONLY) = 3`, after a process and a time, if it was asked for them.
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

/// Their names for `--format`.
pub fn format_names() -> String {
    FORMATS.each_ref().map(|format| format.name).join(", ")
}

/// Says of a file that is in no format what it is, where its first bytes show that.
fn refuse_known(file: &str, ahead: &[u8]) -> Result<(), TraceError> {
    let file = file.to_owned();
    Err(match ahead {
        _ if ahead.starts_with(b"# likenew trace") => {
            TraceError::OtherVersion { file, first_line: FIRST_LINE }
        }
        [version, b't', b'a', b'e', ..] | [b'e', b'a', b't', version, ..] => {
            TraceError::BlktraceVersion { file, version: *version, known: blktrace::VERSION }
        }
        [0x17, 0x08, 0x44, ..] => TraceError::TraceCmdBinary { file },
        _ if ahead.starts_with(b"PERFILE2") => TraceError::PerfBinary { file },
        [b'P', b'K', 3, 4, ..] | [0xfd, b'7', b'z', b'X', b'Z', ..] | [b'B', b'Z', b'h', ..] => {
            TraceError::Packed { file }
        }
        _ if ahead.get(257..262) == Some(b"ustar") => TraceError::TarArchive { file },
        _ if ahead[..ahead.len().min(4096)].contains(&0) => TraceError::NotText { file },
        _ => return Ok(()),
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
        known.ok_or_else(|| wording::no_such_format(text, &format_names()))
    }
}
