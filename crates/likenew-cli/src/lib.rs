//! The `likenew` program as a library: parses a command line, runs one command, and turns its end into an exit code.
//!
//! [`main`] is the whole program; the binary and the Python package's `likenew` command both call it. [`run_command`] runs one
//! command inside of another program.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files"))]

mod access;
#[cfg(test)]
mod advice_tests;
mod applications;
mod arguments;
mod audit_step;
mod catalog_match;
mod commands;
mod defaults;
mod diagram;
mod doublings;
mod embedding;
mod exit;
mod export;
mod factsheet;
mod folder_fixes;
mod interrupt;
mod invocation;
mod kept_run;
mod locking;
mod manual;
mod measure;
mod nested_run;
mod output;
mod output_file;
mod plan_file;
mod plan_grammar;
mod progress;
mod progress_event;
mod prompt;
mod ranking;
mod recordings;
mod reference_sources;
mod refreshing;
mod resolved_target;
mod run_history;
mod run_observer;
mod run_report;
mod saved_baseline;
mod scanning;
mod screen;
mod side_by_side;
mod simulated_baseline;
mod standard_error;
mod upgrade;
mod watch_session;
mod whole_device;
mod wording;

use std::ffi::OsString;

use likenew_real::scratch::{UnremovedScratch, unremoved_directories};

use crate::arguments::{Arguments, Command};
use crate::exit::{Exit, Failure};

pub use crate::embedding::{CommandFailure, FailureKind, Interruption, run_command};
pub use crate::plan_grammar::plan_grammar;

/// Runs the program with this command line, whose first word is its name. `program` starts it again as a child, which
/// the served page does.
pub fn main(command_line: Vec<OsString>, program: Vec<OsString>) -> u8 {
    invocation::set(&command_line, program);
    if command_line.len() == 1 {
        return output::print(wording::help::START)
            .map_or_else(|failure| failure.exit() as u8, |()| Exit::Fine as u8);
    }
    let typed = arguments::parse(command_line).unwrap_or_else(|error| refuse(&error));
    let ended = run(typed);
    report_unremoved();
    match ended {
        Ok(exit) => exit as u8,
        Err(failure) => {
            crate::standard_error::note(failure.message());
            failure.exit() as u8
        }
    }
}

/// The sentence of ours for an unknown command, an empty value and what is no whole number.
fn refusal(error: &clap::Error, command: Option<String>) -> Option<String> {
    let ours = arguments::unknown_command(error, command);
    let ours = ours.or_else(|| arguments::nothing_typed(error));
    ours.or_else(|| arguments::not_a_whole_number(error))
}

/// Shows our sentence or clap's message, and an example if the target is missing.
fn refuse(error: &clap::Error) -> ! {
    let command = invocation::words().into_iter().next();
    if let Some(sentence) = refusal(error, command.clone()) {
        crate::standard_error::note(wording::error(sentence));
        std::process::exit(error.exit_code());
    }
    let is_target_missing = error.kind() == clap::error::ErrorKind::MissingRequiredArgument
        && error.to_string().contains("TARGET");
    if invocation::words().iter().any(|word| word.contains(char::is_control)) {
        crate::standard_error::note(error.render());
    } else {
        // If this fails there is no other output to report to.
        let _ = error.print();
    }
    // What `likenew sim` calls a target is a simulated drive alone.
    if let Some(command) = command.filter(|name| is_target_missing && name != "sim") {
        crate::standard_error::note(wording::example_target(&command));
    }
    std::process::exit(error.exit_code());
}

/// Names temporary files that could not be removed.
fn report_unremoved() {
    for UnremovedScratch { path, reason } in unremoved_directories() {
        crate::standard_error::note(wording::unremoved_files(&path, reason));
    }
}

fn run(arguments: Arguments) -> Result<Exit, Failure> {
    match arguments.command {
        Command::Check(command) => commands::check::run(command),
        Command::Recondition(command) => commands::recondition::run(command),
        Command::Bench(command) => commands::bench::run(command),
        Command::Sweep(command) => commands::sweep::run(command),
        Command::Surface(command) => commands::surface::run(command),
        Command::Model(command) => commands::model::run(command),
        Command::Fill(command) => commands::fill::run(command),
        Command::Endure(command) => commands::endure::run(command),
        Command::Age(command) => commands::age::run(command),
        Command::Data(command) => commands::data::run(command),
        Command::Cache(command) => commands::cache::run(command),
        Command::Trim(command) => commands::trim::run(command),
        Command::Verify(command) => commands::verify::run(command),
        Command::Xray(command) => commands::xray::run(command),
        Command::Replay(command) => commands::replay::run(command),
        Command::Apps(command) => commands::apps::run(command),
        Command::Run(command) => commands::run::run(command),
        Command::Record(command) => commands::record::run(&command),
        Command::Facts(command) => commands::facts::run(command),
        Command::Drives(command) => commands::drives::run(&command),
        Command::Sim(command) => commands::sim::run(&command),
        Command::Compare(command) => commands::compare::run(&command),
        Command::Report(command) => commands::report::run(&command),
        Command::Serve(command) => commands::serve::run(&command),
        Command::History(command) => commands::history::run(&command),
        Command::Judge(command) => commands::judge::run(&command),
        Command::Export(command) => commands::export::run(&command),
        Command::Import(command) => commands::import::run(&command),
        Command::Watch(command) => commands::watch::run(&command),
        Command::Resume(command) => commands::resume::run(command),
        Command::Help(command) => commands::help::run(&command),
    }
}
