//! Ctrl-C: the first asks the run to stop and keep what it has, the second leaves at once.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use crate::exit::Exit;

static STOP_REQUESTED: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicBool = AtomicBool::new(false);
static QUIET: AtomicBool = AtomicBool::new(false);

/// Listens from now on to SIGINT, SIGTERM and SIGHUP, however often it is asked to.
pub(crate) fn listen() -> anyhow::Result<()> {
    if LISTENING.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    ctrlc::set_handler(|| {
        if STOP_REQUESTED.swap(true, Ordering::Relaxed) {
            // What can not be removed in a hurry is marked; the next run finds it.
            let removed = likenew_real::scratch::remove_all();
            removed.into_iter().filter_map(Result::err).for_each(|error| eprintln!("{error}"));
            likenew_real::tracefs::remove_all();
            crate::screen::restore();
            std::process::exit(Exit::Interrupted as i32);
        }
        if QUIET.load(Ordering::Relaxed) {
            return;
        }
        eprintln!("{}", crate::wording::STOPPING);
    })
    .context("could not listen for Ctrl-C")
}

/// As [`listen`], and says nothing when it is asked to stop: for what is meant to be stopped, and ends at once.
pub(crate) fn listen_quietly() -> anyhow::Result<()> {
    QUIET.store(true, Ordering::Relaxed);
    listen()
}

/// Whether somebody has asked to stop.
pub(crate) fn is_requested() -> bool {
    STOP_REQUESTED.load(Ordering::Relaxed)
}
