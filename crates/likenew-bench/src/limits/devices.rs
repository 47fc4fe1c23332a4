//! Compares likenew with fio on devices: the cost of an I/O, in turns with a bare ring and every sample
//! recorded, and agreement on a device with its own latency.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use likenew_core::drive::Drive;
use likenew_core::units::{Nanos, digits};
use likenew_core::workload::Until;
use xshell::{Shell, cmd};

use super::{Goal, Options, print_row};
use crate::engine::{
    LOOP, SERVED_FILE, SPAN, TMPFS, Turns, agreement_cases, on_loop, on_served_file, on_tmpfs_file,
};
use crate::fio::{self, FioResult, Setting};
use crate::record::target_folder;
use crate::table::{middle, spread};
use crate::target::IoCase;
use crate::{case_run, root};

/// The settings of fio in the order of [`Round::fios`].
const FIO: [&str; 2] = ["plain", "registered buffers and files"];

pub(super) fn measure_cost(options: &Options) -> anyhow::Result<()> {
    let ring = BareRing::build()?;
    on_tmpfs_file(&mut |drive, path| compare(TMPFS, drive, path, &ring, options))?;
    on_loop(&mut |drive, path| compare(LOOP, drive, path, &ring, options))
}

fn compare(
    target: &str,
    drive: &mut dyn Drive,
    path: &Path,
    ring: &BareRing,
    options: &Options,
) -> anyhow::Result<()> {
    for lanes in [1, 2] {
        for (write, depth) in [(false, 32), (true, 32), (false, 1), (true, 1)] {
            let case = IoCase { random: true, write, block: 4096, depth, span: SPAN, lanes };
            let rounds: Vec<Round> = (0..options.device_rounds)
                .map(|_| Round::run(drive, path, &case, ring, options.seconds))
                .collect::<anyhow::Result<_>>()?;
            let of_rounds =
                |value_of: &dyn Fn(&Round) -> f64| rounds.iter().map(value_of).collect::<Vec<f64>>();
            let name = |what: &str| format!("{} on {target}: {what}", case.name());
            let ring = better(&rounds, [|round| round.rings[0].iops, |round| round.rings[1].iops]);
            let fio = better(&rounds, [|round| round.fios[0].iops, |round| round.fios[1].iops]);
            let iops = format!("{} IOPS", digits(middle(&of_rounds(&|round| round.likenew.iops))));
            let to_ring = of_rounds(&|round| round.likenew.iops / round.rings[ring].iops);
            let to_fio = of_rounds(&|round| round.likenew.iops / round.fios[fio].iops);
            let to_log = of_rounds(&|round| round.likenew.iops / round.fio_log.iops);
            print_row(&name("IOPS / bare ring"), &to_ring, "", Some(Goal::AtLeast(0.98)), &iops);
            print_row(&name("IOPS / fio's best"), &to_fio, "", Some(Goal::AtLeast(1.03)), FIO[fio]);
            print_row(&name("IOPS / fio, --write_lat_log"), &to_log, "", Some(Goal::AtLeast(1.2)), "");
            // The system counts user time in steps of milliseconds, so all rounds are counted together.
            let mean = |value_of: &dyn Fn(&Round) -> f64| {
                of_rounds(value_of).iter().sum::<f64>() / rounds.len() as f64
            };
            let bare = mean(&|round| round.rings[ring].cpu_ns_per_io);
            let fio = mean(&|round| round.fios[fio].cpu_ns_per_io);
            // fio does not count what it does before its first I/O.
            let fixed = fixed_user_ns(drive, &case)?;
            let ios = mean(&|round| round.likenew.iops) * options.seconds;
            let likenew = (mean(&|round| round.likenew.cpu_ns_per_io) - fixed / ios).max(0.0);
            let beside = format!(
                "{likenew:.0} ns of {fio:.0} ns; bare ring {bare:.0} ns; besides {:.2} ms a run",
                fixed / 1e6
            );
            if fio > 0.0 {
                print_row(&name("user CPU / fio's"), &[likenew / fio], "", Some(Goal::AtMost(0.35)), &beside);
            }
        }
    }
    Ok(())
}

