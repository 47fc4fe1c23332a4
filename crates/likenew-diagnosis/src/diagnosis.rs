//! Which causes explain what was measured, and what is left unexplained.

use likenew_core::answer::Action;
use likenew_core::drive;

use super::steps::blocked_steps;
use super::{
    ALL, BlockedStep, Case, Cause, CauseDescriptor, EvidenceItem, Kind, LogOdds, MissingEvidence, Symptom,
};

/// A cause is named from this probability on.
const SURE: f64 = 0.9;
/// A rival is named from this probability on.
const POSSIBLE: f64 = 0.1;
/// Rivals that are named at most, and ways to decide between them.
const RIVALS_MAX: usize = 3;
/// A piece of evidence that says less than this is not repeated.
const BITS_SHOWN_MIN: f64 = 0.5;

/// What it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overall {
    /// Nothing is slow, measured by what this drive or its model was.
    AsNew,
    /// Nothing looks slow, but there was nothing to hold it against.
    Sound,
    /// What is slow was never faster.
    ByDesign,
    /// What is slow is not the drive.
    NotTheDrive,
    /// The drive has fallen from what it was.
    Slow,
    /// Something is slow, and why is not decided.
    Undecided,
}

/// A cause that is at work.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundCause {
    /// What it is.
    pub descriptor: &'static CauseDescriptor,
    /// How probable it is that it makes something slow.
    pub chance: f64,
    /// What it explains of what was measured; nothing, where it does no harm yet.
    pub explains: Vec<Symptom>,
    /// What speaks for it, what says most first.
    pub evidence_for: Vec<EvidenceItem>,
    /// What speaks against it.
    pub evidence_against: Vec<EvidenceItem>,
    /// What would say more.
    pub missing_evidence: Vec<MissingEvidence>,
    /// What helps, the gentlest first.
    pub actions: Vec<Action>,
    /// What would help and the state of the drive forbids now.
    pub blocked: Vec<BlockedStep>,
    /// The cause as it is at work here: a clause without a full stop.
    pub statement: String,
}

impl FoundCause {
    /// Whether it is a problem even where it explains no symptom: it was measured, or something is in danger.
    pub fn is_problem(&self) -> bool {
        self.descriptor.endangers || self.chance >= SURE
    }
}

/// A symptom that no cause explains surely.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSymptom {
    /// What was measured.
    pub symptom: Symptom,
    /// What could explain it, with the probability of each.
    pub rivals: Vec<(&'static CauseDescriptor, f64)>,
    /// What would decide it.
    pub missing_evidence: Vec<MissingEvidence>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// In one word.
    pub overall: Overall,
    /// Causes at work: what can be mended before what is made so, then the surest first.
    pub causes: Vec<FoundCause>,
    /// Causes that are there and cost no speed yet.
    pub latent: Vec<FoundCause>,
    /// How it is made, where nothing that was measured is due to that.
    pub design: Vec<FoundCause>,
    /// What is not explained.
    pub open: Vec<OpenSymptom>,
}

/// A cause with its evidence.
struct ScoredCause {
    cause: &'static dyn Cause,
    log_odds: LogOdds,
}

impl ScoredCause {
    fn can_explain(&self, symptom: Symptom) -> bool {
        self.cause.descriptor().explains.contains(&symptom)
    }

    /// The probability that it is at work. How a drive is made its facts alone may say.
    fn chance(&self, explains: bool) -> f64 {
        match self.cause.descriptor().kind {
            Kind::ByDesign => self.log_odds.chance(),
            Kind::Drive | Kind::NotTheDrive => self.log_odds.chance_at_work(explains),
        }
    }

    fn finding(&self, case: &Case<'_>, explains: Vec<Symptom>) -> FoundCause {
        let (evidence_for, against) = self.log_odds.evidence().into_iter().partition(|item| item.bits > 0.0);
        let text = |evidence: Vec<EvidenceItem>| {
            evidence.into_iter().filter(|item| item.bits.abs() >= BITS_SHOWN_MIN).collect()
        };
        FoundCause {
            descriptor: self.cause.descriptor(),
            chance: self.chance(!explains.is_empty()),
            explains,
            evidence_for: text(evidence_for),
            evidence_against: text(against),
            missing_evidence: self.log_odds.missing_evidence(case.site.as_ref()),
            blocked: blocked_steps(case, self.cause.descriptor().name),
            actions: actions(case, self.cause),
            statement: self.cause.statement(case),
        }
    }
}

/// What helps against a cause on the target of a case, the gentlest first. Advice loses its command where that
/// belongs
/// to another kind of target, or names something unknown.
pub fn actions(case: &Case<'_>, cause: &dyn Cause) -> Vec<Action> {
    let mut actions = cause.actions(case);
    let is_simulated = case.site.is_some_and(|site| site.kind == drive::Kind::Simulated);
    let belongs = |command: &str| {
        let is_own = command.starts_with("likenew ");
        (is_own || !is_simulated) && PLACEHOLDERS.iter().all(|word| !command.contains(word))
    };
    for action in actions.iter_mut().filter(|action| !action.command.as_deref().is_none_or(belongs)) {
        (action.command, action.undo) = (None, None);
    }
    actions
}

/// What would say more of a cause on the target of a case, what says most first.
pub fn hints(case: &Case<'_>, cause: &dyn Cause) -> Vec<MissingEvidence> {
    cause.score(case).missing_evidence(case.site.as_ref())
}

