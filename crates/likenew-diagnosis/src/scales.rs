//! The scales on which a cause is weighed.

use super::{Clue, Missing, Sign};

/// What speaks for a cause and against it, in bits: log₂ of likelihood ratios, which add up as far as clues are independent given the
/// cause (I. J. Good, "Weight of evidence: a brief survey", Bayesian Statistics 2 (1985) 249–270). Causes choose clues that are.
#[derive(Clone, Debug, PartialEq)]
pub struct Scales {
    prior_bits: f64,
    clues: Vec<Clue>,
    missing: Vec<Missing>,
}

/// No single clue says more than this: whatever is seen, one in 250 drives has a reason for it that nobody thought of.
const BITS_MAX: f64 = 8.0;

impl Scales {
    /// Empty, but for how common the cause is among drives whose owners ask, in bits of odds.
    pub fn new(prior_bits: f64) -> Self {
        Self { prior_bits, clues: Vec::new(), missing: Vec::new() }
    }

    /// Weighs a measured number by the probability that it is above a threshold. `bits` are what it says if it is and if it is not;
    /// `how` says how it could be measured where it was not.
    pub fn sign(
        &mut self,
        sign: Option<Sign>,
        threshold: f64,
        bits: (f64, f64),
        say: impl Fn(Sign) -> String,
        how: &str,
    ) {
        match sign {
            Some(sign) => {
                let chance = sign.chance_above(threshold);
                // The mean of the bits, not of the ratios: what may be either says little, where the rare reading would outweigh the common one.
                self.add(say(sign), chance * bits.0 + (1.0 - chance) * bits.1);
            }
            None => self.lack(how, bits),
        }
    }

    /// Weighs a fact that holds or does not. `say` puts it in words, either way.
    pub fn fact(&mut self, fact: Option<bool>, bits: (f64, f64), say: impl Fn(bool) -> String, how: &str) {
        match fact {
            Some(holds) => self.add(say(holds), if holds { bits.0 } else { bits.1 }),
            None => self.lack(how, bits),
        }
    }

    fn add(&mut self, sentence: String, bits: f64) {
        self.clues.push(Clue { sentence, bits: bits.clamp(-BITS_MAX, BITS_MAX) });
    }

    fn lack(&mut self, how: &str, (one, other): (f64, f64)) {
        if !how.is_empty() {
            self.missing.push(Missing { how: how.to_owned(), bits: one.abs().max(other.abs()) });
        }
    }

    /// All that was seen, what says most first.
    pub fn clues(&self) -> Vec<Clue> {
        let mut clues = self.clues.clone();
        clues.sort_by(|one, other| other.bits.abs().total_cmp(&one.bits.abs()));
        clues
    }

    /// What would say most if it were known, first.
    pub fn missing(&self) -> Vec<Missing> {
        let mut missing = self.missing.clone();
        missing.sort_by(|one, other| other.bits.total_cmp(&one.bits));
        missing
    }

    /// The sum.
    pub fn bits(&self) -> f64 {
        self.prior_bits + self.clues.iter().map(|clue| clue.bits).sum::<f64>()
    }

    /// The probability that the cause is at work: odds of 2 to the power of the sum.
    pub fn chance(&self) -> f64 {
        1.0 / (1.0 + (-self.bits()).exp2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(sign: Sign) -> String {
        format!("it is {}", sign.value)
    }

    #[test]
    fn bits_add_up_and_doubt_weakens_them() {
        let mut sure = Scales::new(-3.0);
        sure.sign(Some(Sign::within(2.0, 0.01)), 1.5, (5.0, -3.0), say, "measure it");
        assert!((sure.bits() - 2.0).abs() < 0.01 && (sure.chance() - 0.8).abs() < 0.01);
        let mut unsure = Scales::new(-3.0);
        unsure.sign(Some(Sign::new(2.0, 1.0, 4.0)), 1.5, (5.0, -3.0), say, "measure it");
        assert!(unsure.bits() < sure.bits() && unsure.bits() > -3.0);
        let mut against = Scales::new(-3.0);
        against.sign(Some(Sign::within(1.0, 0.01)), 1.5, (5.0, -3.0), say, "measure it");
        assert!((against.bits() + 6.0).abs() < 0.01);
    }

    #[test]
    fn what_is_not_known_weighs_nothing_and_is_asked_for() {
        let mut scales = Scales::new(0.0);
        scales.fact(None, (1.0, -4.0), |_| String::new(), "ask as root");
        scales.sign(None, 1.0, (6.0, -1.0), say, "write more");
        scales.fact(None, (9.0, -9.0), |_| String::new(), "");
        assert_eq!((scales.bits(), scales.clues().len()), (0.0, 0));
        let how: Vec<String> = scales.missing().into_iter().map(|missing| missing.how).collect();
        assert_eq!(how, ["write more", "ask as root"]);
    }

    #[test]
    fn no_clue_is_worth_more_than_the_unforeseen_allows() {
        let mut scales = Scales::new(0.0);
        scales.fact(Some(true), (40.0, -40.0), |_| "sure".into(), "");
        assert_eq!(scales.bits(), BITS_MAX);
    }
}
