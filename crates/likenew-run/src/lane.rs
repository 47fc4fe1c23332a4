//! The run loop of one lane: it issues, submits, waits and records.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use likenew_core::busy::BusyTime;
use likenew_core::damage::Damage;
use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Sample, Slot};
use likenew_core::segment::{Recorder, Stop};
use likenew_core::target::{Clock, Target};
use likenew_core::target_error::{Hang, TargetError};
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;

use crate::generator::Generator;
use crate::io_source::{Departure, IoSource, StreamCopy};

/// How often a silent drive is checked on a wall clock, so that a request to stop is noticed. Chosen: a delay
/// of 100 ms is not felt, and costs nothing.
const PULSE: Nanos = Nanos::from_millis(100);

/// How long to wait for a drive that answers nothing, whatever the workload's limits are. For a SCSI drive,
/// Linux itself answers with an error after 30 s and five more tries (`SD_TIMEOUT`, `SD_MAX_RETRIES`). NVMe's
/// 30 s and a reset are over before that.
const SILENCE_MAX: Nanos = Nanos::from_secs(180);

/// How long to wait after a request to stop: the kernel's time limit for one command.
const SILENCE_STOPPED_MAX: Nanos = Nanos::from_secs(30);

/// One lane's share of a workload.
pub(crate) struct LaneShare<'a> {
    pub(crate) workload: &'a Workload,
    /// The copies of the streams that run here.
    pub(crate) copies: Vec<StreamCopy>,
    /// Most I/Os to issue.
    pub(crate) ops: u64,
    /// Bytes to issue before it ends, at least.
    pub(crate) bytes: u64,
    /// The number of the lane, different for each.
    pub(crate) lane: u32,
}

/// Runs a lane's share from its source until it is done, and returns why it ended. All lanes share `halt`: a
/// lane that ends for any other reason raises it.
pub(crate) fn run_lane<C: IoSource>(
    target: &mut dyn Target,
    share: &LaneShare<'_>,
    source: impl FnOnce(&dyn Target, Nanos) -> C,
    recorder: &mut dyn Recorder,
    halt: &AtomicBool,
) -> (LaneEnd, C) {
    let started_at = target.now();
    recorder.begin(share.workload, started_at);
    let source = source(&*target, started_at);
    let mut lane = LaneLoop::new(target, share, source, started_at);
    let target_error = lane.run(recorder, halt).err();
    let (stop, now, damage) = (lane.stop.unwrap_or(Stop::Reached), lane.now, lane.damage);
    recorder.busy(lane.busy.total());
    if target_error.is_some() || stop != Stop::Reached {
        halt.store(true, Ordering::Relaxed);
    }
    recorder.end(now);
    (LaneEnd { stop, target_error, damage }, lane.source)
}

/// Why a lane ended, and the damage it found if it checked stamps.
pub(crate) struct LaneEnd {
    pub(crate) stop: Stop,
    pub(crate) target_error: Option<TargetError>,
    pub(crate) damage: Option<Damage>,
}

struct LaneLoop<'a, C> {
    target: &'a mut dyn Target,
    source: C,
    generator: Generator,
    /// The I/Os in flight, by slot.
    flights: Vec<Flight>,
    free: Vec<Slot>,
    batch: Vec<Io>,
    completions: Vec<Completion>,
    samples: Vec<Sample>,
    busy: BusyTime,
    ops_left: u64,
    bytes_left: u64,
    deadline: Nanos,
    /// The time last read from the target's clock.
    now: Nanos,
    /// Since when something has been in flight without anything ending.
    silent_since: Nanos,
    /// When a request to stop was first noticed.
    asked_at: Option<Nanos>,
    stop: Option<Stop>,
    fills_buffers: bool,
    flushes: bool,
    /// The data class of each stream.
    data: Vec<DataClass>,
    /// The damage in reads of stamped streams, if there are any such streams.
    damage: Option<Damage>,
    pulse: Nanos,
}

#[derive(Clone, Copy)]
struct Flight {
    /// The number by which the source knows it.
    slot_owner: usize,
    sample: Sample,
    /// Whether the arrival set when it was due.
    due_is_known: bool,
    /// Bytes at the start of the slot's buffer that are known to be zero.
    zeros: u32,
}

const NO_FLIGHT: Flight = Flight {
    slot_owner: usize::MAX,
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
    zeros: 0,
};

