//! Scores all causes of a case, names those that explain its symptoms, and lists the symptoms left unexplained.

use likenew_core::drive;
use likenew_core::findings::Action;
use likenew_core::fix::ActionKind;
use likenew_core::shell::with_sudo;

use super::evidence::LogOdds;
use super::steps::blocked_steps;
use super::{ALL, BlockedStep, Case, Cause, CauseKind, EvidenceItem, MissingEvidence, Symptom};

/// Probability, in 0..1, from which a cause is named. Chosen: one wrong name in ten at most.
const SURE: f64 = 0.9;
/// Probability from which a rival is named. Chosen: the complement of `SURE`.
const POSSIBLE: f64 = 0.1;
/// Most rivals named, and most ways to decide between them.
const RIVALS_MAX: usize = 3;
/// Bits below which a piece of evidence is left out. Chosen: half a bit is a ratio of 1.4.
const BITS_SHOWN_MIN: f64 = 0.5;

/// The overall result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overall {
    /// Nothing is slow compared with what this drive or its model was.
    AsNew,
    /// Nothing looks slow, but there was no reference.
    Sound,
    /// What is slow has always been so.
    ByDesign,
    /// The drive is not the reason for what is slow.
    NotTheDrive,
    /// The drive has become slower.
    Slow,
    /// Something is slow, and the cause is undecided.
    Undecided,
}

/// A cause that is at work.
#[derive(Clone, Debug)]
pub struct FoundCause {
    /// The cause.
    pub cause: &'static Cause,
    /// Probability that it makes something slow.
    pub chance: f64,
    /// The symptoms that it explains; empty if it does no harm yet.
    pub explains: Vec<Symptom>,
    /// The evidence for it, most telling first.
    pub evidence_for: Vec<EvidenceItem>,
    /// The evidence against it.
    pub evidence_against: Vec<EvidenceItem>,
    /// Evidence that is missing.
    pub missing_evidence: Vec<MissingEvidence>,
    /// Its fixes, the gentlest first.
    pub actions: Vec<Action>,
    /// The steps that fix it, possible or not, the gentlest first.
    pub fixed_by: &'static [ActionKind],
    /// Fixes that the drive's state prevents now.
    pub blocked: Vec<BlockedStep>,
    /// The cause on this drive: a clause without a full stop.
    pub statement: String,
}

impl FoundCause {
    /// Whether it is a problem even without a symptom: it was measured, or something is in danger.
    pub fn is_problem(&self) -> bool {
        self.cause.endangers || self.chance >= SURE
    }
}

/// A symptom that no cause explains with certainty.
#[derive(Clone, Debug)]
pub struct OpenSymptom {
    /// The symptom.
    pub symptom: Symptom,
    /// Its possible causes, with their probabilities.
    pub rivals: Vec<(&'static Cause, f64)>,
    /// Evidence that would decide it.
    pub missing_evidence: Vec<MissingEvidence>,
}

/// The result.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The overall result.
    pub overall: Overall,
    /// Causes at work: those that can be fixed before those by design, then by probability.
    pub causes: Vec<FoundCause>,
    /// Causes that are present and cost no speed yet.
    pub latent: Vec<FoundCause>,
    /// Traits of its design that explain no symptom.
    pub design: Vec<FoundCause>,
    /// Unexplained symptoms.
    pub open: Vec<OpenSymptom>,
}

/// A cause with its evidence.
struct ScoredCause {
    cause: &'static Cause,
    log_odds: LogOdds,
}

impl ScoredCause {
    fn can_explain(&self, case: &Case<'_>, symptom: Symptom) -> bool {
        self.cause.explains(case, symptom)
    }

    /// Whether facts and this symptom suffice for the cause. A cause of slow writes shows in writes, and not in stalls alone.
    fn is_typical(&self, symptom: Symptom) -> bool {
        symptom != Symptom::Stalls
            || !self.cause.symptoms().any(|symptom| symptom == Symptom::RewrittenFaster)
    }

