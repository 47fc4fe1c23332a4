//! A USB port or bridge that is slower than the drive behind it.

use likenew_core::answer::Action;

use crate::case::LINK_FULL;
use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

/// Bytes a second between USB 2, 53 MB/s, and USB 3, 500 MB/s (USB 2.0, 5.8.4; USB 3.2, 6.3.2).
const USB3: u64 = 200_000_000;
/// Rate of a link over that in use, as a ratio, from which another cable is worth it. Chosen: less is not
/// noticed.
const BETTER: f64 = 1.2;

/// USB is the bottleneck.
pub(super) struct SlowUsb;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "slow_usb",
    title: wording::slow_usb::TITLE,
    summary: wording::slow_usb::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomReadQd32),
        Symptom::Below(Metric::RandomRead),
    ],
    manual: include_str!("slow_usb.md"),
};

impl Cause for SlowUsb {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let drive = case.drive();
        log_odds.add_fact("usb", case.is_usb(), wording::slow_usb::usb, wording::SHOW_LINK);
        let link = drive.map(|drive| &drive.link);
        let possible = link.and_then(|link| {
            let (now, possible) = (link.ceiling_bytes_per_s.get()?, link.possible_bytes_per_s.get()?);
            Some(possible as f64 >= BETTER * now as f64)
        });
        // A USB 2 stick at its expected speed is by design; a faster drive in a USB 2 enclosure is not.
        let is_held = case.reads_held_by_link().is_some_and(|share| share.value >= LINK_FULL);
        log_odds.add_fact(
            "slow_ceiling",
            link.and_then(|link| link.ceiling_bytes_per_s.get())
                .map(|ceiling| ceiling < USB3)
                .filter(|_| possible != Some(false) || is_held),
            wording::slow_usb::slow_ceiling,
            wording::SHOW_LINK,
        );
        log_odds.add_fact("slow_possible", possible, wording::slow_usb::slow_possible, Hint::NONE);
        log_odds.add_measured(
            "reads_held",
            case.reads_held_by_link().filter(|_| case.is_usb() == Some(true)),
            LINK_FULL,
            wording::narrow_link::reads_at_ceiling,
            Hint::NONE,
        );
        log_odds.add_fact(
            "storage_driver",
            link.and_then(|link| link.driver.value()).map(|driver| driver == "usb-storage"),
            wording::slow_usb::storage_driver,
            Hint::NONE,
        );
        log_odds.add_measured(
            "depth_helps",
            case.measurements.deep_over_single,
            1.3,
            wording::slow_usb::depth_helps,
            Hint::NONE,
        );
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::slow_usb::change_port(), wording::slow_usb::change_enclosure()]
    }
}
