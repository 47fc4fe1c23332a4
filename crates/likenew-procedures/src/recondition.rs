//! Brings a drive back by the gentlest step that works, and proves it: the same check before and after.

mod comparison;
mod discard;
mod discard_unused;
mod format;
mod overwrite;
mod recondition_options;
mod recondition_step;
mod refresh;
mod stages;
mod trim_free;
mod wording;

use likenew_core::feasibility::{ActionKind, ManualStep};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::verdict::{Axis, Findings, Line, Series, Shape, Standing, Verdict};
use likenew_diagnosis::{Diagnosis, Fix, FoundCause, Kind, Overall, Possibility, causes_fixed_by};

use crate::check::{Check, CheckOptions};
use crate::series::{speed, speed_over_bytes};
use comparison::{Change, Effect, Measure, changes};
use recondition_step::StepContext;
use stages::{Stage, empty_evidence, has_run, refusal, stages};
use wording::StepOutcome;

pub use recondition_options::{Erase, ReconditionOptions};
pub use recondition_step::{StepDescriptor, StepName};

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "recondition",
    question: "What brings it back, gentlest first, and does that help?",
    writes: "writes what a check writes, twice; then, only where the diagnosis calls for it, old data once or free space until that makes no difference; nothing of yours is lost unless you ask for that by name",
    manual: include_str!("recondition.md"),
};

/// A change has to be larger than this to count on a drive of one's own, on a simulated one, and on one that a hypervisor shows, which differs
/// from run to run by tens of percent.
const NOTICEABLE: f64 = 1.1;
const NOTICEABLE_SIMULATED: f64 = 1.05;
const NOTICEABLE_VIRTUAL: f64 = 1.6;

/// The procedure.
pub struct Recondition {
    options: ReconditionOptions,
    check: Check,
}

impl Recondition {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        ReconditionOptions::from_table(table).and_then(Self::new)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: ReconditionOptions) -> Result<Self, String> {
        options.check()?;
        let check = Check::new(CheckOptions { free: options.free, ..options.check.clone() })?;
        Ok(Self { options, check })
    }

    fn context<'a>(&'a self, evidence: &'a Evidence, last_check: Option<&Evidence>) -> StepContext<'a> {
        let facts = evidence.observations.iter().rev().find_map(|observation| match &observation.result {
            ProbeResult::Facts(facts) => Some(&**facts),
            _ => None,
        });
        let feasibility =
            evidence.observations.iter().rev().find_map(|observation| match &observation.result {
                ProbeResult::Feasibility(feasibility) => Some(feasibility),
                _ => None,
            });
        let fresh_bytes_per_s = last_check.and_then(|check| self.check.fresh_data(check));
        let fresh_small_ns = last_check.and_then(|check| self.check.fresh_small_ns(check));
        StepContext {
            options: &self.options,
            evidence,
            facts,
            feasibility,
            fresh_bytes_per_s,
            fresh_small_ns,
        }
    }

    /// The rung that comes next after a check, if any: the one that was asked for, or the first that can help against what was found.
    fn choose(&self, context: &StepContext<'_>, stages: &[Stage], check: &Evidence) -> Option<StepName> {
        let is_tried = |name: StepName| {
            stages.iter().any(|stage| matches!(stage, Stage::ReconditionStep(of, _) if *of == name))
        };
        if let Some(asked) = self.options.step {
            let is_possible = context.obstacle(asked).is_none();
            return (is_possible && !is_tried(asked)).then_some(asked);
        }
        let is_rehearsed = check.segments.iter().any(likenew_core::segment::Segment::is_dry_run);
        self.check.with_diagnosis(check, |_, diagnosis| {
            StepName::ALL.into_iter().find(|name| {
                let step = name.implementation();
                let can =
                    !name.destroys() && context.obstacle(*name).is_none() && step.caveat(context).is_none();
                // Nobody knows before what will be found, so a rehearsal takes everything that may be taken.
                can && !is_tried(*name)
                    && (is_rehearsed
                        || !causes_needing(*name, diagnosis).is_empty()
                        || is_worth_trying(*name, diagnosis))
            })
        })
    }
}

/// What was found and does harm, and is helped by a rung.
fn causes_needing(name: StepName, diagnosis: &Diagnosis) -> Vec<&FoundCause> {
    let fixable = causes_fixed_by(name.action());
    let found = diagnosis.causes.iter().filter(|found| found.descriptor.kind != Kind::ByDesign);
    found.filter(|found| fixable.contains(&found.descriptor.name)).collect()
}

