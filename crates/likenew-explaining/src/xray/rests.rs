//! Rests of growing length, and the latency of reads after them: a change shows when an idle drive starts
//! work of its own.

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::quantity::Latency;

use super::context::ExperimentContext;
use super::property::{Key, Property};
use super::reason::Reason;
use super::wording;
use likenew_procedure_support::series::axis;

/// Ratio of the two bounds of the rest at which the search ends. Chosen: a tenth is closer than drives
/// repeat.
const NEAR: f64 = 1.1;
/// Step to the next rest over the time that the work takes, as a ratio. Chosen: below 1, so that no work
/// falls between two rests.
const STEP_SHARE: f64 = 0.7;
/// Ratio of the two bounds above which nothing is claimed. Chosen: a wider range spans drives that differ.
const REST_RATIO_MAX: f64 = 1.5;
/// Confidence, in 0..1, of a start between two bounds. Chosen: all rests agree then.
const SURE: f64 = 0.95;
/// Middle share of the range between the bounds that holds the start in nine of ten drives: the start is
/// equally likely anywhere between them.
const NINE_OF_TEN: f64 = 0.9;

/// Which rests to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RestQuery {
    /// Rests double from the first to the second, in nanoseconds.
    pub(super) shortest: f64,
    pub(super) longest: f64,
    /// Latency of reads that meet the drive at work over the usual one, as a ratio, at least.
    pub(super) busy: f64,
    /// The work that they meet.
    pub(super) work: Work,
}

/// The work that an idle drive starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Garbage collection on dies.
    Dies,
    /// Moving blocks of a shingled disk to their bands.
    Head,
}

/// The rests of one run and the reads after them.
pub(super) struct Rests {
    asking: RestQuery,
    /// Rest in nanoseconds, and latency after it as a multiple of the usual one, sorted by rest.
    rests_tried: Vec<[f64; 2]>,
}

impl Rests {
    /// From pairs of a rest and the latency after it, in any order.
    pub(super) fn new(asking: RestQuery, mut rests_tried: Vec<[f64; 2]>) -> Self {
        rests_tried.sort_by(|first, other| first[0].total_cmp(&other[0]));
        Self { asking, rests_tried }
    }

    /// The longest rest after which nothing had started, and the shortest after which work had.
    pub(super) fn bracket(&self) -> Option<(f64, f64)> {
        let begun = self.rests_tried.iter().position(|[_, ratio]| *ratio >= self.asking.busy)?;
        let short = self.rests_tried[..begun].last().map_or(0.0, |[rest, _]| *rest);
        Some((short, self.rests_tried[begun][0]))
    }

    /// The next rest to try, in nanoseconds, if the work is known to take at least `lasts`; `None` once
    /// enough were tried.
    pub(super) fn next(&self, lasts: Option<f64>) -> Option<f64> {
        match self.bracket() {
            None => {
                // Longer steps could miss work that starts after the shorter rest and ends before the longer
                // one does.
                let step = |rest: f64| rest.min(lasts.map_or(f64::INFINITY, |lasts| STEP_SHARE * lasts));
                let next =
                    self.rests_tried.last().map_or(self.asking.shortest, |[rest, _]| rest + step(*rest));
                (next < self.asking.longest).then_some(next)
            }
            Some((short, long)) if short > 0.0 && long > NEAR * short => Some((short * long).sqrt()),
            Some(_) => None,
        }
    }

    /// When the work starts; undecided if answers contradict each other. `None` if nothing had started after
    /// any rest.
    pub(super) fn property(&self, context: &ExperimentContext<'_>) -> Option<Property> {
        let key = Key::IdleCollectionNs;
        let (short, long) = self.bracket()?;
        let reason = match self.asking.work {
            Work::Dies => wording::dies_at_work(Latency(short), Latency(long)),
            Work::Head => wording::head_at_work(Latency(short), Latency(long)),
        };
        let after = self.rests_tried.iter().filter(|[rest, _]| *rest >= long);
        let orderly =
            after.clone().filter(|[_, ratio]| *ratio >= self.asking.busy).count() * 2 > after.count();
        let is_told = short > 0.0 && orderly && long <= REST_RATIO_MAX * short && !context.is_busy();
        Some(match is_told {
            true => {
                let inner = |from: f64, to: f64| from * (to / from).powf((1.0 - NINE_OF_TEN) / 2.0);
                let interval = (inner(short, long), inner(long, short));
                Property::number(key, (short * long).sqrt(), interval, SURE, reason)
            }
            false => Property::undecided(key, wording::contradictory_idling(reason)),
        })
    }

    /// The longest rest, in nanoseconds; `None` if none was tried.
    pub(super) fn longest(&self) -> Option<f64> {
        self.rests_tried.last().map(|[rest, _]| *rest)
    }

    /// The reason if nothing had started after any rest; `None` if none was tried.
    pub(super) fn without_effect(&self) -> Option<Reason> {
        self.longest().map(|longest| wording::idle_without_effect(Latency(longest)))
    }

    pub(super) fn picture(&self) -> Option<Series> {
        let (idle, latency) = (axis("idle time", "ns").logarithmic(), axis("latency over usual", "1"));
        let series = Series::new(wording::READS_AFTER_REST, Shape::Scatter, idle, latency);
        (!self.rests_tried.is_empty()).then(|| series.lines([Line::new("reads", self.rests_tried.clone())]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKING: RestQuery = RestQuery { shortest: 1e8, longest: 1e10, busy: 2.0, work: Work::Head };

    /// Tries rests on a drive that starts after this long, until enough were tried.
    fn rests_tried(begins: f64) -> Rests {
        let mut rests = Rests::new(ASKING, Vec::new());
        while let Some(rest) = rests.next(None) {
            let mut rests_tried = rests.rests_tried;
            assert!(rests_tried.len() < 30, "it comes to an end");
            rests_tried.push([rest, if rest > begins { 9.0 } else { 1.0 }]);
            rests = Rests::new(ASKING, rests_tried);
        }
        rests
    }

    #[test]
    fn rests_are_doubled_and_then_halved_between_the_two_that_differ() {
        for begins in [1.5e8, 1e9, 4.7e9] {
            let (short, long) = rests_tried(begins).bracket().unwrap();
            assert!(short <= begins && begins < long && long <= NEAR * short, "{begins}: {short} {long}");
        }
        assert_eq!((rests_tried(1e12).bracket(), rests_tried(1e12).longest()), (None, Some(6.4e9)));
        let first_rest = rests_tried(0.0);
        assert_eq!((first_rest.bracket(), first_rest.rests_tried.len()), (Some((0.0, 1e8)), 1));
    }

    #[test]
    fn short_work_is_not_stepped_over() {
        let rests = Rests::new(ASKING, vec![[4e8, 1.0]]);
        assert_eq!((rests.next(None), rests.next(Some(1e8))), (Some(8e8), Some(4.7e8)));
    }
}
