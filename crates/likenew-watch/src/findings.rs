//! Summarizes a log of watched drives as findings, in memory that does not grow with the log.

use indexmap::IndexMap;
use likenew_core::findings::{
    Answer, Axis, Findings, Lead, Line as Curve, Overview, OverviewTable, Row, Series, Shape,
};
use likenew_core::units::Nanos;
use serde::Serialize;

use crate::line::{IntervalCounts, Line, OpLine};
use crate::wording;

/// Shortest stall that is named: I/O in flight without any completion. Chosen: the screen shows a drive as waiting from
/// then on.
const UNANSWERED_AFTER: Nanos = Nanos::from_secs(1);
/// Most points of a curve.
const CELLS_MAX: usize = 512;

/// Summarizes a log, line by line.
#[derive(Clone, Debug, Default)]
pub struct Log {
    drives: IndexMap<String, DriveLog>,
    first_ns: Option<u64>,
    last_ns: u64,
}

/// Sums of one drive.
#[derive(Clone, Debug, Default)]
struct DriveLog {
    model: Option<String>,
    total: Cell,
    read_bytes_per_s_max: f64,
    write_bytes_per_s_max: f64,
    temperature_c_max: Option<f64>,
    waiting: LongestWait,
    /// Length of a cell in nanoseconds.
    width_ns: u64,
    cells: Vec<Cell>,
}

/// The longest wait: its length, and the time of its end.
#[derive(Clone, Copy, Debug, Default)]
struct LongestWait {
    ns: u64,
    until_ns: u64,
}

/// Sums over a span of time.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    elapsed_ns: u64,
    read: Sum,
    write: Sum,
    trim: Sum,
    busy_ns: f64,
    queue_ns: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    ios: u64,
    bytes: u64,
    latency_ns: f64,
}

/// A row of the table of drives.
#[derive(Serialize)]
struct DriveRow<'a> {
    drive: &'a str,
    model: Option<&'a str>,
    counted_ns: u64,
    read_bytes: u64,
    write_bytes: u64,
    trim_bytes: u64,
    read_bytes_per_s: f64,
    read_max_bytes_per_s: f64,
    write_bytes_per_s: f64,
    write_max_bytes_per_s: f64,
    read_iops: f64,
    write_iops: f64,
    read_latency_ns_mean: Option<f64>,
    write_latency_ns_mean: Option<f64>,
    queue_mean: f64,
    busy_percent: f64,
    waiting_ns_max: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature_c_max: Option<f64>,
}

impl Log {
    /// Adds the next line.
    pub fn add(&mut self, line: &Line) {
        self.last_ns = self.last_ns.max(line.at_ns);
        let Some(counts) = &line.counts else {
            self.first_ns.get_or_insert(line.at_ns);
            return;
        };
        let first = *self.first_ns.get_or_insert(line.at_ns.saturating_sub(counts.elapsed_ns));
        let watched = self.drives.entry(line.drive.clone()).or_insert_with(|| DriveLog {
            model: line.model.clone(),
            width_ns: counts.elapsed_ns.max(1),
            ..DriveLog::default()
        });
        watched.add(line.at_ns.saturating_sub(first), line.at_ns, counts);
    }

    /// Time from the first line to the last.
    pub fn elapsed(&self) -> Nanos {
        Nanos(self.first_ns.map_or(0, |first| self.last_ns.saturating_sub(first)))
    }

    /// Makes a table of all drives with counts, and plots of active ones.
    pub fn findings(&self) -> Findings {
        let rows = self.drives.iter().map(|(name, watched)| watched.row(name)).collect();
        let mut findings = Findings {
            summary: self.summary(),
            answers: vec![self.stalls()],
            overview: self.overview(),
            ..Findings::default()
        };
        findings.tables.insert("drives".into(), rows);
        let active = || self.drives.iter().filter(|(_, watched)| watched.total.is_active());
        for (name, watched) in active() {
            findings.series.insert(format!("throughput_{name}"), watched.throughput(name));
        }
        for (name, watched) in active() {
            findings.series.insert(format!("latency_{name}"), watched.latency(name));
        }
        for (name, watched) in active().filter(|(_, watched)| watched.total.trim.ios > 0) {
            findings.series.insert(format!("trim_{name}"), watched.trims(name));
        }
        findings
    }

    /// Active drives, busiest first.
    fn by_activity(&self) -> Vec<(&String, &DriveLog)> {
        let mut active: Vec<_> =
            self.drives.iter().filter(|(_, watched)| watched.total.is_active()).collect();
        active.sort_by(|a, b| b.1.total.busy_share().total_cmp(&a.1.total.busy_share()));
        active
    }

