//! Series of several documents as charts that can be compared: in one chart, or side by side.
//!
//! The only number calculated here is the ratio of two cells of heat maps.

use std::collections::HashMap;

use likenew_core::findings::{Axis, Line, Mark, Series, Shape};

/// A series with its display options.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    /// The series.
    pub(crate) series: Series,
    /// The lowest and highest value of all heat maps side by side, so that equal shades mean equal values.
    pub(crate) range: Option<[f64; 2]>,
    /// Whether the first map and the ratio to it imply this one: a terminal has no room for all three.
    pub(crate) axis_implied: bool,
}

/// The charts of all series of one name, each with the name of its document.
pub(super) fn joined_pictures(all: Vec<(String, Series)>, several: bool) -> Vec<Picture> {
    let plain = |series: Series| Picture { series, range: None, axis_implied: false };
    if !several {
        return all.into_iter().map(|(_, series)| plain(series)).collect();
    }
    let agreed = all.len() > 1 && all.windows(2).all(|pair| agree(&pair[0].1, &pair[1].1));
    if agreed && all[0].1.shape == Shape::Heat {
        return heat_maps(all);
    }
    if agreed {
        return vec![plain(overlay(all))];
    }
    all.into_iter().map(|(of, series)| plain(with_label(&of, series))).collect()
}

/// Whether two series can share axes.
fn agree(one: &Series, other: &Series) -> bool {
    one.shape == other.shape
        && one.x.unit == other.x.unit
        && one.y.unit == other.y.unit
        && one.categories.is_empty() == other.categories.is_empty()
}

fn with_label(document: &str, series: Series) -> Series {
    Series { title: format!("{} · {document}", series.title), ..series }
}

/// One series with the lines of all, each named after its document. Categories are merged by name.
fn overlay(all: Vec<(String, Series)>) -> Series {
    let mut merged = Series { lines: Vec::new(), marks: Vec::new(), ..all[0].1.clone() };
    for (of, series) in all {
        let moved = place_categories(&mut merged.categories, &series.categories);
        let x = |x: f64| moved.get(x as usize).map_or(x, |place| *place as f64);
        let single = series.lines.len() == 1;
        for Line { name, points, band } in series.lines {
            let name = if single { of.clone() } else { format!("{of} {name}") };
            let points = points.into_iter().map(|[at, y]| [x(at), y]).collect();
            let band = band.into_iter().map(|[at, low, high]| [x(at), low, high]).collect();
            merged.lines.push(Line { name, points, band });
        }
        merged.marks.extend(
            series
                .marks
                .into_iter()
                .map(|mark| Mark { x: x(mark.x), label: format!("{of}: {}", mark.label) }),
        );
    }
    merged
}

/// Adds new categories, and returns where each of `added` is now.
fn place_categories(categories: &mut Vec<String>, added: &[String]) -> Vec<usize> {
    let place = |category: &String| {
        categories.iter().position(|known| known == category).unwrap_or_else(|| {
            categories.push(category.clone());
            categories.len() - 1
        })
    };
    added.iter().map(place).collect()
}

/// Each heat map under its name, all with the same shades, and after each later one its ratio to the first.
fn heat_maps(all: Vec<(String, Series)>) -> Vec<Picture> {
    let values = all.iter().flat_map(|(_, series)| values(series));
    let range = values.fold(None, |range: Option<[f64; 2]>, value| {
        let [low, high] = range.unwrap_or([value; 2]);
        Some([low.min(value), high.max(value)])
    });
    let mut pictures = Vec::new();
    for (index, (of, series)) in all.iter().enumerate() {
        let ratio = (index > 0).then(|| ratio(&all[0], &all[index])).flatten();
        pictures.push(Picture {
            series: with_label(of, series.clone()),
            range,
            axis_implied: ratio.is_some(),
        });
        pictures.extend(ratio.map(|series| Picture { series, range: None, axis_implied: false }));
    }
    pictures
}

fn values(series: &Series) -> impl Iterator<Item = f64> {
    series.lines.iter().flat_map(|line| line.points.iter().map(|[_, value]| *value))
}