    /// The probability that it is at work. For a cause by design, facts alone are enough.
    fn chance(&self, explains: bool) -> f64 {
        match self.cause.kind {
            CauseKind::ByDesign => self.log_odds.chance(),
            CauseKind::Drive | CauseKind::NotTheDrive => self.log_odds.chance_at_work(explains),
        }
    }

    fn finding(&self, case: &Case<'_>, explains: Vec<Symptom>) -> FoundCause {
        let (evidence_for, against) = self.log_odds.evidence().into_iter().partition(|item| item.bits > 0.0);
        // Evidence is left out if it is unclear whether it is present.
        let is_clear = |item: &EvidenceItem| !(POSSIBLE..SURE).contains(&item.chance);
        let text = |evidence: Vec<EvidenceItem>| {
            evidence.into_iter().filter(|item| item.bits.abs() >= BITS_SHOWN_MIN && is_clear(item)).collect()
        };
        FoundCause {
            cause: self.cause,
            chance: self.chance(explains.iter().any(|symptom| self.is_typical(*symptom))),
            explains,
            evidence_for: text(evidence_for),
            evidence_against: text(against),
            missing_evidence: self.log_odds.missing_evidence(case.site.as_ref()),
            fixed_by: self.cause.fixed_here(case),
            blocked: blocked_steps(case, self.cause.fixed_here(case)),
            actions: actions(case, self.cause),
            statement: self.cause.statement(case),
        }
    }
}

/// The fixes of a cause on the target of a case, the gentlest first. An action loses its command if that is
/// for another kind of target, or names something unknown; commands that need root say so to other users.
pub fn actions(case: &Case<'_>, cause: &Cause) -> Vec<Action> {
    let mut actions = (cause.actions)(case);
    let is_simulated = case.site.is_some_and(|site| site.kind == drive::TargetKind::Simulated);
    let belongs = |command: &str| {
        let is_own = command.starts_with("likenew ");
        (is_own || !is_simulated) && PLACEHOLDERS.iter().all(|word| !command.contains(word))
    };
    for action in actions.iter_mut().filter(|action| !action.command.as_deref().is_none_or(belongs)) {
        (action.command, action.undo) = (None, None);
    }
    if case.facts.and_then(|facts| facts.machine.root.get()) == Some(false) {
        for command in actions.iter_mut().flat_map(|action| [&mut action.command, &mut action.undo]).flatten()
        {
            *command = with_sudo(command);
        }
    }
    actions
}

/// Missing evidence for a cause on the target of a case, most telling first.
pub fn hints(case: &Case<'_>, cause: &Cause) -> Vec<MissingEvidence> {
    cause.score(case).missing_evidence(case.site.as_ref())
}

/// Placeholders for unknown names.
const PLACEHOLDERS: [&str; 3] = ["/dev/DRIVE", "MOUNT_POINT", " NAME"];

/// Every piece of evidence of every cause in a case, whether the cause is named or not; weights are fitted to
/// these.
pub fn evidence(case: &Case<'_>) -> Vec<(&'static str, EvidenceItem)> {
    let items = |cause: &&'static Cause| {
        let name = cause.name;
        cause.score(case).evidence().into_iter().map(move |item| (name, item))
    };
    ALL.iter().flat_map(items).collect()
}

