//! The server: in each turn it reads from clients, advances the drive and sends replies. Also its clock, its counters
//! and its notes for the operator.

use std::io::{Read, Write};

use auto_impl::auto_impl;
use hdrhistogram::Histogram;
use likenew_core::counters::FlashCounters;
use likenew_core::drive::{Drive, Lane, LaneRequirements};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use serde::Serialize;

use super::engine::{CompletedRequest, Content, Engine};
use super::handshake::Export;
use super::protocol::{
    CONNECTIONS_MAX, DEPTH, Errno, FAREWELL, HELD_BYTES_MAX, HELD_BYTES_MAX_OF_ALL, HELD_BYTES_SHARE, IDLE,
    PATIENCE, PIECE_MAX, REQUESTS_MAX, SLICE,
};
use super::reply::{answer, answer_status};
use super::request::{Command, ValidRequest};
use super::session::{ParseOutcome, Session};
use super::store::Store;
use super::wording;

/// How a drive is served.
pub struct Service {
    /// The export.
    pub export: Export,
    /// The store of written data; `None` if the drive holds the data.
    pub store: Option<Box<dyn Store>>,
    /// Seconds on the drive's clock per second of wall time.
    pub speed: f64,
    /// Whether the drive's speed depends on how far bytes compress.
    pub compresses: bool,
}

/// Serves one lane of a drive to several clients on streams that never block.
///
/// The owner calls [`poll`](Self::poll) when a stream is ready or [`wake_at`](Self::wake_at) has come.
pub struct Server<'a, S, C> {
    engine: Engine<'a>,
    export: Export,
    clock_scale: ClockScale,
    clock: C,
    sessions: Vec<Session<S>>,
    stats: ServeStats,
    lags: LagHistogram,
    notes: Notes,
    completions: Vec<CompletedRequest>,
    /// After [`end`](Self::end), the time until which clients may fetch their answers.
    closing_deadline: Option<Nanos>,
    /// Whether the drive's time is behind the wall clock.
    is_behind: bool,
}

/// The events to wait for on a client's stream.
#[derive(Debug)]
pub struct Interest<'s, S> {
    /// The client's number for [`Server::poll`].
    pub client: u64,
    /// The client's stream.
    pub stream: &'s S,
    /// Whether to wait until the stream is readable.
    pub reads: bool,
    /// Whether to wait until the stream is writable.
    pub writes: bool,
}

/// Opens a lane for a [`Server`].
///
/// # Errors
/// The target cannot be used.
pub fn lane(drive: &mut dyn Drive) -> Result<Lane<'_>, TargetError> {
    let need = LaneRequirements { lanes: 1, depth: DEPTH, length_max: PIECE_MAX };
    let mut lanes = drive.lanes(&need)?;
    Ok(lanes.pop().expect("a drive opens the lane that it was asked for"))
}

impl<'a, S: Read + Write, C: Clock> Server<'a, S, C> {
    /// Serves this [`lane`]. The drive's time follows the clock from now on.
    pub fn new(lane: Lane<'a>, service: Service, clock: C) -> Self {
        let Service { export, store, speed, compresses } = service;
        let now = clock.now();
        Self {
            clock_scale: ClockScale::new(now, lane.now(), speed),
            engine: Engine::new(lane, store, Content::new(compresses)),
            export,
            clock,
            sessions: Vec::new(),
            stats: ServeStats::default(),
            lags: LagHistogram::new(),
            notes: Notes::new(now),
            completions: Vec::new(),
            closing_deadline: None,
            is_behind: false,
        }
    }

    /// Adds a client that has connected, or rejects it beyond the limit. `peer` describes it in notes.
    pub fn connect(&mut self, stream: S, peer: &str) {
        self.stats.connections += 1;
        let (id, now) = (self.stats.connections, self.clock.now());
        let peer = format!("client {id} ({peer})");
        if self.sessions.len() >= CONNECTIONS_MAX || self.closing_deadline.is_some() {
            self.stats.dropped += 1;
            self.notes.add(now, wording::client_refused(&peer, CONNECTIONS_MAX));
            return;
        }
        self.sessions.push(Session::new(id, peer, stream, now));
    }

