//! `likenew help`: manual pages of commands and of causes.

use clap::CommandFactory as _;
use likenew_diagnosis::{ALL, Kind, by_name};
use likenew_procedures::all::DESCRIPTORS;

use crate::arguments::{Arguments, Help};
use crate::exit::{Exit, Failure};
use crate::output;

pub(crate) fn run(command: &Help) -> Result<Exit, Failure> {
    let text = match command.topic.as_deref() {
        None => contents(),
        Some(topic) => page(topic).ok_or_else(|| unknown(topic))?,
    };
    output::print(&text)?;
    Ok(Exit::Fine)
}

/// A cause has its page; a command its manual, where it has one, and what can be typed.
fn page(topic: &str) -> Option<String> {
    if let Some(cause) = by_name(&topic.replace('-', "_")) {
        return Some(cause.descriptor().manual.to_owned());
    }
    let mut all = Arguments::command();
    let typed = all.find_subcommand_mut(topic)?.render_long_help().to_string();
    let manual =
        DESCRIPTORS.iter().find(|descriptor| descriptor.name == topic).map(|descriptor| descriptor.manual);
    Some(manual.map_or_else(
        || typed.clone(),
        |manual| format!("{}\n## What can be typed\n\n{typed}", manual.trim_end()),
    ))
}

fn contents() -> String {
    let mut all = Arguments::command();
    let mut text = all.render_long_help().to_string();
    for (kind, title) in [
        (Kind::Drive, "Causes of slowness in the drive:"),
        (Kind::NotTheDrive, "Causes that are not the drive:"),
        (Kind::ByDesign, "What is made so:"),
    ] {
        text += &format!("\n{title}\n");
        for descriptor in
            ALL.iter().map(|cause| cause.descriptor()).filter(|descriptor| descriptor.kind == kind)
        {
            text += &format!("  {:16} {}\n", descriptor.name, descriptor.summary);
        }
    }
    text + "\nA page of each: likenew help NAME\n"
}

fn unknown(topic: &str) -> Failure {
    Failure::Usage(format!("there is no command and no cause \"{topic}\"; likenew help lists all of them"))
}
