//! Compares likenew's run loop with fio: agreement and cost on the same file and devices in turns, as ratios.

use std::path::Path;
use std::process::Command;

use clap::Args;
use likenew_core::drive::Drive;
use likenew_core::units::Nanos;
use likenew_core::workload::Until;
use likenew_real::consent::{Agreement, Consent, Loss};
use likenew_real::nop::Nop;
use likenew_real::open::{Options as OpenOptions, open};
use likenew_run::run::calibrate;

use crate::case_run::{self, peak_memory_of};
use crate::fio::{self, FioResult, Setting};
use crate::table::{middle, spread};
use crate::target::{CpuLoad, IoCase, LoopDevice, ServedFile, Tmpfs};

/// How long and how often.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Runs of likenew for each case, each between two of fio; at least 5 for numbers that are quoted
    #[arg(long, default_value_t = 5)]
    pairs: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Only cases whose line contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Only devices whose name contains this: "loop", "served", "tmpfs"
    #[arg(long, default_value = "")]
    on: String,
    /// Processes that keep a core busy during the runs
    #[arg(long, default_value_t = 0)]
    busy: u32,
}

pub(crate) const SPAN: u64 = 512 << 20;
const MIB: u32 = 1 << 20;
/// Bytes of a tmpfs beyond the file.
const RESERVE: u64 = 64 << 20;
/// Names of the devices.
pub(crate) const LOOP: &str = "a loop device over tmpfs";
pub(crate) const SERVED_FILE: &str = "a loop device over a file that nbdkit serves";
pub(crate) const TMPFS: &str = "a file on tmpfs";

/// Prints agreement and cost on each device, then the limits of likenew alone.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let busy = CpuLoad::start(options.busy)?;
    if LOOP.contains(&options.on) {
        on_loop(&mut |drive, path| compare(LOOP, drive, path, options))?;
    }
    if SERVED_FILE.contains(&options.on) {
        on_served_file(&mut |drive, path| compare(SERVED_FILE, drive, path, options))?;
    }
    if TMPFS.contains(&options.on) {
        on_tmpfs_file(&mut |drive, path| compare(TMPFS, drive, path, options))?;
    }
    drop(busy);
    run_alone()
}

/// What is measured on an open drive; fio takes the path.
type Measurement<'a> = &'a mut dyn FnMut(&mut dyn Drive, &Path) -> anyhow::Result<()>;

/// Measures on a loop device over a file on tmpfs.
///
/// # Errors
/// Not root, the system refuses, or the measurement failed.
pub(crate) fn on_loop(measure: Measurement<'_>) -> anyhow::Result<()> {
    let tmpfs = Tmpfs::mount(SPAN + RESERVE)?;
    let path = tmpfs.path().join("image");
    fill(&path)?;
    on_loop_over(&path, false, measure)
}

/// Measures on a loop device over a file that another process serves.
///
/// # Errors
/// nbdkit or nbdfuse are not installed, the system refuses, or the measurement failed.
pub(crate) fn on_served_file(measure: Measurement<'_>) -> anyhow::Result<()> {
    let served = ServedFile::in_memory(SPAN)?;
    fill(served.path())?;
    on_loop_over(served.path(), true, measure)
}

/// Measures on a file on tmpfs.
///
/// # Errors
/// Not root, the system refuses, or the measurement failed.
pub(crate) fn on_tmpfs_file(measure: Measurement<'_>) -> anyhow::Result<()> {
    let tmpfs = Tmpfs::mount(SPAN + RESERVE)?;
    let layout = likenew_core::procedure::Layout { files: 1, file_bytes: SPAN };
    let reserve = Some(0);
    let mut drive =
        open(tmpfs.path(), OpenOptions { layout: Some(layout), reserve, ..OpenOptions::default() })?;
    let fill = IoCase { random: false, write: true, block: MIB, depth: 8, span: SPAN, lanes: 1 };
    case_run::run_once(&mut *drive, &fill, Until::bytes(SPAN))?;
    measure(&mut *drive, &tmpfs.path().join("likenew-scratch/00000.likenew"))
}

