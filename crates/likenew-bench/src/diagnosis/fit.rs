//! Fits weights of evidence on drives of even seeds, and reports how they do on odd ones.
//!
//! A weight is log₂ P(evidence | cause at work) / P(evidence | not at work), once for evidence that is
//! present and once for evidence that is absent. Both probabilities are shares of cases. The weights set by
//! hand count as [`PRIOR_CASES`] more cases: the mean of a beta distribution. A weight whose prior is 0 bits
//! stays as it is, because such evidence is only reported if it is present. The same cases give the same
//! weights.

use std::collections::BTreeMap;

use likenew_diagnosis::{ALL, Cause, Evidence};

use super::case::{Case, CaseResult, ScoredEvidence};
use crate::table::{row, table};

/// The weights set by hand count as this many cases with the cause at work, and as many without. Chosen: a
/// fifth of a round of one seed, so that hand-set weights still show.
const PRIOR_CASES: f64 = 20.0;
/// Most bits of one piece of evidence: as in `LogOdds` of the diagnosis.
const BITS_MAX: f64 = 8.0;
/// Probability, in 0..1, from which a cause is named: as in the diagnosis.
const SURE: f64 = 0.9;

/// The weight of a piece of evidence: set by hand, or fitted.
#[derive(Clone, Copy, Debug)]
struct Weight {
    cause: &'static Cause,
    evidence: &'static Evidence,
    when_present: f64,
    when_absent: f64,
}

impl Weight {
    /// The weights of all causes.
    fn all() -> Vec<Self> {
        let weights = |&cause: &&'static Cause| {
            cause.evidence.iter().map(move |evidence| {
                let Evidence { when_present, when_absent, .. } = *evidence;
                Self { cause, evidence, when_present, when_absent }
            })
        };
        ALL.iter().flat_map(weights).collect()
    }
}

/// Evidence of one case, and the causes at work.
struct TrainingCase<'a> {
    truth: &'a [&'static str],
    evidence_items: &'a [ScoredEvidence],
}

/// Fits weights on cases of even seeds, and compares them with those set by hand on odd ones.
pub(super) fn report(cases: &[Case], answers: &[CaseResult]) -> String {
    let half = |is_even: bool| -> Vec<TrainingCase<'_>> {
        let wanted = cases.iter().zip(answers).filter(|(case, _)| case.seed.is_multiple_of(2) == is_even);
        wanted
            .map(|(case, answer)| TrainingCase { truth: &case.truth, evidence_items: &answer.evidence_items })
            .collect()
    };
    let (even, odd) = (half(true), half(false));
    let by_hand = Weight::all();
    let fitted = fit(&even);
    let rows = fitted.iter().zip(&by_hand).map(|(new, old)| {
        let mut cells = row(&[&new.cause.name, &new.evidence.id]);
        let bits = [new.when_present, new.when_absent, old.when_present, old.when_absent];
        cells.extend(bits.map(|bits| format!("{bits:.1}")));
        cells
    });
    let head = ["cause", "evidence", "when present", "when absent", "by hand: present", "absent"];
    let score = |weights: &[Weight]| Score::compute(&odd, weights).text();
    format!(
        "{}\nfitted on {} cases of even seeds; on {} cases of odd seeds:\nby hand  {}\nfitted   {}\n",
        table(&head, rows),
        even.len(),
        odd.len(),
        score(&by_hand),
        score(&fitted)
    )
}

