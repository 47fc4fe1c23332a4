//! Turns a diagnosis into answers: the headline, causes, open symptoms, and what the first screen shows.

use likenew_core::drive;
use likenew_core::facts::DriveKind;
use likenew_core::findings::{Action, Answer, Findings, Loss, Overview, OverviewTable, Standing};
use likenew_core::shell::shell_quote;
use likenew_core::units::Nanos;
use likenew_core::workload::OldFiles;
use likenew_diagnosis::{
    Case, CauseKind, Diagnosis, FoundCause, Measured, Metric, MissingEvidence, OpenSymptom, Origin,
    Reference, Symptom,
};

use likenew_measuring::commits::Commits;
use likenew_procedure_support::estimate::distinct;
use likenew_stats::peers::AmongPeers;

use super::references::Kin;
use super::results::PauseLatencies;
use super::wording::{self, PlaceInClass, Shortfall, Speeds, source};
use super::{CatalogMatch, CheckOptions, PeersOption};
use crate::facts::{HEALTH, failing_drives, settings, update_firmware};

/// Most pieces of evidence for a cause that its answer lists; the table has all.
const EVIDENCE_MAX: usize = 4;
/// The same for evidence against the cause.
const AGAINST_MAX: usize = 2;
/// Weight of evidence in bits below which only the table lists it. Chosen: 1.5 bits are odds of 3 to 1.
const EVIDENCE_BITS_MIN: f64 = 1.5;
/// Standard deviation of a metric's logarithm between checks, from which answers mention that checks vary (chosen: a tenth).
const VARIATION_MIN: f64 = 0.1;
/// Probability of its likeliest cause from which the first screen lists another symptom beside a problem with
/// a known cause (chosen: more likely than not).
const LISTED_CHANCE_MIN: f64 = 0.5;
const DAY_S: u64 = 86_400;

/// What the answers are made from.
pub(super) struct Answers<'a> {
    pub(super) case: &'a Case<'a>,
    pub(super) diagnosis: &'a Diagnosis,
    pub(super) options: &'a CheckOptions,
    /// What is known of similar drives.
    pub(super) kin: &'a Kin,
    /// Whether the user gave rated speeds.
    pub(super) has_given_speeds: bool,
    /// Which old files were read, or why none were.
    pub(super) old: Option<Result<&'a OldFiles, &'a str>>,
    /// Why nothing was written.
    pub(super) not_written: Option<String>,
    pub(super) commits: &'a [Commits],
    pub(super) longest_stall: Option<Nanos>,
    pub(super) pauses: Option<PauseLatencies>,
}

/// Causes that do harm: not those by design, nor normal power saving, which only slows the first read after a pause.
pub(crate) fn harmful_causes(diagnosis: &Diagnosis) -> impl Iterator<Item = &FoundCause> {
    let is_harmful = |found_cause: &&FoundCause| {
        found_cause.cause.kind != CauseKind::ByDesign && !is_normal_sleep(found_cause)
    };
    diagnosis.causes.iter().filter(is_harmful)
}

/// Whether a cause is power saving that shows only in reads after pauses, as on every drive that sleeps.
fn is_normal_sleep(found_cause: &FoundCause) -> bool {
    found_cause.cause.name == POWER_SAVING && found_cause.explains[..] == [Symptom::SlowAfterIdle]
}

const POWER_SAVING: &str = "power_saving";

/// The first action for the first cause that does harm.
pub(super) fn first_fix(diagnosis: &Diagnosis) -> Option<&str> {
    harmful_causes(diagnosis).flat_map(|cause| &cause.actions).next().map(|action| action.why.as_str())
}

/// The problems that a check found: a name that stays the same from check to check, and a sentence without
/// its full stop. Of the slow metrics only the headline counts: which of them is the headline varies between
/// checks, and the table of metrics shows each change.
pub fn problems(answers: &[Answer]) -> impl Iterator<Item = (String, &str)> {
    let is_metric =
        |answer: &&Answer| Metric::ALL.into_iter().any(|metric| answer.id == Symptom::Below(metric).name());
    let problems = answers.iter().filter(|answer| answer.standing == Standing::Problem);
    problems.filter(move |answer| !is_metric(answer)).map(|answer| {
        let name = match &*answer.id {
            wording::SLOW => format!("{}: {}", answer.id, answer.question),
            // Each failing drive below the target is a problem of its own.
            HEALTH => format!("{}: {}", answer.id, answer.answer),
            id => id.to_owned(),
        };
        (name, &*answer.answer)
    })
}