    /// The events to wait for, one for each client.
    pub fn interests(&self) -> impl Iterator<Item = Interest<'_, S>> {
        let byte_count = self.buffered_bytes();
        self.sessions.iter().map(move |session| Interest {
            client: session.id,
            stream: &session.stream,
            reads: session.has_room() && may_ask(session, byte_count),
            writes: !session.outbox.is_empty(),
        })
    }

    /// The wall time at which [`poll`](Self::poll) must be called at the latest.
    pub fn wake_at(&self) -> Nanos {
        let now = self.clock.now();
        if self.is_behind {
            return now;
        }
        let idle = now + IDLE;
        let next = self.engine.next_at().map(|at| self.clock_scale.wall_at(at));
        let deadlines = self.sessions.iter().filter_map(Session::deadline);
        let farewell = self.closing_deadline.filter(|_| !self.sessions.is_empty());
        deadlines.chain(next).chain(farewell).fold(idle, Nanos::min)
    }

    /// Does one turn: reads from the `readable` clients, advances the drive to the present, and sends replies.
    ///
    /// # Errors
    /// The target cannot continue. A client's error only ends its connection.
    pub fn poll(&mut self, readable: &[u64]) -> Result<(), TargetError> {
        for session in self.sessions.iter_mut().filter(|session| readable.contains(&session.id)) {
            if session.read().is_err() {
                session.drop_now();
            }
        }
        let now = self.clock.now();
        self.catch_up(now)?;
        self.answer_all();
        for index in 0..self.sessions.len() {
            self.read_ready(index, now);
        }
        self.engine.submit_next()?;
        self.answer_all();
        self.send_all();
        self.drop_closed(now);
        Ok(())
    }

    /// Advances the drive towards the present for at most [`PATIENCE`]. A drive that is simulated too slowly must not
    /// keep clients and signals waiting.
    fn catch_up(&mut self, now: Nanos) -> Result<(), TargetError> {
        let (due, slice) = (self.clock_scale.drive_at(now), self.clock_scale.span(SLICE));
        loop {
            let until = due.min(self.engine.lane.now() + slice);
            self.engine.advance(until, &mut self.completions)?;
            self.is_behind = until < due;
            if !self.is_behind || self.clock.now().since(now) >= PATIENCE {
                return Ok(());
            }
        }
    }

    /// Begins to shut down: requests in progress are still answered, new ones are refused.
    pub fn end(&mut self) {
        let until = self.clock.now() + FAREWELL;
        self.closing_deadline.get_or_insert(until);
    }

    /// Whether the shutdown is complete: all clients have their answers, or their time is up.
    pub fn has_ended(&self) -> bool {
        self.closing_deadline.is_some() && self.sessions.is_empty()
    }

    /// Whether there were clients and all have left.
    pub fn has_no_clients(&self) -> bool {
        self.stats.clients > 0 && self.sessions.is_empty()
    }

    /// Number of connected clients.
    pub fn clients(&self) -> usize {
        self.sessions.len()
    }

    /// The counters so far.
    pub fn stats(&self) -> ServeStats {
        ServeStats {
            depth_max: self.engine.depth_max,
            bytes_kept: self.engine.store.as_ref().map(|store| store.buffered_bytes()),
            lag: self.lags.sum_up(),
            ..self.stats.clone()
        }
    }

    /// The drive's time.
    pub fn drive_now(&self) -> Nanos {
        self.engine.lane.now()
    }

    /// Current flash counters of a simulated drive.
    pub fn flash_counters(&self) -> Option<FlashCounters> {
        self.engine.lane.flash_counters()
    }

    /// Takes the notes for the operator that were added since the last call.
    pub fn notes(&mut self) -> Vec<String> {
        self.notes.take()
    }

    /// Bytes held for all clients.
    pub(crate) fn buffered_bytes(&self) -> u64 {
        self.sessions.iter().map(Session::buffered_bytes).sum()
    }

    /// Parses a client's input, request by request, up to the limits.
    fn read_ready(&mut self, index: usize, now: Nanos) {
        loop {
            let byte_count = self.buffered_bytes();
            let session = &mut self.sessions[index];
            if !session.listens() || !may_ask(session, byte_count) {
                return;
            }
            match session.parse(&self.export, self.closing_deadline.is_some()) {
                Ok(ParseOutcome::Request(request)) => self.take(index, request),
                Ok(ParseOutcome::Refused(errno, reason)) => {
                    self.stats.refused += 1;
                    self.note(index, now, &wording::request_refused(reason, errno.number()));
                }
                Ok(ParseOutcome::Transmits) => self.stats.clients += 1,
                Ok(ParseOutcome::Step) => {}
                Ok(ParseOutcome::NeedMore) => return session.starve(),
                Err(reason) => {
                    session.drop_now();
                    self.stats.dropped += 1;
                    self.note(index, now, &wording::client_dropped(reason));
                    return;
                }
            }
        }
    }

    fn take(&mut self, index: usize, request: ValidRequest) {
        let session = &mut self.sessions[index];
        let reply = session.reply(request.cookie);
        match request.command {
            Command::Status { single_extent } => {
                answer_status(
                    &mut session.outbox,
                    reply,
                    &request,
                    single_extent,
                    self.engine.store.as_mut(),
                );
                self.stats.count(&request);
            }
            Command::Zero { keep_allocated, only_fast: true } if !self.engine.zeros_fast(keep_allocated) => {
                reply.error(&mut session.outbox, Errno::NotSupported, wording::NO_FAST_ZEROS, None);
                self.stats.refused += 1;
            }
            _ => {
                session.requests += 1;
                session.request_bytes += request.buffered_bytes();
                self.engine.take(session.id, request, &mut self.completions);
            }
        }
    }

    /// Replies to requests that the drive has ended. Clients that have left get nothing.
    fn answer_all(&mut self) {
        let mut ended = std::mem::take(&mut self.completions);
        // Read after the simulation, so that the lag includes its time.
        let now = if ended.is_empty() { Nanos::ZERO } else { self.clock.now() };
        for CompletedRequest { job, at } in ended.drain(..) {
            let Some(index) = self.sessions.iter().position(|session| session.id == job.client) else {
                continue;
            };
            let session = &mut self.sessions[index];
            session.requests -= 1;
            session.request_bytes -= job.request.buffered_bytes();
            let reply = session.reply(job.request.cookie);
            let error = answer(&mut session.outbox, reply, &job, self.engine.store.as_mut());
            self.lags.add(now.since(self.clock_scale.wall_at(at)));
            match (error, job.error) {
                (None, None) => self.stats.count(&job.request),
                (error, failed) => {
                    self.stats.failed += 1;
                    if let Some(error) = error {
                        self.note(index, now, &wording::read_failed(&error));
                    } else if failed.is_some_and(|(errno, _)| errno == Errno::NoSpace) {
                        self.note(index, now, wording::STORE_IS_FULL);
                    }
                }
            }
        }
        self.completions = ended;
    }

    fn send_all(&mut self) {
        for session in self.sessions.iter_mut().filter(|session| !session.outbox.is_empty()) {
            if session.outbox.send(&mut session.stream).is_err() {
                session.drop_now();
            }
        }
    }

    /// Drops clients that selected no export in time, and at the end all of them.
    fn drop_closed(&mut self, now: Nanos) {
        for index in 0..self.sessions.len() {
            let session = &mut self.sessions[index];
            if session.deadline().is_some_and(|deadline| deadline <= now) {
                session.drop_now();
                self.stats.dropped += 1;
                self.note(index, now, &wording::client_dropped(wording::TOO_LATE));
            } else if let Some(closing_deadline) = self.closing_deadline {
                if closing_deadline <= now {
                    session.drop_now();
                } else if !session.transmits() || (session.requests == 0 && session.outbox.is_empty()) {
                    session.hang_up();
                }
            }
        }
        self.sessions.retain(|session| !session.is_over());
    }

    fn note(&mut self, index: usize, now: Nanos, what: &str) {
        let session = &mut self.sessions[index];
        let Some(more) = session.may_note() else { return };
        self.notes.add(now, wording::note(&session.peer, what, more == 0));
    }
}

