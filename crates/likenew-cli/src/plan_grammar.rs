//! What the commands that make plans take, as data: the classes of plans in other languages are made from it.

use clap::{Arg, ArgAction};
use likenew_procedures::all::DESCRIPTORS;
use serde::Serialize;

use crate::arguments;

/// Headings of options that say how a plan is run, and not what it is.
const OTHER_HEADINGS: [&str; 4] = [arguments::RUN, arguments::SAFETY, arguments::OUTPUT, arguments::ARCHIVE];

/// A command that makes a plan.
#[derive(Serialize)]
struct PlanCommand {
    name: String,
    about: String,
    options: Vec<PlanOption>,
}

/// An option of it.
#[derive(Serialize)]
struct PlanOption {
    name: String,
    help: String,
    kind: Kind,
    /// Whether it takes several values.
    is_list: bool,
}

/// What an option takes.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Switch,
    Choice(Vec<String>),
    /// The name of its value, such as `SIZE`.
    Value(String),
}

/// All commands that make a plan, with the options that belong to it, as JSON.
pub fn plan_grammar() -> String {
    let all = arguments::command();
    let is_command = |name: &str| all.find_subcommand(name).filter(|_| !matches!(name, "run" | "facts"));
    let commands: Vec<PlanCommand> = DESCRIPTORS
        .iter()
        .filter_map(|descriptor| is_command(descriptor.name))
        .map(|command| PlanCommand {
            name: command.get_name().to_owned(),
            about: command.get_about().map(ToString::to_string).unwrap_or_default(),
            options: command.get_arguments().filter_map(option).collect(),
        })
        .collect();
    serde_json::to_string_pretty(&commands).expect("names and sentences")
}

fn option(option: &Arg) -> Option<PlanOption> {
    let is_other = option.get_help_heading().is_some_and(|heading| OTHER_HEADINGS.contains(&heading));
    // A plan is of one target.
    if is_other || matches!(option.get_id().as_str(), "all" | "changes" | "history") {
        return None;
    }
    let words = option.get_possible_values();
    let kind = match option.get_action() {
        ArgAction::SetTrue => Kind::Switch,
        ArgAction::Set | ArgAction::Append if !words.is_empty() => {
            Kind::Choice(words.iter().map(|word| word.get_name().to_owned()).collect())
        }
        ArgAction::Set | ArgAction::Append => Kind::Value(
            option.get_value_names().unwrap_or_default().first().map(ToString::to_string).unwrap_or_default(),
        ),
        _ => return None,
    };
    Some(PlanOption {
        name: option.get_long()?.to_owned(),
        help: option.get_help().map(ToString::to_string).unwrap_or_default(),
        kind,
        is_list: matches!(option.get_action(), ArgAction::Append) || option.get_value_delimiter().is_some(),
    })
}
