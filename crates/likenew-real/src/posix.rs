//! A lane that does its I/O with blocking calls on threads, for machines where io_uring is refused.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::target::{Geometry, Health, Target};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;

use crate::buffers::Buffers;
use crate::clock::{Monotonic, sharpen_timers};
use crate::identify::HealthSource;
use crate::medium::{Flights, Medium};
use crate::wording::action;

/// Most I/Os in flight over all lanes of a drive: more would need more threads than is sensible.
pub(crate) const THREADS_MAX: u32 = 1024;

/// How long a lane that is dropped waits for I/Os in flight. Chosen: the run loop has already waited for
/// those that end at all.
pub(crate) const LAST_WAIT: Nanos = Nanos::from_secs(1);

/// One thread for each slot; an I/O leaves when it is handed to a thread and ends when that thread's call returns.
pub(crate) struct PosixLane<M: Medium> {
    workers: Workers,
    buffers: Buffers,
    flights: Flights,
    medium: Arc<M>,
    clock: Monotonic,
    health: HealthSource,
    /// No completion is reported earlier than one that was reported before it.
    last: Nanos,
    sharp: bool,
}

impl<M: Medium> PosixLane<M> {
    /// A lane of `depth` threads.
    ///
    /// # Errors
    /// There is too little memory, or there are too few threads for this depth.
    pub(crate) fn open(
        medium: &Arc<M>,
        clock: Monotonic,
        health: HealthSource,
        depth: u32,
        length_max: u32,
    ) -> Result<Self, TargetError> {
        Ok(Self {
            workers: Workers::start(depth, depth, medium, clock, None)?,
            buffers: Buffers::map(depth, length_max)?,
            flights: Flights::new(medium.geometry(), depth, length_max),
            medium: Arc::clone(medium),
            clock,
            health,
            last: Nanos::ZERO,
            sharp: false,
        })
    }

    fn end(&mut self, mut completion: Completion, done: &mut Vec<Completion>) {
        self.flights.free(completion.slot);
        completion.at = completion.at.max(self.last);
        done.push(completion);
    }
}

impl<M: Medium> Drop for PosixLane<M> {
    fn drop(&mut self) {
        if !self.workers.end(self.clock, self.clock.now() + LAST_WAIT) {
            // A call that does not return still uses its buffer, which is therefore leaked.
            self.buffers.leak();
        }
    }
}

impl<M: Medium> Target for PosixLane<M> {
    fn geometry(&self) -> &Geometry {
        self.medium.geometry()
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        assert!(!self.flights.is_in_flight(slot), "{slot:?} is in flight: its buffer is the kernel's");
        self.buffers.slot_mut(slot)
    }

    #[allow(unsafe_code, reason = "buffers go to the workers by address")]
    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
        let sent = self.clock.now();
        for io in batch {
            self.flights.leave(io)?;
            // SAFETY: `leave` has checked that the I/O fits the slot's buffer, which is never handed out
            // while the slot is in flight, and which outlives the workers.
            unsafe { self.workers.hand_over(io, self.buffers.address(io.slot)) };
        }
        Ok(sent)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        if !self.sharp {
            sharpen_timers();
            self.sharp = true;
        }
        if self.flights.count() == 0 {
            self.clock.rest(until);
            return Ok(());
        }
        let first = done.len();
        while done.len() == first {
            match self.workers.wait(self.clock, until) {
                Some(completion) => self.end(completion, done),
                None if self.clock.now() >= until => return Ok(()),
                None => {}
            }
        }
        while let Some(completion) = self.workers.poll() {
            self.end(completion, done);
        }
        let ended = &mut done[first..];
        ended.sort_by_key(|completion| completion.at);
        self.last = ended.last().map_or(self.last, |completion| completion.at);
        if ended.iter().any(|completion| matches!(completion.outcome, Outcome::Error(_))) {
            self.medium.check_present()?;
        }
        Ok(())
    }

    fn health(&mut self) -> Health {
        self.health.read()
    }
}

// Threads that do I/Os with blocking calls: the whole of the posix engine, and the io_uring engine's help
// with files to be made or deleted.

/// A worker's stack: it makes one system call at a time.
const STACK_BYTES: usize = 128 << 10;

/// How often to check whether threads have ended. Chosen: short, since a lane of every workload ends with
/// this wait.
const LOOK: Nanos = Nanos::from_micros(50);

/// A pool of threads, and the channels to and from it. A caller that lent it buffers has to call
/// [`Workers::end`].
pub(crate) struct Workers {
    jobs: Option<Sender<Job>>,
    completions: Receiver<Completion>,
    threads: Vec<JoinHandle<()>>,
}

struct Job {
    io: Io,
    buffer: *mut u8,
}

