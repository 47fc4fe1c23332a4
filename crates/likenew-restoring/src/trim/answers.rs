//! Turns the evidence of trim into answers, tables and charts. The first step that decides says whether TRIM reaches the drive.

use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Findings, Line, Row, Series, Shape, Standing};
use likenew_core::probe::Layer;
use likenew_core::procedure::Evidence;
use likenew_core::row;
use likenew_core::segment::Segment;
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{axis, speed};
use likenew_stats::summary::mean;

use super::TrimOptions;
use super::trim_evidence::{Outcome, TrimEvidence, TrimStep};
use super::wording::{self, Comparison};
use crate::site::{add_series, likenew};

/// What the answers are made from.
pub(super) struct Case<'a> {
    pub(super) options: &'a TrimOptions,
    pub(super) evidence: &'a Evidence,
    pub(super) trim_evidence: &'a TrimEvidence<'a>,
    pub(super) steps: &'a [TrimStep],
    pub(super) worth: &'a Worth<'a>,
}

impl Case<'_> {
    /// The headline, and every answer, most important first.
    pub(super) fn conclude(&self) -> (String, Vec<Answer>) {
        let (mut summary, reach) = self.reach();
        let mut answers = vec![self.advise(reach)];
        let lost = self.trim_evidence.lost_bytes();
        if lost > 0 {
            let (lost_summary, answer) = wording::damaged_neighbors(lost);
            // Lost data is worse than a TRIM that does not arrive.
            summary = lost_summary;
            answers.insert(0, answer);
        }
        answers.extend(self.effect());
        (summary, answers)
    }

    fn reach(&self) -> (String, Answer) {
        let Self { trim_evidence, steps, worth, .. } = *self;
        let decisive: Vec<TrimStep> = steps.iter().filter(|step| step.decisive).cloned().collect();
        let relevant = if decisive.is_empty() { steps } else { &decisive };
        let failed = |answer: (String, Answer)| {
            let (summary, answer) = if trim_evidence.rotates() { wording::not_needed() } else { answer };
            (summary, wording::with_steps(answer, relevant))
        };
        if let Some(layer) = trim_evidence.blocked_by() {
            let is_drive = trim_evidence.layers().last() == Some(layer);
            let drive = trim_evidence.layers().last().map(|layer| &*layer.name);
            return failed(if is_drive {
                wording::drive_takes_none(layer)
            } else {
                wording::stops_at(layer, drive)
            });
        }
        if trim_evidence.has_no_trim() {
            return failed(wording::unsupported());
        }
        if trim_evidence.violates_claim() {
            return failed(wording::promise_broken());
        }
        if let Some(proof) = decisive.first() {
            let ratio = worth.ratio.filter(|_| worth.gain() == Verdict::Above);
            return (wording::reaches_summary(ratio.map(|ratio| ratio.value)), wording::reaches(proof));
        }
        let is_without_effect =
            worth.gain() == Verdict::Below && worth.frees_enough() && trim_evidence.is_silent();
        if let Some(comparison) = worth.comparison().filter(|_| is_without_effect) {
            return failed(wording::no_effect(&comparison));
        }
        let (summary, answer) = self.undecided();
        (summary, wording::with_steps(answer, steps))
    }

    /// Why it is unknown whether TRIM arrives.
    fn undecided(&self) -> (String, Answer) {
        let Self { evidence, trim_evidence, .. } = self;
        if trim_evidence.path.is_none() {
            return wording::not_begun();
        }
        if let Some(reason) = trim_evidence.refusal {
            return wording::not_sent(reason);
        }
        match (trim_evidence.read_back, trim_evidence.outcome()) {
            (None, _) if !evidence.geometry.writable => wording::only_inspected(),
            (None, _) => wording::not_begun(),
            (Some(Err(reason)), _) => wording::not_read(reason),
            (_, Some(Outcome::OldData)) => wording::old_data(),
            (_, Some(Outcome::Other)) => wording::other_data(),
            _ => wording::no_proof(),
        }
    }

    /// Adds the limits of the answer, and actions.
    fn advise(&self, mut answer: Answer) -> Answer {
        let Self { options, evidence, trim_evidence, .. } = self;
        if answer.standing == Standing::Problem {
            let command = likenew("check", evidence, "");
            return answer.action(wording::without_trim(command));
        }
        if answer.standing == Standing::Info {
            return answer;
        }
        if trim_evidence.path.and_then(|path| path.ok()?.immediate) == Some(false) {
            answer = answer.caveat(wording::SENT_BY_FSTRIM_ONLY).action(wording::check_timer());
        }
        if matches!(trim_evidence.outcome(), Some(Outcome::Zeros | Outcome::Ones)) {
            answer = answer.caveat(wording::SEEN_AT_THE_TOP);
        }
        if answer.standing == Standing::Unknown && trim_evidence.read_back.is_none() {
            let is_only_inspected = matches!(evidence.identity.kind, TargetKind::Device | TargetKind::File);
            return if is_only_inspected { answer.caveat(wording::TEST_FOLDER) } else { answer };
        }
        let could_measure = !options.worth && evidence.geometry.writable && trim_evidence.refusal.is_none();
        if answer.standing == Standing::Unknown && could_measure {
            answer = answer.action(wording::measure_effect(likenew("trim", evidence, "")));
        }
        answer
    }

    /// Whether TRIM has an effect, if that was to be measured and could be.
    fn effect(&self) -> Option<Answer> {
        let Self { options, evidence, worth, .. } = self;
        if !worth.is_measured {
            return None;
        }
        if let Some(reason) = worth.refusal {
            return Some(wording::gain_not_measured(reason));
        }
        let (comparison, gain) = (worth.comparison()?, worth.gain());
        let mut answer = comparison.ratio.put(wording::gain(&comparison, gain), "×");
        if !matches!(gain, Verdict::Above | Verdict::Below) {
            let passes = format!("--passes {}", (2 * options.passes).max(4));
            answer = answer.action(wording::more_passes(likenew("trim", evidence, &passes)));
        }
        if gain != Verdict::Above && !worth.frees_enough() {
            answer = answer.caveat(wording::freed_too_little(worth.released_share));
        }
        Some(answer)
    }
}