/// Telling a drive what is free costs nothing, so that it is done where it only may help.
fn is_worth_trying(name: StepName, diagnosis: &Diagnosis) -> bool {
    let fixable = causes_fixed_by(name.action());
    let rivals = diagnosis.open.iter().flat_map(|open| &open.rivals);
    let latent = diagnosis.latent.iter().map(|found| found.descriptor.name);
    name == StepName::Trim
        && rivals.map(|(descriptor, _)| descriptor.name).chain(latent).any(|cause| fixable.contains(&cause))
}

impl Procedure for Recondition {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    /// Files of the length that a check writes, as many as there is room for.
    fn layout(&self) -> Layout {
        let (files, file_bytes) = self.options.files();
        Layout { files, file_bytes }
    }

    fn only_probes(&self) -> bool {
        self.options.dry_run
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        // Runs of earlier versions have not asked.
        if evidence.is_empty() {
            return Ok(Step::Probe(Probe::Feasibility));
        }
        if self.options.dry_run {
            let is_looked_at =
                evidence.observations.iter().any(|observation| observation.probe == Probe::Facts);
            return Ok(if is_looked_at { Step::Done } else { Step::Probe(Probe::Facts) });
        }
        let stages = stages(evidence);
        let last_check = stages.iter().rev().find_map(|stage| match stage {
            Stage::Check(check) => Some(check),
            Stage::ReconditionStep(..) => None,
        });
        let context = self.context(evidence, last_check);
        let after = match stages.last() {
            None => return self.check.next(&empty_evidence(evidence)),
            Some(Stage::Check(check)) => match self.check.next(check)? {
                Step::Done => check,
                step => return Ok(step),
            },
            Some(Stage::ReconditionStep(name, done)) => {
                if let Some(step) = name.implementation().next(&context, done) {
                    return Ok(with_seed(step, evidence));
                }
                if has_run(done) {
                    return self.check.next(&empty_evidence(evidence));
                }
                last_check.expect("a rung is chosen by a check")
            }
        };
        let step = self
            .choose(&context, &stages, after)
            .and_then(|name| name.implementation().next(&context, &empty_evidence(evidence)));
        Ok(step.map_or(Step::Done, |step| with_seed(step, evidence)))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let stages = stages(evidence);
        let mut findings = Findings::default();
        let finished_steps = self.finished_steps(evidence, &stages);
        let checks: Vec<&Evidence> = stages
            .iter()
            .filter_map(|stage| match stage {
                Stage::Check(check) => Some(check),
                Stage::ReconditionStep(..) => None,
            })
            .collect();
        let attempts: Vec<(StepName, Option<&str>)> = stages
            .iter()
            .filter_map(|stage| match stage {
                Stage::ReconditionStep(name, done) if has_run(done) => Some((*name, None)),
                Stage::ReconditionStep(name, done) => {
                    Some((*name, Some(refusal(done).unwrap_or(wording::NOTHING_TO_DO))))
                }
                Stage::Check(_) => None,
            })
            .collect();
        let context = self.context(evidence, checks.last().copied());
        findings.verdicts.extend(wording::overall_answer(&finished_steps));
        findings.verdicts.extend(finished_steps.iter().map(wording::step_answer));
        let idle = steps(&stages).filter(|(_, done)| !has_run(done));
        findings
            .verdicts
            .extend(idle.map(|(name, done)| wording::no_effect_answer(name, done, refusal(done))));
        let step_plan_rows = match checks.as_slice() {
            _ if self.options.dry_run => wording::step_plan_rows(&context, &attempts, &|_| true),
            [] => wording::step_plan_rows(&context, &attempts, &|_| true),
            [first, .., last] | [first @ last] => {
                let before = self.check.judge(first).verdicts.into_iter().next();
                findings.verdicts.extend(self.nothing_to_do(&context, last, &finished_steps, &attempts));
                findings.verdicts.extend(before.map(|verdict| outcome_answer("Before: ", verdict)));
                if checks.len() > 1 {
                    let after = self.check.judge(last).verdicts.into_iter().next();
                    findings.verdicts.extend(after.map(|verdict| outcome_answer("Now: ", verdict)));
                }
                self.check.with_diagnosis(last, |_, diagnosis| {
                    wording::step_plan_rows(&context, &attempts, &|name| {
                        !causes_needing(name, diagnosis).is_empty()
                    })
                })
            }
        };
        if self.options.dry_run {
            findings.verdicts.insert(0, plan_answer(&context));
            findings.verdicts.extend(
                context
                    .feasibility
                    .iter()
                    .flat_map(|feasibility| &feasibility.manual_steps)
                    .map(manual_step_answer),
            );
        }
        let passes = steps(&stages).flat_map(|(name, done)| wording::pass_rows(name, done)).collect();
        wording::put(
            &mut findings,
            [
                ("before_and_after", wording::change_rows(&finished_steps)),
                ("steps", wording::step_rows(&finished_steps)),
                ("passes", passes),
                ("step_plan", step_plan_rows),
            ],
        );
        draw(&stages, &mut findings);
        findings
    }
}

