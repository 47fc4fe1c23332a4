//! The program as packages hold it: how it starts, how large it is, and how long it writes a report.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use likenew_core::units::Nanos;
use nix::sys::resource::{UsageWho, getrusage};

use super::{Goal, Options, print_row};
use crate::record::build_for_users;

/// Starts of one round: the system counts CPU time in steps.
const STARTS: u32 = 50;
const MIB: f64 = (1 << 20) as f64;
/// Random reads of a simulated drive, every one kept.
pub(super) const PLAN: &str = r#"
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

pub(super) fn measure(options: &Options) -> anyhow::Result<()> {
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
pub(super) fn likenew(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("XDG_DATA_HOME", folder).env_remove("LIKENEW_HISTORY");
    command
}

/// Keeps a run of so many I/Os in the archive.
pub(super) fn make_run(program: &Path, folder: &Path, ios: u64, keeps_samples: bool) -> anyhow::Result<()> {
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
pub(super) fn cpu_of(command: &mut Command) -> anyhow::Result<Nanos> {
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
