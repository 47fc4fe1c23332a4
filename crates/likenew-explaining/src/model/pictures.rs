//! The charts of a model: prediction beside measurement on logarithmic and linear scales, residuals, depths,
//! addresses and bursts; the table of points.

use likenew_core::findings::{Line, Mark, Row, Series, Shape};
use likenew_core::io::Op;
use likenew_core::row;
use likenew_core::units::amount;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{axis, estimated_line, speed};
use likenew_stats::interval::Interval;

use super::burst::Burst;
use super::curve_fit::{CurveFit, DataPoint, Form, Specification, between};
use super::point::{Curve, MeasuredPoint, Point, PointPattern};
use super::wording;
use super::workload_plan::WorkloadPlan;
use super::zones::Zones;

/// Points of a predicted line for each doubling.
const STEPS: u32 = 4;

/// All charts by name, without those that would be empty.
pub(super) fn series(
    curve_fits: &[CurveFit],
    zones: &[Zones],
    bursts: &[Burst<'_>],
    capacity: u64,
) -> impl Iterator<Item = (String, Series)> {
    let others = [
        ("by_depth".to_owned(), by_depth(curve_fits)),
        ("by_address".to_owned(), by_address(zones, capacity)),
        ("bursts".to_owned(), of_bursts(bursts)),
    ];
    let of_ops = [Op::Read, Op::Write].into_iter().flat_map(|op| of_op(op, curve_fits));
    of_ops.chain(others).filter(|(_, series)| !series.lines.is_empty())
}

/// The curves of one operation: `(name of the series, picture)`.
fn of_op(op: Op, curve_fits: &[CurveFit]) -> [(String, Series); 3] {
    let is_by_length = |curve: Curve| curve.op() == op && !matches!(curve, Curve::Depth(_));
    let by_length = || curve_fits.iter().filter(|curve_fit| is_by_length(curve_fit.curve));
    let length = || axis("request", "bytes").logarithmic();
    let speeds = |speed| {
        Series::new(wording::by_length_title(op), Shape::Line, length(), speed)
            .lines(by_length().flat_map(lines))
            .marks(by_length().filter_map(mark))
    };
    let off = axis(wording::RESIDUALS_AXIS, "share");
    let residuals = Series::new(wording::residuals_title(op), Shape::Scatter, length(), off)
        .lines(by_length().filter_map(residuals));
    [
        (format!("{op}_by_length"), speeds(speed().logarithmic())),
        (format!("{op}_by_length_linear"), speeds(speed())),
        (format!("{op}_residuals"), residuals),
    ]
}

/// Speed by depth, of both operations.
fn by_depth(curve_fits: &[CurveFit]) -> Series {
    let by_depth = curve_fits
        .iter()
        .filter(|curve_fit| matches!(curve_fit.curve, Curve::Depth(_)) && curve_fit.data_points.len() > 1);
    let mut lines = Vec::new();
    for curve_fit in by_depth {
        let op = curve_fit.curve.op();
        let rates = |ns: &dyn Fn(&DataPoint) -> f64| {
            let at = |data_point: &DataPoint| [f64::from(data_point.point.depth), 1e9 / ns(data_point)];
            curve_fit.data_points.iter().map(at).collect()
        };
        lines.push(Line::new(format!("{op}, measured"), rates(&|data_point| data_point.ns)));
        if let Some((fit, _)) = curve_fit.selected_fit() {
            lines.push(Line::new(format!("{op}, fitted"), rates(&|data_point| fit.ns(&data_point.point))));
        }
    }
    let (x, y) = (axis("depth", "").logarithmic(), axis("requests", "1/s").logarithmic());
    Series::new(wording::DEPTHS_TITLE, Shape::Line, x, y).lines(lines)
}

/// Rate by address.
fn by_address(zones: &[Zones], capacity: u64) -> Series {
    const PLACES: u32 = 32;
    let at = |share: f64, rate: f64| [share * capacity as f64, rate];
    let mut lines = Vec::new();
    for op_zones in zones {
        lines.push(Line::new(
            format!("{}, measured", op_zones.op),
            op_zones.rates.iter().map(|[share, rate]| at(*share, *rate)).collect(),
        ));
        if op_zones.is_zoned {
            let shares = (0..=PLACES).map(|place| f64::from(place) / f64::from(PLACES));
            lines.push(Line::new(
                format!("{}, fitted", op_zones.op),
                shares.map(|share| at(share, op_zones.rate_at(share))).collect(),
            ));
        }
    }
    Series::new(wording::ZONES_TITLE, Shape::Line, axis("offset", "bytes"), speed()).lines(lines)
}

/// Latency of writes after idling.
fn of_bursts(bursts: &[Burst<'_>]) -> Series {
    let line = |(index, burst): (usize, &Burst<'_>)| {
        let repeat = bursts[..index].iter().filter(|earlier| earlier.block == burst.block).count() + 1;
        Line::new(format!("{} #{repeat}", amount(burst.block)), burst.points())
    };
    let (x, y) = (axis("written", "bytes").logarithmic(), axis("latency", "ns").logarithmic());
    Series::new(wording::BURSTS_TITLE, Shape::Line, x, y).lines(bursts.iter().enumerate().map(line))
}

/// The measured points of a curve and the model's line, for each access pattern.
fn lines(curve_fit: &CurveFit) -> Vec<Line> {
    let mut lines = Vec::new();
    for pattern in [PointPattern::Random, PointPattern::Aligned, PointPattern::Sequential] {
        let data_points: Vec<&DataPoint> =
            curve_fit.data_points.iter().filter(|data_point| data_point.point.pattern == pattern).collect();
        let (Some(first), Some(last)) = (data_points.first(), data_points.last()) else { continue };
        let measured = data_points.iter().map(|data_point| {
            let speed = speed_of(&data_point.point, data_point.ns);
            let reach = 1.0 + 2.0 * data_point.deviation;
            (data_point.point.bytes as f64, between(speed, speed / reach, speed * reach))
        });
        if let Some((fit, _)) = curve_fit.selected_fit() {
            let points = interpolate(&first.point, last.point.bytes, fit.grain.small)
                .map(|point| [point.bytes as f64, speed_of(&point, fit.ns(&point))]);
            lines.push(Line::new(format!("{pattern}, fitted"), points.collect()));
        }
        // Last, so that measured points are drawn on top.
        lines.push(estimated_line(format!("{pattern}, measured"), measured));
    }
    lines
}

/// Lengths between two points at which a request could be measured. Aligned lengths only double, because
/// those in between have another alignment.
fn interpolate(first: &Point, last: u64, small: u64) -> impl Iterator<Item = Point> {
    let (first, steps) = (*first, if first.pattern == PointPattern::Aligned { 1 } else { STEPS });
    let bytes =
        (0..).map(move |step| (first.bytes as f64 * 2f64.powf(f64::from(step) / f64::from(steps))) as u64);
    let bytes = bytes.map(move |bytes| if bytes > small { bytes - bytes % small } else { bytes });
    bytes.take_while(move |bytes| *bytes <= last).map(move |bytes| Point { bytes, ..first })
}

fn speed_of(point: &Point, ns: f64) -> f64 {
    point.bytes as f64 / ns * 1e9
}

fn residuals(curve_fit: &CurveFit) -> Option<Line> {
    let (fit, _) = curve_fit.selected_fit()?;
    let off = curve_fit
        .data_points
        .iter()
        .map(|data_point| [data_point.point.bytes as f64, fit.ns(&data_point.point) / data_point.ns - 1.0]);
    Some(Line::new(wording::curve(curve_fit.curve), off.collect()))
}

/// Where random requests of an operation meet a knee or whole clusters.
fn mark(curve_fit: &CurveFit) -> Option<Mark> {
    let fit = curve_fit.explanation().filter(|_| matches!(curve_fit.curve, Curve::Random(_)))?;
    let label = match fit.form {
        Form::Clusters => "cluster",
        Form::Knee => "knee",
        _ => return None,
    };
    Some(Mark { x: fit.profile.shape, label: label.into() })
}

/// The table of points, sorted by operation, access pattern, depth and length.
pub(super) fn rows(workload_plan: &WorkloadPlan<'_>, curve_fits: &[CurveFit]) -> impl Iterator<Item = Row> {
    let mut points: Vec<&MeasuredPoint> = workload_plan.points.iter().collect();
    points.sort_by_key(|point| {
        (point.point.op.index(), point.point.pattern.to_string(), point.point.depth, point.point.bytes)
    });
    points.into_iter().map(|point| row(point, workload_plan, curve_fits))
}

/// The table of models: every form fitted to a curve.
pub(super) fn model_rows(curve_fit: &CurveFit) -> impl Iterator<Item = Row> {
    curve_fit.attempts.iter().enumerate().map(|(index, attempt)| {
        let hold_out = attempt.hold_out.as_ref();
        row! {
            op: curve_fit.curve.op().to_string(),
            pattern: curve_fit.curve.pattern(),
            model: wording::model(attempt.form),
            selected_fit: curve_fit.selected_fit == Some(index),
            parameters: attempt.form.parameters(),
            held_out_points: hold_out.map(|hold_out| hold_out.errors.len()),
            held_out_error_percent: hold_out.map(|hold_out| hold_out.typical() * 100.0),
            held_out_error_percent_max: hold_out.map(|hold_out| hold_out.worst() * 100.0),
        }
    })
}

/// The row of a specification.
pub(super) fn specification_row(specification: &Specification) -> Row {
    // An unbounded value has no upper end.
    let end = |high: f64| if high < 1e15 { high } else { f64::INFINITY };
    let bounded = |Estimate { value, interval }: Estimate| {
        let interval = interval.map(|Interval { low, high }| Interval { low, high: end(high) });
        Estimate { value, interval }
    };
    let Specification { curve, model, throughput, access, advertised, .. } = *specification;
    row! {
        op: curve.op().to_string(),
        pattern: curve.pattern(),
        model: model.map_or(wording::NO_MODEL, wording::model),
    }
    .with_estimate("throughput_bytes_per_s", Some(bounded(throughput)))
    .with_estimate("access_time_ns", Some(bounded(access)))
    .with_estimate("penalty_ns", specification.penalty.map(bounded))
    .with_estimate("cluster_bytes", specification.upper.map(bounded))
    .with_estimate("aligned_from_bytes", specification.cluster.map(bounded))
    .with("advertised_bytes_per_s", advertised)
    .with("of_advertised_percent", advertised.map(|advertised| throughput.value / advertised * 100.0))
}

fn row(measured_point: &MeasuredPoint, workload_plan: &WorkloadPlan<'_>, curve_fits: &[CurveFit]) -> Row {
    let point = measured_point.point;
    let curve_fits =
        curve_fits.iter().filter(|curve_fit| point.is_on(curve_fit.curve, workload_plan.grain.small));
    // A small random request at QD1 is on two curves; the one by length comes first.
    let predicted = curve_fits
        .filter_map(|curve_fit| Some((curve_fit.selected_fit()?.0, curve_fit.data_point(&point)?.ns)))
        .next();
    let predicted = predicted.map(|(fit, ns)| {
        let off = fit.ns(&point) / ns;
        (measured_point.bytes_per_s() / off, 1.0 / off - 1.0)
    });
    row! {
        op: point.op.to_string(),
        pattern: point.pattern.to_string(),
        block_bytes: point.bytes,
        depth: point.depth,
        bytes_per_s: measured_point.bytes_per_s(),
        latency_ns: measured_point.ns() * f64::from(point.depth),
        scatter_percent: measured_point.deviation() * 100.0,
        predicted_bytes_per_s: predicted.map(|(speed, _)| speed),
        off_percent: predicted.map(|(_, off)| off * 100.0),
        visits: measured_point.visits.len(),
    }
}