impl Recondition {
    /// Every rung that has done something, with the checks before and after it.
    fn finished_steps<'a>(&self, evidence: &Evidence, stages: &'a [Stage]) -> Vec<StepOutcome<'a>> {
        let mut before: Option<&Evidence> = None;
        let mut all = Vec::new();
        for (index, stage) in stages.iter().enumerate() {
            match stage {
                Stage::Check(check) => before = Some(check),
                Stage::ReconditionStep(name, done) if has_run(done) => {
                    let after = stages[index + 1..].iter().find_map(|stage| match stage {
                        Stage::Check(check) => Some(check),
                        Stage::ReconditionStep(..) => None,
                    });
                    let changes =
                        before.zip(after).map(|(before, after)| changes(&self.check, before, after));
                    all.push(self.judge_step(evidence, *name, done, before, changes.unwrap_or_default()));
                }
                Stage::ReconditionStep(..) => {}
            }
        }
        all
    }

    fn judge_step<'a>(
        &self,
        evidence: &Evidence,
        name: StepName,
        done: &'a Evidence,
        before: Option<&Evidence>,
        changes: Vec<Change>,
    ) -> StepOutcome<'a> {
        let wanted = before.map_or_else(Vec::new, |before| {
            self.check.with_diagnosis(before, |_, diagnosis| {
                Measure::metrics_showing(&causes_needing(name, diagnosis))
            })
        });
        let is_wanted = |change: &&Change| wanted.is_empty() || wanted.contains(&change.measure);
        let showing: Vec<&Change> = changes.iter().filter(is_wanted).collect();
        let context = self.context(evidence, before);
        let caveat = context.virtual_by().map(|by| {
            format!("It is a virtual disk ({by}), which differs from run to run: less than {NOTICEABLE_VIRTUAL} times as fast counts as nothing.")
        });
        let noticeable = match caveat {
            Some(_) => NOTICEABLE_VIRTUAL,
            None if context.is_simulated() => NOTICEABLE_SIMULATED,
            None => NOTICEABLE,
        };
        let effect = Effect::classify(&showing, noticeable, !wanted.is_empty());
        let metrics_showing = showing.into_iter().copied().collect();
        let warnings = context.feasibility.iter().flat_map(|feasibility| feasibility.warnings(name.action()));
        let warnings = warnings.map(|objection| objection.reason.clone()).collect();
        StepOutcome { name, evidence: done, changes, metrics_showing, effect, warnings, caveat }
    }

    /// Why no rung was taken, where none was.
    fn nothing_to_do(
        &self,
        context: &StepContext<'_>,
        check: &Evidence,
        finished_steps: &[StepOutcome<'_>],
        attempts: &[(StepName, Option<&str>)],
    ) -> Option<Verdict> {
        if !finished_steps.is_empty() {
            return None;
        }
        if let Some(asked) = self.options.step.filter(|_| attempts.is_empty()) {
            let reason = context.obstacle(asked).unwrap_or_else(|| "the run was stopped before".into());
            let claim = format!("Nothing was done: {reason}.");
            return Some(Verdict::new(claim, Standing::Undecided));
        }
        // A step that was looked at and is not possible is no cure.
        let can = |fix: &&Fix| {
            fix.action.is_none_or(|action| !matches!(context.site().possibility(action), Possibility::No(_)))
        };
        self.check.with_diagnosis(check, |_, diagnosis| {
            let ill = diagnosis.causes.iter().filter(|found| found.descriptor.kind != Kind::ByDesign);
            let fixes: Vec<&Fix> = ill.flat_map(|found| found.fixes.iter().filter(|fix| can(fix))).collect();
            if !fixes.is_empty() {
                let is_lossy = fixes.iter().any(|fix| fix.action.is_some_and(ActionKind::destroys));
                let claim = if is_lossy {
                    "Nothing that keeps what is on it would bring it back."
                } else {
                    "Nothing that can be done here would bring it back."
                };
                let verdict = Verdict::new(claim, Standing::Holds).problem();
                return Some(
                    fixes
                        .into_iter()
                        .fold(verdict, |verdict, fix| verdict.with_evidence(wording::step_prediction(fix))),
                );
            }
            Some(match diagnosis.overall {
                Overall::AsNew | Overall::ByDesign => {
                    Verdict::new("There is nothing to bring back: nothing was done.", Standing::Holds)
                }
                Overall::Sound => {
                    Verdict::new("Nothing about it looks slow: nothing was done.", Standing::Holds)
                }
                Overall::Undecided => {
                    Verdict::new("Nothing was done, as why it is slow is not decided.", Standing::Undecided)
                }
                Overall::Slow | Overall::NotTheDrive => {
                    Verdict::new("Nothing that can be done here would bring it back.", Standing::Holds)
                        .problem()
                }
            })
        })
    }
}

