//! What a trace holds, found in one pass.

mod busy;
mod in_flight;
mod sequence;

use std::hash::Hasher as _;

use likenew_core::io::Op;
use likenew_core::trace::{TraceIo, TraceSource};
use likenew_core::units::Nanos;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use busy::BusySpans;
use in_flight::InFlight;
use sequence::Sequence;

/// Applications that are listed by name.
const LISTED_MAX: usize = 31;

/// The name of all others together.
const OTHER_APPLICATIONS: &str = "(others)";

/// What a trace holds. Bytes and nanoseconds; times are those of the recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survey {
    /// XXH3-64 over all records: equal for equal records, whatever the file's format and compression.
    pub digest: String,
    /// I/Os of all kinds.
    pub records: u64,
    /// From the first that left to the last that left.
    pub span_ns: Nanos,
    /// The end of the highest address.
    pub end_max_bytes: u64,
    /// The longest read or write.
    pub length_max_bytes: u64,
    /// Of reads and writes, the share that begins where one of the 16 before it of the same operation ended.
    pub sequential_share: f64,
    /// Reads.
    pub read: Amount,
    /// Writes.
    pub write: Amount,
    /// Discards.
    pub trim: Amount,
    /// Flushes; they have no bytes.
    pub flush: Amount,
    /// Results from latencies, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyStats>,
    /// Applications by bytes, the 31 with most, and all others together under `(others)`; the empty name
    /// stands for those that are not known.
    #[serde(default)]
    pub applications: Vec<ApplicationShare>,
}

/// Some I/Os.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// How many.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Results from latencies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyStats {
    /// I/Os whose latency is known; the rest of this is about them.
    pub ios: u64,
    /// Time in which at least one was in flight.
    pub busy_ns: Nanos,
    /// The sum of their latencies.
    pub waiting_ns: Nanos,
    /// In flight on average, while any was: waiting over busy time.
    pub depth_mean: f64,
    /// In flight at most; 65 536 means as many or more.
    pub depth_max: u64,
}

/// The I/Os of one application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplicationShare {
    /// Its name.
    pub application: String,
    /// I/Os of all kinds.
    pub ios: u64,
    /// Bytes of all kinds.
    pub bytes: u64,
    /// The sum of its latencies, as far as they are known.
    pub waiting_ns: Nanos,
    /// Time in which at least one of its I/Os was in flight; not known of `(others)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_ns: Option<Nanos>,
}

/// Reads a trace to its end.
///
/// # Errors
/// What the source says.
pub fn survey(source: &mut dyn TraceSource) -> Result<Survey, String> {
    let mut surveyor = Surveyor::default();
    while let Some(io) = source.next_io()? {
        surveyor.put(&io, source.applications());
    }
    Ok(surveyor.finish(source.applications()))
}

/// Takes the records of a trace one by one, in memory that does not grow with their number.
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
    /// Stands for the name in the digest.
    hash: u64,
}

impl Surveyor {
    /// Takes the next record of a trace with these applications.
    ///
    /// # Panics
    /// The application of a record is not among them.
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

    /// The results so far.
    pub fn finish(self, applications: &[String]) -> Survey {
        let [read, write, trim, flush] = self.amounts;
        let (busy_ns, waiting_ns) = (self.busy.time(), self.busy.waiting());
        let latency = (self.recorded_ios > 0).then(|| LatencyStats {
            ios: self.recorded_ios,
            busy_ns,
            waiting_ns,
            depth_mean: if busy_ns == Nanos::ZERO { 0.0 } else { waiting_ns.0 as f64 / busy_ns.0 as f64 },
            depth_max: self.in_flight.max() as u64,
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

/// The applications by bytes, and behind the first 31 all others as one.
fn shares(applications: &[Application], names: &[String]) -> Vec<ApplicationShare> {
    let met = applications.iter().zip(names).filter(|(application, _)| application.amount.ios > 0);
    let mut shares: Vec<ApplicationShare> = met
        .map(|(application, name)| ApplicationShare {
            application: name.clone(),
            ios: application.amount.ios,
            bytes: application.amount.bytes,
            waiting_ns: application.busy.waiting(),
            busy_ns: (application.busy.waiting() > Nanos::ZERO).then(|| application.busy.time()),
        })
        .collect();
    shares.sort_by(|a, b| (b.bytes, b.ios).cmp(&(a.bytes, a.ios)).then(a.application.cmp(&b.application)));
    if shares.len() > LISTED_MAX + 1 {
        let rest = shares.split_off(LISTED_MAX);
        shares.push(ApplicationShare {
            application: OTHER_APPLICATIONS.to_owned(),
            ios: rest.iter().map(|share| share.ios).sum(),
            bytes: rest.iter().fold(0, |sum, share| sum.saturating_add(share.bytes)),
            waiting_ns: rest.iter().fold(Nanos::ZERO, |sum, share| sum + share.waiting_ns),
            busy_ns: None,
        });
    }
    shares
}

/// A hash over all records.
#[derive(Default)]
struct Digest {
    hasher: XxHash3_64,
    /// Records that wait to be hashed together.
    bytes: Vec<u8>,
}

/// Bytes that are hashed at once.
const HASHED_BYTES: usize = 32 << 10;

impl Digest {
    fn put(&mut self, io: &TraceIo, application: u64) {
        // No latency is longer than a year, so the highest bit is free.
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

#[cfg(test)]
mod tests;
