//! Threads that do I/Os with blocking calls: the whole of the posix engine, and the io_uring engine's help
//! with what needs a directory.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use likenew_core::io::{Completion, Io};
use likenew_core::lab_error::LabError;
use likenew_core::units::Nanos;

use crate::clock::Monotonic;
use crate::medium::Medium;
use crate::wording::action;

/// A worker's stack: it makes one system call at a time.
const STACK_BYTES: usize = 128 << 10;

/// How often it is checked whether threads have ended. Chosen: short, since a lane of every workload ends
/// with it.
const LOOK: Nanos = Nanos::from_micros(50);

/// A pool of threads, and the channels to and from it. A caller that lent it buffers has to [`Workers::end`]
/// it.
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
    ) -> Result<Self, LabError> {
        let (jobs, inbox) = bounded(depth as usize);
        let (outbox, completions) = bounded(depth as usize);
        let mut workers = Self { jobs: Some(jobs), completions, threads: Vec::new() };
        for _ in 0..threads {
            let worker = Worker {
                inbox: inbox.clone(),
                outbox: outbox.clone(),
                medium: Arc::clone(medium),
                clock,
                eventfd: eventfd.map(Arc::clone),
            };
            let thread = Builder::new().name("likenew-io".into()).stack_size(STACK_BYTES);
            let thread = thread.spawn(move || worker.run());
            let refused = || action::start_threads(threads);
            workers.threads.push(thread.map_err(|source| LabError::system(refused())(source))?);
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

    /// A completion that is there already.
    pub(crate) fn poll(&self) -> Option<Completion> {
        self.completions.try_recv().ok()
    }

    /// Waits for a completion until `until` on `clock`, for ever if that is never.
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
}

impl Workers {
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

struct Worker<M> {
    inbox: Receiver<Job>,
    outbox: Sender<Completion>,
    medium: Arc<M>,
    clock: Monotonic,
    eventfd: Option<Arc<OwnedFd>>,
}

impl<M: Medium> Worker<M> {
    fn run(self) {
        while let Ok(Job { io, buffer }) = self.inbox.recv() {
            let moves = matches!(io.op, likenew_core::io::Op::Read | likenew_core::io::Op::Write);
            let length = if moves { io.length as usize } else { 0 };
            // SAFETY: `hand_over`'s caller lends that many bytes until this I/O's completion was received; an
            // empty slice needs no more than an address that is not null, which a slot's address is.
            let buffer = unsafe { std::slice::from_raw_parts_mut(buffer, length) };
            let outcome = self.medium.perform(&io, buffer);
            let completion = Completion { slot: io.slot, at: self.clock.now(), outcome };
            if self.outbox.send(completion).is_err() {
                return;
            }
            if let Some(eventfd) = &self.eventfd {
                // The counter cannot overflow: it is read long before 2⁶⁴ completions.
                let _ = rustix::io::write(eventfd, &1u64.to_ne_bytes());
            }
        }
    }
}
