//! A lane over io_uring: the path of an I/O that costs the least between our clock and the drive.
//!
//! `submit` hands the batch over at once, and `wait` sleeps until a completion is there: two calls into the
//! kernel for an I/O at depth 1, as fio makes. docs/explanation/method.md has what other ways of waiting came
//! to.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;

use io_uring::{opcode, squeue, types};
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::lab_error::LabError;
use likenew_core::target::{Geometry, Health, Target};
use likenew_core::units::Nanos;
use rustix::event::{EventfdFlags, eventfd};

use crate::buffers::Buffers;
use crate::clock::{Monotonic, sharpen_timers};
use crate::flights::Flights;
use crate::health::HealthSource;
use crate::medium::{Medium, PUNCH, Spot};
use crate::posix::LAST_WAIT;
use crate::ring::{CompletionEntry, Ring};
use crate::wording::action;
use crate::workers::Workers;

/// User data of the entry that polls the workers' eventfd; slots are far below.
const BELL: u64 = u64::MAX;
/// User data of the periodic timeout.
const PULSE: u64 = u64::MAX - 1;
/// Nanoseconds between periodic timeouts of a ring. With them it needs no timer for each wait that may be
/// long: programming one costs a virtual machine several microseconds, which halved the IOPS of a fast device
/// at QD1. The period is chosen: far longer than an I/O, short beside the wait for a drive that hangs.
const PULSE_NS: u32 = 40_000_000;
static PULSE_SPAN: types::Timespec = types::Timespec::new().nsec(PULSE_NS);
/// A longer wait than this is left to the periodic timeout. Chosen: two periods, so that at least one timeout
/// comes before its end.
const LONG: Nanos = Nanos(2 * PULSE_NS as u64);
/// Workers, threads for I/Os that need a directory, at most.
const CLERKS_MAX: u32 = 4;
/// Registration pins memory: more than this is left unregistered.
const REGISTERED_BYTES_MAX: usize = 1 << 30;

/// A ring, its buffers, and what is in flight.
pub(crate) struct UringLane<M: Medium> {
    // Dropped in this order: the ring and the workers use the buffers.
    ring: Ring,
    worker_pool: Option<WorkerPool>,
    buffers: Buffers,
    flights: Flights,
    medium: Arc<M>,
    clock: Monotonic,
    health: HealthSource,
    depth: u32,
    fixed_buffers: bool,
    fixed_file: bool,
    enabled: bool,
    /// Whether the ring's periodic timeout runs.
    pulse: Pulse,
    /// No completion is reported earlier than one that was reported before it.
    last: Nanos,
    /// What the clock read last, so that a wait need not read it again.
    clock_read: Nanos,
}

/// State of the ring's periodic timeout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pulse {
    /// It can be started.
    Stopped,
    /// The kernel wakes a waiting thread every [`PULSE_NS`].
    Beating,
    /// This kernel has none (before Linux 6.4).
    Unknown,
}

/// Threads for what cannot be expressed as one entry, and the eventfd that reports their completions to the
/// ring.
struct WorkerPool {
    workers: Workers,
    eventfd: Arc<OwnedFd>,
}

impl<M: Medium> UringLane<M> {
    /// A lane of `depth ≥ 1` slots for I/Os of up to `length_max` bytes. The thread that first uses it owns
    /// it from then on.
    ///
    /// # Errors
    /// There is too little memory, or no ring.
    pub(crate) fn open(
        medium: &Arc<M>,
        clock: Monotonic,
        health: HealthSource,
        depth: u32,
        length_max: u32,
    ) -> Result<Self, LabError> {
        let buffers = Buffers::map(depth, length_max)?;
        // Two more entries, for the eventfd and the periodic timeout.
        let ring = Ring::open(depth + 2).map_err(LabError::system(action::SET_UP_IO_URING))?;
        // SAFETY: fields are dropped in the order of their declaration, so the buffers outlive the ring.
        let fixed_buffers =
            buffers.bytes() <= REGISTERED_BYTES_MAX && unsafe { ring.register_buffers(&buffers.vectors()) };
        let fixed_file = medium.sole_descriptor().is_some_and(|fd| ring.register_file(fd));
        Ok(Self {
            ring,
            worker_pool: None,
            buffers,
            flights: Flights::new(medium.geometry(), depth, length_max),
            medium: Arc::clone(medium),
            clock,
            health,
            depth,
            fixed_buffers,
            fixed_file,
            enabled: false,
            pulse: Pulse::Stopped,
            last: Nanos::ZERO,
            clock_read: Nanos::ZERO,
        })
    }

    /// Whether the kernel has taken the buffers for good.
    pub(crate) fn has_fixed_buffers(&self) -> bool {
        self.fixed_buffers
    }

