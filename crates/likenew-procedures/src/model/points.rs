//! Every point beside what its model predicts.

use serde::Serialize;

use super::account::Account;
use super::course::Course;
use super::visit::Measured;

#[derive(Serialize)]
pub(super) struct PointRow {
    op: String,
    pattern: String,
    block_bytes: u64,
    depth: u32,
    bytes_per_s: f64,
    latency_ns: f64,
    scatter_percent: f64,
    predicted_bytes_per_s: Option<f64>,
    off_percent: Option<f64>,
    visits: usize,
}

/// By operation, order of addresses, depth and length.
pub(super) fn rows(course: &Course<'_>, accounts: &[Account]) -> impl Iterator<Item = PointRow> {
    let mut points: Vec<&Measured> = course.measured.iter().collect();
    points.sort_by_key(|of| (of.point.op.index(), of.point.way.to_string(), of.point.depth, of.point.bytes));
    points.into_iter().map(|of| row(of, course, accounts))
}

fn row(of: &Measured, course: &Course<'_>, accounts: &[Account]) -> PointRow {
    let point = of.point;
    let own = accounts.iter().filter(|account| point.is_on(account.curve, course.small()));
    // A small random request one at a time is on two curves; lengths come first.
    let predicted =
        own.filter_map(|account| Some((account.chosen()?.0, account.observation(&point)?.ns))).next();
    let predicted = predicted.map(|(fitted, ns)| {
        let off = fitted.ns(&point) / ns;
        (of.bytes_per_s() / off, 1.0 / off - 1.0)
    });
    PointRow {
        op: point.op.to_string(),
        pattern: point.way.to_string(),
        block_bytes: point.bytes,
        depth: point.depth,
        bytes_per_s: of.bytes_per_s(),
        latency_ns: of.ns() * f64::from(point.depth),
        scatter_percent: of.deviation() * 100.0,
        predicted_bytes_per_s: predicted.map(|(speed, _)| speed),
        off_percent: predicted.map(|(_, off)| off * 100.0),
        visits: of.visits.len(),
    }
}
