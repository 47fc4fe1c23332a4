//! Messages on standard error, and the words of the command line.

use std::ffi::OsString;
use std::fmt::{self, Display};
use std::io::Write as _;
use std::sync::OnceLock;

use likenew_report::terminal::clean;

/// Writes a line to standard error. Everything but questions goes through here. Names and contents
/// of files can neither steer the terminal nor fake a line of ours.
pub(crate) fn note(text: impl Display) {
    write(format_args!("{}\n", harmless(text)));
}

/// Writes to standard error. If this fails, as after a terminal was closed, no other output is left; the run goes on.
pub(crate) fn write(text: fmt::Arguments<'_>) {
    let mut out = anstream::stderr().lock();
    let _ = out.write_fmt(text).and_then(|()| out.flush());
}

/// Characters after a typed line break by which it is recognized in a message. Chosen: more than a
/// line of ours has in common with it.
const MATCHED_CHARS: usize = 8;

/// Removes what steers a terminal from a text, and the line breaks of words that were typed.
pub(crate) fn harmless(text: impl Display) -> String {
    let mut text = text.to_string();
    for word in typed_words() {
        // The text may show only a part of the word, such as the file of `sim:FILE`.
        for (at, _) in word.match_indices('\n') {
            let before: String = word[..at].chars().rev().take(1).collect();
            let after: String = word[at + 1..].chars().take(MATCHED_CHARS).collect();
            if !before.is_empty() && !after.is_empty() {
                text = text.replace(&format!("{before}\n{after}"), &format!("{before}\u{fffd}{after}"));
            }
        }
    }
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

struct Invocation {
    /// The words after the program's name.
    words: Vec<String>,
    program: Vec<OsString>,
}

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

/// Sets the command line and the program, once.
pub(crate) fn set_command_line(command_line: &[OsString], program: Vec<OsString>) {
    let words = command_line.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let _ = INVOCATION.set(Invocation { words, program });
}

/// The words after the program's name; none inside another program.
pub(crate) fn typed_words() -> Vec<String> {
    INVOCATION.get().map(|invocation| invocation.words.clone()).unwrap_or_default()
}

/// The words that start this program.
pub(crate) fn program() -> Vec<OsString> {
    INVOCATION.get().map_or_else(|| vec!["likenew".into()], |invocation| invocation.program.clone())
}
