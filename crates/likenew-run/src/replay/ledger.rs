//! Counts the I/Os of a recording on the target, each in as many pieces as it needs, and compares their
//! results with the recording.

use likenew_core::busy::BusyTime;
use likenew_core::io::Op;
use likenew_core::segment::{ReplayPair, ReplayRecord, ReplayStream, ReplayTally, SlowIo, Windows};
use likenew_core::tally::Latencies;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use super::address_map::Spot;
use super::pacer::Moment;

/// Width of the windows over the recording's time.
const WINDOW_NS: u64 = 1_000_000_000;

/// Counters of one replay; their memory does not grow with its length.
pub(crate) struct Ledger {
    replay_record: ReplayRecord,
    tallies: Vec<[Option<ReplayTally>; Op::ALL.len()]>,
    /// One for each stream, then one for all streams, then one for all reads and flushes.
    busy: Vec<BusyBoth>,
    /// Stream and operation of the I/Os that the batch contains.
    leaving: Vec<(u16, Op)>,
}

/// The time with at least one I/O in flight, in the replay and in the recording.
struct BusyBoth {
    replay_busy: BusyTime,
    /// Up to where the recording's time is counted.
    covered: Nanos,
    recording_busy: Nanos,
    is_used: bool,
}

impl Ledger {
    /// Counters for `streams` streams and at most `depth` I/Os in flight.
    pub(crate) fn new(streams: usize, depth: u32) -> Self {
        let windows = || Windows::new(WINDOW_NS);
        let replay_record = ReplayRecord {
            ios: 0,
            skips: 0,
            remapped_ios: 0,
            tallies: Vec::new(),
            streams: Vec::new(),
            busy: ReplayPair::default(),
            blocking: ReplayPair::default(),
            replay_latency: Latencies::default(),
            recording_latency: Latencies::default(),
            recorded_elapsed: Nanos::ZERO,
            replayed_windows: windows(),
            recorded_windows: windows(),
            lateness: Latencies::default(),
            lateness_ns_sum: 0,
            throttled_ns_sum: 0,
            longest: Vec::with_capacity(ReplayRecord::LONGEST_MAX + 1),
        };
        let busy = |_| BusyBoth {
            replay_busy: BusyTime::new(depth + 1),
            covered: Nanos::ZERO,
            recording_busy: Nanos::ZERO,
            is_used: false,
        };
        Self {
            replay_record,
            tallies: vec![Default::default(); streams],
            busy: (0..streams + 2).map(busy).collect(),
            leaving: Vec::with_capacity(depth as usize + 1),
        }
    }

    /// Counts an I/O that was left out.
    pub(crate) fn skip(&mut self) {
        self.replay_record.skips += 1;
    }

    /// Notes that the batch contains the first piece of an I/O.
    pub(crate) fn depart(&mut self, ticket: &Ticket, is_remapped: bool) {
        self.replay_record.remapped_ios += u64::from(is_remapped);
        self.leaving.push((ticket.stream, ticket.io.op));
        for index in tally_slots(ticket.stream, ticket.io.op, self.tallies.len()) {
            let busy = &mut self.busy[index];
            busy.is_used = true;
            if let Some(latency) = ticket.io.latency {
                // I/Os come in the order in which they left, so counted time grows from one side.
                let end = ticket.io.at + latency;
                busy.recording_busy += end.since(busy.covered.max(ticket.io.at));
                busy.covered = busy.covered.max(end);
            }
        }
    }

    /// The batch has left.
    pub(crate) fn on_submit(&mut self, at: Nanos) {
        let streams = self.tallies.len();
        for (stream, op) in self.leaving.drain(..) {
            for index in tally_slots(stream, op, streams) {
                self.busy[index].replay_busy.on_submit(at, 1);
            }
        }
    }

    /// Counts an I/O whose last piece has ended.
    pub(crate) fn finish(&mut self, ticket: &Ticket) {
        for index in tally_slots(ticket.stream, ticket.io.op, self.tallies.len()) {
            self.busy[index].replay_busy.on_end(ticket.done);
        }
        let (io, latency) = (&ticket.io, ticket.latency());
        self.tally(ticket, latency);
        let replay_record = &mut self.replay_record;
        replay_record.ios += 1;
        replay_record.replay_latency.record(latency);
        replay_record.replayed_windows.add(io.at.0, io.length, latency, ticket.done);
        if let Some(recorded_latency) = io.latency {
            replay_record.recording_latency.record(recorded_latency);
            replay_record.recorded_windows.add(
                io.at.0,
                io.length,
                recorded_latency,
                io.at + recorded_latency,
            );
        }
        let end = io.at + io.latency.unwrap_or_default();
        replay_record.recorded_elapsed = replay_record.recorded_elapsed.max(end);
        if let (Some(due), Some(sent)) = (ticket.due, ticket.sent) {
            let lateness = sent.since(due);
            replay_record.lateness.record(lateness);
            replay_record.lateness_ns_sum += lateness.0;
            replay_record.throttled_ns_sum += ticket.throttled.min(lateness).0;
        }
        self.keep_if_long(ticket, latency);
    }

