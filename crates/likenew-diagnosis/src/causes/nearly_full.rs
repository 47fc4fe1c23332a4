//! A drive with hardly any free space.

use crate::steps::steps;
use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use super::arm;

/// Where reviewers look for it: TechPowerUp measures at 85 %, and write amplification doubles between 80 and 90 % by theory
/// (X.-Y. Hu et al., SYSTOR 2009).
const FULL_PERCENT: f64 = 92.0;

/// The drive is nearly full.
pub(super) struct NearlyFull;

const CARD: Card = Card {
    name: "nearly_full",
    because: "it is nearly full, so that it has little room to collect free blocks in",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::WritesDrop,
        Symptom::Stalls,
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::WriteAnywhere),
    ],
    manual: include_str!("nearly_full.md"),
};

impl Cause for NearlyFull {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let used = case.facts.and_then(|facts| facts.file_system.as_ref()?.used_percent.get());
        scales.fact(
            "full",
            used.map(|used| used > FULL_PERCENT),
            |_| used.map_or_else(String::new, |used| format!("the file system is {used:.0} % full")),
            Hint::of_facts("look how full it is"),
        );
        arm(&mut scales, case);
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        let room = Cure {
            what: "make room: delete or move away a fifth of it".into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "what you delete",
            check: "likenew check again",
            deed: None,
        };
        [room]
            .into_iter()
            .chain(steps(case, CARD.name).into_iter().filter(|cure| cure.risk < Risk::Data))
            .collect()
    }
}
