//! What explains a curve: every form is fitted, each is held to points that it has not seen, and the simplest that predicts them as well as any is believed.

use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::held_out::{HeldOut, held_out, simplest_as_good};
use likenew_stats::summary::median;
use serde::Serialize;

use super::form::{Fitted, Form, Grain, Observation};
use super::point::{Curve, Point};

/// A form that was tried on a curve.
pub(super) struct Tried {
    pub(super) form: Form,
    pub(super) fitted: Option<Fitted>,
    pub(super) held: Option<HeldOut>,
}

/// A curve and what explains it.
pub(super) struct Account {
    pub(super) curve: Curve,
    /// In order of length, then depth.
    pub(super) observations: Vec<Observation>,
    /// Simplest first.
    pub(super) tried: Vec<Tried>,
    chosen: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct ModelRow {
    op: String,
    pattern: &'static str,
    model: &'static str,
    chosen: bool,
    parameters: usize,
    held_out_points: Option<usize>,
    held_out_error_percent: Option<f64>,
    held_out_error_percent_max: Option<f64>,
}

/// A model whose predictions are off by more than this on average explains nothing.
const EXPLAINS: f64 = 0.15;
/// Where points themselves are not known to a quarter of what predictions are off by, it may be noise.
const NOISE: f64 = 0.25;
/// Times that differ by so many deviations differ; many pairs are compared.
const DEVIATIONS: f64 = 3.0;
/// Fewer points than this held out decide nothing.
const HELD_MIN: usize = 4;

impl Account {
    pub(super) fn new(curve: Curve, mut observations: Vec<Observation>, grain: Grain) -> Self {
        observations.sort_by_key(|of| (of.point.bytes, of.point.depth, of.point.way.to_string()));
        let key = |of: &Observation| match curve {
            Curve::Depth(_) => u64::from(of.point.depth),
            _ => of.point.bytes,
        };
        // What lies beyond what was measured is no model's word, so that the ends are always in the fit.
        let (least, most) = (observations.iter().map(key).min(), observations.iter().map(key).max());
        let inner = (0..observations.len()).filter(|index| {
            let key = Some(key(&observations[*index]));
            key != least && key != most
        });
        let inner: Vec<usize> = inner.collect();
        let values: Vec<f64> = observations.iter().map(|of| of.ns).collect();
        let tried = Form::of(curve).iter().map(|form| {
            let predict = |kept: &[usize], held: usize| {
                let kept: Vec<Observation> = kept.iter().map(|index| observations[*index]).collect();
                Some(form.fit(&kept, grain)?.ns(&observations[held].point))
            };
            let is_open = *form != Form::Clusters || has_cheaper_longer(&observations);
            let held =
                held_out(&values, &inner, predict).filter(|held| is_open && held.errors.len() >= HELD_MIN);
            Tried { form: *form, fitted: form.fit(&observations, grain), held }
        });
        let mut tried: Vec<Tried> = tried.collect();
        // Of forms with as many numbers the better one comes first.
        let error = |of: &Tried| of.held.as_ref().map_or(f64::INFINITY, HeldOut::typical);
        tried.sort_by(|one, other| {
            let parameters = one.form.parameters().cmp(&other.form.parameters());
            parameters.then(error(one).total_cmp(&error(other)))
        });
        let errors: Vec<Option<HeldOut>> = tried.iter().map(|tried| tried.held.clone()).collect();
        Self { curve, chosen: simplest_as_good(&errors), observations, tried }
    }

    /// The form that is believed, with what it was off by.
    pub(super) fn chosen(&self) -> Option<(&Fitted, &HeldOut)> {
        let tried = &self.tried[self.chosen?];
        Some((tried.fitted.as_ref()?, tried.held.as_ref()?))
    }

    /// The form that is believed, if its predictions hold.
    pub(super) fn explanation(&self) -> Option<&Fitted> {
        self.chosen().filter(|(_, held)| held.typical() <= EXPLAINS).map(|(fitted, _)| fitted)
    }

