//! Reads fio's logs over time (`write_bw_log`, `write_iops_log`, `write_lat_log`). A line holds milliseconds, a value,
//! the direction and the length of the I/O, which is 0 for a mean (`log_avg_msec`). Only the file's name tells what the
//! value is.

use likenew_core::io::{DataClass, Op, Outcome, Sample};
use likenew_core::region::Region;
use likenew_core::segment::{Cell, Recorder as _, Segment, SegmentRecorder, Stop, Windows};
use likenew_core::tally::{Latencies, Tally};
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::MIB;
use crate::import::{Import, ImportError, import_of, of_tallies};
use crate::wording::{self, LogKind};

fn is_latency(kind: LogKind) -> bool {
    matches!(kind, LogKind::Submission | LogKind::Completion | LogKind::Latency)
}

/// A line of a log.
#[derive(Clone, Copy)]
struct Line {
    /// Line number, from 1.
    number: usize,
    ms: u64,
    value: u64,
    op: Op,
    /// Bytes of the I/O; 0 for a mean of several.
    block: u32,
    /// Whether more fields follow. Before version 3.17 fio wrote none, unless asked for the offset.
    has_more: bool,
}

/// Larger values and times were not measured: 2⁴² ns are an hour, 2⁴¹ ms since 1970 reach beyond 2039. Sums over all
/// lines of a file still fit 64 bits.
const VALUE_MAX: u64 = 1 << 42;
const MS_MAX: u64 = 1 << 41;

impl Line {
    fn read(number: usize, line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        // The further fields are offset, priority and, since fio 3.40, the time of issue.
        let [ms, value, op, block, more @ ..] = &fields[..] else { return None };
        let is_number = |field: &&str| {
            let digits = field.strip_prefix("0x").unwrap_or(field);
            !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit())
        };
        if more.len() > 3 || !more.iter().all(is_number) {
            return None;
        }
        let op = match *op {
            "0" => Op::Read,
            "1" => Op::Write,
            "2" => Op::Trim,
            _ => return None,
        };
        let bounded = |text: &str, max: u64| text.parse::<u64>().ok().filter(|value| *value <= max);
        Some(Self {
            number,
            ms: bounded(ms, MS_MAX)?,
            value: bounded(value, VALUE_MAX)?,
            op,
            block: block.parse().ok()?,
            has_more: !more.is_empty(),
        })
    }
}

/// Reads a log of fio; `None` if the text is none. `file_name` may be a path.
pub(super) fn read(text: &str, file_name: &str) -> Result<Option<Import>, ImportError> {
    patterns! { NAME = r"(?<name>[^/\\]*)_(?<kind>bw|iops|slat|clat|lat)(?:\.\d+)?\.log(?:\.\w+)?$"; }
    let (mut lines, mut unread_lines) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match Line::read(index + 1, line) {
            Some(line) => lines.push(line),
            None => unread_lines.push(index + 1),
        }
    }
    if lines.len() <= unread_lines.len() {
        return Ok(None);
    }
    let named = NAME.captures(file_name).ok_or(ImportError::UnnamedLog)?;
    let kind: LogKind = named["kind"].parse().map_err(|_| ImportError::UnnamedLog)?;
    if let Some(pair) = lines.windows(2).find(|pair| pair[1].ms + BACK_MAX_MS < pair[0].ms) {
        return Err(ImportError::Line { line: pair[1].number, reason: wording::LOG_GOES_BACK });
    }
    let is_mean = is_mean(&lines, kind);
    if is_mean && is_latency(kind) {
        return Err(ImportError::MeanLatencies);
    }
    let segment = if is_mean {
        of_means(&lines, kind)
    } else {
        unread_lines.extend(lines.extract_if(.., |line| line.block == 0).map(|line| line.number));
        unread_lines.sort_unstable();
        of_ios(&lines, kind)
    };
    let is_value_alone = is_mean && lines.iter().all(|line| line.block == 0);
    let caveats = wording::log(kind, is_value_alone, &unread_lines);
    Ok(Some(import_of(&named["name"], "fio (log)", caveats, vec![segment])))
}

/// In milliseconds. Lines of one moment may be out of order; jobs that share a log start again from zero.
const BACK_MAX_MS: u64 = 100;

