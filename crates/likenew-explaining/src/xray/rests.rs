//! Rests of growing length, and how long reads after them took: what a drive begins by itself when it is left alone shows where that changes.

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::quantity::Latency;

use super::context::ExperimentContext;
use super::property::{Key, Property};
use super::reason::Reason;
use super::wording;
use likenew_procedure_support::series::axis;

/// Rests so near to each other are near enough.
const NEAR: f64 = 1.1;
/// Steps are this share of what the work takes.
const STEP_SHARE: f64 = 0.7;
/// Rests that are further apart than this tell nothing.
const REST_RATIO_MAX: f64 = 1.5;
const SURE: f64 = 0.95;
/// It begins anywhere between the longest rest without and the shortest one with it: this middle share of that holds it in nine of ten drives.
const NINE_OF_TEN: f64 = 0.9;

/// How rests are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RestQuery {
    /// Rests are doubled from here to there, in nanoseconds.
    pub(super) shortest: f64,
    pub(super) longest: f64,
    /// Reads that meet the drive at work take at least so many times as long as usual.
    pub(super) busy: f64,
    /// What they meet then.
    pub(super) work: Work,
}

/// What a drive that is left alone begins to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Dies collect garbage.
    Dies,
    /// The head of a disk moves blocks home.
    Head,
}

/// Rests of one past and what came after them.
pub(super) struct Rests {
    asking: RestQuery,
    /// Rest in nanoseconds, and how many times as long as usual the reads after it took, by rest.
    rests_tried: Vec<[f64; 2]>,
}

impl Rests {
    /// Out of pairs of a rest and how long reads after it took, in any order.
    pub(super) fn new(asking: RestQuery, mut rests_tried: Vec<[f64; 2]>) -> Self {
        rests_tried.sort_by(|first, other| first[0].total_cmp(&other[0]));
        Self { asking, rests_tried }
    }

    /// The longest rest after which nothing had begun, and the shortest after which something had.
    pub(super) fn bracket(&self) -> Option<(f64, f64)> {
        let begun = self.rests_tried.iter().position(|[_, ratio]| *ratio >= self.asking.busy)?;
        let short = self.rests_tried[..begun].last().map_or(0.0, |[rest, _]| *rest);
        Some((short, self.rests_tried[begun][0]))
    }

    /// The next rest to ask for, in nanoseconds, where the work is known to take at least `lasts`; `None` when enough were.
    pub(super) fn next(&self, lasts: Option<f64>) -> Option<f64> {
        match self.bracket() {
            None => {
                // Longer steps could miss work that begins after the shorter rest and has ended by the end of the longer one.
                let step = |rest: f64| rest.min(lasts.map_or(f64::INFINITY, |lasts| STEP_SHARE * lasts));
                let next =
                    self.rests_tried.last().map_or(self.asking.shortest, |[rest, _]| rest + step(*rest));
                (next < self.asking.longest).then_some(next)
            }
            Some((short, long)) if short > 0.0 && long > NEAR * short => Some((short * long).sqrt()),
            Some(_) => None,
        }
    }

    /// When it begins; undecided where answers contradict each other. `None` where nothing had begun after any rest.
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

    /// The longest of them, in nanoseconds; `None` where none was asked for.
    pub(super) fn longest(&self) -> Option<f64> {
        self.rests_tried.last().map(|[rest, _]| *rest)
    }

    /// What is said where nothing had begun after any of them; `None` where none was asked for.
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

    /// Asks a drive that begins after so long, until enough was asked.
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
