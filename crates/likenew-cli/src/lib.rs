//! The `likenew` program as a library: parses a command line, runs one command, and turns its result into an exit code.
//!
//! [`main`] is the whole program; the binary and the Python package's `likenew` command both call
//! it. [`run_command`] runs one command inside another program.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files"))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

#[cfg(test)]
mod advice_tests;
mod arguments;
mod commands;
mod console;
mod embedding;
mod exit;
mod factsheet;
mod fixable_drive;
mod interrupt;
mod io_log;
mod io_rates;
mod manual;
mod measure;
mod output;
mod output_file;
mod plan_file;
mod printed;
mod progress;
mod progress_event;
mod question;
mod recordings;
mod references;
mod refreshing;
mod resolved_target;
mod run_observer;
mod screen;
mod wording;

use std::ffi::OsString;

use likenew_real::scratch::{UnremovedScratch, unremoved_directories};

use crate::commands::TypedCommand;
use crate::exit::{Exit, Failure};

pub use crate::commands::serve::plan_grammar;
pub use crate::embedding::{CommandFailure, FailureKind, Interruption, run_command};

/// Runs the program with this command line, whose first word is its name. `program` has the words
/// that start it again as a child, as the served page does.
pub fn main(command_line: Vec<OsString>, program: Vec<OsString>) -> u8 {
    console::set_command_line(&command_line, program);
    if command_line.len() == 1 {
        return output::print(wording::help::START)
            .map_or_else(|failure| failure.exit() as u8, |()| Exit::Fine as u8);
    }
    let command = parse(command_line).unwrap_or_else(|error| refuse(&error));
    let ended = command();
    report_unremoved();
    match ended {
        Ok(exit) => exit as u8,
        Err(Failure::Interrupted) => Exit::Interrupted as u8,
        Err(failure) => {
            console::note(failure.message());
            failure.exit() as u8
        }
    }
}

/// Parses a command line, for the program and for [`run_command`], on whose output commands rely.
fn parse(words: impl IntoIterator<Item = OsString>) -> Result<TypedCommand, clap::Error> {
    commands::parse(words)
}

/// Shows our sentence or clap's message, and an example if the target is missing.
fn refuse(error: &clap::Error) -> ! {
    let command = console::typed_words().into_iter().next();
    if let Some(sentence) = arguments::refusal(error, command.clone()) {
        crate::console::note(wording::error(sentence));
        std::process::exit(error.exit_code());
    }
    let is_target_missing = error.kind() == clap::error::ErrorKind::MissingRequiredArgument
        && error.to_string().contains("TARGET");
    if console::typed_words().iter().any(|word| word.contains(char::is_control)) {
        crate::console::note(error.render());
    } else {
        // If this fails there is no other output to report to.
        let _ = error.print();
    }
    // For `likenew sim`, a target can only be a simulated drive, so the tip would mislead.
    if let Some(command) = command.filter(|name| is_target_missing && name != "sim") {
        crate::console::note(wording::example_target(&command));
    }
    std::process::exit(error.exit_code());
}

/// Names temporary files that could not be removed.
fn report_unremoved() {
    for UnremovedScratch { path, reason } in unremoved_directories() {
        crate::console::note(wording::unremoved_files(&path, reason));
    }
}