    fn tally(&mut self, ticket: &Ticket, latency: Nanos) {
        let (stream, op) = (ticket.stream, ticket.io.op);
        let tally = self.tallies[usize::from(stream)][op.index()].get_or_insert(ReplayTally {
            stream,
            op,
            ios: 0,
            bytes: 0,
            latency_ns_sum: 0,
            paired: 0,
            waiting: ReplayPair::default(),
        });
        tally.ios += 1;
        tally.bytes += ticket.io.length;
        tally.latency_ns_sum += latency.0;
        if let Some(recorded_latency) = ticket.io.latency {
            tally.paired += 1;
            tally.waiting =
                tally.waiting.plus(ReplayPair { replayed_ns: latency.0, recorded_ns: recorded_latency.0 });
        }
    }

    fn keep_if_long(&mut self, ticket: &Ticket, latency: Nanos) {
        let longest = &mut self.replay_record.longest;
        let full = longest.len() == ReplayRecord::LONGEST_MAX;
        if full && longest.last().is_some_and(|last| last.latency >= latency) {
            return;
        }
        let io = &ticket.io;
        let wait = SlowIo {
            stream: ticket.stream,
            op: io.op,
            offset: io.offset,
            length: io.length,
            at: io.at,
            latency,
            recorded_latency: io.latency,
        };
        let place = longest.partition_point(|kept| kept.latency >= latency);
        longest.insert(place, wait);
        longest.truncate(ReplayRecord::LONGEST_MAX);
    }

    /// The finished record.
    pub(crate) fn into_record(mut self) -> ReplayRecord {
        let blocking = self.busy.pop().expect("one is of what is waited for");
        let overall = self.busy.pop().expect("one is of all streams");
        let both = |busy: &BusyBoth| ReplayPair {
            replayed_ns: busy.replay_busy.total().0,
            recorded_ns: busy.recording_busy.0,
        };
        let active = self.busy.iter().enumerate().filter(|(_, busy)| busy.is_used);
        self.replay_record.streams =
            active.map(|(stream, busy)| ReplayStream { stream: stream as u16, busy: both(busy) }).collect();
        self.replay_record.busy = both(&overall);
        self.replay_record.blocking = both(&blocking);
        self.replay_record.tallies = self.tallies.into_iter().flatten().flatten().collect();
        for latencies in [
            &mut self.replay_record.replay_latency,
            &mut self.replay_record.recording_latency,
            &mut self.replay_record.lateness,
        ] {
            latencies.compact();
        }
        self.replay_record
    }
}

/// Indices of the busy times that count this I/O, with `streams` streams.
fn tally_slots(stream: u16, op: Op, streams: usize) -> impl Iterator<Item = usize> {
    let blocking = matches!(op, Op::Read | Op::Flush).then_some(streams + 1);
    [usize::from(stream), streams].into_iter().chain(blocking)
}

/// An I/O of the recording whose first piece is about to leave or has left.
#[derive(Clone, Copy)]
pub(crate) struct Ticket {
    pub(crate) io: TraceIo,
    pub(crate) stream: u16,
    pub(crate) moment: Moment,
    pub(crate) token: Option<u32>,
    /// The part that has not left yet.
    pub(crate) rest: Spot,
    /// Whether all of it has left.
    pub(crate) all_left: bool,
    /// Pieces in flight.
    pub(crate) pieces: u32,
    /// When it was due, if the pace sets a time.
    pub(crate) due: Option<Nanos>,
    /// When its first piece left.
    pub(crate) sent: Option<Nanos>,
    /// When the last of its ended pieces ended.
    pub(crate) done: Nanos,
    /// How much of its lateness passed with the maximum of I/Os in flight.
    pub(crate) throttled: Nanos,
}

impl Ticket {
    pub(crate) fn new(io: TraceIo, stream: u16, moment: Moment, spot: Spot) -> Self {
        Self {
            io,
            stream,
            moment,
            token: None,
            rest: spot,
            all_left: false,
            pieces: 0,
            due: None,
            sent: None,
            done: Nanos::ZERO,
            throttled: Nanos::ZERO,
        }
    }

    /// From when it was due, or left if no time was set, to the end of its last piece.
    pub(crate) fn latency(&self) -> Nanos {
        self.done.since(self.due.or(self.sent).unwrap_or(self.done))
    }

    /// Whether all of its pieces have left and ended.
    pub(crate) fn is_over(&self) -> bool {
        self.all_left && self.pieces == 0
    }
}
