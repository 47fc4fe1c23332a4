//! Prints the write amplification that the page map measures beside what theory says.
//!
//! Run it with `cargo run --release -p likenew-sim --example write_amplification`.

use likenew_sim::flash::policies::{Collection, Streams};
use likenew_sim::flash::write_amplification::{Measured, Setting, Traffic};

fn main() {
    println!("{:<76} {:>8} {:>8} {:>9}", "", "measured", "theory", "deviation");
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
            report(&setting(collection, streams, pages_per_block, spare_share, Traffic::Uniform));
        }
    }
    for (writes, pages) in [(0.8, 0.2), (0.9, 0.1), (0.95, 0.05)] {
        let traffic = Traffic::Skewed { writes, pages };
        for spare_share in [0.07, 0.10, 0.20, 0.28, 0.40] {
            let setting = setting(Collection::Fifo, Streams::Mixed, 64, spare_share, traffic);
            report(&Setting { passes_before: 10, passes: 30, ..setting });
        }
        for collection in [Collection::Greedy, Collection::CostBenefit] {
            for streams in [Streams::Mixed, Streams::Separate, Streams::HotCold] {
                report(&setting(collection, streams, 128, 0.10, traffic));
            }
        }
    }
    for trims in [0.05, 0.1, 0.2, 0.3] {
        report(&setting(Collection::Greedy, Streams::Separate, 128, 0.07, Traffic::Trimmed { trims }));
    }
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
        seed: 1,
    }
}

fn report(setting: &Setting) {
    let Measured { write_amplification, theory, .. } = setting.measure();
    let Setting { collection, streams, pages_per_block, spare_share, traffic, .. } = setting;
    let name =
        format!("{collection:?} {streams:?} {pages_per_block} pages, spare {spare_share}, {traffic:?}");
    let (theory, deviation) = theory.map_or(("–".into(), "–".into()), |theory| {
        (format!("{theory:.3}"), format!("{:+.2} %", 100.0 * (write_amplification / theory - 1.0)))
    });
    println!("{name:<76} {write_amplification:>8.3} {theory:>8} {deviation:>9}");
}
