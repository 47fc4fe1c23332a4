//! Measures the cost of verifying: stamped beside plain workloads in pairs on a loop device, `verify` beside
//! f3 in pairs on the same file system, and the stamps alone.

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

use crate::table::{middle, spread};
use crate::target::{Loop, Tmpfs};

/// Number of runs.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Pairs of runs for each case; at least 5 for numbers that are quoted
    #[arg(long, default_value_t = 5)]
    pairs: usize,
}

const SPAN: u64 = 1 << 30;
const BLOCK: u32 = 1 << 20;
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
        "Stamps on one core [≥ 10 GiB/s]: made {:.1} GiB/s, checked {:.1} GiB/s",
        rate(filled),
        rate(checked)
    );
}

fn workload(op: Op, data: DataClass) -> Workload {
    let stream =
        Stream::closed(Mix::Only(op), BLOCK, AccessPattern::Sequential(Region::bytes(0..SPAN)), 4, data);
    Workload::new(op.name(), Until::bytes(SPAN), vec![stream])
}

/// Bytes a second of one pass.
fn pass(drive: &mut dyn Drive, op: Op, data: DataClass) -> anyhow::Result<f64> {
    let ran = run_workload(drive, &workload(op, data), &mut || Box::new(()))?;
    let segment = ran.segment;
    ensure!(ran.target_error.is_none() && segment.stop == Stop::Reached, "{op}: {:?}", segment.stop);
    ensure!(segment.damage.as_ref().is_none_or(|damage| damage.bytes() == 0), "the loop device is sound");
    segment.bytes_per_s().context("nothing was measured")
}

fn run_on_loop_device(options: &Options) -> anyhow::Result<()> {
    let tmpfs = Tmpfs::mount(SPAN + (64 << 20))?;
    let scratch = Scratch::create(tmpfs.path())?;
    let (file, path) = scratch.create_file(0)?;
    file.set_len(SPAN)?;
    let attached = Loop::attach(&path, false)?;
    let loss = Loss::at(&attached.device)?;
    let agreement = Agreement { id: loss.id.text.clone(), destroy: loss.carries.clone() };
    let consent = Consent::to_lose(&loss, &agreement)?;
    let mut drive = open(&attached.device, OpenOptions { consent: Some(consent), ..OpenOptions::default() })?;
    pass(&mut *drive, Op::Write, DataClass::Zero)?;
    println!(
        "On a loop device, stamped / zeros that are not checked, median [lowest … highest] of {} pairs [≥ 0.95]",
        options.pairs
    );
    for op in [Op::Write, Op::Read] {
        let (mut ratios, mut speeds) = (Vec::new(), Vec::new());
        for pair in 0..options.pairs {
            // Reads are compared with an earlier write pass, which is not timed.
            pass(&mut *drive, Op::Write, DataClass::Stamped(STAMP))?;
            let classes = [DataClass::Stamped(STAMP), DataClass::Zero];
            let [stamped, plain] = if pair % 2 == 0 {
                [pass(&mut *drive, op, classes[0])?, pass(&mut *drive, op, classes[1])?]
            } else {
                let plain = pass(&mut *drive, op, classes[1])?;
                [pass(&mut *drive, op, classes[0])?, plain]
            };
            ratios.push(stamped / plain);
            speeds.push(plain);
        }
        println!("  {:5}  {}   of {:.0} MB/s", op.name(), spread(&ratios), middle(&speeds) / 1e6);
    }
    Ok(())
}

/// An ext4 over a loop device over memory; unmounted when dropped.
struct Ext4 {
    point: PathBuf,
    _attached: Loop,
    _tmpfs: Tmpfs,
}

impl Ext4 {
    fn mount() -> anyhow::Result<Self> {
        let sh = Shell::new()?;
        let tmpfs = Tmpfs::mount(SPAN + (256 << 20))?;
        let (image, point) = (tmpfs.path().join("image"), tmpfs.path().join("mnt"));
        std::fs::File::create(&image)?.set_len(SPAN + (128 << 20))?;
        std::fs::create_dir(&point)?;
        cmd!(sh, "mkfs.ext4 -q -F {image}").quiet().run()?;
        let attached = Loop::attach(&image, false)?;
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
    verify(&ext4.point)?;
    let (mut ratios, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..options.pairs {
        let (mine, other) = if pair % 2 == 0 {
            let mine = verify(&ext4.point)?;
            (mine, f3(&ext4.point)?)
        } else {
            let other = f3(&ext4.point)?;
            (verify(&ext4.point)?, other)
        };
        ratios.push(other / mine);
        ours.push(mine);
        theirs.push(other);
    }
    println!(
        "On ext4 over memory, {} MiB written and read: f3write and f3read / likenew verify, in time, {} pairs [≥ 3]",
        SPAN >> 20,
        options.pairs
    );
    println!("  {}   likenew {:.2} s, f3 {:.2} s", spread(&ratios), middle(&ours), middle(&theirs));
    Ok(())
}

/// Seconds of a verification, from opening the folder to removing the last file.
fn verify(folder: &Path) -> anyhow::Result<f64> {
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
fn f3(folder: &Path) -> anyhow::Result<f64> {
    let sh = Shell::new()?;
    let begun = Instant::now();
    cmd!(sh, "f3write --end-at=1 {folder}").quiet().ignore_stdout().run().context("f3 is needed")?;
    let read = cmd!(sh, "f3read --end-at=1 {folder}").quiet().read()?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(read.contains("Data LOST: 0.00 Byte"), "{read}");
    std::fs::remove_file(folder.join("1.h2w"))?;
    Ok(seconds)
}
