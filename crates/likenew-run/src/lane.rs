//! The loop itself, for one lane.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use likenew_core::busy::Busy;
use likenew_core::fault::Fault;
use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::recorder::{Recorder, Stop};
use likenew_core::sample::Sample;
use likenew_core::target::{Clock, Target};
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;

use crate::generator::Generator;
use crate::issuer::{Copy, Issuer};

/// On a wall clock a silent drive is looked at this often, so that somebody who asks to stop is heard.
const PULSE: Nanos = Nanos::from_millis(100);

/// What one lane has to do of a workload.
pub(crate) struct Share<'a> {
    pub(crate) workload: &'a Workload,
    /// The copies of the streams that run here.
    pub(crate) copies: Vec<Copy>,
    /// I/Os to issue at most.
    pub(crate) ops: u64,
    /// Bytes to issue at least, before it ends.
    pub(crate) bytes: u64,
    /// A number of its own for each lane.
    pub(crate) lane: u32,
}

/// Runs a lane's share until it is done, and says why it ended. `halt` is common to all lanes: the first that stops for
/// another reason than being done raises it.
pub(crate) fn run_lane(
    target: &mut dyn Target,
    share: &Share<'_>,
    recorder: &mut dyn Recorder,
    halt: &AtomicBool,
) -> (Stop, Option<Fault>) {
    let began = target.now();
    recorder.begin(share.workload, began);
    let mut lane = LaneLoop::new(target, share, began);
    let fault = lane.run(recorder, halt).err();
    let (stop, now) = (lane.stop.unwrap_or(Stop::Reached), lane.now);
    recorder.busy(lane.busy.total());
    if fault.is_some() || stop != Stop::Reached {
        halt.store(true, Ordering::Relaxed);
    }
    recorder.end(now);
    (stop, fault)
}

struct LaneLoop<'a> {
    target: &'a mut dyn Target,
    issuers: Vec<Issuer>,
    generator: Generator,
    /// What is in flight, by slot.
    flights: Vec<Flight>,
    free: Vec<Slot>,
    batch: Vec<Io>,
    ended: Vec<Completion>,
    samples: Vec<Sample>,
    busy: Busy,
    ops_left: u64,
    bytes_left: u64,
    deadline: Nanos,
    /// The last time that was seen on the target's clock.
    now: Nanos,
    stop: Option<Stop>,
    open_pace: bool,
    fills_buffers: bool,
    flushes: bool,
    pulse: Nanos,
}

#[derive(Clone, Copy)]
struct Flight {
    issuer: usize,
    sample: Sample,
    /// Whether the pace said when it was due.
    due_is_known: bool,
}

const NO_FLIGHT: Flight = Flight {
    issuer: usize::MAX,
    sample: Sample {
        stream: 0,
        op: Op::Read,
        outcome: Outcome::Done,
        length: 0,
        offset: 0,
        due: Nanos::ZERO,
        sent: Nanos::ZERO,
        done: Nanos::ZERO,
    },
    due_is_known: false,
};

impl<'a> LaneLoop<'a> {
    fn new(target: &'a mut dyn Target, share: &Share<'_>, began: Nanos) -> Self {
        let geometry = target.geometry().clone();
        let workload = share.workload;
        let issuers = Issuer::all(workload, &share.copies, &geometry, began);
        let depth: u32 = issuers.iter().map(Issuer::depth).sum();
        Self {
            open_pace: issuers.iter().any(Issuer::is_open),
            issuers,
            generator: Generator::new(workload.seed.wrapping_add(u64::from(share.lane) << 32)),
            flights: vec![NO_FLIGHT; depth as usize],
            free: (0..depth).rev().map(Slot).collect(),
            batch: Vec::with_capacity(depth as usize),
            ended: Vec::with_capacity(depth as usize),
            samples: Vec::with_capacity(depth as usize),
            busy: Busy::new(depth),
            ops_left: share.ops,
            bytes_left: share.bytes,
            deadline: workload.until.elapsed.map_or(Nanos::NEVER, |span| began + span),
            now: began,
            stop: None,
            fills_buffers: geometry.carries_data,
            flushes: workload.flush,
            pulse: if geometry.clock == Clock::Wall { PULSE } else { Nanos::NEVER },
            target,
        }
    }

