//! The cost of an I/O: likenew, a bare ring and fio in turns on the same target, every sample of likenew recorded.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use likenew_core::drive::Drive;
use likenew_core::quantity::digits;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use xshell::{Shell, cmd};

use super::{Goal, Options, print_row};
use crate::engine::{LOOP, SPAN, TMPFS, on_loop, on_tmpfs_file};
use crate::fio::{self, FioResult, Setting};
use crate::record::release_folder;
use crate::spread::middle;
use crate::target::Case;
use crate::{case_run, root};

pub(super) fn measure(options: &Options) -> anyhow::Result<()> {
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
            let case = Case { random: true, write, block: 4096, depth, span: SPAN, lanes };
            let rounds: Vec<Round> = (0..options.rounds)
                .map(|_| Round::run(drive, path, &case, ring, options.seconds))
                .collect::<anyhow::Result<_>>()?;
            let ratios = |of: Ratio| rounds.iter().map(of).collect::<Vec<f64>>();
            let name = |what: &str| format!("{case} on {target}: {what}");
            let comparisons: [(&str, Ratio, f64); 3] = [
                ("IOPS / bare ring", Round::iops_to_ring, 0.98),
                ("IOPS / fio's best", Round::iops_to_fio, 1.03),
                ("IOPS / fio, --write_lat_log", Round::iops_to_log, 1.2),
            ];
            let iops = format!("{} IOPS", digits(middle(&ratios(|round| round.likenew.iops))));
            for (what, of, goal) in comparisons {
                print_row(&name(what), &ratios(of), "", Some(Goal::AtLeast(goal)), &iops);
            }
            // The system counts user time in steps of milliseconds, so that all rounds count together.
            let mean = |of: Ratio| ratios(of).iter().sum::<f64>() / rounds.len() as f64;
            let fio = mean(|round| round.fio_best().cpu_ns_per_io);
            // fio does not count what it does before its first I/O.
            let fixed = fixed_user_ns(drive, &case)?;
            let ios = mean(|round| round.likenew.iops) * options.seconds;
            let likenew = (mean(|round| round.likenew.cpu_ns_per_io) - fixed / ios).max(0.0);
            let beside = format!(
                "{likenew:.0} ns of {fio:.0} ns; bare ring {:.0} ns; besides {:.1} ms a run",
                mean(|round| round.ring_best().cpu_ns_per_io),
                fixed / 1e6
            );
            if fio > 0.0 {
                print_row(&name("user CPU / fio's"), &[likenew / fio], "", Some(Goal::AtMost(0.35)), &beside);
            }
        }
    }
    Ok(())
}

/// User time of a run that is over after its first I/Os, in nanoseconds.
fn fixed_user_ns(drive: &mut dyn Drive, case: &Case) -> anyhow::Result<f64> {
    let ios = u64::from(case.depth * case.lanes);
    let runs = (0..FIXED_RUNS)
        .map(|_| Ok(case_run::run_once(drive, case, Until::ops(ios))?.cpu_ns_per_io * ios as f64));
    Ok(runs.sum::<anyhow::Result<f64>>()? / f64::from(FIXED_RUNS))
}

/// Runs whose fixed cost is counted together. Chosen: it is far below the steps of the system's count.
const FIXED_RUNS: u32 = 200;

/// A number of one round, mostly of likenew over that of another program.
type Ratio = fn(&Round) -> f64;

/// One run of each, one after the other.
struct Round {
    likenew: FioResult,
    /// With one call into the kernel a batch, and with two.
    rings: [RingResult; 2],
    /// Plain, and with registered buffers and files.
    fios: [FioResult; 2],
    fio_log: FioResult,
}

impl Round {
    fn run(
        drive: &mut dyn Drive,
        path: &Path,
        case: &Case,
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

    fn ring_best(&self) -> RingResult {
        let [one, two] = self.rings;
        if one.iops > two.iops { one } else { two }
    }

    fn fio_best(&self) -> FioResult {
        let [plain, registered] = self.fios;
        if plain.iops > registered.iops { plain } else { registered }
    }

    fn iops_to_ring(&self) -> f64 {
        self.likenew.iops / self.ring_best().iops
    }

    fn iops_to_fio(&self) -> f64 {
        self.likenew.iops / self.fio_best().iops
    }

    fn iops_to_log(&self) -> f64 {
        self.likenew.iops / self.fio_log.iops
    }
}

/// What a bare ring came to.
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
        Ok(Self { program: release_folder().join("examples/bare_ring") })
    }

    fn run(&self, path: &Path, case: &Case, seconds: f64, calls: &str) -> anyhow::Result<RingResult> {
        let sh = Shell::new()?;
        let op = if case.write { "write" } else { "read" };
        let (program, depth, lanes) = (&self.program, case.depth.to_string(), case.lanes.to_string());
        let seconds = seconds.to_string();
        let text = cmd!(sh, "{program} {path} {op} {depth} {lanes} {seconds} {calls}").quiet().read()?;
        let (iops, cpu) = text.split_once(' ').with_context(|| format!("the bare ring said {text:?}"))?;
        Ok(RingResult { iops: iops.parse()?, cpu_ns_per_io: cpu.parse()? })
    }
}