/// Whether the next input of this client may be parsed. A request that has begun may always be completed.
fn may_ask<S: Read + Write>(session: &Session<S>, held_of_all: u64) -> bool {
    let next = session.next_bytes();
    let bytes = session.buffered_bytes() + next;
    let has_room = bytes <= HELD_BYTES_MAX && held_of_all + next <= HELD_BYTES_MAX_OF_ALL;
    !session.is_between_requests()
        || (session.requests < REQUESTS_MAX && (has_room || bytes <= HELD_BYTES_SHARE))
}

/// A source of wall time: a monotonic clock, or a test's clock.
#[auto_impl(&)]
pub trait Clock {
    /// Time since the clock was started; never goes back.
    fn now(&self) -> Nanos;
}

/// Translates between wall time and the drive's time, of which `speed` seconds pass in one second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockScale {
    wall: Nanos,
    drive: Nanos,
    speed: f64,
}

impl ClockScale {
    /// Starts when the clocks show `wall` and `drive`. `speed` is positive.
    pub(crate) fn new(wall: Nanos, drive: Nanos, speed: f64) -> Self {
        assert!(speed > 0.0 && speed.is_finite(), "time goes on: {speed}");
        Self { wall, drive, speed }
    }

    /// The drive's time at this wall time.
    pub(crate) fn drive_at(&self, wall: Nanos) -> Nanos {
        self.drive + Nanos((wall.since(self.wall).0 as f64 * self.speed) as u64)
    }

