//! Reads what other programs print for people: CrystalDiskMark, KDiskMark, fio's normal and terse output and its logs,
//! DISKSPD, iozone, dd, hdparm, f3, ioping and sysbench fileio. A single number has no interval, and little is known of
//! how it was measured; the caveats say so.

/// Declares regular expressions, each of which is compiled when it is first used: `patterns! { LINE = r"^\d+"; }`.
macro_rules! patterns {
    ($($name:ident = $pattern:literal;)*) => {
        $(static $name: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
            regex::Regex::new($pattern).expect("a tested pattern")
        });)*
    };
}

mod iozone;
mod logs;
mod terse;

use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::segment::{Segment, Stop};
use likenew_core::tally::Tally;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use regex::{Captures, Regex};

use crate::import::{Import, ImportError, import, import_of, of_tallies};
use crate::wording;

/// Reads fio's JSON, as [`import`] does, or text printed by fio or another program: fio's terse and normal output and
/// its logs, CrystalDiskMark, KDiskMark, DISKSPD, iozone, dd, hdparm, f3, ioping, sysbench. `file_name` only matters
/// for a log of fio, whose values it names.
///
/// # Errors
/// Those of [`import`]; an unreadable line of terse output or of a log; a log whose file was renamed.
pub fn import_any(text: &str, file_name: &str) -> Result<Import, ImportError> {
    match import(text) {
        Err(error @ ImportError::NotFio(_)) => {
            if let Some(imported) = terse::read(text)?.or_else(|| printed(text)) {
                return Ok(imported);
            }
            logs::read(text, file_name)?.ok_or(error)
        }
        result => result,
    }
}

/// Recognizes the program by its text and reads the speeds.
fn printed(text: &str) -> Option<Import> {
    const PROGRAMS: [(&str, &str, Reader); 15] = [
        ("CrystalDiskMark", "CrystalDiskMark ", disk_mark),
        ("KDiskMark", "KDiskMark", disk_mark),
        ("fio", "err= 0: pid=", fio),
        ("DISKSPD", "I/O per s |", diskspd),
        ("iozone", "reclen", iozone::table),
        ("iozone", "Children see throughput", iozone::throughput),
        ("iozone", " report\"", iozone::report),
        ("hdparm", " Timing ", hdparm),
        ("f3", "Average ", f3),
        ("ioping", "requests completed in", ioping),
        ("sysbench", "written, MiB/s:", sysbench),
        ("sysbench", "fsync: IOPS=", sysbench_1_1),
        ("sysbench", "Total transferred", sysbench_0),
        (wording::IOPING_RAW, "", ioping_raw),
        (wording::DD, "", dd),
    ];
    PROGRAMS.iter().filter(|(_, mark, _)| text.contains(mark)).find_map(|(name, _, read)| {
        let figures = read(text);
        (!figures.all.is_empty()).then(|| run(name, text, &figures))
    })
}

/// Extracts all speeds from a text.
type Reader = fn(&str) -> Figures;

/// All speeds of a text.
#[derive(Default)]
struct Figures {
    all: Vec<Figure>,
    /// Numbers, from 1, of table lines that fit none of its columns.
    unread_lines: Vec<usize>,
}

impl FromIterator<Figure> for Figures {
    fn from_iter<T: IntoIterator<Item = Figure>>(figures: T) -> Self {
        Self { all: figures.into_iter().collect(), unread_lines: Vec::new() }
    }
}

/// One speed.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    name: String,
    op: Op,
    is_random: bool,
    block: u32,
    depth: u32,
    bytes_per_s: f64,
    /// I/Os per second, if printed; that is more exact than a number derived from the bytes.
    per_s: Option<f64>,
    /// Mean in nanoseconds.
    latency_ns: Option<f64>,
}

impl Figure {
    /// A sequential speed, assumed to be in blocks of 1 MiB at QD1.
    fn sequential(name: impl Into<String>, op: Op, bytes_per_s: f64) -> Self {
        Self {
            name: name.into(),
            op,
            is_random: false,
            block: MIB,
            depth: 1,
            bytes_per_s,
            per_s: None,
            latency_ns: None,
        }
    }

