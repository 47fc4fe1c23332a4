//! A lane over io_uring: the path of an I/O that costs the least between our clock and the drive.
//!
//! `submit` hands the batch over at once, and `wait` sleeps until a completion is there. That makes two calls
//! into the kernel for an I/O at depth 1, as in fio. docs/explanation/method.md has the cost of other ways of
//! waiting.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;

use io_uring::types::{self, SubmitArgs, Timespec};
use io_uring::{Builder, EnterFlags, IoUring, cqueue, opcode, squeue};
use likenew_core::instrument::AddedLatency;
use likenew_core::io::{Completion, Durability, Io, Op, Outcome, Slot};
use likenew_core::target::{Geometry, Health, Target};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use rustix::event::{EventfdFlags, eventfd};

use crate::buffers::Buffers;
use crate::clock::{Monotonic, sharpen_timers};
use crate::identify::HealthSource;
use crate::medium::{Flights, Medium, PUNCH, Spot, write_flags};
use crate::posix::{LAST_WAIT, Workers};
use crate::target_error::ErrorContext as _;
use crate::wording::action;

/// User data of the entry that polls the workers' eventfd; slots are far lower numbers.
const SIGNAL: u64 = u64::MAX;
/// User data of the periodic timeout.
const PULSE: u64 = u64::MAX - 1;
/// Nanoseconds between periodic timeouts of a ring. They spare a timer for each wait that may be long.
/// Programming one costs a virtual machine several microseconds, which halved the IOPS of a fast device at
/// QD1. Chosen: far longer than an I/O, short beside the wait for a drive that hangs.
const PULSE_NS: u32 = 40_000_000;
static PULSE_SPAN: types::Timespec = types::Timespec::new().nsec(PULSE_NS);
/// Waits longer than this are left to the periodic timeout. Chosen: two periods, so that at least one timeout
/// comes before the end of such a wait.
const LONG: Nanos = Nanos(2 * PULSE_NS as u64);
/// Most workers: threads for I/Os that make or delete files.
const WORKERS_MAX: u32 = 4;
/// Most bytes of buffers that are registered, as registration pins memory.
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
    /// Whether the buffers are registered with the kernel.
    pub(crate) fixed_buffers: bool,
    fixed_file: bool,
    enabled: bool,
    /// Whether the ring's periodic timeout runs.
    pulse: Pulse,
    /// No completion is reported earlier than one that was reported before it.
    last: Nanos,
    /// The last reading of the clock, so that a wait need not read it again.
    clock_read: Nanos,
}

/// State of the ring's periodic timeout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pulse {
    /// The timeout can be started.
    Stopped,
    /// The kernel wakes a waiting thread every [`PULSE_NS`].
    Beating,
    /// This kernel has no periodic timeout (before Linux 6.4).
    Unknown,
}

