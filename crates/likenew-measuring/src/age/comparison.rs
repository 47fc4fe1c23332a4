//! One line of the table: a metric in each phase, pass by pass, and how far it fell.

use likenew_core::findings::Row;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval, ratio_interval};
use likenew_stats::summary::{maximum, mean};
use serde::Serialize;

use super::phase::Phase;
use likenew_procedure_support::rows::row;

/// Which direction is better. A drop is always a change for the worse: for a rate the share that is lost,
/// 100% at most; for a latency the share that is added, without limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
}

/// How the passes of a metric become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Summary {
    Mean,
    /// Their mean, if the n-th pass of each phase covers the same part of the drive: parts may differ by
    /// design, as on a disk, so each pass is compared with its counterpart.
    MeanOfPairs,
    /// The maximum of the longest latencies. It has no interval.
    Longest,
}

/// One metric in all phases.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub(super) test: &'static str,
    /// The unit of its values: `bytes/s`, `ns` or `points`.
    pub(super) unit: &'static str,
    pub(super) better: Better,
    pub(super) summary: Summary,
    /// The value of each pass, by phase in the order of [`Phase::ALL`].
    pub(super) passes: [Vec<f64>; 3],
}

/// How far a metric fell, in percent of its value when new.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fall {
    pub(super) percent: f64,
    /// From the scatter of the passes; `None` for a single pass.
    pub(super) interval: Option<Interval>,
}

#[derive(Serialize)]
struct DropRow {
    test: &'static str,
    unit: &'static str,
    new: Option<f64>,
    used: Option<f64>,
    drop_percent: Option<f64>,
    drop_percent_low: Option<f64>,
    drop_percent_high: Option<f64>,
}

#[derive(Serialize)]
struct IdleColumns {
    after_idle: Option<f64>,
    after_idle_drop_percent: Option<f64>,
    after_idle_drop_percent_low: Option<f64>,
    after_idle_drop_percent_high: Option<f64>,
}

#[derive(Serialize)]
struct IntervalRow {
    test: &'static str,
    phase: &'static str,
    unit: &'static str,
    value: f64,
    value_low: Option<f64>,
    value_high: Option<f64>,
}

impl Comparison {
    /// The passes of one phase.
    pub(super) fn passes_in(&self, phase: Phase) -> &[f64] {
        &self.passes[phase as usize]
    }

    /// Its value in one phase.
    pub(super) fn value(&self, phase: Phase) -> Option<f64> {
        match self.summary {
            Summary::Mean | Summary::MeanOfPairs => mean(self.passes_in(phase)),
            Summary::Longest => maximum(self.passes_in(phase)),
        }
    }

    fn interval(&self, phase: Phase) -> Option<Interval> {
        (self.summary != Summary::Longest)
            .then(|| mean_interval(self.passes_in(phase), CONFIDENCE_95))
            .flatten()
    }

    /// The drop from new to `phase`; `None` if a phase is missing or the value was zero when new.
    pub(super) fn fall(&self, phase: Phase) -> Option<Fall> {
        let (new, then) = (self.value(Phase::New)?, self.value(phase)?);
        let of = |ratio: f64| match self.better {
            Better::Higher => (1.0 - ratio) * 100.0,
            Better::Lower => (ratio - 1.0) * 100.0,
        };
        if new <= 0.0 {
            return None;
        }
        let ratio = match self.summary {
            Summary::Mean => ratio_interval(self.passes_in(phase), self.passes_in(Phase::New), CONFIDENCE_95),
            Summary::MeanOfPairs => paired_interval(self.passes_in(phase), self.passes_in(Phase::New), new),
            Summary::Longest => None,
        };
        let interval = ratio.map(|Interval { low, high }| match self.better {
            Better::Higher => Interval { low: of(high), high: of(low) },
            Better::Lower => Interval { low: of(low), high: of(high) },
        });
        Some(Fall { percent: of(then / new), interval })
    }

    /// The value in `phase` over that when new: 1 is as new, less is worse.
    pub(super) fn share_of_new(&self, phase: Phase) -> Option<f64> {
        let (new, then) = (self.value(Phase::New)?, self.value(phase)?);
        let share = if self.better == Better::Higher { then / new } else { new / then };
        share.is_finite().then_some(share)
    }

    /// Its row of the table of drops; with the columns of the idle time if there was one.
    pub(super) fn row(&self, with_idle: bool) -> Row {
        let fall = self.fall(Phase::Used);
        let interval = fall.and_then(|fall| fall.interval);
        let mut columns = row(DropRow {
            test: self.test,
            unit: self.unit,
            new: self.value(Phase::New),
            used: self.value(Phase::Used),
            drop_percent: fall.map(|fall| fall.percent),
            drop_percent_low: interval.map(|of| of.low),
            drop_percent_high: interval.map(|of| of.high),
        });
        if with_idle {
            let fall = self.fall(Phase::AfterIdle);
            let interval = fall.and_then(|fall| fall.interval);
            columns.extend(row(IdleColumns {
                after_idle: self.value(Phase::AfterIdle),
                after_idle_drop_percent: fall.map(|fall| fall.percent),
                after_idle_drop_percent_low: interval.map(|of| of.low),
                after_idle_drop_percent_high: interval.map(|of| of.high),
            }));
        }
        columns
    }

