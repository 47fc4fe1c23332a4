//! Draws a result as a picture for a forum, a review or an issue, without a browser: verdict, numbers, what was measured.

use likenew_core::findings::{OverviewRow, OverviewTable, Standing, standing};
use likenew_core::quantity::Share;
use maud::{Markup, html};
use unicode_width::UnicodeWidthStr as _;

use crate::labeled_document::LabeledDocument;
use crate::unit::clean;
use crate::wording;

/// Width of the picture in pixels: what forums and link previews show without scaling.
const WIDTH: f64 = 1200.0;
/// Space around everything, in pixels.
const MARGIN: f64 = 56.0;
/// Sizes of letters in pixels: for the verdict, the table, and what is below the table.
const VERDICT: f64 = 40.0;
const CELL: f64 = 26.0;
const NOTE: f64 = 20.0;
/// Mean width of the widest font's letters, as a share of their size. Chosen: of the fonts below DejaVu Sans is the widest.
const LETTER: f64 = 0.6;
/// Distance of lines, as a share of the size.
const LINE: f64 = 1.4;
/// Space between columns, in pixels.
const GAP: f64 = 36.0;
/// Most lines of the verdict.
const VERDICT_LINES: usize = 4;
/// Most rows of the table.
const ROWS: usize = 12;
/// Shortest full bar, in pixels.
const BAR_LEAST: f64 = 160.0;
/// Space for the number after a bar, in pixels.
const SHARE: f64 = 100.0;

const PAPER: &str = "#ffffff";
const INK: &str = "#1c2126";
const FAINT: &str = "#5d6670";
const RULE: &str = "#e1e4e8";
const BAR: &str = "#0b62c4";
const PROBLEM: &str = "#b3261e";
/// Share of its reference below which a bar has the color of a problem. Chosen: what is 5% slower is not called slow.
const SHARE_GOOD: f64 = 0.95;

/// Draws a document as SVG.
pub fn svg(labeled: &LabeledDocument) -> String {
    let document = &labeled.document;
    let standing = standing(&document.answers);
    let mark = wording::mark(standing);
    // The mark is a text of its own: not every font has it, and one that has it would be used for the whole line.
    let indented = if mark.is_some() { VERDICT } else { 0.0 };
    let verdict = lines(&clean(&wording::summary(document)), VERDICT, indented, VERDICT_LINES);
    let mut y = MARGIN;
    let mut below = |size: f64| {
        y += size * LINE;
        y
    };
    let drive = (below(CELL), drive(labeled));
    let verdict: Vec<(f64, String)> = verdict.into_iter().map(|line| (below(VERDICT), line)).collect();
    below(NOTE);
    let table = document.overview_table();
    let columns = table.map(Columns::new);
    let table = table.zip(columns.as_ref()).map(|(table, columns)| {
        let headings = (below(columns.size), &table.headings);
        let rows: Vec<(f64, &OverviewRow)> =
            table.rows.iter().take(ROWS).map(|row| (below(columns.size), row)).collect();
        (columns, headings, rows)
    });
    let rule = below(NOTE);
    let notes: Vec<(f64, String)> =
        lines(&conditions(labeled), NOTE, 0.0, 2).into_iter().map(|line| (below(NOTE), line)).collect();
    let height = y + MARGIN;
    let color = match standing {
        Standing::Problem => PROBLEM,
        Standing::Unknown => "#7a5200",
        Standing::Good => "#186b33",
        Standing::Info => INK,
    };
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height)
            viewBox={ "0 0 " (WIDTH) " " (height) } font-family=(wording::CARD_FONTS) {
            rect width=(WIDTH) height=(height) fill=(PAPER) {}
            (text(MARGIN, drive.0, CELL, FAINT, "start", &drive.1))
            @if let Some(mark) = mark { (text(MARGIN, verdict[0].0, VERDICT, color, "start", mark)) }
            @for (y, line) in &verdict { (text(MARGIN + indented, *y, VERDICT, color, "start", line)) }
            @if let Some((columns, (y, headings), rows)) = table {
                (columns.cells(y, FAINT, headings))
                @for (y, row) in rows {
                    (columns.cells(y, INK, &row.cells))
                    @if let Some(share) = row.share { (columns.bar(y, share)) }
                }
            }
            line x1=(MARGIN) x2=(WIDTH - MARGIN) y1=(rule) y2=(rule) stroke=(RULE) {}
            @for (y, line) in &notes { (text(MARGIN, *y, NOTE, FAINT, "start", line)) }
        }
    };
    picture.into_string()
}

