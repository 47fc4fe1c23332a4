//! The options of a job, and the stream of a workload that they make.

use std::collections::BTreeMap;

use likenew_core::io::{DataClass, Durability, Op};
use likenew_core::region::Region;
use likenew_core::units::Nanos;
use likenew_core::workload::{
    Access, AccessPattern, Arrival, InterArrival, Mix, Size, Stream, Until, Workload,
};

use super::ImportError;
use super::document::Node;
use crate::fio_option::{
    self, Amount, parse_amount, parse_count, parse_duration, parse_lengths, parse_percent, parse_zipf,
};
use crate::wording::{self, Note, Notes, expected};

/// The options of a job, its own before the global ones.
#[derive(Clone, Debug)]
pub(super) struct Options {
    values: BTreeMap<String, String>,
    /// Values that cannot be taken over, such as an expression or a number of zones.
    unread: BTreeMap<String, String>,
    path: String,
}

/// When fio reads back what a job wrote, and whether it counts these reads separately (`backend.c` of fio 3.33).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verification {
    /// Nothing is read back.
    Off,
    /// After the writes, timed separately.
    AfterWrites,
    /// Between the writes. fio counts these reads within the time of the writes; only the last ones have a time of
    /// their own.
    BetweenWrites,
    /// Beside the job's own reads; fio counts both together.
    AmongReads,
}

/// Unit of a share of a target, in bytes: the longest sector of drives.
const COVERED: u64 = 4096;

impl Options {
    pub(super) fn from_job(root: &Node<'_>, job: &Node<'_>) -> Result<Self, ImportError> {
        let mut values = BTreeMap::new();
        let own = job.need("job options", expected::OPTIONS)?;
        for options in root.get("global options").into_iter().chain([own.clone()]) {
            for (key, value) in options.entries()? {
                values.insert(fio_option::canonical(key).to_owned(), value.text()?.to_owned());
            }
        }
        Ok(Self::new(values, own.path()))
    }

    /// Takes options by their canonical names. `path` is where they stand in the document.
    pub(super) fn new(values: BTreeMap<String, String>, path: &str) -> Self {
        let mut options = Self { values, unread: BTreeMap::new(), path: path.to_owned() };
        let kibi = options.kibi();
        options.unread = options
            .values
            .extract_if(.., |option, value| !fio_option::is_read(option, value, kibi))
            .collect();
        options
    }

    /// Gives a job offset and size in bytes on a target of `bytes`, as fio does when it runs.
    pub(super) fn cover(&mut self, bytes: u64) {
        let of_all = |amount| match amount {
            Amount::Bytes(bytes) => bytes,
            Amount::Percent(percent) => (bytes as f64 * percent / 100.0) as u64 / COVERED * COVERED,
        };
        let start = self.amount("offset").map_or(0, of_all);
        let size = self.amount("size").map_or(bytes, of_all).min(bytes.saturating_sub(start));
        self.values.insert("offset".to_owned(), start.to_string());
        self.values.insert("size".to_owned(), size.to_string());
    }

    /// Whether one of offset and size is a share of the target while the other is in bytes.
    pub(super) fn has_share_beside_bytes(&self) -> bool {
        let is_share = |option| self.amount(option).map(|amount| matches!(amount, Amount::Percent(_)));
        is_share("offset").zip(is_share("size")).is_some_and(|(offset, size)| offset != size)
    }

    pub(super) fn text(&self, option: &str) -> Option<&str> {
        self.values.get(option).map(String::as_str)
    }

    /// Whether a switch is on. A switch without a value is on, and has an empty value here.
    pub(super) fn flag(&self, option: &str) -> bool {
        self.text(option).is_some_and(|value| value != "0")
    }

    /// When a job with this operation reads back what it wrote.
    pub(super) fn verification(&self, op: Mix) -> Verification {
        let verifies = self.text("verify").is_some_and(|verify| !matches!(verify, "0" | "null"));
        match op {
            _ if !verifies || !op.writes() || self.text("do_verify") == Some("0") => Verification::Off,
            Mix::Reads(_) => Verification::AmongReads,
            Mix::Only(_) if self.flag("verify_backlog") => Verification::BetweenWrites,
            Mix::Only(_) => Verification::AfterWrites,
        }
    }

    /// Whether all copies of the job work on one file. Without a file name each copy has its own, `JOB.NUMBER.FILE`.
    fn shares_file(&self) -> bool {
        let names = self.text("filename_format").is_none_or(|names| names.contains("$jobnum"));
        self.text("filename").is_some() || !names
    }

