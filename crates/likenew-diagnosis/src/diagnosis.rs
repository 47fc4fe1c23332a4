//! Which causes explain what was measured, and what is left unexplained.

use likenew_core::drive;

use super::steps::hindered;
use super::{ALL, Card, Case, Cause, Clue, Cure, Kind, Missing, Scales, Symptom, symptoms};

/// A cause is named from this probability on.
const SURE: f64 = 0.9;
/// A rival is named from this probability on.
const POSSIBLE: f64 = 0.1;
/// Rivals that are named at most, and ways to decide between them.
const RIVALS_MAX: usize = 3;
/// A clue that says less than this is not repeated.
const BITS_TOLD: f64 = 0.5;

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
    Fallen,
    /// Something is slow, and why is not decided.
    Undecided,
}

/// A cause that is at work.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What it is.
    pub card: &'static Card,
    /// How probable it is that it makes something slow.
    pub chance: f64,
    /// What it explains of what was measured; nothing, where it does no harm yet.
    pub explains: Vec<Symptom>,
    /// What speaks for it, what says most first.
    pub because: Vec<Clue>,
    /// What speaks against it.
    pub against: Vec<Clue>,
    /// What would say more.
    pub missing: Vec<Missing>,
    /// What helps, the gentlest first.
    pub cures: Vec<Cure>,
    /// What would help, and why the state of the drive forbids it now: sentences without a full stop.
    pub hindered: Vec<String>,
}

impl Found {
    /// Whether it is a problem even where it explains no symptom: it was measured, or something is in danger.
    pub fn is_problem(&self) -> bool {
        self.card.endangers || self.chance >= SURE
    }
}

/// A symptom that no cause explains surely.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// What was measured.
    pub symptom: Symptom,
    /// What could explain it, with the probability of each.
    pub rivals: Vec<(&'static Card, f64)>,
    /// What would decide it.
    pub missing: Vec<Missing>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// In one word.
    pub overall: Overall,
    /// Causes at work: what can be mended before what is made so, then the surest first.
    pub found: Vec<Found>,
    /// Causes that are there and cost no speed yet.
    pub latent: Vec<Found>,
    /// How it is made, where nothing that was measured is due to that.
    pub design: Vec<Found>,
    /// What is not explained.
    pub open: Vec<Open>,
}

/// A cause on its scales.
struct Weighed {
    cause: &'static dyn Cause,
    scales: Scales,
}

impl Weighed {
    fn can_explain(&self, symptom: Symptom) -> bool {
        self.cause.card().explains.contains(&symptom)
    }

    /// The probability that it is at work. How a drive is made its facts alone may say.
    fn chance(&self, explains: bool) -> f64 {
        match self.cause.card().kind {
            Kind::ByDesign => self.scales.chance(),
            Kind::Drive | Kind::NotTheDrive => self.scales.chance_at_work(explains),
        }
    }

    fn found(&self, case: &Case<'_>, explains: Vec<Symptom>) -> Found {
        let (because, against) = self.scales.clues().into_iter().partition(|clue| clue.bits > 0.0);
        let told = |clues: Vec<Clue>| clues.into_iter().filter(|clue| clue.bits.abs() >= BITS_TOLD).collect();
        Found {
            card: self.cause.card(),
            chance: self.chance(!explains.is_empty()),
            explains,
            because: told(because),
            against: told(against),
            missing: self.scales.missing(case.site.as_ref()),
            hindered: hindered(case, self.cause.card().name),
            cures: cures(case, self.cause),
        }
    }
}

/// What helps against a cause on the target of a case, the gentlest first. Advice stays where its command belongs to another kind of
/// target, or to a name that nobody knows.
pub fn cures(case: &Case<'_>, cause: &dyn Cause) -> Vec<Cure> {
    let mut cures = cause.cures(case);
    let is_simulated = case.site.is_some_and(|site| site.kind == drive::Kind::Simulated);
    let belongs = |command: &str| {
        let is_own = command.starts_with("likenew ");
        (is_own || !is_simulated) && PLACEHOLDERS.iter().all(|word| !command.contains(word))
    };
    for cure in cures.iter_mut().filter(|cure| !cure.command.as_deref().is_none_or(belongs)) {
        (cure.command, cure.undo) = (None, None);
    }
    cures
}

