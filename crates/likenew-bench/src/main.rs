//! Measures the instrument itself: `cargo xtask bench NAME`.

#![allow(clippy::disallowed_methods, reason = "it measures time")]

mod calibration;
mod case_run;
mod diagnosis;
mod engine;
mod fio;
mod insight;
mod limits;
mod record;
mod replay;
mod restore;
mod served;
mod sim;
mod table;
mod target;
mod trace;
mod verify;
mod viewers;

use std::path::{Path, PathBuf};

use clap::Parser;

#[derive(Parser)]
#[command(name = "cargo xtask bench", about = "Measure the instrument")]
enum Bench {
    /// How well `sim calibrate` finds a drive's parameters: twins of catalog drives with known values
    Calibration(calibration::Options),
    /// How well `check` finds causes: simulated drives with known causes
    Diagnosis(diagnosis::Options),
    /// Compared with fio, in pairs on the same target: agreement and cost
    Engine(engine::Options),
    /// How accurate an X-ray is: drives with known internals
    Insight(insight::Options),
    /// Every limit of the instrument in one table: cost of an I/O, simulator, bytes of an answer, growth
    Limits(limits::Options),
    /// What recording costs a load, in pairs of runs
    Record(record::Options),
    /// Replays: how exactly recorded times are kept, and the speed of likenew and fio without them
    Replay(replay::Options),
    /// How well `recondition` restores: generated drives, used in ways that it can undo and in ways that it cannot
    Restore(restore::Options),
    /// How well `recondition` restores where nobody has a reference: served drives below real file systems, measured by fio
    Served(served::Options),
    /// The simulator: speed, memory, and results beside theory
    Sim(sim::Options),
    /// So many I/Os on a drive that does nothing, in a process whose memory is looked at
    #[command(hide = true)]
    NopRun { ios: u64 },
    /// Readers of traces: records per second and memory, by format
    Trace(trace::Options),
    /// The cost of verifying: compared with plain workloads, and with f3
    Verify(verify::Options),
    /// What live viewers of the served page cost the run that they watch, in pairs of runs
    Viewers(viewers::Options),
}

fn main() -> anyhow::Result<()> {
    match Bench::parse() {
        Bench::Calibration(options) => calibration::run(&options),
        Bench::Diagnosis(options) => diagnosis::run(&options),
        Bench::Engine(options) => engine::run(&options),
        Bench::Insight(options) => insight::run(&options),
        Bench::Limits(options) => limits::run(&options),
        Bench::Record(options) => record::run(&options),
        Bench::Replay(options) => replay::run(&options),
        Bench::Restore(options) => restore::run(&options),
        Bench::Served(options) => served::run(&options),
        Bench::Sim(options) => sim::run(&options),
        Bench::NopRun { ios } => engine::run_nop(ios),
        Bench::Trace(options) => trace::run(&options),
        Bench::Verify(options) => verify::run(&options),
        Bench::Viewers(options) => viewers::run(&options),
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/likenew-bench lies in the root")
        .to_owned()
}