    /// Whether I/O bypasses the page cache.
    pub(super) fn is_direct(&self) -> bool {
        self.flag("direct") || self.text("buffered") == Some("0") || self.flag("atomic")
    }

    /// Whether the job ran once, without `loops`.
    pub(super) fn runs_once(&self) -> bool {
        self.text("loops").is_none_or(|loops| loops == "1")
    }

    fn unexpected_error(&self, option: &str, expected: &str) -> ImportError {
        let actual = self.text(option).map_or_else(|| wording::NOTHING.to_owned(), wording::text);
        ImportError::Unexpected {
            path: format!("{}.{option}", self.path),
            expected: expected.to_owned(),
            actual,
        }
    }

    /// Copies of the job that run side by side.
    pub(super) fn copies(&self) -> u32 {
        self.count_or_one("numjobs")
    }

    /// A count, or 1 if not given.
    fn count_or_one(&self, option: &str) -> u32 {
        self.text(option).and_then(parse_count).unwrap_or(1)
    }

    /// A percentage, if given.
    fn percent(&self, option: &str) -> Option<u8> {
        self.text(option).and_then(parse_percent)
    }

    /// A size, if given.
    fn amount(&self, option: &str) -> Option<Amount> {
        self.text(option).and_then(|text| parse_amount(text, self.kibi()))
    }

    /// A size in bytes; `None` if not given, or if it is a share of an unknown size.
    fn bytes(&self, option: &str) -> Option<u64> {
        self.amount(option).and_then(Amount::bytes)
    }

    /// A duration, if given.
    fn duration(&self, option: &str) -> Option<Nanos> {
        self.text(option).and_then(parse_duration)
    }

    /// Bytes for `k`, 1000 or 1024; `Ki` means the other one (fio's HOWTO, "kb_base").
    fn kibi(&self) -> u64 {
        if self.text("kb_base") == Some("1000") { 1000 } else { 1024 }
    }

    /// Whether a job with these options may be one more copy beside `copies` others.
    pub(super) fn repeats(&self, other: &Self, copies: usize) -> bool {
        let most = self.text("numjobs").and_then(|most| most.parse::<usize>().ok()).unwrap_or(1);
        self.values == other.values && copies < most
    }

    /// An option that a workload can express, whose value it cannot take over.
    pub(super) fn unread(&self) -> Option<(&str, &str)> {
        self.unread.iter().next().map(|(option, value)| (option.as_str(), value.as_str()))
    }

    /// An option with which no job can be run, and why.
    pub(super) fn refusal(&self) -> Option<(&str, &'static str)> {
        self.values.keys().find_map(|option| Some((option.as_str(), fio_option::refusal(option)?)))
    }

    /// Options, as text, that change what a job does and that a workload cannot express.
    fn unmapped_options(&self) -> Vec<String> {
        let others = self.values.iter().filter(|(option, value)| fio_option::is_changing(option, value));
        others.chain(&self.unread).map(|(option, value)| wording::option(option, value)).collect()
    }
}

/// The workload for jobs with these options.
pub(super) fn workload(name: impl Into<String>, options: &Options, streams: Vec<Stream>) -> Workload {
    let lanes = options.copies();
    let (access, cold) = access(options);
    Workload {
        lanes,
        seed: options.text("randseed").and_then(|seed| seed.parse().ok()).unwrap_or(0),
        access,
        cold,
        flush: options.flag("end_fsync"),
        ..Workload::new(name, bound(options, lanes), streams)
    }
}

