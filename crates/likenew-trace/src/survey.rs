//! Surveys a trace in one pass: volume, operations, latencies, sequential share and applications.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hasher as _;

use likenew_core::io::Op;
use likenew_core::trace::{TraceIo, TraceSource};
use likenew_core::units::Nanos;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

/// Most applications that are listed by name.
const LISTED_MAX: usize = 31;

/// Name for all other applications together.
const OTHER_APPLICATIONS: &str = "(others)";

/// The results of a survey, in bytes and nanoseconds; times are those of the recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survey {
    /// XXH3-64 over all records: equal for equal records, whatever the file's format and compression.
    pub digest: String,
    /// Number of I/Os.
    pub records: u64,
    /// From the start of the first I/O to the start of the last.
    pub span_ns: Nanos,
    /// Highest address of an I/O's end.
    pub end_max_bytes: u64,
    /// Longest read or write.
    pub length_max_bytes: u64,
    /// Share of reads and writes that begin where one of 16 tracked streams of the same operation ended.
    pub sequential_share: f64,
    /// Reads.
    pub read: Amount,
    /// Writes.
    pub write: Amount,
    /// Discards.
    pub trim: Amount,
    /// Flushes, which have no bytes.
    pub flush: Amount,
    /// Statistics of latencies, if the trace has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyStats>,
    /// Applications by bytes: the 31 with the most, and `(others)`. The empty name stands for unknown applications.
    #[serde(default)]
    pub applications: Vec<ApplicationShare>,
}

/// A number of I/Os and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Number of I/Os.
    pub ios: u64,
    /// Bytes of these I/Os.
    pub bytes: u64,
}

/// Statistics of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyStats {
    /// I/Os with a known latency, to which the other fields refer.
    pub ios: u64,
    /// Time with at least one I/O in flight.
    pub busy_ns: Nanos,
    /// Sum of all latencies.
    pub waiting_ns: Nanos,
    /// Mean number of I/Os in flight during busy time: waiting over busy time.
    pub depth_mean: f64,
    /// Most I/Os in flight; 65 536 means as many or more.
    pub depth_max: u64,
}

/// The share of one application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplicationShare {
    /// The application's name.
    pub application: String,
    /// I/Os of all operations.
    pub ios: u64,
    /// Bytes of all operations.
    pub bytes: u64,
    /// Sum of the known latencies.
    pub waiting_ns: Nanos,
    /// Time with at least one I/O in flight; unknown for `(others)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_ns: Option<Nanos>,
}

/// Surveys a trace to its end.
///
/// # Errors
/// The source's error.
pub fn survey(source: &mut dyn TraceSource) -> Result<Survey, String> {
    let mut surveyor = Surveyor::default();
    while let Some(io) = source.next_io()? {
        surveyor.put(&io, source.applications());
    }
    Ok(surveyor.finish(source.applications()))
}

/// Surveys records one by one, in memory that does not grow with their number.
#[derive(Default)]
pub struct Surveyor {
    digest: Digest,
    records: u64,
    span: Nanos,
    end_max: u64,
    length_max: u64,
    amounts: [Amount; 4],
    sequence: Sequence,
    recorded_ios: u64,
    busy: BusySpans,
    in_flight: InFlight,
    applications: Vec<Application>,
}

#[derive(Clone, Default)]
struct Application {
    amount: Amount,
    busy: BusySpans,
    /// Hash of the name, for the digest.
    hash: u64,
}

impl Surveyor {
    /// Takes the next record; `applications` are the names known so far.
    ///
    /// # Panics
    /// The record's application is not among them.
    pub fn put(&mut self, io: &TraceIo, applications: &[String]) {
        self.records += 1;
        self.span = io.at;
        add(&mut self.amounts[io.op.index()], io.length);
        if matches!(io.op, Op::Read | Op::Write) {
            self.length_max = self.length_max.max(io.length);
            self.sequence.put(io);
        }
        self.end_max = self.end_max.max(io.offset.saturating_add(io.length));
        let index = usize::from(io.application);
        if index >= self.applications.len() {
            let new = &applications[self.applications.len()..];
            self.applications.extend(new.iter().map(|name| Application {
                hash: XxHash3_64::oneshot(name.as_bytes()),
                ..Application::default()
            }));
        }
        let application = &mut self.applications[index];
        add(&mut application.amount, io.length);
        if let Some(latency) = io.latency {
            self.recorded_ios += 1;
            self.busy.put(io.at, latency);
            self.in_flight.put(io.at, latency);
            application.busy.put(io.at, latency);
        }
        self.digest.put(io, application.hash);
    }