/// A layer as a row.
pub(super) fn layer_row(layer: &Layer) -> Row {
    row! {
        layer: &layer.name,
        kind: &layer.kind,
        passes: wording::passes(layer.passes),
        largest_discard_bytes: layer.discard_max_bytes,
        granularity_bytes: layer.granularity_bytes,
        evidence: &layer.evidence,
        remedy: layer.remedy.as_deref(),
    }
}

/// Percentiles at which latencies are drawn.
const SHARES: [usize; 11] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99];

/// Draws the charts that have data.
pub(super) fn draw(findings: &mut Findings, trim_evidence: &TrimEvidence<'_>, worth: &Worth<'_>) {
    let lines = [(wording::WITHOUT, false), (wording::WITH, true)].map(|(name, trimmed)| {
        let speeds = worth.speeds(trimmed).into_iter().enumerate();
        Line::new(name, speeds.map(|(index, speed)| [index as f64 + 1.0, speed]).collect())
    });
    let effect = Series::new(wording::EFFECT_TITLE, Shape::Line, axis("pass", ""), speed()).lines(lines);
    add_series(findings, "worth", effect);
    let Some(Ok(result)) = trim_evidence.read_back else { return };
    if result.probes_kept_ns.is_empty() {
        return;
    }
    let quantiles = |name: &str, ns: &[u64]| {
        let mut sorted = ns.to_vec();
        sorted.sort_unstable();
        let at = |share: usize| sorted[(share * (sorted.len() - 1)) / 100] as f64;
        Line::new(name, SHARES.iter().map(|share| [*share as f64, at(*share)]).collect())
    };
    let lines = [
        quantiles(wording::KEPT, &result.probes_kept_ns),
        quantiles(wording::FREED, &result.probes_released_ns),
    ];
    let picture =
        Series::new(wording::LATENCY_TITLE, Shape::Line, axis("percentile", "%"), axis("latency", "ns"))
            .lines(lines);
    add_series(findings, "probes", picture);
}

