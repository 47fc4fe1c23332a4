//! A link that runs below what drive and port support.

use likenew_core::answer::Action;

use crate::case::LINK_FULL;
use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

/// The link is slower than it could be.
pub(super) struct NarrowLink;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "narrow_link",
    title: wording::narrow_link::TITLE,
    summary: wording::narrow_link::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("narrow_link.md"),
};

impl Cause for NarrowLink {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let link = case.drive().map(|drive| &drive.link);
        let share = link.and_then(|link| {
            let (now, best) = (link.ceiling_bytes_per_s.get()?, link.possible_bytes_per_s.get()?);
            (best > 0).then(|| now as f64 / best as f64)
        });
        log_odds.add_fact(
            "link_share",
            share.map(|share| share < 0.9),
            |is| wording::narrow_link::link_share(share.filter(|_| is)),
            wording::SHOW_LINK,
        );
        // On USB the port, the cable or the bridge is the limit, which is a separate cause.
        log_odds.add_fact("usb", case.is_usb(), wording::narrow_link::usb, Hint::NONE);
        log_odds.add_measured(
            "reads_at_ceiling",
            case.reads_over_link(),
            LINK_FULL,
            wording::narrow_link::reads_at_ceiling,
            wording::SHOW_LINK,
        );
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::narrow_link::change_slot()]
    }
}