    /// The drive's time that passes in this span of wall time; at least a nanosecond.
    fn span(&self, wall: Nanos) -> Nanos {
        Nanos(((wall.0 as f64 * self.speed) as u64).max(1))
    }

    /// The wall time at which the drive's clock shows `drive`, never too early.
    pub(crate) fn wall_at(&self, drive: Nanos) -> Nanos {
        let span = drive.since(self.drive).0 as f64 / self.speed;
        let mut wall = self.wall + Nanos(span.ceil() as u64);
        while self.drive_at(wall) < drive && wall < Nanos::NEVER {
            wall += Nanos(1);
        }
        wall
    }
}

/// Counters of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ServeStats {
    /// Clients that connected.
    pub connections: u64,
    /// Clients that selected the export.
    pub clients: u64,
    /// Clients that were rejected or dropped.
    pub dropped: u64,
    /// Reads answered without an error.
    pub reads: u64,
    /// Bytes of these reads.
    pub bytes_read: u64,
    /// Writes answered without an error.
    pub writes: u64,
    /// Bytes of these writes.
    pub bytes_written: u64,
    /// TRIM requests answered without an error.
    pub trims: u64,
    /// Bytes of these TRIM requests.
    pub bytes_trimmed: u64,
    /// Requests to write zeros answered without an error.
    pub zeroes: u64,
    /// Bytes of these zeros.
    pub bytes_zeroed: u64,
    /// Flushes answered without an error.
    pub flushes: u64,
    /// Prefetch requests (CACHE) answered without an error.
    pub prefetches: u64,
    /// Requests for the allocation of a range.
    pub block_status: u64,
    /// Requests that were refused before they reached the drive.
    pub refused: u64,
    /// Requests that the drive or the store answered with an error.
    pub failed: u64,
    /// Most I/Os that the drive had in flight at once.
    pub depth_max: u32,
    /// Bytes in the store now, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_kept: Option<u64>,
    /// How late the replies were.
    pub lag: Lag,
}

impl ServeStats {
    /// Requests answered without an error, except for those about allocation.
    pub fn requests(&self) -> u64 {
        self.reads + self.writes + self.trims + self.zeroes + self.flushes + self.prefetches
    }