impl TrimEvidence<'_> {
    /// Every step taken.
    pub(super) fn steps(&self, worth: &Worth<'_>) -> Vec<TrimStep> {
        let read_back = self.read_back.and_then(Result::ok);
        let sending = read_back.map(|result| {
            let (answer, evidence) = (wording::sent(&result.sent), wording::sent_evidence(&result.sent));
            TrimStep::new("sending", wording::SENDING, answer, evidence, false)
        });
        let timing = self.timing().zip(read_back).map(|(ratio, result)| {
            let decisive = self.answers_from_map();
            let evidence = wording::timing_evidence(ratio, result.probes_kept_ns.len());
            TrimStep::new("timing", wording::TIMING, wording::timing(decisive), evidence, decisive)
        });
        let accounting = read_back.and_then(|result| result.allocated.as_ref()).map(|allocated| {
            let decisive = self.frees_allocation();
            let (answer, evidence) = (wording::accounting(decisive), wording::accounting_evidence(allocated));
            TrimStep::new("accounting", wording::ACCOUNTING, answer, evidence, decisive)
        });
        let steps = [
            self.capability(),
            self.claimed_step(),
            sending,
            self.reading_back(),
            timing,
            accounting,
            worth.step(),
        ];
        steps.into_iter().flatten().collect()
    }

    fn capability(&self) -> Option<TrimStep> {
        let (step, question) = ("capability", wording::CAPABILITY);
        Some(match self.path? {
            Err(reason) => not_possible(step, question, reason),
            Ok(path) => {
                let nobody_says = path.layers.iter().all(|layer| layer.passes.is_none());
                let answer = wording::layers_pass(path.blocked_by(), nobody_says);
                let evidence = wording::layers_evidence(&path.layers);
                TrimStep::new(step, question, answer, evidence, self.is_blocked())
            }
        })
    }

    fn claimed_step(&self) -> Option<TrimStep> {
        let (step, question) = ("claims", wording::CLAIMS);
        Some(match self.claims? {
            Err(reason) => not_possible(step, question, reason),
            Ok(claims) => {
                let answer = wording::claims(claims.trims, claims.reads_as);
                TrimStep::new(step, question, answer, &claims.evidence, self.has_no_trim())
            }
        })
    }

    fn reading_back(&self) -> Option<TrimStep> {
        let (step, question) = ("read_back", wording::READ_BACK);
        let result = match self.read_back? {
            Err(reason) => return Some(not_possible(step, question, reason)),
            Ok(result) => result,
        };
        let Some(outcome) = self.outcome() else {
            let reason = result.read_error.as_deref().unwrap_or(wording::NOT_READ);
            return Some(not_possible(step, question, reason));
        };
        let contents = wording::contents([
            ("before", result.before_release),
            ("after", result.released_half),
            ("after the wait", result.released_half_later),
            ("kept beside it", result.kept_half),
        ]);
        let decisive = outcome.is_trimmed() || self.violates_claim();
        Some(TrimStep::new(step, question, wording::outcome(outcome), contents, decisive))
    }
}

fn not_possible(step: &'static str, question: &'static str, reason: &str) -> TrimStep {
    TrimStep::new(step, question, wording::NOT_POSSIBLE, reason, false)
}

/// Ratio of the two speeds below which there is no difference. Chosen: less is not worth setting TRIM up for.
const RATIO_INSIGNIFICANT: f64 = 1.05;
/// Share of the medium that must be freed for a drive that obeys TRIM to gain. Chosen: a quarter multiplies
/// the spare flash of any drive; only a drive that never had to collect garbage gains nothing.
const MUCH: f64 = 0.25;

/// A pass of random writes that counts.
pub(super) struct Pass<'e> {
    /// Whether TRIM was sent before.
    pub(super) trimmed: bool,
    pub(super) segment: &'e Segment,
}

