//! What other programs print for people, as results: CrystalDiskMark and KDiskMark, fio's own normal output, dd, hdparm, f3, ioping,
//! and sysbench fileio. One number has no interval, and little is known of how it was measured; the caveats say so.

use std::sync::LazyLock;

use likenew_core::drive::Identity;
use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::segment::{Segment, Stop};
use likenew_core::tally::Tally;
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use regex::{Captures, Regex};

use crate::import::{Import, ImportError, import, kind_of, of_tallies};
use crate::wording;

/// Reads fio's JSON, as [`import`] does, or what fio and other programs print for people: CrystalDiskMark, KDiskMark, dd, hdparm, f3,
/// ioping, sysbench.
///
/// # Errors
/// As for [`import`].
pub fn import_any(text: &str) -> Result<Import, ImportError> {
    import(text).or_else(|error| match error {
        ImportError::NotFio(_) => printed(text).ok_or(error),
        _ => Err(error),
    })
}

/// What a program printed, by what is only in its text.
fn printed(text: &str) -> Option<Import> {
    const PROGRAMS: [(&str, &str, Reader); 8] = [
        ("CrystalDiskMark", "CrystalDiskMark ", disk_mark),
        ("KDiskMark", "KDiskMark (", disk_mark),
        ("fio", "err= 0: pid=", fio),
        ("hdparm", " Timing ", hdparm),
        ("f3", "Average ", f3),
        ("ioping", "requests completed in", ioping),
        ("sysbench", "written, MiB/s:", sysbench),
        ("dd", " copied, ", dd),
    ];
    PROGRAMS.iter().filter(|(_, mark, _)| text.contains(mark)).find_map(|(name, _, read)| {
        let figures = read(text);
        (!figures.is_empty()).then(|| run(name, text, figures))
    })
}

/// Takes all speeds out of a text.
type Reader = fn(&str) -> Vec<Figure>;

/// One speed.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    name: String,
    op: Op,
    is_random: bool,
    block: u32,
    depth: u32,
    bytes_per_s: f64,
    /// Where it says how many, which is more exact than what follows from the bytes.
    per_s: Option<f64>,
    /// The mean, in nanoseconds.
    latency_ns: Option<f64>,
}

