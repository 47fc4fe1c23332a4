//! Tables whose columns are aligned by blanks, as lsblk, df, nvme list and PowerShell print them.

/// A row: its cells by the names of their columns.
pub(super) struct Row {
    /// Blanks and branches of a tree before its first word, in characters.
    pub(super) indent: usize,
    cells: Vec<(String, String)>,
}

impl Row {
    /// The cell in the first of these columns that the table has; `None` if it is empty.
    pub(super) fn get(&self, names: &[&str]) -> Option<&str> {
        let is_it = |heading: &str, name: &str| {
            heading.replace('_', " ").eq_ignore_ascii_case(&name.replace('_', " "))
        };
        let cell = |name: &&str| self.cells.iter().find(|(heading, _)| is_it(heading, name));
        names.iter().find_map(cell).map(|(_, text)| &**text).filter(|text| !text.is_empty())
    }
}

/// Headings with a blank inside.
const TWO_WORDS: [&str; 2] = ["Mounted on", "FW Rev"];

/// The rows below a line of headings. Columns are separated where all lines have a blank.
pub(super) fn rows(lines: &[&str]) -> Vec<Row> {
    let joined = |line: &&str| {
        TWO_WORDS.iter().fold((*line).to_owned(), |line, words| line.replace(words, &words.replace(' ', "_")))
    };
    let head = lines.first().map(joined).unwrap_or_default();
    let lines = std::iter::once(&*head).chain(lines.iter().skip(1).copied());
    let lines: Vec<Vec<char>> = lines.map(|line| line.trim_end().chars().collect()).collect();
    let [head, rest @ ..] = &lines[..] else { return Vec::new() };
    let rest: Vec<&Vec<char>> = rest.iter().filter(|line| !is_rule(line)).collect();
    let width = lines.iter().map(Vec::len).max().unwrap_or_default();
    let is_blank = |at: usize| {
        std::iter::once(&head).chain(&rest).all(|line| line.get(at).is_none_or(|c| c.is_whitespace()))
    };
    let mut columns: Vec<std::ops::Range<usize>> = Vec::new();
    for at in (0..width).filter(|at| !is_blank(*at)) {
        match columns.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => columns.push(at..at + 1),
        }
    }
    // A column without a heading belongs to the column before.
    let has_heading = |column: &std::ops::Range<usize>| {
        column.clone().any(|at| head.get(at).is_some_and(|c| !c.is_whitespace()))
    };
    columns = columns.into_iter().fold(Vec::new(), |mut columns: Vec<std::ops::Range<usize>>, column| {
        match columns.last_mut() {
            Some(last) if !has_heading(&column) => last.end = column.end,
            _ => columns.push(column),
        }
        columns
    });
    let cell = |line: &[char], column: &std::ops::Range<usize>| -> String {
        let inside = line.get(column.start..column.end.min(line.len())).unwrap_or_default();
        inside.iter().collect::<String>().trim().to_owned()
    };
    let names: Vec<String> = columns.iter().map(|column| cell(head, column)).collect();
    let row = |line: &&Vec<char>| Row {
        indent: line.iter().take_while(|c| !c.is_alphanumeric()).count(),
        cells: names.iter().cloned().zip(columns.iter().map(|column| cell(line, column))).collect(),
    };
    rest.iter().map(row).collect()
}

/// A line that only separates.
fn is_rule(line: &[char]) -> bool {
    line.iter().all(|c| c.is_whitespace() || matches!(c, '-' | '='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_what_blanks_separate_in_all_lines() {
        let text = [
            "NAME     MODEL        SIZE Mounted on",
            "-------- -----------  ---- ----------",
            "sda      SSD 860 EVO  1.8T",
            "└─sda1                1.8T /mnt/my data",
        ];
        let rows = rows(&text);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].get(&["name"]), rows[0].get(&["mounted on"])), (Some("sda"), None));
        assert_eq!((rows[0].get(&["model"]), rows[1].get(&["model"])), (Some("SSD 860 EVO"), None));
        assert_eq!((rows[1].indent, rows[1].get(&["SIZE"])), (2, Some("1.8T")));
        assert_eq!(rows[1].get(&["mounted on"]), Some("/mnt/my data"));
    }
}
