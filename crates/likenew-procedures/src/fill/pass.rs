//! The space written, or read back, once.

use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, rate};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::window_interval;
use likenew_stats::stalls::{Rule, Stall, Total};
use serde::Serialize;

use super::part::Part;
use super::repeat::{Repeat, change, is_steady};
use crate::CONFIDENCE;

/// One pass over all files or parts; the last one of a run that was stopped may be incomplete.
pub(super) struct Pass<'a> {
    /// From 1.
    pub(super) number: usize,
    /// Those that did not fail.
    pub(super) parts: Vec<Part<'a>>,
    /// Whether every part was moved as a whole.
    pub(super) is_whole: bool,
}

#[derive(Serialize)]
pub(super) struct PassRow {
    pass: usize,
    bytes_per_s: Option<f64>,
    bytes_per_s_low: Option<f64>,
    bytes_per_s_high: Option<f64>,
    slowest_bytes_per_s: Option<f64>,
    stalls: usize,
    latency_ns_max: u64,
    elapsed_ns: u64,
}

impl PassRow {
    pub(super) fn point(&self) -> Option<[f64; 2]> {
        Some([self.pass as f64, self.bytes_per_s?])
    }

    pub(super) fn band(&self) -> Option<[f64; 3]> {
        Some([self.pass as f64, self.bytes_per_s_low?, self.bytes_per_s_high?])
    }
}

impl<'a> Pass<'a> {
    pub(super) fn new(number: usize, segments: &'a [Segment], count: usize, each: u64, rule: Rule) -> Self {
        let numbered = segments.iter().enumerate();
        let parts = numbered.filter_map(|(index, segment)| Part::new(index + 1, segment, rule));
        let parts: Vec<Part<'a>> = parts.collect();
        let is_whole = parts.len() == count && parts.iter().all(|part| part.bytes == each);
        Self { number, parts, is_whole }
    }

    /// The speeds of the parts that were moved as a whole, in bytes a second: one that was cut off by a stop says nothing.
    pub(super) fn speeds(&self, each: u64) -> Vec<f64> {
        self.parts.iter().filter(|part| part.bytes == each).map(|part| part.bytes_per_s).collect()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    fn elapsed(&self) -> Nanos {
        Nanos(self.parts.iter().map(|part| part.segment.elapsed().0).sum())
    }

    /// Over all of it, in bytes a second; nothing where nothing of it was measured.
    pub(super) fn bytes_per_s(&self) -> Option<f64> {
        let seconds = self.elapsed().as_secs_f64();
        (self.bytes() > 0 && seconds > 0.0).then(|| self.bytes() as f64 / seconds)
    }

    pub(super) fn stalls(&self) -> Vec<Stall> {
        self.parts.iter().flat_map(|part| &part.stalls).copied().collect()
    }

    pub(super) fn row(&self, each: u64) -> PassRow {
        let speeds = self.speeds(each);
        let interval = window_interval(&speeds, CONFIDENCE);
        PassRow {
            pass: self.number,
            bytes_per_s: self.bytes_per_s(),
            bytes_per_s_low: interval.map(|interval| interval.low.max(0.0)),
            bytes_per_s_high: interval.map(|interval| interval.high),
            slowest_bytes_per_s: speeds.iter().copied().chain(self.bytes_per_s()).reduce(f64::min),
            stalls: self.stalls().len(),
            latency_ns_max: self.parts.iter().map(|part| part.segment.latencies().max().0).max().unwrap_or(0),
            elapsed_ns: self.elapsed().0,
        }
    }
}

/// Whether writing again still changes anything.
pub(super) fn convergence(speeds: &[f64]) -> Verdict {
    const NEAR_SHARE: f64 = 0.01;
    let ([first, .., last], [.., before, _]) = (speeds, speeds) else {
        return Verdict::new("Writing the space again changes its speed.", Standing::Undecided)
            .with_evidence("fewer than two passes are whole");
    };
    let passes = speeds.len();
    let changed = change(*before, *last) * 100.0;
    let all: Vec<String> = speeds.iter().map(|speed| rate(*speed)).collect();
    let verdict = if is_steady(speeds) {
        let near =
            1 + speeds.iter().position(|speed| change(*last, *speed) <= NEAR_SHARE).expect("the last one is");
        Verdict::new(
            format!(
                "The speed has settled at {}, {} times that of the first pass.",
                rate(*last),
                times(*first, *last)
            ),
            Standing::Holds,
        )
        .with_evidence(format!(
            "pass {passes} changed it by {changed:.1} %; pass {near} was the first within 1 % of it"
        ))
    } else {
        let settled = Repeat::SETTLED_SHARE * 100.0;
        Verdict::new(format!("The speed had settled after {passes} passes."), Standing::Fails)
            .with_evidence(format!("the last pass still changed it by {changed:.1} %, more than {settled} %"))
            .caveat("more passes would tell where it settles: give --passes until-steady")
    };
    verdict.with_evidence(format!("the passes: {}", all.join(", ")))
}

fn times(first: f64, last: f64) -> String {
    likenew_core::units::three_digits(if first > 0.0 { last / first } else { f64::INFINITY })
}

/// What kept everybody waiting in a pass.
pub(super) fn pauses(pass: &Pass<'_>, noun: &str, least: Nanos) -> Verdict {
    let total = Total::sum(&pass.stalls(), CONFIDENCE);
    let gigabytes = pass.bytes() as f64 / 1e9;
    let per_gigabyte = |count: f64| likenew_core::units::three_digits(count / gigabytes);
    if total.count == 0 {
        return Verdict::new(format!("No write stalled for {least} or more."), Standing::Holds)
            .with_evidence(format!(
                "fewer than {} in a GB, with 95 % confidence",
                per_gigabyte(total.count_interval.high)
            ));
    }
    let (longest, at) = pass
        .parts
        .iter()
        .flat_map(|part| part.stalls.iter().map(move |stall| (stall, part.number)))
        .max_by_key(|(stall, _)| stall.duration_ns)
        .expect("there is a stall");
    // Of each file the slowest I/Os are kept one by one; where all of these stalled, others may have.
    let least = if pass.parts.iter().any(Part::may_hide_stalls) { "at least " } else { "" };
    let claim = format!("Writing stalled {least}{} times, {} in all.", total.count, Nanos(total.duration_ns));
    Verdict::new(claim, Standing::Holds).problem().with_evidence(format!(
        "{} stalls in a GB ({} to {}); the longest took {}, in {noun} {at} at offset {}",
        per_gigabyte(total.count as f64),
        per_gigabyte(total.count_interval.low),
        per_gigabyte(total.count_interval.high),
        Nanos(longest.duration_ns),
        likenew_core::units::amount(longest.position)
    ))
}
