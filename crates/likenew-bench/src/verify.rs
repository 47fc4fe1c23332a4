//! Measures what verifying costs. Stamps mark every sector, so that reads can be checked. Three tests: stamps in
//! memory; stamped against plain I/O on a loop device; `likenew verify` against f3 on one file system.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Args;
use likenew_core::drive::Drive;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Evidence, Plan, Procedure as _, Step};
use likenew_core::region::Region;
use likenew_core::segment::Stop;
use likenew_core::stamp::Stamp;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_procedures::verify::{Verify, VerifyOptions};
use likenew_real::consent::{Agreement, Consent, Loss};
use likenew_real::open::{Options as OpenOptions, open};
use likenew_real::scratch::Scratch;
use likenew_run::run::run as run_workload;
use xshell::{Shell, cmd};

use crate::table::{mark, middle, spread};
use crate::target::{LoopDevice, Tmpfs};

/// Number of runs.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Pairs of runs for each case; at least 5 for numbers that are quoted
    #[arg(long, default_value_t = 5)]
    pairs: usize,
}

/// Bytes of each test: one file of f3.
const SPAN: u64 = 1 << 30;
/// Bytes of one I/O, and how many are in flight.
const BLOCK: u32 = 1 << 20;
const DEPTH: u32 = 4;
/// Bytes of a file system beside the data. Chosen: generous, for its metadata.
const SPARE: u64 = 128 << 20;
/// Goals. Chosen: stamps cost less than the transfer of the fastest drives, verifying costs a twentieth at most,
/// and f3 takes three times as long.
const STAMPS_GIB_PER_S_MIN: f64 = 10.0;
const STAMPED_OVER_PLAIN_MIN: f64 = 0.95;
const F3_OVER_LIKENEW_MIN: f64 = 3.0;
/// Any stamp will do.
const STAMP: Stamp = Stamp { key: 1, pass: 1 };

/// Prints the speed of stamps alone, on a loop device, and beside f3.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    stamps_alone();
    run_on_loop_device(options)?;
    compare_with_f3(options)
}

/// Makes and checks stamps in a buffer as long as one I/O, like the run loop.
fn stamps_alone() {
    const ROUNDS: u64 = 8192;
    let mut buffer = vec![0u8; BLOCK as usize];
    let rate = |seconds: f64| (ROUNDS * u64::from(BLOCK)) as f64 / seconds / (1u64 << 30) as f64;
    let begun = Instant::now();
    (0..ROUNDS).for_each(|round| STAMP.fill(round << 20, std::hint::black_box(&mut buffer)));
    let filled = begun.elapsed().as_secs_f64();
    STAMP.fill(0, &mut buffer);
    let begun = Instant::now();
    let intact = (0..ROUNDS).all(|_| STAMP.is_intact(0, std::hint::black_box(&buffer)));
    let checked = begun.elapsed().as_secs_f64();
    assert!(intact, "what was filled is intact");
    println!(
        "Stamps on one core [≥ {STAMPS_GIB_PER_S_MIN} GiB/s]: made {:.1} GiB/s, checked {:.1} GiB/s{}",
        rate(filled),
        rate(checked),
        mark(rate(filled).min(rate(checked)) >= STAMPS_GIB_PER_S_MIN)
    );
}

fn workload(op: Op, data: DataClass) -> Workload {
    let place = AccessPattern::Sequential(Region::bytes(0..SPAN));
    let stream = Stream::closed(Mix::Only(op), BLOCK, place, DEPTH, data);
    Workload::new(op.name(), Until::bytes(SPAN), vec![stream])
}

/// Speed of one pass, in bytes a second.
fn pass_bytes_per_s(drive: &mut dyn Drive, op: Op, data: DataClass) -> anyhow::Result<f64> {
    let ran = run_workload(drive, &workload(op, data), &mut || Box::new(()))?;
    let segment = ran.segment;
    ensure!(ran.target_error.is_none() && segment.stop == Stop::Reached, "{op}: {:?}", segment.stop);
    ensure!(segment.damage.as_ref().is_none_or(|damage| damage.bytes() == 0), "the loop device is sound");
    segment.bytes_per_s().context("nothing was measured")
}

/// Measures both of a pair. Every other time the second comes first, so that neither always meets the warmer caches.
fn in_turns<T>(
    pair: usize,
    [one, other]: [T; 2],
    mut measure: impl FnMut(T) -> anyhow::Result<f64>,
) -> anyhow::Result<[f64; 2]> {
    if pair.is_multiple_of(2) {
        return Ok([measure(one)?, measure(other)?]);
    }
    let other = measure(other)?;
    Ok([measure(one)?, other])
}

