//! Evidence for and against a cause, and the probability that follows from it.

use likenew_core::findings::Action;

use super::{Case, Hint, Measured, Site};

/// One piece of evidence for a cause or against it: how it is observed and put into words, and what it weighs.
///
/// A weight is log₂ of how many times as probable the evidence is with the cause at work as without it: one for
/// when it is present, and one for when it is known to be absent. All are set by hand, from how the mechanism
/// works and from the sources that the cause's manual page cites. `cargo xtask bench diagnosis --fit` fits them
/// on simulated drives of even seeds, with these values as prior, and reports on drives of odd seeds how much
/// that gains.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    /// Its name in JSON.
    pub id: &'static str,
    /// Bits if it is present.
    pub when_present: f64,
    /// Bits if it is absent.
    pub when_absent: f64,
    /// Its group, if it has one. Evidence of one group has the same root and counts once.
    pub group: Option<&'static str>,
    source: Source,
    hint: Hint,
    hint_applies: fn(&Case<'_>) -> bool,
}

/// What was observed, and a sentence about it; `None` if it is not known.
pub(crate) type Observed<T> = Option<(T, String)>;

#[derive(Clone, Copy, Debug)]
enum Source {
    Measured { threshold: f64, observe: fn(&Case<'_>) -> Observed<Measured> },
    Fact(fn(&Case<'_>) -> Observed<bool>),
    Count(fn(&Case<'_>) -> Observed<bool>),
}

/// A measured number, which is present with the probability that it is above a threshold.
pub(crate) const fn measured(
    id: &'static str,
    when_present: f64,
    when_absent: f64,
    threshold: f64,
    observe: fn(&Case<'_>) -> Observed<Measured>,
) -> Evidence {
    Evidence::new(id, when_present, when_absent, Source::Measured { threshold, observe })
}

/// A fact that is true or false.
pub(crate) const fn fact(
    id: &'static str,
    when_present: f64,
    when_absent: f64,
    observe: fn(&Case<'_>) -> Observed<bool>,
) -> Evidence {
    Evidence::new(id, when_present, when_absent, Source::Fact(observe))
}

/// A counter that increased during the run, or did not. An increase is a measurement; a counter that did not
/// change may never do so.
pub(crate) const fn count(
    id: &'static str,
    when_present: f64,
    when_absent: f64,
    observe: fn(&Case<'_>) -> Observed<bool>,
) -> Evidence {
    Evidence::new(id, when_present, when_absent, Source::Count(observe))
}

impl Evidence {
    const fn new(id: &'static str, when_present: f64, when_absent: f64, source: Source) -> Self {
        let (hint, hint_applies) = (Hint::NONE, |_: &Case<'_>| true);
        Self { id, when_present, when_absent, group: None, source, hint, hint_applies }
    }

    /// Counts once together with the others of this group.
    pub(crate) const fn in_group(self, group: &'static str) -> Self {
        Self { group: Some(group), ..self }
    }

    /// How to get it if it is missing.
    pub(crate) const fn hint(self, hint: Hint) -> Self {
        Self { hint, ..self }
    }

    /// How to get it if it is missing, in cases to which the hint applies.
    pub(crate) const fn hint_if(self, applies: fn(&Case<'_>) -> bool, hint: Hint) -> Self {
        Self { hint, hint_applies: applies, ..self }
    }

    fn observe(&self, case: &Case<'_>) -> Option<Observation> {
        let (chance, is_measured, sentence) = match self.source {
            Source::Measured { threshold, observe } => {
                let (measurement, sentence) = observe(case)?;
                (measurement.chance_above(threshold), true, sentence)
            }
            Source::Fact(observe) => {
                let (holds, sentence) = observe(case)?;
                (f64::from(u8::from(holds)), false, sentence)
            }
            Source::Count(observe) => {
                let (went_up, sentence) = observe(case)?;
                (f64::from(u8::from(went_up)), went_up, sentence)
            }
        };
        Some(Observation { chance, is_measured, sentence })
    }
}

struct Observation {
    /// Probability that the evidence is present.
    chance: f64,
    is_measured: bool,
    sentence: String,
}

/// An observation and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceItem {
    /// The id of the evidence.
    pub name: &'static str,
    /// The observation, as a sentence.
    pub sentence: String,
    /// Probability that it is present.
    pub chance: f64,
    /// log₂ of the likelihood ratio: how many times as probable it is with the cause at work as without it;
    /// negative if it is evidence against. 0 if another piece of evidence of its group counts for both.
    pub bits: f64,
    /// Whether it was measured; reports of the system or the drive are facts.
    pub is_measured: bool,
}

/// Evidence that is missing and would be telling.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingEvidence {
    /// The action that would show it.
    pub action: Action,
    /// Most bits it could give, for or against.
    pub bits: f64,
}

/// The evidence for and against a cause, in bits: log₂ of likelihood ratios, which add up as far as pieces of
/// evidence are independent given the cause (I. J. Good, "Weight of evidence: a brief survey", Bayesian
/// Statistics 2 (1985) 249–270). Evidence that is not independent is in one group and counts once: the strongest
/// for the cause or, if there is none, the strongest against it.
pub(crate) struct LogOdds {
    prior_bits: f64,
    /// Each with its group.
    evidence: Vec<(Option<&'static str>, EvidenceItem)>,
    missing_evidence: Vec<(Hint, f64)>,
}

/// Most bits of a single piece of evidence. Chosen: one in 250 drives has a reason for it that is not in the
/// table.
const BITS_MAX: f64 = 8.0;
/// Most bits of facts alone. Chosen: they are 89%, just below `SURE` of the diagnosis.
const FACTS_MAX: f64 = 3.0 / SCALE;
/// Bits from which measured evidence supports its cause.
const MEASURED_LEAST: f64 = 0.5;

/// True bits for each bit of a weight, because weights are cautious. Of causes that they gave 90 to 95%, 98% were at work; with a
/// scale of 1.2, 81% (160 and 100 drawn drives in drawn situations, `cargo xtask bench diagnosis --drawn`).
const SCALE: f64 = 1.1;

/// Largest probability that is stated. Chosen: one drive in a thousand has a reason that is no cause here.
const CHANCE_MAX: f64 = 0.999;

fn chance(bits: f64) -> f64 {
    (1.0 / (1.0 + (-SCALE * bits).exp2())).min(CHANCE_MAX)
}

impl LogOdds {
    /// Without evidence: only how common a cause is.
    fn new(prior_bits: f64) -> Self {
        Self { prior_bits, evidence: Vec::new(), missing_evidence: Vec::new() }
    }

    /// With the evidence of a case.
    pub(crate) fn score(prior_bits: f64, evidence: &[Evidence], case: &Case<'_>) -> Self {
        let mut log_odds = Self::new(prior_bits);
        for piece in evidence {
            match piece.observe(case) {
                Some(observation) => log_odds.add(piece, observation),
                None if (piece.hint_applies)(case) => {
                    let bits = piece.when_present.abs().max(piece.when_absent.abs());
                    log_odds.missing_evidence.push((piece.hint, bits));
                }
                None => {}
            }
        }
        log_odds
    }

    fn add(&mut self, evidence: &Evidence, observation: Observation) {
        let Observation { chance, is_measured, sentence } = observation;
        // The mean of the bits, not of the ratios: an uncertain reading says little, and in a mean of ratios
        // the rare reading would outweigh the common one.
        let bits = chance * evidence.when_present + (1.0 - chance) * evidence.when_absent;
        let bits = bits.clamp(-BITS_MAX, BITS_MAX);
        let mut item = EvidenceItem { name: evidence.id, sentence, chance, bits, is_measured };
        if evidence.group.is_some() {
            let mut others = self.evidence.iter_mut().filter(|(group, _)| *group == evidence.group);
            if let Some((_, rival)) = others.find(|(_, other)| other.bits != 0.0) {
                let is_stronger = if item.bits.max(rival.bits) > 0.0 {
                    item.bits > rival.bits
                } else {
                    item.bits < rival.bits
                };
                let loser = if is_stronger { rival } else { &mut item };
                loser.bits = 0.0;
            }
        }
        self.evidence.push((evidence.group, item));
    }

    /// All evidence, most telling first.
    pub(crate) fn evidence(&self) -> Vec<EvidenceItem> {
        let mut evidence: Vec<EvidenceItem> = self.evidence.iter().map(|(_, item)| item.clone()).collect();
        evidence.sort_by(|one, other| other.bits.abs().total_cmp(&one.bits.abs()));
        evidence
    }

    /// Missing evidence that the target allows, most telling first.
    pub(crate) fn missing_evidence(&self, site: Option<&Site<'_>>) -> Vec<MissingEvidence> {
        let missing = |(hint, bits): &(Hint, f64)| {
            let action = site.map_or_else(|| hint.action(), |site| site.action(*hint))?;
            Some(MissingEvidence { action, bits: *bits })
        };
        let mut missing_evidence: Vec<MissingEvidence> =
            self.missing_evidence.iter().filter_map(missing).collect();
        missing_evidence.sort_by(|one, other| other.bits.total_cmp(&one.bits));
        missing_evidence
    }

    /// The sum of all bits.
    fn bits(&self) -> f64 {
        self.prior_bits + self.evidence.iter().map(|(_, item)| item.bits).sum::<f64>()
    }

    /// The sum of the bits of measured evidence.
    fn measured_bits(&self) -> f64 {
        self.evidence.iter().filter(|(_, item)| item.is_measured).map(|(_, item)| item.bits).sum()
    }

    /// The sum of bits, in which facts alone reach 89% at most: a drive is not slow merely because it lacks
    /// TRIM or is hot. Measured evidence has to fit, or a symptom that the cause `explains` without measured
    /// evidence against it.
    fn bits_at_work(&self, explains: bool) -> f64 {
        let measured = self.measured_bits();
        let fits = measured >= MEASURED_LEAST || (explains && measured >= 0.0);
        if fits { self.bits() } else { self.bits().min(FACTS_MAX) }
    }

    /// The probability of the cause: the odds are 2 to the power of the scaled sum.
    pub(crate) fn chance(&self) -> f64 {
        chance(self.bits())
    }

    /// The probability that the cause makes something slow.
    pub(crate) fn chance_at_work(&self, explains: bool) -> f64 {
        chance(self.bits_at_work(explains))
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::{Counts, DriveDelta, Fact};

    use super::*;
    use crate::{Measurements, by_name};

    /// A case without any knowledge.
    fn empty(measurements: &Measurements) -> Case<'_> {
        Case {
            measurements,
            facts: None,
            delta: None,
            references: &[],
            normal: &[],
            firmware_fault: None,
            site: None,
        }
    }

    fn evidence(cause: &str, id: &str) -> &'static Evidence {
        let items = by_name(cause).unwrap().evidence;
        items.iter().find(|evidence| evidence.id == id).unwrap()
    }

    fn prior(cause: &str) -> f64 {
        by_name(cause).unwrap().prior
    }

    /// The log odds of a cause with measured evidence, which is present with these probabilities, and with facts.
    fn log_odds(cause: &str, measurements: &[(&str, f64)], facts: &[(&str, bool)]) -> LogOdds {
        let mut log_odds = LogOdds::new(prior(cause));
        let facts = facts.iter().map(|(id, holds)| (*id, f64::from(u8::from(*holds)), false));
        let measurements = measurements.iter().map(|(id, chance)| (*id, *chance, true));
        for (id, chance, is_measured) in facts.chain(measurements) {
            let observation = Observation { chance, is_measured, sentence: String::new() };
            log_odds.add(evidence(cause, id), observation);
        }
        log_odds
    }

    #[test]
    fn bits_add_up_and_doubt_weakens_them() {
        let bits = |measurement: Measured| {
            let log_odds = log_odds("no_trim", &[("trim_helps", measurement.chance_above(1.5))], &[]);
            (log_odds.bits(), log_odds.chance())
        };
        let (prior, weight) = (prior("no_trim"), evidence("no_trim", "trim_helps"));
        let sure = bits(Measured::with_interval(2.0, 0.01));
        assert!((sure.0 - prior - weight.when_present).abs() < 0.01);
        assert!((sure.1 - 1.0 / (1.0 + (-SCALE * sure.0).exp2())).abs() < 1e-9 && sure.1 < CHANCE_MAX);
        assert_eq!(chance(40.0), CHANCE_MAX, "nothing is certain");
        let unsure = bits(Measured::new(2.0, 1.0, 4.0));
        assert!(unsure.0 < sure.0 && unsure.0 > prior);
        let against = bits(Measured::with_interval(1.0, 0.01));
        assert!((against.0 - prior - weight.when_absent).abs() < 0.01);
    }

    #[test]
    fn evidence_of_one_group_counts_once() {
        let sum = |blocked: bool, sent: bool, is_sent_first: bool| {
            let mut observed = [("trim_blocked", blocked), ("trim_sent", sent)];
            if is_sent_first {
                observed.reverse();
            }
            log_odds("no_trim", &[], &observed).bits() - prior("no_trim")
        };
        let (blocked, sent) = (evidence("no_trim", "trim_blocked"), evidence("no_trim", "trim_sent"));
        for first in [false, true] {
            assert_eq!(
                sum(true, false, first),
                sent.when_absent,
                "nothing sends, and it would not arrive: one reason"
            );
            assert_eq!(
                sum(true, true, first),
                blocked.when_present,
                "what is blocked is of no use, whoever sends it"
            );
            assert_eq!(sum(false, true, first), sent.when_present);
        }
        let apart = log_odds("no_trim", &[("trim_helps", 1.0)], &[("trim_blocked", true)]);
        let both = blocked.when_present + evidence("no_trim", "trim_helps").when_present;
        assert!((apart.bits() - prior("no_trim") - both).abs() < 0.01, "what is independent adds up");
    }

    #[test]
    fn what_is_not_known_weighs_nothing_and_is_asked_for() {
        let evidence = [
            fact("near_limit", 2.5, -2.0, |_| None).hint(Hint::root("ask as root")),
            measured("slower_when_warm", 3.5, -3.0, 1.0, |_| None).hint(Hint::thorough("load it")),
            count("throttle_count", 8.0, -1.0, |_| None),
            fact("cold", 8.0, -1.0, |_| None).hint_if(|case| case.is_disk(), Hint::root("no disk")),
        ];
        let log_odds = LogOdds::score(-1.5, &evidence, &empty(&Measurements::default()));
        assert_eq!((log_odds.bits(), log_odds.evidence().len()), (-1.5, 0));
        let missing = log_odds.missing_evidence(None).into_iter();
        assert_eq!(missing.map(|item| item.action.why).collect::<Vec<_>>(), ["load it", "ask as root"]);
    }

    #[test]
    fn facts_alone_make_no_cause_of_slowness() {
        for cause in crate::ALL {
            let facts: Vec<(&str, bool)> = cause
                .evidence
                .iter()
                .map(|evidence| (evidence.id, evidence.when_present > evidence.when_absent))
                .collect();
            let chance = log_odds(cause.name, &[], &facts).chance_at_work(false);
            assert!(chance < 0.9, "{}: {chance}", cause.name);
        }
        let is_named = |reads_are_slow_too: f64, explains: bool| {
            let facts = [("trim_sent", false), ("hard_disk", false)];
            let log_odds = log_odds("no_trim", &[("writes_below_reads", reads_are_slow_too)], &facts);
            log_odds.chance_at_work(explains) > 0.9
        };
        assert!(is_named(0.0, false) && is_named(0.0, true), "it was measured");
        assert!(!is_named(1.0, false) && !is_named(1.0, true), "it was measured, and is not so");
        let throttled = |seconds: u64| {
            let throttled_light_s = Fact::new(seconds, "test");
            let counts = Counts { throttled_light_s, ..Counts::default() };
            let delta = DriveDelta { counts, ..DriveDelta::default() };
            let measurements = Measurements::default();
            let case = Case { delta: Some(&delta), ..empty(&measurements) };
            by_name("heat").unwrap().score(&case).chance_at_work(false) > 0.9
        };
        assert!(throttled(9) && !throttled(0), "it throttled while it was measured");
    }

    #[test]
    fn what_follows_from_something_else_adds_nothing() {
        let sum = |cause: &str, facts: &[(&str, bool)]| log_odds(cause, &[], facts).bits() - prior(cause);
        let cloud = sum("token_bucket", &[("virtual", true), ("cloud", true)]);
        assert_eq!(cloud, evidence("token_bucket", "cloud").when_present, "a cloud's volume is virtual");
        let bare = sum("token_bucket", &[("virtual", false), ("cloud", false)]);
        let weight = evidence("token_bucket", "virtual").when_absent;
        assert_eq!(bare, weight, "what is not virtual is no cloud's");
        assert!(sum("token_bucket", &[("virtual", true), ("cloud", false)]) < 0.0);
        let hot = sum("heat", &[("throttle_count", true), ("near_limit", true)]);
        assert_eq!(hot, evidence("heat", "throttle_count").when_present, "both are its temperature");
    }

    #[test]
    fn every_weight_says_something_and_none_more_than_the_unforeseen_allows() {
        for cause in crate::ALL {
            assert!(cause.prior.is_finite(), "{}", cause.name);
            for (index, piece) in cause.evidence.iter().enumerate() {
                let is_same = |other: &Evidence| other.id == piece.id;
                assert!(!cause.evidence[index + 1..].iter().any(is_same), "{}: {}", cause.name, piece.id);
                assert!(piece.when_present != piece.when_absent, "{}: {}", cause.name, piece.id);
                assert!(piece.when_present.abs().max(piece.when_absent.abs()) <= BITS_MAX);
            }
        }
    }
}
