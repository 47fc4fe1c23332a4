//! The options of a job, as a stream of a workload.

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::region::Region;
use likenew_core::size::Size;
use likenew_core::until::Until;
use likenew_core::workload::{Arrival, InterArrival, Stream};

use super::ImportError;
use super::notes::{Note, Notes};
use super::options::Options;
use super::spelling::{Amount, parse_amount};
use super::wording::expected;

/// The stream that `copies` copies of the job are.
pub(super) fn stream(
    options: &Options,
    name: &str,
    copies: u32,
    notes: &mut Notes,
) -> Result<Stream, ImportError> {
    let (op, is_random) = operation(options)?;
    let size = size(options, op)?;
    let pattern = access_pattern(options, is_random, copies, name, notes)?;
    let arrival = arrival(options, op, &size)?;
    if matches!(arrival, Arrival::Open { .. }) {
        notes.add(Note::Paced, name);
    }
    let mut unsaid = options.unmapped_options();
    unsaid.extend(
        options
            .text("rw")
            .filter(|rw| rw.contains(':') || rw.contains("trimwrite"))
            .map(|rw| format!("rw={rw}")),
    );
    if !unsaid.is_empty() {
        notes.add(Note::Unmapped(unsaid.join(" ")), name);
    }
    Ok(Stream { op, size, pattern, arrival, data: data(options)? })
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
        // Of a trim and the write that follows it, a workload has only the write; the notes name the rest.
        "write" | "trimwrite" => Mix::Only(Op::Write),
        "trim" => Mix::Only(Op::Trim),
        "rw" | "readwrite" => mix(options)?,
        _ => {
            return Err(options.unexpected_error("rw", expected::OPERATION));
        }
    };
    Ok((op, is_random))
}

fn mix(options: &Options) -> Result<Mix, ImportError> {
    const HALF: u8 = 50;
    let percent = |option: &str| {
        let read = |text: &str| text.parse().ok().filter(|percent: &u8| *percent <= 100);
        let wrong = || options.unexpected_error(option, expected::PERCENT);
        options.text(option).map(|text| read(text).ok_or_else(wrong)).transpose()
    };
    let reads = match (percent("rwmixread")?, percent("rwmixwrite")?) {
        (Some(reads), _) => reads,
        (None, Some(writes)) => 100 - writes,
        (None, None) => HALF,
    };
    Ok(match reads {
        0 => Mix::Only(Op::Write),
        100 => Mix::Only(Op::Read),
        reads => Mix::Reads(reads),
    })
}

fn size(options: &Options, op: Mix) -> Result<Size, ImportError> {
    let (option, text) = match (options.text("bssplit"), options.text("bs")) {
        (Some(text), _) => ("bssplit", text),
        (None, Some(text)) => ("bs", text),
        (None, None) => ("bs", "4096"),
    };
    let wrong = || options.unexpected_error(option, expected::LENGTHS);
    let sides: Vec<&str> = text.split(',').collect();
    // A side that is left out is as the one before it.
    let side = |index: usize| sides.iter().take(index + 1).rev().find(|side| !side.is_empty()).copied();
    let lengths = |index: usize| lengths(side(index)?, options.kibi());
    let choices = match op {
        Mix::Only(Op::Read | Op::Flush) => lengths(0),
        Mix::Only(Op::Write) => lengths(1),
        Mix::Only(Op::Trim) => lengths(2),
        Mix::Reads(_) if side(0) == side(1) => lengths(0),
        Mix::Reads(percent) => lengths(0).zip(lengths(1)).map(|(reads, writes)| {
            let share = |choices: Vec<(u64, u64)>, share: u8| {
                let sum: u64 = choices.iter().map(|(_, weight)| weight).sum();
                choices
                    .into_iter()
                    .map(move |(bytes, weight)| (bytes, weight * u64::from(share) * 100 / sum.max(1)))
            };
            share(reads, percent).chain(share(writes, 100 - percent)).collect()
        }),
    };
    let choices = choices.ok_or_else(wrong)?;
    let spelled: Vec<String> = match choices.as_slice() {
        [(bytes, _)] => vec![bytes.to_string()],
        several => {
            let heavy = several.iter().filter(|(_, weight)| *weight > 0);
            heavy.map(|(bytes, weight)| format!("{bytes}:{weight}")).collect()
        }
    };
    spelled.join(",").parse().map_err(|_| wrong())
}

/// Lengths with their percents; those without share equally what is left.
fn lengths(text: &str, kibi: u64) -> Option<Vec<(u64, u64)>> {
    let mut lengths = Vec::new();
    for part in text.split(':') {
        let (size, percent) =
            part.split_once('/').map_or((part, None), |(size, percent)| (size, Some(percent)));
        let percent = match percent {
            None | Some("") => None,
            Some(percent) => Some(percent.parse::<u64>().ok().filter(|percent| *percent <= 100)?),
        };
        lengths.push((parse_amount(size, kibi)?.bytes()?, percent));
    }
    let message: u64 = lengths.iter().filter_map(|(_, percent)| *percent).sum();
    let silent = lengths.iter().filter(|(_, percent)| percent.is_none()).count() as u64;
    let rest = 100u64.saturating_sub(message).checked_div(silent).unwrap_or(0);
    Some(lengths.into_iter().map(|(size, percent)| (size, percent.unwrap_or(rest))).collect())
}

