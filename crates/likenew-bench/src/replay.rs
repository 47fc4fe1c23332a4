//! Measures replay: how exactly recorded times are kept, and its speed without them, beside fio.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use clap::Args;
use likenew_core::drive::Drive;
use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::trace::{Fit, ReplayClock, ReplaySpec, ReplayTiming, TraceIo, TraceSource, TraceTotals};
use likenew_core::units::Nanos;
use likenew_core::workload::{Until, Workload};
use likenew_real::consent::{Agreement, Consent, Loss};
use likenew_real::nop::Nop;
use likenew_real::open::{Options as OpenOptions, open};
use likenew_real::scratch::Scratch;
use likenew_run::run::run_with;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use xshell::{Shell, cmd};

use crate::target::{LoopDevice, Tmpfs};

/// How much and how often.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Pairs of runs; at least 5 for numbers that are quoted
    #[arg(long, default_value_t = 5)]
    pairs: usize,
    /// I/Os per second that are replayed at their times
    #[arg(long, default_value_t = 50_000)]
    rate: u64,
    /// Seconds of that replay
    #[arg(long, default_value_t = 4)]
    seconds: u64,
}

const SPAN: u64 = 512 << 20;
const BLOCK: u64 = 4096;
/// I/Os of the log for replay at full speed.
const FAST_IOS: u64 = 300_000;
const DEPTH: u32 = 32;

/// A recording generated while it is read: reads, and a write for every four of them.
struct SyntheticTrace {
    remaining: u64,
    gap: Nanos,
    at: Nanos,
    random: Xoshiro256PlusPlus,
}

impl SyntheticTrace {
    fn new(ios: u64, gap: Nanos) -> Self {
        Self { remaining: ios, gap, at: Nanos::ZERO, random: Xoshiro256PlusPlus::seed_from_u64(1) }
    }
}

impl TraceSource for SyntheticTrace {
    fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
        if self.remaining == 0 {
            return Ok(None);
        }
        self.remaining -= 1;
        let at = self.at;
        self.at += self.gap;
        let op = if self.remaining.is_multiple_of(5) { Op::Write } else { Op::Read };
        let offset = self.random.random_range(0..SPAN / BLOCK) * BLOCK;
        let latency = Some(Nanos::from_micros(10));
        Ok(Some(TraceIo { at, op, offset, length: BLOCK, latency, application: 0 }))
    }

    fn applications(&self) -> &[String] {
        &[]
    }
}

