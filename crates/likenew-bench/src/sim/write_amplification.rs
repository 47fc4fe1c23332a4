//! The write amplification of translation layers compared with theory.

use likenew_sim::flash::policies::{Collection, Streams};
use likenew_sim::theory::log::{Cell, Family};
use likenew_sim::theory::{Setting, SteadyWriteAmplification, Traffic};

const SEED: u64 = 1;
/// Largest deviation of page maps from theory, in percent; the goal.
const GOAL_PAGE_PERCENT: f64 = 1.0;
/// The same for block maps with log blocks, in percent. Chosen: larger, because the theory ignores the last
/// log blocks.
const GOAL_LOG_PERCENT: f64 = 3.0;

/// Prints both tables.
pub(super) fn run() {
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

/// Two thousand blocks, thirteen drive writes.
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