    /// A row for each phase that was measured: the value and its interval.
    pub(super) fn intervals(&self) -> impl Iterator<Item = Row> {
        Phase::ALL.into_iter().filter_map(|phase| {
            let interval = self.interval(phase);
            Some(row(IntervalRow {
                test: self.test,
                phase: phase.key(),
                unit: self.unit,
                value: self.value(phase)?,
                value_low: interval.map(|of| of.low.max(0.0)),
                value_high: interval.map(|of| of.high),
            }))
        })
    }
}

/// The interval of mean(`of`) / mean(`to`) from the differences of their pairs; a difference between parts of
/// `to` says nothing about its mean.
fn paired_interval(of: &[f64], to: &[f64], mean: f64) -> Option<Interval> {
    if of.len() != to.len() {
        return None;
    }
    let ratios: Vec<f64> = of.iter().zip(to).map(|(of, to)| 1.0 + (of - to) / mean).collect();
    mean_interval(&ratios, CONFIDENCE_95)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(better: Better, new: &[f64], used: &[f64]) -> Comparison {
        let passes = [new.to_vec(), used.to_vec(), Vec::new()];
        Comparison { test: "t", unit: "bytes/s", better, summary: Summary::Mean, passes }
    }

    #[test]
    fn worse_is_a_drop_whichever_way_is_better() {
        let speed = comparison(Better::Higher, &[100.0; 3], &[25.0; 3]).fall(Phase::Used).unwrap();
        let latency = comparison(Better::Lower, &[100.0; 3], &[400.0; 3]).fall(Phase::Used).unwrap();
        assert_eq!((speed.percent, speed.interval), (75.0, Some(Interval { low: 75.0, high: 75.0 })));
        assert_eq!((latency.percent, latency.interval), (300.0, Some(Interval { low: 300.0, high: 300.0 })));
        assert!(
            comparison(Better::Higher, &[100.0; 3], &[150.0; 3]).fall(Phase::Used).unwrap().percent < 0.0
        );
    }

    #[test]
    fn the_interval_has_its_lower_end_first_and_holds_the_estimate() {
        for better in [Better::Higher, Better::Lower] {
            let fall =
                comparison(better, &[99.0, 101.0, 100.0], &[40.0, 60.0, 50.0]).fall(Phase::Used).unwrap();
            let interval = fall.interval.unwrap();
            assert!(interval.low < interval.high && interval.contains(fall.percent), "{better:?} {fall:?}");
        }
    }

    #[test]
    fn paired_passes_are_compared_with_each_other_only() {
        let (new, used) = ([100.0, 60.0, 20.0], [51.0, 29.0, 10.0]);
        let apart = comparison(Better::Higher, &new, &used).fall(Phase::Used).unwrap();
        let paired = Comparison { summary: Summary::MeanOfPairs, ..comparison(Better::Higher, &new, &used) };
        let paired = paired.fall(Phase::Used).unwrap();
        assert_eq!(apart.percent, paired.percent);
        // Three zones of a disk do not differ by chance: the drops are 49, 31 and 10 of 60.
        assert!((paired.percent - 50.0).abs() < 1e-9 && paired.interval.unwrap().contains(50.0));
        assert!(
            apart.interval.is_none_or(
                |of| of.high - of.low > paired.interval.unwrap().high - paired.interval.unwrap().low
            )
        );
    }

    #[test]
    fn one_pass_has_no_interval_and_nothing_has_no_drop() {
        let fall = comparison(Better::Higher, &[100.0], &[50.0]).fall(Phase::Used).unwrap();
        assert_eq!((fall.percent, fall.interval), (50.0, None));
        assert_eq!(comparison(Better::Higher, &[100.0], &[]).fall(Phase::Used), None);
        assert_eq!(comparison(Better::Higher, &[0.0], &[1.0]).fall(Phase::Used), None);
        let row = comparison(Better::Higher, &[100.0], &[]).row(true);
        assert!(row["used"].is_null() && row["drop_percent"].is_null() && row["after_idle"].is_null());
    }

    #[test]
    fn a_metric_has_a_row_for_each_phase_that_was_measured() {
        let rows: Vec<Row> = comparison(Better::Higher, &[99.0, 101.0], &[50.0]).intervals().collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((&rows[0]["phase"], &rows[0]["value"]), (&"new".into(), &100.0.into()));
        assert!(rows[0]["value_low"].as_f64().unwrap() < 99.0 && rows[1]["value_low"].is_null());
    }
}
