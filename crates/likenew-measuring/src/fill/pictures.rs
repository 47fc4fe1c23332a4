//! The charts of a fill.

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::units::Nanos;

use super::part::{Part, Unit};
use super::pass::{Pass, PassRow};
use super::wording;
use likenew_procedure_support::series::{axis, speed};

/// More marks than this make a chart unreadable; the table has all stalls.
const MARKS_MAX: usize = 20;

fn points(pass: &Pass<'_>, each: u64, of: impl Fn(&Part<'_>) -> f64) -> Vec<[f64; 2]> {
    let whole = pass.parts.iter().filter(|part| part.bytes == each);
    whole.map(|part| [part.number as f64, of(part)]).collect()
}

fn name(pass: &Pass<'_>, of: usize, op: &str) -> String {
    if of > 1 { format!("{op}, pass {}", pass.number) } else { op.to_owned() }
}

/// The first pass, the last one, and the one that read.
fn shown_passes<'p, 'a>(passes: &'p [Pass<'a>], read: Option<&'p Pass<'a>>) -> Vec<(String, &'p Pass<'a>)> {
    let last = passes.last().filter(|_| passes.len() > 1);
    let written = passes.first().into_iter().chain(last);
    let written = written.map(|pass| (name(pass, passes.len(), "write"), pass));
    written.chain(read.map(|pass| ("read back".to_owned(), pass))).collect()
}

/// Speed by file or part, with the stalls of the last pass as marks.
pub(super) fn speeds(passes: &[Pass<'_>], read: Option<&Pass<'_>>, unit: Unit, each: u64) -> Series {
    let noun = unit.noun();
    let mut stalls: Vec<_> = passes
        .last()
        .into_iter()
        .flat_map(|pass| &pass.parts)
        .flat_map(|part| part.stalls.iter().map(move |stall| (part.number, stall.duration_ns)))
        .collect();
    stalls.sort_by_key(|(_, duration_ns)| std::cmp::Reverse(*duration_ns));
    let marks = stalls.into_iter().take(MARKS_MAX).map(|(number, duration_ns)| Mark {
        x: number as f64,
        label: wording::stall_mark(Nanos(duration_ns)),
    });
    let lines = shown_passes(passes, read);
    Series::new(wording::speeds_title(unit), Shape::Line, axis(noun, ""), speed())
        .lines(
            lines
                .into_iter()
                .map(|(name, pass)| Line::new(name, points(pass, each, |part| part.bytes_per_s))),
        )
        .marks(marks)
}

/// The slowest I/O of each file or part.
pub(super) fn slowest(passes: &[Pass<'_>], read: Option<&Pass<'_>>, unit: Unit, each: u64) -> Series {
    let noun = unit.noun();
    let longest = |part: &Part<'_>| part.segment.latencies().max().0 as f64;
    let lines = shown_passes(passes, read);
    Series::new(
        wording::slowest_title(unit),
        Shape::Scatter,
        axis(noun, ""),
        axis(wording::SLOWEST_AXIS, "ns"),
    )
    .lines(lines.into_iter().map(|(name, pass)| Line::new(name, points(pass, each, longest))))
}

/// Speed by pass.
pub(super) fn by_pass(rows: &[PassRow]) -> Series {
    let line = Line::new("write", rows.iter().filter_map(PassRow::point).collect());
    let band = rows.iter().filter_map(PassRow::band).collect();
    Series::new(wording::PASSES_TITLE, Shape::Line, axis("pass", ""), speed()).lines([line.band(band)])
}
