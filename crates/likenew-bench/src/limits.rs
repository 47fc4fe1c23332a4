//! Every limit of the instrument in one table: what an I/O costs beside fio and beside a bare ring, the simulator beside the
//! memory of this machine, the bytes of an answer beside fixed plans, and how cost grows with work.

mod agreement;
mod answers;
mod engine;
mod growth;
mod program;
mod simulator;
mod xray;

use clap::{Args, ValueEnum};

use likenew_core::quantity::digits;
use likenew_stats::summary::{maximum, minimum};

use crate::spread::middle;

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Parts of the table; all of them by default
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// Rounds of everything that is timed; at least 7 for numbers that are quoted
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Seconds of each run on a device
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Generated drives that are X-rayed
    #[arg(long, default_value_t = 600)]
    drives: u64,
    /// Seed of the first of them
    #[arg(long, default_value_t = 11_001)]
    first: u64,
}

/// Lines that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Cost of an I/O beside a bare ring and fio
    Engine,
    /// Results of likenew and fio on the same device
    Agreement,
    /// Speed and memory of simulated drives
    Simulator,
    /// What an X-ray writes, and how often it is right
    Xray,
    /// Bytes and seconds of an answer beside fixed plans
    Answers,
    /// Start, size and report of the program
    Program,
    /// Cost as samples, drives and runs become more
    Growth,
}

/// Prints the table.
///
/// # Errors
/// Something cannot be measured here: not root, no fio, too little memory.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let parts = if options.parts.is_empty() { Part::value_variants() } else { &options.parts };
    println!("| what | measured | goal | reached | beside |\n|---|---|---|---|---|");
    for part in parts {
        match part {
            Part::Engine => engine::measure(options)?,
            Part::Agreement => agreement::measure(options)?,
            Part::Simulator => simulator::measure(options)?,
            Part::Xray => xray::measure(options)?,
            Part::Answers => answers::measure()?,
            Part::Program => program::measure(options)?,
            Part::Growth => growth::measure(options)?,
        }
    }
    Ok(())
}

/// A limit that a number is to keep.
#[derive(Clone, Copy, Debug)]
enum Goal {
    AtLeast(f64),
    AtMost(f64),
    Within(f64, f64),
}

impl Goal {
    fn is_reached_by(self, value: f64) -> bool {
        match self {
            Self::AtLeast(low) => value >= low,
            Self::AtMost(high) => value <= high,
            Self::Within(low, high) => (low..=high).contains(&value),
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(low) => format!("≥ {low}"),
            Self::AtMost(high) => format!("≤ {high}"),
            Self::Within(low, high) => format!("{low}–{high}"),
        }
    }
}

/// Prints a line of the table. `unit` stands after the numbers, `beside` is the limit that was measured with them.
fn print_row(what: &str, values: &[f64], unit: &str, goal: Option<Goal>, beside: &str) {
    let measured = match values {
        [one] => digits(*one),
        several => {
            let (lowest, highest) =
                (minimum(several).unwrap_or_default(), maximum(several).unwrap_or_default());
            format!("{} ({}–{})", digits(middle(several)), digits(lowest), digits(highest))
        }
    };
    let unit = if unit.is_empty() || unit == "%" { unit.to_owned() } else { format!(" {unit}") };
    let reached = goal.map_or("", |goal| if goal.is_reached_by(middle(values)) { "yes" } else { "no" });
    let goal = goal.map_or_else(String::new, Goal::text);
    println!("| {what} | {measured}{unit} | {goal} | {reached} | {beside} |");
}