/// The rungs that were taken.
fn steps(stages: &[Stage]) -> impl Iterator<Item = (StepName, &Evidence)> {
    stages.iter().filter_map(|stage| match stage {
        Stage::ReconditionStep(name, done) => Some((*name, done)),
        Stage::Check(_) => None,
    })
}

/// A workload of a rung takes its seed from all that was run.
fn with_seed(step: Step, evidence: &Evidence) -> Step {
    match step {
        Step::Run(mut workload) => {
            workload.seed = evidence.plan.seed_of(evidence.segments.len());
            Step::Run(workload)
        }
        other => other,
    }
}

/// The sentence of a check as a part of this report. What was wrong before is no problem of what is now.
fn outcome_answer(when: &str, verdict: Verdict) -> Verdict {
    let problem = verdict.problem && when != "Before: ";
    Verdict { claim: format!("{when}{}", verdict.claim), problem, ..verdict }
}

/// What could be done here.
fn plan_answer(context: &StepContext<'_>) -> Verdict {
    let can: Vec<&str> = StepName::ALL
        .into_iter()
        .filter(|name| context.obstacle(*name).is_none())
        .map(StepName::text)
        .collect();
    if can.is_empty() {
        return Verdict::new("Nothing can be done here.", Standing::Holds);
    }
    Verdict::new(format!("What could be done here, the gentlest first: {}.", can.join(", ")), Standing::Holds)
        .with_evidence("it is checked first, and the first of them that can help against what is found is taken; what destroys is only done when it is asked for by name")
}

/// What the drive could do by itself, and is never asked to here.
fn manual_step_answer(step: &ManualStep) -> Verdict {
    let name = match step.action {
        ActionKind::AtaSecureErase => "ATA secure erase",
        ActionKind::AtaSanitize => "ATA sanitize",
        ActionKind::NvmeSanitize => "NVMe sanitize",
        _ => "an erase of its own",
    };
    let claim = format!("The drive has {name}. That is never done here; this is how it is done by hand.");
    step.lines.iter().fold(Verdict::new(claim, Standing::Holds), |verdict, line| verdict.with_evidence(line))
}

/// The passes as a picture.
fn draw(stages: &[Stage], findings: &mut Findings) {
    let lines: Vec<Line> = steps(stages)
        .flat_map(|(_, done)| overwrite::passes(done))
        .enumerate()
        .map(|(index, pass)| Line::new(format!("pass {}", index + 1), speed_over_bytes(pass)))
        .filter(|line| !line.points.is_empty())
        .collect();
    if lines.is_empty() {
        return;
    }
    findings.series.insert(
        "passes".to_owned(),
        Series {
            title: "What does each pass over the free space do?".into(),
            shape: Shape::Line,
            x: Axis::new("written in this pass", "bytes"),
            y: speed(),
            rows: String::new(),
            categories: Vec::new(),
            lines,
            marks: Vec::new(),
        },
    );
}