    fn segment(&self) -> Segment {
        let (block, depth) = (self.block, self.depth.clamp(1, 4096));
        let place = if self.is_random {
            AccessPattern::Random(Region::WHOLE)
        } else {
            AccessPattern::Sequential(Region::WHOLE)
        };
        let stream = Stream::closed(Mix::Only(self.op), block, place, depth, DataClass::Random);
        let per_s = self.per_s.unwrap_or(self.bytes_per_s / f64::from(block));
        let ios = (per_s * SPAN.as_secs_f64()).round().max(1.0);
        let tally = Tally {
            ios: ios as u64,
            bytes: (self.bytes_per_s * SPAN.as_secs_f64()).round() as u64,
            latency_ns_sum: self.latency_ns.map_or(0, |mean| (mean * ios) as u64),
            ..Tally::new(0, self.op)
        };
        let workload = Workload::new(self.name.clone(), Until::elapsed(SPAN), vec![stream]);
        of_tallies(workload, Nanos::ZERO, SPAN, Stop::Reached, vec![tally])
    }
}

const MIB: u32 = 1 << 20;
const KIB: u32 = 1 << 10;
/// Assumed run time, so that a rate becomes counts. It is long enough that rounding to whole I/Os does not matter.
const SPAN: Nanos = Nanos::from_secs(1000);

fn run(program: &str, text: &str, figures: &Figures) -> Import {
    patterns! { DEVICE = r"(?m)^(/dev/[\w/]+):\s*$"; }
    let name = DEVICE.captures(text).map_or_else(|| program.to_owned(), |captures| captures[1].to_owned());
    let caveats = wording::printed(program, &figures.unread_lines);
    import_of(&name, program, caveats, figures.all.iter().map(Figure::segment).collect())
}

/// A number with commas between groups of digits.
fn number(text: &str) -> Option<f64> {
    let value: f64 = text.replace(',', "").trim().parse().ok()?;
    (value.is_finite() && value > 0.0).then_some(value)
}

/// What a unit (`KB`, `KiB`, `k` …) stands for, 1 without a unit; in powers of `base` if the unit is ambiguous.
fn unit(text: &str, base: f64) -> Option<f64> {
    let text = text.trim();
    let letter = text.chars().next().unwrap_or('B').to_ascii_uppercase();
    let power = ["B", "K", "M", "G", "T"].iter().position(|unit| unit.starts_with(letter))?;
    let base = if text.contains('i') { 1024.0 } else { base };
    Some(base.powi(i32::try_from(power).ok()?))
}

/// The operation that a word in any form, such as `reading` or `Read`, stands for.
fn op(word: &str) -> Op {
    match word.to_ascii_lowercase() {
        word if word.starts_with("read") => Op::Read,
        word if word.starts_with("trim") => Op::Trim,
        _ => Op::Write,
    }
}

/// The name that bench gives such a test, such as `SEQ1M Q8T1 read`.
fn test_name(is_random: bool, block: u32, depth: u32, threads: u32, op: Op) -> String {
    let kind = if is_random { "RND" } else { "SEQ" };
    let size =
        if block.is_multiple_of(MIB) { format!("{}M", block / MIB) } else { format!("{}K", block / KIB) };
    format!("{kind}{size} Q{depth}T{threads} {}", op.name())
}

