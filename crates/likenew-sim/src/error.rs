//! Errors in making a simulated drive: a wrong target, setting, situation or file.

use std::path::PathBuf;

use likenew_core::quantity::Size;
use likenew_core::target_error::system_reason;
use likenew_core::units::BadUnit;

/// Why a simulated drive could not be described or made. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The text of a target does not name a drive.
    #[error("\"{text}\": {reason}")]
    Spec {
        /// The text.
        text: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A drive's file could not be read.
    #[error("could not read the simulated drive {}: {}; check the path; `likenew drives` lists drives that need no file", .path.display(), system_reason(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The process cannot get enough memory for the drive.
    #[error("{text} needs {} of memory: {}; raise the limit (ulimit -v), or take a smaller drive (`likenew drives`)", Size(*.bytes), system_reason(source))]
    Memory {
        /// The text of the target.
        text: String,
        /// The memory that the drive needs.
        bytes: u64,
        /// The system's error.
        source: std::io::Error,
    },
    /// The caller stopped making the drive.
    #[error("stopped before it was made")]
    Stopped,
    /// A snapshot could not be read back.
    #[error("could not load the saved drive {}: {reason}", .path.display())]
    Snapshot {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A drive's file breaks the rules for such files.
    #[error("{file}:{line}: {reason}")]
    Catalog {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The key, what the file has there, and what is allowed.
        reason: String,
    },
}

/// What is wrong with a target or its settings, and what would be right.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingError {
    // Names
    #[error("write sim:NAME, sim:FILE.toml or sim:FILE.snapshot")]
    NotSimulated,
    #[error("\"{0}\" is not a seed: sim:generated-N takes a whole number from 0, such as sim:generated-17")]
    NotASeed(String),
    #[error("unknown drive \"{name}\"; `likenew drives` lists all {drives}, or give FILE.toml")]
    UnknownDrive { name: String, drives: usize },
    #[error("unknown drive \"{name}\"; did you mean \"{}\"? `likenew drives` lists all {drives}", .near.join("\" or \""))]
    SimilarDrive { name: String, near: Vec<&'static str>, drives: usize },
    #[error("a saved drive has its state already; leave out what follows the ?")]
    SettingOfSavedDrive,
    #[error("a saved drive is made already; replace values of the drive it was made of")]
    ValueOfSavedDrive,

    // Settings
    #[error("unknown setting \"{0}\"; see `likenew help sim`")]
    UnknownSetting(String),
    #[error("unknown {what} \"{typed}\"; did you mean \"{near}\"? See `likenew help sim`")]
    SimilarWord { what: &'static str, typed: String, near: String },
    #[error("unknown state \"{0}\": it takes state=new or state=used; see `likenew help sim`")]
    UnknownState(String),
    #[error("{key} is \"{value}\": it takes on or off; see `likenew help sim`")]
    NotASwitch { key: String, value: String },
    #[error("{key} is \"{value}\": it takes {domain}")]
    WrongValue { key: String, value: String, domain: Domain },
    #[error("{key}: {reason}")]
    Unreadable { key: String, reason: BadUnit },
    #[error("{0} is set twice")]
    Twice(String),
    #[error("deleted is {deleted} of the drive, and only {filled} of it ever held data; give less")]
    DeletedMoreThanFilled { deleted: f64, filled: f64 },

    // Settings that would have no effect
    #[error(
        "the {model} has no write cache that can be switched on and off; leave out cache=, or take one of {others}"
    )]
    NoWriteCache { model: String, others: String },
    #[error("the {model} is a disk without TRIM; leave out trim=")]
    NoTrim { model: String },
    #[error(
        "old data on the {model} reads as fast as new; leave out age=, or use one of {others}, or a file with [aging]"
    )]
    DoesNotAge { model: String, others: String },
    #[error("age says how long ago its data was written, and it holds none; add fill=0.8 or state=used")]
    AgeWithoutData,
    #[error(transparent)]
    Situation(#[from] SituationError),
}

impl SettingError {
    /// A value that its key does not accept.
    pub(crate) fn wrong_value(key: &str, value: &str, domain: Domain) -> Self {
        Self::WrongValue { key: key.to_owned(), value: value.to_owned(), domain }
    }

    /// A size or duration that cannot be parsed.
    pub(crate) fn unreadable(key: &str, reason: BadUnit) -> Self {
        Self::Unreadable { key: key.to_owned(), reason }
    }
}

