//! A link that runs below what drive and port support.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Measured, Metric, Symptom, wording};

/// Share of a link's rate that protocols leave to data, at least (PCIe with 128-byte payloads 82%, SATA 91%,
/// USB 3.0 bulk 80%: headers over payloads by the standards).
const NEAR: f64 = 0.7;

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
        let read = case.measurements.metric(Metric::SequentialRead);
        let ceiling = link.and_then(|link| link.ceiling_bytes_per_s.get()).filter(|ceiling| *ceiling > 0);
        log_odds.add_measured(
            "reads_at_ceiling",
            read.zip(ceiling)
                .map(|(read, ceiling)| read.divide_by(Measured::with_interval(ceiling as f64, 0.0))),
            NEAR,
            wording::narrow_link::reads_at_ceiling,
            wording::SHOW_LINK,
        );
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::narrow_link::change_slot()]
    }
}
