//! `likenew serve`: runs, results and live progress in a browser. Also gives the commands' grammar
//! as data, for the page and for plan classes in other languages.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, Args};
use likenew_history::Location;
use likenew_procedures::all::PROCEDURES;
use likenew_serve::{CommandGrammar, Grammar, OptionGrammar, OptionKind, Secret, Server, Settings};
use serde::Serialize;

use super::history::HistoryPlace;
use super::{Command, history};
use crate::arguments::{self, ArchiveFolder, SAFETY};
use crate::exit::{Exit, Failure, Result};
use crate::{console, interrupt, output, wording};

/// Runs, results and live progress in a browser
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:7373", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Secret of the page, in a file that only you may read; an address that other machines reach needs one
    #[arg(long, value_name = "FILE", help_heading = SAFETY)]
    token_file: Option<PathBuf>,
    /// Further names of this machine that browsers may use, such as lab.example
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help_heading = SAFETY)]
    name: Vec<String>,
    #[command(flatten)]
    place: HistoryPlace,
    #[command(flatten)]
    folder: ArchiveFolder,
}

/// Headings of options that say how to run a plan, not what is in it. The server sets them itself, or no page may.
const HEADINGS_OF_RUNNING: [&str; 4] =
    [arguments::RUN, arguments::SAFETY, arguments::OUTPUT, arguments::ARCHIVE];
/// Value names of options that take a file or folder. A page offers none of these options.
const PATHS: [&str; 3] = ["FILE", "DIR", "RUN"];

/// Time between checks for signals. Chosen: Ctrl-C feels immediate.
const SLICE: Duration = Duration::from_millis(100);

impl Command for Serve {
    fn run(self) -> Result<Exit> {
        let secret = self.token_file.as_deref().map(Secret::from_file).transpose();
        let refused = |error: likenew_serve::ServeError| Failure::Usage(error.to_string());
        let runs = history::kept_runs(&self.place, self.folder.root()?)?;
        // A place that cannot hold runs is refused now, not on every page. A remote database may come up later.
        self.folder.archive()?.folders()?;
        if matches!(runs.location, Location::File(_)) {
            runs.open()?;
        }
        let settings = Settings {
            listen: self.listen,
            secret: secret.map_err(refused)?,
            names: self.name.clone(),
            program: console::program(),
            runs,
            page: likenew_report::html::live_page(),
            grammar: page_grammar(&super::grammar()),
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
}

/// What a page may start, from the command line's own grammar.
fn page_grammar(grammar: &clap::Command) -> Grammar {
    let command = |name: &str| {
        let command = grammar.find_subcommand(name).expect("every command that measures is in the grammar");
        described(command, |argument| option(argument).filter(|_| is_offered(argument)))
    };
    Grammar { commands: super::served().map(command).collect() }
}

/// A command with those of its arguments that become an option.
fn described<O>(command: &clap::Command, option: impl Fn(&Arg) -> Option<O>) -> CommandGrammar<O> {
    CommandGrammar {
        name: command.get_name().to_owned(),
        about: command.get_about().map(ToString::to_string).unwrap_or_default(),
        options: command.get_arguments().filter_map(option).collect(),
    }
}

fn is_of_running(option: &Arg) -> bool {
    option.get_help_heading().is_some_and(|heading| HEADINGS_OF_RUNNING.contains(&heading))
}

fn is_offered(option: &Arg) -> bool {
    let names = option.get_value_names().unwrap_or_default();
    let is_path = names.iter().any(|name| PATHS.iter().any(|path| name.contains(path)));
    let is_offered = !option.is_positional() && !option.is_hide_set() && !is_of_running(option) && !is_path;
    // A page starts a run on one target, so it cannot offer --all.
    is_offered && option.get_id() != "all"
}

/// An option as data; `None` for `--help`.
fn option(option: &Arg) -> Option<OptionGrammar> {
    let words = option.get_possible_values();
    let kind = match option.get_action() {
        ArgAction::SetTrue | ArgAction::SetFalse => OptionKind::Switch,
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

/// An option that ends up in a plan.
#[derive(Serialize)]
struct PlanOption {
    #[serde(flatten)]
    option: OptionGrammar,
    /// Whether it takes several values.
    is_list: bool,
}

/// All commands that make a plan, with the options that end up in it, as JSON.
pub fn plan_grammar() -> String {
    let grammar = super::grammar();
    let is_command = |name: &str| grammar.find_subcommand(name).filter(|_| !matches!(name, "run" | "facts"));
    let commands = PROCEDURES.iter().filter_map(|row| is_command(row.descriptor.name));
    let commands: Vec<CommandGrammar<PlanOption>> =
        commands.map(|command| described(command, plan_option)).collect();
    serde_json::to_string_pretty(&commands).expect("names and sentences")
}

fn plan_option(argument: &Arg) -> Option<PlanOption> {
    // A plan has one target, and these options are not part of it.
    if is_of_running(argument) || matches!(argument.get_id().as_str(), "all" | "changes" | "history") {
        return None;
    }
    let option = option(argument)?;
    let is_list = matches!(argument.get_action(), ArgAction::Append)
        || matches!(&option.kind, OptionKind::Text(value) if value.ends_with(",.."));
    Some(PlanOption { option, is_list })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_start_no_command_that_takes_a_consent_or_writes_a_file() {
        let grammar = page_grammar(&super::super::grammar());
        assert_eq!(grammar.commands.len(), 16);
        let options: Vec<&OptionGrammar> =
            grammar.commands.iter().flat_map(|command| &command.options).collect();
        for name in [
            "consent", "destroy", "yes", "html", "json", "archive", "journal", "reserve", "engine", "help",
            "progress",
        ] {
            assert!(options.iter().all(|option| option.name != name), "{name}");
        }
        let check = &grammar.commands[0];
        let kind =
            |name: &str| check.options.iter().find(|option| option.name == name).map(|option| &option.kind);
        assert_eq!(kind("thorough"), Some(&OptionKind::Switch));
        assert_eq!(kind("bytes"), Some(&OptionKind::Text("SIZE".into())));
        assert_eq!(kind("files"), None, "it names a folder");
        let is_choice =
            |option: &&&OptionGrammar| matches!(&option.kind, OptionKind::Choice(words) if words.len() > 1);
        assert!(options.iter().filter(is_choice).count() > 3, "{options:?}");
    }
}
