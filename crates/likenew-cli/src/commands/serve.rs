//! `likenew serve`: runs, results and live progress in a browser.

use std::time::Duration;

use clap::{Arg, ArgAction, Command};
use likenew_serve::{CommandGrammar, Grammar, OptionGrammar, OptionKind, Secret, Server, Settings};

use crate::arguments::{self, Serve};
use crate::exit::{Exit, Failure};
use crate::measure::archive_root;
use crate::{interrupt, invocation, output, run_history, wording};

/// Commands that a page may start: each measures one target.
const COMMANDS: [&str; 15] = [
    "check",
    "recondition",
    "verify",
    "trim",
    "bench",
    "sweep",
    "surface",
    "fill",
    "endure",
    "age",
    "data",
    "cache",
    "apps",
    "xray",
    "model",
];
/// Headings of options that the server sets itself, or that no page may set.
const OWN_HEADINGS: [&str; 4] = [arguments::RUN, arguments::SAFETY, arguments::OUTPUT, arguments::ARCHIVE];
/// What an option is called that names a file or folder: none of those.
const PATHS: [&str; 3] = ["FILE", "DIR", "RUN"];

/// Time between checks for signals. Chosen: Ctrl-C feels immediate.
const SLICE: Duration = Duration::from_millis(100);

pub(crate) fn run(command: &Serve) -> Result<Exit, Failure> {
    let secret = command.token_file.as_deref().map(Secret::from_file).transpose();
    let refused = |error: likenew_serve::ServeError| Failure::Usage(error.to_string());
    let settings = Settings {
        listen: command.listen,
        secret: secret.map_err(refused)?,
        names: command.name.clone(),
        program: invocation::program(),
        runs: run_history::kept_runs(&command.place, archive_root(command.archive.as_deref())?)?,
        page: likenew_report::html::live_page(),
        grammar: grammar(&arguments::command()),
    };
    let server = Server::bind(settings).map_err(refused)?;
    interrupt::listen_saying(None)?;
    output::print(&wording::serving(&server.url()))?;
    let stop = async {
        while !interrupt::is_requested() {
            tokio::time::sleep(SLICE).await;
        }
    };
    server.run(stop).map_err(anyhow::Error::new)?;
    Ok(Exit::Fine)
}

/// What a page may start, from the command line's own grammar.
fn grammar(all: &Command) -> Grammar {
    let command = |name: &&str| {
        let command = all.find_subcommand(name).expect("every command that measures is in the grammar");
        CommandGrammar {
            name: (*name).to_owned(),
            about: command.get_about().map(ToString::to_string).unwrap_or_default(),
            options: command.get_arguments().filter(|option| is_offered(option)).filter_map(option).collect(),
        }
    };
    Grammar { commands: COMMANDS.iter().map(command).collect() }
}

fn is_offered(option: &Arg) -> bool {
    let is_own = option.get_help_heading().is_some_and(|heading| OWN_HEADINGS.contains(&heading));
    let names = option.get_value_names().unwrap_or_default();
    let is_path = names.iter().any(|name| PATHS.iter().any(|path| name.contains(path)));
    let is_offered = !option.is_positional() && !option.is_hide_set() && !is_own && !is_path;
    // A page starts a run on one target.
    is_offered && option.get_id() != "all"
}

/// None of what asks for help.
fn option(option: &Arg) -> Option<OptionGrammar> {
    let words = option.get_possible_values();
    let kind = match option.get_action() {
        ArgAction::SetTrue => OptionKind::Switch,
        ArgAction::Set | ArgAction::Append if !words.is_empty() => {
            OptionKind::Choice(words.iter().map(|word| word.get_name().to_owned()).collect())
        }
        ArgAction::Set | ArgAction::Append => OptionKind::Text(
            option.get_value_names().unwrap_or_default().first().map(ToString::to_string).unwrap_or_default(),
        ),
        _ => return None,
    };
    Some(OptionGrammar {
        name: option.get_long()?.to_owned(),
        help: option.get_help().map(ToString::to_string).unwrap_or_default(),
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_start_no_command_that_takes_a_consent_or_writes_a_file() {
        let grammar = grammar(&arguments::command());
        assert_eq!(grammar.commands.len(), COMMANDS.len());
        let all: Vec<&OptionGrammar> = grammar.commands.iter().flat_map(|command| &command.options).collect();
        for name in [
            "consent", "destroy", "yes", "html", "json", "archive", "journal", "reserve", "engine", "help",
            "progress",
        ] {
            assert!(all.iter().all(|option| option.name != name), "{name}");
        }
        let check = &grammar.commands[0];
        let kind =
            |name: &str| check.options.iter().find(|option| option.name == name).map(|option| &option.kind);
        assert_eq!(kind("thorough"), Some(&OptionKind::Switch));
        assert_eq!(kind("bytes"), Some(&OptionKind::Text("SIZE".into())));
        assert_eq!(kind("files"), None, "it names a folder");
        let is_choice =
            |option: &&&OptionGrammar| matches!(&option.kind, OptionKind::Choice(words) if words.len() > 1);
        assert!(all.iter().filter(is_choice).count() > 3, "{all:?}");
    }
}
