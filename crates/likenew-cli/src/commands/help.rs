//! `likenew help`: manual pages of commands and of causes.

use std::path::PathBuf;

use clap::Args;
use likenew_core::input::nearest;
use likenew_diagnosis::{ALL, CauseKind, by_name};

use super::Command;
use crate::exit::{Exit, Failure, Result};
use crate::wording::manual::pages_written;
use crate::wording::{help as wording, no_such_page};
use crate::{manual, output};

/// Manual page of a command or of a cause of slowness
#[derive(Debug, Args)]
pub(crate) struct Help {
    /// A command, a cause such as slc_cache, or sim for the settings of simulated drives [default: a list]
    topic: Option<String>,
    /// Write manual pages for man, completions for bash, zsh and fish, and the reference in Markdown into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "topic")]
    write: Option<PathBuf>,
}

impl Command for Help {
    fn run(self) -> Result<Exit> {
        if let Some(folder) = &self.write {
            let files = manual::write(folder, &super::grammar(), &super::listed())?;
            output::print(&pages_written(folder, files))?;
            return Ok(Exit::Fine);
        }
        let text = match self.topic.as_deref() {
            None => contents(),
            Some(topic) => page(topic).ok_or_else(|| unknown(topic))?,
        };
        output::print(&text)?;
        Ok(Exit::Fine)
    }
}

/// The page of a cause, or of a command: its manual, if it has one, and its options.
fn page(topic: &str) -> Option<String> {
    if let Some(cause) = by_name(&topic.replace('-', "_")) {
        return Some(cause.manual.to_owned());
    }
    let mut grammar = super::grammar();
    let command = grammar.find_subcommand_mut(topic)?;
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
    let mut text = wording::overview(&super::grammar(), &super::listed());
    let kinds = [CauseKind::Drive, CauseKind::NotTheDrive, CauseKind::ByDesign];
    for (kind, title) in kinds.into_iter().zip(wording::CAUSES) {
        text += &format!("\n{title}\n");
        for cause in ALL.iter().filter(|cause| cause.kind == kind) {
            text += &wording::cause(cause.name, cause.summary);
        }
    }
    text + wording::PAGES
}

fn unknown(topic: &str) -> Failure {
    let commands = super::grammar();
    let commands = commands.get_subcommands().map(clap::Command::get_name);
    let topics = commands.chain(ALL.iter().map(|cause| cause.name));
    Failure::Usage(no_such_page(topic, nearest(topic, topics)))
}