/// What stands for a name that is not known.
const PLACEHOLDERS: [&str; 3] = ["/dev/DRIVE", "MOUNT_POINT", " NAME"];

/// What every piece of evidence of every cause came to on a case, whether the cause is named or not: what weights
/// are fitted to.
pub fn evidence(case: &Case<'_>) -> Vec<(&'static str, EvidenceItem)> {
    let of = |cause: &&'static dyn Cause| {
        let name = cause.descriptor().name;
        cause.score(case).evidence().into_iter().map(move |item| (name, item)).collect::<Vec<_>>()
    };
    ALL.iter().flat_map(of).collect()
}

/// Weighs every cause against all others.
///
/// Causes do not exclude each other: each that is likely enough by its own evidence, and brings about something
/// that was measured, is named. What no
/// such cause explains has one explanation among those that can bring it about, or one that nobody thought of,
/// which counts as
/// even odds.
pub fn diagnose(case: &Case<'_>) -> Diagnosis {
    let all: Vec<ScoredCause> =
        ALL.iter().map(|cause| ScoredCause { cause: *cause, log_odds: cause.score(case) }).collect();
    let symptoms = case.symptoms();
    let explained_by = |one: &ScoredCause| -> Vec<Symptom> {
        symptoms.iter().copied().filter(|symptom| one.can_explain(*symptom)).collect()
    };
    let there = all.iter().filter(|one| one.log_odds.chance() >= SURE);
    let (mut causes, latent): (Vec<FoundCause>, Vec<FoundCause>) =
        there.map(|one| one.finding(case, explained_by(one))).partition(|one| !one.explains.is_empty());
    causes.retain(|one| one.chance >= SURE);
    causes.sort_by(|one, other| {
        let is_made_so = |cause: &FoundCause| cause.descriptor.kind == Kind::ByDesign;
        is_made_so(one).cmp(&is_made_so(other)).then(other.chance.total_cmp(&one.chance))
    });
    let (design, latent) = latent.into_iter().partition(|one| one.descriptor.kind == Kind::ByDesign);
    let is_open = |symptom: &&Symptom| causes.iter().all(|one| !one.explains.contains(symptom));
    let open: Vec<OpenSymptom> =
        symptoms.iter().filter(is_open).map(|symptom| to_open_symptom(case, &all, *symptom)).collect();
    Diagnosis { overall: overall(case, &causes, &open), causes, latent, design, open }
}

/// What can explain a symptom, with the probability of each that it is the one, the most probable first.
fn rank(all: &[ScoredCause], symptom: Symptom) -> Vec<(usize, f64)> {
    let able = all.iter().enumerate().filter(|(_, one)| one.can_explain(symptom));
    let odds = able.map(|(index, one)| {
        let chance = one.chance(true);
        (index, chance / (1.0 - chance))
    });
    let odds: Vec<(usize, f64)> = odds.collect();
    let sum = 1.0 + odds.iter().map(|(_, odds)| odds).sum::<f64>();
    let mut chances: Vec<(usize, f64)> = odds.into_iter().map(|(index, odds)| (index, odds / sum)).collect();
    chances.sort_by(|one, other| other.1.total_cmp(&one.1));
    chances
}

fn to_open_symptom(case: &Case<'_>, all: &[ScoredCause], symptom: Symptom) -> OpenSymptom {
    let mut rivals = rank(all, symptom);
    rivals.retain(|(_, chance)| *chance >= POSSIBLE);
    rivals.truncate(RIVALS_MAX);
    let mut missing_evidence: Vec<MissingEvidence> = rivals
        .iter()
        .flat_map(|(index, _)| all[*index].log_odds.missing_evidence(case.site.as_ref()))
        .collect();
    missing_evidence.sort_by(|one, other| other.bits.total_cmp(&one.bits));
    let mut known = Vec::new();
    missing_evidence.retain(|one| {
        // Two hints by one command are one action.
        let key = one.action.command.as_deref().unwrap_or(&one.action.why).to_owned();
        !known.contains(&key) && {
            known.push(key);
            true
        }
    });
    missing_evidence.truncate(RIVALS_MAX);
    let rivals = rivals.into_iter().map(|(index, chance)| (all[index].cause.descriptor(), chance)).collect();
    OpenSymptom { symptom, rivals, missing_evidence }
}

/// The worst of it: what has fallen, then what is not decided, then what is somebody else's.
fn overall(case: &Case<'_>, causes: &[FoundCause], open: &[OpenSymptom]) -> Overall {
    let has = |kind: Kind| causes.iter().any(|one| one.descriptor.kind == kind);
    let is_compared = case.references.iter().any(|reference| {
        // A link and a model tell what is slow, and not that nothing is.
        !matches!(reference.origin, super::Origin::Link | super::Origin::SimulatedModel)
            && case.measurements.metric(reference.metric).is_some()
    });
    if has(Kind::Drive) {
        Overall::Slow
    } else if !open.is_empty() {
        Overall::Undecided
    } else if has(Kind::NotTheDrive) {
        Overall::NotTheDrive
    } else if has(Kind::ByDesign) {
        Overall::ByDesign
    } else if is_compared {
        Overall::AsNew
    } else {
        Overall::Sound
    }
}
