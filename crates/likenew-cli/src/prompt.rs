//! Questions to the user at the terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

/// Whether a user can answer.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question; anything but a clear yes is a no.
pub(crate) fn confirm(question: &str) -> bool {
    eprint!("{question} [y/N] ");
    let mut answer = String::new();
    let heard = std::io::stderr().flush().and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    heard.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Asks for text; `None` if there is none.
pub(crate) fn read_line(question: &str) -> Option<String> {
    eprint!("{question} ");
    let mut answer = String::new();
    std::io::stderr().flush().and_then(|()| std::io::stdin().lock().read_line(&mut answer)).ok()?;
    let answer = answer.trim();
    (!answer.is_empty()).then(|| answer.to_owned())
}
