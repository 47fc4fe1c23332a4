//! A drive that holds less than it says.

use crate::{Case, Cause, CauseDescriptor, Fix, Kind, LogOdds, Risk, Symptom};

use super::shell_quote;

/// The drive is counterfeit.
pub(super) struct Counterfeit;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "counterfeit",
    summary: "it does not hold what it says: what is written is lost or comes back changed",
    kind: Kind::Drive,
    endangers: true,
    explains: &[Symptom::WrongData, Symptom::Errors],
    manual: include_str!("counterfeit.md"),
};

impl Cause for Counterfeit {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let wrong = case.measurements.wrong_sectors;
        log_odds.add_fact(
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
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        vec![
            Fix {
                description: "trust it with nothing, and give it back".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "nothing",
                check: "likenew verify on the next one",
                action: None,
            },
            Fix {
                description: "find out how much it really holds".into(),
                command: case.site.map(|site| format!("likenew verify {}", shell_quote(site.target))),
                undo: None,
                risk: Risk::Data,
                cost: "one write of all of it",
                check: "the answer",
                action: None,
            },
        ]
    }
}
