//! The series of a replay.

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::windows::{Cell, Windows};

use super::pass::Pass;
use super::tables::of_applications;
use super::wording;
use likenew_procedure_support::series::axis;

/// A line along the trace has about this many points.
const POINTS: usize = 240;
/// Most applications drawn.
const APPLICATIONS: usize = 12;

/// Mean latency along the trace, on this drive and as recorded; all passes together.
pub(super) fn latency(passes: &[Pass<'_>]) -> Series {
    let mut here: Option<Windows> = None;
    for pass in passes {
        match &mut here {
            Some(all) => all.merge(pass.replay_record.replayed_windows.clone()),
            None => here = Some(pass.replay_record.replayed_windows.clone()),
        }
    }
    let recorded = passes.first().map(|pass| pass.replay_record.recorded_windows.clone());
    let lines = [(wording::HERE_LINE, here), (wording::RECORDED_LINE, recorded)].into_iter().filter_map(
        |(name, windows)| {
            let points = means(&windows?);
            (!points.is_empty()).then(|| Line::new(name, points))
        },
    );
    let (x, y) = (axis(wording::TIME_AXIS, "ns"), axis(wording::LATENCY_AXIS, "ns").logarithmic());
    Series::new(wording::LATENCY_TITLE, Shape::Line, x, y).lines(lines)
}

/// `[middle of the window, mean latency]` if any I/O left in it.
fn means(windows: &Windows) -> Vec<[f64; 2]> {
    let together = windows.cells.len().div_ceil(POINTS).max(1);
    let point = |(index, cells): (usize, &[Cell])| {
        let ios: u64 = cells.iter().map(|cell| cell.ios).sum();
        let sum: u64 = cells.iter().map(|cell| cell.latency_ns_sum).sum();
        let width = (windows.width * together as u64) as f64;
        (ios > 0).then(|| [(index as f64 + 0.5) * width, sum as f64 / ios as f64])
    };
    windows.cells.chunks(together).enumerate().filter_map(point).collect()
}

/// How long each application waited, on this drive and as recorded.
pub(super) fn applications(passes: &[Pass<'_>], names: &[String]) -> Series {
    let mut applications = of_applications(passes, names);
    applications.truncate(APPLICATIONS);
    let line = |name: &str, value: &dyn Fn(usize) -> f64| {
        let points: Vec<[f64; 2]> = (0..applications.len()).map(|at| [at as f64, value(at)]).collect();
        Line::new(name, points)
    };
    let mut lines = vec![line(wording::HERE_LINE, &|at| applications[at].waiting_here as f64)];
    if applications.iter().any(|of| of.waiting.recorded_ns > 0) {
        lines.push(line(wording::RECORDED_LINE, &|at| applications[at].waiting.recorded_ns as f64));
    }
    Series::new(
        wording::APPLICATIONS_TITLE,
        Shape::Bars,
        axis(wording::APPLICATION_AXIS, ""),
        axis(wording::WAITING_AXIS, "ns"),
    )
    .categories(applications.iter().map(|of| of.name.clone()))
    .lines(lines)
}