impl Answers<'_> {
    /// Summary, answers and first screen.
    pub(super) fn findings(&self) -> Findings {
        let worst = self.worst_shortfall();
        let (summary, headline) = self.headline(worst);
        let mut answers = vec![self.with_limits(headline)];
        answers.extend(self.causes(worst));
        answers.extend(self.diagnosis.open.iter().flat_map(|open| self.open(open, worst)));
        answers.extend(self.worth_a_look());
        answers.extend(self.diagnosis.latent.iter().map(|latent| self.latent(latent)));
        answers.extend(self.diagnosis.design.iter().map(by_design));
        answers.extend(self.compared_with());
        answers.extend(self.peers());
        answers.extend(self.known_fault());
        answers.extend(self.settings());
        answers.extend(self.volume_limits());
        answers.extend(self.places_of_disk());
        answers.extend(wording::durable_writes(self.commits));
        let mut findings = Findings { summary, answers, overview: self.overview(), ..Findings::default() };
        if let Some(failing) = self.case.facts.and_then(failing_drives) {
            findings.summary = wording::with_failing_drives(&failing, &findings.summary);
            findings.overview.answers.insert(0, failing.id.clone());
            findings.answers.insert(0, failing);
        }
        findings
    }

    fn shortfall(&self, metric: Metric) -> Option<Shortfall> {
        let (share, reference) = self.case.shortfall(metric)?;
        let value = self.case.measurements.metric(metric)?.value;
        Some(Shortfall { metric, value, share, reference })
    }

    /// Each metric with its most telling reference.
    fn compared(&self) -> impl Iterator<Item = Shortfall> + '_ {
        Metric::ALL.into_iter().filter_map(|metric| self.shortfall(metric))
    }

    /// The origin of each of these references.
    fn origins(&self) -> impl Iterator<Item = Origin> + '_ {
        self.compared().map(|compared| compared.reference.origin)
    }

    /// The metric of a symptom, if it is below a reference other than the link, whose speed is a limit and
    /// not a promise.
    fn missed(&self, symptom: Symptom) -> Option<Shortfall> {
        let Symptom::Below(metric) = symptom else { return None };
        self.shortfall(metric).filter(|shortfall| shortfall.reference.origin != Origin::Link)
    }

    /// The problems: symptoms of causes that are not by design, and open symptoms below a reference.
    fn problems(&self) -> Vec<Symptom> {
        // Symptoms come by cause, the most typical symptom of each first.
        let explained = harmful_causes(self.diagnosis)
            .flat_map(|cause| cause.cause.symptoms().filter(|symptom| cause.explains.contains(symptom)));
        let open = self.diagnosis.open.iter().map(|open| open.symptom);
        explained.chain(open.filter(|symptom| self.missed(*symptom).is_some())).collect()
    }

    /// The metric that fell farthest, among those that are a problem.
    pub(super) fn worst_shortfall(&self) -> Option<Shortfall> {
        self.worst_of(self.problems())
    }

    /// The metric that certainly fell farthest: its share of the reference has the lowest upper end.
    fn worst_of(&self, symptoms: Vec<Symptom>) -> Option<Shortfall> {
        let below = symptoms.into_iter().filter_map(|symptom| match symptom {
            Symptom::Below(metric) => self.shortfall(metric),
            _ => None,
        });
        below.min_by(|one, other| one.share.high.total_cmp(&other.share.high))
    }

    fn headline(&self, worst: Option<Shortfall>) -> (String, Answer) {
        let problems = self.problems();
        let (summary, headline) = match (worst, problems.first()) {
            (Some(worst), _) => wording::metric_is_slow(&worst),
            (None, Some(symptom)) => wording::symptom_is_a_problem(*symptom, self.magnitude(*symptom)),
            (None, None) => self.headline_without_problem(),
        };
        // The first cause that endangers the drive or its data is named, whatever the speed.
        let summary = match self.diagnosis.latent.iter().find(|latent| latent.is_problem()) {
            None => summary,
            Some(danger) if !problems.is_empty() => wording::slow_and_in_danger(danger, &summary),
            Some(danger) if headline.standing == Standing::Good => wording::fast_but_in_danger(danger),
            Some(danger) => wording::in_danger(danger, &summary),
        };
        (summary, headline)
    }

    /// A symptom with its size; `None` if that is not known.
    fn magnitude(&self, symptom: Symptom) -> Option<String> {
        let measurements = self.case.measurements;
        Some(match symptom {
            Symptom::SlowAfterIdle => wording::slow_after_pause(measurements.idle_over_busy?.value),
            Symptom::Stalls => wording::stalled(measurements.stalled_share?.value, self.longest_stall),
            Symptom::FasterThanLink => wording::over_link(self.case.fastest_over_link()?.value),
            Symptom::RewrittenFaster => {
                let first = measurements.metric(Metric::SustainedWrite)?.value;
                wording::rewritten_faster(first, first * measurements.gain_by_writing()?.value)
            }
            Symptom::WrongData => wording::wrong_sectors(measurements.wrong_sectors),
            _ => return None,
        })
    }

    fn headline_without_problem(&self) -> (String, Answer) {
        let speeds = self.speeds();
        // Failed I/Os have an answer that heads every report.
        let open: Vec<Symptom> =
            self.oddities().map(|open| open.symptom).filter(|symptom| *symptom != Symptom::Errors).collect();
        let made_so = self.diagnosis.causes.iter().filter(|cause| !is_normal_sleep(cause));
        let by_design: Vec<Symptom> = made_so.flat_map(|cause| cause.explains.iter().copied()).collect();
        if let Some(share) = self.case.holes() {
            return wording::sparse(share, speeds);
        }
        let is_slow = |least: &Shortfall| {
            least.share.value < least.reference.share_least()
                && !by_design.contains(&Symptom::Below(least.metric))
        };
        if let Some(least) = self.least_below().filter(is_slow) {
            return wording::perhaps_slow(&least, self.case.is_memory(), speeds);
        }
        let is_compared = self.origins().any(Origin::is_of_this_drive);
        if !open.is_empty() {
            let (summary, answer) = wording::worth_a_look_headline(&open, is_compared, speeds);
            return (summary, if is_compared { answer } else { self.with_ways_to_compare(answer) });
        }
        if let Some(first) = by_design.first() {
            return match self.worst_of(by_design.clone()) {
                Some(worst) => wording::metric_is_slow_by_design(&worst),
                None => wording::symptom_is_by_design(*first),
            };
        }
        // Failed I/Os and normal power saving have answers of their own.
        if self.is_compared_with_a_drive() {
            return self.healthy(speeds);
        }
        if self.origins().any(|origin| origin == Origin::SimulatedModel) {
            let (summary, answer) = wording::only_model_is_known(speeds);
            return (summary, self.with_ways_to_compare(answer));
        }
        let subject = match self.case.virtual_by() {
            Some(_) => wording::THIS_VIRTUAL_DISK,
            None if self.case.is_memory() => wording::THIS_MEMORY,
            None => wording::THIS_DRIVE,
        };
        let (summary, answer) = match (&*self.held_by(), &*self.places_in_class()) {
            ([], []) => wording::no_reference(subject, speeds),
            ([], places) => wording::among_its_class(places, speeds),
            (types, _) => wording::at_volume_limit(types, speeds),
        };
        (summary, self.with_ways_to_compare(answer))
    }

    fn healthy(&self, speeds: Speeds) -> (String, Answer) {
        let origins = distinct(self.origins().filter(|origin| origin.is_of_this_drive()));
        let origin = if let [only] = origins[..] { Some(only) } else { None };
        let (summary, answer) = wording::healthy(origin, self.least_below().as_ref(), speeds);
        match origin {
            Some(Origin::Baseline) => (summary, answer.caveat(wording::ONLY_BASELINE_IS_KNOWN)),
            _ => (summary, answer),
        }
    }

    /// How fast sequential I/O is among new drives of the class.
    fn places_in_class(&self) -> Vec<PlaceInClass<'_>> {
        let place_of = |metric| {
            let value = self.case.measurements.metric(metric)?.value;
            Some(PlaceInClass { metric, value, usual: self.kin.usual(metric)? })
        };
        [Metric::SequentialRead, Metric::SequentialWrite].into_iter().filter_map(place_of).collect()
    }

    /// Whether a metric has a reference that speaks for this drive: no link, no class, no simulated model.
    fn is_compared_with_a_drive(&self) -> bool {
        self.origins().any(|origin| origin.is_of_this_drive() && origin != Origin::SimulatedModel)
    }

    /// The metric farthest below its reference, unless all count as equal to theirs. Metrics too uncertain to
    /// compare are left out.
    fn least_below(&self) -> Option<Shortfall> {
        let below = self.compared().filter(|compared| {
            compared.reference.origin.is_of_this_drive()
                && compared.share.value < wording::AS_FAST
                && !is_open_comparison(compared.share)
        });
        below.min_by(|one, other| one.share.value.total_cmp(&other.share.value))
    }

    /// Adds actions that give the check a reference. A simulated drive is new in every run, so no check of it is a baseline.
    fn with_ways_to_compare(&self, answer: Answer) -> Answer {
        let Some(site) = &self.case.site else { return answer };
        let command = if self.options.from_outputs {
            wording::CHECK_OUTPUTS.to_owned()
        } else {
            format!("likenew check {}", shell_quote(site.target))
        };
        let answer = match site.kind {
            drive::TargetKind::Simulated => answer,
            _ if self.options.from_outputs => answer,
            _ if self.case.drive().is_some() => answer.action(wording::run_again_later(&command)),
            _ => answer.action(wording::name_this_run_later(&command)),
        };
        if self.case.is_memory() {
            return answer;
        }
        let drive = self.case.drive().filter(|drive| drive.is_real());
        let model = drive.and_then(|drive| drive.identity.model.value());
        let typical = match drive {
            Some(drive) if drive.identity.rotation_rpm.get().is_some_and(|rpm| rpm > 0) => "180MB/s",
            Some(drive) if drive.kind == DriveKind::Nvme => "3500MB/s",
            _ => "550MB/s",
        };
        answer.action(wording::give_rated_speeds(model.map(String::as_str), typical, &command))
    }

    fn speeds(&self) -> Speeds {
        let speed_of = |metric| self.case.measurements.metric(metric).map(|measured| measured.value);
        Speeds { read: speed_of(Metric::SequentialRead), write: speed_of(Metric::SequentialWrite) }
    }

    /// Adds what limits the result: old data, writes that were not tested, a virtual disk.
    fn with_limits(&self, mut answer: Answer) -> Answer {
        let measurements = self.case.measurements;
        match (self.old, measurements.new_over_old_data) {
            (Some(Ok(OldFiles { ages_s, files, .. })), Some(ratio)) => {
                let days = [ages_s.last(), ages_s.first()].map(|age| age.map_or(0, |age| age / DAY_S));
                answer.evidence.push(wording::old_data(ages_s.len(), *files, days, 1.0 / ratio.value));
            }
            (Some(Err(reason)), _) => answer.caveats.push(wording::old_data_unknown(reason)),
            _ => {}
        }
        let sustained = measurements.metric(Metric::SustainedWrite);
        let open = sustained.filter(|rate| wording::is_wide(*rate) && !self.options.thorough);
        answer.caveats.extend(match &self.not_written {
            Some(reason) => Some(wording::writes_not_tested(reason)),
            None => open.map(wording::sustained_writes_open),
        });
        answer.caveats.extend(self.case.virtual_by().map(wording::virtual_disk));
        answer
    }

    /// A cause that is present and costs no speed. Unless it is a problem, no action that loses all data is advised.
    fn latent(&self, found_cause: &FoundCause) -> Answer {
        let mut answer = match self.written_before_any_effect(found_cause) {
            Some(bytes) => wording::latent_for_writes(found_cause, bytes),
            None => wording::latent(found_cause),
        };
        answer.evidence.extend(found_cause.evidence_for.iter().map(|item| item.sentence.clone()));
        let is_worth_it = |loses| found_cause.is_problem() || loses < Loss::Everything;
        answer.actions.extend(found_cause.actions.iter().filter(|action| is_worth_it(action.loses)).cloned());
        answer
    }

    /// Bytes that were written at a steady speed, if the cause slows sustained writes. A cache may have taken
    /// them all, however slow the flash behind it is.
    fn written_before_any_effect(&self, found_cause: &FoundCause) -> Option<u64> {
        let slows_writes =
            found_cause.cause.symptoms().any(|symptom| symptom == Symptom::Below(Metric::SustainedWrite));
        let bytes = self.case.measurements.steady_written_bytes.filter(|_| !self.options.thorough)?;
        (slows_writes && !found_cause.is_problem()).then_some(bytes as u64)
    }

    /// Answers about the causes. A cause of the headline's symptom does not name that symptom again.
    fn causes(&self, worst: Option<Shortfall>) -> Vec<Answer> {
        let headline = match worst {
            Some(worst) => Some(Symptom::Below(worst.metric)),
            None => self.problems().first().copied(),
        };
        let mut is_explained = false;
        let mut to_answer = |found_cause: &FoundCause| {
            let explains_headline = headline.is_none_or(|symptom| found_cause.explains.contains(&symptom));
            let named = if explains_headline { headline } else { self.main_symptom(found_cause) };
            let question = match named {
                Some(symptom) if !explains_headline => wording::cause_of(symptom),
                _ if is_explained => wording::ANOTHER_CAUSE.to_owned(),
                _ => wording::CAUSE.to_owned(),
            };
            is_explained |= explains_headline;
            self.cause(found_cause, question, named)
        };
        self.diagnosis.causes.iter().map(&mut to_answer).collect()
    }

    /// What a cause mainly explains: the metric that fell farthest, or its first symptom.
    fn main_symptom(&self, found_cause: &FoundCause) -> Option<Symptom> {
        let worst =
            self.worst_of(found_cause.explains.clone()).map(|shortfall| Symptom::Below(shortfall.metric));
        worst.or(found_cause.explains.first().copied())
    }

    /// `named` is the symptom that the question or the headline names.
    fn cause(&self, found_cause: &FoundCause, question: String, named: Option<Symptom>) -> Answer {
        let is_by_design = found_cause.cause.kind == CauseKind::ByDesign;
        let is_sleep = is_normal_sleep(found_cause);
        let standing = if is_by_design || is_sleep { Standing::Info } else { Standing::Problem };
        let mut answer = match self.pauses.filter(|_| is_sleep) {
            Some(pauses) => {
                wording::power_saving(found_cause, pauses.ratio(), pauses.after_pause, pauses.busy)
            }
            None => wording::cause(found_cause, standing, question),
        };
        if is_by_design {
            answer = answer.with_evidence(wording::NEVER_FASTER);
        }
        let telling = found_cause.evidence_for.iter().filter(|item| item.bits >= EVIDENCE_BITS_MIN);
        answer.evidence.extend(telling.take(EVIDENCE_MAX).map(|item| item.sentence.clone()));
        let named = named.or(found_cause.explains.first().copied());
        let others = found_cause.explains.iter().copied().filter(|symptom| Some(*symptom) != named);
        let others: Vec<Symptom> = others.collect();
        if !others.is_empty() {
            answer = answer.with_evidence(wording::also_explains(&others));
        }
        let against = found_cause.evidence_against.iter().take(AGAINST_MAX);
        answer.evidence.extend(against.map(|item| wording::evidence_against(&item.sentence)));
        answer
            .caveats
            .extend(found_cause.blocked.iter().map(|step| wording::not_possible_now(step.why, &step.reason)));
        let missing = self.deciding(&found_cause.missing_evidence).take(AGAINST_MAX);
        let target = self.case.site.map_or("", |site| site.target);
        answer.caveats.extend(missing.map(|evidence| wording::to_confirm(&evidence.action, target)));
        // Normal power saving needs no fix, so only actions with a command are listed.
        let is_of_use = |action: &&Action| !is_sleep || action.command.is_some();
        answer.actions.extend(found_cause.actions.iter().filter(is_of_use).cloned());
        answer
    }

    /// Missing evidence whose command would decide more; after a thorough check, another one is left out.
    fn deciding<'m>(&self, missing: &'m [MissingEvidence]) -> impl Iterator<Item = &'m MissingEvidence> {
        let is_thorough = self.options.thorough;
        missing.iter().filter(move |evidence| !(is_thorough && evidence.action.id == "check_thorough"))
    }

    /// Answers about an open symptom. Below a reference it is a problem whatever its cause; otherwise it may be by design.
    fn open(&self, open: &OpenSymptom, worst: Option<Shortfall>) -> Vec<Answer> {
        let rivals: Vec<(&'static str, f64)> =
            open.rivals.iter().map(|(cause, chance)| (cause.title, *chance)).collect();
        let mut answers = Vec::new();
        let mut undecided = match self.missed(open.symptom) {
            Some(missed) => {
                let is_headline = worst.is_some_and(|worst| worst.metric == missed.metric);
                if !is_headline {
                    answers.push(wording::also_slow(&missed));
                }
                wording::cause_of_shortfall(missed.metric, &rivals, is_headline, self.case.facts.is_some())
            }
            None => wording::open_symptom(open.symptom, &rivals),
        };
        undecided
            .actions
            .extend(self.deciding(&open.missing_evidence).map(|evidence| evidence.action.clone()));
        answers.push(undecided);
        answers
    }

    /// Open symptoms other than a metric below its reference.
    fn oddities(&self) -> impl Iterator<Item = &OpenSymptom> {
        // Designs differ too much in reads over a wide span to judge them without a new drive's.
        let is_comparable =
            move |symptom: Symptom| symptom != Symptom::SlowOverWideSpan || !self.case.normal.is_empty();
        self.diagnosis
            .open
            .iter()
            .filter(move |open| !matches!(open.symptom, Symptom::Below(_)) && is_comparable(open.symptom))
    }

    /// Odd symptoms for the first screen: beside a problem with a known cause, only those with a likely
    /// cause.
    fn listed_oddities(&self) -> impl Iterator<Item = &OpenSymptom> {
        let is_explained = harmful_causes(self.diagnosis).next().is_some();
        self.oddities().filter(move |open| {
            !is_explained || open.rivals.iter().any(|(_, chance)| *chance >= LISTED_CHANCE_MIN)
        })
    }

    /// Several odd symptoms in one line, each with the command that decides it.
    fn worth_a_look(&self) -> Option<Answer> {
        let symptoms: Vec<Symptom> = self.oddities().map(|open| open.symptom).collect();
        if symptoms.len() < 2 {
            return None;
        }
        let mut answer = wording::worth_a_look(&symptoms);
        for open in self.oddities() {
            let action = self.deciding(&open.missing_evidence).next().map(|evidence| evidence.action.clone());
            let action = action.filter(|action| !answer.actions.contains(action));
            answer.actions.extend(action);
        }
        Some(answer)
    }

    /// Says where on a hard disk sequential I/O was measured, unless in a folder, whose files may lie anywhere.
    fn places_of_disk(&self) -> Option<Answer> {
        let is_folder = self.case.site.as_ref().is_none_or(|site| site.kind == drive::TargetKind::Folder);
        let is_written = self.case.measurements.metric(Metric::SequentialWrite).is_some();
        (self.case.is_disk() && !is_folder).then(|| wording::places_of_disk(is_written))
    }

    fn compared_with(&self) -> Option<Answer> {
        // Without a closer reference, the class is named even if this drive is not slower than all of it.
        let names_class = !self.kin.usual.is_empty() && !self.is_compared_with_a_drive();
        let origins = distinct(self.origins().chain(names_class.then_some(Origin::Class)));
        if origins.is_empty() {
            return None;
        }
        let sources: Vec<String> = origins.into_iter().map(|origin| self.source(origin)).collect();
        let answer = wording::compared_with(&sources);
        let baselines = self.compared().filter(|compared| compared.reference.origin == Origin::Baseline);
        let variation = baselines.map(|baseline| baseline.reference.repeatability).max_by(f64::total_cmp);
        Some(match variation.filter(|variation| *variation >= VARIATION_MIN) {
            // The ratio of two checks scatters more than each of them.
            Some(variation) => {
                answer.caveat(wording::checks_vary((variation * std::f64::consts::SQRT_2).exp()))
            }
            None => answer,
        })
    }

    /// Where this drive stands among others of its model, the slowest metric first.
    fn peers(&self) -> Option<Answer> {
        let place_of = |peers: &PeersOption| {
            let measured = self.case.measurements.metric(peers.metric)?;
            Some((peers.metric, AmongPeers::new(measured.value, &peers.per_s)?))
        };
        let mut places: Vec<(Metric, AmongPeers)> = self.options.peers.iter().filter_map(place_of).collect();
        places.sort_by(|(_, one), (_, other)| one.ratio.total_cmp(&other.ratio));
        wording::peers(&places)
    }

    /// A known firmware fault that endangers no data; a fault that does is a cause.
    fn known_fault(&self) -> Option<Answer> {
        // A check of other programs' outputs lists every remark anyway.
        let fault = self.kin.fault.as_ref().filter(|_| !self.options.from_outputs);
        let (fault, text) = fault.filter(|(fault, _)| !fault.data_at_risk)?;
        Some(Answer::info(wording::FIRMWARE, "Firmware", text.clone()).action(update_firmware(fault)))
    }

    /// Settings that can cause a symptom, and unusual ones that slow a metric without a reference, which no
    /// symptom can show. A check of other programs' outputs lists every remark anyway.
    fn settings(&self) -> Vec<Answer> {
        let Some(facts) = self.case.facts.filter(|_| !self.options.from_outputs) else { return Vec::new() };
        let symptoms = self.case.symptoms();
        let says =
            |reference: &Reference, metric| reference.metric == metric && reference.origin != Origin::Link;
        let has_reference = |metric| self.case.references.iter().any(|reference| says(reference, metric));
        let measured =
            Metric::ALL.into_iter().filter(|metric| self.case.measurements.metric(*metric).is_some());
        let hidden: Vec<Symptom> =
            measured.filter(|metric| !has_reference(*metric)).map(Symptom::Below).collect();
        settings(facts, |setting| {
            setting.explains(&symptoms) || setting.is_unusual && setting.explains(&hidden)
        })
    }

    /// Limits of the types that a cloud volume of this size may be, because no system reports its type.
    fn volume_limits(&self) -> Option<Answer> {
        let limits = &self.kin.volumes;
        (!limits.is_empty()).then(|| wording::volume_limits(limits))
    }

    /// Types of cloud volumes whose limits match the highest measured rates.
    fn held_by(&self) -> Vec<&'static str> {
        let most = |metrics: [Metric; 2]| {
            let value_of = |metric| Some(self.case.measurements.metric(metric)?.value);
            metrics.into_iter().filter_map(value_of).max_by(f64::total_cmp)
        };
        let iops = most([Metric::RandomReadQd32, Metric::RandomRead]);
        let bytes = most([Metric::SequentialRead, Metric::SequentialWrite]);
        self.kin.held_by(iops, bytes)
    }

    /// Where references of this kind come from.
    fn source(&self, origin: Origin) -> String {
        let CheckOptions { baseline_date, other_drive_date, peers, catalog_match, .. } = self.options;
        match origin {
            Origin::Baseline => {
                baseline_date.as_deref().map_or_else(source::baseline, |date| source::baseline_of(day(date)))
            }
            Origin::OtherDrive => {
                other_drive_date.as_deref().map_or_else(source::other_drive, source::other_drive_of)
            }
            Origin::Peers => source::peers(peers.iter().map(|peer| peer.per_s.len()).max().unwrap_or(0)),
            Origin::Simulated => source::simulated(),
            Origin::Advertised if self.has_given_speeds => source::given(),
            Origin::Advertised => match (&self.kin.rated, &self.kin.speed_classes) {
                (Some(rated), _) => match rated.drive.gb {
                    Some(gb) => source::rated_size(&rated.product.name, gb, rated.source()),
                    None => source::rated(&rated.product.name, rated.source()),
                },
                (None, Some((classes, _))) => source::speed_classes(classes),
                (None, None) => source::given(),
            },
            Origin::Class => {
                let class = self.kin.usual.first().map(|(_, usual)| usual.class.words());
                source::class(&class.unwrap_or_default())
            }
            Origin::SimulatedModel => match catalog_match {
                Some(CatalogMatch { model, entry }) => source::catalog_entry(model, entry),
                None => source::unnamed_model(),
            },
            Origin::Link => source::link(),
        }
    }

    fn overview(&self) -> Overview {
        let mut listed: Vec<String> = self.diagnosis.causes.iter().map(wording::cause_id).collect();
        listed.push(wording::CAUSE_UNDECIDED.to_owned());
        let oddities: Vec<String> =
            self.listed_oddities().map(|open| open.symptom.name().to_owned()).collect();
        // Odd symptoms in the headline get a line each, with their likely causes.
        let is_headline = self.problems().is_empty();
        if oddities.len() > 1 && !is_headline {
            listed.push(wording::WORTH_A_LOOK.to_owned());
        } else {
            listed.extend(oddities);
        }
        // The headline already names the first latent problem.
        let latent = self.diagnosis.latent.iter().filter(|latent| latent.is_problem()).skip(1);
        listed.extend(latent.map(wording::cause_id));
        listed.push(wording::COMPARED_WITH.to_owned());
        listed.extend((!self.kin.volumes.is_empty()).then(|| wording::VOLUME_LIMITS.to_owned()));
        listed.extend((!self.options.peers.is_empty()).then(|| wording::PEERS.to_owned()));
        listed.push(wording::FIRMWARE.to_owned());
        listed.extend(self.settings().into_iter().map(|answer| answer.id));
        listed.push(wording::MEASURED_AT.to_owned());
        Overview { answers: listed, table: self.table(), ..Overview::default() }
    }

    /// Each metric now and its reference.
    fn table(&self) -> Option<OverviewTable> {
        if self.case.measurements.metrics.is_empty() {
            return None;
        }
        let compared =
            |metric| self.shortfall(metric).filter(|shortfall| shortfall.reference.origin != Origin::Class);
        let origins = distinct(self.origins().filter(|origin| *origin != Origin::Class));
        let heading = match origins[..] {
            [] => None,
            [only] => Some(only.heading()),
            _ => Some(wording::MIXED_REFERENCES),
        };
        // A reference of this drive makes the column of its class superfluous.
        let shows_usual =
            !self.kin.usual.is_empty() && !origins.iter().any(|origin| origin.is_of_this_drive());
        let usual_heading = shows_usual.then_some(Origin::Class.heading());
        let mut table = wording::table(heading.into_iter().chain(usual_heading));
        for (metric, measured) in &self.case.measurements.metrics {
            let compared = compared(*metric);
            let is_wide = compared.is_some_and(|compared| wording::is_wide(compared.share));
            let mut cells = vec![metric.words().to_owned(), wording::value_cell(*metric, *measured, is_wide)];
            if heading.is_some() {
                let cell = |shortfall: Shortfall| {
                    wording::reference_cell(*metric, &shortfall.reference, origins.len() > 1)
                };
                cells.push(compared.map_or_else(String::new, cell));
            }
            let usual = self.kin.usual(*metric).filter(|_| shows_usual);
            if shows_usual {
                cells.push(usual.map_or_else(String::new, ToString::to_string));
            }
            // Only what is certain gets a bar.
            let share = compared.map(|compared| compared.share).filter(|share| !is_open_comparison(*share));
            let share_of_usual = usual.map(|usual| measured.value / usual.median());
            table.push_with_share(cells, share.map(|share| share.value).or(share_of_usual));
        }
        let others = usize::from(heading.is_some()) + usize::from(shows_usual);
        for commit in self.commits.iter().filter(|commit| commit.test.writers == 1) {
            table.push(wording::durable_cells(commit).into_iter().chain((0..others).map(|_| String::new())));
        }
        Some(table)
    }
}