/// What was measured, on which system, when, and by which program.
fn conditions(labeled: &LabeledDocument) -> String {
    let document = &labeled.document;
    let system = document.instrument.system.as_deref().map(clean);
    let date = labeled.started_at.as_deref().and_then(wording::minute);
    let measured = wording::measured_by(&document.procedure, &document.instrument.version);
    let parts = [Some(clean(&document.target.name)), system, date, Some(measured)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The drive by its model, or else by the target's name.
fn drive(labeled: &LabeledDocument) -> String {
    let target = &labeled.document.target;
    clean(target.model.as_deref().unwrap_or(&target.name))
}

/// The columns of a table, with letters small enough to fit all of them.
struct Columns {
    size: f64,
    /// Where each column ends; the first begins at the margin.
    ends: Vec<f64>,
}

impl Columns {
    fn new(table: &OverviewTable) -> Self {
        let letters = |column: usize| {
            let cells = table.rows.iter().take(ROWS).map(|row| clean(&row.cells[column]).width());
            cells.chain([table.headings[column].width()]).max().unwrap_or(0) as f64
        };
        let letters: Vec<f64> = (0..table.headings.len()).map(letters).collect();
        let width = letters.iter().map(|letters| letters * CELL * LETTER + GAP).sum::<f64>();
        let bar = if table.rows.iter().any(|row| row.share.is_some()) { BAR_LEAST + SHARE } else { 0.0 };
        let scale = ((WIDTH - 2.0 * MARGIN - bar) / width).min(1.0);
        let mut end = MARGIN - GAP * scale;
        let ends = letters.into_iter().map(|letters| {
            end += (letters * CELL * LETTER + GAP) * scale;
            end
        });
        Self { size: CELL * scale, ends: ends.collect() }
    }

    /// Draws a row: the first cell begins at the margin, the others end where their columns end.
    fn cells(&self, y: f64, color: &str, cells: &[String]) -> Markup {
        html! {
            @for (column, (cell, end)) in cells.iter().zip(&self.ends).enumerate() {
                @let (x, anchor) = if column == 0 { (MARGIN, "start") } else { (*end, "end") };
                (text(x, y, self.size, color, anchor, &clean(cell)))
            }
        }
    }

    /// Draws a share of a reference as a bar after the cells, with its number.
    fn bar(&self, y: f64, share: f64) -> Markup {
        let from = self.ends.last().map_or(MARGIN, |end| end + GAP);
        let (length, height) = (WIDTH - MARGIN - SHARE - from, self.size * 0.7);
        let color = if share < SHARE_GOOD { PROBLEM } else { BAR };
        html! {
            rect x=(from) y=(y - height) width=(length) height=(height) fill=(RULE) rx="3" {}
            rect x=(from) y=(y - height) width=(length * share.clamp(0.0, 1.0)) height=(height) fill=(color) rx="3" {}
            (text(WIDTH - MARGIN, y, self.size, INK, "end", &Share(share).to_string()))
        }
    }
}

fn text(x: f64, y: f64, size: f64, color: &str, anchor: &str, words: &str) -> Markup {
    html! { text x=(x) y=(y) font-size=(size) fill=(color) text-anchor=(anchor) { (words) } }
}

/// Breaks a text into lines between the margins; what does not fit into `most` lines ends with "…".
fn lines(text: &str, size: f64, indented: f64, most: usize) -> Vec<String> {
    let width = ((WIDTH - 2.0 * MARGIN - indented) / (size * LETTER)) as usize;
    let mut lines: Vec<String> =
        textwrap::wrap(text, width).into_iter().map(std::borrow::Cow::into_owned).collect();
    if lines.len() > most {
        lines.truncate(most);
        lines[most - 1].push('…');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labeled_document::label_all;
    use crate::tests::fixtures;

    fn sick() -> LabeledDocument {
        let mut document = fixtures::sick();
        document.summary = "Writes are slow <at> 20 MB/s & 26% of new.".into();
        let mut table = OverviewTable::new(["", "now", "when new"]);
        table.push_with_share(["sustained write", "20.0 MB/s", "77.0 MB/s"], Some(0.26));
        table.push(["random write", "1,000 IOPS", ""]);
        document.overview.table = Some(table);
        label_all(vec![document]).remove(0)
    }

    /// The texts in a picture with their positions.
    fn texts(svg: &str) -> Vec<(f64, f64, String)> {
        let number = |tag: &str, name: &str| -> f64 {
            tag.split_once(&format!("{name}=\"")).unwrap().1.split('"').next().unwrap().parse().unwrap()
        };
        let tags = svg.split("<text ").skip(1);
        tags.map(|tag| {
            let words = tag.split_once('>').unwrap().1.split("</text>").next().unwrap();
            (number(tag, "x"), number(tag, " y"), words.to_owned())
        })
        .collect()
    }

    #[test]
    fn a_card_says_verdict_numbers_and_what_was_measured() {
        let svg = svg(&sick());
        let texts = texts(&svg);
        let words: Vec<&str> = texts.iter().map(|(.., words)| words.as_str()).collect();
        assert_eq!(words[1], "✗");
        assert!(words[2].contains("Writes are slow &lt;at&gt; 20 MB/s &amp; 26% of new."), "{words:?}");
        for cell in ["sustained write", "20.0 MB/s", "77.0 MB/s", "26%", "random write"] {
            assert!(words.contains(&cell), "{cell} in {words:?}");
        }
        assert!(words.last().unwrap().contains("likenew"), "{words:?}");
        assert!(texts.iter().all(|(x, y, _)| (0.0..=WIDTH).contains(x) && *y > 0.0), "{texts:?}");
        assert_eq!(svg.matches("<rect").count(), 1 + 2, "paper, and one bar");
    }

    #[test]
    fn a_wide_table_is_drawn_smaller_and_a_long_verdict_ends() {
        let mut wide = sick();
        let columns: Vec<String> = (0..8).map(|column| format!("a long heading {column}")).collect();
        let mut table = OverviewTable::new(columns.clone());
        table.push_with_share(columns, Some(1.2));
        wide.document.overview.table = Some(table);
        wide.document.summary = "slow ".repeat(100);
        let svg = svg(&wide);
        let texts = texts(&svg);
        assert!(texts.iter().all(|(x, ..)| *x <= WIDTH - MARGIN + 0.1), "{texts:?}");
        assert!(texts[VERDICT_LINES + 1].2.ends_with('…'), "{texts:?}");
    }
}
