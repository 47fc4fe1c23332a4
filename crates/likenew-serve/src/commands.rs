//! What may be started: a fixed list of commands and options. None of them is a consent, and none names a file to write.

use std::collections::BTreeMap;
use std::ffi::OsString;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ApiError;
use crate::wording;

/// The commands that may be started, as their help describes them.
#[derive(Clone, Debug, Serialize)]
pub struct Grammar {
    /// In the order of the help.
    pub commands: Vec<CommandGrammar>,
}

/// A command that measures one target.
#[derive(Clone, Debug, Serialize)]
pub struct CommandGrammar {
    /// As typed.
    pub name: String,
    /// In one sentence.
    pub about: String,
    /// In the order of the help.
    pub options: Vec<OptionGrammar>,
}

/// An option of a command.
#[derive(Clone, Debug, Serialize)]
pub struct OptionGrammar {
    /// Without the dashes.
    pub name: String,
    /// In one sentence.
    pub help: String,
    /// What it takes.
    pub kind: OptionKind,
}

/// What an option takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// Nothing: it is there or not.
    Switch,
    /// One of these words.
    Choice(Vec<String>),
    /// A text, which the help calls this.
    Text(String),
}

/// What to start.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) command: String,
    pub(crate) target: String,
    /// Values by name: `true`, or a text.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, Value>,
}

/// Longest text of an option or a target, in bytes: longer than any path.
const TEXT_MAX: usize = 8192;

impl Grammar {
    /// The arguments of the program. The target comes after `--`, so it is never taken for an option.
    ///
    /// # Errors
    /// There is no such command or option, or a value is of another kind.
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
}

fn is_text(text: &str) -> bool {
    text.len() <= TEXT_MAX && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
