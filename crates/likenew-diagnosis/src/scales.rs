//! The scales on which a cause is weighed.

use super::weights::{Weight, prior};
use super::{Clue, Hint, Missing, Sign, Site};

/// What speaks for a cause and against it, in bits: log₂ of likelihood ratios, which add up as far as clues are independent given the
/// cause (I. J. Good, "Weight of evidence: a brief survey", Bayesian Statistics 2 (1985) 249–270). Clues that are not stand in one group of the table of
/// weights and count once: the strongest for the cause, or where none is, the strongest against it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scales {
    cause: &'static str,
    prior_bits: f64,
    clues: Vec<Clue>,
    missing: Vec<(Hint, f64)>,
}

/// No single clue says more than this: whatever is seen, one in 250 drives has a reason for it that nobody thought of.
const BITS_MAX: f64 = 8.0;
/// What facts alone come to at most: 89 %.
const FACTS_MAX: f64 = 3.0;
/// A clue that was measured speaks for its cause from here on.
const MEASURED_LEAST: f64 = 0.5;

fn chance(bits: f64) -> f64 {
    1.0 / (1.0 + (-bits).exp2())
}

impl Scales {
    /// Empty, but for how common a cause is.
    pub fn of(cause: &'static str) -> Self {
        Self { cause, prior_bits: prior(cause), clues: Vec::new(), missing: Vec::new() }
    }

    /// Weighs a measured number by the probability that it is above a threshold. `how` says how it could be measured where it was not.
    pub fn sign(
        &mut self,
        clue: &'static str,
        sign: Option<Sign>,
        threshold: f64,
        say: impl Fn(Sign) -> String,
        how: impl Into<Hint>,
    ) {
        match sign {
            Some(sign) => self.add(clue, say(sign), sign.chance_above(threshold), true),
            None => self.lack(clue, how.into()),
        }
    }

    /// Weighs a fact that holds or does not. `say` puts it in words, either way.
    pub fn fact(
        &mut self,
        clue: &'static str,
        fact: Option<bool>,
        say: impl Fn(bool) -> String,
        how: impl Into<Hint>,
    ) {
        match fact {
            Some(holds) => self.add(clue, say(holds), f64::from(u8::from(holds)), false),
            None => self.lack(clue, how.into()),
        }
    }

    /// Weighs a count that went up while it was measured, or did not. One that did is a measurement, of what happened then; one that stood still may
    /// never move.
    pub fn count(
        &mut self,
        clue: &'static str,
        went_up: Option<bool>,
        say: impl Fn(bool) -> String,
        how: impl Into<Hint>,
    ) {
        match went_up {
            Some(went_up) => self.add(clue, say(went_up), f64::from(u8::from(went_up)), went_up),
            None => self.lack(clue, how.into()),
        }
    }

    fn add(&mut self, name: &'static str, sentence: String, chance: f64, is_measured: bool) {
        let weight = Weight::of(self.cause, name);
        // The mean of the bits, not of the ratios: what may be either says little, where the rare reading would outweigh the common one.
        let bits = chance * weight.there + (1.0 - chance) * weight.absent;
        let mut clue = Clue { name, sentence, chance, bits: bits.clamp(-BITS_MAX, BITS_MAX), is_measured };
        if let Some(group) = weight.group {
            let cause = self.cause;
            let counts =
                |other: &Clue| other.bits != 0.0 && Weight::of(cause, other.name).group == Some(group);
            if let Some(rival) = self.clues.iter_mut().find(|other| counts(other)) {
                let is_stronger = if clue.bits.max(rival.bits) > 0.0 {
                    clue.bits > rival.bits
                } else {
                    clue.bits < rival.bits
                };
                let loser = if is_stronger { rival } else { &mut clue };
                loser.bits = 0.0;
            }
        }
        self.clues.push(clue);
    }