/// Versions 3 and later: `SEQ    1MiB (Q=  8, T= 1):  3562.183 MB/s [   3397.2 IOPS] <  2352.39 us>` below `[Read]`,
/// `Random Write 4KiB (Q=  8,T= 8) :  1009.735 MB/s [ 246517.3 IOPS]`, `Random Read 512KB :    39.862 MB/s`.
fn disk_mark(text: &str) -> Figures {
    patterns! {
        LINE = r"^\s*(?<kind>SEQ|RND|Sequential|Random)\s*(?<op>Read|Write)?\s*(?:(?<size>\d+)\s*(?<unit>[KM])i?B)?\s*(?:\((?<queue>[^)]*)\))?\s*:\s*(?<speed>[\d.,]+)\s*MB/s(?:\s*\[\s*(?<iops>[\d.,]+)\s*IOPS\])?(?:\s*<\s*(?<latency>[\d.,]+)\s*us>)?";
        QUEUE = r"(?<name>Q|QD|T)\s*=\s*(?<value>\d+)";
    }
    let mut section = None;
    let mut figures = Vec::new();
    for line in text.lines() {
        match line.trim() {
            "[Read]" => section = Some(Op::Read),
            "[Write]" => section = Some(Op::Write),
            // A mix gives reads and writes as one number, which is neither.
            other if other.starts_with("[Mix") => section = None,
            _ => {}
        }
        let Some(captures) = LINE.captures(line) else { continue };
        let Some(op) = captures.name("op").map(|word| op(word.as_str())).or(section) else { continue };
        let is_random = matches!(&captures["kind"], "RND" | "Random");
        let queue = captures.name("queue").map_or("", |queue| queue.as_str());
        let setting = |names: &[&str]| {
            let setting = QUEUE.captures_iter(queue).find(|setting| names.contains(&&setting["name"]));
            setting.and_then(|setting| setting["value"].parse::<u32>().ok()).unwrap_or(1).max(1)
        };
        let (depth, threads) = (setting(&["Q", "QD"]), setting(&["T"]));
        let size = captures.name("size").and_then(|size| size.as_str().parse::<u32>().ok());
        let size = size.map(|size| size.saturating_mul(if &captures["unit"] == "K" { KIB } else { MIB }));
        let block = size.filter(|block| *block > 0).unwrap_or(MIB);
        let Some(speed) = number(&captures["speed"]) else { continue };
        let value = |name: &str| captures.name(name).and_then(|value| number(value.as_str()));
        figures.push(Figure {
            name: test_name(is_random, block, depth, threads, op),
            op,
            is_random,
            block,
            depth: depth.saturating_mul(threads),
            bytes_per_s: speed * 1e6,
            per_s: value("iops"),
            latency_ns: value("latency").map(|us| us * 1e3),
        });
    }
    figures.into_iter().collect()
}

/// The normal output of version 3, `  read: IOPS=25.1k, BW=98.1MiB/s (103MB/s)(5887MiB/60001msec)`, and of version 2,
/// `  read : io=4096.0MB, bw=98304KB/s, iops=24576, runtime= 42666msec`, which counts by 1024.
fn fio(text: &str) -> Figures {
    patterns! {
        JOB = r"^(?<job>[^\s:][^:]*): \(groupid=";
        HEAD = r"^(?<job>[^\s:][^:]*): \(g=\d+\): rw=(?<rw>\w+), bs=(?:\(R\) )?(?<bs>\d+)(?<unit>[KMB]?).*iodepth=(?<depth>\d+)";
        NEW = r"^\s+(?<op>read|write|trim)\s*: IOPS=(?<iops>[\d.]+)(?<thousands>[kM]?), BW=(?<rate>[\d.]+)(?<unit>[KMGT]?i?B)/s";
        OLD = r"^\s+(?<op>read|write|trim)\s*: io=[\d.]+\w+, bw=(?<rate>[\d.]+)(?<unit>[KMGT]?i?B)/s, iops=(?<iops>[\d.]+)(?<thousands>[kM]?)";
        LATENCY = r"^\s+lat \((?<unit>nsec|usec|msec)\):.*avg=\s*(?<mean>[\d.]+)";
    }
    let heads: Vec<Captures<'_>> = text.lines().filter_map(|line| HEAD.captures(line)).collect();
    let (mut job, mut figures) = (String::new(), Vec::<Figure>::new());
    for line in text.lines() {
        if let Some(captures) = JOB.captures(line) {
            captures["job"].clone_into(&mut job);
        }
        if let (Some(captures), Some(last)) = (LATENCY.captures(line), figures.last_mut()) {
            let factor = match &captures["unit"] {
                "nsec" => 1.0,
                "usec" => 1e3,
                _ => 1e6,
            };
            last.latency_ns = number(&captures["mean"]).map(|mean| mean * factor);
        }
        let Some(captures) = NEW.captures(line).or_else(|| OLD.captures(line)) else { continue };
        let op = op(&captures["op"]);
        let scaled = |name: &str, unit_name: &str, base: f64| {
            Some(number(&captures[name])? * unit(&captures[unit_name], base)?)
        };
        let rate = scaled("rate", "unit", 1024.0);
        let (Some(rate), Some(per_s)) = (rate, scaled("iops", "thousands", 1000.0)) else { continue };
        let known = heads.iter().find(|head| head["job"] == job);
        let block = known.and_then(|head| {
            let bytes = number(&head["bs"])? * unit(&head["unit"], 1024.0)?;
            (bytes >= 1.0 && bytes <= f64::from(1 << 30)).then_some(bytes as u32)
        });
        let depth = known.and_then(|head| head["depth"].parse().ok());
        figures.push(Figure {
            name: format!("{job} {}", op.name()),
            op,
            is_random: known.is_some_and(|head| head["rw"].starts_with("rand")),
            block: block.unwrap_or((rate / per_s).round().clamp(512.0, 1e9) as u32),
            depth: depth.unwrap_or(1),
            bytes_per_s: rate,
            per_s: Some(per_s),
            latency_ns: None,
        });
    }
    figures.into_iter().collect()
}

