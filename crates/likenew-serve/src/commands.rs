//! Runs the `likenew` program as a child, with a fixed list of commands and options that neither consent nor name a
//! file to write.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, oneshot, watch};

use super::error::ApiError;
use super::wording;

/// The commands that may be run, with their help.
#[derive(Clone, Debug, Serialize)]
pub struct Grammar {
    /// Commands in the order of the help.
    pub commands: Vec<CommandGrammar>,
}

/// A command that measures one target.
#[derive(Clone, Debug, Serialize)]
pub struct CommandGrammar<O = OptionGrammar> {
    /// The command as typed.
    pub name: String,
    /// The command's purpose in one sentence.
    pub about: String,
    /// Options in the order of the help.
    pub options: Vec<O>,
}

/// An option of a command.
#[derive(Clone, Debug, Serialize)]
pub struct OptionGrammar {
    /// The option without dashes.
    pub name: String,
    /// The option's purpose in one sentence.
    pub help: String,
    /// The kind of the option's value.
    pub kind: OptionKind,
}

/// The kind of an option's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// No value: the option is given or not.
    Switch,
    /// One of these words.
    Choice(Vec<String>),
    /// A text; the string is its name in the help.
    Text(String),
}

/// A command to run on a target.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) command: String,
    pub(crate) target: String,
    /// Values of options by name: `true`, or a text.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, Value>,
}

impl Order {
    /// An order without options.
    pub(crate) fn new(command: &str, target: &str) -> Self {
        Self { command: command.to_owned(), target: target.to_owned(), options: BTreeMap::new() }
    }
}

/// Longest text of an option or target, in bytes; longer than any path.
const TEXT_MAX: usize = 8192;

impl Grammar {
    /// The arguments of the program. `--` before the target keeps it from being taken for an option.
    ///
    /// # Errors
    /// The command or an option is unknown, or a value has another kind.
    pub(crate) fn words(&self, order: &Order, fixed: &[&str]) -> Result<Vec<OsString>, ApiError> {
        let refuse = |message: String| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, message);
        let command = self.commands.iter().find(|command| command.name == order.command);
        let command = command.ok_or_else(|| refuse(wording::unknown_command(&order.command)))?;
        if order.target.is_empty() || !is_text(&order.target) {
            return Err(refuse(wording::NO_TARGET.into()));
        }
        let mut words: Vec<OsString> =
            std::iter::once(&*command.name).chain(fixed.iter().copied()).map(Into::into).collect();
        for (name, value) in &order.options {
            let option = command.options.iter().find(|option| option.name == *name);
            let option = option.ok_or_else(|| refuse(wording::unknown_option(&command.name, name)))?;
            match (&option.kind, value) {
                (_, Value::Null) | (OptionKind::Switch, Value::Bool(false)) => {}
                (OptionKind::Switch, Value::Bool(true)) => words.push(format!("--{name}").into()),
                (OptionKind::Choice(_) | OptionKind::Text(_), Value::String(text)) if is_text(text) => {
                    words.push(format!("--{name}={text}").into());
                }
                _ => return Err(refuse(wording::wrong_value(name))),
            }
        }
        words.extend(["--".into(), (&order.target).into()]);
        Ok(words)
    }

    /// The order for a command line; `None` if part of it requires a terminal.
    pub(crate) fn order(&self, line: &str) -> Option<Order> {
        let mut words = shlex::split(line)?.into_iter();
        let (_likenew, name) = (words.next().filter(|word| word == "likenew")?, words.next()?);
        let command = self.commands.iter().find(|command| command.name == name)?;
        let (mut targets, mut options) = (Vec::new(), BTreeMap::new());
        while let Some(word) = words.next() {
            if word == "--" {
                targets.extend(words.by_ref());
                break;
            }
            let Some(option) = word.strip_prefix("--") else {
                targets.push(word);
                continue;
            };
            let (name, given) =
                option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
            let value = match (&command.options.iter().find(|option| option.name == name)?.kind, given) {
                (OptionKind::Switch, None) => Value::Bool(true),
                (OptionKind::Switch, Some(_)) => return None,
                (_, Some(value)) => value.into(),
                (_, None) => words.next()?.into(),
            };
            options.insert(name.to_owned(), value);
        }
        let [target] = <[String; 1]>::try_from(targets).ok()?;
        let order = Order { command: name, target, options };
        self.words(&order, &[]).is_ok().then_some(order)
    }

    /// The command line of an order, for a shell.
    pub(crate) fn line(&self, order: &Order) -> Result<String, ApiError> {
        self.words(order, &[])?;
        let quoted = |text: &str| shlex::try_quote(text).expect("it has no control characters").into_owned();
        let option = |(name, value): (&String, &Value)| match value {
            Value::Bool(true) => Some(format!("--{name}")),
            Value::String(text) => Some(format!("--{name}={}", quoted(text))),
            _ => None,
        };
        let separator = order.target.starts_with('-').then(|| "--".to_owned());
        let words = order.options.iter().filter_map(option).chain(separator);
        let words: Vec<String> = words.chain([quoted(&order.target)]).collect();
        Ok(format!("likenew {} {}", order.command, words.join(" ")))
    }
}

