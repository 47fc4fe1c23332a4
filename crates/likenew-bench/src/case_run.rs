//! Runs likenew in this process: its loop with a sample of every I/O, and procedures on simulated drives.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use likenew_core::drive::Drive;
use likenew_core::findings::Findings;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Evidence, Plan};
use likenew_core::region::Region;
use likenew_core::segment::{Recorder, Segment, Stop};
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_procedures::all::from_plan;
use likenew_run::run::run;
use likenew_run::runner::{End, Observer, run_procedure};
use likenew_sim::SimDrive;
use nix::sys::resource::{UsageWho, getrusage};

use crate::fio::FioResult;
use crate::target::IoCase;

/// The case as a workload.
pub(crate) fn workload(case: &IoCase, until: Until) -> Workload {
    let region = Region::bytes(0..case.span);
    let op = Mix::Only(if case.write { Op::Write } else { Op::Read });
    let pattern = if case.random { AccessPattern::Random(region) } else { AccessPattern::Sequential(region) };
    // Zeros, like fio's setting: the comparison is about the path of an I/O, not its content.
    let stream = Stream::closed(op, case.block, pattern, case.depth, DataClass::Zero);
    Workload { seed: 1, lanes: case.lanes, ..Workload::new(case.to_string(), until, vec![stream]) }
}

/// Runs the case once.
///
/// # Errors
/// The setup failed, or the drive returned an error.
pub(crate) fn run_once(drive: &mut dyn Drive, case: &IoCase, until: Until) -> anyhow::Result<FioResult> {
    run_workload(drive, &workload(case, until))
}

/// Runs a workload once.
///
/// # Errors
/// The setup failed, or the drive returned an error.
pub(crate) fn run_workload(drive: &mut dyn Drive, workload: &Workload) -> anyhow::Result<FioResult> {
    let case = &workload.name;
    // A single lane runs in this thread, and others may measure beside it. Several lanes have own threads.
    let who = if workload.lanes == 1 { UsageWho::RUSAGE_THREAD } else { UsageWho::RUSAGE_SELF };
    let before = user_time_of(who)?;
    let ran = run(drive, workload, &mut || Box::new(()))?;
    let user = user_time_of(who)?.since(before);
    if let Some(target_error) = ran.target_error {
        return Err(target_error.into());
    }
    let segment = ran.segment;
    ensure!(segment.stop == Stop::Reached && segment.errors() == 0, "{case}: {:?}", segment.stop);
    let total = segment.total();
    Ok(FioResult {
        bytes_per_s: segment.bytes_per_s().context("nothing was measured")?,
        latency_ns_mean: total.latency_ns_mean(),
        cpu_ns_per_io: user.0 as f64 / total.ios as f64,
        iops: segment.iops().context("nothing was measured")?,
    })
}

/// User-space CPU time of this thread, which drives the only lane; includes opening the lane and joining the
/// records.
pub(crate) fn user_time() -> anyhow::Result<Nanos> {
    user_time_of(UsageWho::RUSAGE_THREAD)
}

fn user_time_of(who: UsageWho) -> anyhow::Result<Nanos> {
    let usage = getrusage(who).context("could not ask for CPU time")?;
    let time = usage.user_time();
    Ok(Nanos::from_secs(time.tv_sec() as u64) + Nanos::from_micros(time.tv_usec() as u64))
}

/// The memory of this process on a line of its status file, such as `VmRSS:`, in bytes.
pub(crate) fn memory_bytes(line: &str) -> anyhow::Result<f64> {
    memory_bytes_of("/proc/self/status", line)
}

/// The memory of a process on a line of its status file, in bytes.
pub(crate) fn memory_bytes_of(status_file: &str, line: &str) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(status_file)?;
    let amount = status.lines().find_map(|text| text.strip_prefix(line));
    let amount = amount.with_context(|| format!("no {line} in {status_file}"))?;
    let kib: f64 = amount.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1024.0)
}

/// Runs a command silently; returns its peak memory, in bytes.
///
/// # Errors
/// It cannot be started, or fails.
pub(crate) fn peak_memory_of(command: &mut Command) -> anyhow::Result<f64> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0_f64;
    loop {
        // The kernel keeps the peak; growth after the last look is missed.
        if let Ok(bytes) = memory_bytes_of(&status, "VmHWM:") {
            peak = peak.max(bytes);
        }
        if let Some(ended) = child.try_wait()? {
            ensure!(ended.success() && peak > 0.0, "{command:?}: {ended}");
            return Ok(peak);
        }
        std::thread::sleep(POLL);
    }
}

/// Time between two looks at the memory of a command.
const POLL: Duration = Duration::from_millis(1);

/// Drives of the catalog and generated ones need no file.
pub(crate) fn no_files(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}

/// The result of a procedure.
pub(crate) struct QueryResult {
    /// Findings, unless the run ended early.
    pub(crate) findings: anyhow::Result<Findings>,
    /// Evidence of the run.
    pub(crate) evidence: Evidence,
}

/// Runs a procedure on a drive, like `likenew` itself.
///
/// # Errors
/// There is no such procedure, or its settings do not fit.
pub(crate) fn ask(
    drive: &mut SimDrive,
    procedure: &str,
    seed: u64,
    options: toml::Table,
) -> anyhow::Result<QueryResult> {
    let plan = Plan::new(procedure, None, seed, options);
    let procedure = from_plan(&plan).map_err(anyhow::Error::msg)?;
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    let findings = match run_procedure(drive, &*procedure, &mut evidence, &mut SilentObserver) {
        Ok(End::Complete) => Ok(procedure.judge(&evidence)),
        Ok(end) => Err(anyhow!("it ended early: {end:?}")),
        Err(error) => Err(error.into()),
    };
    Ok(QueryResult { findings, evidence })
}

/// An observer that does nothing.
struct SilentObserver;

impl Observer for SilentObserver {
    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        Box::new(())
    }

    fn on_end(&mut self, _: &Segment) -> Result<(), String> {
        Ok(())
    }
}

/// Runs a function on every item, on `threads` threads; returns the results in the order of the items.
///
/// # Errors
/// The first failure of a thread, after the others have ended.
pub(crate) fn on_threads<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    run: impl Fn(&T) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return anyhow::Ok(done) };
            done.push((index, run(item)?));
        }
    };
    let parts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| thread.join().expect("no thread panics"));
        joined.collect::<anyhow::Result<Vec<_>>>()
    })?;
    let mut results: Vec<(usize, R)> = parts.into_iter().flatten().collect();
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..40).collect();
        assert_eq!(
            on_threads(3, &items, |item| Ok(2 * item)).unwrap(),
            (0..80).step_by(2).collect::<Vec<_>>()
        );
        assert!(on_threads(3, &items, |_| -> anyhow::Result<()> { anyhow::bail!("no") }).is_err());
    }
}