/// Fits all weights to cases.
fn fit(observations: &[TrainingCase<'_>]) -> Vec<Weight> {
    let mut counts: BTreeMap<(&str, &str), [(f64, f64); 2]> = BTreeMap::new();
    for TrainingCase { truth, evidence_items } in observations {
        for ScoredEvidence { cause, evidence_id, chance, .. } in *evidence_items {
            let (when_present, total) =
                &mut counts.entry((cause, evidence_id)).or_default()[usize::from(truth.contains(cause))];
            (*when_present, *total) = (*when_present + chance, *total + 1.0);
        }
    }
    let fitted = |weight: Weight| match counts.get(&(weight.cause.name, weight.evidence.id)) {
        Some([without, with]) => refine(weight, *with, *without),
        None => weight,
    };
    Weight::all().into_iter().map(fitted).collect()
}

/// Refines a weight by cases `with` and `without` the cause at work: how often the evidence was present, and
/// of how many.
fn refine(weight: Weight, with: (f64, f64), without: (f64, f64)) -> Weight {
    let (when_present, when_absent) = (weight.when_present.exp2(), weight.when_absent.exp2());
    // The two shares whose ratios are those of the weights set by hand.
    let share = (1.0 - when_absent) / (when_present - when_absent);
    if !(share > 0.0 && share < 1.0 && when_present * share < 1.0) {
        return weight;
    }
    let posterior =
        |(hits, total): (f64, f64), prior: f64| (hits + PRIOR_CASES * prior) / (total + PRIOR_CASES);
    let (with, without) = (posterior(with, when_present * share), posterior(without, share));
    let bits = |ratio: f64| ratio.log2().clamp(-BITS_MAX, BITS_MAX);
    Weight { when_present: bits(with / without), when_absent: bits((1.0 - with) / (1.0 - without)), ..weight }
}

/// How well weights alone decide each cause.
struct Score {
    /// Mean surprise of the truth, in bits per cause and case.
    surprise: f64,
    /// Causes at work that were named, that were missed, and causes that were named and are not at work.
    named: usize,
    missed: usize,
    wrong: usize,
}

impl Score {
    fn compute(observations: &[TrainingCase<'_>], weights: &[Weight]) -> Self {
        let mut score = Self { surprise: 0.0, named: 0, missed: 0, wrong: 0 };
        for TrainingCase { truth, evidence_items } in observations {
            for cause in ALL {
                let chance = chance(cause, evidence_items, weights);
                let is_at_work = truth.contains(&cause.name);
                let right: f64 = if is_at_work { chance } else { 1.0 - chance };
                score.surprise -= right.max(f64::MIN_POSITIVE).log2();
                match (is_at_work, chance >= SURE) {
                    (true, true) => score.named += 1,
                    (true, false) => score.missed += 1,
                    (false, true) => score.wrong += 1,
                    (false, false) => {}
                }
            }
        }
        score.surprise /= (observations.len() * ALL.len()).max(1) as f64;
        score
    }

    fn text(&self) -> String {
        let Self { surprise, named, missed, wrong } = self;
        format!(
            "surprise {surprise:.4} bits a cause; at work: named {named}, not named {missed}; named and not at work {wrong}"
        )
    }
}

/// The probability of a cause from its evidence, as in `LogOdds`: each group counts by its strongest item.
fn chance(cause: &Cause, evidence_items: &[ScoredEvidence], weights: &[Weight]) -> f64 {
    let (mut bits, mut groups) = (cause.prior, BTreeMap::<&str, f64>::new());
    for scored in evidence_items.iter().filter(|scored| scored.cause == cause.name) {
        let is_scored =
            |weight: &&Weight| weight.cause.name == cause.name && weight.evidence.id == scored.evidence_id;
        let weight = weights.iter().find(is_scored).expect("evidence that was scored has a weight");
        let bits_of_item = scored.chance * weight.when_present + (1.0 - scored.chance) * weight.when_absent;
        match weight.evidence.group {
            None => bits += bits_of_item,
            Some(group) => {
                let strongest = groups.entry(group).or_insert(bits_of_item);
                let is_stronger = if bits_of_item.max(*strongest) > 0.0 {
                    bits_of_item > *strongest
                } else {
                    bits_of_item < *strongest
                };
                if is_stronger {
                    *strongest = bits_of_item;
                }
            }
        }
    }
    bits += groups.values().sum::<f64>();
    1.0 / (1.0 + (-bits).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAUSE: &str = "background_io";
    const CLUE: &str = "background_io";

    fn weight(cause: &str, evidence_id: &str) -> Weight {
        let is_it = |weight: &Weight| weight.cause.name == cause && weight.evidence.id == evidence_id;
        Weight::all().into_iter().find(is_it).unwrap()
    }

    #[test]
    fn without_cases_weights_stay_and_many_cases_outweigh_them() {
        let by_hand = weight(CAUSE, CLUE);
        let same = refine(by_hand, (0.0, 0.0), (0.0, 0.0));
        assert!(
            (same.when_present - by_hand.when_present).abs() < 1e-9
                && (same.when_absent - by_hand.when_absent).abs() < 1e-9
        );
        // Present in half of the cases with the cause, and in an eighth of those without.
        let fitted = refine(by_hand, (50_000.0, 100_000.0), (12_500.0, 100_000.0));
        assert!((fitted.when_present - 2.0).abs() < 0.01, "{fitted:?}");
        assert!((fitted.when_absent - (0.5f64 / 0.875).log2()).abs() < 0.01, "{fitted:?}");
        let little = refine(by_hand, (1.0, 2.0), (1.0, 8.0));
        assert!(
            little.when_present > fitted.when_present && little.when_present < by_hand.when_present,
            "{little:?}"
        );
    }

    #[test]
    fn a_weight_with_evidence_on_one_side_only_is_not_fitted() {
        let one_way = weight("slc_cache", "virtual");
        let refined = refine(one_way, (5.0, 9.0), (1.0, 9.0));
        assert_eq!((refined.when_present, refined.when_absent), (one_way.when_present, one_way.when_absent));
    }

    #[test]
    fn what_is_fitted_surprises_less_on_cases_like_those() {
        let scored = |chance| vec![ScoredEvidence { cause: CAUSE, evidence_id: CLUE, chance, bits: 0.0 }];
        // On these drives the evidence says nothing.
        let evidence_items: Vec<Vec<ScoredEvidence>> =
            (0..400).map(|case| scored(f64::from(case % 2))).collect();
        let truths: [Vec<&'static str>; 2] = [vec![CAUSE], Vec::new()];
        let cases: Vec<TrainingCase<'_>> = evidence_items
            .iter()
            .enumerate()
            .map(|(index, evidence_items)| TrainingCase { truth: &truths[index / 2 % 2], evidence_items })
            .collect();
        let fitted = fit(&cases);
        let (by_hand, after) = (Score::compute(&cases, &Weight::all()), Score::compute(&cases, &fitted));
        assert!(after.surprise < by_hand.surprise && after.wrong < by_hand.wrong, "{}", after.text());
    }
}