impl Figure {
    /// Sequential, in large blocks, one at a time.
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
/// A rate needs a time: long enough that rounding to whole I/Os is no error.
const SPAN: Nanos = Nanos::from_secs(1000);

fn run(program: &str, text: &str, figures: Vec<Figure>) -> Import {
    let segments: Vec<Segment> = figures.iter().map(Figure::segment).collect();
    let geometry = Geometry {
        capacity: 0,
        block: 512,
        boundary: None,
        writable: figures.iter().any(|figure| figure.op == Op::Write),
        trims: false,
        carries_data: true,
        clock: Clock::Wall,
    };
    static DEVICE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^(/dev/[\w/]+):\s*$"));
    let name = DEVICE.captures(text).map_or_else(|| program.to_owned(), |found| found[1].to_owned());
    let identity = Identity {
        kind: kind_of(&name),
        name,
        model: None,
        engine: program.to_owned(),
        capacity_bytes: 0,
        block_bytes: geometry.block,
        facts: Vec::new(),
        caveats: wording::printed(program, figures.iter().any(|figure| figure.name == wording::DD)),
        accounting: None,
    };
    Import { identity, geometry, unix_ms: 0, segments }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of this file is tested")
}

/// A number, in which commas group digits.
fn number(text: &str) -> Option<f64> {
    let value: f64 = text.replace(',', "").trim().parse().ok()?;
    (value.is_finite() && value > 0.0).then_some(value)
}

/// What a unit of a size or rate stands for in bytes: `KB`, `KiB`, `k` …, in powers of `base` where it does not say.
fn unit(text: &str, base: f64) -> Option<f64> {
    let text = text.trim();
    let letter = text.chars().next()?.to_ascii_uppercase();
    let power = ["B", "K", "M", "G", "T"].iter().position(|unit| unit.starts_with(letter))?;
    let base = if text.contains('i') { 1024.0 } else { base };
    Some(base.powi(i32::try_from(power).ok()?))
}

/// `SEQ1M Q8T1 read`, as bench calls the test.
fn test_name(is_random: bool, block: u32, depth: u32, threads: u32, op: Op) -> String {
    let kind = if is_random { "RND" } else { "SEQ" };
    let size =
        if block.is_multiple_of(MIB) { format!("{}M", block / MIB) } else { format!("{}K", block / KIB) };
    format!("{kind}{size} Q{depth}T{threads} {}", op.name())
}

/// All versions from 3 on: `SEQ    1MiB (Q=  8, T= 1):  3562.183 MB/s [   3397.2 IOPS] <  2352.39 us>` below `[Read]`,
/// `Random Write 4KiB (Q=  8,T= 8) :  1009.735 MB/s [ 246517.3 IOPS]`, `Random Read 512KB :    39.862 MB/s`.
fn disk_mark(text: &str) -> Vec<Figure> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^\s*(?<kind>SEQ|RND|Sequential|Random)\s*(?<op>Read|Write)?\s*(?:(?<size>\d+)\s*(?<unit>[KM])i?B)?\s*(?:\((?<queue>[^)]*)\))?\s*:\s*(?<speed>[\d.,]+)\s*MB/s(?:\s*\[\s*(?<iops>[\d.,]+)\s*IOPS\])?(?:\s*<\s*(?<latency>[\d.,]+)\s*us>)?",
        )
    });
    static QUEUE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?<name>Q|QD|T)\s*=\s*(?<value>\d+)"));
    let mut section = None;
    let mut figures = Vec::new();
    for line in text.lines() {
        match line.trim() {
            "[Read]" => section = Some(Op::Read),
            "[Write]" => section = Some(Op::Write),
            // Reads and writes in one number are neither.
            other if other.starts_with("[Mix") => section = None,
            _ => {}
        }
        let Some(found) = LINE.captures(line) else { continue };
        let op = match found.name("op").map(|op| op.as_str()) {
            Some("Read") => Op::Read,
            Some(_) => Op::Write,
            None => match section {
                Some(op) => op,
                None => continue,
            },
        };
        let is_random = matches!(&found["kind"], "RND" | "Random");
        let queue = found.name("queue").map_or("", |queue| queue.as_str());
        let of = |wanted: &[&str]| {
            let mut all = QUEUE.captures_iter(queue);
            all.find(|of| wanted.contains(&&of["name"])).and_then(|of| of["value"].parse::<u32>().ok())
        };
        let (depth, threads) = (of(&["Q", "QD"]).unwrap_or(1).max(1), of(&["T"]).unwrap_or(1).max(1));
        let size = found.name("size").and_then(|size| size.as_str().parse::<u32>().ok());
        let size = size.map(|size| size.saturating_mul(if &found["unit"] == "K" { KIB } else { MIB }));
        let block = size.filter(|block| *block > 0).unwrap_or(MIB);
        let Some(speed) = number(&found["speed"]) else { continue };
        let value = |name: &str| found.name(name).and_then(|value| number(value.as_str()));
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
    figures
}

