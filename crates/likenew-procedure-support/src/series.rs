//! Charts that several procedures draw.

use likenew_core::findings::Axis;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;

/// An axis of speed.
pub fn speed() -> Axis {
    Axis::new("speed", "bytes/s")
}

/// An axis with this label and unit.
pub fn axis(label: &str, unit: &str) -> Axis {
    Axis::new(label, unit)
}

/// Speed over time: `[ns since `origin`, bytes/s]` at the end of each window of a segment; empty if it
/// failed.
pub fn speed_over_time(segment: &Segment, origin: Nanos) -> Vec<[f64; 2]> {
    if segment.measurement_error().is_some() {
        return Vec::new();
    }
    let (width, elapsed) = (segment.seconds.width, segment.elapsed().0);
    let start = segment.started_at.since(origin).0;
    let cells = segment.seconds.cells.iter().enumerate();
    cells
        .filter_map(|(index, cell)| {
            let from = index as u64 * width;
            let to = (from + width).min(elapsed);
            (to > from).then(|| [(start + to) as f64, cell.bytes as f64 * 1e9 / (to - from) as f64])
        })
        .collect()
}

/// Speed by bytes moved: `[bytes, bytes/s]` in the middle of each window of a segment; empty if it failed.
pub fn speed_over_bytes(segment: &Segment) -> Vec<[f64; 2]> {
    if segment.measurement_error().is_some() {
        return Vec::new();
    }
    let mut from = segment.started_at;
    let width = segment.gigabytes.width as f64;
    let cells = segment.gigabytes.cells.iter().enumerate().filter(|(_, cell)| cell.bytes > 0);
    cells
        .map(|(index, cell)| {
            let span = cell.last.since(from).as_secs_f64().max(1e-9);
            from = cell.last;
            [(index as f64 + 0.5) * width, cell.bytes as f64 / span]
        })
        .collect()
}
