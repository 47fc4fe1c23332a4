//! Questions to the user at the terminal.

use std::io::{BufRead as _, IsTerminal as _};

use crate::console::{harmless, write};
use crate::exit::{Failure, Result};
use crate::{interrupt, wording};

/// Whether a user can answer.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question; anything but a clear yes is a no.
///
/// # Errors
/// The user stopped it.
pub(crate) fn confirm(question: &str) -> Result<bool> {
    let answer = read_line(&format!("{question} [y/N]"))?.unwrap_or_default();
    Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Asks for text; `None` if nothing was typed.
///
/// # Errors
/// The user stopped it, or closed the terminal.
pub(crate) fn read_line(question: &str) -> Result<Option<String>> {
    write(format_args!("{} ", harmless(question)));
    let stdin = std::io::stdin();
    if interrupt::silently(|| interrupt::wait_for(&stdin)).unwrap_or(true) {
        return Err(Failure::Stopped(wording::STOPPED_BEFORE_RUN));
    }
    let mut answer = String::new();
    let heard = stdin.lock().read_line(&mut answer);
    let answer = answer.trim();
    Ok((heard.is_ok() && !answer.is_empty()).then(|| answer.to_owned()))
}
