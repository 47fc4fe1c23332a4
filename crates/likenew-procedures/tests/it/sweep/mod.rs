//! What sweep runs and says, on drives whose law is known: an access time, a rate, and so many I/Os served at once.

mod runs;
mod wording;

use crate::support::{evidence, play, steady};
use likenew_core::findings::{Answer, Findings, Row};
use likenew_core::io::Op;
use likenew_core::workload::{AccessPattern, Mix, Workload};
use likenew_procedures::pattern::Pattern;
use likenew_procedures::sweep::{Sweep, SweepOptions};

pub(crate) const SPAN: u64 = 64 << 20;
pub(crate) const ACCESS_S: f64 = 50e-6;
pub(crate) const RATE: f64 = 500e6;
pub(crate) const READS: Mix = Mix::Only(Op::Read);
pub(crate) const WRITES: Mix = Mix::Only(Op::Write);

pub(crate) fn options() -> SweepOptions {
    SweepOptions {
        ops: vec![READS],
        patterns: vec![Pattern::Random],
        span: SPAN,
        bytes: 1 << 20,
        passes: 3,
        depths: vec![1, 4, 32],
        ..SweepOptions::default()
    }
}

pub(crate) fn sweep(options: SweepOptions) -> Sweep {
    Sweep::new(options).unwrap()
}

pub(crate) fn block(workload: &Workload) -> f64 {
    f64::from(workload.streams[0].size.max())
}

pub(crate) fn depth(workload: &Workload) -> f64 {
    f64::from(workload.streams[0].arrival.depth())
}

pub(crate) fn is_random(workload: &Workload) -> bool {
    matches!(workload.streams[0].pattern, AccessPattern::Random(_))
}

/// Bytes a second of a drive that takes the access time and then moves the block, for `servers` I/Os at once.
pub(crate) fn law(workload: &Workload, servers: f64) -> f64 {
    depth(workload).min(servers) * block(workload) / (ACCESS_S + block(workload) / RATE)
}

/// A few percent of scatter, the same on every run.
pub(crate) fn scatter(index: usize, percent: f64) -> f64 {
    1.0 + percent / 100.0 * ((index * 7919 % 101) as f64 / 50.5 - 1.0)
}

pub(crate) fn findings(options: SweepOptions, speed: impl Fn(usize, &Workload) -> f64) -> Findings {
    play(&sweep(options), evidence(SPAN, true), |index, workload| steady(speed(index, workload)))
}

/// The answer to this question of all that share an id.
pub(crate) fn answer_to<'a>(findings: &'a Findings, id: &str, question: &str) -> &'a Answer {
    let found = findings.answers.iter().find(|answer| answer.id == id && answer.question == question);
    found.unwrap_or_else(|| panic!("no \"{question}\": {:#?}", findings.answers))
}

pub(crate) fn cell<'a>(findings: &'a Findings, pattern: &str, op: &str, block: u64, depth: u64) -> &'a Row {
    let is = |row: &&Row| {
        row["pattern"] == pattern && row["op"] == op && row["block_bytes"] == block && row["depth"] == depth
    };
    findings.tables["matrix"].iter().find(is).expect("it was measured")
}

pub(crate) fn number(row: &Row, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row:?}"))
}
