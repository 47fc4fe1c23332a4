//! The simulator: speed of aging whole drives, memory, and agreement with theory.

mod bare_layer;
mod write_amplification;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Args;
use likenew_core::drive::Drive as _;
use likenew_core::units::{Nanos, rate};
use likenew_core::until::Until;
use likenew_core::workload::Workload;
use likenew_sim::{SimDrive, Spec, catalog};

use crate::case_run;
use crate::target::Case;

const PAGE: u64 = 4096;

/// What to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The page map alone, of drives up to so many bytes, and nothing else
    #[arg(long, value_name = "BYTES")]
    map: Option<f64>,
    /// The whole stack alone, in five parts of so many writes, one after the other
    #[arg(long, value_name = "WRITES", conflicts_with = "map")]
    stack: Option<u64>,
}

/// Prints everything, or the part that was asked for.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(bytes_max) = options.map {
        return bare_layer::run(bytes_max);
    }
    if let Some(writes) = options.stack {
        return stack(writes);
    }
    println!(
        "Simulated X25-M 80 GB, 4 KiB random writes through the whole stack in the steady state (median of the last fills; goals in brackets)"
    );
    speed("as it is, about 7% spare", None, 1.5)?;
    speed("with 12% spare", Some(0.88), 2.5)?;
    fill()?;
    bare_layer::run(f64::MAX)?;
    write_amplification::run();
    Ok(())
}

/// The drive, used, with its capacity as another share of its flash.
fn open(share: Option<f64>, state: &str) -> anyhow::Result<SimDrive> {
    let entry =
        catalog().iter().find(|entry| entry.name == "intel-x25-m-80gb").context("it is in the catalog")?;
    let text = match share {
        None => entry.text.to_owned(),
        Some(share) => {
            let bytes = (share * f64::from(80 << 10)) as u64 * (1 << 20);
            let before = format!("capacity_bytes = {{ value = {}", entry.model.capacity_bytes);
            ensure!(entry.text.contains(&before), "the capacity is spelled otherwise");
            entry.text.replace(&before, &format!("capacity_bytes = {{ value = {bytes}"))
        }
    };
    let spec = Spec::parse(&format!("sim:x25-m.toml?state={state}"))?;
    Ok(spec.open(|_: &Path| Ok(text.clone().into()))?)
}

/// Rates of parts of a run, for pairs of builds.
fn stack(writes: u64) -> anyhow::Result<()> {
    let mut drive = open(None, "used")?;
    let capacity = drive.geometry().capacity;
    let case = Case { random: true, write: true, block: PAGE as u32, depth: 32, span: capacity };
    for part in 0..5 {
        let workload = Workload { seed: part, ..case_run::workload(&case, Until::ops(writes)) };
        let measured = case_run::run_workload(&mut drive, &workload)?;
        println!("  {:.3} million host writes a second a core", 1e3 / measured.cpu_ns_per_io);
    }
    Ok(())
}

fn speed(name: &str, share: Option<f64>, goal: f64) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut drive = open(share, "used")?;
    let opened = start.elapsed().as_secs_f64();
    let capacity = drive.geometry().capacity;
    let case = Case { random: true, write: true, block: PAGE as u32, depth: 32, span: capacity };
    let (mut fills, mut rates) = (Vec::new(), Vec::new());
    while !is_steady(&fills) && fills.len() < FILLS_MAX {
        let before = drive.flash_counters().context("a simulated drive has counters")?;
        // Each fill at its own addresses: the same ones again would leave a third of the drive cold.
        let workload =
            Workload { seed: fills.len() as u64, ..case_run::workload(&case, Until::ops(capacity / PAGE)) };
        let measured = case_run::run_workload(&mut drive, &workload)?;
        let after = drive.flash_counters().context("a simulated drive has counters")?;
        let host = after.host_bytes_written - before.host_bytes_written;
        ensure!(host == capacity / PAGE * PAGE, "every write was completed and counted");
        fills.push((after.flash_bytes_programmed - before.flash_bytes_programmed) as f64 / host as f64);
        // CPU time, so that other programs do not count.
        rates.push(1e9 / measured.cpu_ns_per_io);
    }
    let last = &fills[fills.len() - STEADY_FILLS..];
    let mut rates = rates.split_off(fills.len() - STEADY_FILLS);
    rates.sort_by(f64::total_cmp);
    println!(
        "  {name:<28} {:5.2} [{:.2} … {:.2}] million host writes a second a core [≥ {goal}]; opened used in {opened:.1} s",
        rates[STEADY_FILLS / 2] / 1e6,
        rates[0] / 1e6,
        rates[STEADY_FILLS - 1] / 1e6,
    );
    println!(
        "  {:<28} write amplification of the last three of {} drive fills {:.3} {:.3} {:.3}: {:.2}% apart [≤ 1%]; of all {fills:.2?}",
        "",
        fills.len(),
        last[0],
        last[1],
        last[2],
        relative_difference(last) * 100.0
    );
    Ok(())
}

/// Number of fills that agree in a steady state.
const STEADY_FILLS: usize = 3;
const FILLS_MAX: usize = 30;

fn is_steady(fills: &[f64]) -> bool {
    fills.len() >= 2 * STEADY_FILLS && relative_difference(&fills[fills.len() - STEADY_FILLS..]) <= 0.005
}

/// Difference of the largest and the smallest, as a share of the smallest.
fn relative_difference(values: &[f64]) -> f64 {
    let (low, high) =
        values.iter().fold((f64::MAX, 0.0f64), |(low, high), value| (low.min(*value), high.max(*value)));
    high / low - 1.0
}

fn fill() -> anyhow::Result<()> {
    let flash_pages = f64::from(80 << 10) * 256.0;
    let before = case_run::memory_bytes("VmRSS:")?;
    let start = Instant::now();
    let untimed = open(None, "new&fill=1")?;
    let seconds = start.elapsed().as_secs_f64();
    let memory = case_run::memory_bytes("VmRSS:")? - before;
    drop(untimed);
    println!(
        "  filled once, in its past     {seconds:5.2} s [≤ 1]; {:.1} bytes of memory a flash page [≤ 10]",
        memory / flash_pages
    );
    let mut drive = open(None, "new")?;
    let capacity = drive.geometry().capacity;
    let case = Case { random: false, write: true, block: 1 << 20, depth: 8, span: capacity };
    let start = Instant::now();
    let measured = case_run::run_once(&mut drive, &case, Until::ops(capacity >> 20))?;
    println!(
        "  filled once, 1 MiB at depth 8 {:4.2} s through the whole stack [≤ 1], at {} of its own time ({})",
        start.elapsed().as_secs_f64(),
        rate(measured.bytes_per_s),
        Nanos::from_secs_f64(capacity as f64 / measured.bytes_per_s),
    );
    Ok(())
}
