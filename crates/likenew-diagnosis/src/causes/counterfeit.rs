//! A drive that holds less than it says.

use crate::{Card, Case, Cause, Cure, Kind, Risk, Scales, Symptom};

use super::commands::device;

/// The drive is counterfeit.
pub(super) struct Counterfeit;

const CARD: Card = Card {
    name: "counterfeit",
    because: "it does not hold what it says: what is written is lost or comes back changed",
    kind: Kind::Drive,
    explains: &[Symptom::WrongData, Symptom::Errors],
    manual: include_str!("counterfeit.md"),
};

impl Cause for Counterfeit {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::new(-1.0);
        let wrong = case.signs.wrong_sectors;
        scales.fact(
            Some(wrong > 0),
            (7.0, -3.0),
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
            },
            Cure {
                what: "find out how much it really holds".into(),
                command: Some(format!("likenew verify {}", device(case))),
                undo: None,
                risk: Risk::Data,
                cost: "one write of all of it",
                check: "the answer",
            },
        ]
    }
}
