//! The `likenew` binary: reads what was typed, lets one command do it, and turns its end into an exit code.

#[cfg(test)]
mod advice_tests;
mod aim;
mod arguments;
mod aside;
mod audited;
mod commands;
mod cures;
mod diagram;
mod doublings;
mod exit;
mod export;
mod factsheet;
mod first;
mod follow;
mod held_against;
mod interrupt;
mod known;
mod locking;
mod measure;
mod mix_alone;
mod output;
mod progress;
mod prompt;
mod ranking;
mod recordings;
mod refreshing;
mod scanning;
mod screen;
mod twin;
mod upgrade;
mod usual;
mod watched;
mod whole;

use std::process::ExitCode;

use likenew_real::scratch::{LeftBehind, left_behind};

use crate::arguments::{Arguments, Command};
use crate::exit::{Exit, Failure};

fn main() -> ExitCode {
    let typed = arguments::parse(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let ended = run(typed);
    report_left_behind();
    match ended {
        Ok(exit) => exit.code(),
        Err(failure) => {
            anstream::eprintln!("{}", failure.message());
            failure.exit().code()
        }
    }
}

/// Says which files of our own are still there, though the run is over.
fn report_left_behind() {
    for LeftBehind { path, why } in left_behind() {
        anstream::eprintln!(
            "{} could not be removed: {why}. It holds nothing of yours: delete it once its file system can be written to, or let the next run of \
             likenew there remove it.",
            path.display()
        );
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
        Command::Report(command) => commands::report::run(&command),
        Command::Judge(command) => commands::judge::run(&command),
        Command::Import(command) => commands::import::run(&command),
        Command::Watch(command) => commands::watch::run(&command),
        Command::Resume(command) => commands::resume::run(command),
        Command::Help(command) => commands::help::run(&command),
    }
}
