//! Limits of the instrument: a drive that does nothing, the data generator, and memory over a long run.

use std::process::Command;

use likenew_core::workload::Until;
use likenew_real::nop::Nop;
use likenew_run::run::calibrate;

use crate::case_run::{self, peak_memory_of};
use crate::spread::middle;
use crate::target::Case;

const ROUNDS: usize = 5;
const SHORT_IOS: u64 = 1_000_000;
const LONG_IOS: u64 = 100_000_000;
/// Random 4 KiB reads at QD32.
pub(crate) const CASE: Case =
    Case { random: true, write: false, block: 4096, depth: 32, span: 1 << 30, lanes: 1 };

/// Prints the limits of the instrument.
pub(crate) fn run() -> anyhow::Result<()> {
    let case = CASE;
    let mut nop = Nop::new();
    println!("The instrument alone (medians of {ROUNDS}; goals in brackets)");
    let iops =
        middle_of(ROUNDS, |_| Ok(case_run::run_once(&mut nop, &case, Until::ops(SHORT_IOS * 5))?.iops))?;
    println!("  nop, every sample recorded        {:8.2} million I/O/s a core   [≥ 3]", iops / 1e6);
    let single = Case { depth: 1, ..case };
    let iops = middle_of(ROUNDS, |_| Ok(case_run::run_once(&mut nop, &single, Until::ops(SHORT_IOS))?.iops))?;
    println!("  the same at depth 1               {:8.2} million I/O/s a core", iops / 1e6);
    let random = middle_of(ROUNDS, |_| Ok(calibrate(&mut Nop::new())?.random_data_bytes_per_s))?;
    let ratio = middle_of(ROUNDS, |_| Ok(calibrate(&mut Nop::new())?.ratio_data_bytes_per_s))?;
    let gib = f64::from(1 << 30);
    println!("  incompressible data               {:8.1} GiB/s a core           [≥ 15]", random / gib);
    println!("  data that compresses to a half    {:8.1} GiB/s a core           [≥ 10]", ratio / gib);
    for ios in [SHORT_IOS, LONG_IOS] {
        let mib = peak_memory(ios)? / 1048576.0;
        println!("  peak resident memory of a run of {ios:>9} I/Os  {mib:6.1} MiB");
    }
    Ok(())
}

/// Runs so many I/Os, every sample recorded.
///
/// # Errors
/// The setup failed.
pub(crate) fn run_once(ios: u64) -> anyhow::Result<()> {
    case_run::run_once(&mut Nop::new(), &CASE, Until::ops(ios)).map(drop)
}

/// The most memory that a process of its own has for [`run_once`], in bytes: what this one did before does not count.
///
/// # Errors
/// It cannot be started, or fails.
pub(crate) fn peak_memory(ios: u64) -> anyhow::Result<f64> {
    let program = std::env::current_exe()?;
    peak_memory_of(Command::new(program).args(["nop-run", &ios.to_string()]))
}

fn middle_of(rounds: usize, measure: impl FnMut(usize) -> anyhow::Result<f64>) -> anyhow::Result<f64> {
    Ok(middle(&(0..rounds).map(measure).collect::<anyhow::Result<Vec<f64>>>()?))
}