    /// The longest stall of all drives, if any reached [`UNANSWERED_AFTER`].
    fn longest_stall(&self) -> Option<(&str, u64)> {
        let stalls = self.drives.iter().map(|(name, watched)| (name.as_str(), watched.waiting.ns));
        stalls.filter(|(_, ns)| *ns >= UNANSWERED_AFTER.0).max_by_key(|(_, ns)| *ns)
    }

    fn summary(&self) -> String {
        match self.by_activity().first() {
            None => wording::IDLE_SUMMARY.into(),
            Some((name, watched)) => {
                let total = &watched.total;
                let [read, write] = total.rates();
                wording::summary(name, total.busy_share(), read, write, self.longest_stall())
            }
        }
    }

    /// The answer on stalls. It is no problem in itself, since the drive may have been unplugged.
    fn stalls(&self) -> Answer {
        if self.by_activity().is_empty() {
            return Answer::unknown("stalls", wording::QUESTION, wording::IDLE);
        }
        let answer = match self.longest_stall() {
            None => Answer::good("stalls", wording::QUESTION, wording::NO_STALLS),
            Some((name, ns)) => Answer::info("stalls", wording::QUESTION, wording::stalled(name, ns)),
        };
        let stalled = self.drives.iter().filter(|(_, watched)| watched.waiting.ns >= UNANSWERED_AFTER.0);
        stalled.fold(answer.caveat(wording::BETWEEN_READINGS), |answer, (name, watched)| {
            let LongestWait { ns, until_ns } = watched.waiting;
            let at = Nanos(until_ns.saturating_sub(self.first_ns.unwrap_or(0)));
            answer.with_evidence(wording::stalled_until(name, ns, at))
        })
    }

    fn overview(&self) -> Overview {
        let mut table = OverviewTable::new(wording::HEADINGS);
        let active = self.by_activity();
        for (name, watched) in &active {
            let Cell { read, write, .. } = &watched.total;
            let latencies = [read.latency_mean(), write.latency_mean()];
            table.push(wording::cells(name, watched.total.busy_share(), watched.total.rates(), latencies));
        }
        Overview {
            lead: Lead::Summary,
            answers: vec!["stalls".into()],
            table: (!active.is_empty()).then_some(table),
            series: active.first().map(|(name, _)| format!("throughput_{name}")),
        }
    }
}

impl DriveLog {
    fn add(&mut self, since_first_ns: u64, at_ns: u64, counts: &IntervalCounts) {
        self.total.add(counts);
        self.read_bytes_per_s_max = self.read_bytes_per_s_max.max(counts.read.bytes_per_s);
        self.write_bytes_per_s_max = self.write_bytes_per_s_max.max(counts.write.bytes_per_s);
        let warmer = |max: f64| counts.temperature_c.map_or(max, |now| now.max(max));
        self.temperature_c_max = self.temperature_c_max.map(warmer).or(counts.temperature_c);
        if counts.waiting_ns > self.waiting.ns {
            self.waiting = LongestWait { ns: counts.waiting_ns, until_ns: at_ns };
        }
        // The interval counts in the cell of its middle, because ends of intervals jitter around those of cells.
        let middle = since_first_ns.saturating_sub(counts.elapsed_ns / 2);
        while middle / self.width_ns >= CELLS_MAX as u64 {
            self.coarsen();
        }
        let index = (middle / self.width_ns) as usize;
        if index >= self.cells.len() {
            self.cells.resize(index + 1, Cell::default());
        }
        self.cells[index].add(counts);
    }

    fn coarsen(&mut self) {
        self.width_ns *= 2;
        let joined = self.cells.chunks(2).map(|pair| pair.iter().fold(Cell::default(), Cell::merge));
        self.cells = joined.collect();
    }

    fn row(&self, name: &str) -> Row {
        let total = &self.total;
        let secs = total.elapsed_ns as f64 / 1e9;
        let row = DriveRow {
            drive: name,
            model: self.model.as_deref(),
            counted_ns: total.elapsed_ns,
            read_bytes: total.read.bytes,
            write_bytes: total.write.bytes,
            trim_bytes: total.trim.bytes,
            read_bytes_per_s: total.read.bytes as f64 / secs,
            read_max_bytes_per_s: self.read_bytes_per_s_max,
            write_bytes_per_s: total.write.bytes as f64 / secs,
            write_max_bytes_per_s: self.write_bytes_per_s_max,
            read_iops: total.read.ios as f64 / secs,
            write_iops: total.write.ios as f64 / secs,
            read_latency_ns_mean: total.read.latency_mean(),
            write_latency_ns_mean: total.write.latency_mean(),
            queue_mean: total.queue_ns / total.elapsed_ns as f64,
            busy_percent: total.busy_ns / total.elapsed_ns as f64 * 100.0,
            waiting_ns_max: self.waiting.ns,
            temperature_c_max: self.temperature_c_max,
        };
        match serde_json::to_value(row) {
            Ok(serde_json::Value::Object(row)) => row,
            _ => unreachable!("a row is plain values"),
        }
    }

