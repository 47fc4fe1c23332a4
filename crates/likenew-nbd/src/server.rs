//! The server: clients on one side, the drive's lane on the other, and turns in which both advance.

use std::io::{Read, Write};

use likenew_core::counters::FlashCounters;
use likenew_core::drive::{Drive, Lane, LaneRequirements};
use likenew_core::lab_error::LabError;
use likenew_core::units::Nanos;

use crate::answer::{answer, answer_status};
use crate::clock_scale::{Clock, ClockScale};
use crate::content::Content;
use crate::engine::{CompletedRequest, DataOwner, Engine};
use crate::export::Export;
use crate::notes::Notes;
use crate::protocol::{
    CONNECTIONS_MAX, DEPTH, Errno, FAREWELL, HELD_BYTES_MAX, HELD_BYTES_MAX_OF_ALL, HELD_BYTES_SHARE, IDLE,
    PIECE_MAX, REQUESTS_MAX,
};
use crate::request::{Command, ValidRequest};
use crate::serve_stats::{LagHistogram, ServeStats};
use crate::session::{ParseOutcome, Session};
use crate::store::Store;
use crate::wording;

/// How a drive is served.
pub struct Service {
    /// The export.
    pub export: Export,
    /// Where the bytes are kept; `None` where the drive keeps them itself.
    pub store: Option<Box<dyn Store>>,
    /// Seconds of the drive in one of the wall's.
    pub speed: f64,
    /// Whether the drive's speed depends on how far bytes compress.
    pub compresses: bool,
}

/// Serves one lane of a drive to any number of clients on streams that never block.
///
/// Its owner calls [`poll`](Self::poll) whenever a stream is ready or [`wake_at`](Self::wake_at) has come.
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
    /// Once it ends: until when clients may fetch their answers.
    closing_deadline: Option<Nanos>,
}

/// The events to wait for on a stream.
#[derive(Debug)]
pub struct Interest<'s, S> {
    /// The client, for [`Server::poll`].
    pub client: u64,
    /// Its stream.
    pub stream: &'s S,
    /// Whether it may send something.
    pub reads: bool,
    /// Whether there are bytes to send to it.
    pub writes: bool,
}

/// Opens the lane that a [`Server`] drives.
///
/// # Errors
/// The lab failed.
pub fn lane(drive: &mut dyn Drive) -> Result<Lane<'_>, LabError> {
    let need = LaneRequirements { lanes: 1, depth: DEPTH, length_max: PIECE_MAX };
    let mut lanes = drive.lanes(&need)?;
    Ok(lanes.pop().expect("a drive opens the lane that it was asked for"))
}

impl<'a, S: Read + Write, C: Clock> Server<'a, S, C> {
    /// Serves this [`lane`]. The drive's time begins to follow the clock now.
    pub fn new(lane: Lane<'a>, service: Service, clock: C) -> Self {
        let Service { export, store, speed, compresses } = service;
        let keeper = store.map_or(DataOwner::Drive, DataOwner::Store);
        let now = clock.now();
        Self {
            clock_scale: ClockScale::new(now, lane.now(), speed),
            engine: Engine::new(lane, keeper, Content::new(compresses)),
            export,
            clock,
            sessions: Vec::new(),
            stats: ServeStats::default(),
            lags: LagHistogram::new(),
            notes: Notes::new(now),
            completions: Vec::new(),
            closing_deadline: None,
        }
    }

    /// A client has connected; `peer` names it in notes. Beyond the limit it is rejected.
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