/// Prints how exactly times are kept, and the speed beside fio.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let tmpfs = Tmpfs::mount(2 * SPAN)?;
    let scratch = Scratch::create(tmpfs.path())?;
    let (file, path) = scratch.create_file(0)?;
    file.set_len(SPAN)?;
    std::fs::write(&path, vec![0u8; SPAN as usize])?;
    let attached = LoopDevice::attach(&path, false)?;
    let loss = Loss::at(&attached.device)?;
    let agreement = Agreement { id: loss.id.text.clone(), destroy: loss.carries.clone() };
    let consent = Consent::to_lose(&loss, &agreement)?;
    let mut device =
        open(&attached.device, OpenOptions { consent: Some(consent), ..OpenOptions::default() })?;

    let Options { rate, seconds, pairs } = *options;
    println!("Recorded times: how late I/Os left at {rate} a second, {seconds} s each   [p99 ≤ 100 µs]");
    for pair in 1..=pairs {
        let mut nop = Nop::new();
        timing(&format!("nop, run {pair}"), &mut nop, options)?;
        timing(&format!("a loop device over tmpfs, run {pair}"), &mut *device, options)?;
    }
    println!("As fast as it goes, {FAST_IOS} I/Os of 4 KiB at depth {DEPTH} on a loop device: likenew / fio");
    let log = scratch_log(tmpfs.path())?;
    let mut ratios = Vec::new();
    for pair in 0..pairs {
        let (ours, theirs) = if pair % 2 == 0 {
            let ours = fast(&mut *device)?;
            (ours, fio(&attached.device, &log)?)
        } else {
            let theirs = fio(&attached.device, &log)?;
            (fast(&mut *device)?, theirs)
        };
        ratios.push(ours / theirs);
        println!("  {:9.0} against {:9.0} I/O/s: {:.3}", ours, theirs, ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    println!("  median {:.3}", ratios[ratios.len() / 2]);
    Ok(())
}

fn timing(name: &str, drive: &mut dyn Drive, options: &Options) -> anyhow::Result<()> {
    let clock = ReplayClock { speed: 1.0, idle_max: None, closed: false };
    let gap = Nanos(1_000_000_000 / options.rate.max(1));
    let segment = replay(drive, ReplayTiming::Timed(clock), options.rate * options.seconds, gap)?;
    let replay_record = segment.replay_record.context("a replay has a record")?;
    let lateness = &replay_record.lateness;
    println!(
        "  {name:32}  p50 {:>9}  p99 {:>9}  p99.9 {:>9}  max {:>9}",
        lateness.quantile(0.5).to_string(),
        lateness.quantile(0.99).to_string(),
        lateness.quantile(0.999).to_string(),
        lateness.max().to_string()
    );
    Ok(())
}

fn fast(drive: &mut dyn Drive) -> anyhow::Result<f64> {
    replay(drive, ReplayTiming::Fast, FAST_IOS, Nanos::from_micros(10))?
        .iops()
        .context("nothing was measured")
}

fn replay(drive: &mut dyn Drive, timing: ReplayTiming, ios: u64, gap: Nanos) -> anyhow::Result<Segment> {
    let replay_spec = ReplaySpec {
        trace: "made up".into(),
        format: None,
        volume: None,
        digest: String::new(),
        timing,
        depth: if timing == ReplayTiming::Fast { DEPTH } else { 256 },
        length_max: 64 << 10,
        region: Region::bytes(0..SPAN),
        fit: Fit::Modulo,
        extent: SPAN,
        reads_only: false,
        data: DataClass::Zero,
        applications: Vec::new(),
        expected: TraceTotals::default(),
    };
    let workload = Workload {
        replay_spec: Some(Box::new(replay_spec)),
        ..Workload::new("replay", Until::default(), Vec::new())
    };
    let mut made = |_: &ReplaySpec| Ok(Box::new(SyntheticTrace::new(ios, gap)) as Box<dyn TraceSource>);
    let ran = run_with(drive, &workload, &mut made, &mut || Box::new(()))?;
    if let Some(target_error) = ran.target_error {
        return Err(target_error.into());
    }
    ensure!(ran.segment.errors() == 0 && ran.segment.total().ios == ios, "{:?}", ran.segment.stop);
    Ok(ran.segment)
}

/// Writes the I/Os of [`SyntheticTrace`] as a log of fio.
fn scratch_log(folder: &Path) -> anyhow::Result<std::path::PathBuf> {
    let mut made = SyntheticTrace::new(FAST_IOS, Nanos::ZERO);
    let mut text = String::from("fio version 2 iolog\ndrive add\ndrive open\n");
    while let Some(io) = made.next_io().map_err(anyhow::Error::msg)? {
        writeln!(text, "drive {} {} {}", io.op, io.offset, io.length)?;
    }
    text.push_str("drive close\n");
    let path = folder.join("replay.log");
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Replays the log by fio; returns I/Os per second.
fn fio(device: &Path, log: &Path) -> anyhow::Result<f64> {
    let sh = Shell::new()?;
    let flags = [
        "--name=replay".to_owned(),
        "--ioengine=io_uring".into(),
        "--direct=1".into(),
        "--thread".into(),
        "--zero_buffers".into(),
        "--replay_no_stall=1".into(),
        "--output-format=json".into(),
        format!("--iodepth={DEPTH}"),
        format!("--read_iolog={}", log.display()),
        format!("--replay_redirect={}", device.display()),
    ];
    let text = cmd!(sh, "fio {flags...}").quiet().ignore_stderr().read().context("could not run fio")?;
    let start = text.find('{').context("no JSON of fio")?;
    let document: serde_json::Value = serde_json::from_str(&text[start..])?;
    let job = &document["jobs"][0];
    let number = |value: &serde_json::Value| value.as_f64().context("fio's JSON is not understood");
    let ios = number(&job["read"]["total_ios"])? + number(&job["write"]["total_ios"])?;
    ensure!(ios == FAST_IOS as f64, "fio did {ios} of {FAST_IOS} I/Os");
    // The longer of both sides: fio counts each from the start of the job.
    let ms = number(&job["read"]["runtime"])?.max(number(&job["write"]["runtime"])?);
    Ok(ios / ms * 1e3)
}
