//! All automation of the project: `cargo xtask tidy | ci | guest-kernel | web | demo | bench NAME | reproduce`.

mod bench;
mod ci;
mod demo;
mod guest_kernel;
mod reproduce;
mod tidy;
mod web;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "All automation of the project")]
enum Task {
    /// Check the rules of the house that no compiler checks
    Tidy,
    /// Install what is missing, then check and test everything: what `make test` does
    Ci,
    /// Bring the kernel of the guest in which facts are tested; where none can be had, say so and go on
    GuestKernel,
    /// Build the page that reports embed; without Node, say so and go on
    Web,
    /// Measure a simulated drive, new and used, and make a page of it
    Demo,
    /// Measure the instrument
    #[command(subcommand)]
    Bench(Bench),
    /// Repeat five studies on simulated drives and write docs/reproduction.md
    Reproduce(reproduce::Options),
}

#[derive(Subcommand)]
enum Bench {
    /// How well `check` finds causes: simulated drives on which they are at work
    Diagnosis(bench::diagnosis::Options),
    /// Against fio, in pairs on the same target: agreement and cost
    Engine(bench::engine::Options),
    /// How well an X-ray sees: drives with known insides
    Insight(bench::insight::Options),
    /// What recording costs a load, in pairs of runs
    Record(bench::record::Options),
    /// Replays: how exactly recorded times are kept, and fio beside it as fast as it goes
    Replay(bench::replay::Options),
    /// The simulator: speed, memory, and theory beside what comes out
    Sim,
    /// Readers of traces: records a second and memory, by format
    Trace(bench::trace::Options),
    /// What verifying costs: against plain workloads, and against f3
    Verify(bench::verify::Options),
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Tidy => tidy::run(),
        Task::Ci => ci::run(),
        Task::GuestKernel => guest_kernel::bring_if_possible(),
        Task::Web => web::build_if_possible(),
        Task::Demo => demo::run(),
        Task::Bench(Bench::Diagnosis(options)) => bench::diagnosis::run(&options),
        Task::Bench(Bench::Engine(options)) => bench::engine::run(&options),
        Task::Bench(Bench::Insight(options)) => bench::insight::run(&options),
        Task::Bench(Bench::Record(options)) => bench::record::run(&options),
        Task::Bench(Bench::Replay(options)) => bench::replay::run(&options),
        Task::Bench(Bench::Sim) => bench::sim::run(),
        Task::Bench(Bench::Trace(options)) => bench::trace::run(&options),
        Task::Bench(Bench::Verify(options)) => bench::verify::run(&options),
        Task::Reproduce(options) => reproduce::run(&options),
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root").to_owned()
}
