//! Finds the document in what fio has printed.

use std::borrow::Cow;

use serde_json::Value;

use super::{ImportError, OtherText};

/// The first key of each of fio's documents.
const FIRST_KEY: &str = "\"fio version\"";

/// The last document of a text, and how many there are. What is around them are messages of fio and of others.
pub(super) fn last(text: &str) -> Result<(Value, usize), ImportError> {
    let text = without_prefixes(text.trim_start_matches('\u{feff}'));
    let text = text.as_ref();
    if text.trim_start().starts_with(['[', '<']) {
        return Err(ImportError::NotFio(other_text(text)));
    }
    let (mut at, mut found, mut other, mut count) = (0, None, None, 0);
    while let Some(start) = next_brace(text, at) {
        let is_fios = text[start + 1..].trim_start().starts_with(FIRST_KEY);
        let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        at = start + 1;
        match documents.next() {
            Some(Ok(value)) => {
                at = start + documents.byte_offset();
                count += usize::from(is_fios);
                *(if is_fios { &mut found } else { &mut other }) = Some(Ok(value));
            }
            Some(Err(error)) if is_fios => return Err(malformed_error(text, start, &error)),
            Some(Err(error)) => {
                other.get_or_insert_with(|| Err(malformed_error(text, start, &error)));
            }
            None => unreachable!("a text that begins with a brace is not empty"),
        }
    }
    match found.or(other) {
        Some(value) => Ok((value?, count.max(1))),
        None => Err(ImportError::NotFio(other_text(text))),
    }
}

/// Without what a log puts before each line, such as a time: as much as is before the first key of a document.
fn without_prefixes(text: &str) -> Cow<'_, str> {
    let key = text.find(FIRST_KEY);
    let before = key.map_or("", |key| text[..key].rsplit('\n').next().unwrap_or_default().trim_end());
    if before.is_empty() || before.contains(['{', '\r']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_inclusive('\n').map(|line| line.get(before.len()..).unwrap_or(line)).collect())
}

/// The next brace that opens a line; a carriage return begins one, too, as after fio's progress.
fn next_brace(text: &str, from: usize) -> Option<usize> {
    let is_first = |at: usize| text[..at].trim_end_matches([' ', '\t']).ends_with(['\n', '\r']);
    let mut braces = text[from..].match_indices('{').map(|(at, _)| from + at);
    braces.find(|at| text[..*at].trim().is_empty() || is_first(*at))
}

fn malformed_error(text: &str, start: usize, error: &serde_json::Error) -> ImportError {
    let lines_before = text[..start].matches('\n').count();
    let column_before = start - text[..start].rfind('\n').map_or(0, |end| end + 1);
    let column = if error.line() == 1 { column_before } else { 0 } + error.column();
    let message = error.to_string();
    let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason).to_owned();
    let line = lines_before + error.line();
    match error.is_eof() {
        true => ImportError::CutOff { line, column, reason },
        false => ImportError::Malformed { line, column, reason },
    }
}

/// What a text is that is not fio's JSON.
fn other_text(text: &str) -> OtherText {
    let start = text.trim_start();
    let is_terse = start.split(';').nth(1).is_some_and(|field| field.starts_with("fio-"));
    match start {
        "" => OtherText::Empty,
        _ if start.starts_with('<') => OtherText::Markup,
        _ if start.starts_with('[') => OtherText::List,
        _ if is_terse => OtherText::Terse,
        _ if start.contains("IOPS=") || start.contains("Run status group") => OtherText::Normal,
        _ => OtherText::NoObject,
    }
}
