//! What programs printed, as people pass it on: quoted in a mail, indented in a page, in the colors of a terminal, in the units of
//! another system.

use std::sync::LazyLock;

use encoding_rs::UTF_8;
use likenew_core::input::{self, InputError};
use regex::Regex;

/// Bytes as the text that a program printed. Lines stay lines, so that their numbers are those of the file.
///
/// # Errors
/// They are no text. In what programs print of drives, bytes that are no UTF-8 are replaced: a drive may give itself any name.
pub(crate) fn text(bytes: Vec<u8>, kind: input::Kind) -> Result<String, InputError> {
    // By its byte-order mark, or else UTF-8.
    let (text, _, has_unreadable) = UTF_8.decode(&bytes);
    if let Some(at) = text.find('\0') {
        return Err(InputError::NotText { line: 1 + text[..at].matches('\n').count() });
    }
    if has_unreadable && kind != input::OUTPUT {
        return input::text(bytes);
    }
    Ok(without_frame(&text))
}

/// Spaces before the lines of a block of code in Markdown; a tab is as good.
const INDENT: &str = "    ";

fn without_frame(text: &str) -> String {
    let colorless = anstream::adapter::strip_str(text).to_string();
    let end = if colorless.contains('\n') { "\r\n" } else { "\r" };
    let text = colorless.replace(end, "\n").replace('\u{a0}', " ");
    // A block of code begins after an empty line, and ends before the first line that is less indented.
    let (mut is_block, mut is_after_empty) = (false, true);
    let lines = text.split('\n').map(|line| {
        let line = without_marks(line);
        let is_empty = line.trim().is_empty();
        let inner = line.strip_prefix('\t').or_else(|| line.strip_prefix(INDENT));
        is_block = if is_block { is_empty || inner.is_some() } else { is_after_empty && inner.is_some() };
        is_after_empty = is_empty;
        inner.filter(|_| is_block).unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A line without the marks of those who quoted it, and of the page that it stood in.
fn without_marks(line: &str) -> &str {
    static MARKS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^(?:(?: ?>)+ ?)?(?:\[/?(?:code|quote)[^\]]*\]|</?(?:pre|code)\b[^>]*>|```\w*$)*")
            .expect("the pattern is one")
    });
    &line[MARKS.find(line).map_or(0, |marks| marks.end())..]
}
