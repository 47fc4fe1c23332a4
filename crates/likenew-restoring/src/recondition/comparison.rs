//! The same check before and after a step: how much each metric changed, and whether that is more than
//! repeating the check would give.

use likenew_core::io::Op;
use likenew_core::quantity::Rate;
use likenew_diagnosis::{FoundCause, Measured, Metric, Symptom};
use likenew_procedure_support::estimate::distinct;
use likenew_stats::interval::{CONFIDENCE_95, window_interval};

use super::step_name::StepName;
use crate::check::DiagnosedCheck;

/// A measure that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// A metric of the check.
    Metric(Metric),
    /// Sequential reads of old data.
    OldData,
    /// The same addresses rewritten, in the first pass and in the second.
    Rewriting,
}

impl Measure {
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Metric(metric) => metric.unit(),
            Self::OldData | Self::Rewriting => "bytes/s",
        }
    }

    pub(super) fn format_value(self, value: f64) -> String {
        match self {
            Self::Metric(metric) => metric.format_value(value),
            Self::OldData | Self::Rewriting => Rate(value).to_string(),
        }
    }

    /// Whether it shows how fast reads are, which no step for slow writes changes.
    pub(super) fn is_of_reads(self) -> bool {
        matches!(self, Self::Metric(metric) if metric.op() == Op::Read)
    }

    /// The measure that shows a symptom.
    fn for_symptom(symptom: Symptom) -> Option<Self> {
        Some(match symptom {
            Symptom::Below(metric) => Self::Metric(metric),
            Symptom::RewrittenFaster | Symptom::WriteCliff | Symptom::Stalls => {
                Self::Metric(Metric::SustainedWrite)
            }
            Symptom::NewDataFaster | Symptom::SlowRegions => Self::OldData,
            _ => return None,
        })
    }

    /// The measures that show what a step does if no cause calls for it; empty if any measure may.
    pub(super) fn shown_by(step: StepName) -> Vec<Self> {
        match step {
            StepName::Refresh => Vec::new(),
            _ => [Metric::SequentialWrite, Metric::SustainedWrite, Metric::RandomWrite]
                .map(Self::Metric)
                .to_vec(),
        }
    }

    /// The measures that show whether causes are gone.
    pub(super) fn metrics_showing(causes: &[&FoundCause]) -> Vec<Self> {
        let symptoms = causes.iter().flat_map(|cause| cause.explains.iter().copied());
        distinct(symptoms.filter_map(Self::for_symptom))
    }
}

/// One measure, before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    pub(super) measure: Measure,
    pub(super) before: Measured,
    pub(super) after: Measured,
    /// Its goal, if known.
    pub(super) reference: Option<Goal>,
}

/// The goal of a metric, in its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Goal {
    pub(super) value: f64,
    /// Share of it from which the goal counts as reached.
    pub(super) least: f64,
    /// The words after "97% of".
    pub(super) words: &'static str,
}

impl Change {
    /// From speeds of rewriting the same addresses before and after, in bytes a second.
    pub(super) fn of_rewriting(before: &[f64], after: &[f64]) -> Option<Self> {
        let measured = |speeds: &[f64]| {
            let mean = speeds.iter().sum::<f64>() / speeds.len() as f64;
            let interval = window_interval(speeds, CONFIDENCE_95)?;
            Some(Measured::new(mean, interval.low.max(0.0), interval.high))
        };
        let (before, after) = (measured(before)?, measured(after)?);
        Some(Self { measure: Measure::Rewriting, before, after, reference: None })
    }

    pub(super) fn ratio(&self) -> Measured {
        self.after.divide_by(self.before)
    }

    /// Whether it became faster beyond doubt: its whole interval is above "no change".
    pub(super) fn is_certain(&self) -> bool {
        self.ratio().low > 1.0
    }

    /// How far it moved toward its goal, as a share of the goal; `None` without one.
    fn gain(&self) -> Option<f64> {
        self.reference.map(|goal| (self.after.value - self.before.value) / goal.value)
    }

    /// Whether it certainly was below its goal; true without a goal.
    pub(super) fn was_slow(&self) -> bool {
        self.reference.is_none_or(|goal| self.before.high < AT_GOAL * goal.value)
    }

    /// Whether it certainly left its goal far behind, so the goal is that of a drive in another state: fuller, for example.
    pub(super) fn surpasses_goal(&self) -> bool {
        self.reference.is_some_and(|goal| self.after.low > SURPASSED * goal.value)
    }

    /// Whether it reached its goal; `None` if that is unknown.
    pub(super) fn is_restored(&self) -> Option<bool> {
        self.reference.map(|goal| self.after.value >= goal.value * goal.least)
    }
}

/// Share of a goal from which nothing is missing. Chosen: what is called restored.
const AT_GOAL: f64 = 0.95;

/// Speed over a goal, as a ratio, from which the goal says nothing about the drive. Chosen: no drive exceeds new ones by half.
const SURPASSED: f64 = 1.5;

/// Least change that counts, as a share of the goal. Chosen: after a loss of 98%, nobody feels a hundredth more.
const GAIN_LEAST: f64 = 0.03;

/// Whether a step helped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Yes,
    No,
    /// The measurements are too uncertain.
    Undecided,
    /// It is faster, but something else may have done that.
    Unattributed,
}

/// Probability, in 0..1, from which a change is certain. Chosen: the usual 95%.
const SURE: f64 = 0.95;

