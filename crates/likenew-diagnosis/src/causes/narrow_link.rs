//! A link that runs below what drive and port could do.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Measured, Metric, Risk, Symptom};

use super::scale_by;

/// Protocols leave about this share of what a link carries to data (PCIe with 128-byte payloads 82 %, SATA 91 %, USB 3.0 bulk 80 %: headers over
/// payloads by the standards).
const NEAR: f64 = 0.7;

/// The link is slower than it could be.
pub(super) struct NarrowLink;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "narrow_link",
    summary: "its link runs below what the drive could use",
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
            |is| match (is, share) {
                (true, Some(share)) => {
                    format!("the link carries {:.0} % of what its two ends could", share * 100.0)
                }
                _ => "the link carries what its ends can".into(),
            },
            Hint::of_facts("look at the link while it is in use"),
        );
        // There it is the port, the cable or the bridge, which is a cause of its own.
        log_odds.add_fact(
            "usb",
            case.is_usb(),
            |is| format!("the link {} USB", if is { "is" } else { "is not" }),
            "",
        );
        let read = case.measurements.metric(Metric::SequentialRead);
        let ceiling = link.and_then(|link| link.ceiling_bytes_per_s.get()).filter(|ceiling| *ceiling > 0);
        log_odds.add_measured(
            "reads_at_ceiling",
            read.zip(ceiling)
                .map(|(read, ceiling)| read.divide_by(Measured::with_interval(ceiling as f64, 0.0))),
            NEAR,
            |of| format!("reads in order reach {} what the link carries", scale_by(of)),
            "read it in order",
        );
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![
            Fix {
                description: "put it into another slot or port, seat it again, or take another cable; look for a setting of the slot in the firmware of the board".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "minutes with the power off",
                check: "likenew facts shows the link at its best, and likenew check again",
                action: None,
            },
        ]
    }
}