/// Versions 2: tables `Read IO` and `Write IO` below the settings, with a row for each thread and a line `total:
/// 121647398912 | 464048 | 193.35 | 773.40 | 82.740 | 41.172`. These are bytes, I/Os, MiB/s, IOPS, and with `-L` the
/// mean latency in milliseconds (ResultParser.cpp).
fn diskspd(text: &str) -> Figures {
    patterns! {
        BLOCK = r"block size: (?<size>\d+)(?<unit>[KMG]iB)?";
        DEPTH = r"number of outstanding I/O operations[^:\n]*: (?<count>\d+)";
        THREADS = r"thread count:\s*(?<count>\d+)";
        MIX = r"mix test \(read/write ratio: (?<ratio>\d+/\d+)\)";
        TABLE = r"(?s)(?<op>Read|Write) IO\s+thread (?<headings>[^\n]*)\n.*?total:\s*(?<bytes>\d+) \|\s*\d+ \|\s*(?<rate>[\d.]+) \|\s*(?<iops>[\d.]+)(?: \|\s*(?<next>[\d.]+))?";
    }
    let of_run = |run: &str| -> Vec<Figure> {
        let count = |regex: &Regex| regex.captures(run)?["count"].parse::<u32>().ok();
        let (depth, threads) = (count(&DEPTH).unwrap_or(1).max(1), count(&THREADS).unwrap_or(1).max(1));
        let block = BLOCK.captures(run).and_then(|captures| {
            let scale = unit(captures.name("unit").map_or("", |unit| unit.as_str()), 1024.0)?;
            Some((number(&captures["size"])? * scale).clamp(512.0, 1e9) as u32)
        });
        let block = block.unwrap_or(64 * KIB);
        let is_random = run.contains("random I/O (") || run.contains("random/sequential I/O (");
        let mix =
            MIX.captures(run).map_or_else(String::new, |captures| format!(", {} mix", &captures["ratio"]));
        let figure = |captures: Captures<'_>| {
            let op = op(&captures["op"]);
            let latency = captures.name("next").filter(|_| captures["headings"].contains("AvgLat"));
            Some(Figure {
                name: test_name(is_random, block, depth, threads, op) + &mix,
                is_random,
                block,
                depth: depth.saturating_mul(threads),
                per_s: Some(number(&captures["iops"])?),
                latency_ns: latency.and_then(|mean| number(mean.as_str())).map(|ms| ms * 1e6),
                ..Figure::sequential("", op, number(&captures["rate"])? * f64::from(MIB))
            })
        };
        TABLE.captures_iter(run).filter_map(figure).collect()
    };
    text.split("Command Line:").flat_map(of_run).collect()
}