    /// What was measured at a point, as it went into the fit.
    pub(super) fn observation(&self, point: &Point) -> Option<&Observation> {
        self.observations.iter().find(|of| of.point == *point)
    }

    /// How far points are known, typically, as a share.
    pub(super) fn noise(&self) -> Option<f64> {
        median(&self.observations.iter().map(|of| of.deviation).collect::<Vec<_>>())
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = ModelRow> {
        self.tried.iter().enumerate().map(|(index, tried)| ModelRow {
            op: self.curve.op().to_string(),
            pattern: self.curve.pattern(),
            model: tried.form.name(),
            chosen: self.chosen == Some(index),
            parameters: tried.form.parameters(),
            held_out_points: tried.held.as_ref().map(|held| held.errors.len()),
            held_out_error_percent: tried.held.as_ref().map(|held| held.typical() * 100.0),
            held_out_error_percent_max: tried.held.as_ref().map(|held| held.worst() * 100.0),
        })
    }

    /// Whether it is explained, by what, and by how much better than by anything else.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let noun = self.curve.noun();
        if self.observations.is_empty() {
            return None;
        }
        let Some((fitted, held)) = self.chosen() else {
            let count = self.observations.len();
            return Some(
                Verdict::new(format!("A model explains {noun}."), Standing::Undecided)
                    .because(format!("{count} points are too few to hold some of them out"))
                    .caveat("more bytes or more time would tell: --bytes, --time"),
            );
        };
        let (typical, worst, noise) = (held.typical(), held.worst(), self.noise()?);
        let (claim, standing) = if typical <= EXPLAINS {
            (
                format!("{} explains {noun}, to {}.", capital(fitted.form.name()), percent(typical)),
                Standing::Holds,
            )
        } else if noise >= NOISE * typical {
            (format!("A model explains {noun}."), Standing::Undecided)
        } else {
            (format!("A model of mine explains {noun}."), Standing::Fails)
        };
        let because = format!(
            "{} points that were held out of the fit were predicted to {} on average and to {} at worst, by {}",
            held.errors.len(),
            percent(typical),
            percent(worst),
            fitted.form.name()
        );
        let mut verdict = Verdict::new(claim, standing).because(because);
        if let Some((name, other)) = self.next_best() {
            verdict = verdict.because(format!("{name} predicts them to {}", percent(other)));
        }
        if standing == Standing::Undecided {
            verdict = verdict.caveat(format!(
                "the points themselves are known to no better than {}: noise, of the drive or of others that use it",
                percent(noise)
            ));
        }
        Some(verdict)
    }

    /// The best of what else was tried.
    fn next_best(&self) -> Option<(&'static str, f64)> {
        let others = self.tried.iter().enumerate().filter(|(index, _)| Some(*index) != self.chosen);
        let errors =
            others.filter_map(|(_, tried)| Some((tried.form.name(), tried.held.as_ref()?.typical())));
        errors.min_by(|(_, one), (_, other)| one.total_cmp(other))
    }
}

/// Whether some request takes less time than one that is no longer: only a penalty that it does not pay explains that, and without it none
/// is claimed.
fn has_cheaper_longer(observations: &[Observation]) -> bool {
    let is_cheaper = |long: &Observation, short: &Observation| {
        let error = DEVIATIONS * long.deviation.hypot(short.deviation);
        long.point.bytes >= short.point.bytes && (short.ns / long.ns).ln() > error
    };
    observations.iter().any(|long| observations.iter().any(|short| is_cheaper(long, short)))
}

/// A share for people: `3.2 %`, `48 %`; a factor where it is large.
pub(super) fn percent(share: f64) -> String {
    match share {
        _ if share >= 9.0 => format!("a factor of {:.0}", share + 1.0),
        _ if share >= 0.0995 => format!("{:.0} %", share * 100.0),
        _ => format!("{:.1} %", share * 100.0),
    }
}

/// With a capital first letter.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
