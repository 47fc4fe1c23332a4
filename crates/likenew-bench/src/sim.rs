//! Measures the simulator: speed of aging whole drives, memory, and agreement with theory.

pub(crate) mod bare_layer;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Args;
use likenew_core::drive::Drive as _;
use likenew_core::units::{Nanos, rate};
use likenew_core::workload::{Until, Workload};
use likenew_sim::flash::policies::{Collection, Streams};
use likenew_sim::theory::log::{Cell, Family};
use likenew_sim::theory::{Setting, SteadyWriteAmplification, Traffic};
use likenew_sim::{SimDrive, Spec, catalog};

use crate::case_run;
use crate::target::IoCase;

pub(crate) const PAGE: u64 = 4096;
/// Bytes of the drive whose stack is measured.
pub(crate) const X25_M_BYTES: u64 = 80_026_361_856;

/// What to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The page map alone, of drives up to so many bytes, and nothing else
    #[arg(long, value_name = "BYTES")]
    map: Option<f64>,
    /// The whole stack alone, in five parts of so many writes, one after the other
    #[arg(long, value_name = "WRITES", conflicts_with = "map")]
    stack: Option<u64>,
}

/// Prints everything, or the part that was asked for.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(bytes_max) = options.map {
        return bare_layer::run(bytes_max);
    }
    if let Some(writes) = options.stack {
        return stack(writes);
    }
    println!(
        "Simulated X25-M 80 GB, 4 KiB random writes through the whole stack in the steady state (median of seven eighths of a fill; goals in brackets)"
    );
    speed("as it is, about 7% spare", None, 1.5)?;
    speed("with 12% spare", Some(0.88), 2.5)?;
    fill()?;
    bare_layer::run(f64::MAX)?;
    write_amplification();
    Ok(())
}

/// Opens the drive with another share of its flash as capacity.
fn open(share: Option<f64>, state: &str) -> anyhow::Result<SimDrive> {
    let bytes = share.map_or(X25_M_BYTES, |share| (share * f64::from(80 << 10)) as u64 * (1 << 20));
    open_as(bytes, 1, state)
}

/// Opens the drive `scale` times as large, on as many times the dies.
///
/// # Errors
/// The simulator refuses it.
pub(crate) fn open_scaled(scale: u64, state: &str) -> anyhow::Result<SimDrive> {
    open_as(X25_M_BYTES * scale, scale, state)
}

fn open_as(bytes: u64, scale: u64, state: &str) -> anyhow::Result<SimDrive> {
    /// A plane's blocks in the catalog, and their range, which holds for the drive as it was sold.
    const BLOCKS: u64 = 2048;
    const BLOCKS_RANGE: &str = " range = [2008, 2048],";
    let entry =
        catalog().iter().find(|entry| entry.name == "intel-x25-m-80gb").context("it is in the catalog")?;
    let mut text = entry.text.to_owned();
    for (key, before, range, after) in [
        ("capacity_bytes", X25_M_BYTES, "", bytes),
        ("blocks_per_plane", BLOCKS, BLOCKS_RANGE, BLOCKS * scale),
    ] {
        let before = format!("{key} = {{ value = {before},{range}");
        ensure!(text.contains(&before), "the catalog spells {before} otherwise");
        text = text.replace(&before, &format!("{key} = {{ value = {after},"));
    }
    let spec = Spec::parse(&format!("sim:x25-m.toml?state={state}"))?;
    Ok(spec.open(|_: &Path| Ok(text.clone().into()))?)
}

/// Prints the rates of five parts of a run, to compare builds in pairs.
fn stack(writes: u64) -> anyhow::Result<()> {
    let mut drive = open(None, "used")?;
    let capacity = drive.geometry().capacity;
    let case = IoCase { random: true, write: true, block: PAGE as u32, depth: 32, span: capacity, lanes: 1 };
    for part in 0..5 {
        let workload = Workload { seed: part, ..case_run::workload(&case, Until::ops(writes)) };
        let measured = case_run::run_workload(&mut drive, &workload)?;
        println!("  {:.3} million host writes a second a core", 1e3 / measured.cpu_ns_per_io);
    }
    Ok(())
}

/// The whole stack in its steady state.
pub(crate) struct StackSpeed {
    /// Host writes per second of CPU time, in each round of the steady state, ascending.
    pub(crate) writes_per_s: Vec<f64>,
    /// Seconds to open the drive used.
    pub(crate) opened_s: f64,
    /// Write amplification of every fill of the drive.
    pub(crate) amplification: Vec<f64>,
}