/// The stream for all copies of a job.
pub(super) fn stream(options: &Options, name: &str, notes: &mut Notes) -> Result<Stream, ImportError> {
    let copies = options.copies();
    let (op, is_random) = operation(options)?;
    let mut unsaid = options.unmapped_options();
    let mut leave_out = |option: &str| {
        unsaid.extend(options.text(option).map(|value| wording::option(option, value)));
    };
    let size = size(options, op, &mut leave_out);
    let pattern = access_pattern(options, is_random, copies, &mut leave_out);
    let arrival = arrival(options, op, &size);
    if options.text("rw").is_some_and(|rw| rw.contains(':') || rw.contains("trimwrite")) {
        leave_out("rw");
    }
    if matches!(arrival, Arrival::Open { .. }) {
        notes.add(Note::Paced, name);
    }
    if !is_random && copies > 1 && options.shares_file() && options.bytes("offset_increment").is_none() {
        notes.add(Note::Overlapping, name);
    }
    if !unsaid.is_empty() {
        notes.add(Note::Unmapped(unsaid.join(" ")), name);
    }
    let stream = Stream::new(op, size, pattern, arrival, data(options));
    if !stream.has_writes() {
        return Ok(stream);
    }
    if options.text("write_barrier").is_some_and(|writes| writes != "0") {
        notes.add(Note::Barrier, name);
    }
    let every = |option: &str| options.bytes(option).map_or(0, |writes| writes as u32);
    let sync = match options.text("sync") {
        Some("1" | "sync") => Some(Durability::File),
        Some("dsync") => Some(Durability::Data),
        _ => None,
    };
    Ok(Stream { flush_every: every("fdatasync"), fsync_every: every("fsync"), sync, ..stream })
}

fn operation(options: &Options) -> Result<(Mix, bool), ImportError> {
    let text = options.text("rw").unwrap_or("read");
    let word = text.split(':').next().unwrap_or_default();
    let (is_random, word) = match word.strip_prefix("rand") {
        Some(word) => (true, word),
        None => (false, word),
    };
    let op = match word {
        "read" => Mix::Only(Op::Read),
        // fio trims and then writes a block; a workload only has the write. A note names the trims.
        "write" | "trimwrite" => Mix::Only(Op::Write),
        "trim" => Mix::Only(Op::Trim),
        "rw" | "readwrite" => mix(options),
        _ => {
            return Err(options.unexpected_error("rw", expected::OPERATION));
        }
    };
    Ok((op, is_random))
}

fn mix(options: &Options) -> Mix {
    const HALF: u8 = 50;
    let reads = match (options.percent("rwmixread"), options.percent("rwmixwrite")) {
        (Some(reads), _) => reads,
        (None, Some(writes)) => 100 - writes,
        (None, None) => HALF,
    };
    match reads {
        0 => Mix::Only(Op::Write),
        100 => Mix::Only(Op::Read),
        reads => Mix::Reads(reads),
    }
}

fn size(options: &Options, op: Mix, leave_out: &mut dyn FnMut(&str)) -> Size {
    let option = if options.text("bssplit").is_some() { "bssplit" } else { "bs" };
    let sides: Vec<&str> = options.text(option).unwrap_or("4096").split(',').collect();
    // An empty side takes the value of the side before it.
    let side = |index: usize| sides.iter().take(index + 1).rev().find(|side| !side.is_empty()).copied();
    let lengths = |index: usize| parse_lengths(side(index)?, options.kibi());
    let choices = match op {
        Mix::Only(Op::Read | Op::Flush) => lengths(0),
        Mix::Only(Op::Write) => lengths(1),
        Mix::Only(Op::Trim) => lengths(2),
        Mix::Reads(_) if side(0) == side(1) => lengths(0),
        Mix::Reads(percent) => {
            // A workload mixes the lengths of reads and writes; it cannot assign them to an operation.
            leave_out(option);
            lengths(0).zip(lengths(1)).map(|(reads, writes)| {
                let share = |choices: Vec<(u64, u64)>, share: u8| {
                    let sum: u64 = choices.iter().map(|(_, weight)| weight).sum();
                    choices
                        .into_iter()
                        .map(move |(bytes, weight)| (bytes, weight * u64::from(share) * 100 / sum.max(1)))
                };
                share(reads, percent).chain(share(writes, 100 - percent)).collect()
            })
        }
    };
    let spelled = |choices: Vec<(u64, u64)>| match choices.as_slice() {
        [(bytes, _)] => bytes.to_string(),
        several => {
            let heavy = several.iter().filter(|(_, weight)| *weight > 0);
            heavy.map(|(bytes, weight)| format!("{bytes}:{weight}")).collect::<Vec<_>>().join(",")
        }
    };
    choices.and_then(|choices| spelled(choices).parse().ok()).unwrap_or_else(|| {
        leave_out(option);
        Size::fixed(4096)
    })
}