/// The day of a date and time.
fn day(date: &str) -> &str {
    date.get(..10).unwrap_or(date)
}

/// Whether a share is too uncertain to compare: its interval is wide and includes 1.
fn is_open_comparison(share: Measured) -> bool {
    wording::is_wide(share) && share.low < 1.0 && share.high > 1.0
}

fn by_design(found_cause: &FoundCause) -> Answer {
    let mut answer = wording::by_design(found_cause);
    answer.evidence.extend(found_cause.evidence_for.iter().map(|item| item.sentence.clone()));
    answer
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::{Drive, Fact, Facts, FileSystem, Layer, LayerKind};
    use likenew_diagnosis::{Measurements, Overall, Reference, Site, by_name};

    use super::*;

    fn found_cause(name: &str, explains: &[Symptom]) -> FoundCause {
        FoundCause {
            cause: by_name(name).expect("it is a cause"),
            chance: 0.97,
            explains: explains.to_vec(),
            evidence_for: Vec::new(),
            evidence_against: Vec::new(),
            missing_evidence: Vec::new(),
            actions: vec![Action::new("leave", "Leave it"), Action::new("set", "Set it").command("echo")],
            fixed_by: &[],
            blocked: Vec::new(),
            statement: format!("{name} is at work"),
        }
    }

    fn diagnosis(causes: Vec<FoundCause>) -> Diagnosis {
        let overall = if causes.is_empty() { Overall::AsNew } else { Overall::Slow };
        Diagnosis { overall, causes, latent: Vec::new(), design: Vec::new(), open: Vec::new() }
    }

    /// Findings of metrics with these shares of a new drive, and the intervals of both.
    fn findings(metrics: &[(Metric, Measured)], is_compared: bool, diagnosis: &Diagnosis) -> Findings {
        findings_with_facts(metrics, is_compared, diagnosis, None)
    }

    fn findings_with_facts(
        metrics: &[(Metric, Measured)],
        is_compared: bool,
        diagnosis: &Diagnosis,
        facts: Option<&Facts>,
    ) -> Findings {
        let measurements = Measurements { metrics: metrics.to_vec(), ..Measurements::default() };
        let reference = |metric| Reference::new(metric, Origin::Simulated, 100e6);
        let per_metric = metrics.iter().map(|(metric, _)| reference(*metric));
        let references: Vec<Reference> = per_metric.filter(|_| is_compared).collect();
        let site = Site {
            target: "sim:x",
            kind: drive::TargetKind::Simulated,
            trims: true,
            writable: true,
            free_bytes: None,
            used_bytes: 1 << 30,
            facts: None,
            feasibility: None,
        };
        let case = Case {
            measurements: &measurements,
            facts,
            delta: None,
            references: &references,
            normal: &[],
            firmware_fault: None,
            site: Some(site),
        };
        let answers = Answers {
            case: &case,
            diagnosis,
            options: &CheckOptions::default(),
            kin: &Kin::default(),
            has_given_speeds: false,
            old: None,
            not_written: None,
            commits: &[],
            longest_stall: None,
            pauses: Some(PauseLatencies {
                after_pause: Nanos::from_micros(5200),
                busy: Nanos::from_micros(139),
            }),
        };
        answers.findings()
    }

    fn narrow(value: f64) -> Measured {
        Measured::with_interval(value, 0.01)
    }

    const READ: Metric = Metric::SequentialRead;
    const RANDOM: Metric = Metric::RandomRead;

    #[test]
    fn a_setting_that_costs_speed_is_named_where_nothing_says_how_fast_the_drive_should_be() {
        let origin = "/proc/self/mountinfo";
        let options = |option: &str| Fact::new(vec!["rw".into(), option.to_owned()], origin);
        let listed = |option: &str, is_compared| {
            let file_system = FileSystem { options: options(option), ..FileSystem::default() };
            let facts = Facts { file_system: Some(file_system), ..Facts::default() };
            let as_new = [(Metric::RandomWrite, Measured::with_interval(100e6, 0.01))];
            let findings = findings_with_facts(&as_new, is_compared, &diagnosis(Vec::new()), Some(&facts));
            findings.overview.answers.contains(&"setting_sync_mount".to_owned())
        };
        assert!(listed("sync", false) && !listed("relatime", false));
        assert!(!listed("sync", true), "it is as fast as when new");
    }

    #[test]
    fn causes_are_named_by_the_metric_of_the_headline_only_where_they_do_not_explain_it() {
        let [read, random] = [READ, RANDOM].map(Symptom::Below);
        let causes = vec![
            found_cause("lazy_volume", &[read, random]),
            found_cause("token_bucket", &[read, random]),
            found_cause("fragmentation", &[read]),
        ];
        let metrics = [(READ, narrow(36e6)), (RANDOM, narrow(3e6))];
        let findings = findings(&metrics, true, &diagnosis(causes));
        let questions: Vec<&str> = findings.answers.iter().map(|answer| &*answer.question).collect();
        assert_eq!(
            questions[..4],
            ["Speed", "Cause", "Another cause", "Cause of slow sequential reads"],
            "{:#?}",
            findings.answers
        );
        assert_eq!(findings.answers[1].evidence, ["It also explains: slow sequential reads."]);
    }

    #[test]
    fn what_is_far_below_its_reference_is_never_called_not_slow() {
        let layer = Layer {
            kind: LayerKind::FileSystem,
            label: Fact::new("tmpfs".into(), "/proc/self/mountinfo"),
            ..Layer::default()
        };
        let memory = Facts { stack: vec![layer], ..Facts::default() };
        let findings_at = |share, facts: Option<&Facts>| {
            let metrics = [
                (READ, narrow(100e6)),
                (Metric::SequentialWrite, Measured::with_interval(share * 100e6, 0.2)),
            ];
            findings_with_facts(&metrics, true, &diagnosis(Vec::new()), facts)
        };
        let in_memory = findings_at(0.046, Some(&memory));
        assert_eq!(
            in_memory.summary,
            "100 MB/s read, 4.60 MB/s write; sequential writes at 4.6% of new; this is memory, which says nothing of a drive."
        );
        assert_eq!(in_memory.answers[0].standing, Standing::Unknown);
        let unsure = findings_at(0.74, None);
        assert!(unsure.summary.ends_with("at 74% of new, too uncertain to call slow."), "{}", unsure.summary);
        assert_eq!(findings_at(0.85, None).answers[0].standing, Standing::Good);
    }

    #[test]
    fn a_drive_that_wakes_after_a_pause_is_healthy() {
        let sleep = found_cause("power_saving", &[Symptom::SlowAfterIdle]);
        let findings = findings(&[(READ, narrow(100e6))], true, &diagnosis(vec![sleep]));
        assert_eq!(findings.summary, "Reads are as fast as new: 100 MB/s; writes were not tested.");
        assert!(!findings.found_problem());
        let sleep = &findings.answers[1];
        assert_eq!(
            (&*sleep.question, &*sleep.answer),
            (
                "Power saving",
                "a read after a pause takes 5.20 ms instead of 139 µs (37.4×); normal, and under load nothing sleeps"
            )
        );
        assert!(sleep.actions.iter().all(|action| action.command.is_some()), "{:?}", sleep.actions);
    }

    #[test]
    fn a_danger_stands_before_a_speed_that_is_healthy() {
        let mut measured = found_cause("host_memory", &[]);
        measured.evidence_for.push(likenew_diagnosis::EvidenceItem {
            name: "wide",
            sentence: "Reads over the whole drive take 1.57×.".into(),
            chance: 1.0,
            bits: 3.0,
            is_measured: true,
        });
        let diagnosis = Diagnosis { latent: vec![measured], ..diagnosis(Vec::new()) };
        let findings = findings(&[(READ, narrow(100e6))], true, &diagnosis);
        assert!(
            findings.summary.ends_with("host_memory is at work. No metric is slow."),
            "{}",
            findings.summary
        );
        let other = findings.answers.iter().find(|answer| answer.question == "Other problem").unwrap();
        assert_eq!(other.answer, "host_memory is at work", "a measured effect is one");
    }

    #[test]
    fn a_drive_that_reports_that_it_is_failing_comes_before_its_speed() {
        let mut drive = Drive { name: "nvme0n1".into(), ..Drive::default() };
        drive.health.warnings = Fact::new(vec!["its reliability is degraded".to_owned()], "NVMe log 2");
        let with = |drive: &Drive| {
            let facts = Facts { drives: vec![drive.clone()], ..Facts::default() };
            findings_with_facts(&[(READ, narrow(100e6))], true, &diagnosis(Vec::new()), Some(&facts))
        };
        assert_eq!(with(&drive).answers[0].id, "healthy", "a drive that does not say so is not failing");
        drive.health.failing = Fact::new(true, "NVMe log 2");
        let findings = with(&drive);
        assert!(
            findings
                .summary
                .starts_with("Back up now: nvme0n1 reports that it is failing. Reads are as fast as new: "),
            "{}",
            findings.summary
        );
        assert_eq!((findings.answers[0].standing, &*findings.answers[0].id), (Standing::Problem, "health"));
        assert_eq!(findings.answers[0].evidence, ["nvme0n1: its reliability is degraded."]);
        assert_eq!(findings.overview.answers[0], "health");
        let problems: Vec<_> = problems(&findings.answers).collect();
        let sentence = "nvme0n1 reports that it is failing";
        assert_eq!(problems, [(format!("health: {sentence}"), sentence)]);
    }

    #[test]
    fn a_problem_keeps_its_name_when_another_metric_is_the_slowest() {
        let names = |read: f64, write: f64| -> Vec<String> {
            let metrics = [(READ, narrow(read)), (Metric::SequentialWrite, narrow(write))];
            let slow = metrics.map(|(metric, _)| Symptom::Below(metric));
            let findings = findings(&metrics, true, &diagnosis(vec![found_cause("encryption", &slow)]));
            assert!(findings.summary.starts_with(if read < write { "Reads" } else { "Writes" }));
            problems(&findings.answers).map(|(name, _)| name).collect()
        };
        assert_eq!(names(30e6, 50e6), ["slow: Speed", "cause_encryption"]);
        assert_eq!(names(30e6, 50e6), names(50e6, 30e6));
    }

    #[test]
    fn as_fast_as_new_begins_at_95_percent() {
        let summary =
            |share: f64| findings(&[(READ, narrow(share * 100e6))], true, &diagnosis(Vec::new())).summary;
        assert!(summary(0.96).contains("as fast as new"), "{}", summary(0.96));
        assert!(summary(0.9).ends_with("sequential reads at 90% of new."), "{}", summary(0.9));
    }

    #[test]
    fn what_is_too_uncertain_to_compare_has_a_range_and_no_bar() {
        let wide = Measured::new(31e6, 5e6, 210e6);
        let slow = Measured::new(31e6, 15e6, 60e6);
        let metrics = [(READ, wide), (Metric::SequentialWrite, slow), (RANDOM, narrow(100e6))];
        let findings = findings(&metrics, true, &diagnosis(Vec::new()));
        let rows = findings.overview.table.unwrap().rows;
        assert_eq!((&*rows[0].cells[1], rows[0].share), ("31.0 MB/s (5.00–210)", None));
        assert_eq!((&*rows[1].cells[1], rows[1].share), ("31.0 MB/s (15.0–60.0)", Some(0.31)));
        assert!(rows[2].share.is_some());
    }

    #[test]
    fn a_check_of_a_simulated_drive_is_no_baseline() {
        let findings = findings(&[(READ, narrow(100e6))], false, &diagnosis(Vec::new()));
        let actions: Vec<&str> = findings.answers[0].actions.iter().map(|action| &*action.id).collect();
        assert_eq!(actions, ["give_rated"]);
        let command = findings.answers[0].actions[0].command.as_deref();
        assert_eq!(command, Some("likenew check sim:x --advertised read=…,write=…"));
    }
}
