//! `likenew help`: manual pages of commands and of causes.

use likenew_core::suggest::nearest;
use likenew_diagnosis::{ALL, Kind, by_name};

use crate::arguments::{self, Help};
use crate::exit::{Exit, Failure};
use crate::wording::help as wording;
use crate::wording::manual::pages_written;
use crate::wording::no_such_page;
use crate::{manual, output};

pub(crate) fn run(command: &Help) -> Result<Exit, Failure> {
    if let Some(folder) = &command.write {
        let files = manual::write(folder)?;
        output::print(&pages_written(folder, files))?;
        return Ok(Exit::Fine);
    }
    let text = match command.topic.as_deref() {
        None => contents(),
        Some(topic) => page(topic).ok_or_else(|| unknown(topic))?,
    };
    output::print(&text)?;
    Ok(Exit::Fine)
}

/// The page of a cause, or of a command: its manual, if it has one, and its options.
fn page(topic: &str) -> Option<String> {
    if let Some(cause) = by_name(&topic.replace('-', "_")) {
        return Some(cause.manual.to_owned());
    }
    let mut all = arguments::command();
    let command = all.find_subcommand_mut(topic)?;
    *command = command.clone().bin_name(wording::usage_name(topic)).disable_help_subcommand(true);
    let typed = command.render_long_help().to_string();
    if topic == "sim" {
        return Some(format!("{}\n{typed}", wording::SIM));
    }
    Some(manual::of_command(topic).map_or_else(
        || typed.clone(),
        |manual| format!("{}\n\n{}\n\n{typed}", manual.trim_end(), wording::OPTIONS),
    ))
}

fn contents() -> String {
    let mut text = wording::commands(&arguments::command());
    let kinds = [Kind::Drive, Kind::NotTheDrive, Kind::ByDesign];
    for (kind, title) in kinds.into_iter().zip(wording::CAUSES) {
        text += &format!("\n{title}\n");
        for cause in ALL.iter().filter(|cause| cause.kind == kind) {
            text += &wording::cause(cause.name, cause.summary);
        }
    }
    text + wording::PAGES
}

fn unknown(topic: &str) -> Failure {
    let commands = arguments::command();
    let commands = commands.get_subcommands().map(clap::Command::get_name);
    let topics = commands.chain(ALL.iter().map(|cause| cause.name));
    Failure::Usage(no_such_page(topic, nearest(topic, topics)))
}
