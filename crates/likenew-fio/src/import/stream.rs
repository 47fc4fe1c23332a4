//! Translates a job's options into a stream of a workload.

use likenew_core::io::{DataClass, Durability, Op};
use likenew_core::region::Region;
use likenew_core::units::Nanos;
use likenew_core::workload::{
    Access, AccessPattern, Arrival, InterArrival, Mix, Size, Stream, Until, Workload,
};

use super::ImportError;
use super::options::{Amount, Options, parse_amount, parse_lengths, parse_zipf};
use crate::wording::{self, expected};
use crate::wording::{Note, Notes};

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
