//! One command inside of another program: what it prints is returned, drives may come from memory, and the other program
//! decides when it is stopped.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::exit::{Exit, Failure};
use crate::{arguments, interrupt, wording};

/// Why a command inside of another program failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The words or a plan make no sense.
    Usage,
    /// A safety check refused.
    Refused,
    /// It could not finish.
    Unfinished,
    /// It was stopped by [`Interruption`].
    Interrupted,
}

/// How a command inside of another program failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFailure {
    /// Why.
    pub kind: FailureKind,
    /// What happened and what to do, without color.
    pub message: String,
}

/// What is different for the command that runs on this thread.
#[derive(Default)]
struct Embedded {
    output: String,
    drives: HashMap<PathBuf, Vec<u8>>,
}

thread_local! {
    static EMBEDDED: RefCell<Option<Embedded>> = const { RefCell::new(None) };
}

/// How many commands run inside of this process.
static RUNNING: Mutex<u32> = Mutex::new(0);

/// Stops the commands that run inside of this process, as Ctrl-C stops the program.
pub struct Interruption(());

impl Interruption {
    /// Asks all of them to stop. The next command starts without it, once those have ended.
    pub fn request() {
        interrupt::request();
    }
}

/// Runs one command, without the program's name: `["bench", "sim:tiny-flash", "--plan"]`. Returns what it printed to
/// standard output. `drives` are files of simulated drives by path, read in place of the file system's.
///
/// # Errors
/// What the program would have printed to standard error as its last message.
pub fn run_command(words: &[String], drives: HashMap<PathBuf, Vec<u8>>) -> Result<String, CommandFailure> {
    let _running = Running::begin();
    EMBEDDED.set(Some(Embedded { output: String::new(), drives }));
    let typed = std::iter::once("likenew".into()).chain(words.iter().map(OsString::from));
    let end = match arguments::parse(typed) {
        Ok(typed) => crate::run(typed),
        Err(error) => Err(usage(&error, words)),
    };
    let Embedded { output, .. } = EMBEDDED.take().unwrap_or_default();
    let failed = |kind, message: String| Err(CommandFailure { kind, message: plain(&message) });
    match end {
        Ok(Exit::Fine | Exit::Problem) => Ok(output),
        Ok(Exit::Interrupted) => failed(FailureKind::Interrupted, wording::STOPPED_EARLY.into()),
        Ok(Exit::Unfinished | Exit::Usage | Exit::Refused) => failed(FailureKind::Unfinished, output),
        Err(Failure::Usage(text)) => failed(FailureKind::Usage, text),
        Err(Failure::Refused(text)) => failed(FailureKind::Refused, text),
        Err(Failure::Stopped(text)) => failed(FailureKind::Interrupted, text.to_owned()),
        Err(failure @ Failure::Other(_)) => failed(FailureKind::Unfinished, failure.reason()),
    }
}

/// The sentence of a command line that is wrong.
fn usage(error: &clap::Error, words: &[String]) -> Failure {
    Failure::Usage(crate::refusal(error, words.first().cloned()).unwrap_or_else(|| error.to_string()))
}

/// Without the escape codes of colors.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// Keeps what a command inside of another program prints; whether there is one on this thread.
pub(crate) fn keep_output(text: &str) -> bool {
    EMBEDDED.with_borrow_mut(|embedded| match embedded {
        Some(embedded) => {
            embedded.output.push_str(text);
            true
        }
        None => false,
    })
}

/// The file of a drive that was given from memory.
pub(crate) fn drive_file(path: &Path) -> Option<Vec<u8>> {
    EMBEDDED.with_borrow(|embedded| embedded.as_ref()?.drives.get(path).cloned())
}

/// Counts a command while it runs. The first of several forgets an earlier request to stop.
struct Running;

impl Running {
    fn begin() -> Self {
        interrupt::leave_signals_alone();
        let mut running = RUNNING.lock().expect("nobody panics while it is held");
        if *running == 0 {
            interrupt::forget();
        }
        *running += 1;
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        EMBEDDED.set(None);
        *RUNNING.lock().expect("nobody panics while it is held") -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Result<String, CommandFailure> {
        run_command(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), HashMap::new())
    }

    #[test]
    fn what_is_printed_is_returned() {
        let plan = run(&["bench", "sim:tiny-flash", "--passes=2", "--plan"]).unwrap();
        assert!(plan.contains("procedure = \"bench\"") && plan.contains("passes = 2"), "{plan}");
        let document = run(&["bench", "sim:tiny-flash", "--passes=2", "--no-archive", "--json=-"]).unwrap();
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert_eq!(document["procedure"], "bench");
    }

    #[test]
    fn a_drive_from_memory_is_opened() {
        let entry = likenew_sim::catalog().iter().find(|entry| entry.name == "tiny-flash").unwrap();
        let text = entry.text.replace("\"Tiny flash", "\"Mine");
        let words = ["bench", "sim:mine.toml", "--passes=1", "--no-archive", "--json=-"].map(str::to_owned);
        let drives = HashMap::from([(PathBuf::from("mine.toml"), text.into_bytes())]);
        assert!(run_command(&words, drives).unwrap().contains("sim:mine.toml"));
        let failure = run_command(&words, HashMap::new()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Usage, "it is gone with the command: {failure:?}");
    }

    #[test]
    fn failures_have_a_kind_and_a_sentence() {
        let failed = |words: &[&str]| run(words).unwrap_err();
        let unknown = failed(&["benhc", "sim:tiny-flash"]);
        assert_eq!(
            (unknown.kind, unknown.message.contains("bench")),
            (FailureKind::Usage, true),
            "{unknown:?}"
        );
        assert_eq!(failed(&["bench"]).kind, FailureKind::Usage);
        let other = failed(&["bench", "sim:tiny-flsh", "--plan"]);
        assert_eq!(
            (other.kind, other.message.contains("tiny-flash")),
            (FailureKind::Usage, true),
            "{other:?}"
        );
    }
}