    /// Counts a request that was answered without an error.
    pub(crate) fn count(&mut self, request: &ValidRequest) {
        let bytes = u64::from(request.length);
        match request.command {
            Command::Read { .. } => (self.reads, self.bytes_read) = (self.reads + 1, self.bytes_read + bytes),
            Command::Write => {
                (self.writes, self.bytes_written) = (self.writes + 1, self.bytes_written + bytes)
            }
            Command::Trim => (self.trims, self.bytes_trimmed) = (self.trims + 1, self.bytes_trimmed + bytes),
            Command::Zero { .. } => {
                (self.zeroes, self.bytes_zeroed) = (self.zeroes + 1, self.bytes_zeroed + bytes)
            }
            Command::Flush => self.flushes += 1,
            Command::Cache => self.prefetches += 1,
            Command::Status { .. } => self.block_status += 1,
            Command::Disconnect => {}
        }
    }
}

/// How much later a reply left the server than the drive answered, in nanoseconds of wall time: the delay that the
/// server adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Lag {
    /// Number of replies.
    pub answers: u64,
    /// Mean.
    pub mean_ns: f64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Maximum.
    pub max_ns: u64,
}

/// A histogram of lags, in constant memory.
pub(crate) struct LagHistogram(Histogram<u64>);

impl LagHistogram {
    pub(crate) fn new() -> Self {
        /// One hour; longer lags count as one hour.
        const MAX_NS: u64 = 3_600_000_000_000;
        Self(Histogram::new_with_max(MAX_NS, 3).expect("these bounds are valid"))
    }

    pub(crate) fn add(&mut self, lag: Nanos) {
        self.0.saturating_record(lag.0);
    }

    pub(crate) fn sum_up(&self) -> Lag {
        let histogram = &self.0;
        Lag {
            answers: histogram.len(),
            mean_ns: histogram.mean(),
            p99_ns: histogram.value_at_quantile(0.99),
            max_ns: histogram.max(),
        }
    }
}

/// Most notes in a burst.
const BURST: u32 = 20;
/// Time after which one more note is allowed.
const NOTE_INTERVAL: Nanos = Nanos::from_secs(1);

/// Notes that were not fetched yet.
pub(crate) struct Notes {
    lines: Vec<String>,
    remaining: u32,
    since: Nanos,
    skips: u64,
}

impl Notes {
    pub(crate) fn new(now: Nanos) -> Self {
        Self { lines: Vec::new(), remaining: BURST, since: now, skips: 0 }
    }

    /// Adds a note, or counts it as left out.
    pub(crate) fn add(&mut self, now: Nanos, line: String) {
        let earned = now.since(self.since).0 / NOTE_INTERVAL.0;
        self.since += Nanos(earned * NOTE_INTERVAL.0);
        self.remaining = BURST.min(self.remaining.saturating_add(u32::try_from(earned).unwrap_or(BURST)));
        if self.remaining == 0 {
            self.skips += 1;
            return;
        }
        self.remaining -= 1;
        if self.skips > 0 {
            self.lines.push(wording::notes_left_out(self.skips));
            self.skips = 0;
        }
        self.lines.push(line);
    }

    /// Takes all notes.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_due_has_come(speed in 0.001f64..1000.0, begun in 0u64..1 << 50, due in 0u64..1 << 50) {
            let clock_scale = ClockScale::new(Nanos(begun), Nanos(7), speed);
            let wall = clock_scale.wall_at(Nanos(due));
            prop_assert!(clock_scale.drive_at(wall) >= Nanos(due));
            // Rounding: a millionth, and the drive's time in one nanosecond of wall time.
            let late = clock_scale.drive_at(wall).since(Nanos(due).max(Nanos(7))).0 as f64;
            prop_assert!(late <= 2.0 * speed.max(1.0) + due as f64 * 1e-6, "{late}");
        }
    }

    #[test]
    fn a_flood_is_counted_and_not_kept() {
        let mut notes = Notes::new(Nanos::ZERO);
        (0..1000).for_each(|number| notes.add(Nanos(number), format!("{number}")));
        assert_eq!(notes.take().len(), BURST as usize);
        notes.add(Nanos::from_secs(3), "later".into());
        assert_eq!(notes.take(), ["980 more lines like the last ones were left out", "later"]);
    }
}
