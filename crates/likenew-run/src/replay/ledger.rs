//! Writes down what became of a recording's I/Os, beside what the recording says of them.

use likenew_core::busy::Busy;
use likenew_core::io::Op;
use likenew_core::replayed::{Both, ReplayStream, ReplayTally, Replayed, Wait};
use likenew_core::tally::Latencies;
use likenew_core::units::Nanos;
use likenew_core::windows::Windows;

use super::ticket::Ticket;

/// Width of the windows along the recording's time.
const WINDOW_NS: u64 = 1_000_000_000;

/// The books of one replay; memory does not grow with its length.
pub(crate) struct Ledger {
    replayed: Replayed,
    tallies: Vec<[Option<ReplayTally>; Op::ALL.len()]>,
    /// By stream, of all together, and in the end of all reads and flushes.
    busy: Vec<BusyBoth>,
    /// Whose I/Os are in the batch that leaves, and what they do.
    leaving: Vec<(u16, Op)>,
}

/// The time with something in flight, here and there.
struct BusyBoth {
    here: Busy,
    /// In the recording: until when it is covered, and how much is.
    covered: Nanos,
    there: Nanos,
    seen: bool,
}

impl Ledger {
    /// Of so many streams, and so many I/Os in flight at most.
    pub(crate) fn new(streams: usize, depth: u32) -> Self {
        let windows = || Windows::new(WINDOW_NS);
        let replayed = Replayed {
            ios: 0,
            left_out: 0,
            fitted: 0,
            tallies: Vec::new(),
            streams: Vec::new(),
            busy: Both::default(),
            awaited: Both::default(),
            here: Latencies::default(),
            there: Latencies::default(),
            elapsed_there: Nanos::ZERO,
            day_here: windows(),
            day_there: windows(),
            late: Latencies::default(),
            late_ns_sum: 0,
            held_ns_sum: 0,
            longest: Vec::with_capacity(Replayed::LONGEST_MAX + 1),
        };
        let busy = |_| BusyBoth {
            here: Busy::new(depth + 1),
            covered: Nanos::ZERO,
            there: Nanos::ZERO,
            seen: false,
        };
        Self {
            replayed,
            tallies: vec![Default::default(); streams],
            busy: (0..streams + 2).map(busy).collect(),
            leaving: Vec::with_capacity(depth as usize + 1),
        }
    }

    /// One was left out.
    pub(crate) fn left_out(&mut self) {
        self.replayed.left_out += 1;
    }

    /// The first piece of one is in the batch that leaves.
    pub(crate) fn leaves(&mut self, ticket: &Ticket, fitted: bool) {
        self.replayed.fitted += u64::from(fitted);
        self.leaving.push((ticket.stream, ticket.io.op));
        for index in books(ticket.stream, ticket.io.op, self.tallies.len()) {
            let busy = &mut self.busy[index];
            busy.seen = true;
            if let Some(latency) = ticket.io.latency {
                // They come in the order in which they left there, so what is covered is covered from one side.
                let end = ticket.io.at + latency;
                busy.there += end.since(busy.covered.max(ticket.io.at));
                busy.covered = busy.covered.max(end);
            }
        }
    }

    /// The batch has left.
    pub(crate) fn sent(&mut self, at: Nanos) {
        let all = self.tallies.len();
        for (stream, op) in self.leaving.drain(..) {
            for index in books(stream, op, all) {
                self.busy[index].here.sent(at, 1);
            }
        }
    }

    /// One is over.
    pub(crate) fn over(&mut self, ticket: &Ticket) {
        for index in books(ticket.stream, ticket.io.op, self.tallies.len()) {
            self.busy[index].here.ended(ticket.done);
        }
        let (io, latency) = (&ticket.io, ticket.latency());
        self.tally(ticket, latency);
        let replayed = &mut self.replayed;
        replayed.ios += 1;
        replayed.here.record(latency);
        replayed.day_here.add(io.at.0, io.length, latency, ticket.done);
        if let Some(there) = io.latency {
            replayed.there.record(there);
            replayed.day_there.add(io.at.0, io.length, there, io.at + there);
        }
        let end = io.at + io.latency.unwrap_or_default();
        replayed.elapsed_there = replayed.elapsed_there.max(end);
        if let (Some(due), Some(sent)) = (ticket.due, ticket.sent) {
            let late = sent.since(due);
            replayed.late.record(late);
            replayed.late_ns_sum += late.0;
            replayed.held_ns_sum += ticket.held.min(late).0;
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
            waiting: Both::default(),
        });
        tally.ios += 1;
        tally.bytes += ticket.io.length;
        tally.latency_ns_sum += latency.0;
        if let Some(there) = ticket.io.latency {
            tally.paired += 1;
            tally.waiting = tally.waiting.plus(Both { here_ns: latency.0, there_ns: there.0 });
        }
    }

    fn keep_if_long(&mut self, ticket: &Ticket, latency: Nanos) {
        let longest = &mut self.replayed.longest;
        let full = longest.len() == Replayed::LONGEST_MAX;
        if full && longest.last().is_some_and(|last| last.latency >= latency) {
            return;
        }
        let io = &ticket.io;
        let wait = Wait {
            stream: ticket.stream,
            op: io.op,
            offset: io.offset,
            length: io.length,
            at: io.at,
            latency,
            recorded: io.latency,
        };
        let place = longest.partition_point(|kept| kept.latency >= latency);
        longest.insert(place, wait);
        longest.truncate(Replayed::LONGEST_MAX);
    }

    /// The record.
    pub(crate) fn replayed(mut self) -> Replayed {
        let awaited = self.busy.pop().expect("one is of what is waited for");
        let all = self.busy.pop().expect("one is of all streams");
        let both = |busy: &BusyBoth| Both { here_ns: busy.here.total().0, there_ns: busy.there.0 };
        let seen = self.busy.iter().enumerate().filter(|(_, busy)| busy.seen);
        self.replayed.streams =
            seen.map(|(stream, busy)| ReplayStream { stream: stream as u16, busy: both(busy) }).collect();
        self.replayed.busy = both(&all);
        self.replayed.awaited = both(&awaited);
        self.replayed.tallies = self.tallies.into_iter().flatten().flatten().collect();
        for latencies in [&mut self.replayed.here, &mut self.replayed.there, &mut self.replayed.late] {
            latencies.compact();
        }
        self.replayed
    }
}

/// Where the busy time of such an I/O is counted, with so many streams in `all`.
fn books(stream: u16, op: Op, all: usize) -> impl Iterator<Item = usize> {
    let awaited = matches!(op, Op::Read | Op::Flush).then_some(all + 1);
    [usize::from(stream), all].into_iter().chain(awaited)
}
