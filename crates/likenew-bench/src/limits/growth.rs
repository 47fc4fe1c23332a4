//! Measures the program as packages hold it (start, size, time of a report), and how cost grows with work:
//! exponents of time and memory, 1 for linear and 0 for constant.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use likenew_core::drive::Drive as _;
use likenew_core::units::Nanos;
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;

use super::{Goal, Options, print_row};
use crate::case_run::{self, peak_memory_of};
use crate::engine::{nop_peak_memory, run_nop};
use crate::record::build_for_users;
use crate::sim::open_scaled;
use crate::table::middle;

/// Linear, with a margin for what two equal runs vary by.
const LINEAR: Goal = Goal::AtMost(1.1);
/// Constant, with a margin for what two equal runs vary by.
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

/// Growth of the run loop with the number of samples, every one recorded.
fn samples(options: &Options) -> anyhow::Result<()> {
    let (mut times, mut memories) = (Vec::new(), Vec::new());
    for ios in [100_000u64, 1_000_000, 10_000_000, 100_000_000] {
        let seconds = (0..options.rounds)
            .map(|_| {
                let started = Instant::now();
                run_nop(ios)?;
                Ok(started.elapsed().as_secs_f64())
            })
            .collect::<anyhow::Result<Vec<f64>>>()?;
        times.push((ios as f64, middle(&seconds)));
        memories.push((ios as f64, nop_peak_memory(ios)?));
    }
    print_growth("run loop and recorder, 10⁵ to 10⁸ samples: time", &times, LINEAR, "s");
    print_growth("the same: peak memory", &in_units(&memories, MIB), CONSTANT, "MiB");
    Ok(())
}

/// Growth of opening a used drive with its size.
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

/// Growth of a report with the samples of its run, from the command to the page.
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

/// Growth of updating and listing the history with the number of runs.
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

/// Copies the only run until there are `runs`, each of another minute.
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

/// Prints the power of the work by which cost grows at the two largest amounts, where fixed cost is least.
fn print_growth(what: &str, points: &[(f64, f64)], goal: Goal, unit: &str) {
    let [.., (work, cost), (work_max, cost_max)] = points else { return };
    let exponent = (cost_max / cost).ln() / (work_max / work).ln();
    let costs: Vec<String> = points.iter().map(|(_, cost)| format!("{cost:.3}")).collect();
    print_row(what, &[exponent], "(exponent)", Some(goal), &format!("{} {unit}", costs.join(", ")));
}

/// Starts of one round: many, because the system counts CPU time in steps.
const STARTS: u32 = 50;
/// Random reads of a simulated drive, every one kept.
const PLAN: &str = r#"
procedure = "run"
target = "sim:tiny-flash?state=used"
seed = 1

[[options.workload]]
name = "reads"
until = { ops = COUNT }

[[options.workload.stream]]
op = "read"
size = "4KiB"
pattern.random = "whole"
arrival.closed.depth = 32
data = "random"
"#;

/// Start, size and report of the program.
pub(super) fn measure_program(options: &Options) -> anyhow::Result<()> {
    let program = build_for_users()?;
    let starts = (0..options.rounds)
        .map(|_| {
            let ran = (0..STARTS).map(|_| cpu_of(Command::new(&program).arg("--version")));
            let seconds: f64 = ran.map(|cpu| Ok(cpu?.as_secs_f64())).sum::<anyhow::Result<f64>>()?;
            Ok(seconds * 1e3 / f64::from(STARTS))
        })
        .collect::<anyhow::Result<Vec<f64>>>()?;
    print_row("likenew --version: CPU", &starts, "ms", Some(Goal::AtMost(5.0)), "");
    let size = std::fs::metadata(&program)?.len() as f64 / MIB;
    print_row("the program, stripped", &[size], "MiB", Some(Goal::AtMost(25.0)), "");
    for (name, keeps) in [("kept in its counts", false), ("each kept", true)] {
        let folder = tempfile::tempdir()?;
        make_run(&program, folder.path(), 1_000_000, keeps)?;
        let page = folder.path().join("page.html");
        let seconds = (0..options.rounds)
            .map(|_| {
                let started = Instant::now();
                cpu_of(likenew(&program, folder.path()).args(["report", "--html"]).arg(&page))?;
                Ok(started.elapsed().as_secs_f64())
            })
            .collect::<anyhow::Result<Vec<f64>>>()?;
        let size = std::fs::metadata(&page)?.len() as f64 / MIB;
        print_row(
            &format!("page of a run of a million samples, {name}"),
            &seconds,
            "s",
            Some(Goal::AtMost(1.0)),
            &format!("{size:.1} MiB of HTML"),
        );
    }
    Ok(())
}

/// The program with an archive of its own.
fn likenew(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("XDG_DATA_HOME", folder).env_remove("LIKENEW_HISTORY");
    command
}

/// Keeps a run of `ios` I/Os in the archive.
fn make_run(program: &Path, folder: &Path, ios: u64, keeps_samples: bool) -> anyhow::Result<()> {
    let plan = folder.join("plan.toml");
    std::fs::write(&plan, PLAN.replace("COUNT", &ios.to_string()))?;
    let mut command = likenew(program, folder);
    command.arg("run").arg(&plan);
    if keeps_samples {
        command.arg("--samples");
    }
    cpu_of(&mut command).map(drop)
}

/// Runs a command silently; returns the CPU time that it took, of user and system together.
fn cpu_of(command: &mut Command) -> anyhow::Result<Nanos> {
    let before = children_time()?;
    let ran = command.output().with_context(|| format!("could not start {command:?}"))?;
    ensure!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    Ok(children_time()?.since(before))
}

fn children_time() -> anyhow::Result<Nanos> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("could not ask for CPU time")?;
    let nanos = |time: nix::sys::time::TimeVal| {
        Nanos::from_secs(time.tv_sec() as u64) + Nanos::from_micros(time.tv_usec() as u64)
    };
    Ok(nanos(usage.user_time()) + nanos(usage.system_time()))
}