impl<'a, C: IoSource> LaneLoop<'a, C> {
    fn new(target: &'a mut dyn Target, share: &LaneShare<'_>, source: C, started_at: Nanos) -> Self {
        let geometry = target.geometry().clone();
        let workload = share.workload;
        let depth = source.depth();
        Self {
            source,
            generator: Generator::new(workload.seed.wrapping_add(u64::from(share.lane) << 32)),
            flights: vec![NO_FLIGHT; depth as usize],
            free: (0..depth).rev().map(Slot).collect(),
            batch: Vec::with_capacity(depth as usize),
            completions: Vec::with_capacity(depth as usize),
            samples: Vec::with_capacity(depth as usize),
            busy: BusyTime::new(depth),
            ops_left: share.ops,
            bytes_left: share.bytes,
            deadline: workload.until.elapsed.map_or(Nanos::NEVER, |span| started_at + span),
            now: started_at,
            silent_since: started_at,
            asked_at: None,
            stop: None,
            fills_buffers: geometry.carries_data || workload.is_stamped(),
            flushes: workload.flush,
            data: workload.streams.iter().map(|stream| stream.data).collect(),
            damage: workload.checks_stamps().then(Damage::default),
            pulse: if geometry.clock == Clock::Wall { PULSE } else { Nanos::NEVER },
            target,
        }
    }

    fn run(&mut self, recorder: &mut dyn Recorder, halt: &AtomicBool) -> Result<(), TargetError> {
        loop {
            self.issue()?;
            let idle = self.free.len() == self.flights.len();
            if idle && self.is_over() {
                return self.flush(recorder);
            }
            self.target.wait(self.next_event(), &mut self.completions)?;
            let is_silent = self.completions.is_empty();
            let flow = self.record(recorder);
            if let ControlFlow::Break(stop) = flow {
                self.stop.get_or_insert(stop);
            } else if halt.load(Ordering::Relaxed) {
                self.stop.get_or_insert(Stop::Interrupted);
            }
            if is_silent {
                self.limit_silence()?;
            }
        }
    }

    /// Fails if something is in flight and nothing has ended for too long. Otherwise a drive that hangs would
    /// be waited for without end, whatever the workload's limits are, and even after a request to stop.
    fn limit_silence(&mut self) -> Result<(), TargetError> {
        if self.pulse == Nanos::NEVER || self.free.len() == self.flights.len() {
            return Ok(());
        }
        if self.stop == Some(Stop::Interrupted) {
            self.asked_at.get_or_insert(self.now);
        }
        let silent = self.now.since(self.silent_since);
        let is_too_long =
            |asked_at: Nanos| self.now.since(asked_at.max(self.silent_since)) >= SILENCE_STOPPED_MAX;
        if silent < SILENCE_MAX && !self.asked_at.is_some_and(is_too_long) {
            return Ok(());
        }
        let waiting = (0..self.flights.len()).filter(|slot| !self.free.contains(&Slot(*slot as u32)));
        let mut waiting: Vec<Sample> = waiting.map(|slot| self.flights[slot].sample).collect();
        waiting.sort_by_key(|sample| (sample.sent, sample.offset));
        let ios = waiting.iter().map(|sample| (sample.op, sample.offset, sample.length)).collect();
        Err(TargetError::Hung(Hang { target: String::new(), silent, ios }))
    }

    /// Makes everything durable at the end, if the workload reached its end and asks for that.
    #[cold]
    fn flush(&mut self, recorder: &mut dyn Recorder) -> Result<(), TargetError> {
        let is_needed = self.flushes && self.stop.is_none();
        let Some(slot) = self.free.pop().filter(|_| is_needed) else { return Ok(()) };
        let flush = Io { slot, op: Op::Flush, offset: 0, length: 0, data: DataClass::Zero, sync: None };
        let sent = self.target.submit(&[flush])?;
        self.busy.on_submit(sent, 1);
        while self.completions.is_empty() {
            let now = self.target.now();
            let silent = now.since(sent);
            if silent >= SILENCE_MAX && self.pulse != Nanos::NEVER {
                return Err(TargetError::Hung(Hang {
                    target: String::new(),
                    silent,
                    ios: vec![(Op::Flush, 0, 0)],
                }));
            }
            self.target.wait(now + self.pulse, &mut self.completions)?;
        }
        let ended = self.completions.pop().expect("the only I/O in flight has ended");
        self.now = ended.at;
        self.busy.on_end(ended.at);
        let Completion { at: done, outcome, .. } = ended;
        let sample = Sample { op: Op::Flush, outcome, due: sent, sent, done, ..NO_FLIGHT.sample };
        if let ControlFlow::Break(stop) = recorder.record(&[sample]) {
            self.stop = Some(stop);
        }
        Ok(())
    }

