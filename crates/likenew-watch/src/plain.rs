//! One interval as a plain table, for output without a keyboard.

use unicode_width::UnicodeWidthStr as _;

use crate::column::{Column, Units, fit};
use crate::drive_history::DriveHistory;
use crate::theme::Theme;

/// The drives as lines of text under a head, at most `width` wide; ends with a newline.
pub fn table(histories: &[&DriveHistory], width: usize, theme: Theme) -> String {
    let mut columns = fit(u16::try_from(width).unwrap_or(u16::MAX), histories);
    columns.retain(|(column, _)| *column != Column::History);
    let line = |cells: &dyn Fn(Column) -> String| {
        let cells = columns.iter().map(|(column, width)| {
            let text = theme.text(&cells(*column));
            let blanks = " ".repeat(usize::from(*width).saturating_sub(text.width()));
            if column.is_text() { text + &blanks } else { blanks + &text }
        });
        let line = cells.collect::<Vec<_>>().join(" ");
        format!("{}\n", line.trim_end())
    };
    let units = Units::Decimal;
    let mut text = line(&|column| column.title(units)[0].to_owned())
        + &line(&|column| column.title(units)[1].to_owned());
    for history in histories {
        text += &line(&|column| column.cell(history, units));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drives::tests::{at, reading};
    use crate::drives::{Drives, Scope};

    #[test]
    fn a_table_is_plain_text() {
        let mut drives = Drives::default();
        drives.take(at(0, vec![reading("sda", 1, 0, "0 0 0 0 0 0 0 0 0 0 0")]));
        drives.take(at(1000, vec![reading("sda", 1, 1000, "50 0 8192 30 9 0 72 0 1 250 60")]));
        let histories: Vec<&DriveHistory> = drives.in_scope(&Scope::default()).collect();
        insta::assert_snapshot!(table(&histories, 80, Theme { ascii: true, color: false }));
    }
}
