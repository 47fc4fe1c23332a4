//! The plots of a surface: speed along the addresses, and access time over distance and address.

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::mix::Mix;

use super::access::Access;
use super::access_sample::AccessSample;
use super::curve::Curve;
use super::slow_regions::{Finding, SlowRegions};
use super::wording;
use likenew_procedure_support::series::{axis, speed};

/// More marks than this make a plot unreadable; all regions are in the table.
const MARKS_MAX: usize = 20;

pub(super) fn curve(curve: &Curve<'_>, slow_regions: &SlowRegions, op: Mix) -> Series {
    let points = curve.points.iter().map(|point| [point.range.start as f64, point.bytes_per_s]).collect();
    Series::new(wording::CURVE_TITLE, Shape::Line, axis("offset", "bytes"), speed())
        .lines([Line::new(op.to_string(), points)])
        .marks(marks(slow_regions))
}

pub(super) fn by_distance(access: &Access) -> Series {
    scatter(wording::DISTANCE_TITLE, wording::DISTANCE_AXIS, access, AccessSample::distance)
}

pub(super) fn by_offset(access: &Access, slow_regions: &SlowRegions) -> Series {
    scatter(wording::OFFSET_TITLE, "offset", access, |probe| probe.offset as f64).marks(marks(slow_regions))
}

fn scatter(title: &str, label: &str, access: &Access, x: impl Fn(&AccessSample) -> f64) -> Series {
    let points = access.probes.iter().map(|probe| [x(probe), probe.latency_ns]).collect();
    Series::new(title, Shape::Scatter, axis(label, "bytes"), axis("access time", "ns"))
        .lines([Line::new("access", points)])
}

fn marks(slow_regions: &SlowRegions) -> impl Iterator<Item = Mark> {
    slow_regions.places.iter().take(MARKS_MAX).map(|place| {
        let label = match place.finding {
            Finding::Slow => wording::MARK_SLOW,
            Finding::Unreadable => wording::MARK_UNREADABLE,
            Finding::Hiccup => wording::MARK_SLOW_ONCE,
            Finding::Undecided => wording::MARK_OPEN,
        };
        Mark { x: place.from_bytes as f64, label: label.into() }
    })
}