    /// The survey of all records so far.
    pub fn finish(self, applications: &[String]) -> Survey {
        let [read, write, trim, flush] = self.amounts;
        let (busy_ns, waiting_ns) = (self.busy.time, self.busy.waiting);
        let latency = (self.recorded_ios > 0).then(|| LatencyStats {
            ios: self.recorded_ios,
            busy_ns,
            waiting_ns,
            depth_mean: if busy_ns == Nanos::ZERO { 0.0 } else { waiting_ns.0 as f64 / busy_ns.0 as f64 },
            depth_max: self.in_flight.max as u64,
        });
        Survey {
            digest: self.digest.finish(),
            records: self.records,
            span_ns: self.span,
            end_max_bytes: self.end_max,
            length_max_bytes: self.length_max,
            sequential_share: self.sequence.share(),
            read,
            write,
            trim,
            flush,
            latency,
            applications: shares(&self.applications, applications),
        }
    }
}

fn add(amount: &mut Amount, bytes: u64) {
    amount.ios += 1;
    amount.bytes = amount.bytes.saturating_add(bytes);
}

/// Applications by bytes; those after the first 31 are joined.
fn shares(applications: &[Application], names: &[String]) -> Vec<ApplicationShare> {
    let met = applications.iter().zip(names).filter(|(application, _)| application.amount.ios > 0);
    let mut shares: Vec<ApplicationShare> = met
        .map(|(application, name)| ApplicationShare {
            application: name.clone(),
            ios: application.amount.ios,
            bytes: application.amount.bytes,
            waiting_ns: application.busy.waiting,
            busy_ns: (application.busy.waiting > Nanos::ZERO).then_some(application.busy.time),
        })
        .collect();
    shares.sort_by(|a, b| (b.bytes, b.ios).cmp(&(a.bytes, a.ios)).then(a.application.cmp(&b.application)));
    if shares.len() > LISTED_MAX + 1 {
        let others = shares.split_off(LISTED_MAX);
        shares.push(ApplicationShare {
            application: OTHER_APPLICATIONS.to_owned(),
            ios: others.iter().map(|share| share.ios).sum(),
            bytes: others.iter().fold(0, |sum, share| sum.saturating_add(share.bytes)),
            waiting_ns: others.iter().fold(Nanos::ZERO, |sum, share| sum + share.waiting_ns),
            busy_ns: None,
        });
    }
    shares
}

/// A hash of all records.
#[derive(Default)]
struct Digest {
    hasher: XxHash3_64,
    /// Records that are hashed together later.
    bytes: Vec<u8>,
}

/// Bytes that are hashed at a time.
const HASHED_BYTES: usize = 32 << 10;

impl Digest {
    fn put(&mut self, io: &TraceIo, application: u64) {
        // Latencies are below a year, so the highest bit is free to tell a known 0 from unknown.
        let latency = io.latency.map_or(0, |latency| latency.0 | 1 << 63);
        for number in [io.at.0, io.op.index() as u64, io.offset, io.length, latency, application] {
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
        if self.bytes.len() >= HASHED_BYTES {
            self.hasher.write(&self.bytes);
            self.bytes.clear();
        }
    }

    fn finish(mut self) -> String {
        self.hasher.write(&self.bytes);
        format!("xxh3-64:{:016x}", self.hasher.finish())
    }
}

/// Sum and union of spans, which come ordered by their start.
#[derive(Clone, Copy, Default)]
struct BusySpans {
    /// Length of the union: how long at least one I/O was in flight.
    time: Nanos,
    /// Sum of all spans.
    waiting: Nanos,
    /// The latest end of a span.
    until: Nanos,
}

impl BusySpans {
    fn put(&mut self, at: Nanos, latency: Nanos) {
        let end = at + latency;
        self.time += end.since(at.max(self.until));
        self.until = self.until.max(end);
        self.waiting += latency;
    }
}

/// Most I/Os in flight that are counted; a damaged trace must not fill the memory.
const COUNTED_MAX: usize = 1 << 16;

/// Counts I/Os in flight, which come ordered by their start.
#[derive(Default)]
struct InFlight {
    ends: BinaryHeap<Reverse<Nanos>>,
    max: usize,
}

impl InFlight {
    fn put(&mut self, at: Nanos, latency: Nanos) {
        while self.ends.peek().is_some_and(|end| end.0 <= at) {
            self.ends.pop();
        }
        if self.ends.len() < COUNTED_MAX {
            self.ends.push(Reverse(at + latency));
        }
        self.max = self.max.max(self.ends.len());
    }
}

/// Streams that are tracked for each of reads and writes.
const STREAMS_TRACKED: usize = 16;

/// Finds sequential reads and writes: those that begin where an earlier one ended.
#[derive(Default)]
struct Sequence {
    reads: Ends,
    writes: Ends,
    continuing: u64,
    all: u64,
}

#[derive(Default)]
struct Ends {
    ends: [u64; STREAMS_TRACKED],
    next: usize,
}

impl Sequence {
    /// Takes a read or a write.
    fn put(&mut self, io: &TraceIo) {
        let ends = if io.op == Op::Read { &mut self.reads } else { &mut self.writes };
        self.all += 1;
        // An unused entry is 0 and must not match an I/O at address 0.
        let continuing = ends.ends.iter().position(|end| *end == io.offset && *end > 0);
        let place = continuing.unwrap_or(ends.next);
        if continuing.is_some() {
            self.continuing += 1;
        } else {
            ends.next = (ends.next + 1) % STREAMS_TRACKED;
        }
        ends.ends[place] = io.offset.saturating_add(io.length);
    }