    #[inline]
    fn enable(&mut self) -> Result<(), LabError> {
        if !self.enabled {
            self.ring.enable().map_err(ring_failed)?;
            sharpen_timers();
            self.enabled = true;
        }
        Ok(())
    }

    /// Hands an I/O to the workers; the first one starts them.
    #[cold]
    fn hand_over(&mut self, io: &Io) -> Result<(), LabError> {
        if self.worker_pool.is_none() {
            match self.start_worker_pool() {
                Ok(worker_pool) => self.worker_pool = Some(worker_pool),
                Err(lab_error) => {
                    self.flights.free(io.slot);
                    return Err(lab_error);
                }
            }
        }
        let worker_pool = self.worker_pool.as_ref().expect("they were just started");
        // SAFETY: `Flights::leave` has checked that the I/O fits the slot's buffer, which is never handed out
        // while the slot is in flight, and which outlives the workers.
        unsafe { worker_pool.workers.hand_over(io, self.buffers.address(io.slot)) };
        Ok(())
    }

    fn start_worker_pool(&mut self) -> Result<WorkerPool, LabError> {
        let eventfd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| ring_failed(errno.into()))?;
        let eventfd = Arc::new(eventfd);
        let threads = self.depth.min(CLERKS_MAX);
        let workers = Workers::start(threads, self.depth, &self.medium, self.clock, Some(&eventfd))?;
        listen(&mut self.ring, &eventfd);
        Ok(WorkerPool { workers, eventfd })
    }

    fn wait_for_completion(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), LabError> {
        self.enable()?;
        if self.ring.unsent() == 0 && self.reap(done)? {
            return Ok(());
        }
        if self.flights.count() == 0 {
            self.clock.rest(until);
            return Ok(());
        }
        loop {
            let timer = if self.is_long(until) { Nanos::NEVER } else { until };
            self.ring.enter(1, timer, self.clock).map_err(ring_failed)?;
            if self.reap(done)? {
                return Ok(());
            }
            self.clock_read = self.clock.now();
            if self.clock_read >= until {
                return Ok(());
            }
        }
    }

    /// Whether a pulse will come well before `until`; starts the pulse if it has stopped. After a pause the clock is
    /// later than what it read last, so that a wait for a silent drive can end one pulse late.
    fn is_long(&mut self, until: Nanos) -> bool {
        if self.pulse == Pulse::Stopped {
            let entry = opcode::Timeout::new(&PULSE_SPAN)
                .flags(types::TimeoutFlags::MULTISHOT)
                .build()
                .user_data(PULSE);
            // SAFETY: the entry points to a static.
            unsafe { self.ring.queue().push(&entry) };
            self.pulse = Pulse::Beating;
            // Whether this kernel has pulses is known when the entry is answered.
            return false;
        }
        self.pulse == Pulse::Beating && until.since(self.clock_read) > LONG
    }

    /// Takes every completion that is there, and says whether there was any.
    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>) -> Result<bool, LabError> {
        let Self { ring, flights, medium, clock, pulse, clock_read, .. } = self;
        let entries = ring.completions();
        if entries.len() == 0 {
            return Ok(false);
        }
        let first = done.len();
        let at = clock.now();
        *clock_read = at;
        let (mut is_signalled, mut refused) = (false, false);
        for CompletionEntry { data, result, more } in entries {
            match data {
                BELL => is_signalled = true,
                PULSE if result == -libc::EINVAL => *pulse = Pulse::Unknown,
                PULSE if !more => *pulse = Pulse::Stopped,
                _ => {}
            }
            if data >= PULSE {
                continue;
            }
            let slot = Slot(data as u32);
            let (io, outcome) = flights.end(slot, result);
            medium.on_end(&io, outcome);
            refused |= matches!(outcome, Outcome::Error(_));
            done.push(Completion { slot, at, outcome });
        }
        if is_signalled || refused {
            self.reap_rare(done, first, is_signalled)?;
        }
        if let Some(last) = done[first..].last() {
            self.last = last.at;
        }
        Ok(done.len() > first)
    }

    /// The workers' completions, which have their own times, and a check whether the drive is still there.
    #[cold]
    fn reap_rare(
        &mut self,
        done: &mut Vec<Completion>,
        first: usize,
        is_signalled: bool,
    ) -> Result<(), LabError> {
        if is_signalled {
            let worker_pool = self.worker_pool.as_ref().expect("only clerks ring the bell");
            // Silenced before the completions are taken, so that none of them is missed.
            let _ = rustix::io::read(&*worker_pool.eventfd, &mut [0u8; 8]);
            while let Some(mut completion) = worker_pool.workers.poll() {
                completion.at = completion.at.max(self.last);
                self.flights.free(completion.slot);
                done.push(completion);
            }
            listen(&mut self.ring, &worker_pool.eventfd);
            done[first..].sort_by_key(|completion| completion.at);
        }
        if done[first..].iter().any(|completion| matches!(completion.outcome, Outcome::Error(_))) {
            self.medium.check_present()?;
        }
        Ok(())
    }

    /// Waits for everything in flight, but not for a drive that hangs; says whether all has ended.
    fn drain(&mut self) -> bool {
        let mut done = Vec::new();
        let until = self.clock.now() + LAST_WAIT;
        while self.flights.count() > 0 && self.clock.now() < until {
            let soon = (self.clock.now() + Nanos::from_millis(100)).min(until);
            let entered =
                if self.enabled { self.ring.enter(1, soon, self.clock) } else { self.ring.enable() };
            self.enabled = true;
            if entered.is_err() {
                // The ring belongs to another thread, which alone could wait in it.
                self.clock.rest(self.clock.now() + Nanos::from_millis(1));
                // Nor does the eventfd reach it.
                while let Some(completion) =
                    self.worker_pool.as_ref().and_then(|worker_pool| worker_pool.workers.poll())
                {
                    self.flights.free(completion.slot);
                }
            }
            // The drive's fate is of no interest any more.
            let _ = self.reap(&mut done);
            done.clear();
        }
        self.flights.count() == 0
    }
}

