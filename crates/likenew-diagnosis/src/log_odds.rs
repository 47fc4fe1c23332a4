//! The probability of a cause, from the evidence for and against it.

use super::weights::{Weight, prior};
use super::{EvidenceItem, Hint, Measured, MissingEvidence, Site};

/// The evidence for and against a cause, in bits: log₂ of likelihood ratios, which add up as far as pieces of
/// evidence are independent given the cause (I. J. Good, "Weight of evidence: a brief survey", Bayesian
/// Statistics 2 (1985) 249–270). Evidence that is not independent is in one group of the table of weights and
/// counts once: the strongest for the cause or, if there is none, the strongest against it.
#[derive(Clone, Debug, PartialEq)]
pub struct LogOdds {
    cause: &'static str,
    prior_bits: f64,
    evidence: Vec<EvidenceItem>,
    missing_evidence: Vec<(Hint, f64)>,
}

/// Most bits of a single piece of evidence. Chosen: one in 250 drives has a reason for it that is not in the
/// table.
const BITS_MAX: f64 = 8.0;
/// Most bits of facts alone. Chosen: they are 89%, just below `SURE` of the diagnosis.
const FACTS_MAX: f64 = 3.0 / SCALE;
/// Bits from which measured evidence supports its cause.
const MEASURED_LEAST: f64 = 0.5;

/// Bits of the truth for a bit of the table, whose weights are cautious: of causes that it gave 90 to 95%, 98% were at work, and with a
/// scale of 1.2 81% (160 and 100 drawn drives in drawn situations, `cargo xtask bench diagnosis --drawn`).
const SCALE: f64 = 1.1;

/// Largest probability that is stated. Chosen: one drive in a thousand has a reason that is no cause here.
const CHANCE_MAX: f64 = 0.999;

fn chance(bits: f64) -> f64 {
    (1.0 / (1.0 + (-SCALE * bits).exp2())).min(CHANCE_MAX)
}

impl LogOdds {
    /// Without evidence: only how common a cause is.
    pub fn for_cause(cause: &'static str) -> Self {
        Self { cause, prior_bits: prior(cause), evidence: Vec::new(), missing_evidence: Vec::new() }
    }

    /// Adds a measured number, with the probability that it is above a threshold. `hint_text` says how to
    /// measure it if it is missing.
    pub fn add_measured(
        &mut self,
        item: &'static str,
        measurement: Option<Measured>,
        threshold: f64,
        say: impl Fn(Measured) -> String,
        method: Hint,
    ) {
        match measurement {
            Some(measurement) => self.add(item, say(measurement), measurement.chance_above(threshold), true),
            None => self.lack(item, method),
        }
    }

    /// Adds a fact that is true or false. `say` puts it into words, either way.
    pub fn add_fact(
        &mut self,
        item: &'static str,
        fact: Option<bool>,
        say: impl Fn(bool) -> String,
        method: Hint,
    ) {
        match fact {
            Some(holds) => self.add(item, say(holds), f64::from(u8::from(holds)), false),
            None => self.lack(item, method),
        }
    }

    /// Adds a counter that increased during the run, or did not. An increase is a measurement; a counter that
    /// did not change may never do so.
    pub fn add_count(
        &mut self,
        item: &'static str,
        went_up: Option<bool>,
        say: impl Fn(bool) -> String,
        method: Hint,
    ) {
        match went_up {
            Some(went_up) => self.add(item, say(went_up), f64::from(u8::from(went_up)), went_up),
            None => self.lack(item, method),
        }
    }

    fn add(&mut self, name: &'static str, sentence: String, chance: f64, is_measured: bool) {
        let weight = Weight::lookup(self.cause, name);
        // The mean of the bits, not of the ratios: an uncertain reading says little, and in a mean of ratios
        // the rare reading would outweigh the common one.
        let bits = chance * weight.when_present + (1.0 - chance) * weight.when_absent;
        let mut item =
            EvidenceItem { name, sentence, chance, bits: bits.clamp(-BITS_MAX, BITS_MAX), is_measured };
        if let Some(group) = weight.group {
            let cause = self.cause;
            let counts = |other: &EvidenceItem| {
                other.bits != 0.0 && Weight::lookup(cause, other.name).group == Some(group)
            };
            if let Some(rival) = self.evidence.iter_mut().find(|other| counts(other)) {
                let is_stronger = if item.bits.max(rival.bits) > 0.0 {
                    item.bits > rival.bits
                } else {
                    item.bits < rival.bits
                };
                let loser = if is_stronger { rival } else { &mut item };
                loser.bits = 0.0;
            }
        }
        self.evidence.push(item);
    }