    /// Sequential share, 0 to 1.
    fn share(&self) -> f64 {
        if self.all == 0 { 0.0 } else { self.continuing as f64 / self.all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Listed<'a>(std::slice::Iter<'a, TraceIo>, Vec<String>);

    impl TraceSource for Listed<'_> {
        fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
            Ok(self.0.next().copied())
        }

        fn applications(&self) -> &[String] {
            &self.1
        }
    }

    fn io(at: u64, op: Op, offset: u64, length: u64, latency: Option<u64>, application: u16) -> TraceIo {
        TraceIo { at: Nanos(at), op, offset, length, latency: latency.map(Nanos), application }
    }

    fn surveyed(ios: &[TraceIo], names: &[&str]) -> Survey {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        survey(&mut Listed(ios.iter(), names)).unwrap()
    }

    #[test]
    fn figures_are_those_counted_by_hand() {
        let ios = [
            io(0, Op::Write, 0, 4096, Some(100), 1),
            io(50, Op::Read, 1 << 20, 512, Some(100), 2),
            io(60, Op::Write, 4096, 8192, Some(10), 1),
            io(200, Op::Read, (1 << 20) + 512, 512, None, 2),
            io(300, Op::Flush, 0, 0, Some(40), 0),
            io(400, Op::Trim, 1 << 21, 1 << 22, Some(0), 1),
        ];
        let survey = surveyed(&ios, &["", "db", "backup"]);
        assert_eq!((survey.records, survey.span_ns, survey.end_max_bytes), (6, Nanos(400), 3 << 21));
        assert_eq!((survey.length_max_bytes, survey.sequential_share), (8192, 0.5));
        assert_eq!(survey.read, Amount { ios: 2, bytes: 1024 });
        assert_eq!(survey.write, Amount { ios: 2, bytes: 12_288 });
        assert_eq!(survey.trim, Amount { ios: 1, bytes: 1 << 22 });
        assert_eq!(survey.flush, Amount { ios: 1, bytes: 0 });
        let latency = survey.latency.unwrap();
        assert_eq!((latency.ios, latency.busy_ns, latency.waiting_ns), (5, Nanos(190), Nanos(250)));
        assert_eq!((latency.depth_max, latency.depth_mean), (3, 250.0 / 190.0));
        let shares: Vec<_> = survey
            .applications
            .iter()
            .map(|share| {
                (share.application.as_str(), share.ios, share.waiting_ns.0, share.busy_ns.map(|ns| ns.0))
            })
            .collect();
        assert_eq!(shares, [("db", 3, 110, Some(100)), ("backup", 2, 100, Some(100)), ("", 1, 40, Some(40))]);
    }

    #[test]
    fn the_digest_knows_every_value() {
        let first = io(0, Op::Write, 512, 4096, Some(1), 1);
        let names = ["", "a", "b"];
        let digest = |io: TraceIo| surveyed(&[io], &names).digest;
        let changed = [
            TraceIo { at: Nanos(1), ..first },
            TraceIo { op: Op::Read, ..first },
            TraceIo { offset: 1024, ..first },
            TraceIo { length: 512, ..first },
            TraceIo { latency: None, ..first },
            TraceIo { latency: Some(Nanos(0)), ..first },
            TraceIo { application: 2, ..first },
        ];
        for other in changed {
            assert_ne!(digest(other), digest(first), "{other:?}");
        }
        // The digest depends on the application's name, not on its index.
        assert_eq!(surveyed(&[TraceIo { application: 2, ..first }], &["", "b", "a"]).digest, digest(first));
        assert_eq!(digest(first).len(), "xxh3-64:".len() + 16);
    }

    #[test]
    fn of_many_applications_the_rest_is_one() {
        let names: Vec<String> =
            std::iter::once(String::new()).chain((1..100).map(|n| format!("p{n}"))).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let ios: Vec<TraceIo> =
            (1..100).map(|n| io(n, Op::Read, 0, 512 * n, Some(1), u16::try_from(n).unwrap())).collect();
        let survey = surveyed(&ios, &names);
        assert_eq!(survey.applications.len(), 32);
        assert_eq!(survey.applications[0].application, "p99");
        let others = &survey.applications[31];
        assert_eq!((others.application.as_str(), others.ios, others.busy_ns), ("(others)", 68, None));
        assert_eq!(survey.applications.iter().map(|share| share.bytes).sum::<u64>(), survey.read.bytes);
    }

    #[test]
    fn an_empty_trace_has_a_survey_that_is_kept_in_a_plan() {
        for ios in [vec![], vec![io(0, Op::Read, 0, 512, None, 0)]] {
            let survey = surveyed(&ios, &[""]);
            assert!(survey.latency.is_none());
            let text = serde_json::to_string(&survey).unwrap();
            assert_eq!(serde_json::from_str::<Survey>(&text).unwrap(), survey);
        }
    }
}
