//! What can be wrong with a drive's file.

use crate::situation_error::SituationError;
use crate::wording::domain::Domain;
use crate::{disk, flash};

/// What is wrong, without the place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum FileError {
    // The form of a file
    #[error("this is not text")]
    NotText,
    #[error("this is not TOML: {0}")]
    NotToml(String),
    #[error("the table [{0}] is missing")]
    NoTable(String),
    #[error("{path} is {found}: it has to be a table")]
    NotATable { path: String, found: String },
    /// Of a table, or of the file where that has no name.
    #[error("{table} has no key {key}: it takes {known}")]
    UnknownKey { table: String, key: String, known: String },

    // One value
    #[error("{path} is missing; give {domain}")]
    NoWord { path: String, domain: Domain },
    #[error("{path} is missing: write {path} = {{ value = …, source = \"…\" }} with {domain}")]
    NoValue { path: String, domain: Domain },
    #[error("{path} has no source: write {path} = {{ value = …, source = \"…\" }} with {domain}")]
    NoSource { path: String, domain: Domain },
    #[error(
        "{path} takes value and source, and perhaps range or choices: write {path} = {{ value = …, source = \"…\" }}"
    )]
    OtherParts { path: String },
    #[error("the source of {path} is not {}", Domain::Line)]
    SourceNotALine { path: String },
    #[error("{path} is {found}: it takes {domain}")]
    WrongValue { path: String, found: String, domain: Domain },
    #[error("{path} is {found}, {domain}: {reason}")]
    Range { path: String, found: String, domain: Domain, reason: RangeError },

    // Values that are replaced
    #[error("it has no value {0} that could be replaced")]
    NoSuchValue(String),
    #[error("a value is replaced twice")]
    TwoReplacements,

    // Values that do not go together
    #[error("{key} is above {limit}")]
    Above { key: &'static str, limit: &'static str },
    #[error("nand.channels × nand.dies_per_channel makes {dies} dies or gangs: at most {most} are supported")]
    TooManyDies { dies: u32, most: u32 },
    #[error(
        "{pages} flash pages of {page_bytes} bytes for {user_pages} user pages: there have to be more flash pages than user pages, and at most {most}"
    )]
    FlashPages { pages: u64, page_bytes: u32, user_pages: u64, most: u64 },
    #[error("firmware.buffer_bytes is {bytes}: it has to hold two program units of {unit_bytes} bytes")]
    SmallBuffer { bytes: u64, unit_bytes: u64 },
    #[error(
        "map.collection_choices is missing: \"choices\" takes how many blocks are drawn, a whole number from 1 to 1000"
    )]
    NoCollectionChoices,
    #[error("map.collection_choices is for map.collection \"choices\" only")]
    NeedlessCollectionChoices,
    #[error("[slc_cache] goes with map.family \"page\" only: leave one of them out")]
    SlcCacheWithoutPageMap,
    #[error(
        "counting.small_io_bytes is {small_io} and counting.small_merge_bytes {small_merge}: both take at most counting.io_bytes, {io}"
    )]
    LargeSmallIos { small_io: u64, small_merge: u64, io: u64 },
    #[error(
        "sold.models takes 1 to {most} patterns with a comma between them, each of which begins with five characters of the model"
    )]
    Patterns { most: usize },
    #[error("sold.example is \"{0}\", which none of sold.models stands for")]
    OtherExample(String),

    // Drives that cannot be built
    #[error(transparent)]
    Flash(#[from] flash::layout_error::LayoutError),
    #[error(transparent)]
    Disk(#[from] disk::layout_error::LayoutError),
    #[error(transparent)]
    Situation(#[from] SituationError),
}

impl FileError {
    /// A number that is not what its key takes.
    pub(crate) fn wrong_value(path: impl Into<String>, found: impl ToString, domain: Domain) -> Self {
        Self::WrongValue { path: path.into(), found: found.to_string(), domain }
    }
}

/// What is wrong with the `range` or the `choices` beside a value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum RangeError {
    #[error("range takes its smallest and its largest value, such as [1, 4]")]
    NotTwoEnds,
    #[error("{0} in its range is not allowed")]
    WrongEnd(String),
    #[error("only numbers have a range; others have choices")]
    NotNumbers,
    #[error("it is not within its range from {low} to {high}, or that is empty")]
    ValueOutside { low: f64, high: f64 },
    #[error("choices takes a list")]
    NotAList,
    #[error("{0} in its choices is not allowed")]
    WrongChoice(String),
    #[error("choices takes two values or more, its own among them")]
    ValueNotAmongChoices,
    #[error("it takes one of range and choices")]
    Both,
}