/// Writes 4 KiB at random until write amplification is steady, then in rounds. `share`: capacity over flash.
///
/// # Errors
/// The drive cannot be opened, or a run fails.
pub(crate) fn stack_speed(share: Option<f64>, rounds: usize) -> anyhow::Result<StackSpeed> {
    let start = Instant::now();
    let mut drive = open(share, "used")?;
    let opened_s = start.elapsed().as_secs_f64();
    let capacity = drive.geometry().capacity;
    let case = IoCase { random: true, write: true, block: PAGE as u32, depth: 32, span: capacity, lanes: 1 };
    let mut fills = Vec::new();
    while !is_steady(&fills) && fills.len() < FILLS_MAX {
        let before = drive.flash_counters().context("a simulated drive has counters")?;
        // Each fill has its own addresses: the same ones again would leave a third of the drive cold.
        let workload =
            Workload { seed: fills.len() as u64, ..case_run::workload(&case, Until::ops(capacity / PAGE)) };
        case_run::run_workload(&mut drive, &workload)?;
        let after = drive.flash_counters().context("a simulated drive has counters")?;
        let host = after.host_bytes_written - before.host_bytes_written;
        ensure!(host == capacity / PAGE * PAGE, "every write was completed and counted");
        fills.push((after.flash_bytes_programmed - before.flash_bytes_programmed) as f64 / host as f64);
    }
    let round = |seed: usize| {
        let until = Until::ops(capacity / PAGE / ROUNDS_PER_FILL);
        let seed = (FILLS_MAX + seed) as u64;
        let measured =
            case_run::run_workload(&mut drive, &Workload { seed, ..case_run::workload(&case, until) })?;
        // CPU time, so that other programs do not count.
        Ok(1e9 / measured.cpu_ns_per_io)
    };
    let mut writes_per_s = (0..rounds).map(round).collect::<anyhow::Result<Vec<f64>>>()?;
    writes_per_s.sort_by(f64::total_cmp);
    Ok(StackSpeed { writes_per_s, opened_s, amplification: fills })
}

fn speed(name: &str, share: Option<f64>, goal: f64) -> anyhow::Result<()> {
    let StackSpeed { writes_per_s: rates, opened_s, amplification: fills } =
        stack_speed(share, STACK_ROUNDS)?;
    let last = &fills[fills.len() - STEADY_FILLS..];
    println!(
        "  {name:<28} {:5.2} [{:.2} … {:.2}] million host writes a second a core [≥ {goal}]; opened used in {opened_s:.1} s",
        rates[STACK_ROUNDS / 2] / 1e6,
        rates[0] / 1e6,
        rates[STACK_ROUNDS - 1] / 1e6,
    );
    println!(
        "  {:<28} write amplification of the last three of {} drive fills {:.3} {:.3} {:.3}: {:.2}% apart [≤ 1%]; of all {fills:.2?}",
        "",
        fills.len(),
        last[0],
        last[1],
        last[2],
        relative_difference(last) * 100.0
    );
    Ok(())
}

/// Number of fills that agree in a steady state.
const STEADY_FILLS: usize = 3;
const FILLS_MAX: usize = 30;
/// Parts of a fill that are timed, and how many. Chosen: seconds each.
const ROUNDS_PER_FILL: u64 = 8;
const STACK_ROUNDS: usize = 7;

fn is_steady(fills: &[f64]) -> bool {
    fills.len() >= 2 * STEADY_FILLS && relative_difference(&fills[fills.len() - STEADY_FILLS..]) <= 0.005
}

/// Difference of the largest and the smallest, as a share of the smallest.
fn relative_difference(values: &[f64]) -> f64 {
    let (low, high) =
        values.iter().fold((f64::MAX, 0.0f64), |(low, high), value| (low.min(*value), high.max(*value)));
    high / low - 1.0
}

fn fill() -> anyhow::Result<()> {
    let flash_pages = f64::from(80 << 10) * 256.0;
    let before = case_run::memory_bytes("VmRSS:")?;
    let start = Instant::now();
    let untimed = open(None, "new&fill=1")?;
    let seconds = start.elapsed().as_secs_f64();
    let memory = case_run::memory_bytes("VmRSS:")? - before;
    drop(untimed);
    println!(
        "  filled once, in its past     {seconds:5.2} s [≤ 1]; {:.1} bytes of memory a flash page [≤ 10]",
        memory / flash_pages
    );
    let mut drive = open(None, "new")?;
    let capacity = drive.geometry().capacity;
    let case = IoCase { random: false, write: true, block: 1 << 20, depth: 8, span: capacity, lanes: 1 };
    let start = Instant::now();
    let measured = case_run::run_once(&mut drive, &case, Until::ops(capacity >> 20))?;
    println!(
        "  filled once, 1 MiB at depth 8 {:4.2} s through the whole stack [≤ 1], at {} of its own time ({})",
        start.elapsed().as_secs_f64(),
        rate(measured.bytes_per_s),
        Nanos::from_secs_f64(capacity as f64 / measured.bytes_per_s),
    );
    Ok(())
}

// The write amplification of translation layers compared with theory.