    fn lack(&mut self, clue: &'static str, how: Hint) {
        let weight = Weight::of(self.cause, clue);
        self.missing.push((how, weight.there.abs().max(weight.absent.abs())));
    }

    /// All that was seen, what says most first.
    pub fn clues(&self) -> Vec<Clue> {
        let mut clues = self.clues.clone();
        clues.sort_by(|one, other| other.bits.abs().total_cmp(&one.bits.abs()));
        clues
    }

    /// What would say most if it were known, first; only what can be done on the target.
    pub fn missing(&self, site: Option<&Site<'_>>) -> Vec<Missing> {
        let told = |(hint, bits): &(Hint, f64)| Some(Missing { how: hint.told(site)?, bits: *bits });
        let mut missing: Vec<Missing> = self.missing.iter().filter_map(told).collect();
        missing.sort_by(|one, other| other.bits.total_cmp(&one.bits));
        missing
    }

    /// The sum.
    pub fn bits(&self) -> f64 {
        self.prior_bits + self.clues.iter().map(|clue| clue.bits).sum::<f64>()
    }

    /// What was measured says so much of it.
    fn measured_bits(&self) -> f64 {
        self.clues.iter().filter(|clue| clue.is_measured).map(|clue| clue.bits).sum()
    }

    /// The sum, of which facts alone make no more than 89 %: that TRIM is not sent, or that a drive is hot, slows nothing down by itself. Something measured has to fit: a
    /// clue of the cause that was measured, or a symptom that it `explains` where no such clue speaks against it.
    pub fn bits_at_work(&self, explains: bool) -> f64 {
        let measured = self.measured_bits();
        let fits = measured >= MEASURED_LEAST || (explains && measured >= 0.0);
        if fits { self.bits() } else { self.bits().min(FACTS_MAX) }
    }

    /// The probability that what speaks for the cause is there: odds of 2 to the power of the sum.
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

    fn say(sign: Sign) -> String {
        format!("it is {}", sign.value)
    }

    /// Bits of a clue that is there for certain.
    fn there(cause: &'static str, clue: &'static str) -> f64 {
        Weight::of(cause, clue).there
    }

    #[test]
    fn bits_add_up_and_doubt_weakens_them() {
        let bits = |sign: Sign| {
            let mut scales = Scales::of("no_trim");
            scales.sign("trim_helps", Some(sign), 1.5, say, "measure it");
            (scales.bits(), scales.chance())
        };
        let (prior, weight) = (prior("no_trim"), Weight::of("no_trim", "trim_helps"));
        let sure = bits(Sign::within(2.0, 0.01));
        assert!((sure.0 - prior - weight.there).abs() < 0.01);
        assert!((sure.1 - 1.0 / (1.0 + (-sure.0).exp2())).abs() < 1e-9);
        let unsure = bits(Sign::new(2.0, 1.0, 4.0));
        assert!(unsure.0 < sure.0 && unsure.0 > prior);
        let against = bits(Sign::within(1.0, 0.01));
        assert!((against.0 - prior - weight.absent).abs() < 0.01);
    }

    #[test]
    fn clues_with_one_root_count_once() {
        let of = |blocked: bool, sent: bool, is_sent_first: bool| {
            let mut scales = Scales::of("no_trim");
            let mut all = [("trim_blocked", blocked), ("trim_sent", sent)];
            if is_sent_first {
                all.reverse();
            }
            for (clue, holds) in all {
                scales.fact(clue, Some(holds), |_| clue.to_owned(), "");
            }
            scales.bits() - prior("no_trim")
        };
        let (blocked, sent) = (Weight::of("no_trim", "trim_blocked"), Weight::of("no_trim", "trim_sent"));
        for first in [false, true] {
            assert_eq!(
                of(true, false, first),
                sent.absent,
                "nothing sends, and it would not arrive: one reason"
            );
            assert_eq!(
                of(true, true, first),
                blocked.there,
                "what is blocked is of no use, whoever sends it"
            );
            assert_eq!(of(false, true, first), sent.there);
        }
        let mut apart = Scales::of("no_trim");
        apart.fact("trim_blocked", Some(true), |_| String::new(), "");
        apart.sign("trim_helps", Some(Sign::within(2.0, 0.01)), 1.3, say, "");
        let sum = blocked.there + there("no_trim", "trim_helps");
        assert!((apart.bits() - prior("no_trim") - sum).abs() < 0.01, "what is independent adds up");
    }

