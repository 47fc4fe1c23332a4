//! The space written, or read back, once.

use likenew_core::answer::Answer;
use likenew_core::procedure::Evidence;
use likenew_core::quantity::{Rate, Share, Size};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_stats::interval::{CONFIDENCE_95, Interval};
use likenew_stats::stalls::{Rule, Stall, Total};
use serde::Serialize;

use super::Fill;
use super::evenness::level_interval;
use super::part::{Part, Unit};
use super::repeat::{Repeat, change, is_steady};
use super::wording::{self, Settled, Stalled, TableRow};

/// One pass over all files or parts; the last one of a stopped run may be incomplete.
pub(super) struct Pass<'a> {
    /// From 1.
    pub(super) number: usize,
    /// Those that did not fail.
    pub(super) parts: Vec<Part<'a>>,
    /// Whether every part is complete.
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
    /// Its row on the first screen.
    pub(super) fn overview(&self, is_read: bool) -> TableRow {
        let interval = self.bytes_per_s_low.zip(self.bytes_per_s_high);
        TableRow {
            pass: (!is_read).then_some(self.pass),
            mean: self.bytes_per_s,
            interval: interval.map(|(low, high)| Interval { low, high }),
            slowest: self.slowest_bytes_per_s,
            stalls: self.stalls,
            max: Nanos(self.latency_ns_max),
        }
    }

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

    /// The speeds of the complete parts, in bytes a second.
    pub(super) fn speeds(&self, each: u64) -> Vec<f64> {
        self.parts.iter().filter(|part| part.bytes == each).map(|part| part.bytes_per_s).collect()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    fn elapsed(&self) -> Nanos {
        Nanos(self.parts.iter().map(|part| part.segment.elapsed().0).sum())
    }

    /// The speed of the whole pass, in bytes a second; `None` if nothing of it was measured.
    pub(super) fn bytes_per_s(&self) -> Option<f64> {
        let seconds = self.elapsed().as_secs_f64();
        (self.bytes() > 0 && seconds > 0.0).then(|| self.bytes() as f64 / seconds)
    }

    pub(super) fn stalls(&self) -> Vec<Stall> {
        self.parts.iter().flat_map(|part| &part.stalls).copied().collect()
    }

    pub(super) fn row(&self, each: u64) -> PassRow {
        let speeds = self.speeds(each);
        let interval = level_interval(&speeds);
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

/// Whether another pass still changes anything.
pub(super) fn convergence(speeds: &[f64], fill: &Fill, evidence: &Evidence) -> Answer {
    /// Difference of two passes, as a share, up to which they are equally fast (our choice).
    const NEAR_SHARE: f64 = 0.01;
    let ([first, .., last], [.., before, _]) = (speeds, speeds) else { return wording::too_few_passes() };
    let (passes, changed) = (speeds.len(), Share(change(*before, *last)));
    let answer = if is_steady(speeds) {
        let is_near = |speed: &f64| change(*last, *speed) <= NEAR_SHARE;
        let near_pass = 1 + speeds.iter().position(is_near).expect("the last one is");
        wording::settled(&Settled { last: Rate(*last), first: Rate(*first), changed, near_pass, passes })
    } else if passes >= Repeat::TIMES_MAX as usize {
        wording::never_settled(Rate(*last), changed, Share(Repeat::SETTLED_SHARE), passes)
    } else {
        wording::not_settled(Rate(*first), Rate(*last), changed, Share(Repeat::SETTLED_SHARE), passes)
            .action(wording::until_steady(&fill.until_steady(passes, evidence)))
    };
    answer.with_evidence(wording::pass_speeds(speeds))
}

/// From this many gigabytes on, that there was no stall bounds how many there can be. Chosen: of less, the bound is so
/// high that it says nothing.
const BOUND_FROM_GIGABYTES: f64 = 10.0;

/// The stalls of a pass.
pub(super) fn stalls(pass: &Pass<'_>, unit: Unit, least: Nanos, evidence: &Evidence) -> Answer {
    let total = Total::sum(&pass.stalls(), CONFIDENCE_95);
    let gigabytes = pass.bytes() as f64 / 1e9;
    let Interval { low, high } = total.count_interval;
    if total.count == 0 {
        let bound = (gigabytes >= BOUND_FROM_GIGABYTES).then_some(high / gigabytes);
        return wording::no_stall(least, bound);
    }
    let (longest, at) = pass
        .parts
        .iter()
        .flat_map(|part| part.stalls.iter().map(move |stall| (stall, part.number)))
        .max_by_key(|(stall, _)| stall.duration_ns)
        .expect("there is a stall");
    let stalled = Stalled {
        number: total.count as u64,
        may_be_more: pass.parts.iter().any(Part::may_hide_stalls),
        total: Nanos(total.duration_ns),
        per_gigabyte: total.count as f64 / gigabytes,
        per_gigabyte_interval: Interval { low: low / gigabytes, high: high / gigabytes },
        longest: Nanos(longest.duration_ns),
        longest_in: at,
        longest_at: Size(longest.position),
    };
    wording::find_cause(evidence).into_iter().fold(wording::stalled(unit, &stalled), Answer::action)
}
