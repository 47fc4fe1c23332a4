//! The pictures of a model: prediction against measurement, by logarithms and not, what is left, the depths, the addresses, the bursts.

use likenew_core::io::Op;
use likenew_core::units::amount;
use likenew_core::verdict::{Line, Mark, Series, Shape};

use super::account::Account;
use super::burst::Burst;
use super::form::{Fitted, Form, Observation};
use super::point::{Curve, Point, Way};
use super::zones::Zones;
use crate::series::{axis, speed};

/// Points of a predicted line for each doubling.
const STEPS: u32 = 4;

/// The curves of one operation: `(name of the series, picture)`.
pub(super) fn of_op(op: Op, accounts: &[Account]) -> Vec<(String, Series)> {
    let lengths: Vec<&Account> = accounts
        .iter()
        .filter(|of| {
            of.curve.op() == op && !matches!(of.curve, Curve::Depth(_)) && !of.observations.is_empty()
        })
        .collect();
    if lengths.is_empty() {
        return Vec::new();
    }
    let lines = || lengths.iter().flat_map(|account| lines(account)).collect::<Vec<_>>();
    let length = || axis("request", "bytes").logarithmic();
    let marks = || lengths.iter().filter_map(|account| mark(account)).collect::<Vec<_>>();
    let title = format!("How fast are {op}s by their length, as measured and as predicted?");
    let mut pictures = vec![
        (
            format!("{op}_by_length"),
            Series::new(title.clone(), Shape::Line, length(), speed().logarithmic())
                .lines(lines())
                .marks(marks()),
        ),
        (
            format!("{op}_by_length_linear"),
            Series::new(title, Shape::Line, length(), speed()).lines(lines()).marks(marks()),
        ),
    ];
    let residuals: Vec<Line> = lengths.iter().filter_map(|account| residuals(account)).collect();
    if !residuals.is_empty() {
        let title = format!("How far is the prediction off, {op}s by their length?");
        let off = axis("measured over predicted speed − 1", "");
        pictures.push((
            format!("{op}_residuals"),
            Series::new(title, Shape::Scatter, length(), off).lines(residuals),
        ));
    }
    pictures
}

/// Speed by depth, of both operations.
pub(super) fn depths(accounts: &[Account]) -> Option<Series> {
    let by_depth =
        accounts.iter().filter(|of| matches!(of.curve, Curve::Depth(_)) && of.observations.len() > 1);
    let mut lines = Vec::new();
    for account in by_depth {
        let op = account.curve.op();
        let at = |of: &Observation| [f64::from(of.point.depth), 1e9 / of.ns];
        lines.push(Line::new(format!("{op}, measured"), account.observations.iter().map(at).collect()));
        if let Some((fitted, _)) = account.chosen() {
            let predicted =
                account.observations.iter().map(|of| [f64::from(of.point.depth), 1e9 / fitted.ns(&of.point)]);
            lines.push(Line::new(format!("{op}, predicted"), predicted.collect()));
        }
    }
    let title = "What do more requests in flight bring, as measured and as predicted?";
    let (x, y) = (axis("depth", "").logarithmic(), axis("requests", "1/s").logarithmic());
    (!lines.is_empty()).then(|| Series::new(title, Shape::Line, x, y).lines(lines))
}

/// The rate along the addresses.
pub(super) fn zones(zones: &[Zones], capacity: u64) -> Option<Series> {
    const PLACES: u32 = 32;
    let at = |share: f64, rate: f64| [share * capacity as f64, rate];
    let mut lines = Vec::new();
    for of in zones {
        lines.push(Line::new(
            format!("{}, measured", of.op),
            of.rates.iter().map(|[share, rate]| at(*share, *rate)).collect(),
        ));
        if of.is_zoned() {
            let shares = (0..=PLACES).map(|place| f64::from(place) / f64::from(PLACES));
            lines.push(Line::new(
                format!("{}, predicted", of.op),
                shares.map(|share| at(share, of.rate_at(share))).collect(),
            ));
        }
    }
    let title = "Does the rate depend on the address?";
    (!lines.is_empty())
        .then(|| Series::new(title, Shape::Line, axis("offset", "bytes"), speed()).lines(lines))
}

/// Writes from rest on.
pub(super) fn bursts(bursts: &[Burst<'_>]) -> Option<Series> {
    let lines: Vec<Line> = bursts
        .iter()
        .enumerate()
        .map(|(index, burst)| {
            let repeat = bursts[..index].iter().filter(|of| of.block == burst.block).count() + 1;
            Line::new(format!("{} #{repeat}", amount(burst.block)), burst.course())
        })
        .collect();
    let title = "From when on does the medium set the pace of random writes?";
    let (x, y) = (axis("written", "bytes").logarithmic(), axis("latency", "ns").logarithmic());
    (!lines.is_empty()).then(|| Series::new(title, Shape::Line, x, y).lines(lines))
}

/// What was measured of a curve, and what its model says, way by way.
fn lines(account: &Account) -> Vec<Line> {
    let mut lines = Vec::new();
    for way in [Way::Random, Way::Aligned, Way::Sequential] {
        let of_way: Vec<&Observation> =
            account.observations.iter().filter(|of| of.point.way == way).collect();
        let (Some(first), Some(last)) = (of_way.first(), of_way.last()) else { continue };
        let measured = of_way.iter().map(|of| [of.point.bytes as f64, speed_of(&of.point, of.ns)]).collect();
        let band = of_way.iter().map(|of| {
            let speed = speed_of(&of.point, of.ns);
            [of.point.bytes as f64, speed / (1.0 + 2.0 * of.deviation), speed * (1.0 + 2.0 * of.deviation)]
        });
        if let Some((fitted, _)) = account.chosen() {
            let points = between(&first.point, last.point.bytes, fitted.grain.small)
                .map(|point| predicted(fitted, &point));
            lines.push(Line::new(format!("{way}, predicted"), points.collect()));
        }
        // Last, so that what was measured lies on top.
        lines.push(Line::new(format!("{way}, measured"), measured).band(band.collect()));
    }
    lines
}

fn predicted(fitted: &Fitted, point: &Point) -> [f64; 2] {
    [point.bytes as f64, speed_of(point, fitted.ns(point))]
}

/// Points from one length to another, as they could be measured: aligned ones double, as what lies between has an alignment of its own.
fn between(first: &Point, last: u64, small: u64) -> impl Iterator<Item = Point> {
    let (first, steps) = (*first, if first.way == Way::Aligned { 1 } else { STEPS });
    let bytes =
        (0..).map(move |step| (first.bytes as f64 * 2f64.powf(f64::from(step) / f64::from(steps))) as u64);
    let bytes = bytes.map(move |bytes| if bytes > small { bytes - bytes % small } else { bytes });
    bytes.take_while(move |bytes| *bytes <= last).map(move |bytes| Point { bytes, ..first })
}

fn speed_of(point: &Point, ns: f64) -> f64 {
    point.bytes as f64 / ns * 1e9
}

fn residuals(account: &Account) -> Option<Line> {
    let (fitted, _) = account.chosen()?;
    let off =
        account.observations.iter().map(|of| [of.point.bytes as f64, fitted.ns(&of.point) / of.ns - 1.0]);
    Some(Line::new(account.curve.noun(), off.collect()))
}

/// Where random requests of an operation meet a knee or whole clusters.
fn mark(account: &Account) -> Option<Mark> {
    let fitted = account.explanation().filter(|_| matches!(account.curve, Curve::Random(_)))?;
    let label = if fitted.form == Form::Clusters { "cluster" } else { "knee" };
    Some(Mark { x: fitted.shape?, label: label.into() })
}
