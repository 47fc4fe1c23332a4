//! Cleans up outputs that people passed on: quoted in a mail, indented, with numbered lines, from a
//! journal or a diff, in terminal colors, or in another system's encoding.

use std::sync::LazyLock;

use encoding_rs::UTF_8;
use likenew_core::input::{self, InputError};
use regex::Regex;

/// Turns bytes into the text that a program printed. Lines stay lines, so that their numbers are those of the file.
///
/// # Errors
/// The bytes are no text. In outputs about drives, bytes that are not UTF-8 are replaced, because a drive may have any name.
pub(crate) fn text(bytes: Vec<u8>, kind: input::FileKind) -> Result<String, InputError> {
    // Decodes by the byte-order mark, or else as UTF-8.
    let (text, _, has_unreadable) = UTF_8.decode(&bytes);
    if let Some(at) = text.find('\0') {
        return Err(InputError::NotText { line: 1 + text[..at].matches('\n').count() });
    }
    if has_unreadable && kind != input::OUTPUT {
        return input::text(bytes);
    }
    Ok(without_frame(&text))
}

/// Indent of a code block in Markdown; a tab is as good.
const INDENT: &str = "    ";

fn without_frame(text: &str) -> String {
    let colorless = anstream::adapter::strip_str(text).to_string();
    let end = if colorless.contains('\n') { "\r\n" } else { "\r" };
    let text = colorless.replace(end, "\n").replace('\u{a0}', " ");
    // A block of code begins after an empty line, and ends before the first line that is less indented.
    let (mut is_block, mut is_after_empty) = (false, true);
    let lines = without_margin(&text).into_iter().map(|line| {
        let line = without_marks(line);
        let is_empty = line.trim().is_empty();
        let inner = line.strip_prefix('\t').or_else(|| line.strip_prefix(INDENT));
        is_block = if is_block { is_empty || inner.is_some() } else { is_after_empty && inner.is_some() };
        is_after_empty = is_empty;
        inner.filter(|_| is_block).unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Removes what another program put before every line: a number, the mark of a diff or comment, or a journal's
/// time and program. A journal with kernel lines stays as it is, because these are read with time and program.
fn without_margin(text: &str) -> Vec<&str> {
    static MARGINS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
        [
            r"^\s*(?<number>\d+)(?:[:|)]?(?: |$)|\t)",
            r"^\s*(?<number>\d+)[:|)]",
            r"^(?:\+|@@ .*|(?:diff|index|---) .*)",
            r"^# ?",
            r"^(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT\S+) \S+ (?<program>[^\s:\[]+)(?:\[\d+\])?: ?",
        ]
        .map(|margin| Regex::new(margin).expect("the pattern is one"))
    });
    let lines: Vec<&str> = text.split('\n').collect();
    let inner = |margin: &Regex| {
        let mut numbers = Vec::new();
        let stripped = lines.iter().map(|line| {
            let Some(captures) = margin.captures(line) else { return line.is_empty().then_some(*line) };
            numbers.extend(captures.name("number").map(|number| number.as_str().parse().unwrap_or(u64::MAX)));
            let is_kernel = captures.name("program").is_some_and(|program| program.as_str() == "kernel");
            (!is_kernel).then_some(&line[captures[0].len()..])
        });
        let stripped: Vec<&str> = stripped.collect::<Option<_>>()?;
        let is_counting = numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
        // A single line that begins with a number has no margin.
        (is_counting && numbers.len() != 1).then_some(stripped)
    };
    MARGINS.iter().find_map(inner).unwrap_or(lines)
}

/// Removes the quote marks of a mail and the code tags of a page from a line.
fn without_marks(line: &str) -> &str {
    static MARKS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^(?:(?: ?>)+ ?)?(?:\[/?(?:code|quote)[^\]]*\]|</?(?:pre|code)\b[^>]*>|```\w*$)*")
            .expect("the pattern is one")
    });
    &line[MARKS.find(line).map_or(0, |marks| marks.end())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_some_lines_belongs_to_them() {
        for text in [
            "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.07 s, 518 MB/s\n",
            "  1 Raw_Read_Error_Rate 0x000f\n  3 Spin_Up_Time 0x0003\n",
            "# 1 Short offline\nNo Errors Logged",
            "Nov 30 07:12:31 nas kernel: ata1: SATA link up 6.0 Gbps\n",
        ] {
            assert_eq!(without_margin(text).join("\n"), text);
        }
    }
}
