//! Ctrl-C: the first stops the run and keeps its results, the second ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;

use crate::exit::Exit;

static STOP_REQUESTED: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicBool = AtomicBool::new(false);
/// What the first Ctrl-C says.
static MESSAGE: Mutex<Option<&str>> = Mutex::new(Some(crate::wording::STOPPING));

/// Listens for SIGINT, SIGTERM and SIGHUP from now on; may be called repeatedly.
pub(crate) fn listen() -> anyhow::Result<()> {
    if LISTENING.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    ctrlc::set_handler(|| {
        if STOP_REQUESTED.swap(true, Ordering::Relaxed) {
            // Files that cannot be removed in a hurry are marked; the next run finds them.
            let removed = likenew_real::scratch::remove_all();
            removed.into_iter().filter_map(Result::err).for_each(|error| eprintln!("{error}"));
            likenew_real::tracefs::remove_all();
            crate::screen::restore();
            std::process::exit(Exit::Interrupted as i32);
        }
        if let Some(message) = *MESSAGE.lock().unwrap_or_else(PoisonError::into_inner) {
            eprintln!("{message}");
        }
    })
    .context(crate::wording::COULD_NOT_LISTEN)
}

/// Like [`listen`], with another message when it is stopped, as where nothing is kept; or none, for commands that
/// are meant to be stopped, and end at once.
pub(crate) fn listen_saying(message: Option<&'static str>) -> anyhow::Result<()> {
    *MESSAGE.lock().unwrap_or_else(PoisonError::into_inner) = message;
    listen()
}

/// Signals belong to the program in which this one runs.
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
