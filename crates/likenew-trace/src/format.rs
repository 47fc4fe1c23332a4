//! Which formats there are, and which one a file has.

use std::fmt;
use std::str::FromStr;

use crate::error::TraceError;
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
use crate::wording;

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

    /// The format of a file of this name that begins so.
    ///
    /// # Errors
    /// What the file looks like, and what to do.
    pub(crate) fn detect(file: &str, ahead: &[u8]) -> Result<Self, TraceError> {
        if ahead.is_empty() {
            return Err(TraceError::Empty { file: file.to_owned() });
        }
        if let Some(known) = by_first_bytes(file, ahead) {
            return known;
        }
        let mut lines = ahead.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        let line = lines.find(|line| !line.is_empty() && !is_comment(line)).unwrap_or_default();
        by_header(line).or_else(|| by_line(line)).ok_or_else(|| TraceError::UnknownFormat {
            file: file.to_owned(),
            start: line[..line.len().min(60)].escape_ascii().to_string(),
            formats: names(),
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
fn by_first_bytes(file: &str, ahead: &[u8]) -> Option<Result<Format, TraceError>> {
    let file = file.to_owned();
    match ahead {
        _ if ahead.starts_with(FIRST_LINE.as_bytes()) => Some(Ok(Format::Likenew)),
        _ if ahead.starts_with(b"# likenew trace") => {
            Some(Err(TraceError::OtherVersion { file, first_line: FIRST_LINE }))
        }
        _ if ahead.starts_with(b"fio version") => Some(Ok(Format::Iolog)),
        _ if ahead.starts_with(b"# tracer: ") => Some(Ok(Format::Tracefs)),
        [_, b't', b'a', b'e', ..] | [b'e', b'a', b't', _, ..] => {
            Some(Err(TraceError::BlktraceBinary { file }))
        }
        [0x17, 0x08, 0x44, ..] => Some(Err(TraceError::TraceCmdBinary { file })),
        _ if ahead.starts_with(b"PERFILE2") => Some(Err(TraceError::PerfBinary { file })),
        [b'P', b'K', 3, 4, ..] | [0xfd, b'7', b'z', b'X', b'Z', ..] | [b'B', b'Z', b'h', ..] => {
            Some(Err(TraceError::Packed { file }))
        }
        _ if ahead.get(257..262) == Some(b"ustar") => Some(Err(TraceError::TarArchive { file })),
        _ if ahead[..ahead.len().min(4096)].contains(&0) => Some(Err(TraceError::NotText { file })),
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
        known.ok_or_else(|| wording::no_such_format(text, &names()))
    }
}