/// Threads for I/Os that cannot be expressed as one entry, and the eventfd that reports their completions to
/// the ring.
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
    ) -> Result<Self, TargetError> {
        let buffers = Buffers::map(depth, length_max)?;
        // Two more entries, for the eventfd and the periodic timeout.
        let ring = Ring::open(depth + 2).context(action::SET_UP_IO_URING)?;
        let submitter = ring.uring.submitter();
        // The kernel need not look up and pin registered buffers for every I/O. A refusal (the limit of
        // locked memory, mostly) only costs speed.
        // SAFETY: fields are dropped in the order of their declaration, so the buffers outlive the ring.
        let fixed_buffers = buffers.bytes() <= REGISTERED_BYTES_MAX
            && unsafe { submitter.register_buffers(&buffers.vectors()) }.is_ok();
        let fixed_file =
            medium.sole_descriptor().is_some_and(|fd| submitter.register_files(&[fd.as_raw_fd()]).is_ok());
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

    #[inline]
    fn enable(&mut self) -> Result<(), TargetError> {
        if !self.enabled {
            self.ring.enable().map_err(ring_failed)?;
            sharpen_timers();
            self.enabled = true;
        }
        Ok(())
    }

    /// Hands an I/O to the workers; the first one starts them.
    #[cold]
    fn hand_over(&mut self, io: &Io) -> Result<(), TargetError> {
        if self.worker_pool.is_none() {
            match self.start_worker_pool() {
                Ok(worker_pool) => self.worker_pool = Some(worker_pool),
                Err(target_error) => {
                    self.flights.free(io.slot);
                    return Err(target_error);
                }
            }
        }
        let worker_pool = self.worker_pool.as_ref().expect("they were just started");
        // SAFETY: `Flights::leave` has checked that the I/O fits the slot's buffer, which is never handed out
        // while the slot is in flight, and which outlives the workers.
        unsafe { worker_pool.workers.hand_over(io, self.buffers.address(io.slot)) };
        Ok(())
    }

    fn start_worker_pool(&mut self) -> Result<WorkerPool, TargetError> {
        let eventfd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| ring_failed(errno.into()))?;
        let eventfd = Arc::new(eventfd);
        let threads = self.depth.min(WORKERS_MAX);
        let workers = Workers::start(threads, self.depth, &self.medium, self.clock, Some(&eventfd))?;
        listen(&mut self.ring, &eventfd);
        Ok(WorkerPool { workers, eventfd })
    }

    fn wait_for_completion(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
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

    /// Whether a pulse will come well before `until`; starts the pulse if it has stopped. After a pause the
    /// last reading of the clock is old, so that a wait for a silent drive can end one pulse late.
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

    /// Takes every completion that is there, and returns whether there was any.
    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>) -> Result<bool, TargetError> {
        let Self { ring, flights, medium, clock, pulse, clock_read, .. } = self;
        let entries = ring.completions();
        if entries.is_empty() {
            return Ok(false);
        }
        let first = done.len();
        let at = clock.now();
        *clock_read = at;
        let (mut is_signalled, mut refused) = (false, false);
        for entry in entries {
            let (data, result) = (entry.user_data(), entry.result());
            match data {
                SIGNAL => is_signalled = true,
                PULSE if result == -libc::EINVAL => *pulse = Pulse::Unknown,
                PULSE if !cqueue::more(entry.flags()) => *pulse = Pulse::Stopped,
                _ => {}
            }
            if data >= PULSE {
                continue;
            }
            let slot = Slot(data as u32);
            let (io, outcome) = flights.end(slot, result);
            // No drive gives this answer. The kernel does, if an I/O needs a thread that it may not start.
            if result == -libc::ECANCELED {
                let source = io::Error::from_raw_os_error(libc::ECANCELED);
                return Err(TargetError::system(action::start_ring_thread())(source));
            }
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

    /// Takes the workers' completions, which have their own times, and checks whether the drive is still there.
    #[cold]
    fn reap_rare(
        &mut self,
        done: &mut Vec<Completion>,
        first: usize,
        is_signalled: bool,
    ) -> Result<(), TargetError> {
        if is_signalled {
            let worker_pool = self.worker_pool.as_ref().expect("only workers signal it");
            // The eventfd is read before the completions are taken, so that none of them is missed.
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

    /// Waits for everything in flight, but not for a drive that hangs; returns whether all has ended.
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
                // The eventfd does not reach that thread either.
                while let Some(completion) =
                    self.worker_pool.as_ref().and_then(|worker_pool| worker_pool.workers.poll())
                {
                    self.flights.free(completion.slot);
                }
            }
            // Whether the drive is still there does not matter any more.
            let _ = self.reap(&mut done);
            done.clear();
        }
        self.flights.count() == 0
    }
}

/// Asks the kernel for a completion as soon as the eventfd is signaled.
fn listen(ring: &mut Ring, eventfd: &OwnedFd) {
    let entry =
        opcode::PollAdd::new(types::Fd(eventfd.as_raw_fd()), libc::POLLIN as u32).build().user_data(SIGNAL);
    // SAFETY: the entry points to no memory.
    unsafe { ring.queue().push(&entry) };
}

#[cold]
fn ring_failed(source: io::Error) -> TargetError {
    TargetError::system(action::CONTINUE_IO_URING)(source)
}