/// Why a drive cannot be in a situation, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SituationError {
    #[error("the {0} is a cloud volume, which has no such link; leave out link=")]
    VolumeWithoutLink(String),
    #[error("the {model} is connected by {own_bus}; {link} is another bus; leave out link=")]
    OtherBus { model: String, own_bus: &'static str, link: String },
    #[error("the {0} is connected by a link that corrects errors itself within microseconds; leave out crc=")]
    CorrectingLink(String),
    #[error("the {0} has no firmware of its own; leave out firmware=")]
    NoFirmware(String),
    #[error(
        "{key} is {bytes}: of the {model} it takes a multiple of its sectors, {sector} bytes, below its {capacity} bytes"
    )]
    OddBytes { key: &'static str, bytes: u64, model: String, sector: u64, capacity: u64 },
    #[error("the {0} keeps no part of its mapping table in host memory; leave out hmb=")]
    NoHostMemory(String),
    #[error("the {0} is not a volume that could be restored from a snapshot; leave out lazy=")]
    NotAVolume(String),
    #[error("the {0} has no flash that wears out; leave out wear=")]
    NoWear(String),
    #[error("the {0} is not a hard disk, so it has no slow region; leave out slow_region=")]
    NoSlowRegion(String),
}

/// What is wrong with a drive's file; file and line are added elsewhere.
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
    /// `table` is the file itself where the table has no name.
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
    /// Parameters of a mechanism that contradict each other.
    #[error("{0}")]
    Layout(String),
    #[error(transparent)]
    Situation(#[from] SituationError),
}

impl FileError {
    /// A number that its key does not accept.
    pub(crate) fn wrong_value(path: impl Into<String>, found: impl ToString, domain: Domain) -> Self {
        Self::WrongValue { path: path.into(), found: found.to_string(), domain }
    }
}

/// What is wrong with a `range` or `choices`.
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

/// What a value may be, as it reads after "it takes": a part of errors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Domain {
    // Numbers
    #[error("a whole number from {least} to {most}")]
    Whole { least: u64, most: u64 },
    #[error("a number from {least} to {most}")]
    Number { least: f64, most: f64 },
    #[error("a share from {least} to {most}, such as {example}")]
    Share { least: f64, most: f64, example: f64 },
    #[error("a share above 0, up to {most}")]
    ShareAboveZero { most: f64 },
    #[error("a power of two")]
    PowerOfTwo,
    /// At most another value of the file.
    #[error("at most {key}, {value}")]
    AtMost { key: &'static str, value: u64 },
    #[error("less than {key}")]
    LessThan { key: &'static str },
    #[error("a multiple of {key}, {value}")]
    MultipleOf { key: &'static str, value: u64 },
    #[error(
        "a multiple of identity.sector_bytes, {sector_bytes}, below identity.capacity_bytes, {capacity_bytes}"
    )]
    SectorsBelowCapacity { sector_bytes: u32, capacity_bytes: u64 },
    /// At most the drive's capacity.
    #[error("a multiple of identity.sector_bytes, {sector_bytes}, within the drive")]
    SectorsWithinDrive { sector_bytes: u32 },
    /// A multiple of the rows that a mapping unit spans.
    #[error("a multiple of the {rows} rows that a page of map.page_bytes spans")]
    MultipleOfRows { rows: u32 },
    #[error("a divisor of {key}, {value}")]
    DivisorOf { key: &'static str, value: u32 },
    #[error("from 1 to {most} times {key}, {value}")]
    Times { most: u64, key: &'static str, value: u64 },
    #[error("1 to {most} sectors of {sector_bytes} bytes")]
    Sectors { most: u32, sector_bytes: u32 },
    /// A chip page that suits a mapping unit.
    #[error(
        "a multiple of map.page_bytes, {map_page}, or planes and dies of a gang that divide into such pages or whose reads of {row} bytes fill them"
    )]
    ChipPage { map_page: u32, row: u32 },
    #[error("a size from {least} to {most} bytes")]
    Bytes { least: u64, most: u64 },

    // Words and texts
    #[error("true or false")]
    Truth,
    #[error("on or off")]
    OnOff,
    #[error("{}", one_of(.0))]
    Words(&'static [&'static str]),
    #[error("a text of 1 to 200 characters")]
    Line,
    #[error("a text such as \"{0}\"")]
    TextSuchAs(&'static str),
    #[error("ranges within the {capacity_bytes} bytes of the drive, such as \"1GiB..1025MiB, 50%..50.1%\"")]
    Ranges { capacity_bytes: u64 },

    // Settings of a target
    #[error("a size from 1MiB to 16TiB, such as 8GiB")]
    Memory,
    #[error(
        "pcie1x1 to pcie5x4 (x1, x2, x4), sata1.5g, sata3g, sata6g, usb2, usb3.0, usb3.0-bot, usb3.1 or usb3.1-bot (bulk-only: one command at a time)"
    )]
    LinkStandard,
    #[error("a rate from 1MB/s and maybe a delay of at most 1s, such as 300MB/s,40us")]
    Encryption,
    #[error("a time up to 60s and maybe after which rest up to 1h, such as 2ms,100us")]
    Wake,
    #[error("none, writeback or unsafe")]
    HypervisorCache,
    #[error("a whole number of commands from 2, such as 500")]
    Commands,
    #[error("how long it stalls, up to 10s, and maybe how often, up to 1h, such as 500ms,4s")]
    Stalls,
    #[error("a rate from 1MB/s to 10GB/s, such as 100MB/s")]
    ReadRate,
}

/// `"flash", "disk" or "volume"`.
fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => quoted.join(""),
    }
}
