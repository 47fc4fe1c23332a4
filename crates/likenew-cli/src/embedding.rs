//! Runs a command inside another program: what it prints is returned, its drives may come from
//! memory, and the other program can stop it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use likenew_core::procedure::Plan;
use likenew_sim::{Spec, SpecName};

use crate::exit::{Exit, Failure};
use crate::{arguments, interrupt, wording};

/// Why a command inside another program failed.
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

/// How a command inside another program failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFailure {
    /// Why.
    pub kind: FailureKind,
    /// What happened and what to do, without color.
    pub message: String,
}

thread_local! {
    /// What the command on this thread prints, if another program runs it.
    static OUTPUT: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Files of simulated drives, by path, that this command reads from memory.
    static DRIVES: RefCell<HashMap<PathBuf, Vec<u8>>> = RefCell::default();
}

/// How many commands run inside this process.
static RUNNING: Mutex<u32> = Mutex::new(0);

/// Stops the commands that run inside this process, as Ctrl-C stops the program.
pub struct Interruption(());

impl Interruption {
    /// Asks all running commands to stop. Once they have ended, the next command runs as usual.
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
    OUTPUT.set(Some(String::new()));
    DRIVES.set(drives);
    let typed = std::iter::once("likenew".into()).chain(words.iter().map(OsString::from));
    let end = match crate::parse(typed) {
        Ok(command) => command(),
        Err(error) => {
            let ours = arguments::refusal(&error, words.first().cloned());
            Err(Failure::Usage(ours.unwrap_or_else(|| error.to_string())))
        }
    };
    let output = OUTPUT.take().unwrap_or_default();
    let failed = |kind, message: String| {
        let message = anstream::adapter::strip_str(&message).to_string();
        Err(CommandFailure { kind, message })
    };
    match end {
        Ok(Exit::Fine | Exit::Problem) => Ok(output),
        Ok(Exit::Interrupted) | Err(Failure::Interrupted) => {
            failed(FailureKind::Interrupted, wording::STOPPED_EARLY.into())
        }
        Ok(Exit::Unfinished | Exit::Usage | Exit::Refused) => failed(FailureKind::Unfinished, output),
        Err(Failure::Usage(text)) => failed(FailureKind::Usage, text),
        Err(Failure::Refused(text)) => failed(FailureKind::Refused, text),
        Err(Failure::Stopped(text)) => failed(FailureKind::Interrupted, text.to_owned()),
        Err(failure @ Failure::Other(_)) => failed(FailureKind::Unfinished, failure.reason()),
    }
}

/// Keeps printed text for the other program. False if this thread runs no command for one.
pub(crate) fn keep_output(text: &str) -> bool {
    OUTPUT.with_borrow_mut(|output| output.as_mut().map(|output| output.push_str(text)).is_some())
}

/// Makes the simulated drive that a plan holds available to its command.
pub(crate) fn keep_drive(plan: &Plan) {
    let spec = plan.target.as_deref().and_then(|target| Spec::parse(target).ok());
    if let (Some(SpecName::File(path)), Some(text)) = (spec.map(|spec| spec.drive), &plan.drive) {
        DRIVES.with_borrow_mut(|drives| drives.insert(path, text.clone().into_bytes()));
    }
}

/// The file of a drive that was given from memory.
pub(crate) fn drive_file(path: &Path) -> Option<Vec<u8>> {
    DRIVES.with_borrow(|drives| drives.get(path).cloned())
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
        OUTPUT.set(None);
        DRIVES.take();
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
        let text = entry.text.replace("Tiny Flash", "Mine");
        let words = ["bench", "sim:mine.toml", "--passes=1", "--no-archive", "--json=-"].map(str::to_owned);
        let drives = HashMap::from([(PathBuf::from("mine.toml"), text.into_bytes())]);
        assert!(run_command(&words, drives).unwrap().contains("sim:mine.toml"));
        let failure = run_command(&words, HashMap::new()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Usage, "it is gone with the command: {failure:?}");
    }

    #[test]
    fn a_drive_that_its_plan_holds_is_opened_and_another_target_is_not_it() {
        let entry = likenew_sim::catalog().iter().find(|entry| entry.name == "tiny-flash").unwrap();
        let options = toml::toml! { passes = 1 };
        let mut plan = Plan::new("bench", Some("sim:mine.toml?state=used".into()), 0, options);
        plan.drive = Some(entry.text.replace("Tiny Flash", "Mine"));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.toml");
        std::fs::write(&file, toml::to_string(&plan).unwrap()).unwrap();
        let file = file.to_str().unwrap();
        let printed = run(&["run", file, "--no-archive", "--json=-"]).unwrap();
        let document: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert!(document["target"]["model"].as_str().unwrap().starts_with("Mine"), "{document}");
        assert_eq!(serde_json::from_value::<Plan>(document["plan"].clone()).unwrap(), plan);
        let other = run(&["run", file, "sim:tiny-flash", "--no-archive", "--json=-"]).unwrap();
        assert!(other.contains("Tiny Flash") && !other.contains("Mine"), "{other}");
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
