//! A USB port or bridge that is slower than the drive behind it.

use super::shared::*;

/// Bytes a second between USB 2, 53 MB/s, and USB 3, 500 MB/s (USB 2.0, 5.8.4; USB 3.2, 6.3.2).
const USB3: u64 = 200_000_000;
/// Rate of a link over that in use, as a ratio, from which another cable is worth it. Chosen: less is not
/// noticed.
const BETTER: f64 = 1.2;

pub(super) static CAUSE: Cause = Cause {
    name: "slow_usb",
    title: "slow USB",
    summary: "the USB port or bridge is the bottleneck",
    manual: include_str!("slow_usb.md"),
    kind: CauseKind::NotTheDrive,
    prior: -1.0,
    explains: &[&[
        Below(Metric::SequentialRead),
        Below(Metric::SequentialWrite),
        Below(Metric::SustainedWrite),
        Below(Metric::RandomReadQd32),
        Below(Metric::RandomRead),
    ]],
    evidence: &[
        fact("usb", 1.0, -8.0, |case| {
            either(case.is_usb()?, "It is attached by USB.", "It is not attached by USB.")
        })
        .hint(SHOW_LINK),
        fact("slow_ceiling", 5.0, -1.0, |case| {
            // A USB 2 stick at its expected speed is by design; a faster drive in a USB 2 enclosure is not.
            let is_held = case.reads_held_by_link().is_some_and(|share| share.value >= LINK_FULL);
            let is_slow = case.drive()?.link.ceiling_bytes_per_s.get()? < USB3;
            (is_held || could_be_faster(case) != Some(false)).then_some(())?;
            either(is_slow, "The link runs at USB 2 speed.", "The link runs at USB 3 speed or faster.")
        })
        .hint(SHOW_LINK)
        .in_group("port"),
        fact("slow_possible", 1.0, -4.0, |case| {
            either(
                could_be_faster(case)?,
                "The port, the cable or a hub limits the link below what both ends support.",
                "No other port or cable would make the link faster.",
            )
        })
        .in_group("port"),
        measured("reads_held", 6.0, -1.0, LINK_FULL, |case| {
            let is_usb = case.is_usb() == Some(true);
            reads_at_link_limit(case.reads_held_by_link().filter(|_| is_usb)?)
        })
        .in_group("port"),
        fact("storage_driver", 2.5, -1.5, |case| {
            either(
                case.drive()?.link.driver.value()? == "usb-storage",
                "The bridge takes one command at a time (driver usb-storage, not uas).",
                "The bridge takes many commands at a time (driver uas).",
            )
        })
        .in_group("bridge"),
        depth_helps(-2.0, 1.0, 1.3).in_group("bridge"),
    ],
    actions: |case| {
        let change_port = Action::new(
            "change_usb_port",
            "Plug it straight into a USB 3 port or faster, with a cable made for it",
        );
        let change_enclosure = Action::new(
            "change_enclosure",
            "Use another enclosure, or newer firmware for this one, that supports UAS",
        );
        unless_virtual(case, [change_port, change_enclosure])
    },
    costs: &[("change_usb_port", "a cable"), ("change_enclosure", "an enclosure")],
    ..Cause::BLANK
};

/// Whether both ends support a faster link.
fn could_be_faster(case: &Case<'_>) -> Option<bool> {
    let link = &case.drive()?.link;
    let (now, possible) = (link.ceiling_bytes_per_s.get()?, link.possible_bytes_per_s.get()?);
    Some(possible as f64 >= BETTER * now as f64)
}