fn run_on_loop_device(options: &Options) -> anyhow::Result<()> {
    let tmpfs = Tmpfs::mount(SPAN + SPARE)?;
    let scratch = Scratch::create(tmpfs.path())?;
    let (file, path) = scratch.create_file(0)?;
    file.set_len(SPAN)?;
    let attached = LoopDevice::attach(&path, false)?;
    let loss = Loss::at(&attached.device)?;
    let agreement = Agreement { id: loss.id.text.clone(), destroy: loss.carries.clone() };
    let consent = Consent::to_lose(&loss, &agreement)?;
    let mut drive = open(&attached.device, OpenOptions { consent: Some(consent), ..OpenOptions::default() })?;
    pass_bytes_per_s(&mut *drive, Op::Write, DataClass::Zero)?;
    println!(
        "On a loop device, stamped / zeros that are not checked, median [lowest … highest] of {} pairs [≥ {STAMPED_OVER_PLAIN_MIN}]",
        options.pairs
    );
    for op in [Op::Write, Op::Read] {
        let (mut ratios, mut speeds) = (Vec::new(), Vec::new());
        for pair in 0..options.pairs {
            // Puts stamps on the device, so that stamped reads find what they check.
            pass_bytes_per_s(&mut *drive, Op::Write, DataClass::Stamped(STAMP))?;
            let classes = [DataClass::Stamped(STAMP), DataClass::Zero];
            let [stamped, plain] = in_turns(pair, classes, |data| pass_bytes_per_s(&mut *drive, op, data))?;
            ratios.push(stamped / plain);
            speeds.push(plain);
        }
        let reached = mark(middle(&ratios) >= STAMPED_OVER_PLAIN_MIN);
        println!("  {:5}  {}   of {:.0} MB/s{reached}", op.name(), spread(&ratios), middle(&speeds) / 1e6);
    }
    Ok(())
}

/// An ext4 over a loop device over memory; unmounted when dropped.
struct Ext4 {
    point: PathBuf,
    _attached: LoopDevice,
    _tmpfs: Tmpfs,
}

impl Ext4 {
    fn mount() -> anyhow::Result<Self> {
        let sh = Shell::new()?;
        let tmpfs = Tmpfs::mount(SPAN + 2 * SPARE)?;
        let (image, point) = (tmpfs.path().join("image"), tmpfs.path().join("mnt"));
        std::fs::File::create(&image)?.set_len(SPAN + SPARE)?;
        std::fs::create_dir(&point)?;
        cmd!(sh, "mkfs.ext4 -q -F {image}").quiet().run()?;
        let attached = LoopDevice::attach(&image, false)?;
        let device = &attached.device;
        cmd!(sh, "mount {device} {point}").quiet().run()?;
        Ok(Self { point, _attached: attached, _tmpfs: tmpfs })
    }
}

impl Drop for Ext4 {
    fn drop(&mut self) {
        let point = &self.point;
        let unmounted = Shell::new().and_then(|sh| cmd!(sh, "umount {point}").quiet().run());
        if let Err(error) = unmounted {
            eprintln!("could not unmount {}: {error}", point.display());
        }
    }
}

fn compare_with_f3(options: &Options) -> anyhow::Result<()> {
    let ext4 = Ext4::mount()?;
    // The first pass allocates the blocks, and is not timed.
    verify_s(&ext4.point)?;
    let (mut ratios, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..options.pairs {
        let programs = [verify_s as fn(&Path) -> _, f3_s];
        let [likenew_s, f3_s] = in_turns(pair, programs, |seconds| seconds(&ext4.point))?;
        ratios.push(f3_s / likenew_s);
        ours.push(likenew_s);
        theirs.push(f3_s);
    }
    println!(
        "On ext4 over memory, {} MiB written and read: f3write and f3read / likenew verify, in time, {} pairs [≥ {F3_OVER_LIKENEW_MIN}]",
        SPAN >> 20,
        options.pairs
    );
    let reached = mark(middle(&ratios) >= F3_OVER_LIKENEW_MIN);
    println!("  {}   likenew {:.2} s, f3 {:.2} s{reached}", spread(&ratios), middle(&ours), middle(&theirs));
    Ok(())
}

/// Seconds of a verification, from opening the folder to removing the last file.
fn verify_s(folder: &Path) -> anyhow::Result<f64> {
    let begun = Instant::now();
    let options = VerifyOptions { files: 1, file_size: SPAN, probes: 0, ..VerifyOptions::default() };
    let procedure = Verify::new(options).map_err(anyhow::Error::msg)?;
    let layout = Some(procedure.layout());
    let mut drive = open(folder, OpenOptions { layout, reserve: Some(0), ..OpenOptions::default() })?;
    let plan = Plan::new("verify", None, 1, toml::Table::new());
    let (identity, geometry) = (drive.identity(), drive.geometry());
    let mut evidence = Evidence::new(plan, identity, geometry);
    while let Step::Run(workload) = procedure.next(&evidence).map_err(anyhow::Error::msg)? {
        let ran = run_workload(&mut *drive, &workload, &mut || Box::new(()))?;
        ensure!(ran.target_error.is_none() && ran.segment.stop == Stop::Reached, "{}", workload.name);
        evidence.segments.push(ran.segment);
    }
    drop(drive);
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(!procedure.judge(&evidence).found_problem(), "the file system is sound");
    Ok(seconds)
}

/// Seconds of f3 for the same: one of its files of 1 GiB.
fn f3_s(folder: &Path) -> anyhow::Result<f64> {
    let sh = Shell::new()?;
    let begun = Instant::now();
    cmd!(sh, "f3write --end-at=1 {folder}").quiet().ignore_stdout().run().context("f3 is needed")?;
    let read = cmd!(sh, "f3read --end-at=1 {folder}").quiet().read()?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(read.contains("Data LOST: 0.00 Byte"), "{read}");
    std::fs::remove_file(folder.join("1.h2w"))?;
    Ok(seconds)
}