/// Whether lines are means. fio 2 gives a length with means of bandwidth and IOPS, too, and writes at most one each 500
/// ms (`bwavgtime`). A line of a single I/O says 1 IOPS.
fn is_mean(lines: &[Line], kind: LogKind) -> bool {
    const APART_MS: u64 = 100;
    let is_apart = |op: Op| {
        let of_op: Vec<u64> = lines.iter().filter(|line| line.op == op).map(|line| line.ms).collect();
        of_op.windows(2).all(|pair| pair[1].saturating_sub(pair[0]) >= APART_MS)
    };
    let has_lengths = lines.iter().any(|line| line.block > 0);
    match kind {
        _ if !has_lengths => true,
        LogKind::Iops => lines.iter().any(|line| line.value != 1),
        LogKind::Bandwidth => !lines.iter().any(|line| line.has_more) && Op::ALL.into_iter().all(is_apart),
        LogKind::Submission | LogKind::Completion | LogKind::Latency => false,
    }
}

/// Later times count from 1970 (`log_unix_epoch`). This is 1973 in milliseconds; a run's own time would take three
/// years to get here.
const EPOCH_MS: u64 = 100_000_000_000;

fn workload(lines: &[Line], block: u32, elapsed: Nanos) -> Workload {
    let count = |op: Op| lines.iter().filter(|line| line.op == op).count();
    let (reads, writes) = (count(Op::Read), count(Op::Write));
    let op = match (reads, writes) {
        (0, 0) => Mix::Only(Op::Trim),
        (_, 0) => Mix::Only(Op::Read),
        (0, _) => Mix::Only(Op::Write),
        _ => Mix::Reads((reads * 100 / (reads + writes)).clamp(1, 99) as u8),
    };
    let place = AccessPattern::Sequential(Region::WHOLE);
    let stream = Stream::closed(op, block.clamp(1, 1 << 30), place, 1, DataClass::Random);
    Workload::new(wording::LOG, Until::elapsed(elapsed.max(Nanos::from_millis(1))), vec![stream])
}

/// The segment of a log with a line for each I/O.
fn of_ios(lines: &[Line], kind: LogKind) -> Segment {
    const NS_PER_MS: i64 = 1_000_000;
    let latency = |line: &Line| match kind {
        LogKind::Completion | LogKind::Latency => line.value as i64,
        LogKind::Bandwidth | LogKind::Iops | LogKind::Submission => 0,
    };
    let ends = |line: &Line| line.ms as i64 * NS_PER_MS;
    let start = lines.iter().map(|line| ends(line) - latency(line)).min().unwrap_or_default();
    let at = |ns: i64| Nanos((ns - start).max(0) as u64);
    let end = lines.iter().map(|line| at(ends(line))).max().unwrap_or_default();
    let workload = workload(lines, lines.first().map_or(MIB, |line| line.block), end);
    let mut recorder = SegmentRecorder::default();
    recorder.begin(&workload, Nanos::ZERO);
    for line in lines {
        let sent = at(ends(line) - latency(line));
        let (op, length, done) = (line.op, line.block, at(ends(line)));
        let sample =
            Sample { stream: 0, op, outcome: Outcome::Done, length, offset: 0, due: sent, sent, done };
        // Recording stops at errors only, and there are none here.
        let _ = recorder.record(&[sample]);
    }
    recorder.end(end);
    let mut segment = SegmentRecorder::join(vec![recorder], &workload, Stop::Reached);
    if !matches!(kind, LogKind::Completion | LogKind::Latency) {
        segment.tallies.iter_mut().for_each(|tally| tally.latency = Latencies::default());
        segment.slowest.clear();
    }
    segment
}

