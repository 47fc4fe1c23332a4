//! A bridge or port of USB that is slower than the drive behind it.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use super::scale_by;

/// Between what USB 2 carries, 53 MB/s, and what USB 3 does, 500 MB/s (USB 2.0, 5.8.4; USB 3.2, 6.3.2).
const USB3: u64 = 200_000_000;
/// Reads below this share of what they should be are held back by something.
const SLOW: f64 = 0.7;
/// A link that could carry so many times as much is worth a cable.
const BETTER: f64 = 1.2;

/// USB is the bottleneck.
pub(super) struct SlowUsb;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "slow_usb",
    summary: "it hangs on a USB port or bridge that is slower than it",
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
        log_odds.add_fact(
            "usb",
            case.is_usb(),
            |is| format!("it {} by USB", if is { "is attached" } else { "is not attached" }),
            Hint::of_facts("look at the link"),
        );
        let link = drive.map(|drive| &drive.link);
        let possible = link.and_then(|link| {
            let (now, possible) = (link.ceiling_bytes_per_s.get()?, link.possible_bytes_per_s.get()?);
            Some(possible as f64 >= BETTER * now as f64)
        });
        // A stick of USB 2 that is as fast as it should be is what it is; a faster drive in an enclosure of USB 2 is not.
        let is_slow = case.is_below(Metric::SequentialRead).is_some_and(|share| share.value < SLOW);
        log_odds.add_fact(
            "slow_ceiling",
            link.and_then(|link| link.ceiling_bytes_per_s.get())
                .map(|ceiling| ceiling < USB3)
                .filter(|_| possible != Some(false) || is_slow),
            |is| {
                if is { "it runs as USB 2".into() } else { "it runs as USB 3 or faster".into() }
            },
            Hint::of_facts("look at the link"),
        );
        log_odds.add_fact(
            "slow_possible",
            possible,
            |is| {
                if is {
                    "the port, the cable or a hub makes it slower than both ends are".into()
                } else {
                    "no other port or cable makes it faster".into()
                }
            },
            "",
        );
        log_odds.add_fact(
            "storage_driver",
            link.and_then(|link| link.driver.value()).map(|driver| driver == "usb-storage"),
            |is| {
                if is {
                    "it takes one command at a time (usb-storage in place of uas)".into()
                } else {
                    "it takes many commands at a time".into()
                }
            },
            "",
        );
        log_odds.add_measured(
            "depth_helps",
            case.measurements.deep_over_single,
            1.3,
            |ratio| format!("32 small reads at a time are {} as many as one at a time", scale_by(ratio)),
            "",
        );
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![
            Fix {
                description: "plug it into a port of USB 3 or faster, directly, with a cable made for it".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "a cable",
                check: "likenew facts shows the speed, and likenew check again",
                action: None,
            },
            Fix {
                description: "take another enclosure, or newer firmware for this one, where the kernel keeps it from taking many commands at a time".into(),
                command: None,
                undo: None,
                risk: Risk::Low,
                cost: "an enclosure",
                check: "likenew facts shows the driver uas",
                action: None,
            },
        ]
    }
}