fn access_pattern(
    options: &Options,
    is_random: bool,
    copies: u32,
    name: &str,
    notes: &mut Notes,
) -> Result<AccessPattern, ImportError> {
    let start = options.amount("offset")?.unwrap_or(Amount::Bytes(0));
    let increment = options.bytes("offset_increment")?.unwrap_or(0);
    let region = match (start, options.amount("size")?) {
        (Amount::Bytes(start), Some(Amount::Bytes(size))) => {
            let others = increment.saturating_mul(u64::from(copies) - 1);
            Region::bytes(start..start.saturating_add(size).saturating_add(others))
        }
        (Amount::Bytes(0), Some(Amount::Percent(percent))) => {
            format!("0%..{percent}%").parse().expect("a percent is from 0 to 100")
        }
        _ => Region::WHOLE,
    };
    if !is_random && copies > 1 && increment == 0 {
        notes.add(Note::Overlapping, name);
    }
    let wrong = || options.unexpected_error("random_distribution", expected::DISTRIBUTION);
    match options.text("random_distribution") {
        _ if !is_random => Ok(AccessPattern::Sequential(region)),
        None | Some("random") => Ok(AccessPattern::Random(region)),
        Some(text) => match text.strip_prefix("zipf:") {
            Some(theta) => {
                let theta = theta.split(':').next().unwrap_or_default().parse().ok();
                let theta = theta.filter(|theta| *theta > 0.0 && *theta <= 10.0).ok_or_else(wrong)?;
                Ok(AccessPattern::Zipf { region, theta })
            }
            None => {
                notes.add(Note::Unmapped(format!("random_distribution={text}")), name);
                Ok(AccessPattern::Random(region))
            }
        },
    }
}

fn arrival(options: &Options, op: Mix, size: &Size) -> Result<Arrival, ImportError> {
    let depth = options.count_or_one("iodepth")?;
    let (option, each) =
        if options.text("rate_iops").is_some() { ("rate_iops", 1.0) } else { ("rate", size.mean()) };
    let Some(text) = options.text(option) else { return Ok(Arrival::Closed { depth }) };
    let wrong = || options.unexpected_error(option, expected::RATES);
    let mut rates = Vec::new();
    for side in text.split(',').take(3) {
        let rate = parse_amount(side, options.kibi()).and_then(Amount::bytes);
        rates.push(if side.is_empty() { 0 } else { rate.ok_or_else(wrong)? });
    }
    // Each side has its own rate; sides beyond the last rate given use that one.
    let rate = |index: usize| rates[index.min(rates.len() - 1)];
    let sum = match op {
        Mix::Only(Op::Read | Op::Flush) => rate(0),
        Mix::Only(Op::Write) => rate(1),
        Mix::Only(Op::Trim) => rate(2),
        Mix::Reads(_) => rate(0).saturating_add(rate(1)),
    };
    if sum == 0 {
        return Ok(Arrival::Closed { depth });
    }
    let inter_arrival = if options.text("rate_process") == Some("poisson") {
        InterArrival::Poisson
    } else {
        InterArrival::Even
    };
    Ok(Arrival::Open { per_second: sum as f64 / each, inter_arrival, depth_max: depth })
}

fn data(options: &Options) -> Result<DataClass, ImportError> {
    if options.flag("zero_buffers") {
        return Ok(DataClass::Zero);
    }
    let Some(text) = options.text("buffer_compress_percentage") else { return Ok(DataClass::Random) };
    let percent = text.parse::<u8>().ok().filter(|percent| *percent <= 100);
    match percent.ok_or_else(|| options.unexpected_error("buffer_compress_percentage", expected::PERCENT))? {
        0 => Ok(DataClass::Random),
        100 => Ok(DataClass::Zero),
        percent => Ok(DataClass::Ratio(f32::from(100 - percent) / 100.0)),
    }
}

/// When all copies together end.
pub(super) fn bound(options: &Options, copies: u32) -> Result<Until, ImportError> {
    let all = |bound: u64| bound.saturating_mul(u64::from(copies));
    let elapsed = match options.duration("runtime")? {
        Some(span) => Some(span),
        None => options.duration("timeout")?,
    };
    if options.flag("time_based") {
        return Ok(Until { elapsed, ops: None, bytes: None });
    }
    let bytes = match options.bytes("io_size")? {
        Some(bytes) => Some(bytes),
        None => options.bytes("size")?,
    };
    // With a count of I/Os an export only makes the amount large enough.
    let ops = options.bytes("number_ios")?.filter(|ops| *ops > 0).map(all);
    Ok(Until { elapsed, ops, bytes: bytes.filter(|_| ops.is_none()).map(all) })
}