/// What would say more of a cause on the target of a case, what says most first.
pub fn hints(case: &Case<'_>, cause: &dyn Cause) -> Vec<Missing> {
    cause.weigh(case).missing(case.site.as_ref())
}

/// What stands for a name that is not known.
const PLACEHOLDERS: [&str; 3] = ["/dev/DRIVE", "MOUNT_POINT", " NAME"];

/// What every clue of every cause came to on a case, whether the cause is named or not: what weights are fitted to.
pub fn clues(case: &Case<'_>) -> Vec<(&'static str, Clue)> {
    let of = |cause: &&'static dyn Cause| {
        let name = cause.card().name;
        cause.weigh(case).clues().into_iter().map(move |clue| (name, clue)).collect::<Vec<_>>()
    };
    ALL.iter().flat_map(of).collect()
}

/// Weighs every cause against all others.
///
/// Causes do not exclude each other: each that is likely enough by its own evidence, and brings about something that was measured, is named. What no
/// such cause explains has one explanation among those that can bring it about, or one that nobody thought of, which counts as
/// even odds.
pub fn diagnose(case: &Case<'_>) -> Diagnosis {
    let all: Vec<Weighed> =
        ALL.iter().map(|cause| Weighed { cause: *cause, scales: cause.weigh(case) }).collect();
    let symptoms = symptoms(case);
    let explained_by = |one: &Weighed| -> Vec<Symptom> {
        symptoms.iter().copied().filter(|symptom| one.can_explain(*symptom)).collect()
    };
    let there = all.iter().filter(|one| one.scales.chance() >= SURE);
    let (mut found, latent): (Vec<Found>, Vec<Found>) =
        there.map(|one| one.found(case, explained_by(one))).partition(|one| !one.explains.is_empty());
    found.retain(|one| one.chance >= SURE);
    found.sort_by(|one, other| {
        let is_made_so = |found: &Found| found.card.kind == Kind::ByDesign;
        is_made_so(one).cmp(&is_made_so(other)).then(other.chance.total_cmp(&one.chance))
    });
    let (design, latent) = latent.into_iter().partition(|one| one.card.kind == Kind::ByDesign);
    let is_open = |symptom: &&Symptom| found.iter().all(|one| !one.explains.contains(symptom));
    let open: Vec<Open> =
        symptoms.iter().filter(is_open).map(|symptom| unexplained(case, &all, *symptom)).collect();
    Diagnosis { overall: overall(case, &found, &open), found, latent, design, open }
}

/// What can explain a symptom, with the probability of each that it is the one, the most probable first.
fn ranked(all: &[Weighed], symptom: Symptom) -> Vec<(usize, f64)> {
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

fn unexplained(case: &Case<'_>, all: &[Weighed], symptom: Symptom) -> Open {
    let mut rivals = ranked(all, symptom);
    rivals.retain(|(_, chance)| *chance >= POSSIBLE);
    rivals.truncate(RIVALS_MAX);
    let mut missing: Vec<Missing> =
        rivals.iter().flat_map(|(index, _)| all[*index].scales.missing(case.site.as_ref())).collect();
    missing.sort_by(|one, other| other.bits.total_cmp(&one.bits));
    let mut known = Vec::new();
    missing.retain(|one| {
        !known.contains(&one.how) && {
            known.push(one.how.clone());
            true
        }
    });
    missing.truncate(RIVALS_MAX);
    let rivals = rivals.into_iter().map(|(index, chance)| (all[index].cause.card(), chance)).collect();
    Open { symptom, rivals, missing }
}

/// The worst of it: what has fallen, then what is not decided, then what is somebody else's.
fn overall(case: &Case<'_>, found: &[Found], open: &[Open]) -> Overall {
    let has = |kind: Kind| found.iter().any(|one| one.card.kind == kind);
    let is_compared = case.references.iter().any(|reference| {
        // A link and a model tell what is slow, and not that nothing is.
        !matches!(reference.origin, super::Origin::Link | super::Origin::ModelTwin)
            && case.signs.figure(reference.figure).is_some()
    });
    if has(Kind::Drive) {
        Overall::Fallen
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
