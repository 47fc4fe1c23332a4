//! Measures simulated drives: speed beside this machine's memory, the largest drive, and many drives at once.

use std::time::Instant;

use likenew_core::drive::Drive as _;
use likenew_core::workload::Until;
use likenew_sim::Spec;

use super::{Goal, Options, print_row};
use crate::case_run;
use crate::sim::bare_layer::{self, BareLayer, RandomUpdates};
use crate::sim::{PAGE, X25_M_BYTES, open_scaled, stack_speed};
use crate::table::middle;
use crate::target::IoCase;

const MILLION: f64 = 1e6;
const GIB: f64 = (1u64 << 30) as f64;
/// Page maps alone on 40 dies: size of the drive, blocks of a die, and goal in million host writes a second.
const MAPS: [(&str, u32, f64); 2] = [("80 GB", 4096, 8.0), ("1 TB", 51_200, 4.0)];
/// Drives that are aged at once.
const DRIVES: usize = 100;
/// A drive of 4 TB is this many times the catalog's 80 GB.
const LARGE: u64 = 50;

pub(super) fn measure(options: &Options) -> anyhow::Result<()> {
    for (name, share, goal) in [("7% spare", None, 2.5), ("22% spare", Some(0.78), 4.0)] {
        let stack = stack_speed(share, options.rounds)?;
        let amplification = stack.amplification.last().copied().unwrap_or_default();
        let updates = RandomUpdates::measure(2 * (X25_M_BYTES / PAGE) as usize);
        let pages = middle(&stack.writes_per_s) * amplification;
        print_row(
            &format!("random 4K writes through the whole stack, 80 GB, {name}, steady state"),
            &in_millions(&stack.writes_per_s),
            "M/s a core",
            Some(Goal::AtLeast(goal)),
            &format!("write amplification {amplification:.2}; {}", beside_memory(pages, updates)),
        );
    }
    for (name, blocks, goal) in MAPS {
        let BareLayer { writes_per_s, programs_per_write, updates, memory_bytes, .. } =
            bare_layer::measure(blocks, options.rounds)?;
        let pages = middle(&writes_per_s) * programs_per_write;
        print_row(
            &format!("the page map alone, {name}, 7% spare"),
            &in_millions(&writes_per_s),
            "M/s a core",
            Some(Goal::AtLeast(goal)),
            &format!("{:.1} GiB; {}", memory_bytes / GIB, beside_memory(pages, updates)),
        );
    }
    large_drive()?;
    many_drives()
}

fn in_millions(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value / MILLION).collect()
}

fn beside_memory(pages_per_s: f64, updates: RandomUpdates) -> String {
    format!(
        "{:.1} M flash pages/s of {:.0} M random updates/s of memory, {:.0} M with hints",
        pages_per_s / MILLION,
        updates.plain / MILLION,
        updates.hinted / MILLION
    )
}

/// Opens a used drive of 4 TB, only once because it takes minutes.
fn large_drive() -> anyhow::Result<()> {
    let before = case_run::memory_bytes("VmRSS:")?;
    let started = Instant::now();
    let drive = open_scaled(LARGE, "used")?;
    let seconds = started.elapsed().as_secs_f64();
    let memory = (case_run::memory_bytes("VmRSS:")? - before) / GIB;
    let capacity = drive.geometry().capacity as f64 / 1e12;
    drop(drive);
    let name = format!("a used drive of {capacity:.0} TB with a map of 4K pages");
    print_row(&format!("{name}: memory"), &[memory], "GiB", Some(Goal::AtMost(8.0)), "");
    print_row(&format!("{name}: opened in"), &[seconds], "s", Some(Goal::AtMost(20.0)), "");
    Ok(())
}

/// Ages many drives in one thread, and in one for each core.
fn many_drives() -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism()?.get();
    let alone = age_drives(1)?;
    let together = age_drives(cores)?;
    print_row(
        &format!("{DRIVES} drives aged by {cores} threads: speed over one thread, a core"),
        &[alone / together / cores as f64],
        "",
        Some(Goal::AtLeast(0.9)),
        &format!("{alone:.1} s and {together:.1} s"),
    );
    Ok(())
}

/// Opens drives used, writes each full at random, and returns the seconds that took.
fn age_drives(threads: usize) -> anyhow::Result<f64> {
    let started = Instant::now();
    case_run::on_threads(threads, &[(); DRIVES], |()| {
        let mut drive = Spec::parse("sim:tiny-flash?state=used")?.open(case_run::no_files)?;
        let span = drive.geometry().capacity;
        let case = IoCase { random: true, write: true, block: PAGE as u32, depth: 32, span, lanes: 1 };
        case_run::run_once(&mut drive, &case, Until::ops(span / PAGE))
    })?;
    Ok(started.elapsed().as_secs_f64())
}
