//! Brings a drive back by the gentlest step that works, and proves it: the same check before and after.

mod comparison;
mod discard;
mod discard_unused;
mod format;
mod overwrite;
mod recondition_options;
mod refresh;
mod rung;
mod stages;
mod told;
mod trim_free;

use likenew_core::look::{Look, Seen};
use likenew_core::outlook::{ByHand, Deed};
use likenew_core::procedure::{Card, Evidence, Layout, Procedure, Step};
use likenew_core::verdict::{Axis, Findings, Line, Series, Shape, Standing, Verdict};
use likenew_diagnosis::{Cure, Diagnosis, Found, Kind, Overall, Possibility, helps};

use crate::check::{Check, CheckOptions};
use crate::series::{speed, speed_over_bytes};
use comparison::{Change, Helped, Measure, changes};
use rung::Scene;
use stages::{Stage, has_done, nothing_of, refusal, stages};
use told::Taken;

pub use recondition_options::{Erase, ReconditionOptions};
pub use rung::{RungCard, RungName};

/// What it asks and costs.
pub static CARD: Card = Card {
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

    fn scene<'a>(&'a self, evidence: &'a Evidence, last_check: Option<&Evidence>) -> Scene<'a> {
        let facts = evidence.sights.iter().rev().find_map(|sight| match &sight.seen {
            Seen::Facts(facts) => Some(&**facts),
            _ => None,
        });
        let outlook = evidence.sights.iter().rev().find_map(|sight| match &sight.seen {
            Seen::Outlook(outlook) => Some(outlook),
            _ => None,
        });
        let fresh_bytes_per_s = last_check.and_then(|check| self.check.fresh_data(check));
        let fresh_small_ns = last_check.and_then(|check| self.check.fresh_small_ns(check));
        Scene { options: &self.options, evidence, facts, outlook, fresh_bytes_per_s, fresh_small_ns }
    }

    /// The rung that comes next after a check, if any: the one that was asked for, or the first that can help against what was found.
    fn choose(&self, scene: &Scene<'_>, stages: &[Stage], check: &Evidence) -> Option<RungName> {
        let is_tried =
            |name: RungName| stages.iter().any(|stage| matches!(stage, Stage::Rung(of, _) if *of == name));
        if let Some(asked) = self.options.rung {
            let is_possible = scene.obstacle(asked).is_none();
            return (is_possible && !is_tried(asked)).then_some(asked);
        }
        let is_rehearsed = check.segments.iter().any(likenew_core::segment::Segment::was_rehearsed);
        self.check.diagnosed(check, |_, diagnosis| {
            RungName::ALL.into_iter().find(|name| {
                let rung = name.rung();
                let can = !name.destroys() && scene.obstacle(*name).is_none() && rung.doubt(scene).is_none();
                // Nobody knows before what will be found, so a rehearsal takes everything that may be taken.
                can && !is_tried(*name)
                    && (is_rehearsed
                        || !called_for_by(*name, diagnosis).is_empty()
                        || is_worth_a_try(*name, diagnosis))
            })
        })
    }
}

/// What was found and does harm, and is helped by a rung.
fn called_for_by(name: RungName, diagnosis: &Diagnosis) -> Vec<&Found> {
    let helps = helps(name.deed());
    let found = diagnosis.found.iter().filter(|found| found.card.kind != Kind::ByDesign);
    found.filter(|found| helps.contains(&found.card.name)).collect()
}

/// Telling a drive what is free costs nothing, so that it is done where it only may help.
fn is_worth_a_try(name: RungName, diagnosis: &Diagnosis) -> bool {
    let helps = helps(name.deed());
    let rivals = diagnosis.open.iter().flat_map(|open| &open.rivals);
    let latent = diagnosis.latent.iter().map(|found| found.card.name);
    name == RungName::Trim
        && rivals.map(|(card, _)| card.name).chain(latent).any(|cause| helps.contains(&cause))
}

