//! What the segments of a run say of each application in each test.

use likenew_core::recorder::Stop;
use likenew_core::segment::Segment;

use super::consistency::{Kind, PHASES, Phase};
use super::course::{Part, Planned};
use super::score::{Played, geometric_mean, score};

/// The segments of a run by what they are for. A part that failed or was stopped before its own bound is left out, and so is all of
/// its application's test.
pub(super) struct Measured<'a> {
    parts: Vec<(Part, &'a Segment)>,
    planned: Vec<Part>,
    pub(super) tests: usize,
    applications: usize,
}

impl<'a> Measured<'a> {
    pub(super) fn new(planned: Vec<Planned>, segments: &'a [Segment], applications: usize) -> Self {
        let planned: Vec<Part> = planned.into_iter().map(|of| of.part).collect();
        let is_whole = |(_, segment): &(Part, &Segment)| {
            segment.stop == Stop::Reached && segment.measurement_error().is_none()
        };
        let parts = planned.iter().copied().zip(segments).filter(is_whole);
        let last = planned.iter().filter_map(|part| match part {
            Part::Test { test, .. } => Some(*test),
            _ => None,
        });
        let tests = last.max().map_or(0, |last| last + 1);
        Self { parts: parts.collect(), planned, tests, applications }
    }

    /// How many are played.
    pub(super) fn applications(&self) -> usize {
        self.applications
    }

    /// An application in one test; none where not all of it was played.
    pub(super) fn played(&self, test: usize, application: usize) -> Option<Played> {
        let wanted = Part::Test { test, application };
        let of: Vec<&Segment> =
            self.parts.iter().filter(|(part, _)| *part == wanted).map(|(_, segment)| *segment).collect();
        let planned = self.planned.iter().filter(|part| **part == wanted).count();
        if of.len() == planned { Played::of(of) } else { None }
    }

    /// An application in all tests, as far as they were played.
    pub(super) fn all(&self, application: usize) -> Vec<Played> {
        (0..self.tests).filter_map(|test| self.played(test, application)).collect()
    }

    /// A test as a whole; none before every application was played.
    pub(super) fn overall(&self, test: usize) -> Option<Overall> {
        let played: Vec<Option<Played>> =
            (0..self.applications).map(|index| self.played(test, index)).collect();
        let mean = |figure: fn(&Played) -> f64| {
            geometric_mean(&played.iter().map(|of| of.as_ref().map(figure)).collect::<Vec<_>>())
        };
        let bytes_per_s = mean(Played::bytes_per_s)?;
        let access_time_ns = mean(Played::access_time_ns)?;
        Some(Overall { bytes_per_s, access_time_ns, score: score(bytes_per_s, access_time_ns) })
    }

    /// Every test that was played as a whole.
    pub(super) fn overalls(&self) -> Vec<Overall> {
        (0..self.tests).filter_map(|test| self.overall(test)).collect()
    }

    /// A phase of a consistency test: geometric means of its tests; none before all of them were played.
    pub(super) fn phase(&self, phase: usize) -> Option<Overall> {
        let each = self.tests / PHASES.len();
        let tests: Vec<Option<Overall>> =
            (phase * each..(phase + 1) * each).map(|test| self.overall(test)).collect();
        let mean = |figure: fn(&Overall) -> f64| {
            geometric_mean(&tests.iter().map(|of| of.as_ref().map(figure)).collect::<Vec<_>>())
        };
        Some(Overall {
            bytes_per_s: mean(|of| of.bytes_per_s)?,
            access_time_ns: mean(|of| of.access_time_ns)?,
            score: mean(|of| of.score)?,
        })
    }

    /// The phases that were measured.
    pub(super) fn phases(&self) -> Vec<(&'static Phase, Overall)> {
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
pub(super) struct Overall {
    pub(super) bytes_per_s: f64,
    pub(super) access_time_ns: f64,
    /// Of the two; equal to the geometric mean of the applications' scores.
    pub(super) score: f64,
}