    #[test]
    fn what_is_not_known_weighs_nothing_and_is_asked_for() {
        let mut scales = Scales::of("heat");
        scales.fact("near_limit", None, |_| String::new(), "ask as root");
        scales.sign("slower_when_warm", None, 1.0, say, "load it");
        scales.fact("throttle_count", None, |_| String::new(), "");
        assert_eq!((scales.bits(), scales.clues().len()), (prior("heat"), 0));
        let how: Vec<String> = scales.missing(None).into_iter().map(|missing| missing.how).collect();
        assert_eq!(how, ["load it", "ask as root"]);
    }

    #[test]
    fn facts_alone_make_no_cause_of_slowness() {
        for cause in crate::ALL {
            let name = cause.card().name;
            let mut scales = Scales::of(name);
            for weight in WEIGHTS.iter().filter(|weight| weight.cause == name) {
                let holds = weight.there > weight.absent;
                scales.fact(weight.clue, Some(holds), |_| String::new(), "");
            }
            assert!(scales.chance_at_work(false) < 0.9, "{name}: {}", scales.chance_at_work(false));
        }
        let of = |writes_over_reads: f64, explains: bool| {
            let mut scales = Scales::of("no_trim");
            scales.fact("trim_sent", Some(false), |_| String::new(), "");
            scales.fact("arm", Some(false), |_| String::new(), "");
            let ratio = Sign::within(writes_over_reads, 0.01);
            scales.sign("writes_below_reads", Some(ratio), 0.7, say, "");
            scales.chance_at_work(explains) > 0.9
        };
        assert!(of(0.3, false) && of(0.3, true), "it was measured");
        assert!(!of(1.0, false) && !of(1.0, true), "it was measured, and is not so");
        let throttled = |went_up| {
            let mut scales = Scales::of("heat");
            scales.count("throttle_count", Some(went_up), |_| String::new(), "");
            scales.chance_at_work(false) > 0.9
        };
        assert!(throttled(true) && !throttled(false), "it throttled while it was measured");
    }

    #[test]
    fn what_follows_from_something_else_adds_nothing() {
        let sum = |cause: &'static str, clues: &[(&'static str, bool)]| {
            let mut scales = Scales::of(cause);
            clues.iter().for_each(|(clue, holds)| scales.fact(clue, Some(*holds), |_| String::new(), ""));
            scales.bits() - prior(cause)
        };
        let weight = |cause: &'static str, clue| Weight::of(cause, clue);
        let cloud = sum("token_bucket", &[("virtual", true), ("cloud", true)]);
        assert_eq!(cloud, weight("token_bucket", "cloud").there, "a cloud's volume is virtual");
        let bare = sum("token_bucket", &[("virtual", false), ("cloud", false)]);
        assert_eq!(bare, weight("token_bucket", "virtual").absent, "what is not virtual is no cloud's");
        assert!(sum("token_bucket", &[("virtual", true), ("cloud", false)]) < 0.0);
        let hot = sum("heat", &[("throttle_count", true), ("near_limit", true)]);
        assert_eq!(hot, weight("heat", "throttle_count").there, "both are its temperature");
    }

    #[test]
    fn no_clue_is_worth_more_than_the_unforeseen_allows() {
        assert!(WEIGHTS.iter().all(|weight| weight.there.abs().max(weight.absent.abs()) <= BITS_MAX));
    }
}
