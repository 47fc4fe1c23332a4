//! Every point beside the model's prediction.

use super::curve_fit::CurveFit;
use super::visit::MeasuredPoint;
use super::workload_plan::WorkloadPlan;
use likenew_core::findings::Row;
use likenew_core::row;

/// Sorted by operation, access pattern, depth and length.
pub(super) fn rows(workload_plan: &WorkloadPlan<'_>, curve_fits: &[CurveFit]) -> impl Iterator<Item = Row> {
    let mut points: Vec<&MeasuredPoint> = workload_plan.points.iter().collect();
    points.sort_by_key(|of| {
        (of.point.op.index(), of.point.pattern.to_string(), of.point.depth, of.point.bytes)
    });
    points.into_iter().map(|of| row(of, workload_plan, curve_fits))
}

fn row(of: &MeasuredPoint, workload_plan: &WorkloadPlan<'_>, curve_fits: &[CurveFit]) -> Row {
    let point = of.point;
    let curve_fits =
        curve_fits.iter().filter(|curve_fit| point.is_on(curve_fit.curve, workload_plan.small()));
    // A small random request at QD1 is on two curves; the one by length comes first.
    let predicted = curve_fits
        .filter_map(|curve_fit| Some((curve_fit.selected_fit()?.0, curve_fit.data_point(&point)?.ns)))
        .next();
    let predicted = predicted.map(|(fit, ns)| {
        let off = fit.ns(&point) / ns;
        (of.bytes_per_s() / off, 1.0 / off - 1.0)
    });
    row! {
        op: point.op.to_string(),
        pattern: point.pattern.to_string(),
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