const SEED: u64 = 1;
/// Largest deviation of page maps from theory, in percent; the goal.
const GOAL_PAGE_PERCENT: f64 = 1.0;
/// Largest deviation of block maps with log blocks, in percent. Chosen: larger, because the theory ignores
/// the last log blocks.
const GOAL_LOG_PERCENT: f64 = 3.0;

/// Prints both tables.
fn write_amplification() {
    println!("Write amplification, fixed seeds, reserved and open blocks counted in the spare share");
    println!("  {:<76} {:>8} {:>8} {:>9}", "page map", "measured", "theory", "deviation");
    let worst = page_map();
    println!("  worst deviation {worst:.2}% [≤ {GOAL_PAGE_PERCENT}%]");
    println!(
        "  {:<76} {:>8} {:>8} {:>9}",
        "maps of whole blocks, 1024 clusters", "measured", "theory", "deviation"
    );
    let worst = maps_of_blocks();
    println!("  worst deviation {worst:.2}% [≤ {GOAL_LOG_PERCENT}%]");
}

fn maps_of_blocks() -> f64 {
    let mut worst = 0.0f64;
    for (family, pages) in [(Family::Block, 64), (Family::Bast, 64), (Family::Fast, 64), (Family::Fast, 128)]
    {
        for log_blocks in [8, 16, 64, 256] {
            let cell = Cell { family, pages, clusters: 1024, log_blocks };
            let name = format!("{family:?} {pages} pages, {log_blocks} log blocks");
            worst = worst.max(line(&name, cell.measure(6, SEED), Some(cell.theory())));
        }
    }
    worst
}

fn page_map() -> f64 {
    let mut worst = 0.0f64;
    for spare_share in [0.07, 0.10, 0.15, 0.20, 0.28, 0.40] {
        for (collection, streams, pages_per_block) in [
            (Collection::Greedy, Streams::Separate, 64),
            (Collection::Greedy, Streams::Separate, 128),
            (Collection::Greedy, Streams::Separate, 256),
            (Collection::Greedy, Streams::Mixed, 128),
            (Collection::Fifo, Streams::Mixed, 64),
            (Collection::Fifo, Streams::Separate, 64),
            (Collection::Choices(10), Streams::Separate, 128),
            (Collection::CostBenefit, Streams::Separate, 128),
        ] {
            worst = worst.max(report(&setting(
                collection,
                streams,
                pages_per_block,
                spare_share,
                Traffic::Uniform,
            )));
        }
    }
    for (writes, pages) in [(0.8, 0.2), (0.9, 0.1), (0.95, 0.05)] {
        let traffic = Traffic::Skewed { writes, pages };
        for spare_share in [0.07, 0.10, 0.20, 0.28, 0.40] {
            let setting = setting(Collection::Fifo, Streams::Mixed, 64, spare_share, traffic);
            worst = worst.max(report(&Setting { passes_before: 10, passes: 30, ..setting }));
        }
        for collection in [Collection::Greedy, Collection::CostBenefit] {
            for streams in [Streams::Mixed, Streams::Separate, Streams::HotCold] {
                worst = worst.max(report(&setting(collection, streams, 128, 0.10, traffic)));
            }
        }
    }
    for trims in [0.05, 0.1, 0.2, 0.3] {
        worst = worst.max(report(&setting(
            Collection::Greedy,
            Streams::Separate,
            128,
            0.07,
            Traffic::Trimmed { trims },
        )));
    }
    worst
}

/// A drive of two thousand blocks, and thirteen drive writes.
fn setting(
    collection: Collection,
    streams: Streams,
    pages_per_block: u32,
    spare_share: f64,
    traffic: Traffic,
) -> Setting {
    Setting {
        collection,
        streams,
        pages_per_block,
        blocks: 2048,
        spare_share,
        traffic,
        passes_before: 3,
        passes: 10,
        seed: SEED,
    }
}

/// Prints one line; returns its distance from theory, in percent.
fn report(setting: &Setting) -> f64 {
    let SteadyWriteAmplification { write_amplification, theory, .. } = setting.measure();
    let Setting { collection, streams, pages_per_block, spare_share, traffic, .. } = setting;
    let name =
        format!("{collection:?} {streams:?} {pages_per_block} pages, spare {spare_share}, {traffic:?}");
    line(&name, write_amplification, theory)
}

fn line(name: &str, measured: f64, theory: Option<f64>) -> f64 {
    let deviation = theory.map(|theory| 100.0 * (measured / theory - 1.0));
    let [theory, text] =
        [theory.map(|theory| format!("{theory:.3}")), deviation.map(|percent| format!("{percent:+.2}%"))]
            .map(|text| text.unwrap_or_else(|| "–".into()));
    println!("  {name:<76} {measured:>8.3} {theory:>8} {text:>9}");
    deviation.map_or(0.0, f64::abs)
}
