//! Prints every limit of the instrument in one table: an I/O beside fio and a bare ring, the simulator beside
//! this machine's memory, the bytes of an answer beside fixed plans, and how cost grows with work.

mod answers;
mod devices;
mod growth;
mod simulator;

use clap::{Args, ValueEnum};

use likenew_core::units::digits;
use likenew_stats::interval::{Interval, median_interval};
use likenew_stats::summary::{maximum, minimum};

use crate::table::middle;

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Parts of the table; all of them by default
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// Rounds of what is timed within a process; at least 7 for numbers that are quoted
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Rounds on a device: many short ones, as the speed of the machine changes within seconds
    #[arg(long, default_value_t = 15)]
    device_rounds: usize,
    /// Seconds of each run on a device
    #[arg(long, default_value_t = 0.4)]
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
            Part::Engine => devices::measure_cost(options)?,
            Part::Agreement => devices::measure_agreement(options)?,
            Part::Simulator => simulator::measure(options)?,
            Part::Xray => answers::measure_xrays(options)?,
            Part::Answers => answers::measure()?,
            Part::Program => growth::measure_program(options)?,
            Part::Growth => growth::measure(options)?,
        }
    }
    Ok(())
}

/// The goal of a number.
#[derive(Clone, Copy, Debug)]
enum Goal {
    AtLeast(f64),
    AtMost(f64),
    Within(f64, f64),
}

impl Goal {
    /// Whether the median of the rounds reaches the goal; "unclear" if the interval of that median holds
    /// values that do and values that do not.
    fn reached_by(self, rounds: &[f64]) -> &'static str {
        let (lowest, highest) = match self {
            Self::AtLeast(low) => (low, f64::INFINITY),
            Self::AtMost(high) => (f64::NEG_INFINITY, high),
            Self::Within(low, high) => (low, high),
        };
        let at = middle(rounds);
        let Interval { low, high } =
            median_interval(rounds, CONFIDENCE).unwrap_or(Interval { low: at, high: at });
        if low >= lowest && high <= highest {
            "yes"
        } else if high < lowest || low > highest {
            "no"
        } else {
            "unclear"
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

/// Confidence of the interval of a median.
const CONFIDENCE: f64 = 0.95;

/// Prints a row of the table. `unit` follows the numbers; `beside` is a limit that was measured with them.
fn print_row(what: &str, values: &[f64], unit: &str, goal: Option<Goal>, beside: &str) {
    let interval = median_interval(values, CONFIDENCE);
    let measured = match values {
        [value] => digits(*value),
        several => {
            let (lowest, highest) =
                (minimum(several).unwrap_or_default(), maximum(several).unwrap_or_default());
            let Interval { low, high } = interval.unwrap_or(Interval { low: lowest, high: highest });
            format!("{} ({}–{})", digits(middle(several)), digits(low), digits(high))
        }
    };
    let unit = if unit.is_empty() || unit == "%" { unit.to_owned() } else { format!(" {unit}") };
    let reached = goal.map_or("", |goal| goal.reached_by(values));
    let goal = goal.map_or_else(String::new, Goal::text);
    println!("| {what} | {measured}{unit} | {goal} | {reached} | {beside} |");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_within_the_interval_of_a_median_is_neither_reached_nor_missed() {
        let around = |middle: f64| [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0].map(|step| middle + step / 100.0);
        let at_least = Goal::AtLeast(0.98);
        assert_eq!(at_least.reached_by(&around(1.02)), "yes");
        assert_eq!(at_least.reached_by(&around(0.99)), "unclear");
        assert_eq!(at_least.reached_by(&around(0.97)), "unclear");
        assert_eq!(at_least.reached_by(&around(0.94)), "no");
        let within = Goal::Within(0.97, 1.03);
        assert_eq!(within.reached_by(&around(1.0)), "yes");
        assert_eq!(within.reached_by(&around(1.02)), "unclear");
        // Wider than the goal, on both sides of it.
        assert_eq!(within.reached_by(&[0.5, 0.6, 0.7, 1.0, 1.3, 1.4, 1.5]), "unclear");
        assert_eq!(within.reached_by(&around(1.1)), "no");
        // Several drives are no rounds of one.
        assert_eq!(Goal::AtMost(0.2).reached_by(&[0.1, 0.15, 0.5]), "yes");
        assert_eq!(Goal::AtMost(0.2).reached_by(&[0.21]), "no");
    }
}
