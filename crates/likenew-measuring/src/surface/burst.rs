//! The speed of the drive's cache and its link: moves the same few bytes again and again.

use likenew_core::answer::Answer;
use likenew_core::quantity::{Rate, Size};
use likenew_core::segment::Segment;

use super::access_sample::AccessMetric;
use super::curve::Curve;
use super::surface_options::SurfaceOptions;
use super::wording;

/// Speed of a burst over that of the fastest point below which it came from the medium; our choice.
const CACHE_MIN: f64 = 1.1;

/// Compared with the fastest point: a burst that is no faster than the medium had no help from a cache.
pub(super) fn answer(burst: &Segment, curve: &Curve<'_>, options: &SurfaceOptions) -> Option<Answer> {
    let sustained = curve.summary()?.fastest;
    let speed = burst.bytes_per_s()?;
    let times = speed / sustained;
    let (op, bytes, rate) = (options.op, Size(options.burst), Rate(speed));
    let (answer, why) = if times > CACHE_MIN {
        (wording::burst(op, bytes, rate, times), wording::BURST_IS_CACHE)
    } else {
        (wording::no_burst(op, bytes, rate), wording::BURST_IS_MEDIUM)
    };
    Some(answer.with_evidence(why).caveat(wording::BURST_ONCE))
}

/// The row of the table.
pub(super) fn metric(burst: &Segment) -> Option<AccessMetric> {
    Some(AccessMetric::once("burst rate", "bytes/s", burst.bytes_per_s()?))
}
