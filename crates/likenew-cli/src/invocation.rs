//! The command line of this process, and how to start the program again.

use std::ffi::OsString;
use std::sync::OnceLock;

struct Invocation {
    /// Behind the program's name.
    words: Vec<String>,
    program: Vec<OsString>,
}

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

/// Sets both, once.
pub(crate) fn set(command_line: &[OsString], program: Vec<OsString>) {
    let words = command_line.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let _ = INVOCATION.set(Invocation { words, program });
}

/// What was typed behind the program's name; nothing inside of another program.
pub(crate) fn words() -> Vec<String> {
    INVOCATION.get().map(|invocation| invocation.words.clone()).unwrap_or_default()
}

/// The words that start this program.
pub(crate) fn program() -> Vec<OsString> {
    INVOCATION.get().map_or_else(|| vec!["likenew".into()], |invocation| invocation.program.clone())
}
