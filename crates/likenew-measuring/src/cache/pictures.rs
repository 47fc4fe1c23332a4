//! The plot of the levels.

use likenew_core::findings::{Line, Series, Shape};

use super::level::Level;
use super::results::{CacheResults, MeasuredLevel};
use super::wording;
use likenew_procedure_support::series::{axis, speed};

/// Speed from the program to the drive, on a logarithmic axis, because memory and drive differ by powers of
/// ten; `None` if nothing was measured.
pub(super) fn levels(measured: &CacheResults<'_>) -> Option<Series> {
    let present: Vec<Level> = Level::ALL
        .into_iter()
        .filter(|level| measured.levels.iter().any(|of| of.cell.level == *level))
        .collect();
    let x = |of: &MeasuredLevel<'_>| {
        present.iter().position(|level| *level == of.cell.level).expect("it is one of them") as f64
    };
    let mut lines: Vec<(String, Vec<&MeasuredLevel<'_>>)> = Vec::new();
    for of in &measured.levels {
        let name = wording::line_name(of.test.pattern, of.cell.op);
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, line)) => line.push(of),
            None => lines.push((name, vec![of])),
        }
    }
    let drawn = lines.into_iter().map(|(name, line)| {
        let band = line.iter().filter_map(|of| {
            let interval = of.speed_interval()?;
            Some([x(of), interval.low, interval.high])
        });
        let band = band.collect();
        Line::new(name, line.iter().map(|of| [x(of), of.speed()]).collect()).band(band)
    });
    (!present.is_empty()).then(|| {
        Series::new(wording::LEVELS_TITLE, Shape::Line, axis(wording::LEVEL_AXIS, ""), speed().logarithmic())
            .categories(present.iter().map(|level| level.name()))
            .lines(drawn)
    })
}