/// ` Timing buffered disk reads: 1530 MB in  3.00 seconds = 509.57 MB/sec`. A MB is 2²⁰ bytes (hdparm.c). Cached reads
/// measure memory and are left out.
fn hdparm(text: &str) -> Figures {
    patterns! {
        LINE = r"Timing (?<what>[\w\s_]+reads)(?: \([^)]*\))?:\s*(?<bytes>[\d.]+) MB in\s+(?<time>[\d.]+) seconds";
    }
    let figure = |captures: Captures<'_>| {
        let rate = number(&captures["bytes"])? / number(&captures["time"])? * f64::from(MIB);
        Some(Figure::sequential(&captures["what"], Op::Read, rate))
    };
    LINE.captures_iter(text).filter_map(figure).collect()
}

/// `Average writing speed: 11.32 MB/s`, in powers of 1024 (utils.c).
fn f3(text: &str) -> Figures {
    patterns! {
        LINE = r"Average (?<what>reading|writing) speed: (?<rate>[\d.]+) (?<unit>[KMGT]?B(?:yte)?)/s";
    }
    let figure = |captures: Captures<'_>| {
        let rate = number(&captures["rate"])? * unit(&captures["unit"], 1024.0)?;
        let op = op(&captures["what"]);
        Some(Figure::sequential(op.name(), op, rate))
    };
    LINE.captures_iter(text).filter_map(figure).collect()
}

/// `9 requests completed in 9.41 ms, 36 KiB read, 956 iops, 3.73 MiB/s`
fn ioping(text: &str) -> Figures {
    patterns! {
        LINE = r"(?<count>[\d.]+)(?<more>\s?[kMG]?) requests completed in [\d.]+ \w+, (?<bytes>[\d.]+) (?<unit>[KMGT]?i?B) (?<what>read|written), (?<iops>[\d.]+) (?<thousands>[kM]?)\s?iops";
    }
    let figure = |captures: Captures<'_>| {
        let count = number(&captures["count"])? * unit(&captures["more"], 1000.0)?;
        let bytes = number(&captures["bytes"])? * unit(&captures["unit"], 1024.0)?;
        let per_s = number(&captures["iops"])? * unit(&captures["thousands"], 1000.0)?;
        Some(requests(op(&captures["what"]), per_s, bytes / count))
    };
    LINE.captures_iter(text).filter_map(figure).collect()
}

/// Random requests of this length at QD1.
fn requests(op: Op, per_s: f64, bytes: f64) -> Figure {
    let rate = per_s * bytes.round().clamp(512.0, 1e9);
    Figure { latency_ns: Some(1e9 / per_s), ..random("ioping", op, per_s, rate) }
}

/// Random I/Os at QD1: how many and how many bytes a second.
fn random(program: &str, op: Op, per_s: f64, rate: f64) -> Figure {
    let block = (rate / per_s).round().clamp(512.0, 1e9) as u32;
    let name = format!("{program} {}", op.name());
    Figure { is_random: true, block, per_s: Some(per_s), ..Figure::sequential(name, op, rate) }
}

/// sysbench's test of files.
const FILEIO: &str = "fileio";

/// Version 1.0: `reads/s: 1234.56` with `read, MiB/s: 19.29`, and equal lines for writes.
fn sysbench(text: &str) -> Figures {
    let value = |label: &str| number(text.lines().find_map(|line| line.trim().strip_prefix(label))?);
    let figure = |op, per_s, rate| Some(random(FILEIO, op, value(per_s)?, value(rate)? * f64::from(MIB)));
    let reads = figure(Op::Read, "reads/s:", "read, MiB/s:");
    reads.into_iter().chain(figure(Op::Write, "writes/s:", "written, MiB/s:")).collect()
}

/// Version 1.1: `read:  IOPS=2402.56 37.54 MiB/s (39.36 MB/s)`
fn sysbench_1_1(text: &str) -> Figures {
    patterns! { LINE = r"(?m)^\s*(?<op>read|write):\s+IOPS=(?<iops>[\d.]+)\s+(?<rate>[\d.]+) MiB/s"; }
    let figure = |captures: Captures<'_>| {
        let (per_s, rate) = (number(&captures["iops"])?, number(&captures["rate"])? * f64::from(MIB));
        Some(random(FILEIO, op(&captures["op"]), per_s, rate))
    };
    LINE.captures_iter(text).filter_map(figure).collect()
}

