//! What the drive's own memory and its link give: the same few bytes again and again.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::segment::Segment;
use likenew_core::units::{amount, rate, three_digits};
use likenew_core::verdict::{Standing, Verdict};

use super::access::AccessMetric;
use super::curve::Curve;
use super::surface_options::SurfaceOptions;

/// Against the fastest point: a burst that is no faster than the medium says that no memory helped.
pub(super) fn verdict(burst: &Segment, curve: &Curve<'_>, options: &SurfaceOptions) -> Option<Verdict> {
    let sustained = curve.summary()?.fastest;
    let speed = burst.bytes_per_s()?;
    let moves = if options.op == Mix::Only(Op::Write) { "written" } else { "read" };
    let claim =
        format!("The same {}, {moves} again and again, come at {}.", amount(options.burst), rate(speed));
    let times = speed / sustained;
    let because = if times > 1.1 {
        "what the drive's memory and its link let through"
    } else {
        "no memory of the drive answers faster than what is behind it"
    };
    Some(
        Verdict::new(claim, Standing::Holds)
            .with_evidence(format!("{} times the fastest point: {because}", three_digits(times)))
            .caveat("measured once, over what was moved in one go"),
    )
}

/// The row of the table.
pub(super) fn metric(burst: &Segment) -> Option<AccessMetric> {
    Some(AccessMetric::once("burst rate", "bytes/s", burst.bytes_per_s()?))
}
