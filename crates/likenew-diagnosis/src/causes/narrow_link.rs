//! A link that runs below what drive and port support.

use super::shared::*;

pub(super) static CAUSE: Cause = Cause {
    name: "narrow_link",
    title: "slow link",
    summary: "the link runs slower than drive and port support",
    manual: include_str!("narrow_link.md"),
    kind: CauseKind::NotTheDrive,
    prior: -1.0,
    explains: &[&[
        Below(Metric::SequentialRead),
        Below(Metric::SequentialWrite),
        Below(Metric::SustainedWrite),
        Below(Metric::RandomReadQd32),
    ]],
    evidence: &[
        fact("link_share", 4.0, -6.0, |case| {
            let link = &case.drive()?.link;
            let (now, best) = (link.ceiling_bytes_per_s.get()?, link.possible_bytes_per_s.get()?);
            let share = (best > 0).then(|| now as f64 / best as f64)?;
            let is_narrow = share < 0.9;
            let text = if is_narrow {
                format!("The link carries {} of what both ends support.", Share(share))
            } else {
                "The link carries what both ends support.".into()
            };
            Some((is_narrow, text))
        })
        .hint(SHOW_LINK),
        // On USB the port, the cable or the bridge is the limit, which is a separate cause.
        fact("usb", -8.0, 0.0, |case| either(case.is_usb()?, "The link is USB.", "The link is not USB.")),
        measured("reads_at_ceiling", 4.0, -4.0, LINK_FULL, |case| {
            reads_at_link_limit(case.reads_over_link()?)
        })
        .hint(SHOW_LINK),
    ],
    actions: |case| {
        let action = Action::new(
            "change_slot",
            "Reseat the drive and its cable; if the link stays slow, use another slot or port",
        );
        unless_virtual(case, [action])
    },
    costs: &[("change_slot", "minutes with the power off")],
    ..Cause::BLANK
};
