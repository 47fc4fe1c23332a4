//! Finds the document in what fio has printed.

use serde_json::Value;

use super::{ImportError, OtherText};

/// The last document of a text, and how many there are. Lines around them are messages of fio.
pub(super) fn last(text: &str) -> Result<(Value, usize), ImportError> {
    if text.trim_start().starts_with(['[', '<']) {
        return Err(ImportError::NotFio(other_text(text)));
    }
    let (mut at, mut found, mut count) = (0, None, 0);
    while let Some(start) = next_brace(text, at) {
        let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match documents.next() {
            Some(Ok(value)) => found = Some(value),
            Some(Err(error)) => return Err(malformed_error(text, start, &error)),
            None => unreachable!("a text that begins with a brace is not empty"),
        }
        count += 1;
        at = start + documents.byte_offset();
    }
    found.map(|value| (value, count)).ok_or_else(|| ImportError::NotFio(other_text(text)))
}

/// The next brace that opens a line.
fn next_brace(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        let blank = line.len() - line.trim_start().len();
        if line[blank..].starts_with('{') {
            return Some(at + blank);
        }
        at += line.len();
    }
    None
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