impl Effect {
    /// As a word of a table.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Undecided | Self::Unattributed => "undecided",
        }
    }

    /// From the measures that should show it: one has to be faster by more than `noticeable`. If `is_known` is false,
    /// any of many may be faster by chance, so it also has to have been slow or to be far above its goal, and none may be
    /// slower.
    pub(super) fn classify(changes: &[&Change], noticeable: f64, is_known: bool) -> Self {
        let counts = |change: &Change| {
            let has_room = is_known || change.was_slow() || change.surpasses_goal();
            has_room && change.gain().is_none_or(|gain| gain >= GAIN_LEAST)
        };
        let faster =
            |change: &&Change| if counts(change) { change.ratio().chance_above(noticeable) } else { 0.0 };
        let is_faster = changes.iter().any(|change| faster(change) >= SURE);
        let slower = if is_known { 1.0 / noticeable } else { 1.0 };
        let is_slower = changes.iter().any(|change| change.ratio().chance_above(slower) <= 1.0 - SURE);
        if is_faster && !is_slower {
            Self::Yes
        } else if !is_faster && changes.iter().all(|change| faster(change) <= 0.5) {
            Self::No
        } else {
            Self::Undecided
        }
    }
}

/// The change to report: the certain one with the largest lower end, else the largest. So no success is
/// quoted with a range that includes "no change".
pub(super) fn largest<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Option<&'a Change> {
    let rank = |change: &Change| match change.ratio() {
        ratio if change.is_certain() => (true, ratio.low),
        ratio => (false, ratio.value),
    };
    changes.into_iter().max_by(|one, other| {
        let (one, other) = (rank(one), rank(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    })
}

/// Every measure that both checks have.
pub(super) fn changes(before: &DiagnosedCheck<'_>, after: &DiagnosedCheck<'_>) -> Vec<Change> {
    let before = measures(before);
    let pairs = measures(after).into_iter().filter_map(|(measure, after, reference)| {
        let (_, before, _) = before.iter().find(|(known, ..)| *known == measure)?;
        Some(Change { measure, before: *before, after, reference })
    });
    pairs.collect()
}

fn measures(check: &DiagnosedCheck<'_>) -> Vec<(Measure, Measured, Option<Goal>)> {
    let case = check.case();
    let metrics = case.measurements.metrics.iter().map(|(metric, measurement)| {
        let reference = case.shortfall(*metric).map(|(_, reference)| Goal {
            value: reference.value,
            least: reference.share_least(),
            words: reference.origin.words(),
        });
        (Measure::Metric(*metric), *measurement, reference)
    });
    let old = check.results.old_data().map(|measurement| {
        let fresh = case.measurements.new_over_old_data.map(|ratio| measurement.value * ratio.value);
        let goal = |value| Goal { value, least: FRESH_LEAST, words: "fresh data" };
        (Measure::OldData, measurement, fresh.map(goal))
    });
    metrics.chain(old).collect()
}

/// Speed of old data over that of fresh data, as a ratio, from which it is healthy: the diagnosis sees no
/// symptom below 1.5 times the time.
const FRESH_LEAST: f64 = 1.0 / 1.5;

#[cfg(test)]
mod tests {
    use super::*;

    fn of_old_data(before: f64, after: f64, share: f64) -> Change {
        Change {
            measure: Measure::OldData,
            before: Measured::with_interval(before, share),
            after: Measured::with_interval(after, share),
            reference: Some(Goal { value: 80.0, least: 0.7, words: "new" }),
        }
    }

    #[test]
    fn a_step_helped_if_something_is_faster_and_nothing_slower() {
        let (faster, same, slower) =
            (of_old_data(30.0, 75.0, 0.05), of_old_data(30.0, 30.2, 0.05), of_old_data(30.0, 20.0, 0.05));
        assert_eq!(Effect::classify(&[&faster, &same], 1.1, true), Effect::Yes);
        assert_eq!(Effect::classify(&[&same], 1.1, true), Effect::No);
        assert_eq!(Effect::classify(&[&faster, &slower], 1.1, true), Effect::Undecided);
        assert_eq!(Effect::classify(&[&slower], 1.1, true), Effect::No);
        let little = of_old_data(30.0, 28.0, 0.02);
        assert_eq!(Effect::classify(&[&faster, &little], 1.6, true), Effect::Yes);
        assert_eq!(Effect::classify(&[&faster, &little], 1.6, false), Effect::Undecided);
        let wide = of_old_data(30.0, 40.0, 0.3);
        assert_eq!(Effect::classify(&[&wide], 1.1, true), Effect::Undecided, "{:?}", wide.ratio());
        assert_eq!((faster.is_restored(), same.is_restored()), (Some(true), Some(false)));
        let not_slow = of_old_data(78.0, 90.0, 0.01);
        assert_eq!(Effect::classify(&[&not_slow], 1.1, true), Effect::Yes, "{:?}", not_slow.ratio());
        assert_eq!(Effect::classify(&[&not_slow], 1.1, false), Effect::No, "it had not fallen");
        let unbounded = of_old_data(78.0, 300.0, 0.01);
        assert_eq!(Effect::classify(&[&unbounded], 1.1, false), Effect::Yes, "a full drive was its goal");
        let tiny = of_old_data(0.4, 0.47, 0.01);
        assert_eq!(Effect::classify(&[&tiny], 1.1, true), Effect::No, "of 80 that is nothing");
    }

    #[test]
    fn what_shows_a_cause_is_counted_once() {
        let symptoms = [
            Symptom::Below(Metric::SequentialWrite),
            Symptom::Stalls,
            Symptom::WriteCliff,
            Symptom::BackgroundIo,
        ];
        let measures: Vec<_> = symptoms.into_iter().filter_map(Measure::for_symptom).collect();
        let on = Measure::Metric(Metric::SustainedWrite);
        assert_eq!(measures, [Measure::Metric(Metric::SequentialWrite), on, on]);
    }
}
