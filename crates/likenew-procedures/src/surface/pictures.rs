//! The pictures of a surface: speed along the addresses, and the scatter of accesses over way and address.

use likenew_core::mix::Mix;
use likenew_core::verdict::{Line, Mark, Series, Shape};

use super::access::{Access, AccessSample};
use super::curve::Curve;
use super::slow_regions::{Finding, SlowRegions};
use crate::series::{axis, speed};

/// More marks than this make a picture unreadable; all places stand in the table.
const MARKS_MAX: usize = 20;

pub(super) fn curve(curve: &Curve<'_>, weak: &SlowRegions, op: Mix) -> Series {
    let points = curve.points.iter().map(|point| [point.range.start as f64, point.bytes_per_s]).collect();
    Series::new("How fast is it along its addresses?", Shape::Line, axis("offset", "bytes"), speed())
        .lines([Line::new(op.to_string(), points)])
        .marks(marks(weak))
}

pub(super) fn by_distance(access: &Access) -> Series {
    let title = "Does the way to an address matter?";
    scatter(title, "distance from the access before", access, AccessSample::distance)
}

pub(super) fn by_offset(access: &Access, weak: &SlowRegions) -> Series {
    scatter("How long is an access to each address?", "offset", access, |probe| probe.offset as f64)
        .marks(marks(weak))
}

fn scatter(title: &str, label: &str, access: &Access, x: impl Fn(&AccessSample) -> f64) -> Series {
    let points = access.probes.iter().map(|probe| [x(probe), probe.latency_ns]).collect();
    Series::new(title, Shape::Scatter, axis(label, "bytes"), axis("access time", "ns"))
        .lines([Line::new("access", points)])
}

fn marks(weak: &SlowRegions) -> impl Iterator<Item = Mark> {
    weak.places.iter().take(MARKS_MAX).map(|place| {
        let label = match place.finding {
            Finding::Slow => "weak",
            Finding::Unreadable => "unreadable",
            Finding::Hiccup => "slow once",
            Finding::Undecided => "slow",
        };
        Mark { x: place.from_bytes as f64, label: label.into() }
    })
}
