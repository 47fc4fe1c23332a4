//! Documents of one procedure side by side: tables joined row by row, series in one chart.

mod join;
mod pictures;

use indexmap::IndexSet;
use likenew_core::findings::{Row, Series};

use crate::document::COMPARISON;
use crate::grid::Grid;
use crate::labeled_document::{LabeledDocument, short_names};
use crate::unit::clean;
pub(crate) use pictures::Picture;

/// Documents of one procedure.
pub(crate) struct Group<'a> {
    /// The procedure.
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
    groups.iter_mut().for_each(Group::name);
    groups
}

impl Group<'_> {
    fn name(&mut self) {
        self.names = short_names(self.members.iter().map(|member| member.label.as_str()));
    }

    /// All tables with their titles, in the order of the documents: joined if the rows of the members
    /// correspond, otherwise separate.
    pub(crate) fn tables(&self) -> Vec<(String, Grid)> {
        let names: IndexSet<&String> = self.members.iter().flat_map(|m| m.document.tables.keys()).collect();
        names.into_iter().flat_map(|name| self.table(name)).collect()
    }

    fn table(&self, name: &str) -> Vec<(String, Grid)> {
        let title = clean(name).replace('_', " ");
        let members = self.members.iter().zip(&self.names);
        let tables: Vec<(String, &[Row])> = members
            .filter_map(|(member, of)| {
                member.document.tables.get(name).map(|rows| (of.clone(), rows.as_slice()))
            })
            .collect();
        if self.members.len() == 1 {
            return tables.into_iter().map(|(_, rows)| (title.clone(), Grid::from_rows(rows))).collect();
        }
        match join::join(&tables) {
            Some(grid) => vec![(title, grid)],
            None => tables
                .into_iter()
                .map(|(of, rows)| (format!("{title}, {of}"), Grid::from_rows(rows)))
                .collect(),
        }
    }

    /// All charts, in the order of the documents: in one chart if their axes agree, otherwise separate.
    pub(crate) fn pictures(&self) -> Vec<Picture> {
        let names: IndexSet<&String> = self.members.iter().flat_map(|m| m.document.series.keys()).collect();
        let of = |name: &String| -> Vec<(String, Series)> {
            let members = self.members.iter().zip(&self.names);
            let series = members
                .filter_map(|(member, of)| Some((of.clone(), member.document.series.get(name)?.clone())));
            series.collect()
        };
        let several = self.members.len() > 1;
        names.into_iter().flat_map(|name| pictures::joined_pictures(of(name), several)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::grid::Heading;
    use crate::labeled_document::label_all;

    fn heads(grid: &Grid) -> Vec<String> {
        let head = |heading: &Heading| match &heading.document {
            Some(of) => format!("{} [{of}]", heading.text),
            None => heading.text.clone(),
        };
        grid.headings.iter().map(head).collect()
    }

    fn single_document<'a>(tables: &'a [(String, Grid)], title: &str) -> &'a Grid {
        let found: Vec<&Grid> = tables.iter().filter(|(t, _)| t == title).map(|(_, grid)| grid).collect();
        assert_eq!(found.len(), 1, "{title} among {:?}", tables.iter().map(|(t, _)| t).collect::<Vec<_>>());
        found[0]
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

        let mut other = fixtures::bench("a long label", 1.0);
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
}
