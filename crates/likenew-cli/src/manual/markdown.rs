//! Turns Markdown into roff, as far as the manuals of procedures and causes use it.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use roff::{Inline, Roff, bold, italic, roman};

/// Appends a text below a heading. Its title is left out: the page has one already.
pub(super) fn append(page: &mut Roff, text: &str) {
    let mut writer = Writer {
        page,
        inlines: Vec::new(),
        style: Style::Roman,
        lists: Vec::new(),
        rows: Vec::new(),
        is_below_heading: true,
    };
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        writer.take(event);
    }
}

/// The title of a text.
pub(super) fn title(text: &str) -> Option<String> {
    text.lines().next()?.strip_prefix("# ").map(str::to_owned)
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Roman,
    Bold,
    Italic,
    /// Lines as they are.
    Literal,
    /// The title, or something else that is not shown.
    Hidden,
}

type Cell = Vec<Inline>;

/// Columns whose cells are all at most this many characters wide are never wrapped. Chosen: a name and its unit fit.
const UNWRAPPED_CHARACTERS_MAX: usize = 24;

struct Writer<'a> {
    page: &'a mut Roff,
    /// The paragraph, item or cell so far.
    inlines: Vec<Inline>,
    style: Style,
    /// The open lists, innermost last. Each has the number of its next item, if it is numbered.
    lists: Vec<Option<u64>>,
    /// The rows of the open table.
    rows: Vec<Vec<Cell>>,
    /// Whether nothing stands below the last heading yet, so that no space is needed.
    is_below_heading: bool,
}

impl Writer<'_> {
    fn take(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.push(&text),
            Event::Code(text) => self.inlines.push(bold(text.into_string())),
            Event::SoftBreak => self.push(" "),
            Event::HardBreak => self.inlines.push(Inline::LineBreak),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        match self.style {
            Style::Roman => self.inlines.push(roman(text)),
            Style::Bold => self.inlines.push(bold(text)),
            Style::Italic => self.inlines.push(italic(text)),
            Style::Literal => {
                for line in text.lines() {
                    // Empty lines inside a block are kept.
                    self.page.text([roman(if line.is_empty() { " " } else { line })]);
                }
            }
            Style::Hidden => {}
        }
    }

    fn start(&mut self, tag: Tag) {
        match tag {
            Tag::Heading { level: pulldown_cmark::HeadingLevel::H1, .. } => self.style = Style::Hidden,
            Tag::Paragraph if self.lists.is_empty() => self.begin_paragraph(),
            Tag::Strong => self.style = Style::Bold,
            Tag::Emphasis => self.style = Style::Italic,
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.flush();
                self.begin_paragraph();
                self.page.control("RS", ["4"]);
                self.page.control("EX", []);
                self.style = Style::Literal;
            }
            Tag::List(first) => {
                self.flush();
                if !self.lists.is_empty() {
                    self.page.control("RS", []);
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.is_below_heading = false;
                match self.lists.last_mut() {
                    Some(Some(number)) => {
                        self.page.control("IP", [format!("{number}.").as_str(), "4"]);
                        *number += 1;
                    }
                    _ => {
                        self.page.control("IP", [r"\(bu", "2"]);
                    }
                };
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) if self.style == Style::Hidden => self.style = Style::Roman,
            TagEnd::Heading(_) => {
                let title = text(std::mem::take(&mut self.inlines));
                self.page.control("SS", [title.as_str()]);
                self.is_below_heading = true;
            }
            TagEnd::Paragraph | TagEnd::Item => self.flush(),
            TagEnd::Strong | TagEnd::Emphasis => self.style = Style::Roman,
            TagEnd::CodeBlock => {
                self.style = Style::Roman;
                self.page.control("EE", []);
                self.page.control("RE", []);
            }
            TagEnd::List(_) => {
                self.lists.pop();
                if !self.lists.is_empty() {
                    self.page.control("RE", []);
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inlines);
                self.rows.last_mut().expect("a cell stands in a row").push(cell);
            }
            TagEnd::Table => self.table(),
            _ => {}
        }
    }

    /// Writes the table for tbl. Wide columns share the rest of the line.
    fn table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let columns = rows.first().map_or(0, Vec::len);
        let is_wide: Vec<bool> = (0..columns)
            .map(|column| rows.iter().any(|row| characters(&row[column]) > UNWRAPPED_CHARACTERS_MAX))
            .collect();
        let format: Vec<&str> = is_wide.iter().map(|is_wide| if *is_wide { "lx" } else { "l" }).collect();
        self.begin_paragraph();
        // Narrow cells cannot be filled to both margins.
        self.page.control("ad", ["l"]);
        self.page.control("TS", []);
        self.page.text([roman(format!("{}.", format.join(" ")))]);
        for (number, row) in rows.into_iter().enumerate() {
            let mut line = Vec::new();
            for (column, cell) in row.into_iter().enumerate() {
                if column > 0 {
                    line.push(roman("\t"));
                }
                let cell = if number == 0 { vec![bold(text(cell))] } else { cell };
                if is_wide[column] && !cell.is_empty() {
                    line.push(roman("T{"));
                    self.page.text(std::mem::take(&mut line));
                    self.page.text(cell);
                    line.push(roman("T}"));
                } else {
                    line.extend(cell);
                }
            }
            self.page.text(line);
        }
        self.page.control("TE", []);
        self.page.control("ad", []);
    }

    fn begin_paragraph(&mut self) {
        if !std::mem::take(&mut self.is_below_heading) {
            self.page.control("PP", []);
        }
    }

    fn flush(&mut self) {
        if !self.inlines.is_empty() {
            self.page.text(std::mem::take(&mut self.inlines));
        }
    }
}

/// The text without its styles.
fn text(inlines: Vec<Inline>) -> String {
    inlines
        .into_iter()
        .map(|inline| match inline {
            Inline::Roman(text) | Inline::Bold(text) | Inline::Italic(text) => text,
            Inline::LineBreak => " ".to_owned(),
        })
        .collect()
}

fn characters(cell: &Cell) -> usize {
    text(cell.clone()).chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roff(markdown: &str) -> String {
        let mut page = Roff::new();
        append(&mut page, markdown);
        page.to_roff()
    }

    #[test]
    fn paragraphs_lists_and_literal_lines_keep_their_order() {
        let page = roff(
            "# Title\n\nA **bold** and `--code`.\n\n## More\n\n1. one\n2. two\n   - in\n\n```sh\na -b\n\n.c\n```\n",
        );
        assert_eq!(
            page,
            "A \\fBbold\\fR and \\fB\\-\\-code\\fR.\n.SS More\n.IP 1. 4\none\n.IP 2. 4\ntwo\n.RS\n.IP \\(bu 2\nin\n.RE\n\
             .PP\n.RS 4\n.EX\na \\-b\n \n\\&.c\n.EE\n.RE\n"
        );
    }

    #[test]
    fn wide_columns_of_a_table_are_wrapped_and_narrow_ones_are_not() {
        let page = roff("| id | meaning |\n|---|---|\n| `a` | what this one means in a sentence |\n");
        assert_eq!(
            page,
            ".ad l\n.TS\nl lx.\n\\fBid\\fR\tT{\n\\fBmeaning\\fR\nT}\n\\fBa\\fR\tT{\nwhat this one means in a sentence\nT}\n.TE\n.ad\n"
        );
    }
}