/// Versions 0.4 and 0.5: `6000 Read, 4000 Write,` or `6000 reads, 4000 writes,`, `Read 93.75Mb  Written 62.5Mb  Total
/// transferred`, where a Mb is 2²⁰ bytes, and `total time: 60.0043s`.
fn sysbench_0(text: &str) -> Figures {
    patterns! {
        COUNTS = r"performed:\s+(?<read>\d+) [Rr]eads?, (?<write>\d+) [Ww]rites?,";
        AMOUNTS = r"Read (?<read>[\d.]+)(?<read_unit>[KMGT]?b)\s+Written (?<write>[\d.]+)(?<write_unit>[KMGT]?b)\s+Total";
        TIME = r"total time:\s+(?<time>[\d.]+)s";
    }
    let figure = |op: Op| {
        let (counts, amounts, time) = (COUNTS.captures(text)?, AMOUNTS.captures(text)?, TIME.captures(text)?);
        let time = number(&time["time"])?;
        let unit = unit(&amounts[&*format!("{}_unit", op.name())], 1024.0)?;
        let (count, amount) = (number(&counts[op.name()])?, number(&amounts[op.name()])? * unit);
        Some(random(FILEIO, op, count / time, amount / time))
    };
    [Op::Read, Op::Write].into_iter().filter_map(figure).collect()
}

/// `ioping -B` and `-p`: requests, nanoseconds, IOPS, bytes per second, then shortest, mean, longest and deviation of
/// requests in nanoseconds. Version 1 adds all requests and all nanoseconds. Periods are joined.
fn ioping_raw(text: &str) -> Figures {
    patterns! {
        LINE = r"(?m)^(?<count>\d+) (?<time>\d+) (?<iops>\d+) (?<rate>\d+) (?<min>\d+) (?<mean>\d+) (?<max>\d+) \d+(?: \d+ \d+)?\s*$";
    }
    /// IOPS are printed as whole numbers.
    const ROUNDING: f64 = 1.0;
    let (mut count, mut time_s, mut bytes) = (0.0, 0.0, 0.0);
    for captures in LINE.captures_iter(text) {
        let value = |name: &str| number(&captures[name]);
        let values = (value("count"), value("time"), value("iops"), value("rate"));
        let (Some(requests), Some(ns), Some(iops), Some(rate)) = values else { continue };
        let is_ordered = value("min") <= value("mean") && value("mean") <= value("max");
        if !is_ordered || (requests * 1e9 / ns - iops).abs() > ROUNDING {
            continue;
        }
        (count, time_s, bytes) = (count + requests, time_s + ns / 1e9, bytes + rate * ns / 1e9);
    }
    (count > 0.0).then(|| requests(Op::Read, count / time_s, bytes / count)).into_iter().collect()
}

/// `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.07 s, 518 MB/s`, in any language, with a decimal comma or point. In a
/// line of dd the rate follows from bytes and time; others of this form are ignored.
fn dd(text: &str) -> Figures {
    patterns! {
        LINE = r"(?<bytes>\d+)\s*\p{L}+\s*(?:\([^)\n]*\)|（[^）\n]*）)?[^\d\n]*?(?<time>\d+(?:[.,]\d+)?(?:e[+-]?\d+)?)\s*(?:s|秒|с)\p{L}*[^\d\n]*(?<rate>\d+(?:[.,]\d+)?)\s*(?<unit>[kKMGTP]?i?B|bytes)/";
    }
    let decimal = |text: &str| number(&text.replace(',', "."));
    let figure = |captures: Captures<'_>| {
        let rate = number(&captures["bytes"])? / decimal(&captures["time"])?;
        let is_rate = |base: f64| {
            let printed = decimal(&captures["rate"]).zip(unit(&captures["unit"], base));
            printed.is_some_and(|(value, unit)| (value * unit / rate - 1.0).abs() < ROUNDING)
        };
        // busybox prints powers of 1024.
        (is_rate(1000.0) || is_rate(1024.0)).then(|| Figure::sequential(wording::DD, Op::Write, rate))
    };
    /// Relative tolerance: a printed rate has at least two digits.
    const ROUNDING: f64 = 0.06;
    LINE.captures_iter(text).filter_map(figure).collect()
}

#[cfg(test)]
mod tests;