impl Procedure for Recondition {
    fn card(&self) -> &'static Card {
        &CARD
    }

    /// Files of the length that a check writes, as many as there is room for.
    fn layout(&self) -> Layout {
        let (files, file_bytes) = self.options.files();
        Layout { files, file_bytes }
    }

    fn only_looks(&self) -> bool {
        self.options.dry_run
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        // Runs of earlier versions have not asked.
        if evidence.is_empty() {
            return Ok(Step::Look(Look::Outlook));
        }
        if self.options.dry_run {
            let is_looked_at = evidence.sights.iter().any(|sight| sight.look == Look::Facts);
            return Ok(if is_looked_at { Step::Enough } else { Step::Look(Look::Facts) });
        }
        let stages = stages(evidence);
        let last_check = stages.iter().rev().find_map(|stage| match stage {
            Stage::Check(check) => Some(check),
            Stage::Rung(..) => None,
        });
        let scene = self.scene(evidence, last_check);
        let after = match stages.last() {
            None => return self.check.next(&nothing_of(evidence)),
            Some(Stage::Check(check)) => match self.check.next(check)? {
                Step::Enough => check,
                step => return Ok(step),
            },
            Some(Stage::Rung(name, done)) => {
                if let Some(step) = name.rung().next(&scene, done) {
                    return Ok(seeded(step, evidence));
                }
                if has_done(done) {
                    return self.check.next(&nothing_of(evidence));
                }
                last_check.expect("a rung is chosen by a check")
            }
        };
        let step = self
            .choose(&scene, &stages, after)
            .and_then(|name| name.rung().next(&scene, &nothing_of(evidence)));
        Ok(step.map_or(Step::Enough, |step| seeded(step, evidence)))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let stages = stages(evidence);
        let mut findings = Findings::default();
        let taken = self.taken(evidence, &stages);
        let checks: Vec<&Evidence> = stages
            .iter()
            .filter_map(|stage| match stage {
                Stage::Check(check) => Some(check),
                Stage::Rung(..) => None,
            })
            .collect();
        let tried: Vec<(RungName, Option<&str>)> = stages
            .iter()
            .filter_map(|stage| match stage {
                Stage::Rung(name, done) if has_done(done) => Some((*name, None)),
                Stage::Rung(name, done) => Some((*name, Some(refusal(done).unwrap_or(told::NOTHING_TO_DO)))),
                Stage::Check(_) => None,
            })
            .collect();
        let scene = self.scene(evidence, checks.last().copied());
        findings.verdicts.extend(told::together(&taken));
        findings.verdicts.extend(taken.iter().map(told::taken));
        let idle = rungs(&stages).filter(|(_, done)| !has_done(done));
        findings.verdicts.extend(idle.map(|(name, done)| told::nothing_done(name, done, refusal(done))));
        let ladder = match checks.as_slice() {
            _ if self.options.dry_run => told::ladder(&scene, &tried, &|_| true),
            [] => told::ladder(&scene, &tried, &|_| true),
            [first, .., last] | [first @ last] => {
                let before = self.check.judge(first).verdicts.into_iter().next();
                findings.verdicts.extend(self.nothing_to_do(&scene, last, &taken, &tried));
                findings.verdicts.extend(before.map(|verdict| said("Before: ", verdict)));
                if checks.len() > 1 {
                    let after = self.check.judge(last).verdicts.into_iter().next();
                    findings.verdicts.extend(after.map(|verdict| said("Now: ", verdict)));
                }
                self.check.diagnosed(last, |_, diagnosis| {
                    told::ladder(&scene, &tried, &|name| !called_for_by(name, diagnosis).is_empty())
                })
            }
        };
        if self.options.dry_run {
            findings.verdicts.insert(0, plan_said(&scene));
            findings.verdicts.extend(scene.outlook.iter().flat_map(|outlook| &outlook.by_hand).map(by_hand));
        }
        let passes = rungs(&stages).flat_map(|(name, done)| told::pass_rows(name, done)).collect();
        told::put(
            &mut findings,
            [
                ("before_and_after", told::change_rows(&taken)),
                ("steps", told::step_rows(&taken)),
                ("passes", passes),
                ("ladder", ladder),
            ],
        );
        draw(&stages, &mut findings);
        findings
    }
}

