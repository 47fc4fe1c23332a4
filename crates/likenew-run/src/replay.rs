//! Replays recordings: when each of their I/Os leaves, where it goes, and its result beside what the
//! recording says.

mod address_map;
mod ledger;
mod pacer;

use std::sync::atomic::AtomicBool;

use address_map::{AddressMap, Preparation, Spot};
use ledger::{Ledger, Ticket};
use likenew_core::io::{DataClass, Io, Op, Sample, Slot};
use likenew_core::segment::{Recorder, ReplayRecord};
use likenew_core::target::{Clock, Geometry, Target};
use likenew_core::target_error::TargetError;
use likenew_core::trace::{ReplaySpec, ReplayTiming, TraceIo, TraceSource};
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use pacer::{DueTime, Pacer};

use super::io_source::{Departure, IoSource};
use super::lane::{LaneEnd, LaneShare, run_lane};

/// Opens the recording that a workload names, at its start.
///
/// Returns a sentence if the recording cannot be read, or is another one.
pub type TraceOpener<'a> = dyn FnMut(&ReplaySpec) -> Result<Box<dyn TraceSource>, String> + 'a;

/// What a recording makes a lane do.
pub(crate) enum Replay {
    /// Replay its I/Os.
    Ios(Box<Recording>),
    /// Write what its I/Os touch.
    Preparation(Preparation),
}

impl Replay {
    /// Opens the recording of a workload, if it names one; returns a sentence if that cannot be read.
    pub(crate) fn open(
        workload: &Workload,
        traces: &mut TraceOpener<'_>,
        geometry: &Geometry,
    ) -> Result<Option<Self>, String> {
        let Some(replay_spec) = &workload.replay_spec else { return Ok(None) };
        let source = traces(replay_spec)?;
        Ok(Some(if replay_spec.timing == ReplayTiming::Prepare {
            Self::Preparation(Preparation::new(replay_spec, source, geometry)?)
        } else {
            Self::Ios(Box::new(Recording::new(replay_spec, source, geometry)))
        }))
    }

    /// Runs it on the only lane.
    pub(crate) fn run(
        self,
        lane: &mut dyn Target,
        share: &LaneShare<'_>,
        recorder: &mut dyn Recorder,
    ) -> (LaneEnd, Option<ReplayRecord>) {
        let halt = AtomicBool::new(false);
        match self {
            Self::Preparation(source) => (run_lane(lane, share, |_, _| source, recorder, &halt).0, None),
            Self::Ios(source) => {
                let (end, source) =
                    run_lane(lane, share, |_, started_at| source.start(started_at), recorder, &halt);
                (end, Some(source.into_record()))
            }
        }
    }
}

/// The last time before a departure that is polled instead of slept on a wall clock. Chosen: more than the
/// usual delay of a wake-up.
const AWAKE: Nanos = Nanos::from_micros(200);

/// A recording during its replay.
pub(crate) struct Recording {
    source: Box<dyn TraceSource>,
    is_ended: bool,
    names: StreamNames,
    map: AddressMap,
    pacer: Pacer,
    ledger: Ledger,
    /// Tickets in no order: the next to leave is at `head`, and `free` lists unused positions.
    tickets: Vec<Ticket>,
    free: Vec<usize>,
    head: Option<usize>,
    depth: u32,
    in_flight: u32,
    /// The last time at which the maximum of I/Os was in flight.
    full_until: Nanos,
    reads_only: bool,
    trims: bool,
    data: DataClass,
    awake: Nanos,
}

impl Recording {
    pub(crate) fn new(replay_spec: &ReplaySpec, source: Box<dyn TraceSource>, geometry: &Geometry) -> Self {
        let depth = replay_spec.depth;
        Self {
            source,
            is_ended: false,
            names: StreamNames::new(replay_spec),
            map: AddressMap::new(replay_spec, geometry),
            pacer: Pacer::new(replay_spec.timing),
            ledger: Ledger::new(replay_spec.streams(), depth),
            // One more than is in flight, for the next that leaves.
            tickets: Vec::with_capacity(depth as usize + 1),
            free: Vec::with_capacity(depth as usize + 1),
            head: None,
            depth,
            in_flight: 0,
            full_until: Nanos::ZERO,
            reads_only: replay_spec.reads_only,
            trims: geometry.trims,
            data: replay_spec.data,
            awake: if geometry.clock == Clock::Wall { AWAKE } else { Nanos::ZERO },
        }
    }

    /// Begins the replay.
    pub(crate) fn start(mut self, now: Nanos) -> Self {
        self.pacer.begin(now);
        self
    }

    /// The results of the replay.
    pub(crate) fn into_record(self) -> ReplayRecord {
        self.ledger.into_record()
    }

    /// Moves to the recording's next I/O that is replayed.
    fn next(&mut self) -> Result<Option<usize>, TargetError> {
        while !self.is_ended {
            let Some(io) = self.source.next_io().map_err(TargetError::Unsuitable)? else {
                self.is_ended = true;
                break;
            };
            let out = match io.op {
                Op::Read => false,
                Op::Trim => self.reads_only || !self.trims,
                Op::Write | Op::Flush => self.reads_only,
            };
            let moment = self.pacer.moment(&io);
            if out {
                self.ledger.skip();
                continue;
            }
            let stream = self.names.stream(&*self.source, io.application);
            let spot = self.map.spot(io.op, io.offset, io.length);
            return Ok(Some(self.keep(Ticket::new(io, stream, moment, spot))));
        }
        Ok(None)
    }