fn access_pattern(
    options: &Options,
    is_random: bool,
    copies: u32,
    leave_out: &mut dyn FnMut(&str),
) -> AccessPattern {
    let region = region(options, copies).unwrap_or_else(|| {
        leave_out("offset");
        match options.amount("size") {
            // The size of a file that does not exist yet is unknown, and so is a share of it.
            Some(Amount::Bytes(size)) => Region::bytes(0..size.saturating_mul(copies.into())),
            _ => {
                leave_out("size");
                Region::WHOLE
            }
        }
    });
    if !is_random {
        return AccessPattern::Sequential(region);
    }
    if let Some((theta, more)) = options.text("random_distribution").and_then(parse_zipf) {
        if more.is_some() {
            leave_out("random_distribution");
        }
        return AccessPattern::Zipf { region, theta };
    }
    match options.bytes("ba").filter(|align| *align > 0) {
        Some(align) => AccessPattern::RandomAligned { region, align },
        None => AccessPattern::Random(region),
    }
}

/// The region of all copies; `None` if it mixes bytes and shares.
fn region(options: &Options, copies: u32) -> Option<Region> {
    let start = options.amount("offset").unwrap_or(Amount::Bytes(0));
    let others = u64::from(copies) - 1;
    match (start, options.amount("size")) {
        (Amount::Bytes(start), Some(Amount::Bytes(size))) => {
            let each =
                if options.shares_file() { options.bytes("offset_increment").unwrap_or(0) } else { size };
            Some(Region::bytes(start..start.saturating_add(size).saturating_add(each.saturating_mul(others))))
        }
        (Amount::Bytes(0), None) => Some(Region::WHOLE),
        (Amount::Bytes(0), Some(Amount::Percent(percent))) => format!("0%..{percent}%").parse().ok(),
        (Amount::Percent(start), None) => format!("{start}%..100%").parse().ok(),
        (Amount::Percent(start), Some(Amount::Percent(percent))) => {
            format!("{start}%..{}%", (start + percent).min(100.0)).parse().ok()
        }
        _ => None,
    }
}

fn arrival(options: &Options, op: Mix, size: &Size) -> Arrival {
    let depth = options.count_or_one("iodepth");
    let (option, each) =
        if options.text("rate_iops").is_some() { ("rate_iops", 1.0) } else { ("rate", size.mean()) };
    let Some(text) = options.text(option) else { return Arrival::Closed { depth } };
    let rate = |side: &str| parse_amount(side, options.kibi()).and_then(Amount::bytes).unwrap_or(0);
    let rates: Vec<u64> = text.split(',').take(3).map(rate).collect();
    // Each side has its own rate. Sides without one use the last rate given.
    let rate = |index: usize| rates[index.min(rates.len() - 1)];
    let sum = match op {
        Mix::Only(Op::Read | Op::Flush) => rate(0),
        Mix::Only(Op::Write) => rate(1),
        Mix::Only(Op::Trim) => rate(2),
        Mix::Reads(_) => rate(0).saturating_add(rate(1)),
    };
    if sum == 0 {
        return Arrival::Closed { depth };
    }
    let inter_arrival = if options.text("rate_process") == Some("poisson") {
        InterArrival::Poisson
    } else {
        InterArrival::Even
    };
    Arrival::Open { per_second: sum as f64 / each, inter_arrival, depth_max: depth }
}

fn data(options: &Options) -> DataClass {
    match options.percent("buffer_compress_percentage") {
        _ if options.flag("zero_buffers") => DataClass::Zero,
        None | Some(0) => DataClass::Random,
        Some(100) => DataClass::Zero,
        Some(percent) => DataClass::Ratio(f32::from(100 - percent) / 100.0),
    }
}

/// How I/Os reach the drive. By default fio goes through the page cache, which it drops first.
fn access(options: &Options) -> (Access, bool) {
    match options.text("ioengine") {
        Some("null") => (Access::Null, false),
        _ if options.is_direct() => (Access::Direct, false),
        _ => (Access::Buffered, options.text("invalidate") != Some("0")),
    }
}

/// The bound at which all copies together end.
pub(super) fn bound(options: &Options, copies: u32) -> Until {
    let total = |bound: u64| bound.saturating_mul(u64::from(copies));
    let elapsed = options.duration("runtime").filter(|span| *span > Nanos::ZERO);
    if options.flag("time_based") {
        return Until { elapsed, ops: None, bytes: None };
    }
    let bytes = options.bytes("io_size").or_else(|| options.bytes("size"));
    // An exported job with a count of I/Os has an amount only so that the count is reached.
    let ops = options.bytes("number_ios").filter(|ops| *ops > 0).map(total);
    Until { elapsed, ops, bytes: bytes.filter(|_| ops.is_none()).map(total) }
}
