//! What the drive's cache and its link deliver: the same few bytes again and again.

use likenew_core::answer::Answer;
use likenew_core::quantity::{Rate, Size};
use likenew_core::segment::Segment;

use super::access_sample::AccessMetric;
use super::curve::Curve;
use super::surface_options::SurfaceOptions;
use super::wording;

/// A burst that is faster by less than this than the fastest point came from the medium; our choice.
const CACHE_MIN: f64 = 1.1;

/// Against the fastest point: a burst that is no faster than the medium says that no cache helped.
pub(super) fn answer(burst: &Segment, curve: &Curve<'_>, options: &SurfaceOptions) -> Option<Answer> {
    let sustained = curve.summary()?.fastest;
    let speed = burst.bytes_per_s()?;
    let times = speed / sustained;
    let why = if times > CACHE_MIN { wording::BURST_IS_CACHE } else { wording::BURST_IS_MEDIUM };
    let answer = wording::burst(options.op, Size(options.burst), Rate(speed), times);
    Some(answer.with_evidence(why).caveat(wording::BURST_ONCE))
}

/// The row of the table.
pub(super) fn metric(burst: &Segment) -> Option<AccessMetric> {
    Some(AccessMetric::once("burst rate", "bytes/s", burst.bytes_per_s()?))
}