    /// The events to wait for on the streams.
    pub fn interests(&self) -> impl Iterator<Item = Interest<'_, S>> {
        let byte_count = self.buffered_bytes();
        self.sessions.iter().map(move |session| Interest {
            client: session.id,
            stream: &session.stream,
            reads: session.has_room() && may_ask(session, byte_count),
            writes: !session.outbox.is_empty(),
        })
    }

    /// When the next turn is due at the latest, in wall time.
    pub fn wake_at(&self) -> Nanos {
        let idle = self.clock.now() + IDLE;
        let next = self.engine.next_at().map(|at| self.clock_scale.wall_at(at));
        let deadlines = self.sessions.iter().filter_map(Session::deadline);
        let farewell = self.closing_deadline.filter(|_| !self.sessions.is_empty());
        deadlines.chain(next).chain(farewell).fold(idle, Nanos::min)
    }

    /// Reads what the `readable` clients have sent, lets the drive's time catch up with the wall's, and sends
    /// what is due.
    ///
    /// # Errors
    /// The lab failed; a client's failure ends only its connection.
    pub fn poll(&mut self, readable: &[u64]) -> Result<(), LabError> {
        for session in self.sessions.iter_mut().filter(|session| readable.contains(&session.id)) {
            if session.read().is_err() {
                session.drop_now();
            }
        }
        let now = self.clock.now();
        self.engine.advance(self.clock_scale.drive_at(now), &mut self.completions)?;
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

    /// Begins to shut down: requests under way are still answered, and no others.
    pub fn end(&mut self) {
        let until = self.clock.now() + FAREWELL;
        self.closing_deadline.get_or_insert(until);
    }

    /// Whether it has ended: every client has received its answers, or its time is up.
    pub fn has_ended(&self) -> bool {
        self.closing_deadline.is_some() && self.sessions.is_empty()
    }

    /// Whether there were clients and all have gone.
    pub fn has_no_clients(&self) -> bool {
        self.stats.clients > 0 && self.sessions.is_empty()
    }

    /// Clients that are there now.
    pub fn clients(&self) -> usize {
        self.sessions.len()
    }

    /// The counters so far.
    pub fn stats(&self) -> ServeStats {
        ServeStats {
            depth_max: self.engine.depth_max,
            bytes_kept: self.engine.buffered_bytes(),
            lag: self.lags.sum_up(),
            ..self.stats.clone()
        }
    }

    /// The time on the drive's clock.
    pub fn drive_now(&self) -> Nanos {
        self.engine.now()
    }

    /// Flash counters of a simulated drive as of now.
    pub fn flash_counters(&self) -> Option<FlashCounters> {
        self.engine.flash_counters()
    }

    /// Lines for the operator, each once.
    pub fn notes(&mut self) -> Vec<String> {
        self.notes.take()
    }

    /// Bytes that are held for all clients.
    pub(crate) fn buffered_bytes(&self) -> u64 {
        self.sessions.iter().map(Session::buffered_bytes).sum()
    }

    /// Reads what a client has sent, request by request, up to the limits.
    fn read_ready(&mut self, index: usize, now: Nanos) {
        loop {
            let byte_count = self.buffered_bytes();
            let session = &mut self.sessions[index];
            if !session.listens() || !may_ask(session, byte_count) {
                return;
            }
            match session.parse(&self.export, self.closing_deadline.is_some()) {
                Ok(ParseOutcome::Request(ask)) => self.take(index, ask),
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

    fn take(&mut self, index: usize, ask: ValidRequest) {
        let session = &mut self.sessions[index];
        let reply = session.reply(ask.cookie);
        match ask.command {
            Command::Status { single_extent } => {
                answer_status(&mut session.outbox, reply, &ask, single_extent, &mut self.engine.keeper);
                self.stats.count(&ask);
            }
            Command::Zero { keep_allocated, only_fast: true } if !self.engine.zeros_fast(keep_allocated) => {
                reply.error(&mut session.outbox, Errno::NotSupported, wording::NO_FAST_ZEROS, None);
                self.stats.refused += 1;
            }
            _ => {
                session.requests += 1;
                session.request_bytes += ask.buffered_bytes();
                self.engine.take(session.id, ask, &mut self.completions);
            }
        }
    }

    /// Answers the requests that the drive has ended. A client that has gone gets nothing.
    fn answer_all(&mut self) {
        let mut ended = std::mem::take(&mut self.completions);
        // The time spent on simulation until now is part of the lag.
        let now = if ended.is_empty() { Nanos::ZERO } else { self.clock.now() };
        for CompletedRequest { job, at } in ended.drain(..) {
            let Some(index) = self.sessions.iter().position(|session| session.id == job.client) else {
                continue;
            };
            let session = &mut self.sessions[index];
            session.requests -= 1;
            session.request_bytes -= job.ask.buffered_bytes();
            let reply = session.reply(job.ask.cookie);
            let error = answer(&mut session.outbox, reply, &job, &mut self.engine.keeper);
            self.lags.add(now.since(self.clock_scale.wall_at(at)));
            match (error, job.error) {
                (None, None) => self.stats.count(&job.ask),
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

    /// Drops clients that have left or are silent, and at the end all of them.
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

/// Whether the next request of this client can be taken. What has begun may always be brought to its end.
fn may_ask<S: Read + Write>(session: &Session<S>, held_of_all: u64) -> bool {
    let next = session.next_bytes();
    let bytes = session.buffered_bytes() + next;
    let has_room = bytes <= HELD_BYTES_MAX && held_of_all + next <= HELD_BYTES_MAX_OF_ALL;
    !session.is_between_requests()
        || (session.requests < REQUESTS_MAX && (has_room || bytes <= HELD_BYTES_SHARE))
}