    fn keep(&mut self, ticket: Ticket) -> usize {
        if let Some(place) = self.free.pop() {
            self.tickets[place] = ticket;
            return place;
        }
        self.tickets.push(ticket);
        self.tickets.len() - 1
    }

    /// When the ticket at `head` is due.
    fn due(&mut self, head: usize) -> DueTime {
        let ticket = &mut self.tickets[head];
        if let Some(due) = ticket.due {
            return DueTime::At(due);
        }
        let due = self.pacer.due(&ticket.io, ticket.moment);
        if let DueTime::At(at) = due {
            ticket.due = Some(at);
        }
        due
    }

    /// Notes that the first piece of a ticket leaves.
    fn first(&mut self, head: usize) {
        let ticket = &mut self.tickets[head];
        ticket.token = self.pacer.depart(&ticket.io, ticket.moment, ticket.due);
        ticket.throttled = ticket.due.map_or(Nanos::ZERO, |due| self.full_until.since(due));
        let fitted = is_fitted(&ticket.io, ticket.rest);
        self.ledger.depart(ticket, fitted);
    }
}

/// Whether an I/O differs from the recorded one in address or length.
fn is_fitted(io: &TraceIo, spot: Spot) -> bool {
    io.op != Op::Flush && (io.offset, io.length) != (spot.offset, spot.length)
}

impl IoSource for Recording {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn is_timed(&self) -> bool {
        !self.pacer.is_fast()
    }

    fn ready(&mut self, now: Nanos) -> Result<Option<usize>, TargetError> {
        if self.head.is_none() {
            self.head = self.next()?;
        }
        let Some(head) = self.head else { return Ok(None) };
        let goes = match self.due(head) {
            DueTime::AtOnce => true,
            DueTime::At(due) => due <= now,
            DueTime::Unknown => false,
        };
        Ok((goes && self.in_flight < self.depth).then_some(head))
    }

    fn issue(&mut self, index: usize, slot: Slot, batch: &mut Vec<Io>) -> Departure {
        if self.tickets[index].sent.is_none() && self.tickets[index].pieces == 0 {
            self.first(index);
        }
        self.in_flight += 1;
        let ticket = &mut self.tickets[index];
        let (op, offset) = (ticket.io.op, ticket.rest.offset);
        let length = self.map.piece(op, ticket.rest);
        ticket.rest =
            Spot { offset: offset + u64::from(length), length: ticket.rest.length - u64::from(length) };
        ticket.pieces += 1;
        ticket.all_left = ticket.rest.length == 0;
        if ticket.all_left {
            self.head = None;
        }
        batch.push(Io { slot, op, offset, length, data: self.data, sync: None });
        Departure { stream: ticket.stream, due: ticket.due, is_counted: true }
    }

    fn on_submit(&mut self, at: Nanos) {
        self.ledger.on_submit(at);
    }

    fn on_end(&mut self, index: usize, sample: &Sample) {
        if self.in_flight == self.depth {
            self.full_until = sample.done;
        }
        self.in_flight -= 1;
        let ticket = &mut self.tickets[index];
        ticket.pieces -= 1;
        ticket.done = ticket.done.max(sample.done);
        ticket.sent = Some(ticket.sent.map_or(sample.sent, |sent| sent.min(sample.sent)));
        if ticket.is_over() {
            self.pacer.on_end(&ticket.io, ticket.token, ticket.done);
            self.ledger.finish(ticket);
            self.free.push(index);
        }
    }

    fn next_due(&self, now: Nanos) -> Nanos {
        let due = self.head.filter(|_| self.in_flight < self.depth).and_then(|head| self.tickets[head].due);
        match due {
            None => Nanos::NEVER,
            Some(due) if self.awake == Nanos::ZERO => due,
            Some(due) => due.since(self.awake).max(now),
        }
    }

    fn is_done(&self) -> bool {
        self.is_ended && self.head.is_none()
    }
}

/// Maps applications to streams.
struct StreamNames {
    names: Vec<String>,
    /// Streams by the source's index of the application.
    streams: Vec<u16>,
}

impl StreamNames {
    fn new(replay_spec: &ReplaySpec) -> Self {
        Self { names: replay_spec.applications.clone(), streams: Vec::new() }
    }

    /// The stream of an application; 0 for those that are not distinguished.
    fn stream(&mut self, source: &dyn TraceSource, application: u16) -> u16 {
        let index = usize::from(application);
        if index >= self.streams.len() {
            let known = source.applications().iter().skip(self.streams.len());
            let stream =
                |name: &String| self.names.iter().position(|named| named == name).map_or(0, |at| at + 1);
            let streams: Vec<u16> = known.map(|name| stream(name) as u16).collect();
            self.streams.extend(streams);
            // An application that the source did not name has no stream of its own.
            self.streams.resize(self.streams.len().max(index + 1), 0);
        }
        self.streams[index]
    }
}
