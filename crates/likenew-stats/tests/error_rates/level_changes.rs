//! How often a change between checks is reported where there is none, and how often a real one is found.

use likenew_stats::steady_state::level_changes;
use rand_distr::{Distribution as _, Normal};

use crate::counts::{SEEDS, SERIES};
use crate::series::random;
use crate::tables::{percent, row};

/// Checks of a drive, half of them after the change.
const COUNTS: [usize; 4] = [4, 8, 16, 32];
/// The scatter that checks are assumed to have, as standard deviation of logarithms.
const ASSUMED: f64 = 0.04;

/// How many series of so many checks, with this scatter and a fall by this share, show a change.
fn named(count: usize, scatter: f64, fall: f64) -> u64 {
    let noise = Normal::new(0.0, scatter).expect("a scatter is above 0");
    let shows_a_change = |seed: &u64| {
        let mut random = random(*seed);
        let level = |index: usize| if index >= count / 2 { (1.0 - fall).ln() } else { 0.0 };
        let series: Vec<f64> = (0..count).map(|index| level(index) + noise.sample(&mut random)).collect();
        !level_changes(&series, ASSUMED, 0.95).is_empty()
    };
    SEEDS.filter(shows_a_change).count() as u64
}

/// Drives that do not change, and drives that fall by a share.
pub(crate) fn table() -> String {
    let mut out = String::from("| fall | scatter | 4 checks | 8 | 16 | 32 |\n|---|---|---|---|---|---|\n");
    for fall in [0.0, 0.05, 0.1, 0.2] {
        for scatter in [0.01, 0.02, 0.04, 0.08] {
            let shares = COUNTS.map(|count| percent(named(count, scatter, fall), SERIES));
            let name = if fall == 0.0 { "none".to_owned() } else { format!("{:.0}%", fall * 100.0) };
            out += &row(format!("{name} | {:.0}%", scatter * 100.0), &shares);
        }
    }
    out
}
