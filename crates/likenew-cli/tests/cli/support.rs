//! Runs the binary as a user would, with a separate data home.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// The program: what LIKENEW names, or what was built with the tests.
pub(crate) fn program() -> OsString {
    std::env::var_os("LIKENEW").unwrap_or_else(|| env!("CARGO_BIN_EXE_likenew").into())
}

/// What the first test of a session makes in a folder, for all tests that come after it. nextest runs each as a process of its
/// own and names the session; otherwise a process is one.
pub(crate) fn once_per_session(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let session = std::env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| std::process::id().to_string());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sessions").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let (made, whose) = (folder.join("made"), folder.join("session"));
    if std::fs::read_to_string(&whose).ok().as_ref() != Some(&session) {
        let _ = std::fs::remove_dir_all(&made);
        std::fs::create_dir(&made).unwrap();
        make(&made);
        // Last: one that was cut off is made again.
        std::fs::write(whose, session).unwrap();
    }
    made
}

/// A working folder and a data home, both removed afterwards.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    /// The folder that commands run in.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The run folders.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let root = self.folder.path().join("data/likenew/runs");
        let mut runs: Vec<PathBuf> =
            std::fs::read_dir(root).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs
    }

    /// The audit log.
    pub(crate) fn audit(&self) -> PathBuf {
        self.folder.path().join("state/likenew/audit.jsonl")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).stdin(Stdio::null()).env("NO_COLOR", "1");
        self.hold(&mut command);
        command
    }

    /// Lets a command run here, with all that it keeps.
    pub(crate) fn hold(&self, command: &mut Command) {
        command.current_dir(self.work());
        command.env("XDG_DATA_HOME", self.folder.path().join("data"));
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
        // All tests use the machine's only disk, in parallel.
        command.env("LIKENEW_LOCK_DIR", self.folder.path().join("locks"));
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::of(&mut self.command(arguments))
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Program {
        Program::of(self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()))
    }
}

/// A program that runs beside the test and ends with it, also when the test fails: one that goes on in a file system keeps it
/// from being unmounted.
pub(crate) struct Program(Option<Child>);

impl Program {
    pub(crate) fn of(command: &mut Command) -> Self {
        Self(Some(command.spawn().unwrap()))
    }

    /// All that it says until it has ended.
    pub(crate) fn wait_with_output(mut self) -> io::Result<Output> {
        self.0.take().expect("it is taken once").wait_with_output()
    }
}

impl Deref for Program {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().expect("it is taken only with the whole")
    }
}

impl DerefMut for Program {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().expect("it is taken only with the whole")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let Some(child) = &mut self.0 else { return };
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// The result of a command.
pub(crate) struct CommandOutput(Output);

impl CommandOutput {
    pub(crate) fn of(command: &mut Command) -> Self {
        Self(command.output().unwrap())
    }

    /// The result of a child after it has ended.
    pub(crate) fn after(child: Program) -> Self {
        Self(child.wait_with_output().unwrap())
    }

    #[track_caller]
    pub(crate) fn code(&self, expected: i32) -> &Self {
        assert_eq!(
            self.0.status.code(),
            Some(expected),
            "stdout: {}\nstderr: {}",
            self.stdout(),
            self.stderr()
        );
        self
    }

    /// The exit code, unless a signal ended it.
    pub(crate) fn status(&self) -> Option<i32> {
        self.0.status.code()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    #[track_caller]
    pub(crate) fn says(&self, words: &str) -> &Self {
        let text = format!("{}{}", self.stdout(), self.stderr());
        assert!(text.contains(words), "no \"{words}\" in:\n{text}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        let (text, errors) = (self.stdout(), self.stderr());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in:\n{text}{errors}"))
    }
}

/// Asserts that a document follows the published schema.
#[track_caller]
pub(crate) fn is_valid(document: &serde_json::Value) {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/report.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