/// Results of likenew and fio on a device with a latency of its own.
pub(super) fn measure_agreement(options: &Options) -> anyhow::Result<()> {
    on_served_file(&mut |drive, path| {
        for case in agreement_cases() {
            let turns =
                Turns::take(drive, path, &case, options.device_rounds, options.seconds, Setting::default())?;
            let control = spread(&turns.controls(|measured| measured.bytes_per_s));
            print_row(
                &format!("{} on {SERVED_FILE}: bandwidth / fio's", case.name()),
                &turns.ratios(|measured| measured.bytes_per_s),
                "",
                Some(Goal::Within(0.97, 1.03)),
                &format!("fio / fio {control}"),
            );
        }
        Ok(())
    })
}

/// Fixed user time of a run, in nanoseconds: that of one that ends with its first I/Os.
fn fixed_user_ns(drive: &mut dyn Drive, case: &IoCase) -> anyhow::Result<f64> {
    let ios = u64::from(case.depth * case.lanes);
    let runs = (0..FIXED_RUNS)
        .map(|_| Ok(case_run::run_once(drive, case, Until::ops(ios))?.cpu_ns_per_io * ios as f64));
    Ok(runs.sum::<anyhow::Result<f64>>()? / f64::from(FIXED_RUNS))
}

/// Runs whose fixed cost is counted together. Chosen: one is far below the steps of the system's count.
const FIXED_RUNS: u32 = 200;

/// A number of one round.
type OfRound = fn(&Round) -> f64;

/// One run of each, one after the other.
struct Round {
    likenew: FioResult,
    /// Bare rings with one call into the kernel a batch, and with two.
    rings: [RingResult; 2],
    /// Plain, and with registered buffers and files.
    fios: [FioResult; 2],
    fio_log: FioResult,
}

impl Round {
    fn run(
        drive: &mut dyn Drive,
        path: &Path,
        case: &IoCase,
        ring: &BareRing,
        seconds: f64,
    ) -> anyhow::Result<Self> {
        let fio = |registered, logged| fio::run(path, case, seconds, Setting { registered, logged });
        let plain = fio(false, false)?;
        let one_call = ring.run(path, case, seconds, "one")?;
        let until = Until::elapsed(Nanos::from_secs_f64(seconds));
        let likenew = case_run::run_once(drive, case, until)?;
        let two_calls = ring.run(path, case, seconds, "two")?;
        let registered = fio(true, false)?;
        Ok(Self {
            likenew,
            rings: [one_call, two_calls],
            fios: [plain, registered],
            fio_log: fio(false, true)?,
        })
    }
}

/// The better of two settings over all rounds: the better run of each round would be the luckier one.
fn better(rounds: &[Round], iops: [OfRound; 2]) -> usize {
    let [first, second] = iops.map(|iops| middle(&rounds.iter().map(iops).collect::<Vec<f64>>()));
    usize::from(second > first)
}

/// The result of a bare ring.
#[derive(Clone, Copy, Debug)]
struct RingResult {
    iops: f64,
    cpu_ns_per_io: f64,
}

/// The example `bare_ring` of likenew-real, a program of its own as fio is.
struct BareRing {
    program: PathBuf,
}

impl BareRing {
    fn build() -> anyhow::Result<Self> {
        let sh = Shell::new()?;
        sh.change_dir(root());
        cmd!(sh, "cargo build --release --quiet --package likenew-real --example bare_ring").quiet().run()?;
        Ok(Self { program: target_folder().join("release/examples/bare_ring") })
    }

    fn run(&self, path: &Path, case: &IoCase, seconds: f64, calls: &str) -> anyhow::Result<RingResult> {
        let sh = Shell::new()?;
        let op = if case.write { "write" } else { "read" };
        let (program, depth, lanes) = (&self.program, case.depth.to_string(), case.lanes.to_string());
        let seconds = seconds.to_string();
        let text = cmd!(sh, "{program} {path} {op} {depth} {lanes} {seconds} {calls}").quiet().read()?;
        let (iops, cpu) = text.split_once(' ').with_context(|| format!("the bare ring said {text:?}"))?;
        Ok(RingResult { iops: iops.parse()?, cpu_ns_per_io: cpu.parse()? })
    }
}
