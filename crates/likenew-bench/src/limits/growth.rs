//! How cost grows with work: exponents of time and memory, 1 for linear and 0 for constant.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use likenew_core::drive::Drive as _;
use serde_json::Value;

use super::program::{cpu_of, likenew, make_run};
use super::{Goal, Options, print_row};
use crate::case_run::{self, peak_memory_of};
use crate::nop;
use crate::record::build_for_users;
use crate::sim::open_scaled;
use crate::spread::middle;

/// Linear, and what two runs of the same vary by.
const LINEAR: Goal = Goal::AtMost(1.1);
/// Constant, and what two runs of the same vary by.
const CONSTANT: Goal = Goal::AtMost(0.05);
const GIB: f64 = (1u64 << 30) as f64;
const MIB: f64 = (1u64 << 20) as f64;

pub(super) fn measure(options: &Options) -> anyhow::Result<()> {
    samples(options)?;
    drives()?;
    let program = build_for_users()?;
    reports(&program, options)?;
    histories(&program)
}

/// The run loop, every sample recorded.
fn samples(options: &Options) -> anyhow::Result<()> {
    let (mut times, mut memories) = (Vec::new(), Vec::new());
    for ios in [100_000u64, 1_000_000, 10_000_000, 100_000_000] {
        let seconds = (0..options.rounds)
            .map(|_| {
                let started = Instant::now();
                nop::run_once(ios)?;
                Ok(started.elapsed().as_secs_f64())
            })
            .collect::<anyhow::Result<Vec<f64>>>()?;
        times.push((ios as f64, middle(&seconds)));
        memories.push((ios as f64, nop::peak_memory(ios)?));
    }
    print_growth("run loop and recorder, 10⁵ to 10⁸ samples: time", &times, LINEAR, "s");
    print_growth("the same: peak memory", &in_units(&memories, MIB), CONSTANT, "MiB");
    Ok(())
}

/// Larger and larger drives, opened used.
fn drives() -> anyhow::Result<()> {
    let (mut times, mut memories) = (Vec::new(), Vec::new());
    for scale in [1u64, 2, 4] {
        let before = case_run::memory_bytes("VmRSS:")?;
        let started = Instant::now();
        let drive = open_scaled(scale, "used")?;
        let bytes = drive.geometry().capacity as f64;
        times.push((bytes, started.elapsed().as_secs_f64()));
        memories.push((bytes, case_run::memory_bytes("VmRSS:")? - before));
    }
    print_growth("opening a simulated drive used, 80 to 320 GB: time", &times, LINEAR, "s");
    print_growth("the same: memory", &in_units(&memories, GIB), LINEAR, "GiB");
    Ok(())
}

/// From the command to the page, of runs with more and more samples.
fn reports(program: &Path, options: &Options) -> anyhow::Result<()> {
    let (mut runs, mut pages, mut memories) = (Vec::new(), Vec::new(), Vec::new());
    for ios in [100_000u64, 1_000_000, 10_000_000] {
        let folder = tempfile::tempdir()?;
        let started = Instant::now();
        make_run(program, folder.path(), ios, false)?;
        runs.push((ios as f64, started.elapsed().as_secs_f64()));
        let page = folder.path().join("page.html");
        let seconds = (0..options.rounds)
            .map(|_| {
                let cpu = cpu_of(likenew(program, folder.path()).args(["report", "--html"]).arg(&page))?;
                Ok(cpu.as_secs_f64())
            })
            .collect::<anyhow::Result<Vec<f64>>>()?;
        pages.push((ios as f64, middle(&seconds)));
        let mut report = likenew(program, folder.path());
        memories.push((ios as f64, peak_memory_of(report.args(["report", "--html"]).arg(&page))?));
    }
    print_growth("likenew run on a simulated drive, 10⁵ to 10⁷ samples: time", &runs, LINEAR, "s");
    print_growth("likenew report of these runs: CPU time", &pages, LINEAR, "s");
    print_growth("the same: peak memory", &in_units(&memories, MIB), CONSTANT, "MiB");
    Ok(())
}

/// Bringing the history up to date, and listing it.
fn histories(program: &Path) -> anyhow::Result<()> {
    let (mut updates, mut lists, mut memories) = (Vec::new(), Vec::new(), Vec::new());
    for runs in [100u32, 1_000, 10_000] {
        let folder = tempfile::tempdir()?;
        cpu_of(likenew(program, folder.path()).args(["check", "sim:tiny-flash", "-q"]))?;
        copy_run(&folder.path().join("likenew/runs"), runs)?;
        let history = || cpu_of(likenew(program, folder.path()).arg("history"));
        updates.push((f64::from(runs), history()?.as_secs_f64()));
        lists.push((f64::from(runs), history()?.as_secs_f64()));
        let peak = peak_memory_of(likenew(program, folder.path()).arg("history"))?;
        memories.push((f64::from(runs), peak));
    }
    print_growth("indexing a history of 100 to 10,000 runs: CPU time", &updates, LINEAR, "s");
    print_growth("likenew history of these, nothing new: CPU time", &lists, LINEAR, "s");
    print_growth("the same: peak memory", &in_units(&memories, MIB), LINEAR, "MiB");
    Ok(())
}

/// Copies the only run until there are so many, each of another minute.
fn copy_run(archive: &Path, runs: u32) -> anyhow::Result<()> {
    let first = fs::read_dir(archive)?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.join("plan.toml").exists());
    let first = first.context("the check left no run")?;
    let mut machine: Value = serde_json::from_slice(&fs::read(first.join("machine.json"))?)?;
    let name = first.file_name().context("a run has a name")?.to_string_lossy().into_owned();
    for number in 1..runs {
        let (day, hour, minute) = (number / 1440 % 28 + 1, number / 60 % 24, number % 60);
        let other = format!("2020-01-{day:02}T{hour:02}:{minute:02}:00.000Z");
        let folder = archive.join(format!("{}-{name}", other.replace(':', "-")));
        fs::create_dir(&folder)?;
        for file in fs::read_dir(&first)?.flatten() {
            fs::copy(file.path(), folder.join(file.file_name()))?;
        }
        machine["started_at"] = other.into();
        fs::write(folder.join("machine.json"), machine.to_string())?;
    }
    Ok(())
}

fn in_units(points: &[(f64, f64)], unit: f64) -> Vec<(f64, f64)> {
    points.iter().map(|(work, cost)| (*work, cost / unit)).collect()
}

/// Prints by which power of the work the cost grows, between the two largest amounts, where fixed costs weigh least.
fn print_growth(what: &str, points: &[(f64, f64)], goal: Goal, unit: &str) {
    let [.., (work, cost), (work_max, cost_max)] = points else { return };
    let exponent = (cost_max / cost).ln() / (work_max / work).ln();
    let costs: Vec<String> = points.iter().map(|(_, cost)| format!("{cost:.3}")).collect();
    print_row(what, &[exponent], "(exponent)", Some(goal), &format!("{} {unit}", costs.join(", ")));
}