    fn throughput(&self, name: &str) -> Series {
        let curves = [("read", self.rate(|cell| &cell.read)), ("write", self.rate(|cell| &cell.write))];
        over_time(wording::throughput(name), Axis::new("throughput", "bytes/s"), curves)
    }

    /// TRIM has its own axis: one large discard would hide reads and writes.
    fn trims(&self, name: &str) -> Series {
        let curves = [("trim", self.rate(|cell| &cell.trim))];
        over_time(wording::trims(name), Axis::new("trimmed", "bytes/s"), curves)
    }

    fn rate(&self, sum: impl Fn(&Cell) -> &Sum) -> Vec<[f64; 2]> {
        self.points(|cell| Some(sum(cell).bytes as f64 * 1e9 / cell.elapsed_ns as f64))
    }

    fn latency(&self, name: &str) -> Series {
        let curves = [
            ("read", self.points(|cell| cell.read.latency_mean())),
            ("write", self.points(|cell| cell.write.latency_mean())),
        ];
        let curves = curves.into_iter().filter(|(_, points)| !points.is_empty());
        over_time(wording::latency(name), Axis::new("mean latency", "ns"), curves)
    }

    /// A value for each cell with counts, at its middle.
    fn points(&self, value: impl Fn(&Cell) -> Option<f64>) -> Vec<[f64; 2]> {
        let counts = self.cells.iter().enumerate().filter(|(_, cell)| cell.elapsed_ns > 0);
        let point =
            |(index, cell): (usize, &Cell)| Some([(index as f64 + 0.5) * self.width_ns as f64, value(cell)?]);
        counts.filter_map(point).collect()
    }
}

