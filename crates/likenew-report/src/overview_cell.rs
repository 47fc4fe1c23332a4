//! Which columns of an overview are numbers.

use likenew_core::findings::OverviewRow;

use crate::column::MISSING;

/// Whether all cells of this column are numbers or missing, and one is there.
pub(crate) fn is_number_column(rows: &[OverviewRow], at: usize) -> bool {
    let is_missing = |cell: &&String| cell.is_empty() || *cell == MISSING;
    let cells = rows.iter().filter_map(|row| row.cells.get(at));
    let mut present = cells.filter(|cell| !is_missing(cell)).peekable();
    present.peek().is_some() && present.all(|cell| is_number(cell))
}

/// Whether a cell is a number with its unit, or several, such as `3 h 20 min` and `19.8 MB/s (15.9–24.7)`. `4K random
/// read` is none.
fn is_number(cell: &str) -> bool {
    let is_value = |word: &str| {
        let word = word.trim_matches(['(', ')', '±', '+', '~', '<', '>', '≤', '≥', '≈', ',', ';']);
        word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '–' | '%' | '×' | '-' | '−' | 'e'))
    };
    let mut after_value = false;
    let mut has_digit = false;
    for word in cell.split_ascii_whitespace() {
        let value = is_value(word);
        // A unit follows its number, and nothing else does.
        if !value && !after_value {
            return false;
        }
        has_digit |= value && word.contains(|c: char| c.is_ascii_digit());
        after_value = value;
    }
    has_digit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_words_that_begin_with_one() {
        let numbers = [
            "254 MB/s",
            "4,940 IOPS",
            "19.8 MB/s (15.9–24.7)",
            "31–33",
            "26%",
            "−34%",
            "3 h 20 min",
            "± 2%",
            "2.5×",
            "≥ 8 MiB",
        ];
        for number in numbers {
            assert!(is_number(number), "{number}");
        }
        let words =
            ["4K random read", "flash", "4 KiB random reads", "", "–", "not possible: ignores TRIM", "512B"];
        for words in words {
            assert!(!is_number(words), "{words}");
        }
    }

    #[test]
    fn missing_cells_do_not_make_a_column_words() {
        let row = |cell: &str| OverviewRow { cells: vec![cell.into()], share: None };
        assert!(is_number_column(&[row("1 MB/s"), row("–"), row("")], 0));
        assert!(!is_number_column(&[row("–"), row("")], 0));
        assert!(!is_number_column(&[row("1 MB/s"), row("unknown")], 0));
    }
}