fn on_loop_over(file: &Path, is_direct: bool, measure: Measurement<'_>) -> anyhow::Result<()> {
    let attached = LoopDevice::attach(file, is_direct)?;
    let loss = Loss::at(&attached.device)?;
    let consent = Consent::to_lose(&loss, &Agreement { id: loss.id.text.clone(), destroy: Vec::new() })?;
    let mut drive = open(&attached.device, OpenOptions { consent: Some(consent), ..OpenOptions::default() })?;
    measure(&mut *drive, &attached.device)
}

/// Allocates memory before anything is timed.
fn fill(path: &Path) -> anyhow::Result<()> {
    Ok(std::fs::write(path, vec![0u8; SPAN as usize])?)
}

fn compare(target: &str, drive: &mut dyn Drive, path: &Path, options: &Options) -> anyhow::Result<()> {
    println!(
        "On {target}, {} busy processes beside it: likenew / fio, median [lowest … highest] of {} runs of {} s, each between two of fio",
        options.busy, options.pairs, options.seconds
    );
    println!("Agreement (goal 0.97 … 1.03), beside the bandwidth of fio against itself");
    for case in agreement_cases().filter(|case| case.to_string().contains(&options.only)) {
        let turns = Turns::take(drive, path, &case, options.pairs, options.seconds, Setting::default())?;
        println!(
            "  {case}  bandwidth {}   mean latency {}   fio / fio {}",
            spread(&turns.ratios(|measured| measured.bytes_per_s)),
            spread(&turns.ratios(|measured| measured.latency_ns_mean)),
            spread(&turns.controls(|measured| measured.bytes_per_s))
        );
    }
    println!("Cost, every sample recorded");
    for case in cost_cases().filter(|case| case.to_string().contains(&options.only)) {
        for (name, goal, setting) in SETTINGS {
            let turns = Turns::take(drive, path, &case, options.pairs, options.seconds, setting)?;
            println!(
                "  {case}  against fio {name:16} IOPS {} {goal}   user CPU {} [≤ 0.6]   {:.2} µs against {:.2} µs",
                spread(&turns.ratios(|measured| measured.iops)),
                spread(&turns.ratios(|measured| measured.cpu_ns_per_io)),
                middle_cost(&turns.likenew) / 1e3,
                middle_cost(&turns.fio) / 1e3,
            );
        }
    }
    println!();
    Ok(())
}

const SETTINGS: [(&str, &str, Setting); 3] = [
    ("plain", "[≥ 1.00]", Setting { registered: false, logged: false }),
    ("registered", "[≥ 1.00]", Setting { registered: true, logged: false }),
    ("--write_lat_log", "[≥ 1.15]", Setting { registered: false, logged: true }),
];

pub(crate) fn agreement_cases() -> impl Iterator<Item = IoCase> {
    let shapes = [(false, MIB, 8), (true, 4096, 1), (true, 4096, 32)];
    shapes.into_iter().flat_map(|(random, block, depth)| {
        [false, true].map(|write| IoCase { random, write, block, depth, span: SPAN, lanes: 1 })
    })
}

fn cost_cases() -> impl Iterator<Item = IoCase> {
    [32, 1].into_iter().map(|depth| IoCase {
        random: true,
        write: false,
        block: 4096,
        depth,
        span: SPAN,
        lanes: 1,
    })
}

/// Runs of likenew, each between two of fio, so that a computer that becomes slower or faster affects both.
pub(crate) struct Turns {
    likenew: Vec<FioResult>,
    /// One more than runs of likenew.
    fio: Vec<FioResult>,
}

impl Turns {
    /// # Errors
    /// A run failed.
    pub(crate) fn take(
        drive: &mut dyn Drive,
        path: &Path,
        case: &IoCase,
        pairs: usize,
        seconds: f64,
        setting: Setting,
    ) -> anyhow::Result<Self> {
        let until = Until::elapsed(Nanos::from_secs_f64(seconds));
        let mut turns = Self { likenew: Vec::new(), fio: Vec::new() };
        turns.fio.push(fio::run(path, case, seconds, setting)?);
        for _ in 0..pairs {
            turns.likenew.push(case_run::run_once(drive, case, until)?);
            turns.fio.push(fio::run(path, case, seconds, setting)?);
        }
        Ok(turns)
    }

