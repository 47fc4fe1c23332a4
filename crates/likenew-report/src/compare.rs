//! Shows documents of one procedure together: tables joined row by row, series in one chart or side by side.
//!
//! It calculates only two ratios: of two speeds, and of two cells of heat maps.

use std::collections::{HashMap, HashSet};

use indexmap::IndexSet;
use likenew_core::findings::{Axis, Line, Mark, Row, Series, Shape};
use likenew_core::quantity::Factor;

use super::column::{Column, Grid, Heading, MISSING, identity, identity_of};
use super::document::COMPARISON;
use super::labeled_document::{LabeledDocument, short_names};
use super::scale;
use super::unit::clean;

/// Documents of one procedure.
pub(crate) struct Group<'a> {
    pub(crate) procedure: &'a str,
    /// At least one document.
    pub(crate) members: Vec<&'a LabeledDocument>,
    /// The name of each member in headings and legends.
    pub(crate) names: Vec<String>,
}

/// The documents by procedure, in order of first appearance. A comparison stands alone.
pub(crate) fn groups(documents: &[LabeledDocument]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for labeled in documents {
        let procedure = labeled.document.procedure.as_str();
        let known = groups.iter_mut().find(|group| group.procedure == procedure);
        match known.filter(|_| procedure != COMPARISON) {
            Some(group) => group.members.push(labeled),
            None => groups.push(Group { procedure, members: vec![labeled], names: Vec::new() }),
        }
    }
    let compared: Vec<_> =
        documents.iter().filter_map(|labeled| labeled.document.compared_procedure()).collect();
    for group in &mut groups {
        group.names = short_names(&group.members, compared.contains(&group.procedure));
    }
    groups
}

impl Group<'_> {
    /// All tables with their titles, in the order of the documents: joined if the members' rows correspond,
    /// otherwise separate.
    pub(crate) fn tables(&self) -> Vec<(String, Grid)> {
        let names: IndexSet<&String> = self.members.iter().flat_map(|m| m.document.tables.keys()).collect();
        names.into_iter().flat_map(|name| self.table(name)).collect()
    }

    fn table(&self, name: &str) -> Vec<(String, Grid)> {
        let title = clean(name).replace('_', " ");
        let members = self.members.iter().zip(&self.names);
        let tables: Vec<(String, &[Row])> = members
            .filter_map(|(member, document_name)| {
                member.document.tables.get(name).map(|rows| (document_name.clone(), rows.as_slice()))
            })
            .collect();
        if self.members.len() == 1 {
            return tables.into_iter().map(|(_, rows)| (title.clone(), Grid::from_rows(rows))).collect();
        }
        match join(&tables) {
            Some(grid) => vec![(title, grid)],
            None => tables
                .into_iter()
                .map(|(document, rows)| (format!("{title}, {document}"), Grid::from_rows(rows)))
                .collect(),
        }
    }

    /// All charts in the order of the documents: in one chart if their axes agree, otherwise separate.
    pub(crate) fn pictures(&self) -> Vec<Picture> {
        let names: IndexSet<&String> = self.members.iter().flat_map(|m| m.document.series.keys()).collect();
        let series_of = |name: &String| -> Vec<(String, Series)> {
            let members = self.members.iter().zip(&self.names);
            let series = members.filter_map(|(member, document_name)| {
                Some((document_name.clone(), member.document.series.get(name)?.clone()))
            });
            series.collect()
        };
        let several = self.members.len() > 1;
        names.into_iter().flat_map(|name| joined_pictures(series_of(name), several)).collect()
    }
}

/// Tables whose rows correspond.
struct Join<'a> {
    columns: Vec<Column>,
    /// The columns that identify a row.
    identity: Vec<usize>,
    /// Each document's name, with the rows of its table by their identity.
    tables: Vec<(&'a str, HashMap<String, &'a Row>)>,
    /// Each row of any table once: the rows of the first table, then those that others add.
    order: Vec<(String, &'a Row)>,
}

/// Joins several tables into one grid, if at least half of the shortest table's rows are in all of them.
pub(super) fn join(tables: &[(String, &[Row])]) -> Option<Grid> {
    if tables.len() < 2 {
        return None;
    }
    let join = Join::new(tables)?;
    let in_all = |(key, _): &&(String, &Row)| join.tables.iter().all(|(_, rows)| rows.contains_key(key));
    let common = join.order.iter().filter(in_all).count();
    let shortest = tables.iter().map(|(_, rows)| rows.len()).min()?;
    (common * 2 >= shortest).then(|| join.grid())
}