/// The second map over the first, cell by cell; `None` if they have no cell in common.
fn ratio((first_of, first): &(String, Series), (of, other): &(String, Series)) -> Option<Series> {
    let mut below: HashMap<(&str, String), f64> = HashMap::new();
    for line in &first.lines {
        below.extend(line.points.iter().map(|[x, value]| ((line.name.as_str(), place(first, *x)), *value)));
    }
    let line = |line: &Line| {
        let cell = |[x, above]: &[f64; 2]| {
            let below = below.get(&(line.name.as_str(), place(other, *x)))?;
            let ratio = above / below;
            (*below > 0.0 && ratio > 0.0 && ratio.is_finite()).then_some([*x, ratio])
        };
        Line::new(&line.name, line.points.iter().filter_map(cell).collect())
    };
    let quotient = format!("{of} ÷ {first_of}");
    let y = Axis::new(&quotient, "×").logarithmic();
    let series = Series::new(&other.title, Shape::Heat, other.x.clone(), y)
        .rows(&other.rows)
        .categories(&other.categories)
        .lines(other.lines.iter().map(line));
    (values(&series).count() > 0).then(|| with_label(&quotient, series))
}

/// What identifies a column of a heat map in any document.
fn place(series: &Series, x: f64) -> String {
    series.categories.get(x as usize).cloned().unwrap_or_else(|| x.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(cells: &[(&str, f64, f64)], categories: &[&str]) -> Series {
        let mut series =
            Series::new("Map", Shape::Heat, Axis::new("size", ""), Axis::new("speed", "bytes/s"))
                .rows("depth")
                .categories(categories.iter().copied());
        for (row, x, value) in cells {
            match series.lines.iter_mut().find(|line| line.name == *row) {
                Some(line) => line.points.push([*x, *value]),
                None => series.lines.push(Line::new(*row, vec![[*x, *value]])),
            }
        }
        series
    }

    #[test]
    fn heat_maps_are_shaded_alike_and_divided_cell_by_cell() {
        let one = map(&[("1", 0.0, 100.0), ("1", 1.0, 0.0), ("8", 0.0, 50.0)], &["4 KiB", "1 MiB"]);
        let two = map(
            &[("8", 1.0, 25.0), ("1", 0.0, 7.0), ("1", 1.0, 200.0), ("9", 0.0, 1.0)],
            &["1 MiB", "4 KiB"],
        );
        let pictures = joined_pictures(vec![("a".into(), one), ("b".into(), two)], true);
        let titles: Vec<&str> = pictures.iter().map(|picture| picture.series.title.as_str()).collect();
        assert_eq!(titles, ["Map · a", "Map · b", "Map · b ÷ a"]);
        assert_eq!(pictures[0].range, Some([0.0, 200.0]));
        assert_eq!(pictures[0].range, pictures[1].range);
        assert_eq!(
            pictures.iter().map(|picture| picture.axis_implied).collect::<Vec<_>>(),
            [false, true, false]
        );
        let ratio = &pictures[2];
        assert_eq!(ratio.series.y.unit, "×");
        assert_eq!(ratio.series.categories, ["1 MiB", "4 KiB"]);
        let cells: Vec<(&str, &[[f64; 2]])> =
            ratio.series.lines.iter().map(|line| (line.name.as_str(), line.points.as_slice())).collect();
        assert_eq!(cells, [("8", &[[1.0, 0.5]][..]), ("1", &[[1.0, 2.0]]), ("9", &[])]);
    }

    #[test]
    fn maps_without_a_common_cell_have_no_ratio() {
        let (one, two) = (map(&[("1", 0.0, 5.0)], &["4 KiB"]), map(&[("1", 0.0, 5.0)], &["8 KiB"]));
        assert_eq!(joined_pictures(vec![("a".into(), one.clone()), ("b".into(), two)], true).len(), 2);
        assert_eq!(joined_pictures(vec![("a".into(), one.clone())], true)[0].series.title, "Map · a");
        assert_eq!(joined_pictures(vec![("a".into(), one)], false)[0].series.title, "Map");
    }
}