/// Asks the kernel for a completion as soon as the eventfd is signaled.
fn listen(ring: &mut Ring, eventfd: &OwnedFd) {
    let entry =
        opcode::PollAdd::new(types::Fd(eventfd.as_raw_fd()), libc::POLLIN as u32).build().user_data(BELL);
    // SAFETY: the entry points to no memory.
    unsafe { ring.queue().push(&entry) };
}

#[cold]
fn ring_failed(source: io::Error) -> LabError {
    LabError::system(action::CONTINUE_IO_URING)(source)
}

/// An I/O in the kernel's words.
#[inline]
fn entry(io: &Io, spot: Spot<'_>, address: *mut u8, fixed_buffer: bool, fixed_file: bool) -> squeue::Entry {
    let (fd, offset, length) = (types::Fd(spot.fd.as_raw_fd()), spot.offset, io.length);
    let index = io.slot.0 as u16;
    macro_rules! transfer {
        ($registered:ident, $plain:ident, $fd:expr) => {
            if fixed_buffer {
                opcode::$registered::new($fd, address, length, index).offset(offset).build()
            } else {
                opcode::$plain::new($fd, address, length).offset(offset).build()
            }
        };
    }
    let entry = match (io.op, fixed_file) {
        (Op::Read, true) => transfer!(ReadFixed, Read, types::Fixed(0)),
        (Op::Read, false) => transfer!(ReadFixed, Read, fd),
        (Op::Write, true) => transfer!(WriteFixed, Write, types::Fixed(0)),
        (Op::Write, false) => transfer!(WriteFixed, Write, fd),
        (Op::Flush, _) => opcode::Fsync::new(fd).build(),
        (Op::Trim, _) => {
            let mode = PUNCH.bits().cast_signed();
            opcode::Fallocate::new(fd, length.into()).offset(offset).mode(mode).build()
        }
    };
    entry.user_data(io.slot.0.into())
}

impl<M: Medium> Target for UringLane<M> {
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

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, LabError> {
        self.enable()?;
        let sent = self.clock.now();
        self.clock_read = sent;
        for io in batch {
            self.flights.leave(io)?;
            let Some(spot) = self.medium.spot(io) else {
                self.hand_over(io)?;
                continue;
            };
            let entry = entry(io, spot, self.buffers.address(io.slot), self.fixed_buffers, self.fixed_file);
            // SAFETY: `Flights::leave` has checked that the I/O fits the slot's buffer, which is never handed
            // out while the slot is in flight; buffers and descriptors outlive the ring.
            unsafe { self.ring.queue().push(&entry) };
        }
        if self.ring.unsent() > 0 {
            // What the kernel does not take now, the following wait submits.
            self.ring.enter(0, Nanos::NEVER, self.clock).map_err(ring_failed)?;
        }
        Ok(sent)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), LabError> {
        let waited = self.wait_for_completion(until, done);
        if waited.is_err() {
            // This thread is the one that can wait for what is in flight; the lane may be dropped by another.
            self.drain();
        }
        waited
    }

    fn health(&mut self) -> Health {
        self.health.read()
    }
}

impl<M: Medium> Drop for UringLane<M> {
    fn drop(&mut self) {
        let is_drained = self.drain();
        let clock = self.clock;
        let have_left = self
            .worker_pool
            .as_mut()
            .is_none_or(|worker_pool| worker_pool.workers.end(clock, clock.now() + LAST_WAIT));
        if !is_drained || !have_left {
            // I/Os still in flight use their buffers, which are therefore leaked.
            self.buffers.leak();
            // To take the file from the ring would wait for what is in flight.
            return;
        }
        if self.fixed_file {
            self.ring.unregister_file();
        }
    }
}
