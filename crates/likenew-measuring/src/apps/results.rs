//! The segments of a run by application and test.

use likenew_core::recorder::Stop;
use likenew_core::segment::Segment;

use super::consistency::{Kind, PHASES, Phase};
use super::score::{PassTotals, geometric_mean, score};
use super::workload_plan::{Part, PlannedWorkload};

/// The segments of a run by application and test. A part that failed or was stopped before its own bound is
/// left out, and so is its application in that test.
pub(super) struct AppResults<'a> {
    parts: Vec<(Part, &'a Segment)>,
    planned_workloads: Vec<Part>,
    pub(super) tests: usize,
    applications: usize,
}

impl<'a> AppResults<'a> {
    pub(super) fn new(
        planned_workloads: Vec<PlannedWorkload>,
        segments: &'a [Segment],
        applications: usize,
    ) -> Self {
        let planned_workloads: Vec<Part> = planned_workloads.into_iter().map(|of| of.part).collect();
        let is_whole = |(_, segment): &(Part, &Segment)| {
            segment.stop == Stop::Reached && segment.measurement_error().is_none()
        };
        let parts = planned_workloads.iter().copied().zip(segments).filter(is_whole);
        let last = planned_workloads.iter().filter_map(|part| match part {
            Part::Test { test, .. } => Some(*test),
            _ => None,
        });
        let tests = last.max().map_or(0, |last| last + 1);
        Self { parts: parts.collect(), planned_workloads, tests, applications }
    }

    /// Number of applications.
    pub(super) fn applications(&self) -> usize {
        self.applications
    }

    /// An application in one test; `None` if it was not complete.
    pub(super) fn pass_totals(&self, test: usize, application: usize) -> Option<PassTotals> {
        let wanted = Part::Test { test, application };
        let of: Vec<&Segment> =
            self.parts.iter().filter(|(part, _)| *part == wanted).map(|(_, segment)| *segment).collect();
        let planned_workloads = self.planned_workloads.iter().filter(|part| **part == wanted).count();
        if of.len() == planned_workloads { PassTotals::from_segments(of) } else { None }
    }

    /// An application in all tests that it completed.
    pub(super) fn all(&self, application: usize) -> Vec<PassTotals> {
        (0..self.tests).filter_map(|test| self.pass_totals(test, application)).collect()
    }

    /// A test as a whole; `None` before every application completed it.
    pub(super) fn overall(&self, test: usize) -> Option<OverallScore> {
        let pass_totals: Vec<Option<PassTotals>> =
            (0..self.applications).map(|index| self.pass_totals(test, index)).collect();
        let mean = |metric: fn(&PassTotals) -> f64| {
            geometric_mean(&pass_totals.iter().map(|of| of.as_ref().map(metric)).collect::<Vec<_>>())
        };
        let bytes_per_s = mean(PassTotals::bytes_per_s)?;
        let access_time_ns = mean(PassTotals::access_time_ns)?;
        Some(OverallScore { bytes_per_s, access_time_ns, score: score(bytes_per_s, access_time_ns) })
    }

    /// Every complete test.
    pub(super) fn overalls(&self) -> Vec<OverallScore> {
        (0..self.tests).filter_map(|test| self.overall(test)).collect()
    }

    /// A phase of a consistency test: geometric means of its tests; `None` before all of them are complete.
    pub(super) fn phase(&self, phase: usize) -> Option<OverallScore> {
        let each = self.tests / PHASES.len();
        let tests: Vec<Option<OverallScore>> =
            (phase * each..(phase + 1) * each).map(|test| self.overall(test)).collect();
        let mean = |metric: fn(&OverallScore) -> f64| {
            geometric_mean(&tests.iter().map(|of| of.as_ref().map(metric)).collect::<Vec<_>>())
        };
        Some(OverallScore {
            bytes_per_s: mean(|of| of.bytes_per_s)?,
            access_time_ns: mean(|of| of.access_time_ns)?,
            score: mean(|of| of.score)?,
        })
    }

    /// The phases that were measured.
    pub(super) fn phases(&self) -> Vec<(&'static Phase, OverallScore)> {
        PHASES.iter().enumerate().filter_map(|(index, phase)| Some((phase, self.phase(index)?))).collect()
    }

    /// The scores of the phases of a kind that were measured.
    pub(super) fn scores(&self, kind: Kind) -> Vec<f64> {
        self.phases().into_iter().filter(|(phase, _)| phase.kind == kind).map(|(_, of)| of.score).collect()
    }

    /// The random writes before a phase.
    pub(super) fn writes(&self, phase: usize) -> Option<&'a Segment> {
        let wanted = Part::Writes { phase };
        self.parts.iter().find(|(part, _)| *part == wanted).map(|(_, segment)| *segment)
    }
}

/// All applications of a test together: geometric means, so that each counts the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OverallScore {
    pub(super) bytes_per_s: f64,
    pub(super) access_time_ns: f64,
    /// Score of the two; equal to the geometric mean of the applications' scores.
    pub(super) score: f64,
}