    /// Each run of likenew over the geometric mean of the fio runs before and after it.
    pub(crate) fn ratios(&self, value_of: impl Fn(&FioResult) -> f64) -> Vec<f64> {
        let likenew = self.likenew.iter().zip(self.fio.windows(2));
        likenew
            .map(|(likenew, fio)| value_of(likenew) / (value_of(&fio[0]) * value_of(&fio[1])).sqrt())
            .collect()
    }

    /// fio compared with itself: how much the computer alone varies a ratio.
    pub(crate) fn controls(&self, value_of: impl Fn(&FioResult) -> f64) -> Vec<f64> {
        self.fio.windows(2).map(|fio| value_of(&fio[1]) / value_of(&fio[0])).collect()
    }
}

/// Median CPU time of one I/O, in nanoseconds.
fn middle_cost(runs: &[FioResult]) -> f64 {
    middle(&runs.iter().map(|run| run.cpu_ns_per_io).collect::<Vec<_>>())
}

// The instrument alone: a drive that does nothing, the data generator, and memory over a long run.

const ROUNDS: usize = 5;
const SHORT_IOS: u64 = 1_000_000;
const LONG_IOS: u64 = 100_000_000;
/// Random 4 KiB reads at QD32.
const NOP_CASE: IoCase =
    IoCase { random: true, write: false, block: 4096, depth: 32, span: 1 << 30, lanes: 1 };

/// Prints the limits of the instrument.
fn run_alone() -> anyhow::Result<()> {
    let case = NOP_CASE;
    let mut nop = Nop::new();
    println!("The instrument alone (medians of {ROUNDS}; goals in brackets)");
    let iops =
        middle_of(ROUNDS, |_| Ok(case_run::run_once(&mut nop, &case, Until::ops(SHORT_IOS * 5))?.iops))?;
    println!("  nop, every sample recorded        {:8.2} million I/O/s a core   [≥ 3]", iops / 1e6);
    let single = IoCase { depth: 1, ..case };
    let iops = middle_of(ROUNDS, |_| Ok(case_run::run_once(&mut nop, &single, Until::ops(SHORT_IOS))?.iops))?;
    println!("  the same at depth 1               {:8.2} million I/O/s a core", iops / 1e6);
    let random = middle_of(ROUNDS, |_| Ok(calibrate(&mut Nop::new())?.random_data_bytes_per_s))?;
    let ratio = middle_of(ROUNDS, |_| Ok(calibrate(&mut Nop::new())?.ratio_data_bytes_per_s))?;
    let gib = f64::from(1 << 30);
    println!("  incompressible data               {:8.1} GiB/s a core           [≥ 15]", random / gib);
    println!("  data that compresses to a half    {:8.1} GiB/s a core           [≥ 10]", ratio / gib);
    for ios in [SHORT_IOS, LONG_IOS] {
        let mib = nop_peak_memory(ios)? / 1048576.0;
        println!("  peak resident memory of a run of {ios:>9} I/Os  {mib:6.1} MiB");
    }
    Ok(())
}

/// Runs `ios` I/Os on a drive that does nothing, every sample recorded.
///
/// # Errors
/// The setup failed.
pub(crate) fn run_nop(ios: u64) -> anyhow::Result<()> {
    case_run::run_once(&mut Nop::new(), &NOP_CASE, Until::ops(ios)).map(drop)
}

/// Peak memory of a process that only does [`run_nop`], in bytes.
///
/// # Errors
/// It cannot be started, or fails.
pub(crate) fn nop_peak_memory(ios: u64) -> anyhow::Result<f64> {
    let program = std::env::current_exe()?;
    peak_memory_of(Command::new(program).args(["nop-run", &ios.to_string()]))
}

fn middle_of(rounds: usize, measure: impl FnMut(usize) -> anyhow::Result<f64>) -> anyhow::Result<f64> {
    Ok(middle(&(0..rounds).map(measure).collect::<anyhow::Result<Vec<f64>>>()?))
}