impl Recondition {
    /// Every rung that has done something, with the checks before and after it.
    fn taken<'a>(&self, evidence: &Evidence, stages: &'a [Stage]) -> Vec<Taken<'a>> {
        let mut before: Option<&Evidence> = None;
        let mut all = Vec::new();
        for (index, stage) in stages.iter().enumerate() {
            match stage {
                Stage::Check(check) => before = Some(check),
                Stage::Rung(name, done) if has_done(done) => {
                    let after = stages[index + 1..].iter().find_map(|stage| match stage {
                        Stage::Check(check) => Some(check),
                        Stage::Rung(..) => None,
                    });
                    let changes =
                        before.zip(after).map(|(before, after)| changes(&self.check, before, after));
                    all.push(self.judged(evidence, *name, done, before, changes.unwrap_or_default()));
                }
                Stage::Rung(..) => {}
            }
        }
        all
    }

    fn judged<'a>(
        &self,
        evidence: &Evidence,
        name: RungName,
        done: &'a Evidence,
        before: Option<&Evidence>,
        changes: Vec<Change>,
    ) -> Taken<'a> {
        let wanted = before.map_or_else(Vec::new, |before| {
            self.check.diagnosed(before, |_, diagnosis| Measure::shown_by(&called_for_by(name, diagnosis)))
        });
        let is_wanted = |change: &&Change| wanted.is_empty() || wanted.contains(&change.measure);
        let shown_by: Vec<&Change> = changes.iter().filter(is_wanted).collect();
        let scene = self.scene(evidence, before);
        let caveat = scene.virtual_by().map(|by| {
            format!("It is a virtual disk ({by}), which differs from run to run: less than {NOTICEABLE_VIRTUAL} times as fast counts as nothing.")
        });
        let noticeable = match caveat {
            Some(_) => NOTICEABLE_VIRTUAL,
            None if scene.is_simulated() => NOTICEABLE_SIMULATED,
            None => NOTICEABLE,
        };
        let helped = Helped::of(&shown_by, noticeable, !wanted.is_empty());
        let shown_by = shown_by.into_iter().copied().collect();
        let warnings = scene.outlook.iter().flat_map(|outlook| outlook.warnings(name.deed()));
        let warnings = warnings.map(|objection| objection.why.clone()).collect();
        Taken { name, done, changes, shown_by, helped, warnings, caveat }
    }

    /// Why no rung was taken, where none was.
    fn nothing_to_do(
        &self,
        scene: &Scene<'_>,
        check: &Evidence,
        taken: &[Taken<'_>],
        tried: &[(RungName, Option<&str>)],
    ) -> Option<Verdict> {
        if !taken.is_empty() {
            return None;
        }
        if let Some(asked) = self.options.rung.filter(|_| tried.is_empty()) {
            let why = scene.obstacle(asked).unwrap_or_else(|| "the run was stopped before".into());
            let claim = format!("Nothing was done: {why}.");
            return Some(Verdict::new(claim, Standing::Undecided));
        }
        // A step that was looked at and is not possible is no cure.
        let can = |cure: &&Cure| {
            cure.deed.is_none_or(|deed| !matches!(scene.site().possibility(deed), Possibility::No(_)))
        };
        self.check.diagnosed(check, |_, diagnosis| {
            let ill = diagnosis.found.iter().filter(|found| found.card.kind != Kind::ByDesign);
            let cures: Vec<&Cure> =
                ill.flat_map(|found| found.cures.iter().filter(|cure| can(cure))).collect();
            if !cures.is_empty() {
                let is_lossy = cures.iter().any(|cure| cure.deed.is_some_and(Deed::destroys));
                let claim = if is_lossy {
                    "Nothing that keeps what is on it would bring it back."
                } else {
                    "Nothing that can be done here would bring it back."
                };
                let verdict = Verdict::new(claim, Standing::Holds).problem();
                return Some(
                    cures.into_iter().fold(verdict, |verdict, cure| verdict.because(told::would(cure))),
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
                Overall::Fallen | Overall::NotTheDrive => {
                    Verdict::new("Nothing that can be done here would bring it back.", Standing::Holds)
                        .problem()
                }
            })
        })
    }
}

/// The rungs that were taken.
fn rungs(stages: &[Stage]) -> impl Iterator<Item = (RungName, &Evidence)> {
    stages.iter().filter_map(|stage| match stage {
        Stage::Rung(name, done) => Some((*name, done)),
        Stage::Check(_) => None,
    })
}

/// A workload of a rung takes its seed from all that was run.
fn seeded(step: Step, evidence: &Evidence) -> Step {
    match step {
        Step::Run(mut workload) => {
            workload.seed = evidence.plan.seed_of(evidence.segments.len());
            Step::Run(workload)
        }
        other => other,
    }
}

/// The sentence of a check as a part of this report. What was wrong before is no problem of what is now.
fn said(when: &str, verdict: Verdict) -> Verdict {
    let problem = verdict.problem && when != "Before: ";
    Verdict { claim: format!("{when}{}", verdict.claim), problem, ..verdict }
}

/// What could be done here.
fn plan_said(scene: &Scene<'_>) -> Verdict {
    let can: Vec<&str> = RungName::ALL
        .into_iter()
        .filter(|name| scene.obstacle(*name).is_none())
        .map(RungName::text)
        .collect();
    if can.is_empty() {
        return Verdict::new("Nothing can be done here.", Standing::Holds);
    }
    Verdict::new(format!("What could be done here, the gentlest first: {}.", can.join(", ")), Standing::Holds)
        .because("it is checked first, and the first of them that can help against what is found is taken; what destroys is only done when it is asked for by name")
}

/// What the drive could do by itself, and is never asked to here.
fn by_hand(by_hand: &ByHand) -> Verdict {
    let name = match by_hand.deed {
        Deed::AtaSecureErase => "ATA secure erase",
        Deed::AtaSanitize => "ATA sanitize",
        Deed::NvmeSanitize => "NVMe sanitize",
        _ => "an erase of its own",
    };
    let claim = format!("The drive has {name}. That is never done here; this is how it is done by hand.");
    by_hand.lines.iter().fold(Verdict::new(claim, Standing::Holds), |verdict, line| verdict.because(line))
}

/// The passes as a picture.
fn draw(stages: &[Stage], findings: &mut Findings) {
    let lines: Vec<Line> = rungs(stages)
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
