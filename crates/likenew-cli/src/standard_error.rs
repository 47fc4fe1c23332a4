//! Lines to standard error, without what could steer a terminal.

use std::fmt::Display;

use likenew_report::terminal::clean;

use crate::invocation;

/// A line to standard error, the only way there but for questions. Names of files, and what files hold, cannot steer the terminal or
/// begin a line that seems to be ours.
#[allow(clippy::disallowed_macros, reason = "everything else writes through this")]
pub(crate) fn note(text: impl Display) {
    anstream::eprintln!("{}", harmless(text));
}

/// Characters by which the end of a line is recognized as one that was typed. Chosen: more than a line of ours has in common with it.
const AROUND: usize = 8;

/// The text without what steers a terminal, and without the ends of lines in what was typed.
pub(crate) fn harmless(text: impl Display) -> String {
    let mut text = text.to_string();
    for word in invocation::words() {
        // What is shown may be a part of the word, such as the file of `sim:FILE`.
        for (at, _) in word.match_indices('\n') {
            let before: String = word[..at].chars().rev().take(1).collect();
            let after: String = word[at + 1..].chars().take(AROUND).collect();
            if !before.is_empty() && !after.is_empty() {
                text = text.replace(&format!("{before}\n{after}"), &format!("{before}\u{fffd}{after}"));
            }
        }
    }
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}
