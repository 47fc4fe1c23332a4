//! Signals: the first asks the run to stop, which keeps its results; the second, or Ctrl-\\, ends the process at once.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use anyhow::Context as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::console::note;
use crate::exit::Exit;
use crate::wording;

static STOP_REQUESTED: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicBool = AtomicBool::new(false);
/// What the first signal prints.
static MESSAGE: Mutex<Option<&str>> = Mutex::new(Some(wording::STOPPING));

/// Listens for signals from now on; may be called repeatedly.
pub(crate) fn listen() -> anyhow::Result<()> {
    if LISTENING.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    // Under nohup, a closed terminal must not stop the run.
    let handled = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
    let signals = Signals::new(handled.into_iter().filter(|signal| *signal != SIGHUP || !ignores_hangup()));
    let mut signals = signals.context(wording::COULD_NOT_LISTEN)?;
    let listener = Builder::new().name("signals".into());
    listener.spawn(move || signals.forever().for_each(stop)).context(wording::COULD_NOT_LISTEN)?;
    Ok(())
}

/// Whether this process was started to ignore SIGHUP: the lowest bit of `SigIgn` in its status (proc(5)).
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

fn stop(signal: i32) {
    if STOP_REQUESTED.swap(true, Ordering::Relaxed) || signal == SIGQUIT {
        // Files that cannot be removed in a hurry are marked; the next run finds them.
        likenew_real::scratch::remove_all().into_iter().filter_map(Result::err).for_each(note);
        likenew_real::tracefs::remove_all();
        crate::screen::restore();
        std::process::exit(Exit::Interrupted as i32);
    }
    let message = *MESSAGE.lock().unwrap_or_else(PoisonError::into_inner);
    message.into_iter().for_each(note);
}

/// Like [`listen`], with another message at the first signal, such as where nothing is kept. `None`
/// is for commands that are meant to be stopped.
pub(crate) fn listen_saying(message: Option<&'static str>) -> anyhow::Result<()> {
    set_message(message);
    listen()
}

/// Does `work`, during which the first signal prints nothing.
pub(crate) fn silently<T>(work: impl FnOnce() -> T) -> T {
    let message = set_message(None);
    let done = work();
    set_message(message);
    done
}

/// Sets the message, and returns the one before.
fn set_message(message: Option<&'static str>) -> Option<&'static str> {
    std::mem::replace(&mut *MESSAGE.lock().unwrap_or_else(PoisonError::into_inner), message)
}

/// Never listens for signals: they belong to the program that runs this command.
pub(crate) fn leave_signals_alone() {
    LISTENING.store(true, Ordering::Relaxed);
}

/// Asks to stop, as Ctrl-C does.
pub(crate) fn request() {
    STOP_REQUESTED.store(true, Ordering::Relaxed);
}

/// Forgets that the user asked to stop.
pub(crate) fn forget() {
    STOP_REQUESTED.store(false, Ordering::Relaxed);
}

/// Whether the user asked to stop.
pub(crate) fn is_requested() -> bool {
    STOP_REQUESTED.load(Ordering::Relaxed)
}

/// How often a wait checks whether it was stopped: 100 ms.
const CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Waits until there is something to read, or the input ends. Returns whether the writer is gone,
/// as after a terminal was closed.
///
/// # Errors
/// The user asked to stop. Another thread hears the signal, so it would not interrupt a read.
pub(crate) fn wait_for(input: &impl AsFd) -> io::Result<bool> {
    loop {
        if is_requested() {
            return Err(io::Error::other(wording::STOP_REQUESTED));
        }
        let mut waits = [PollFd::new(input, PollFlags::IN)];
        match poll(&mut waits, Some(&CHECK_INTERVAL)) {
            Ok(0) | Err(Errno::INTR) => {}
            _ => return Ok(waits[0].revents().contains(PollFlags::HUP)),
        }
    }
}

/// A stream that fails when the user asks to stop, even while it waits for data.
pub(crate) struct Stoppable<R>(pub(crate) R);

impl<R: Read + AsFd> Read for Stoppable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        wait_for(&self.0)?;
        self.0.read(buffer)
    }
}