/// A series of curves over time, each with its name.
fn over_time(
    title: String,
    y: Axis,
    curves: impl IntoIterator<Item = (&'static str, Vec<[f64; 2]>)>,
) -> Series {
    let curves = curves.into_iter().map(|(name, points)| Curve::new(name, points));
    Series::new(title, Shape::Line, Axis::new("time", "ns"), y).lines(curves)
}

impl Cell {
    fn add(&mut self, counts: &IntervalCounts) {
        self.elapsed_ns = self.elapsed_ns.saturating_add(counts.elapsed_ns);
        self.read.add(&counts.read);
        self.write.add(&counts.write);
        counts.trim.iter().for_each(|trim| self.trim.add(trim));
        self.busy_ns += counts.busy_percent / 100.0 * counts.elapsed_ns as f64;
        self.queue_ns += counts.queue_mean * counts.elapsed_ns as f64;
    }

    fn merge(self, other: &Self) -> Self {
        Self {
            elapsed_ns: self.elapsed_ns.saturating_add(other.elapsed_ns),
            read: self.read.merge(&other.read),
            write: self.write.merge(&other.write),
            trim: self.trim.merge(&other.trim),
            busy_ns: self.busy_ns + other.busy_ns,
            queue_ns: self.queue_ns + other.queue_ns,
        }
    }

    /// Share of the time with I/O in flight.
    fn busy_share(&self) -> f64 {
        self.busy_ns / (self.elapsed_ns as f64).max(1.0)
    }

    /// Bytes per second of reads and writes.
    fn rates(&self) -> [f64; 2] {
        let secs = (self.elapsed_ns as f64 / 1e9).max(1e-9);
        [self.read.bytes as f64 / secs, self.write.bytes as f64 / secs]
    }

    fn is_active(&self) -> bool {
        [self.read.ios, self.write.ios, self.trim.ios].iter().any(|ios| *ios > 0) || self.queue_ns > 0.0
    }
}

impl Sum {
    fn add(&mut self, op: &OpLine) {
        // Any program may have edited the log, so its sums may overflow.
        self.ios = self.ios.saturating_add(op.ios);
        self.bytes = self.bytes.saturating_add(op.bytes);
        self.latency_ns += op.latency_ns_mean.unwrap_or(0) as f64 * op.ios as f64;
    }

    fn merge(self, other: &Self) -> Self {
        Self {
            ios: self.ios.saturating_add(other.ios),
            bytes: self.bytes.saturating_add(other.bytes),
            latency_ns: self.latency_ns + other.latency_ns,
        }
    }

    fn latency_mean(&self) -> Option<f64> {
        (self.ios > 0).then(|| self.latency_ns / self.ios as f64)
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::findings::Standing;

    use super::*;

    /// A second in which `ios` reads of 4 KiB completed, each after a millisecond.
    fn second(drive: &str, end: u64, ios: u64, waiting_secs: u64) -> Line {
        let read = OpLine {
            ios,
            bytes: 4096 * ios,
            iops: ios as f64,
            bytes_per_s: 4096.0 * ios as f64,
            latency_ns_mean: (ios > 0).then_some(1_000_000),
            ..OpLine::default()
        };
        let counts = IntervalCounts {
            elapsed_ns: 1_000_000_000,
            read,
            write: OpLine::default(),
            trim: None,
            flush: None,
            in_flight: u64::from(waiting_secs > 0),
            queue_mean: ios as f64 / 1000.0,
            busy_percent: 25.0,
            waiting_ns: waiting_secs * 1_000_000_000,
            temperature_c: Some(30.0 + end as f64),
        };
        Line {
            time: String::new(),
            at_ns: end * 1_000_000_000,
            drive: drive.into(),
            state: "counted".into(),
            model: None,
            counts: Some(counts),
        }
    }

    #[test]
    fn a_log_comes_to_means_and_curves() {
        let mut log = Log::default();
        log.add(&Line { counts: None, state: "appeared".into(), ..second("sda", 0, 0, 0) });
        for end in 1..=10 {
            log.add(&second("sda", end, 100 * end, 0));
        }
        log.add(&second("sdb", 10, 0, 0));
        let findings = log.findings();
        let row = &findings.tables["drives"][0];
        assert_eq!(row["read_bytes"], 5500 * 4096);
        assert_eq!((&row["read_iops"], &row["read_latency_ns_mean"]), (&550.0.into(), &1e6.into()));
        assert_eq!((&row["busy_percent"], &row["temperature_c_max"]), (&25.0.into(), &40.0.into()));
        assert_eq!(row["read_max_bytes_per_s"], 4_096_000.0);
        assert_eq!(findings.series.keys().collect::<Vec<_>>(), ["throughput_sda", "latency_sda"]);
        let points = &findings.series["throughput_sda"].lines[0].points;
        assert_eq!((points.len(), points[9]), (10, [9.5e9, 4_096_000.0]));
        assert_eq!(findings.answers[0].standing, Standing::Good);
        assert!(findings.summary.starts_with("sda was busy 25% of the time"), "{}", findings.summary);
        assert_eq!(findings.overview.table.unwrap().rows.len(), 1, "an idle drive has no row");
        assert_eq!(log.elapsed(), Nanos::from_secs(10));
    }

    #[test]
    fn discards_have_a_picture_of_their_own() {
        let mut log = Log::default();
        let mut line = second("sda", 1, 5, 0);
        let trim = OpLine { ios: 1, bytes: 1 << 30, bytes_per_s: 1073741824.0, ..OpLine::default() };
        line.counts.as_mut().unwrap().trim = Some(trim);
        log.add(&line);
        let series = log.findings().series;
        assert_eq!(series.keys().collect::<Vec<_>>(), ["throughput_sda", "latency_sda", "trim_sda"]);
        assert_eq!(series["trim_sda"].lines[0].points, [[0.5e9, 1073741824.0]]);
        assert_eq!(series["throughput_sda"].lines.len(), 2);
    }

    #[test]
    fn a_drive_that_left_things_unanswered_is_named() {
        let mut log = Log::default();
        assert_eq!(log.findings().answers[0].standing, Standing::Unknown);
        log.add(&second("sda", 1, 5, 0));
        log.add(&second("sda", 2, 0, 1));
        log.add(&second("sda", 3, 0, 2));
        let findings = log.findings();
        let answer = &findings.answers[0];
        assert_eq!(answer.standing, Standing::Info);
        assert!(answer.evidence[0].contains("sda completed nothing for at least 2.00 s"), "{answer:?}");
        assert!(findings.summary.starts_with("sda stalled for 2.00 s. "), "{}", findings.summary);
    }

    #[test]
    fn a_long_log_keeps_its_totals_in_few_points() {
        let mut log = Log::default();
        (1..=10_000).for_each(|end| log.add(&second("sda", end, 7, 0)));
        let findings = log.findings();
        let points = &findings.series["throughput_sda"].lines[0].points;
        assert!(
            points.len() <= CELLS_MAX && points.iter().all(|[_, rate]| *rate == 7.0 * 4096.0),
            "{points:?}"
        );
        assert_eq!(findings.tables["drives"][0]["read_bytes"], 70_000 * 4096);
    }
}