impl<'a> Join<'a> {
    fn new(tables: &'a [(String, &'a [Row])]) -> Option<Self> {
        let rows: Vec<&[Row]> = tables.iter().map(|(_, rows)| *rows).collect();
        let columns = Column::all(rows.iter().copied().flatten());
        let identity = identity(&columns, &rows)?;
        let keyed = |row: &'a Row| (identity_of(&columns, &identity, row), row);
        let by_key = tables
            .iter()
            .map(|(document, rows)| (document.as_str(), rows.iter().map(keyed).collect()))
            .collect();
        let mut known = HashSet::new();
        let order = tables.iter().flat_map(|(_, rows)| rows.iter().map(keyed));
        let order = order.filter(|(key, _)| known.insert(key.clone())).collect();
        Some(Self { tables: by_key, order, columns, identity })
    }

    fn grid(&self) -> Grid {
        let mut grid = Grid { headings: Vec::new(), rows: vec![Vec::new(); self.order.len()] };
        for (group, column) in self.columns.iter().enumerate() {
            let identity = self.identity.contains(&group);
            let heading = |text: &str, document: Option<String>| Heading {
                text: text.to_owned(),
                document,
                number: column.number,
                identity,
                group,
            };
            if identity {
                grid.push(heading(&column.heading, None), self.order.iter().map(|(_, row)| column.cell(row)));
                continue;
            }
            for (document, rows) in &self.tables {
                let cell = |row: Option<&&Row>| row.map_or(MISSING.into(), |row| column.cell(row));
                let cells = self.order.iter().map(|(key, _)| cell(rows.get(key)));
                grid.push(heading(&column.heading, Some((*document).to_owned())), cells);
            }
            if column.number && column.unit.is_rate() {
                self.ratios(column)
                    .for_each(|(document, cells)| grid.push(heading(&column.name, Some(document)), cells));
            }
        }
        grid
    }

    /// The ratios of each later table to the first table, with their headings.
    fn ratios(&self, column: &Column) -> impl Iterator<Item = (String, impl Iterator<Item = String>)> {
        let (first, first_rows) = &self.tables[0];
        self.tables.iter().skip(1).map(move |(document, rows)| {
            let cell = move |(key, _): &(String, &Row)| ratio(column, first_rows.get(key), rows.get(key));
            (format!("{document} ÷ {first}"), self.order.iter().map(cell))
        })
    }
}

fn ratio(column: &Column, first: Option<&&Row>, other: Option<&&Row>) -> String {
    let value = |row: Option<&&Row>| row.and_then(|row| column.value(row));
    match (value(first), value(other)) {
        (Some(first), Some(other)) if first > 0.0 && (other / first).is_finite() => {
            Factor(other / first).to_string()
        }
        _ => MISSING.into(),
    }
}

/// A series and how to display it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    pub(crate) series: Series,
    /// The lowest and highest value of all heat maps that are shown together, so that equal shades mean equal values.
    pub(crate) range: Option<[f64; 2]>,
    /// Whether the first map and the ratio to it imply this map: a terminal has no room for all three.
    pub(crate) axis_implied: bool,
}

impl Picture {
    /// A picture that no other explains.
    pub(crate) fn alone(series: Series) -> Self {
        Self { series, range: None, axis_implied: false }
    }
}