/// An I/O as an entry of the submission queue.
#[inline]
fn entry(io: &Io, spot: Spot<'_>, address: *mut u8, fixed_buffer: bool, fixed_file: bool) -> squeue::Entry {
    let (fd, offset, length) = (types::Fd(spot.fd.as_raw_fd()), spot.offset, io.length);
    let (index, flags) = (io.slot.0 as u16, write_flags(io).bits().cast_signed());
    macro_rules! transfer {
        ($registered:ident, $plain:ident, $fd:expr) => {
            if fixed_buffer {
                opcode::$registered::new($fd, address, length, index).offset(offset).rw_flags(flags).build()
            } else {
                opcode::$plain::new($fd, address, length).offset(offset).rw_flags(flags).build()
            }
        };
    }
    let entry = match (io.op, fixed_file) {
        (Op::Read, true) => transfer!(ReadFixed, Read, types::Fixed(0)),
        (Op::Read, false) => transfer!(ReadFixed, Read, fd),
        (Op::Write, true) => transfer!(WriteFixed, Write, types::Fixed(0)),
        (Op::Write, false) => transfer!(WriteFixed, Write, fd),
        (Op::Flush, _) if io.sync == Some(Durability::File) => opcode::Fsync::new(fd).build(),
        (Op::Flush, _) => opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build(),
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

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
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
            // What the kernel does not take now, the next wait submits.
            self.ring.enter(0, Nanos::NEVER, self.clock).map_err(ring_failed)?;
        }
        Ok(sent)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let waited = self.wait_for_completion(until, done);
        if waited.is_err() {
            // Only this thread can wait for what is in flight; the lane may be dropped by another.
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
            // Taking the file from the ring would wait for what is in flight.
            return;
        }
        if self.fixed_file {
            // Otherwise the kernel does so some time after the ring is closed, and a device stays claimed
            // until then. Only the ring's own thread can unregister; a refusal means that it happens later.
            let _ = self.ring.uring.submitter().unregister_files();
        }
    }
}

// One io_uring: how it is set up, entered and read.

/// `IORING_ENTER_ABS_TIMER` (Linux 6.12): the timeout is a point in time, so no clock is read to compute it.
const ABSOLUTE_TIMER: EnterFlags = EnterFlags::from_bits_retain(1 << 5);

/// An io_uring and the entries that wait in it for the next call into the kernel.
pub(crate) struct Ring {
    uring: IoUring,
    unsent: u32,
    absolute_timers: bool,
    /// Whether the ring starts disabled, to belong to the thread that enables it.
    disabled: bool,
}

/// Settings from the best to the most basic, with the first kernel that has them. With one issuer and
/// deferred task work, completions are processed only while we wait for them, never in the middle of
/// something else. The ring then belongs to the thread that enables it.
const SETTINGS: [fn(&mut Builder); 4] = [
    |builder| {
        // Linux 6.6
        one_issuer(builder);
        builder.setup_no_sqarray();
    },
    // Linux 6.1
    one_issuer,
    |builder| {
        // Linux 5.19
        builder.setup_submit_all().setup_coop_taskrun().setup_taskrun_flag();
    },
    |_| {},
];
/// How many of these settings start the ring disabled.
const SETTINGS_DISABLED: usize = 2;

fn one_issuer(builder: &mut Builder) {
    builder.setup_submit_all().setup_single_issuer().setup_defer_taskrun().setup_r_disabled();
}

impl Ring {
    /// A ring for `entries` I/Os in flight, with the best settings that this kernel has.
    ///
    /// # Errors
    /// The system has no io_uring, or none that can wait with a timeout (before Linux 5.11), or refuses it.
    pub(crate) fn open(entries: u32) -> io::Result<Self> {
        Self::open_from(entries, 0)
    }

    /// As [`Ring::open`], without the first `first` settings.
    fn open_from(entries: u32, first: usize) -> io::Result<Self> {
        let mut refusal = io::ErrorKind::Unsupported.into();
        for (index, settings) in SETTINGS.iter().enumerate().skip(first) {
            let mut builder = IoUring::builder();
            builder.dontfork();
            settings(&mut builder);
            match builder.build(entries) {
                Ok(uring) if uring.params().is_feature_ext_arg() && uring.params().is_feature_nodrop() => {
                    let disabled = index < SETTINGS_DISABLED;
                    return Ok(Self { uring, unsent: 0, absolute_timers: true, disabled });
                }
                Ok(_) => return Err(io::ErrorKind::Unsupported.into()),
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = error,
                Err(error) => return Err(error),
            }
        }
        Err(refusal)
    }