/// The segment of a log of means. A mean covers the time since the previous line of the same direction.
fn of_means(lines: &[Line], kind: LogKind) -> Segment {
    const NS_PER_MS: u64 = 1_000_000;
    let first = lines.iter().map(|line| line.ms).min().unwrap_or_default();
    let start = if first >= EPOCH_MS { first } else { 0 };
    let end = lines.iter().map(|line| line.ms).max().unwrap_or_default();
    let elapsed = Nanos::from_millis(end - start);
    let mut windows = windows(elapsed);
    let mut tallies = Vec::new();
    for op in [Op::Read, Op::Write, Op::Trim] {
        let (mut before, mut bytes, mut ios) = (0, 0.0, 0.0);
        for line in lines.iter().filter(|line| line.op == op) {
            let now = (line.ms - start) * NS_PER_MS;
            let amount = line.value as f64 * Nanos(now.saturating_sub(before)).as_secs_f64();
            let (more_bytes, more_ios) = match kind {
                LogKind::Iops => (amount * f64::from(line.block), amount),
                _ if line.block > 0 => (amount * 1024.0, amount * 1024.0 / f64::from(line.block)),
                _ => (amount * 1024.0, amount * 1024.0 / f64::from(MIB)),
            };
            spread(&mut windows, before..now, more_bytes, more_ios);
            (before, bytes, ios) = (now.max(before), bytes + more_bytes, ios + more_ios);
        }
        if before > 0 || ios > 0.0 {
            let (ios, bytes) = (ios.round().max(1.0) as u64, bytes.round() as u64);
            tallies.push(Tally { ios, bytes, ..Tally::new(0, op) });
        }
    }
    let block = lines.iter().map(|line| line.block).find(|block| *block > 0).unwrap_or(MIB);
    let workload = workload(lines, block, elapsed);
    Segment { seconds: windows, ..of_tallies(workload, Nanos::ZERO, elapsed, Stop::Reached, tallies) }
}

/// Empty windows of one second, or of as many seconds as keep their number in bounds.
fn windows(elapsed: Nanos) -> Windows {
    const SECOND_NS: u64 = 1_000_000_000;
    let mut windows = Windows::new(SECOND_NS);
    while elapsed.0 / windows.width >= Windows::CELLS_MAX as u64 {
        windows.width *= 2;
    }
    let count = elapsed.0.div_ceil(windows.width) as usize;
    windows.cells = (0..count as u64)
        .map(|index| Cell { last: Nanos(((index + 1) * windows.width).min(elapsed.0)), ..Cell::default() })
        .collect();
    windows
}

