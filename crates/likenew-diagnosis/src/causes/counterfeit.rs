//! A drive that loses or changes data, such as one with less capacity than it claims.

use likenew_core::answer::{Action, Loss};
use likenew_core::drive;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Symptom, wording};

use super::shell_quote;

/// The drive is counterfeit.
pub(super) struct Counterfeit;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "counterfeit",
    title: wording::counterfeit::TITLE,
    summary: wording::counterfeit::SUMMARY,
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
            |_| wording::counterfeit::wrong_data(wrong),
            Hint::NONE,
        );
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let command = case.site.map(|site| format!("likenew verify {}", shell_quote(site.target)));
        let is_kept =
            case.site.is_some_and(|site| matches!(site.kind, drive::Kind::Folder | drive::Kind::Simulated));
        let loses = if is_kept { Loss::Nothing } else { Loss::Everything };
        vec![
            wording::counterfeit::return_drive(),
            Action { command, loses, ..wording::counterfeit::verify_capacity() },
        ]
    }
}