    /// Makes the ring belong to this thread, which has to call this before it does anything else with the ring.
    pub(crate) fn enable(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.disabled) {
            self.uring.submitter().register_enable_rings()?;
        }
        Ok(())
    }

    /// Entries that were queued and have not yet reached the kernel.
    #[inline]
    pub(crate) fn unsent(&self) -> u32 {
        self.unsent
    }

    /// Queues entries for the next [`Ring::enter`].
    #[inline]
    pub(crate) fn queue(&mut self) -> Queue<'_> {
        Queue { queue: self.uring.submission(), unsent: &mut self.unsent }
    }

    /// Calls the kernel: hands over what is queued and waits for `want` completions, until `until` on `clock` at most.
    ///
    /// If no completion is wanted, none is fetched: the call that waits does that work. Here it would hold up
    /// the thread that serves the device, which cost a loop device 4 to 13% of its IOPS at QD32
    /// (docs/explanation/method.md).
    ///
    /// After it returns, check again for completions, for entries not yet taken, and for the time.
    ///
    /// # Errors
    /// The kernel refuses to continue with this ring.
    #[inline]
    pub(crate) fn enter(&mut self, want: u32, until: Nanos, clock: Monotonic) -> io::Result<()> {
        let entered = if until == Nanos::NEVER {
            // SAFETY: without an argument there is nothing to get wrong; queued entries are valid by `Queue::push`.
            unsafe {
                let nothing = None::<&libc::sigset_t>;
                let flags = if want > 0 { EnterFlags::GETEVENTS } else { EnterFlags::empty() };
                self.uring.submitter().enter(self.unsent, want, flags.bits(), nothing)
            }
        } else {
            let mut flags = EnterFlags::GETEVENTS | EnterFlags::EXT_ARG;
            let (secs, nanos) = if self.absolute_timers {
                flags |= ABSOLUTE_TIMER;
                clock.absolute(until)
            } else {
                let left = until.since(clock.now()).0;
                (left / 1_000_000_000, (left % 1_000_000_000) as u32)
            };
            let timeout = Timespec::new().sec(secs).nsec(nanos);
            let arguments = SubmitArgs::new().timespec(&timeout);
            // SAFETY: the argument is of the type that EXT_ARG stands for, and outlives the call.
            unsafe { self.uring.submitter().enter(self.unsent, want, flags.bits(), Some(&arguments)) }
        };
        match entered {
            Ok(taken) => {
                self.unsent -= taken as u32;
                Ok(())
            }
            Err(error) => self.rearm(error, until, clock),
        }
    }

    #[cold]
    fn rearm(&mut self, error: io::Error, until: Nanos, clock: Monotonic) -> io::Result<()> {
        match error.raw_os_error() {
            Some(libc::ETIME | libc::EINTR) => Ok(()),
            // The kernel is short of memory for requests, or completions have to be read first.
            Some(libc::EAGAIN | libc::EBUSY) => {
                clock.rest(until.min(clock.now() + Nanos::from_millis(1)));
                Ok(())
            }
            Some(libc::EINVAL) if self.absolute_timers => {
                self.absolute_timers = false;
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// Takes every completion that is there.
    #[inline]
    fn completions(&mut self) -> cqueue::CompletionQueue<'_> {
        self.uring.completion()
    }
}

/// The submission queue while entries are pushed. Dropping it shows them to the kernel.
pub(crate) struct Queue<'a> {
    queue: squeue::SubmissionQueue<'a>,
    unsent: &'a mut u32,
}

impl Queue<'_> {
    /// Queues an entry.
    ///
    /// # Safety
    /// What the entry points to stays valid, and nothing else uses it, until its completion was taken.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: by this function's contract.
        let pushed = unsafe { self.queue.push(entry) };
        pushed.expect("a ring has room for as many entries as it was opened for");
        *self.unsent += 1;
    }
}

// The latency that this program adds to an I/O on this machine, measured on a separate ring, without any
// drive.

/// I/Os that do nothing, of which the median counts.
const CALLS: usize = 501;
/// Waits, each until a timer fires.
const WAITS: usize = 201;
/// How far ahead a timer is set, as for a drive that answers in 100 µs. Chosen: long enough for the core to
/// fall asleep.
const AHEAD: Nanos = Nanos::from_micros(100);

/// Measures for about 25 ms; `None` if this system has no io_uring.
pub fn added_latency() -> Option<AddedLatency> {
    let clock = Monotonic::start();
    let mut ring = Ring::open(4).ok()?;
    ring.enable().ok()?;
    sharpen_timers();
    let calls = (0..CALLS).map(|_| call(&mut ring, clock)).collect::<Option<Vec<_>>>()?;
    let wakes = (0..WAITS).map(|_| wake(&mut ring, clock)).collect::<Option<Vec<_>>>()?;
    Some(AddedLatency {
        call_ns: quantile(calls, 0.5),
        wake_ns_p50: quantile(wakes.clone(), 0.5),
        wake_ns_p99: quantile(wakes, 0.99),
    })
}

