//! Which formats there are, and which one a file has.

use std::fmt;
use std::str::FromStr;

use crate::formats::alibaba::Alibaba;
use crate::formats::blkparse::Blkparse;
use crate::formats::fiu::Fiu;
use crate::formats::likenew::FIRST_LINE;
use crate::formats::msr::Msr;
use crate::formats::systor::Systor;
use crate::formats::tencent::Tencent;
use crate::formats::tracefs::Tracefs;
use crate::formats::{Parse, fiu, msr};
use crate::intake::Intake;
use crate::volumes::{Spelling, Volumes};

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The project's format.
    Likenew,
    /// fio's iolog, version 2 or 3.
    Iolog,
    /// What blkparse prints by default.
    Blkparse,
    /// Text of Linux's tracefs.
    Tracefs,
    /// MSR Cambridge.
    Msr,
    /// SYSTOR '17.
    Systor,
    /// Alibaba's block traces of 2020.
    Alibaba,
    /// Tencent's cloud block storage of 2018.
    Tencent,
    /// Florida International University.
    Fiu,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 9] = [
        Self::Likenew,
        Self::Iolog,
        Self::Blkparse,
        Self::Tracefs,
        Self::Msr,
        Self::Systor,
        Self::Alibaba,
        Self::Tencent,
        Self::Fiu,
    ];

    /// Its name for `--format`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Likenew => "likenew",
            Self::Iolog => "iolog",
            Self::Blkparse => "blkparse",
            Self::Tracefs => "tracefs",
            Self::Msr => "msr",
            Self::Systor => "systor",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
            Self::Fiu => "fiu",
        }
    }

    /// The format of a file that begins so.
    ///
    /// # Errors
    /// What the file looks like, and what to do.
    pub(crate) fn detect(ahead: &[u8]) -> Result<Self, String> {
        if ahead.is_empty() {
            return Err("is empty".to_owned());
        }
        if let Some(known) = by_first_bytes(ahead) {
            return known;
        }
        let mut lines = ahead.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        let line = lines.find(|line| !line.is_empty() && !is_comment(line)).unwrap_or_default();
        by_header(line).or_else(|| by_line(line)).ok_or_else(|| {
            let shown = line[..line.len().min(60)].escape_ascii();
            format!(
                "has an unknown trace format (it begins with \"{shown}\"); name it with --format: {}",
                names()
            )
        })
    }

    /// How the format spells the names of its volumes.
    pub(crate) fn volumes(self) -> Spelling {
        match self {
            Self::Msr => msr::VOLUME,
            Self::Fiu => fiu::VOLUME,
            _ => Spelling::PLAIN,
        }
    }
}

fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

/// The format, where the first bytes alone decide it; or why the file is in none.
fn by_first_bytes(ahead: &[u8]) -> Option<Result<Format, String>> {
    let remedy = |what: &str, remedy: &str| Some(Err(format!("is {what}: {remedy}")));
    match ahead {
        _ if ahead.starts_with(FIRST_LINE.as_bytes()) => Some(Ok(Format::Likenew)),
        _ if ahead.starts_with(b"# likenew trace") => {
            remedy("a trace of another version of likenew", "this one reads \"# likenew trace 1\"")
        }
        _ if ahead.starts_with(b"fio version") => Some(Ok(Format::Iolog)),
        _ if ahead.starts_with(b"# tracer: ") => Some(Ok(Format::Tracefs)),
        [_, b't', b'a', b'e', ..] | [b'e', b'a', b't', _, ..] => {
            remedy("blktrace's binary output", "\"blkparse -i FILE\" makes text of it")
        }
        [0x17, 0x08, 0x44, ..] => {
            remedy("trace-cmd's binary output", "\"trace-cmd report\" makes text of it")
        }
        [b'P', b'K', 3, 4, ..] | [0xfd, b'7', b'z', b'X', b'Z', ..] | [b'B', b'Z', b'h', ..] => {
            remedy("packed with zip, xz or bzip2", "unpack it; gzip and Zstandard can be read as they are")
        }
        _ if ahead.get(257..262) == Some(b"ustar") => remedy("a tar archive", "unpack it first"),
        _ if ahead[..ahead.len().min(4096)].contains(&0) => {
            remedy("no text", "all formats of traces are text")
        }
        _ => None,
    }
}

fn is_comment(line: &[u8]) -> bool {
    line[0] == b'#' || line.starts_with(b"cpus=") || line.starts_with(b"CPU:")
}

/// By the names of the columns.
fn by_header(line: &[u8]) -> Option<Format> {
    let line = line.to_ascii_lowercase();
    let headers: [(&[u8], Format); 4] = [
        (b"timestamp,response,", Format::Systor),
        (b"timestamp,hostname,", Format::Msr),
        (b"timestamp,offset,", Format::Tencent),
        (b"device_id,opcode,", Format::Alibaba),
    ];
    headers.into_iter().find(|(header, _)| line.starts_with(header)).map(|(_, format)| format)
}

/// By the one format whose record this line can be.
fn by_line(line: &[u8]) -> Option<Format> {
    let candidates: [(Box<dyn Parse>, Format); 7] = [
        (Box::new(Msr::default()), Format::Msr),
        (Box::new(Systor), Format::Systor),
        (Box::new(Alibaba::default()), Format::Alibaba),
        (Box::new(Tencent::default()), Format::Tencent),
        (Box::new(Fiu), Format::Fiu),
        (Box::new(Blkparse::new(line)), Format::Blkparse),
        (Box::new(Tracefs), Format::Tracefs),
    ];
    let reads = |mut parser: Box<dyn Parse>| {
        let mut intake = Intake::new(Volumes::new(None, Spelling::PLAIN));
        !line.is_empty() && parser.line(line, &mut intake).is_ok()
    };
    candidates.into_iter().find_map(|(parser, format)| reads(parser).then_some(format))
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|format| format.name() == text);
        known.ok_or_else(|| format!("there is no format \"{text}\"; there are {}", names()))
    }
}
