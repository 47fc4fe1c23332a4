//! A drive that holds less than it says.

use crate::{Card, Case, Cause, Cure, Kind, Risk, Scales, Symptom};

use super::quoted;

/// The drive is counterfeit.
pub(super) struct Counterfeit;

const CARD: Card = Card {
    name: "counterfeit",
    because: "it does not hold what it says: what is written is lost or comes back changed",
    kind: Kind::Drive,
    endangers: true,
    explains: &[Symptom::WrongData, Symptom::Errors],
    manual: include_str!("counterfeit.md"),
};

impl Cause for Counterfeit {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let wrong = case.signs.wrong_sectors;
        scales.fact(
            "wrong_data",
            Some(wrong > 0),
            |is| {
                if is {
                    format!("{wrong} sectors came back otherwise than they were written")
                } else {
                    "everything came back as it was written".into()
                }
            },
            "",
        );
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "trust it with nothing, and give it back".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "nothing",
                check: "likenew verify on the next one",
                deed: None,
            },
            Cure {
                what: "find out how much it really holds".into(),
                command: case.site.map(|site| format!("likenew verify {}", quoted(site.target))),
                undo: None,
                risk: Risk::Data,
                cost: "one write of all of it",
                check: "the answer",
                deed: None,
            },
        ]
    }
}