    fn run(&mut self, recorder: &mut dyn Recorder, halt: &AtomicBool) -> Result<(), Fault> {
        loop {
            self.issue()?;
            let idle = self.free.len() == self.flights.len();
            if idle && self.is_over() {
                return self.flush(recorder);
            }
            self.target.wait(self.next_event(), &mut self.ended)?;
            let flow = self.record(recorder);
            if let ControlFlow::Break(stop) = flow {
                self.stop.get_or_insert(stop);
            } else if halt.load(Ordering::Relaxed) {
                self.stop.get_or_insert(Stop::Interrupted);
            }
        }
    }

    /// Makes everything durable at the end, if the workload came to its end and asks for that.
    #[cold]
    fn flush(&mut self, recorder: &mut dyn Recorder) -> Result<(), Fault> {
        let asked = self.flushes && self.stop.is_none();
        let Some(slot) = self.free.pop().filter(|_| asked) else { return Ok(()) };
        let flush = Io { slot, op: Op::Flush, offset: 0, length: 0, data: DataClass::Zero };
        let sent = self.target.submit(&[flush])?;
        while self.ended.is_empty() {
            self.target.wait(self.target.now() + self.pulse, &mut self.ended)?;
        }
        let ended = self.ended.pop().expect("the only I/O in flight has ended");
        self.now = ended.at;
        let Completion { at: done, outcome, .. } = ended;
        let sample = Sample { op: Op::Flush, outcome, due: sent, sent, done, ..NO_FLIGHT.sample };
        if let ControlFlow::Break(stop) = recorder.record(&[sample]) {
            self.stop = Some(stop);
        }
        Ok(())
    }

    /// Hands over everything that is due.
    fn issue(&mut self) -> Result<(), Fault> {
        if self.open_pace {
            self.now = self.target.now();
        }
        for index in 0..self.issuers.len() {
            while !self.is_over() && self.issuers[index].ready(self.now) {
                self.issue_one(index);
            }
        }
        if self.batch.is_empty() {
            return Ok(());
        }
        let sent = self.target.submit(&self.batch)?;
        self.busy.sent(sent, self.batch.len() as u32);
        for io in &self.batch {
            let flight = &mut self.flights[io.slot.index()];
            flight.sample.sent = sent;
            if !flight.due_is_known {
                flight.sample.due = sent;
            }
        }
        self.batch.clear();
        Ok(())
    }

    fn issue_one(&mut self, index: usize) {
        let issuer = &mut self.issuers[index];
        let slot = self.free.pop().expect("there are as many slots as I/Os that may be in flight");
        let (stream, io, due) = issuer.issue(slot);
        if io.op == Op::Write && self.fills_buffers {
            self.generator.fill(&mut self.target.buffer(slot)[..io.length as usize], io.data);
        }
        self.ops_left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(io.length));
        let flight = &mut self.flights[slot.index()];
        flight.issuer = index;
        flight.due_is_known = due.is_some();
        let sample = &mut flight.sample;
        (sample.stream, sample.op, sample.length, sample.offset) = (stream, io.op, io.length, io.offset);
        sample.due = due.unwrap_or(Nanos::ZERO);
        self.batch.push(io);
    }

    /// Whether nothing more is to be issued.
    fn is_over(&self) -> bool {
        self.stop.is_some() || self.ops_left == 0 || self.bytes_left == 0 || self.now >= self.deadline
    }

    /// Until when the target may be left alone.
    fn next_event(&self) -> Nanos {
        let due = if self.open_pace && !self.is_over() {
            self.issuers.iter().map(Issuer::next_due).min().unwrap_or(Nanos::NEVER)
        } else {
            Nanos::NEVER
        };
        let deadline = if self.is_over() { Nanos::NEVER } else { self.deadline };
        due.min(deadline).min(self.now + self.pulse)
    }

    /// Turns completions into samples and hands them on.
    fn record(&mut self, recorder: &mut dyn Recorder) -> ControlFlow<Stop> {
        if self.ended.is_empty() {
            self.now = self.target.now();
            return recorder.idle(self.now);
        }
        for completion in self.ended.drain(..) {
            let flight = &mut self.flights[completion.slot.index()];
            self.issuers[flight.issuer].ended();
            flight.sample.done = completion.at;
            flight.sample.outcome = completion.outcome;
            self.now = completion.at;
            self.busy.ended(completion.at);
            self.samples.push(flight.sample);
            self.free.push(completion.slot);
        }
        let flow = recorder.record(&self.samples);
        self.samples.clear();
        flow
    }
}