// SAFETY: the address is used by one worker at a time, and its owner waits for the completion before it uses it again.
unsafe impl Send for Job {}

impl Workers {
    /// Starts `threads` workers for at most `depth` I/Os in flight. Each completion is announced on
    /// `eventfd`, an eventfd, if there is one.
    ///
    /// # Errors
    /// The system starts no more threads.
    pub(crate) fn start<M: Medium>(
        threads: u32,
        depth: u32,
        medium: &Arc<M>,
        clock: Monotonic,
        eventfd: Option<&Arc<OwnedFd>>,
    ) -> Result<Self, TargetError> {
        let (jobs, inbox) = bounded(depth as usize);
        let (outbox, completions) = bounded(depth as usize);
        let mut workers = Self { jobs: Some(jobs), completions, threads: Vec::new() };
        for _ in 0..threads {
            let (inbox, outbox, medium) = (inbox.clone(), outbox.clone(), Arc::clone(medium));
            let eventfd = eventfd.map(Arc::clone);
            let thread = Builder::new().name("likenew-io".into()).stack_size(STACK_BYTES);
            match thread.spawn(move || work(&inbox, &outbox, &*medium, clock, eventfd.as_deref())) {
                Ok(thread) => workers.threads.push(thread),
                Err(source) => {
                    // Each worker holds the medium, which is cleaned up when the last one lets go of it. None of them has work yet.
                    let _all_have_ended = workers.end(clock, clock.now() + LAST_WAIT);
                    return Err(TargetError::system(action::start_threads(threads))(source));
                }
            }
        }
        Ok(workers)
    }

    /// Hands over one I/O. Never blocks, because no more than `depth` are ever in flight.
    ///
    /// # Safety
    /// `buffer` is valid for reads and writes of `io.length` bytes (of none for a trim or flush), and nothing
    /// else uses it, until the I/O's completion was received or [`Workers::end`] has said that all threads
    /// have ended.
    pub(crate) unsafe fn hand_over(&self, io: &Io, buffer: *mut u8) {
        let jobs = self.jobs.as_ref().expect("a pool takes I/Os until it is dropped");
        jobs.try_send(Job { io: *io, buffer })
            .expect("no more I/Os are in flight than the pool was made for");
    }

    /// A completion that is there already, if any.
    pub(crate) fn poll(&self) -> Option<Completion> {
        self.completions.try_recv().ok()
    }

    /// Waits for a completion until `until` on `clock`, or forever if that is `Nanos::NEVER`.
    pub(crate) fn wait(&self, clock: Monotonic, until: Nanos) -> Option<Completion> {
        if until == Nanos::NEVER {
            return Some(self.completions.recv().expect("workers answer as long as the pool lives"));
        }
        let left = until.since(clock.now());
        match self.completions.recv_timeout(std::time::Duration::from_nanos(left.0)) {
            Ok(completion) => Some(completion),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => unreachable!("workers answer as long as the pool lives"),
        }
    }

    /// Makes the threads finish their work and end, and waits for that until `until`. Returns whether all
    /// have ended: one whose system call does not return keeps the buffer that it was lent.
    #[must_use = "buffers may be used again only when all threads have left"]
    pub(crate) fn end(&mut self, clock: Monotonic, until: Nanos) -> bool {
        // Without a sender the workers leave when nothing is left to do.
        self.jobs = None;
        while !self.threads.iter().all(JoinHandle::is_finished) {
            if clock.now() >= until {
                return false;
            }
            clock.rest(clock.now() + LOOK);
        }
        for thread in self.threads.drain(..) {
            // A worker that panicked has said so on standard error.
            let _ = thread.join();
        }
        true
    }
}

/// Does the I/Os of an inbox until there are no senders any more.
fn work(
    inbox: &Receiver<Job>,
    outbox: &Sender<Completion>,
    medium: &impl Medium,
    clock: Monotonic,
    eventfd: Option<&OwnedFd>,
) {
    while let Ok(Job { io, buffer }) = inbox.recv() {
        let moves = matches!(io.op, Op::Read | Op::Write);
        let length = if moves { io.length as usize } else { 0 };
        // SAFETY: `hand_over`'s caller lends that many bytes until this I/O's completion was received; an empty
        // slice needs no more than an address that is not null, which a slot's address is.
        let buffer = unsafe { std::slice::from_raw_parts_mut(buffer, length) };
        let outcome = medium.perform(&io, buffer);
        let completion = Completion { slot: io.slot, at: clock.now(), outcome };
        if outbox.send(completion).is_err() {
            return;
        }
        if let Some(eventfd) = eventfd {
            // The counter cannot overflow: it is read long before 2⁶⁴ completions.
            let _ = rustix::io::write(eventfd, &1u64.to_ne_bytes());
        }
    }
}