fn is_text(text: &str) -> bool {
    text.len() <= TEXT_MAX && !text.chars().any(char::is_control)
}

/// Children at once; others wait. Chosen: more would slow down a measurement beside them.
const AT_ONCE: usize = 2;
/// Exit code for a refusal for safety.
const REFUSED: i32 = 3;
/// Longest time for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts the `likenew` program, and knows its archive.
#[derive(Debug)]
pub(crate) struct Program {
    /// Program and first arguments.
    words: Vec<OsString>,
    pub(crate) archive: PathBuf,
    turns: Arc<Semaphore>,
    /// Whether all children must end.
    ending: watch::Sender<bool>,
}

impl Program {
    pub(crate) fn new(words: Vec<OsString>, archive: PathBuf) -> Self {
        Self { words, archive, turns: Arc::new(Semaphore::new(AT_ONCE)), ending: watch::Sender::new(false) }
    }

    /// A child without input, in a process group of its own so that Ctrl-C reaches only the server.
    pub(crate) fn command(&self, words: &[OsString]) -> Command {
        let (program, first) = self.words.split_first().expect("a program has a name");
        let mut command = Command::new(program);
        command
            .args(first)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }

    /// Runs a child and returns its standard output. On failure, its standard error becomes the error.
    pub(crate) async fn output(&self, words: &[OsString]) -> Result<Vec<u8>, ApiError> {
        let failed = |error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, wording::not_started(error));
        let turn = Arc::clone(&self.turns).acquire_owned().await.expect("nobody closes it");
        let child = self.command(words).kill_on_drop(true).spawn().map_err(failed)?;
        let (answer, output) = oneshot::channel();
        let ending = self.ending.subscribe();
        tokio::spawn(async move {
            answer_or_end(child, answer, ending).await;
            drop(turn);
        });
        let output = match tokio::time::timeout(PATIENCE, output).await {
            Ok(Ok(output)) => output.map_err(failed)?,
            _ => return Err(ApiError::new(StatusCode::GATEWAY_TIMEOUT, wording::TOO_SLOW)),
        };
        // Exit code 10 means that a problem was found, which is an answer, too.
        let status = match output.status.code() {
            Some(0 | 10) => return Ok(output.stdout),
            Some(REFUSED) => StatusCode::FORBIDDEN,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Err(ApiError::new(status, wording::failed(&String::from_utf8_lossy(&output.stderr))))
    }

    /// Ends all children, waiting at most `patience`. Later requests wait forever.
    pub(crate) async fn end_all(&self, patience: Duration) {
        self.ending.send_replace(true);
        let turns = tokio::time::timeout(patience, self.turns.acquire_many(AT_ONCE as u32)).await;
        if let Ok(Ok(turns)) = turns {
            turns.forget();
        }
    }

    /// The folder of the run with this name.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, ApiError> {
        let folder = self.archive.join(name);
        // A link could lead anywhere. The program does not follow links either, should one replace the folder now.
        let is_folder = || folder.symlink_metadata().is_ok_and(|there| there.is_dir());
        let is_run = is_name(name) && is_folder() && folder.join("plan.toml").is_file();
        if is_run {
            Ok(folder)
        } else {
            Err(ApiError::new(StatusCode::NOT_FOUND, wording::no_such_run(name)))
        }
    }

    /// The run's document as JSON.
    pub(crate) async fn document(&self, name: &str) -> Result<Vec<u8>, ApiError> {
        let folder = self.folder(name)?;
        self.output(&["report".into(), "--json=-".into(), "--".into(), folder.into()]).await
    }

    /// The document that compares these runs, as JSON.
    pub(crate) async fn comparison(&self, names: &[String]) -> Result<Vec<u8>, ApiError> {
        if names.len() > COMPARED_MAX {
            let refusal = wording::too_many_compared(COMPARED_MAX);
            return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, refusal));
        }
        let mut words: Vec<OsString> = ["compare", "--json=-", "--"].map(Into::into).to_vec();
        for name in names {
            words.push(self.folder(name)?.into());
        }
        self.output(&words).await
    }
}

/// Time in which a child that is being ended may clean up.
const TIDY_PATIENCE: Duration = Duration::from_secs(10);