/// The effect of TRIM: random writes with it over random writes without.
pub(super) struct Worth<'e> {
    passes: Vec<Pass<'e>>,
    pub(super) is_measured: bool,
    /// Why TRIM could not be sent.
    pub(super) refusal: Option<&'e str>,
    released_bytes: u64,
    pub(super) released_share: Option<f64>,
    /// Mean speed with TRIM over mean speed without. If TRIM could not be sent, it has no interval.
    pub(super) ratio: Option<Estimate>,
}

impl<'e> Worth<'e> {
    /// From the passes without errors.
    pub(super) fn new(
        mut passes: Vec<Pass<'e>>,
        trim_evidence: &TrimEvidence<'e>,
        released_bytes: u64,
        is_measured: bool,
    ) -> Self {
        passes.retain(|pass| pass.segment.measurement_error().is_none());
        let medium = trim_evidence.path.and_then(|path| path.ok()?.medium_bytes);
        let released_share = medium.map(|medium| released_bytes as f64 / medium.max(1) as f64);
        let refusal = trim_evidence.refusal.or(trim_evidence.not_released);
        let mut worth = Self { passes, is_measured, refusal, released_bytes, released_share, ratio: None };
        let ratio = Estimate::of_ratio(&worth.speeds(true), &worth.speeds(false));
        worth.ratio = ratio.filter(|ratio| ratio.value.is_finite()).map(|ratio| match refusal {
            Some(_) => Estimate { interval: None, ..ratio },
            None => ratio.not_negative(),
        });
        worth
    }

    /// Speeds of the passes with or without TRIM, in bytes a second.
    pub(super) fn speeds(&self, trimmed: bool) -> Vec<f64> {
        let passes = self.passes.iter().filter(|pass| pass.trimmed == trimmed);
        passes.filter_map(|pass| pass.segment.bytes_per_s()).collect()
    }

    /// Whether random writes are faster with TRIM, or certainly not.
    pub(super) fn gain(&self) -> Verdict {
        self.ratio.map_or(Verdict::Unclear, |ratio| ratio.against(RATIO_INSIGNIFICANT))
    }

    /// Whether enough was freed for a drive that obeys TRIM to show it.
    pub(super) fn frees_enough(&self) -> bool {
        self.released_share.is_some_and(|share| share >= MUCH)
    }

    fn step(&self) -> Option<TrimStep> {
        let (comparison, gain) = (self.comparison()?, self.gain());
        let (answer, evidence) = (wording::gain_step(&comparison, gain), wording::gain_evidence(&comparison));
        Some(TrimStep::new("effect", wording::GAIN, answer, evidence, gain == Verdict::Above))
    }

    pub(super) fn comparison(&self) -> Option<Comparison> {
        Some(Comparison {
            ratio: self.ratio?,
            passes_with: self.speeds(true).len(),
            passes_without: self.speeds(false).len(),
            freed_bytes: self.released_bytes,
            freed_share: self.released_share,
        })
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let row = |ratio| {
            row! {
                test: wording::RANDOM_WRITE,
                without_bytes_per_s: mean(&self.speeds(false)),
                with_bytes_per_s: mean(&self.speeds(true)),
            }
            .with_estimate("ratio", Some(ratio))
            .with("freed_bytes", self.released_bytes)
            .with("freed_percent", self.released_share.map(|share| share * 100.0))
        };
        self.ratio.into_iter().map(row).collect()
    }

    pub(super) fn pass_rows(&self) -> Vec<Row> {
        let mut counts = [0; 2];
        let rows = self.passes.iter().map(|Pass { trimmed, segment }| {
            let count = &mut counts[usize::from(*trimmed)];
            *count += 1;
            row! {
                trim: if *trimmed { "with" } else { "without" },
                pass: *count,
                bytes_per_s: segment.bytes_per_s(),
                iops: segment.iops(),
            }
            .with_latency(&segment.total())
        });
        rows.collect()
    }
}
