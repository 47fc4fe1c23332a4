//! Likenew's engine compared with fio: runs in turns on the same file and the same devices, printed as
//! ratios.

use std::path::Path;

use clap::Args;
use likenew_core::drive::Drive;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_real::consent::{Agreement, Consent, Loss};
use likenew_real::open::{Options as OpenOptions, open};

use crate::fio::{self, FioResult, Setting};
use crate::spread::{middle, spread};
use crate::target::{Case, CpuLoad, Loop, ServedFile, Tmpfs};
use crate::{case_run, nop};

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

const SPAN: u64 = 512 << 20;
const MIB: u32 = 1 << 20;
/// The devices.
const LOOP: &str = "a loop device over tmpfs";
const SERVED_FILE: &str = "a loop device over a file that nbdkit serves";
const TMPFS: &str = "a file on tmpfs";

/// Prints agreement and cost on each device, then the limits of likenew alone.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let busy = CpuLoad::start(options.busy)?;
    let tmpfs = Tmpfs::mount(3 * SPAN)?;
    if LOOP.contains(&options.on) {
        let path = tmpfs.path().join("image");
        fill(&path)?;
        run_on_loop(LOOP, &path, false, options)?;
        std::fs::remove_file(path)?;
    }
    if SERVED_FILE.contains(&options.on) {
        let served = ServedFile::begin(SPAN)?;
        fill(served.path())?;
        run_on_loop(SERVED_FILE, served.path(), true, options)?;
    }
    if TMPFS.contains(&options.on) {
        let layout = likenew_core::procedure::Layout { files: 1, file_bytes: SPAN };
        let reserve = Some(0);
        let mut drive =
            open(tmpfs.path(), OpenOptions { layout: Some(layout), reserve, ..OpenOptions::default() })?;
        let all = Case { random: false, write: true, block: MIB, depth: 8, span: SPAN };
        case_run::run_once(&mut *drive, &all, Until::bytes(SPAN))?;
        let file = tmpfs.path().join("likenew-scratch/00000.likenew");
        compare(TMPFS, &mut *drive, &file, options)?;
    }
    drop(busy);
    nop::run()
}

/// Compares both on a loop device over a temporary file.
fn run_on_loop(target: &str, file: &Path, is_direct: bool, options: &Options) -> anyhow::Result<()> {
    let attached = Loop::attach(file, is_direct)?;
    let loss = Loss::at(&attached.device)?;
    let consent = Consent::to_lose(&loss, &Agreement { id: loss.id.text.clone(), destroy: Vec::new() })?;
    let mut drive = open(&attached.device, OpenOptions { consent: Some(consent), ..OpenOptions::default() })?;
    compare(target, &mut *drive, &attached.device, options)
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
        let turns = Turns::take(drive, path, &case, options, Setting::default())?;
        println!(
            "  {case}  bandwidth {}   mean latency {}   fio / fio {}",
            turns.ratio(|measured| measured.bytes_per_s),
            turns.ratio(|measured| measured.latency_ns_mean),
            turns.control(|measured| measured.bytes_per_s)
        );
    }
    println!("Cost, every sample recorded");
    for case in cost_cases().filter(|case| case.to_string().contains(&options.only)) {
        for (name, goal, setting) in SETTINGS {
            let turns = Turns::take(drive, path, &case, options, setting)?;
            println!(
                "  {case}  against fio {name:16} IOPS {} {goal}   user CPU {} [≤ 0.6]   {:.2} µs against {:.2} µs",
                turns.ratio(|measured| measured.iops),
                turns.ratio(|measured| measured.cpu_ns_per_io),
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

fn agreement_cases() -> impl Iterator<Item = Case> {
    let shapes = [(false, MIB, 8), (true, 4096, 1), (true, 4096, 32)];
    shapes.into_iter().flat_map(|(random, block, depth)| {
        [false, true].map(|write| Case { random, write, block, depth, span: SPAN })
    })
}

fn cost_cases() -> impl Iterator<Item = Case> {
    [32, 1].into_iter().map(|depth| Case { random: true, write: false, block: 4096, depth, span: SPAN })
}

/// Runs of likenew, each between two of fio, so that a computer that becomes slower or faster affects both.
struct Turns {
    likenew: Vec<FioResult>,
    /// One more than runs of likenew.
    fio: Vec<FioResult>,
}

impl Turns {
    fn take(
        drive: &mut dyn Drive,
        path: &Path,
        case: &Case,
        options: &Options,
        setting: Setting,
    ) -> anyhow::Result<Self> {
        let until = Until::elapsed(Nanos::from_secs_f64(options.seconds));
        let mut turns = Self { likenew: Vec::new(), fio: Vec::new() };
        turns.fio.push(fio::run(path, case, options.seconds, setting)?);
        for _ in 0..options.pairs {
            turns.likenew.push(case_run::run_once(drive, case, until)?);
            turns.fio.push(fio::run(path, case, options.seconds, setting)?);
        }
        Ok(turns)
    }

    /// Each run of likenew over the geometric mean of fio's before and after it.
    fn ratio(&self, of: impl Fn(&FioResult) -> f64) -> String {
        let likenew = self.likenew.iter().zip(self.fio.windows(2));
        let ratios = likenew.map(|(likenew, fio)| of(likenew) / (of(&fio[0]) * of(&fio[1])).sqrt());
        spread(&ratios.collect::<Vec<_>>())
    }

    /// fio compared with itself: how much the computer alone varies a ratio.
    fn control(&self, of: impl Fn(&FioResult) -> f64) -> String {
        let ratios = self.fio.windows(2).map(|fio| of(&fio[1]) / of(&fio[0]));
        spread(&ratios.collect::<Vec<_>>())
    }
}

/// What one I/O costs of the processor, in nanoseconds.
fn middle_cost(runs: &[FioResult]) -> f64 {
    middle(&runs.iter().map(|run| run.cpu_ns_per_io).collect::<Vec<_>>())
}