/// Divides an amount evenly among the windows of its time, as differences of rounded sums: nothing is lost.
fn spread(windows: &mut Windows, time: std::ops::Range<u64>, bytes: f64, ios: f64) {
    let (width, whole) = (windows.width, time.end.saturating_sub(time.start) as f64);
    let mut from = time.start;
    while from < time.end {
        let to = ((from / width + 1) * width).min(time.end);
        let part = |amount: f64| {
            let until = |ns: u64| (amount * ((ns - time.start) as f64 / whole)).round() as u64;
            until(to) - until(from)
        };
        if let Some(cell) = windows.cells.get_mut((from / width) as usize) {
            cell.bytes = cell.bytes.saturating_add(part(bytes));
            cell.ios = cell.ios.saturating_add(part(ios));
        }
        from = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment(text: &str, name: &str) -> Segment {
        let mut imported = read(text, name).unwrap().unwrap();
        assert_eq!(imported.segments.len(), 1);
        imported.segments.remove(0)
    }

    #[test]
    fn means_of_bandwidth_are_a_series_of_seconds() {
        let text = "500, 2048, 0, 0, 0\n1000, 4096, 0, 0, 0\n1000, 1024, 1, 0, 0\n2500, 1024, 0, 0, 0\n2500, 0, 1, 0, 0\n";
        let segment = segment(text, "/tmp/a_bw.1.log");
        assert_eq!(segment.elapsed(), Nanos::from_millis(2500));
        assert_eq!(segment.bytes(Op::Read), (1024 + 2048 + 1536) << 10);
        assert_eq!(segment.bytes(Op::Write), 1024 << 10);
        let cells: Vec<u64> = segment.seconds.cells.iter().map(|cell| cell.bytes >> 10).collect();
        assert_eq!(cells, [1024 + 2048 + 1024, 1024, 512]);
        assert_eq!(segment.workload.streams[0].op, Mix::Reads(60));
    }

    #[test]
    fn means_of_iops_have_no_bytes() {
        let segment = segment("1000, 500, 1, 0\n2000, 700, 1, 0\n", "x_iops.2.log.gz");
        assert_eq!((segment.ios(Op::Write), segment.bytes(Op::Write)), (1200, 0));
        let cells: Vec<u64> = segment.seconds.cells.iter().map(|cell| cell.ios).collect();
        assert_eq!(cells, [500, 700]);
    }

    #[test]
    fn means_that_count_from_1970_and_of_fio_2_are_read() {
        let epoch = segment("1795945766000, 1024, 0, 0\n1795945767000, 1024, 0, 0\n", "x_bw.1.log");
        assert_eq!((epoch.elapsed(), epoch.bytes(Op::Read)), (Nanos::from_secs(1), 1 << 20));
        let old = segment("500, 1024, 0, 4096\n1000, 1024, 0, 4096\n", "x_bw.log");
        assert_eq!((old.bytes(Op::Read), old.ios(Op::Read)), (1 << 20, 256));
        let old = segment("500, 256, 0, 4096\n1000, 256, 0, 4096\n", "x_iops.log");
        assert_eq!((old.bytes(Op::Read), old.ios(Op::Read)), (1 << 20, 256));
    }

    #[test]
    fn single_ios_keep_their_latency() {
        let text = "268, 3000000, 0, 4096, 0\n268, 100000, 0, 4096, 0\n1269, 200000, 1, 8192, 4096, 0x0000\n";
        let parsed = segment(text, "per_lat.1.log");
        assert_eq!(
            (parsed.elapsed().0, parsed.ios(Op::Read), parsed.bytes(Op::Write)),
            (1_004_000_000, 2, 8192)
        );
        assert_eq!(parsed.total_of(Op::Read).latency_ns_mean(), 1_550_000.0);
        let cells: Vec<u64> = parsed.seconds.cells.iter().map(|cell| cell.ios).collect();
        assert_eq!(cells, [2, 1]);
        for (name, latency) in [("per_clat.1.log", true), ("per_slat.1.log", false), ("per_bw.1.log", false)]
        {
            let parsed = segment(text, name);
            assert_eq!((parsed.total().ios, parsed.total().latency.count() > 0), (3, latency), "{name}");
        }
    }

    #[test]
    fn rare_ios_are_counted_one_by_one() {
        for (name, value) in [("a_bw.1.log", 4000), ("a_iops.1.log", 1), ("a_lat.1.log", 1_000_000)] {
            let text: String = (1..=5).map(|at| format!("{}, {value}, 0, 4096, 0\n", at * 500)).collect();
            assert_eq!(segment(&text, name).bytes(Op::Read), 5 * 4096, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let text = "500, 1024, 0, 0\n1000, 1024, 0, 0\n";
        let refusal = |text: &str, name: &str| read(text, name).unwrap_err().to_string();
        for name in ["", "standard input", "a.log", "a_clat_hist.1.log", "bw.log"] {
            assert!(refusal(text, name).contains("keep the name"), "{name}");
        }
        assert!(refusal(text, "a_lat.1.log").contains("log_avg_msec"));
        let joined = format!("{text}x\n{text}");
        assert!(refusal(&joined, "a_bw.log").starts_with("line 4: "), "{}", refusal(&joined, "a_bw.log"));
        let cut = read(&format!("{text}1500, 10"), "a_bw.1.log").unwrap().unwrap();
        assert!(cut.identity.caveats.iter().any(|caveat| caveat.starts_with("line 3 ")), "{cut:?}");
        for other in ["", "hello", "1, 2, 3\n", "1, 2, 3, 4096\n", "1, 2, 0, 4, x\n"] {
            assert_eq!(read(other, "a_bw.1.log").unwrap(), None, "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn any_lines_are_read_or_refused(
            lines in prop::collection::vec((0u64..1 << 42, 0u64..1 << 43, 0u8..4, 0u64..1 << 33), 1..20),
            kind in 0usize..5,
        ) {
            let mut lines = lines;
            lines.sort_unstable();
            let text: String =
                lines.iter().map(|(ms, value, op, block)| format!("{ms}, {value}, {op}, {block}\n")).collect();
            let name = format!("a_{}.1.log", ["bw", "iops", "slat", "clat", "lat"][kind]);
            if let Ok(Some(imported)) = read(&text, &name) {
                let segment = &imported.segments[0];
                prop_assert!(segment.seconds.cells.len() <= Windows::CELLS_MAX);
                prop_assert!(segment.elapsed().as_secs_f64() >= 0.0);
            }
        }
    }
}