/// The normal output of version 3, `  read: IOPS=25.1k, BW=98.1MiB/s (103MB/s)(5887MiB/60001msec)`, and of version 2,
/// `  read : io=4096.0MB, bw=98304KB/s, iops=24576, runtime= 42666msec`, which counts by 1024.
fn fio(text: &str) -> Vec<Figure> {
    static JOB: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?<job>[^\s:][^:]*): \(groupid="));
    static HEAD: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?<job>[^\s:][^:]*): \(g=\d+\): rw=(?<rw>\w+), bs=(?:\(R\) )?(?<bs>\d+)(?<unit>[KMB]?).*iodepth=(?<depth>\d+)",
        )
    });
    static NEW: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^\s+(?<op>read|write|trim)\s*: IOPS=(?<iops>[\d.]+)(?<thousands>[kM]?), BW=(?<rate>[\d.]+)(?<unit>[KMGT]?i?B)/s",
        )
    });
    static OLD: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^\s+(?<op>read|write|trim)\s*: io=[\d.]+\w+, bw=(?<rate>[\d.]+)(?<unit>[KMGT]?i?B)/s, iops=(?<iops>[\d.]+)(?<thousands>[kM]?)",
        )
    });
    static LATENCY: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\s+lat \((?<unit>nsec|usec|msec)\):.*avg=\s*(?<mean>[\d.]+)"));
    let heads: Vec<Captures<'_>> = text.lines().filter_map(|line| HEAD.captures(line)).collect();
    let head = |job: &str| heads.iter().find(|head| &head["job"] == job);
    let (mut job, mut figures) = (String::new(), Vec::<Figure>::new());
    for line in text.lines() {
        if let Some(found) = JOB.captures(line) {
            found["job"].clone_into(&mut job);
        }
        if let (Some(found), Some(last)) = (LATENCY.captures(line), figures.last_mut()) {
            let factor = match &found["unit"] {
                "nsec" => 1.0,
                "usec" => 1e3,
                _ => 1e6,
            };
            last.latency_ns = number(&found["mean"]).map(|mean| mean * factor);
        }
        let Some(found) = NEW.captures(line).or_else(|| OLD.captures(line)) else { continue };
        let op = match &found["op"] {
            "read" => Op::Read,
            "write" => Op::Write,
            _ => Op::Trim,
        };
        let (Some(rate), Some(iops)) = (number(&found["rate"]), number(&found["iops"])) else { continue };
        let Some(rate) = unit(&found["unit"], 1024.0).map(|unit| rate * unit) else { continue };
        let thousands = match &found["thousands"] {
            "k" => 1e3,
            "M" => 1e6,
            _ => 1.0,
        };
        let known = head(&job);
        let block = known.and_then(|head| {
            let bytes = number(&head["bs"])?
                * if head["unit"].is_empty() { 1.0 } else { unit(&head["unit"], 1024.0)? };
            (bytes >= 1.0 && bytes <= f64::from(1 << 30)).then_some(bytes as u32)
        });
        let per_s = iops * thousands;
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
    figures
}

/// ` Timing buffered disk reads: 1530 MB in  3.00 seconds = 509.57 MB/sec`, where a MB is 2²⁰ (hdparm.c); cached reads are of memory.
fn hdparm(text: &str) -> Vec<Figure> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"Timing (?<what>[\w\s_]+reads):\s*(?<bytes>[\d.]+) MB in\s+(?<time>[\d.]+) seconds")
    });
    let figure = |found: Captures<'_>| {
        let rate = number(&found["bytes"])? / number(&found["time"])? * f64::from(MIB);
        Some(Figure::sequential(&found["what"], Op::Read, rate))
    };
    LINE.captures_iter(text).filter_map(figure).collect()
}

/// `Average writing speed: 11.32 MB/s`, in powers of 1024 (utils.c).
fn f3(text: &str) -> Vec<Figure> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"Average (?<what>reading|writing) speed: (?<rate>[\d.]+) (?<unit>[KMGT]?B(?:yte)?)/s")
    });
    let figure = |found: Captures<'_>| {
        let rate = number(&found["rate"])? * unit(&found["unit"], 1024.0)?;
        let op = if &found["what"] == "reading" { Op::Read } else { Op::Write };
        Some(Figure::sequential(op.name(), op, rate))
    };
    LINE.captures_iter(text).filter_map(figure).collect()
}

/// `9 requests completed in 9.41 ms, 36 KiB read, 956 iops, 3.73 MiB/s`
fn ioping(text: &str) -> Vec<Figure> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?<count>[\d.]+)(?<more>\s?[kMG]?) requests completed in [\d.]+ \w+, (?<bytes>[\d.]+) (?<unit>[KMGT]?i?B) (?<what>read|written), (?<iops>[\d.]+) (?<thousands>[kM]?)\s?iops",
        )
    });
    let figure = |found: Captures<'_>| {
        let scale = |text: &str| unit(if text.trim().is_empty() { "B" } else { text }, 1000.0);
        let count = number(&found["count"])? * scale(&found["more"])?;
        let bytes = number(&found["bytes"])? * unit(&found["unit"], 1024.0)?;
        let per_s = number(&found["iops"])? * scale(&found["thousands"])?;
        let op = if &found["what"] == "read" { Op::Read } else { Op::Write };
        let block = (bytes / count).round().clamp(512.0, 1e9);
        Some(Figure {
            is_random: true,
            block: block as u32,
            per_s: Some(per_s),
            latency_ns: Some(1e9 / per_s),
            ..Figure::sequential(format!("ioping {}", op.name()), op, per_s * block)
        })
    };
    LINE.captures_iter(text).filter_map(figure).collect()
}

