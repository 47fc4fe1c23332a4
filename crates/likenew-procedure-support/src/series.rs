//! Charts that several procedures draw.

use likenew_core::findings::{Axis, Line};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;

use crate::estimate::Estimate;

/// An axis of speed.
pub fn speed() -> Axis {
    Axis::new("speed", "bytes/s")
}

/// An axis with this label and unit.
pub fn axis(label: &str, unit: &str) -> Axis {
    Axis::new(label, unit)
}

/// A line through estimates at these positions, with their intervals as its band.
pub fn estimated_line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, Estimate)>) -> Line {
    let points: Vec<(f64, Estimate)> = points.into_iter().collect();
    let band = points.iter().filter_map(|(x, y)| Some([*x, y.low()?, y.high()?]));
    Line::new(name, points.iter().map(|(x, y)| [*x, y.value]).collect()).band(band.collect())
}

/// Share of a window's usual width from which the last window is a point of its own. Chosen: a shorter one holds only
/// the I/Os that end together with the run, which are no rate.
const LAST_WINDOW_MIN: f64 = 0.5;

/// Speed over time: `[ns since origin, bytes/s]` at the end of each window. A short last window joins the one before
/// it. Empty if the segment failed.
pub fn speed_over_time(segment: &Segment, origin: Nanos) -> Vec<[f64; 2]> {
    if segment.measurement_error().is_some() {
        return Vec::new();
    }
    let start = segment.started_at.since(origin).0;
    let bytes = segment.seconds.cells.iter().map(|cell| cell.bytes);
    let windows = windows(bytes, segment.seconds.width, segment.elapsed().0);
    windows
        .into_iter()
        .map(|window| {
            [(start + window.to) as f64, window.bytes as f64 * 1e9 / (window.to - window.from) as f64]
        })
        .collect()
}

/// A stretch of time of a segment, in nanoseconds from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Window {
    from: u64,
    to: u64,
    bytes: u64,
}

fn windows(bytes: impl Iterator<Item = u64>, width: u64, elapsed: u64) -> Vec<Window> {
    let window = |(index, bytes): (usize, u64)| {
        let from = index as u64 * width;
        Window { from, to: (from + width).min(elapsed), bytes }
    };
    let mut windows: Vec<Window> = Vec::new();
    for window in bytes.enumerate().map(window) {
        let is_short = window.to.saturating_sub(window.from) < (width as f64 * LAST_WINDOW_MIN) as u64;
        match windows.last_mut() {
            Some(before) if is_short => {
                (before.to, before.bytes) = (before.to.max(window.to), before.bytes + window.bytes);
            }
            _ if window.to > window.from => windows.push(window),
            _ => {}
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sliver_at_the_end_is_no_window_of_its_own() {
        let split = |elapsed| windows([100, 100, 60].into_iter(), 1000, elapsed);
        assert_eq!(
            split(2010),
            [Window { from: 0, to: 1000, bytes: 100 }, Window { from: 1000, to: 2010, bytes: 160 }]
        );
        assert_eq!(split(2600)[2], Window { from: 2000, to: 2600, bytes: 60 });
        assert_eq!(windows([60].into_iter(), 1000, 10), [Window { from: 0, to: 10, bytes: 60 }]);
        assert_eq!(split(2000).last().unwrap().bytes, 160, "what ended with the run belongs to it");
    }
}