    fn lack(&mut self, item: &'static str, method: Hint) {
        let weight = Weight::lookup(self.cause, item);
        self.missing_evidence.push((method, weight.when_present.abs().max(weight.when_absent.abs())));
    }

    /// All evidence, most telling first.
    pub fn evidence(&self) -> Vec<EvidenceItem> {
        let mut evidence = self.evidence.clone();
        evidence.sort_by(|one, other| other.bits.abs().total_cmp(&one.bits.abs()));
        evidence
    }

    /// Missing evidence that the target allows, most telling first.
    pub fn missing_evidence(&self, site: Option<&Site<'_>>) -> Vec<MissingEvidence> {
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
    pub fn bits(&self) -> f64 {
        self.prior_bits + self.evidence.iter().map(|item| item.bits).sum::<f64>()
    }

    /// The sum of the bits of measured evidence.
    fn measured_bits(&self) -> f64 {
        self.evidence.iter().filter(|item| item.is_measured).map(|item| item.bits).sum()
    }

    /// The sum, in which facts alone reach 89% at most: a drive without TRIM, or a hot one, is not slow for
    /// that alone. Something measured has to fit: a measured piece of evidence for the cause, or a symptom
    /// that it `explains` without such evidence against it.
    pub fn bits_at_work(&self, explains: bool) -> f64 {
        let measured = self.measured_bits();
        let fits = measured >= MEASURED_LEAST || (explains && measured >= 0.0);
        if fits { self.bits() } else { self.bits().min(FACTS_MAX) }
    }

    /// The probability of the cause: odds of 2 to the power of the sum, to scale.
    pub fn chance(&self) -> f64 {
        chance(self.bits())
    }

    /// The probability that the cause makes something slow.
    pub fn chance_at_work(&self, explains: bool) -> f64 {
        chance(self.bits_at_work(explains))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::WEIGHTS;

    fn say(measurement: Measured) -> String {
        format!("it is {}", measurement.value)
    }

    /// Bits of a piece of evidence that is present for certain.
    fn when_present(cause: &'static str, item: &'static str) -> f64 {
        Weight::lookup(cause, item).when_present
    }

    #[test]
    fn bits_add_up_and_doubt_weakens_them() {
        let bits = |measurement: Measured| {
            let mut log_odds = LogOdds::for_cause("no_trim");
            log_odds.add_measured("trim_helps", Some(measurement), 1.5, say, Hint::NONE);
            (log_odds.bits(), log_odds.chance())
        };
        let (prior, weight) = (prior("no_trim"), Weight::lookup("no_trim", "trim_helps"));
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
        let of = |blocked: bool, sent: bool, is_sent_first: bool| {
            let mut log_odds = LogOdds::for_cause("no_trim");
            let mut all = [("trim_blocked", blocked), ("trim_sent", sent)];
            if is_sent_first {
                all.reverse();
            }
            for (item, holds) in all {
                log_odds.add_fact(item, Some(holds), |_| item.to_owned(), Hint::NONE);
            }
            log_odds.bits() - prior("no_trim")
        };
        let (blocked, sent) =
            (Weight::lookup("no_trim", "trim_blocked"), Weight::lookup("no_trim", "trim_sent"));
        for first in [false, true] {
            assert_eq!(
                of(true, false, first),
                sent.when_absent,
                "nothing sends, and it would not arrive: one reason"
            );
            assert_eq!(
                of(true, true, first),
                blocked.when_present,
                "what is blocked is of no use, whoever sends it"
            );
            assert_eq!(of(false, true, first), sent.when_present);
        }
        let mut apart = LogOdds::for_cause("no_trim");
        apart.add_fact("trim_blocked", Some(true), |_| String::new(), Hint::NONE);
        apart.add_measured("trim_helps", Some(Measured::with_interval(2.0, 0.01)), 1.3, say, Hint::NONE);
        let sum = blocked.when_present + when_present("no_trim", "trim_helps");
        assert!((apart.bits() - prior("no_trim") - sum).abs() < 0.01, "what is independent adds up");
    }

    #[test]
    fn what_is_not_known_weighs_nothing_and_is_asked_for() {
        let mut log_odds = LogOdds::for_cause("heat");
        log_odds.add_fact("near_limit", None, |_| String::new(), Hint::root("ask as root"));
        log_odds.add_measured("slower_when_warm", None, 1.0, say, Hint::thorough("load it"));
        log_odds.add_fact("throttle_count", None, |_| String::new(), Hint::NONE);
        assert_eq!((log_odds.bits(), log_odds.evidence().len()), (prior("heat"), 0));
        let method: Vec<String> = log_odds
            .missing_evidence(None)
            .into_iter()
            .map(|missing_evidence| missing_evidence.action.why)
            .collect();
        assert_eq!(method, ["load it", "ask as root"]);
    }

    #[test]
    fn facts_alone_make_no_cause_of_slowness() {
        for cause in crate::ALL {
            let name = cause.descriptor().name;
            let mut log_odds = LogOdds::for_cause(name);
            for weight in WEIGHTS.iter().filter(|weight| weight.cause == name) {
                let holds = weight.when_present > weight.when_absent;
                log_odds.add_fact(weight.evidence_id, Some(holds), |_| String::new(), Hint::NONE);
            }
            assert!(log_odds.chance_at_work(false) < 0.9, "{name}: {}", log_odds.chance_at_work(false));
        }
        let of = |writes_over_reads: f64, explains: bool| {
            let mut log_odds = LogOdds::for_cause("no_trim");
            log_odds.add_fact("trim_sent", Some(false), |_| String::new(), Hint::NONE);
            log_odds.add_fact("hard_disk", Some(false), |_| String::new(), Hint::NONE);
            let ratio = Measured::with_interval(writes_over_reads, 0.01);
            log_odds.add_measured("writes_below_reads", Some(ratio), 0.7, say, Hint::NONE);
            log_odds.chance_at_work(explains) > 0.9
        };
        assert!(of(0.3, false) && of(0.3, true), "it was measured");
        assert!(!of(1.0, false) && !of(1.0, true), "it was measured, and is not so");
        let throttled = |went_up| {
            let mut log_odds = LogOdds::for_cause("heat");
            log_odds.add_count("throttle_count", Some(went_up), |_| String::new(), Hint::NONE);
            log_odds.chance_at_work(false) > 0.9
        };
        assert!(throttled(true) && !throttled(false), "it throttled while it was measured");
    }

    #[test]
    fn what_follows_from_something_else_adds_nothing() {
        let sum = |cause: &'static str, evidence: &[(&'static str, bool)]| {
            let mut log_odds = LogOdds::for_cause(cause);
            evidence.iter().for_each(|(item, holds)| {
                log_odds.add_fact(item, Some(*holds), |_| String::new(), Hint::NONE)
            });
            log_odds.bits() - prior(cause)
        };
        let weight = |cause: &'static str, item| Weight::lookup(cause, item);
        let cloud = sum("token_bucket", &[("virtual", true), ("cloud", true)]);
        assert_eq!(cloud, weight("token_bucket", "cloud").when_present, "a cloud's volume is virtual");
        let bare = sum("token_bucket", &[("virtual", false), ("cloud", false)]);
        assert_eq!(bare, weight("token_bucket", "virtual").when_absent, "what is not virtual is no cloud's");
        assert!(sum("token_bucket", &[("virtual", true), ("cloud", false)]) < 0.0);
        let hot = sum("heat", &[("throttle_count", true), ("near_limit", true)]);
        assert_eq!(hot, weight("heat", "throttle_count").when_present, "both are its temperature");
    }

    #[test]
    fn no_evidence_weighs_more_than_the_unforeseen_allows() {
        assert!(
            WEIGHTS.iter().all(|weight| weight.when_present.abs().max(weight.when_absent.abs()) <= BITS_MAX)
        );
    }
}