/// Sends a child's output. If nobody waits for it any more, or all children must end, the child gets SIGTERM, upon
/// which it removes its temporary files. After [`TIDY_PATIENCE`] it is killed.
async fn answer_or_end(
    child: Child,
    mut answer: oneshot::Sender<io::Result<Output>>,
    mut ending: watch::Receiver<bool>,
) {
    let process = child.id();
    let mut output = pin!(child.wait_with_output());
    tokio::select! {
        output = &mut output => {
            // The receiver may have been dropped just now.
            let _ = answer.send(output);
            return;
        }
        () = answer.closed() => {}
        _ = ending.wait_for(|is_ending| *is_ending) => {}
    }
    if let Some(process) = process {
        // The child was not reaped, so the number is still its own.
        let _ = kill(Pid::from_raw(process.cast_signed()), Signal::SIGTERM);
    }
    let _ = tokio::time::timeout(TIDY_PATIENCE, output).await;
}

/// Longest name of a folder on Linux, in bytes.
const NAME_MAX: usize = 255;
/// Most runs in a comparison. Chosen: more than one page can show.
const COMPARED_MAX: usize = 20;

/// Whether the name is that of a folder directly in the archive.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !name.is_empty() && name.len() <= NAME_MAX && !name.starts_with('.') && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn grammar() -> Grammar {
        let option = |name: &str, kind| OptionGrammar { name: name.into(), help: String::new(), kind };
        let options =
            vec![option("thorough", OptionKind::Switch), option("bytes", OptionKind::Text("SIZE".into()))];
        Grammar { commands: vec![CommandGrammar { name: "check".into(), about: String::new(), options }] }
    }

    fn words(order: Value) -> Result<Vec<String>, String> {
        let order: Order = serde_json::from_value(order).map_err(|error| error.to_string())?;
        let words = grammar().words(&order, &["--quiet"]).map_err(|error| error.message)?;
        Ok(words.into_iter().map(|word| word.into_string().unwrap()).collect())
    }

    #[test]
    fn an_order_becomes_words_with_the_target_last() {
        let order = json!({"command": "check", "target": "--consent=x", "options": {"thorough": true, "bytes": "1GiB"}});
        assert_eq!(
            words(order).unwrap(),
            ["check", "--quiet", "--bytes=1GiB", "--thorough", "--", "--consent=x"]
        );
        let order =
            json!({"command": "check", "target": "sim:a", "options": {"thorough": false, "bytes": null}});
        assert_eq!(words(order).unwrap(), ["check", "--quiet", "--", "sim:a"]);
    }

    #[test]
    fn what_a_report_advises_is_ordered_where_it_can_be() {
        let order = |line: &str| grammar().order(line).map(|order| serde_json::to_value(order).unwrap());
        let target = "sim:x?state=used";
        assert_eq!(
            order("likenew check 'sim:x?state=used' --bytes 1GiB --thorough"),
            Some(
                json!({"command": "check", "target": target, "options": {"bytes": "1GiB", "thorough": true}})
            )
        );
        assert_eq!(order("likenew check --bytes=1GiB -- a").unwrap()["options"], json!({"bytes": "1GiB"}));
        for line in [
            "likenew check a --consent x",
            "likenew check a b",
            "likenew check",
            "likenew check a --bytes",
            "likenew check a --thorough=1",
            "likenew trim a",
            "sudo likenew check a",
            "likenew check a; reboot",
            "likenew check 'a",
            "fstrim -v /",
            "",
        ] {
            assert_eq!(order(line), None, "{line}");
        }
        for line in
            ["likenew check --bytes=1GiB --thorough 'sim:x?state=used'", "likenew check --bytes='a b' -- -x"]
        {
            assert_eq!(grammar().line(&grammar().order(line).unwrap()).unwrap(), line);
        }
    }

    #[test]
    fn nothing_else_is_started() {
        let refused = [
            json!({"command": "sim", "target": "sim:a"}),
            json!({"command": "check", "target": ""}),
            json!({"command": "check", "target": "a\u{0}b"}),
            json!({"command": "check", "target": "a\nb"}),
            json!({"command": "check", "target": "x".repeat(9000)}),
            json!({"command": "check", "target": "a", "options": {"consent": "x"}}),
            json!({"command": "check", "target": "a", "options": {"bytes": 5}}),
            json!({"command": "check", "target": "a", "options": {"bytes": true}}),
            json!({"command": "check", "target": "a", "options": {"thorough": "yes"}}),
            json!({"command": "check", "target": "a", "more": 1}),
            json!({"command": "check"}),
            json!([]),
        ];
        for order in refused {
            assert!(words(order.clone()).is_err(), "{order}");
        }
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        assert!(is_name("2026-03-14T15-09-26.123Z-fill-mnt-photos-2"));
        for name in ["", ".", "..", "../x", "a/b", "a\\b", "a\0", ".hidden", "ä", "a b", &"x".repeat(256)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