/// The time from handing over an I/O that does nothing to having read its completion.
fn call(ring: &mut Ring, clock: Monotonic) -> Option<u64> {
    let begun = clock.now();
    // SAFETY: a no-op points to nothing.
    unsafe { ring.queue().push(&opcode::Nop::new().build()) };
    Some(answered_at(ring, clock)?.since(begun).0)
}

/// The time at which the completion of what is queued has been read.
fn answered_at(ring: &mut Ring, clock: Monotonic) -> Option<Nanos> {
    ring.enter(0, Nanos::NEVER, clock).ok()?;
    while ring.completions().is_empty() {
        ring.enter(1, Nanos::NEVER, clock).ok()?;
    }
    let ended = clock.now();
    ring.completions().for_each(drop);
    Some(ended)
}

/// The time from when a timer was due, as a completion is posted, to having read that it fired.
fn wake(ring: &mut Ring, clock: Monotonic) -> Option<u64> {
    let due = clock.now() + AHEAD;
    let (secs, nanos) = clock.absolute(due);
    let at = types::Timespec::new().sec(secs).nsec(nanos);
    let entry = opcode::Timeout::new(&at).flags(types::TimeoutFlags::ABS).build();
    // SAFETY: the kernel reads the time while it takes the entry, which is the next call, and `at` lives longer.
    unsafe { ring.queue().push(&entry) };
    Some(answered_at(ring, clock)?.since(due).0)
}

/// The value at the quantile `share`.
fn quantile(mut values: Vec<u64>, share: f64) -> u64 {
    values.sort_unstable();
    values[((values.len() - 1) as f64 * share).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings() -> impl Iterator<Item = Ring> {
        (0..SETTINGS.len()).flat_map(|first| [(first, true), (first, false)]).map(
            |(first, absolute_timers)| {
                let mut ring = Ring::open_from(4, first).expect("this machine has io_uring");
                ring.absolute_timers = absolute_timers;
                ring.enable().unwrap();
                ring
            },
        )
    }

    #[test]
    fn entries_wait_for_the_next_call_and_come_back_once() {
        for mut ring in rings() {
            for data in 1..=4 {
                // SAFETY: a no-op points to nothing.
                unsafe { ring.queue().push(&opcode::Nop::new().build().user_data(data)) };
            }
            assert_eq!((ring.unsent(), ring.completions().len()), (4, 0));
            ring.enter(4, Nanos::NEVER, Monotonic::start()).unwrap();
            assert_eq!(ring.completions().map(|answer| answer.user_data()).collect::<Vec<_>>(), [1, 2, 3, 4]);
            assert_eq!((ring.unsent(), ring.completions().len()), (0, 0));
        }
    }

    #[test]
    fn waiting_ends_at_the_time_that_was_given() {
        for mut ring in rings() {
            let clock = Monotonic::start();
            let until = clock.now() + Nanos::from_millis(2);
            // The first call may find out that this kernel has no absolute timers.
            while clock.now() < until {
                ring.enter(1, until, clock).unwrap();
            }
            assert_eq!(ring.completions().len(), 0);
        }
    }

    #[test]
    fn a_refused_call_means_poll_again_or_an_error() {
        let mut ring = Ring::open(1).unwrap();
        let clock = Monotonic::start();
        let mut answer = |errno| ring.rearm(io::Error::from_raw_os_error(errno), Nanos::ZERO, clock);
        for errno in [libc::ETIME, libc::EINTR, libc::EAGAIN, libc::EBUSY, libc::EINVAL] {
            answer(errno).unwrap();
        }
        for errno in [libc::EINVAL, libc::EBADF, libc::EFAULT] {
            assert_eq!(answer(errno).unwrap_err().raw_os_error(), Some(errno));
        }
    }

    #[test]
    fn calls_and_wake_ups_take_time() {
        let added = added_latency().expect("this machine has io_uring");
        assert!(
            added.call_ns > 0 && added.wake_ns_p50 > 0 && added.wake_ns_p99 >= added.wake_ns_p50,
            "{added:?}"
        );
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|share| quantile(vec![4, 1, 3, 2, 5], share)), [1, 3, 5, 5]);
    }
}
