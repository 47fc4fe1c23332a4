//! Stalls of known place in synthetic latencies.

use likenew_stats::stalls::{Rule, Stall, Wait, stalls};
use rand::RngExt as _;
use rand_distr::{Distribution as _, LogNormal};

use crate::counts::{SEEDS, SERIES};
use crate::series::random;
use crate::tables::percent;

const MS: u64 = 1_000_000;
/// I/Os of a series.
const IOS: usize = 2_000;
/// As many of the slowest I/Os as a measurement keeps one by one.
const KEPT: usize = 32;

/// A drive that answers in 1 ms, at a depth of 1, but for its stalls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StallingDrive {
    /// Stalls in a series.
    stalls: u64,
    duration_ms: u64,
    /// I/Os in flight.
    depth: usize,
    /// Standard deviation of the logarithm of the latency.
    spread: f64,
}

impl StallingDrive {
    pub(crate) const ALL: [Self; 10] = [
        Self { stalls: 0, duration_ms: 0, depth: 1, spread: 0.5 },
        Self { stalls: 0, duration_ms: 0, depth: 1, spread: 1.5 },
        Self { stalls: 1, duration_ms: 90, depth: 1, spread: 0.5 },
        Self { stalls: 1, duration_ms: 110, depth: 1, spread: 0.5 },
        Self { stalls: 4, duration_ms: 300, depth: 1, spread: 0.5 },
        Self { stalls: 4, duration_ms: 300, depth: 8, spread: 0.5 },
        Self { stalls: 20, duration_ms: 300, depth: 1, spread: 0.5 },
        Self { stalls: 20, duration_ms: 300, depth: 8, spread: 0.5 },
        Self { stalls: 60, duration_ms: 300, depth: 1, spread: 0.5 },
        Self { stalls: 20, duration_ms: 300, depth: 1, spread: 1.5 },
    ];

    /// The I/Os of a series, and when its stalls began and ended.
    fn series(self, seed: u64) -> (Vec<Wait>, Vec<(u64, u64)>) {
        let mut random = random(seed);
        // With more in flight each takes longer, and the drive moves as much.
        let latency = LogNormal::new((self.depth as f64 * MS as f64).ln(), self.spread).unwrap();
        let length = IOS as u64 * MS;
        let mut work: Vec<u64> = (0..self.stalls).map(|_| random.random_range(length / 20..length)).collect();
        work.sort_unstable();
        // A stall begins so much after the work before it, and all stalls before it.
        let duration = self.duration_ms * MS;
        let pauses: Vec<(u64, u64)> = (0u64..)
            .zip(work)
            .map(|(before, at)| at + before * duration)
            .map(|at| (at, at + duration))
            .collect();
        let mut waits = Vec::with_capacity(IOS);
        for lane in 0..self.depth {
            // Lanes begin apart, so that they are not in step.
            let mut now = lane as u64 * MS;
            for _ in 0..IOS / self.depth {
                let start_ns = now;
                let mut left = latency.sample(&mut random) as u64;
                for (from, to) in &pauses {
                    if *to > now && *from < now + left {
                        let before = from.saturating_sub(now);
                        (now, left) = (*to, left - before.min(left));
                    }
                }
                now += left;
                waits.push(Wait { start_ns, end_ns: now, position: 0 });
            }
        }
        (waits, pauses)
    }
}

/// What became of stalls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StallCounts {
    /// Stalls that some I/O waited for.
    placed: u64,
    /// Those of which some of the stalls found is part.
    found: u64,
    /// Those found as one with another.
    merged: u64,
    /// Stalls found beyond one for each.
    split: u64,
    /// Stalls found where there is none.
    wrong: u64,
    /// Nanoseconds of stalls placed and found.
    time_placed: u64,
    time_found: u64,
}

impl StallCounts {
    fn add(&mut self, stalls: &[Stall], pauses: &[(u64, u64)]) {
        let overlap = |stall: &Stall, (from, to): &(u64, u64)| {
            stall.start_ns < *to && stall.start_ns + stall.duration_ns > *from
        };
        self.placed += pauses.len() as u64;
        self.time_placed += pauses.iter().map(|(from, to)| to - from).sum::<u64>();
        self.time_found += stalls.iter().map(|stall| stall.duration_ns).sum::<u64>();
        for pause in pauses {
            let parts = stalls.iter().filter(|stall| overlap(stall, pause)).count() as u64;
            self.found += parts.min(1);
            self.split += parts.saturating_sub(1);
        }
        for stall in stalls {
            match pauses.iter().filter(|pause| overlap(stall, pause)).count() as u64 {
                0 => self.wrong += 1,
                1 => {}
                several => self.merged += several,
            }
        }
    }
}

/// What becomes of the stalls when all I/Os are kept, and when the slowest are.
fn count(stalling: StallingDrive) -> [StallCounts; 2] {
    let mut answers = [StallCounts::default(); 2];
    for seed in SEEDS {
        let (mut waits, pauses) = stalling.series(seed);
        waits.sort_unstable_by_key(|wait| wait.end_ns - wait.start_ns);
        let typical_ns = waits[waits.len() / 2].end_ns - waits[waits.len() / 2].start_ns;
        // A wait after the end of the last I/O held up no I/O.
        let end = waits.iter().map(|wait| wait.end_ns).max().unwrap_or(0);
        let pauses: Vec<(u64, u64)> = pauses.into_iter().filter(|(_, to)| *to <= end).collect();
        for (kept, answers) in [waits.len(), KEPT].into_iter().zip(&mut answers) {
            // Little's law: one I/O's own share of the time is its latency over the depth.
            let slowest = &waits[waits.len() - kept..];
            answers.add(&stalls(slowest, typical_ns / stalling.depth as u64, Rule::default()), &pauses);
        }
    }
    answers
}

pub(crate) fn head() -> String {
    "| stalls | of | I/Os in flight | latency | kept | found | merged | split | false, a series | time found |\n\
     |---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned()
}

/// The rows of a drive: with all I/Os, and with the slowest only.
pub(crate) fn rows(stalling: StallingDrive) -> String {
    let row = |counts: StallCounts, kept: &str| {
        let share =
            |count: u64, whole: u64| if whole == 0 { "–".to_owned() } else { percent(count, whole) };
        format!(
            "| {} | {} ms | {} | σ = {} | {kept} | {} | {} | {} | {:.2} | {} |\n",
            stalling.stalls,
            stalling.duration_ms,
            stalling.depth,
            stalling.spread,
            share(counts.found, counts.placed),
            share(counts.merged, counts.placed),
            share(counts.split, counts.placed),
            counts.wrong as f64 / SERIES as f64,
            share(counts.time_found, counts.time_placed)
        )
    };
    let [all_ios, slowest] = count(stalling);
    row(all_ios, "all") + &row(slowest, "32")
}
