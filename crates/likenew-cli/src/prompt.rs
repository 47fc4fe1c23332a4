//! Questions to the user at the terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::exit::Failure;
use crate::{interrupt, wording};

/// Whether a user can answer.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question; anything but a clear yes is a no.
///
/// # Errors
/// The user stopped it.
pub(crate) fn confirm(question: &str) -> Result<bool, Failure> {
    let answer = read_line(&format!("{question} [y/N]"))?.unwrap_or_default();
    Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// How often a wait for an answer looks whether it was stopped: 100 ms.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Asks for text; `None` if there is none.
///
/// # Errors
/// The user stopped it: a read goes on after a signal, so what is typed is waited for first.
pub(crate) fn read_line(question: &str) -> Result<Option<String>, Failure> {
    eprint!("{} ", crate::standard_error::harmless(question));
    let _ = std::io::stderr().flush();
    let stdin = std::io::stdin();
    loop {
        if interrupt::is_requested() {
            return Err(Failure::Stopped(wording::STOPPED_AT_QUESTION));
        }
        // A signal is noticed in the next round: another thread hears it.
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => {}
            _ => break,
        }
    }
    let mut answer = String::new();
    let heard = stdin.lock().read_line(&mut answer);
    let answer = answer.trim();
    Ok((heard.is_ok() && !answer.is_empty()).then(|| answer.to_owned()))
}
