//! What a value of a drive's file or a setting of a target takes.

use std::fmt;

/// What comes after "it takes".
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Domain {
    // Numbers
    Whole {
        least: u64,
        most: u64,
    },
    Number {
        least: f64,
        most: f64,
    },
    Share {
        least: f64,
        most: f64,
        example: f64,
    },
    ShareAboveZero {
        most: f64,
    },
    PowerOfTwo,
    /// No more than another value of the file.
    AtMost {
        key: &'static str,
        value: u64,
    },
    LessThan {
        key: &'static str,
    },
    MultipleOf {
        key: &'static str,
        value: u64,
    },
    SectorsBelowCapacity {
        sector_bytes: u32,
        capacity_bytes: u64,
    },
    /// No more than the drive has.
    SectorsWithinDrive {
        sector_bytes: u32,
    },
    /// A multiple of the rows that a page of the map spans.
    MultipleOfRows {
        rows: u32,
    },
    DivisorOf {
        key: &'static str,
        value: u32,
    },
    Times {
        most: u64,
        key: &'static str,
        value: u64,
    },
    Sectors {
        most: u32,
        sector_bytes: u32,
    },
    /// Bytes of a chip's page, for a page of the map.
    ChipPage {
        map_page: u32,
        row: u32,
    },
    Bytes {
        least: u64,
        most: u64,
    },

    // Words and texts
    Truth,
    OnOff,
    Words(Vec<String>),
    Line,
    TextSuchAs(String),
    Ranges {
        capacity_bytes: u64,
    },

    // Settings of a target
    Memory,
    LinkStandard,
    Encryption,
    Wake,
    Commands,
    Stalls,
    ReadRate,
}

impl Domain {
    /// One of some words.
    pub(crate) fn words(words: &[&str]) -> Self {
        Self::Words(words.iter().map(|word| (*word).to_owned()).collect())
    }
}

/// `"flash", "disk" or "volume"`.
fn one_of(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => quoted.join(""),
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { least, most } => write!(f, "a whole number from {least} to {most}"),
            Self::Number { least, most } => write!(f, "a number from {least} to {most}"),
            Self::Share { least, most, example } => {
                write!(f, "a share from {least} to {most}, such as {example}")
            }
            Self::ShareAboveZero { most } => write!(f, "a share above 0, up to {most}"),
            Self::PowerOfTwo => f.write_str("a power of two"),
            Self::AtMost { key, value } => write!(f, "at most {key}, {value}"),
            Self::LessThan { key } => write!(f, "less than {key}"),
            Self::MultipleOf { key, value } => write!(f, "a multiple of {key}, {value}"),
            Self::SectorsBelowCapacity { sector_bytes, capacity_bytes } => write!(
                f,
                "a multiple of identity.sector_bytes, {sector_bytes}, below identity.capacity_bytes, \
                 {capacity_bytes}"
            ),
            Self::SectorsWithinDrive { sector_bytes } => {
                write!(f, "a multiple of identity.sector_bytes, {sector_bytes}, within the drive")
            }
            Self::MultipleOfRows { rows } => {
                write!(f, "a multiple of the {rows} rows that a page of map.page_bytes spans")
            }
            Self::DivisorOf { key, value } => write!(f, "a divisor of {key}, {value}"),
            Self::Times { most, key, value } => write!(f, "from 1 to {most} times {key}, {value}"),
            Self::Sectors { most, sector_bytes } => write!(f, "1 to {most} sectors of {sector_bytes} bytes"),
            Self::ChipPage { map_page, row } => write!(
                f,
                "a multiple of map.page_bytes, {map_page}, or planes and dies of a gang that divide into such \
                 pages or whose reads of {row} bytes fill them"
            ),
            Self::Bytes { least, most } => write!(f, "a size from {least} to {most} bytes"),
            Self::Truth => f.write_str("true or false"),
            Self::OnOff => f.write_str("on or off"),
            Self::Words(words) => f.write_str(&one_of(words)),
            Self::Line => f.write_str("a text of 1 to 200 characters"),
            Self::TextSuchAs(example) => write!(f, "a text such as \"{example}\""),
            Self::Ranges { capacity_bytes } => write!(
                f,
                "ranges within the {capacity_bytes} bytes of the drive, such as \"1GiB..1025MiB, 50%..50.1%\""
            ),
            Self::Memory => f.write_str("a size from 1MiB to 16TiB, such as 8GiB"),
            Self::LinkStandard => f.write_str(
                "pcie1x1 to pcie5x4 (x1, x2, x4), sata1.5g, sata3g, sata6g, usb2, usb3.0, usb3.0-bot, usb3.1 \
                 or usb3.1-bot (bulk-only: one command at a time)",
            ),
            Self::Encryption => {
                f.write_str("a rate from 1MB/s and maybe a delay of at most 1s, such as 300MB/s,40us")
            }
            Self::Wake => {
                f.write_str("a time up to 60s and maybe after which rest up to 1h, such as 2ms,100us")
            }
            Self::Commands => f.write_str("a whole number of commands from 2, such as 500"),
            Self::Stalls => {
                f.write_str("how long it stalls, up to 10s, and maybe how often, up to 1h, such as 500ms,4s")
            }
            Self::ReadRate => f.write_str("a rate from 1MB/s to 10GB/s, such as 100MB/s"),
        }
    }
}