/// The charts of all series of one name, each given with the name of its document.
pub(super) fn joined_pictures(named_series: Vec<(String, Series)>, several: bool) -> Vec<Picture> {
    if !several {
        return named_series.into_iter().map(|(_, series)| Picture::alone(series)).collect();
    }
    let agreed = named_series.len() > 1 && named_series.windows(2).all(|pair| agree(&pair[0].1, &pair[1].1));
    if agreed && named_series[0].1.shape == Shape::Heat {
        return heat_maps(named_series);
    }
    if agreed {
        return vec![Picture::alone(overlay(named_series))];
    }
    named_series.into_iter().map(|(document, series)| Picture::alone(with_label(&document, series))).collect()
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

/// One series with the lines of all, each line named after its document. Categories are merged by name.
fn overlay(named_series: Vec<(String, Series)>) -> Series {
    let mut merged = Series { lines: Vec::new(), marks: Vec::new(), ..named_series[0].1.clone() };
    for (document, series) in named_series {
        let moved = place_categories(&mut merged.categories, &series.categories);
        let x = |x: f64| moved.get(x as usize).map_or(x, |place| *place as f64);
        let single = series.lines.len() == 1;
        for Line { name, points, band } in series.lines {
            let name = if single { document.clone() } else { format!("{document} {name}") };
            let points = points.into_iter().map(|[at, y]| [x(at), y]).collect();
            let band = band.into_iter().map(|[at, low, high]| [x(at), low, high]).collect();
            merged.lines.push(Line { name, points, band });
        }
        merged.marks.extend(
            series
                .marks
                .into_iter()
                .map(|mark| Mark { x: x(mark.x), label: format!("{document}: {}", mark.label) }),
        );
    }
    merged
}

/// Adds new categories, and returns the new position of each of `added`.
fn place_categories(categories: &mut Vec<String>, added: &[String]) -> Vec<usize> {
    let place = |category: &String| {
        categories.iter().position(|known| known == category).unwrap_or_else(|| {
            categories.push(category.clone());
            categories.len() - 1
        })
    };
    added.iter().map(place).collect()
}

/// Each heat map under its name, all with the same shades; the ratio to the first map follows each later map.
fn heat_maps(named_series: Vec<(String, Series)>) -> Vec<Picture> {
    let values = named_series.iter().flat_map(|(_, series)| values(series));
    let range = scale::range(values);
    let mut pictures = Vec::new();
    for (index, (document, series)) in named_series.iter().enumerate() {
        let ratio = (index > 0).then(|| heat_ratio(&named_series[0], &named_series[index])).flatten();
        pictures.push(Picture {
            series: with_label(document, series.clone()),
            range,
            axis_implied: ratio.is_some(),
        });
        pictures.extend(ratio.map(Picture::alone));
    }
    pictures
}

fn values(series: &Series) -> impl Iterator<Item = f64> {
    series.lines.iter().flat_map(|line| line.points.iter().map(|[_, value]| *value))
}

/// The second map divided by the first, cell by cell; `None` if they have no cell in common.
fn heat_ratio(
    (first_name, first): &(String, Series),
    (other_name, other): &(String, Series),
) -> Option<Series> {
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
    let quotient = format!("{other_name} ÷ {first_name}");
    let y = Axis::new(&quotient, "×").logarithmic();
    let series = Series::new(&other.title, Shape::Heat, other.x.clone(), y)
        .rows(&other.rows)
        .categories(&other.categories)
        .lines(other.lines.iter().map(line));
    (values(&series).count() > 0).then(|| with_label(&quotient, series))
}

/// What identifies a column of a heat map in all documents.
fn place(series: &Series, x: f64) -> String {
    series.categories.get(x as usize).cloned().unwrap_or_else(|| x.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Heading;
    use crate::labeled_document::label_all;
    use crate::tests::fixtures;
    use serde::Deserialize;

    fn heads(grid: &Grid) -> Vec<String> {
        let head = |heading: &Heading| match &heading.document {
            Some(document) => format!("{} [{document}]", heading.text),
            None => heading.text.clone(),
        };
        grid.headings.iter().map(head).collect()
    }

    fn single_document<'a>(tables: &'a [(String, Grid)], title: &str) -> &'a Grid {
        let grids: Vec<&Grid> = tables.iter().filter(|(t, _)| t == title).map(|(_, grid)| grid).collect();
        assert_eq!(grids.len(), 1, "{title} among {:?}", tables.iter().map(|(t, _)| t).collect::<Vec<_>>());
        grids[0]
    }

    #[test]
    fn rows_meet_by_what_tells_them_apart_whatever_their_order() {
        let new = fixtures::bench("new", 1.0);
        let mut used = fixtures::bench("used", 0.25);
        used.tables.get_mut("results").unwrap().reverse();
        used.tables.get_mut("results").unwrap().pop();
        let documents = label_all(vec![new, used]);
        let groups = groups(&documents);
        let tables = groups[0].tables();
        let grid = single_document(&tables, "results");
        assert_eq!(
            heads(grid)[..8],
            [
                "test",
                "op",
                "MB/s (low–high) [new]",
                "MB/s (low–high) [used]",
                "MB/s [used ÷ new]",
                "IOPS [new]",
                "IOPS [used]",
                "IOPS [used ÷ new]"
            ]
        );
        assert_eq!(grid.rows.len(), 8);
        assert_eq!(grid.rows[1][4], "0.250×");
        assert_eq!(grid.rows[0][3..5], ["–", "–"], "the row that the second document lacks");
        single_document(&tables, "passes");
    }

    #[test]
    fn files_meet_by_their_number_and_stalls_stay_apart() {
        let (one, mut two) = (fixtures::fill("one"), fixtures::fill("two"));
        for row in two.tables.get_mut("stalls").unwrap() {
            row["offset_bytes"] = (row["offset_bytes"].as_u64().unwrap() + 1).into();
        }
        let documents = label_all(vec![one, two]);
        let tables = groups(&documents)[0].tables();
        assert_eq!(single_document(&tables, "files").headings.iter().filter(|h| h.identity).count(), 1);
        single_document(&tables, "stalls, one");
        single_document(&tables, "stalls, two");
    }

    #[test]
    fn series_share_axes_where_they_agree() {
        let (one, mut two) = (fixtures::bench("one", 1.0), fixtures::bench("two", 0.5));
        let bandwidth = two.series.get_mut("bandwidth").unwrap();
        bandwidth.categories = vec!["RND4K Q1T1".into(), "OTHER".into()];
        bandwidth.lines.truncate(1);
        bandwidth.lines[0].points = vec![[0.0, 5.0], [1.0, 6.0]];
        let documents = label_all(vec![one.clone(), two]);
        let pictures = groups(&documents)[0].pictures();
        let series: Vec<Series> = pictures.into_iter().map(|picture| picture.series).collect();
        assert_eq!(series.len(), 1);
        let names: Vec<&str> = series[0].lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["one read", "one write", "two"]);
        assert_eq!(series[0].categories.len(), 5);
        assert_eq!(series[0].lines[2].points, [[3.0, 5.0], [4.0, 6.0]]);

        let mut other = fixtures::bench("a label of too many words", 1.0);
        other.series.get_mut("bandwidth").unwrap().y.unit = "ns".into();
        let documents = label_all(vec![one, other]);
        let titles: Vec<String> =
            groups(&documents)[0].pictures().into_iter().map(|p| p.series.title).collect();
        assert_eq!(
            titles,
            ["Speed of each test · A", "Speed of each test · B"],
            "long labels become letters"
        );
    }

    #[test]
    fn procedures_are_not_mixed() {
        let documents =
            label_all(vec![fixtures::bench("a", 1.0), fixtures::fill("a"), fixtures::bench("b", 1.0)]);
        let groups = groups(&documents);
        let shape: Vec<(&str, usize)> = groups.iter().map(|g| (g.procedure, g.members.len())).collect();
        assert_eq!(shape, [("bench", 2), ("fill", 1)]);
    }

    #[test]
    fn a_ratio_to_nothing_is_no_number() {
        let mut still = fixtures::bench("still", 1.0);
        still.tables.get_mut("results").unwrap()[0]["bytes_per_s"] = 0.into();
        let documents = label_all(vec![still, fixtures::bench("moving", 1.0)]);
        let tables = groups(&documents)[0].tables();
        assert_eq!(single_document(&tables, "results").rows[0][4], "–");
    }

    #[derive(Deserialize)]
    struct Joins {
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        name: String,
        a: Vec<Row>,
        b: Vec<Row>,
        headings: Option<Vec<(String, Option<String>)>>,
        rows: Option<Vec<Vec<String>>>,
    }

    #[test]
    fn tables_are_joined_as_published() {
        let joins: Joins = serde_json::from_str(include_str!("../../../schema/joins.json")).unwrap();
        for Case { name, a, b, headings, rows } in joins.cases {
            let grid = join(&[("A".into(), &a), ("B".into(), &b)]);
            let (found_headings, found_rows) = grid.map_or((None, None), |grid| {
                let headings =
                    grid.headings.into_iter().map(|heading| (heading.text, heading.document)).collect();
                (Some(headings), Some(grid.rows))
            });
            assert_eq!(found_headings, headings, "{name}");
            assert_eq!(found_rows, rows, "{name}");
        }
    }

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
        let (small, large) = (map(&[("1", 0.0, 5.0)], &["4 KiB"]), map(&[("1", 0.0, 5.0)], &["8 KiB"]));
        assert_eq!(joined_pictures(vec![("a".into(), small.clone()), ("b".into(), large)], true).len(), 2);
        assert_eq!(joined_pictures(vec![("a".into(), small.clone())], true)[0].series.title, "Map · a");
        assert_eq!(joined_pictures(vec![("a".into(), small)], false)[0].series.title, "Map");
    }
}