/// `reads/s: 1234.56` with `read, MiB/s: 19.29`, and the same of writes.
fn sysbench(text: &str) -> Vec<Figure> {
    let value = |label: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(label))?;
        number(line)
    };
    let figure = |(op, per_s, rate): (Op, &str, &str)| {
        let (per_s, rate) = (value(per_s)?, value(rate)? * f64::from(MIB));
        let block = (rate / per_s).round().clamp(512.0, 1e9) as u32;
        let name = format!("fileio {}", op.name());
        Some(Figure { is_random: true, block, per_s: Some(per_s), ..Figure::sequential(name, op, rate) })
    };
    [(Op::Read, "reads/s:", "read, MiB/s:"), (Op::Write, "writes/s:", "written, MiB/s:")]
        .into_iter()
        .filter_map(figure)
        .collect()
}

/// `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.07 s, 518 MB/s`
fn dd(text: &str) -> Vec<Figure> {
    static LINE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?<bytes>\d+) bytes.* copied, (?<time>[\d.,e-]+) s"));
    let figure = |found: Captures<'_>| {
        // In some languages the time has a decimal comma.
        let time = number(&found["time"].replace(',', "."))?;
        Some(Figure::sequential(wording::DD, Op::Write, number(&found["bytes"])? / time))
    };
    LINE.captures_iter(text).filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, MB/s and I/Os a second of each figure.
    fn figures(text: &str) -> Vec<(String, f64, f64)> {
        let imported = printed(text).unwrap_or_else(|| panic!("nothing in {text}"));
        let figure = |segment: &Segment| {
            let total = segment.total();
            let per_s = |count: u64| count as f64 / segment.elapsed().as_secs_f64();
            (segment.workload.name.clone(), per_s(total.bytes) / 1e6, per_s(total.ios))
        };
        imported.segments.iter().map(figure).collect()
    }

    fn is(text: &str, expected: &[(&str, f64, f64)]) {
        let found = figures(text);
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for ((name, mb, iops), (expected_name, expected_mb, expected_iops)) in found.iter().zip(expected) {
            assert_eq!(name, expected_name);
            assert!((mb / expected_mb - 1.0).abs() < 0.001, "{name}: {mb} MB/s");
            assert!((iops / expected_iops - 1.0).abs() < 0.01, "{name}: {iops} IOPS");
        }
    }

    #[test]
    fn every_version_of_crystaldiskmark_and_kdiskmark_is_read() {
        is(
            "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n[Read]\n  SEQ    1MiB (Q=  8, T= 1):  3562.183 MB/s [   3397.2 IOPS] <  2352.39 us>\n  RND    4KiB (Q= 32, T=16):    44.482 MB/s [  10859.9 IOPS] <    91.95 us>\n\n[Write]\n  SEQ    1MiB (Q=  8, T= 1):  3000.000 MB/s [   2861.0 IOPS] <  2790.00 us>\n[Mix] Read 70%/Write 30%\n  SEQ    1MiB (Q=  8, T= 1):  1000.000 MB/s [    953.7 IOPS] <   8000.00 us>\n",
            &[
                ("SEQ1M Q8T1 read", 3562.183, 3397.2),
                ("RND4K Q32T16 read", 44.482, 10_859.9),
                ("SEQ1M Q8T1 write", 3000.0, 2861.0),
            ],
        );
        is(
            "CrystalDiskMark 6.0.2 x64\n   Sequential Read (Q= 32,T= 1) :   550.862 MB/s\n Random Write 4KiB (Q=  8,T= 8) :  1009.735 MB/s [ 246517.3 IOPS]\n",
            &[("SEQ1M Q32T1 read", 550.862, 525.3), ("RND4K Q8T8 write", 1009.735, 246_517.3)],
        );
        is(
            "CrystalDiskMark 3.0.3\n           Sequential Read :   113.654 MB/s\n         Random Read 512KB :    39.862 MB/s\n    Random Read 4KB (QD=32) :     1.214 MB/s [   296.3 IOPS]\n",
            &[
                ("SEQ1M Q1T1 read", 113.654, 108.4),
                ("RND512K Q1T1 read", 39.862, 76.03),
                ("RND4K Q32T1 read", 1.214, 296.3),
            ],
        );
        is(
            "KDiskMark (3.1.4): https://github.com/JonMagon/KDiskMark\n[Write]\nSequential   1 MiB (Q=  8, T= 1):   560.021 MB/s [    534.1 IOPS] < 14978.00 us>\n",
            &[("SEQ1M Q8T1 write", 560.021, 534.1)],
        );
        let imported = printed("KDiskMark (3)\n[Read]\n    Random   4 KiB (Q=  1, T= 1): 40.96 MB/s [ 10000.0 IOPS] <    99.00 us>").unwrap();
        assert_eq!(imported.segments[0].total().latency_ns_mean(), 99_000.0);
        assert!(imported.identity.caveats.iter().any(|caveat| caveat.contains("no interval")));
    }

    #[test]
    fn what_fio_prints_for_people_is_read() {
        is(
            "test: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=32\nfio-3.33\ntest: (groupid=0, jobs=1): err= 0: pid=123: Sat\n  read: IOPS=25.1k, BW=98.1MiB/s (103MB/s)(5887MiB/60001msec)\n    slat (nsec): min=1\n     lat (usec): min=50, max=9000, avg=1270.50, stdev=3\n",
            &[("test read", 102.865, 25_100.0)],
        );
        is(
            "w: (g=0): rw=write, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\nw: (groupid=0, jobs=1): err= 0: pid=9\n  write: io=4096.0MB, bw=98304KB/s, iops=24576, runtime= 42666msec\n",
            &[("w write", 100.663, 24_576.0)],
        );
    }

    #[test]
    fn small_tools_are_read_in_their_own_units() {
        is(
            "\n/dev/sda:\n Timing cached reads:   24822 MB in  1.99 seconds = 12473.37 MB/sec\n Timing buffered disk reads: 1530 MB in  3.00 seconds = 510.00 MB/sec\n",
            &[("cached reads", 13_079.3, 12_473.4), ("buffered disk reads", 534.77, 510.0)],
        );
        assert_eq!(
            printed("/dev/sda:\n Timing buffered disk reads: 1 MB in 1.00 seconds = 1")
                .unwrap()
                .identity
                .name,
            "/dev/sda"
        );
        is("Free space: 1\nAverage writing speed: 11.32 MB/s\n", &[("write", 11.87, 11.32)]);
        is(
            "9 requests completed in 9.41 ms, 36 KiB read, 956 iops, 3.73 MiB/s\n",
            &[("ioping read", 3.916, 956.0)],
        );
        is(
            "9.99 k requests completed in 958.1 ms, 39.0 MiB written, 10.4 k iops, 40.7 MiB/s\n",
            &[("ioping write", 42.57, 10_400.0)],
        );
        is(
            "    reads/s:                      1234.56\n    writes/s:                     823.04\n    read, MiB/s:                  19.29\n    written, MiB/s:               12.86\n",
            &[("fileio read", 20.227, 1234.56), ("fileio write", 13.485, 823.04)],
        );
        is("1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.07 s, 518 MB/s\n", &[("dd", 518.7, 494.7)]);
        is(
            "1073741824 Bytes (1,1 GB, 1,0 GiB) kopiert\n1073741824 bytes (1,1 GB) copied, 2,07 s, 518 MB/s\n",
            &[("dd", 518.7, 494.7)],
        );
    }

    #[test]
    fn other_texts_are_nothing() {
        for text in [
            "",
            "hello",
            "CrystalDiskMark is nice",
            " copied, ",
            "Average writing speed: 0 MB/s",
            "9 requests completed in 1 s, 0 B read, 0 iops, 0 B/s",
        ] {
            assert!(printed(text).is_none(), "{text:?}");
        }
    }
}
