//! One io_uring: how it is set up, entered and read.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{Builder, EnterFlags, IoUring, cqueue, squeue};
use likenew_core::units::Nanos;

use crate::clock::Monotonic;

/// `IORING_ENTER_ABS_TIMER` (Linux 6.12): the timeout is a point in time, so no clock is read to compute it.
const ABSOLUTE_TIMER: EnterFlags = EnterFlags::from_bits_retain(1 << 5);

/// An io_uring and the entries that wait in it for the next call into the kernel.
pub(crate) struct Ring {
    uring: IoUring,
    unsent: u32,
    absolute_timers: bool,
    /// Whether it starts disabled, to belong to the thread that enables it.
    disabled: bool,
}

/// Settings from the best to the most basic, with the first kernel that has them. One issuer and deferred
/// task work mean that completions are processed only while we wait for them, never in the middle of
/// something else; the ring then belongs to the thread that enables it.
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
/// How many of them start the ring disabled.
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

    /// The same without the first of the settings.
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

    /// Registers the descriptor that all I/Os go to. A refusal only costs speed.
    pub(crate) fn register_file(&self, fd: BorrowedFd<'_>) -> bool {
        self.uring.submitter().register_files(&[fd.as_raw_fd()]).is_ok()
    }

    /// Registers buffers, so that the kernel need not look up and pin their pages for every I/O. A refusal
    /// (the limit of locked memory, mostly) only costs speed.
    ///
    /// # Safety
    /// The buffers outlive the ring.
    pub(crate) unsafe fn register_buffers(&self, vectors: &[libc::iovec]) -> bool {
        // SAFETY: they outlive the ring by this function's contract.
        unsafe { self.uring.submitter().register_buffers(vectors) }.is_ok()
    }

    /// Gives the registered descriptor back now rather than some time after the ring is closed, as the kernel would: a
    /// device stays claimed until then. Only the ring's own thread can.
    pub(crate) fn unregister_file(&self) {
        // A refusal means that it happens later.
        let _ = self.uring.submitter().unregister_files();
    }

    /// Makes the ring belong to this thread. To be called before anything else by the thread that drives it.
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
    /// If no completion is wanted, none is fetched: that is work for the call that waits, and here it would
    /// hold up the thread that serves the device. Fetching them cost a loop device 4 to 13% of its IOPS at
    /// QD32 (docs/explanation/method.md).
    ///
    /// After it returns, check again: for completions, for entries not yet taken, the clock.
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
    pub(crate) fn completions(&mut self) -> impl ExactSizeIterator<Item = CompletionEntry> {
        self.uring.completion().map(|entry| CompletionEntry {
            data: entry.user_data(),
            result: entry.result(),
            more: cqueue::more(entry.flags()),
        })
    }
}

/// What the kernel says of one entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompletionEntry {
    /// The user data that the entry carried.
    pub(crate) data: u64,
    /// Bytes, or a negated error number.
    pub(crate) result: i32,
    /// Whether the same entry will be answered again.
    pub(crate) more: bool,
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
    /// What the entry points to stays valid, and is used by nothing else, until its completion was taken.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: by this function's contract.
        let pushed = unsafe { self.queue.push(entry) };
        pushed.expect("a ring has room for as many entries as it was opened for");
        *self.unsent += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use io_uring::opcode;

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
            assert_eq!(ring.completions().map(|answer| answer.data).collect::<Vec<_>>(), [1, 2, 3, 4]);
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
}