    /// Submits everything that is due.
    fn issue(&mut self) -> Result<(), TargetError> {
        if self.source.is_timed() {
            self.now = self.target.now();
        }
        while !self.is_over()
            && let Some(slot_owner) = self.source.ready(self.now)?
        {
            self.issue_one(slot_owner);
        }
        if self.batch.is_empty() {
            return Ok(());
        }
        let sent = self.target.submit(&self.batch)?;
        if self.free.len() + self.batch.len() == self.flights.len() {
            // Nothing was in flight before.
            self.silent_since = sent;
        }
        self.source.on_submit(sent);
        self.busy.on_submit(sent, self.batch.len() as u32);
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

    fn issue_one(&mut self, slot_owner: usize) {
        let slot = self.free.pop().expect("there are as many slots as I/Os that may be in flight");
        let Departure { stream, due, is_counted } = self.source.issue(slot_owner, slot, &mut self.batch);
        let &Io { op, offset, length, .. } = self.batch.last().expect("a source adds an I/O");
        self.ops_left -= u64::from(is_counted);
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(length));
        let flight = &mut self.flights[slot.index()];
        flight.slot_owner = slot_owner;
        flight.due_is_known = due.is_some();
        let sample = &mut flight.sample;
        (sample.stream, sample.op, sample.length, sample.offset) = (stream, op, length, offset);
        sample.due = due.unwrap_or(Nanos::ZERO);
        if self.fills_buffers {
            self.fill_last_buffer();
        }
    }

    /// Writes the content of the batch's last I/O, if that is a write, into its slot's buffer. Zeros already
    /// there are kept: writing them again takes longer than all else that is done for an I/O.
    fn fill_last_buffer(&mut self) {
        let Some(io) = self.batch.last() else { return };
        let flight = &mut self.flights[io.slot.index()];
        match (io.op, io.data) {
            (Op::Write, DataClass::Zero) if flight.zeros >= io.length => return,
            (Op::Write, DataClass::Zero) => flight.zeros = io.length,
            (Op::Write | Op::Read, _) => flight.zeros = 0,
            (Op::Trim | Op::Flush, _) => return,
        }
        if io.op == Op::Write {
            self.generator.fill(&mut self.target.buffer(io.slot)[..io.length as usize], io.data, io.offset);
        }
    }

    /// Whether nothing more is issued.
    fn is_over(&self) -> bool {
        self.stop.is_some()
            || self.ops_left == 0
            || self.bytes_left == 0
            || self.now >= self.deadline
            || self.source.is_done()
    }

    /// The time until which the target needs no attention.
    fn next_event(&self) -> Nanos {
        let due = if self.source.is_timed() && !self.is_over() {
            self.source.next_due(self.now)
        } else {
            Nanos::NEVER
        };
        let deadline = if self.is_over() { Nanos::NEVER } else { self.deadline };
        due.min(deadline).min(self.now + self.pulse)
    }

    /// Turns completions into samples and passes them to the recorder.
    fn record(&mut self, recorder: &mut dyn Recorder) -> ControlFlow<Stop> {
        if self.completions.is_empty() {
            self.now = self.target.now();
            return recorder.idle(self.now);
        }
        for completion in self.completions.drain(..) {
            let flight = &self.flights[completion.slot.index()];
            // Copied first and completed in place: a processor that has just stored a field waits before it
            // can copy the whole.
            let sample = self.samples.push_mut(flight.sample);
            (sample.done, sample.outcome) = (completion.at, completion.outcome);
            self.source.on_end(flight.slot_owner, sample);
            self.now = completion.at;
            self.busy.on_end(completion.at);
            if let Some(damage) = &mut self.damage
                && let DataClass::Stamped(stamp) = self.data[usize::from(sample.stream)]
                && sample.op == Op::Read
            {
                let read = &self.target.buffer(completion.slot)[..sample.bytes() as usize];
                damage.inspect(stamp, sample.offset, read);
                if sample.outcome.is_about_the_medium() {
                    let read = sample.bytes();
                    damage.add_unreadable(sample.offset + read, u64::from(sample.length) - read);
                }
            }
            self.free.push(completion.slot);
        }
        self.silent_since = self.now;
        let flow = recorder.record(&self.samples);
        self.samples.clear();
        flow
    }
}