/// Scores every cause against all others.
///
/// Causes do not exclude each other: a cause is named if it is likely enough by its own evidence and explains
/// a symptom. Each symptom left has a single explanation: one of the causes that can bring it about, or an
/// unknown one, which counts as even odds.
pub fn diagnose(case: &Case<'_>) -> Diagnosis {
    let candidates: Vec<ScoredCause> = ALL
        .iter()
        .filter(|_| !case.is_memory() && case.holes().is_none())
        .map(|cause| ScoredCause { cause, log_odds: cause.score(case) })
        .collect();
    let symptoms = case.symptoms();
    let explained_by = |candidate: &ScoredCause| -> Vec<Symptom> {
        symptoms.iter().copied().filter(|symptom| candidate.can_explain(case, *symptom)).collect()
    };
    let sure = candidates.iter().filter(|candidate| candidate.log_odds.chance() >= SURE);
    let (mut causes, latent): (Vec<FoundCause>, Vec<FoundCause>) = sure
        .map(|candidate| candidate.finding(case, explained_by(candidate)))
        .partition(|finding| !finding.explains.is_empty());
    causes.retain(|finding| finding.chance >= SURE);
    causes.sort_by(|one, other| {
        let is_made_so = |finding: &FoundCause| finding.cause.kind == CauseKind::ByDesign;
        is_made_so(one).cmp(&is_made_so(other)).then(other.chance.total_cmp(&one.chance))
    });
    let (design, latent) = latent.into_iter().partition(|finding| finding.cause.kind == CauseKind::ByDesign);
    let is_open = |symptom: &&Symptom| causes.iter().all(|finding| !finding.explains.contains(symptom));
    let open: Vec<OpenSymptom> =
        symptoms.iter().filter(is_open).map(|symptom| to_open_symptom(case, &candidates, *symptom)).collect();
    Diagnosis { overall: overall(case, &causes, &open), causes, latent, design, open }
}

/// All causes of a symptom, with the probability that each is the one, most probable first. It includes
/// causes that nothing known here makes possible.
fn rank(candidates: &[ScoredCause], symptom: Symptom) -> Vec<(usize, f64)> {
    let able = candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| candidate.cause.symptoms().any(|own| own == symptom));
    let odds = able.map(|(index, candidate)| {
        let chance = candidate.chance(candidate.is_typical(symptom));
        (index, chance / (1.0 - chance))
    });
    let odds: Vec<(usize, f64)> = odds.collect();
    let sum = 1.0 + odds.iter().map(|(_, odds)| odds).sum::<f64>();
    let mut chances: Vec<(usize, f64)> = odds.into_iter().map(|(index, odds)| (index, odds / sum)).collect();
    chances.sort_by(|one, other| other.1.total_cmp(&one.1));
    chances
}

fn to_open_symptom(case: &Case<'_>, candidates: &[ScoredCause], symptom: Symptom) -> OpenSymptom {
    let mut rivals = rank(candidates, symptom);
    rivals.retain(|(_, chance)| *chance >= POSSIBLE);
    rivals.truncate(RIVALS_MAX);
    let mut missing_evidence: Vec<MissingEvidence> = rivals
        .iter()
        .flat_map(|(index, _)| candidates[*index].log_odds.missing_evidence(case.site.as_ref()))
        .collect();
    missing_evidence.sort_by(|one, other| other.bits.total_cmp(&one.bits));
    let mut known = Vec::new();
    missing_evidence.retain(|missing| {
        // Two hints with the same command are one action.
        let key = missing.action.command.as_deref().unwrap_or(&missing.action.why).to_owned();
        !known.contains(&key) && {
            known.push(key);
            true
        }
    });
    missing_evidence.truncate(RIVALS_MAX);
    // Rivals that nothing makes possible are dropped only now: evidence of them is worth asking for too.
    rivals.retain(|(index, _)| candidates[*index].can_explain(case, symptom));
    let rivals = rivals.into_iter().map(|(index, chance)| (candidates[index].cause, chance)).collect();
    OpenSymptom { symptom, rivals, missing_evidence }
}

/// The worst result: a drive that has become slower, then an undecided case, then a drive slowed down by
/// something else.
fn overall(case: &Case<'_>, causes: &[FoundCause], open: &[OpenSymptom]) -> Overall {
    let has = |kind: CauseKind| causes.iter().any(|finding| finding.cause.kind == kind);
    if has(CauseKind::Drive) {
        Overall::Slow
    } else if !open.is_empty() {
        Overall::Undecided
    } else if has(CauseKind::NotTheDrive) {
        Overall::NotTheDrive
    } else if has(CauseKind::ByDesign) {
        Overall::ByDesign
    } else if case.is_compared() {
        Overall::AsNew
    } else {
        Overall::Sound
    }
}
