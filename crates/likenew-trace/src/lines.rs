//! Splits a stream of bytes into lines or records in a buffer of fixed size, and lines into fields.

use std::io::{self, Read};

use super::error::LineError;
use super::wording::expected;

/// Most bytes of a line. Chosen: no format has longer ones, and a file without line ends must not fill the memory.
pub(crate) const LINE_MAX: usize = 64 << 10;

/// Room for several of the longest lines or records.
const BUFFER: usize = 256 << 10;

/// How a file is divided.
#[derive(Clone, Copy)]
pub(crate) enum Framing {
    /// Into lines.
    Lines,
    /// Into binary records.
    Records {
        /// Length of the first record, once all its bytes are there; it must fit the buffer.
        length: fn(&[u8]) -> Option<usize>,
        /// Time of a record's event, in nanoseconds.
        time: fn(&[u8]) -> u64,
    },
}

impl Framing {
    /// Time of a record's event, in nanoseconds. Lines need none here: they come from one file.
    pub(crate) fn time(self, record: &[u8]) -> u64 {
        match self {
            Self::Lines => 0,
            Self::Records { time, .. } => time(record),
        }
    }

    /// Whether files are text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Lines)
    }

    /// Length of the first line or record, and of its line end.
    fn first(self, bytes: &[u8]) -> Option<(usize, usize)> {
        match self {
            Self::Lines => memchr::memchr(b'\n', bytes).map(|length| (length, 1)),
            Self::Records { length, .. } => length(bytes).map(|length| (length, 0)),
        }
    }
}

/// The position of a line in the buffer of its [`Lines`].
pub(crate) struct Line {
    /// First byte.
    from: usize,
    /// End of the line, without its line end.
    to: usize,
    /// Whether a line end followed.
    pub(crate) is_complete: bool,
}

/// Why the next line cannot be read.
#[derive(Debug)]
pub(crate) enum ReadFailure {
    /// The line is longer than [`LINE_MAX`].
    Endless,
    /// The stream failed.
    Stream(io::Error),
}

/// Splits a stream of bytes into lines or records.
pub(crate) struct Lines {
    stream: Box<dyn Read + Send>,
    framing: Framing,
    buffer: Box<[u8]>,
    /// The bytes that were read and not returned yet.
    from: usize,
    to: usize,
    at_end: bool,
    /// The error that ended the stream; returned after the lines before it.
    failure: Option<io::Error>,
    number: u64,
}

impl Lines {
    pub(crate) fn new(stream: Box<dyn Read + Send>) -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        let framing = Framing::Lines;
        let mut lines =
            Self { stream, framing, buffer, from: 0, to: 0, at_end: false, failure: None, number: 0 };
        lines.fill();
        // Some editors begin a file with a byte order mark.
        if lines.buffer[..lines.to].starts_with(b"\xef\xbb\xbf") {
            lines.from = 3;
        }
        lines
    }

    /// Divides the file in another way than into lines.
    pub(crate) fn set_framing(&mut self, framing: Framing) {
        self.framing = framing;
    }

    /// The first bytes of the stream, as far as the buffer holds them.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.buffer[self.from..self.to]
    }

    /// Takes the error that ended the stream, if any.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Number of the latest line, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn text(&self, line: &Line) -> &[u8] {
        &self.buffer[line.from..line.to]
    }

    /// The next line, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, ReadFailure> {
        loop {
            if let Some((length, end)) = self.framing.first(&self.buffer[self.from..self.to]) {
                return self.hand_out(length, Some(end)).map(Some);
            }
            if self.at_end {
                break;
            }
            if self.framing.is_text() && self.to - self.from > LINE_MAX {
                self.number += 1;
                return Err(ReadFailure::Endless);
            }
            self.fill();
        }
        if self.from < self.to {
            return self.hand_out(self.to - self.from, None).map(Some);
        }
        self.failure.take().map_or(Ok(None), |error| Err(ReadFailure::Stream(error)))
    }

    /// Returns the next line. `end` is the length of its line end, if it has one.
    fn hand_out(&mut self, length: usize, end: Option<usize>) -> Result<Line, ReadFailure> {
        let from = self.from;
        self.from += length + end.unwrap_or(0);
        self.number += 1;
        let is_text = self.framing.is_text();
        if is_text && length > LINE_MAX {
            return Err(ReadFailure::Endless);
        }
        let returns = is_text && self.buffer[from..from + length].ends_with(b"\r");
        Ok(Line { from, to: from + length - usize::from(returns), is_complete: end.is_some() })
    }

    fn fill(&mut self) {
        self.buffer.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        self.from = 0;
        while self.to < self.buffer.len() && !self.at_end {
            match self.stream.read(&mut self.buffer[self.to..]) {
                Ok(0) => self.at_end = true,
                Ok(read) => self.to += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.at_end = true;
                    self.failure = Some(error);
                }
            }
        }
    }
}

/// Reads the fields of a line one after the other.
pub(crate) struct Cursor<'l> {
    line: &'l [u8],
    at: usize,
}

impl<'l> Cursor<'l> {
    pub(crate) fn new(line: &'l [u8]) -> Self {
        Self { line, at: 0 }
    }

    /// Bytes of the line that were read so far.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The rest of the line.
    pub(crate) fn rest(&self) -> &'l [u8] {
        &self.line[self.at..]
    }

    pub(crate) fn line_error(&self, expected: &'static str) -> LineError {
        LineError::at(self.at, expected)
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    /// Skips this byte, if it is the next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Skips this byte, which must be next.
    pub(crate) fn pass(&mut self, byte: u8, expected: &'static str) -> Result<(), LineError> {
        if self.take(byte) { Ok(()) } else { Err(self.line_error(expected)) }
    }

    /// Skips one or more blanks.
    pub(crate) fn blanks(&mut self, expected: &'static str) -> Result<(), LineError> {
        let from = self.at;
        self.skip_blanks();
        if self.at > from { Ok(()) } else { Err(self.line_error(expected)) }
    }

    pub(crate) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Reads a whole number of at most 64 bits.
    #[inline]
    pub(crate) fn number(&mut self, expected: &'static str) -> Result<u64, LineError> {
        let rest = self.rest();
        let (mut value, mut digits) = (0u64, 0);
        while let Some(eight) =
            rest.get(digits..digits + 8).and_then(|bytes| eight_digits(bytes.try_into().ok()?))
        {
            value = value.wrapping_mul(100_000_000).wrapping_add(eight);
            digits += 8;
        }
        while let Some(digit) =
            rest.get(digits).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10)
        {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += 1;
        }
        // Nineteen digits always fit; only longer numbers need a check.
        if digits == 0 || digits > 19 && !fits(&rest[..digits]) {
            return Err(self.line_error(expected));
        }
        self.at += digits;
        Ok(value)
    }

    /// Reads seconds with up to nine decimals, as nanoseconds. Further decimals must be zeros.
    pub(crate) fn seconds(&mut self, expected: &'static str) -> Result<u64, LineError> {
        let from = self.at;
        let whole = self.number(expected)?.checked_mul(1_000_000_000).ok_or(LineError::at(from, expected))?;
        if !self.take(b'.') {
            return Ok(whole);
        }
        let (mut part, mut place) = (0u64, 100_000_000u64);
        let digits = self.at;
        while let Some(digit) = self.peek().map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
            if place == 0 && digit != 0 {
                return Err(LineError::at(from, expected));
            }
            part += u64::from(digit) * place;
            place /= 10;
            self.at += 1;
        }
        match whole.checked_add(part) {
            Some(total) if self.at > digits => Ok(total),
            _ => Err(LineError::at(from, expected)),
        }
    }

    /// Reads the text before the next `stop`, or to the end; it may be empty.
    pub(crate) fn until(&mut self, stop: u8) -> &'l [u8] {
        let rest = self.rest();
        let length = memchr::memchr(stop, rest).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Reads the text before the next blank, or to the end; it may be empty.
    pub(crate) fn word(&mut self) -> &'l [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// The text before the last words of the line, `None` if it is empty.
    pub(crate) fn before_last_words(&self, words: usize) -> Option<&'l [u8]> {
        let mut text = self.rest().trim_ascii_end();
        for _ in 0..words {
            let blank = memchr::memrchr(b' ', text)?;
            text = text[..blank].trim_ascii_end();
        }
        Some(text).filter(|text| !text.is_empty())
    }

    /// The text from this position to the current one.
    pub(crate) fn slice_from(&self, from: usize) -> &'l [u8] {
        &self.line[from..self.at]
    }

    /// Skips this number of bytes.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.line.len());
    }

    /// Reads a whole number and multiplies it; both must fit into 64 bits.
    pub(crate) fn scale(&mut self, factor: u64, expected: &'static str) -> Result<u64, LineError> {
        let from = self.at;
        self.number(expected)?.checked_mul(factor).ok_or(LineError::at(from, expected))
    }

    /// Checks that only blanks follow.
    pub(crate) fn end(&mut self) -> Result<(), LineError> {
        self.skip_blanks();
        if self.rest().is_empty() { Ok(()) } else { Err(self.line_error(expected::END_OF_LINE)) }
    }
}

/// A number, and the column where it begins.
#[derive(Clone, Copy, Default)]
pub(crate) struct Value {
    pub(crate) number: u64,
    pub(crate) column: usize,
}

/// What stands between two fields of a line.
#[derive(Clone, Copy)]
pub(crate) enum Separator {
    Comma,
    Blanks,
}

/// Reads the fields of a line from left to right, with the separators between them. The first one is never empty.
pub(crate) struct Fields<'l> {
    pub(crate) cursor: Cursor<'l>,
    separator: Separator,
}

impl<'l> Fields<'l> {
    pub(crate) fn new(line: &'l [u8], separator: Separator) -> Self {
        Self { cursor: Cursor::new(line), separator }
    }

    /// Goes to the next field and returns its column.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<usize, LineError> {
        match self.separator {
            _ if self.cursor.at == 0 => {}
            Separator::Comma => self.cursor.pass(b',', expected::COMMA)?,
            Separator::Blanks => self.cursor.blanks(expected::BLANK)?,
        }
        Ok(self.cursor.at)
    }

    /// Reads text; it may be empty.
    pub(crate) fn text(&mut self) -> Result<&'l [u8], LineError> {
        self.next()?;
        Ok(match self.separator {
            Separator::Comma => self.cursor.until(b','),
            Separator::Blanks => self.cursor.word(),
        })
    }

    /// Reads one of these words, and returns its meaning.
    #[inline]
    pub(crate) fn choice<T: Copy>(
        &mut self,
        choices: &[(&str, T)],
        expected: &'static str,
    ) -> Result<T, LineError> {
        let word = self.text()?;
        let choice = choices.iter().find(|(name, _)| name.as_bytes() == word);
        choice.map(|(_, meaning)| *meaning).ok_or(LineError::at(self.cursor.at - word.len(), expected))
    }

    /// Reads a whole number.
    #[inline]
    pub(crate) fn number(&mut self, expected: &'static str) -> Result<Value, LineError> {
        let column = self.next()?;
        Ok(Value { number: self.cursor.number(expected)?, column })
    }

    /// Reads a whole number and multiplies it; both must fit into 64 bits.
    pub(crate) fn scale(&mut self, factor: u64, expected: &'static str) -> Result<Value, LineError> {
        let column = self.next()?;
        Ok(Value { number: self.cursor.scale(factor, expected)?, column })
    }

    /// Reads seconds with up to nine decimals, as nanoseconds.
    pub(crate) fn seconds(&mut self, expected: &'static str) -> Result<Value, LineError> {
        let column = self.next()?;
        Ok(Value { number: self.cursor.seconds(expected)?, column })
    }

    /// Reads the next field, unless nothing stands between its commas.
    #[inline]
    pub(crate) fn optional(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Value, LineError>,
    ) -> Result<Option<Value>, LineError> {
        if self.cursor.rest().starts_with(b",,") {
            self.cursor.skip(1);
            return Ok(None);
        }
        read(self).map(Some)
    }
}

/// The value of eight digits, or `None` if one is no digit.
///
/// Each step combines neighbors: eight digits become four numbers below 100, two below 10⁴, one below 10⁸.
#[inline]
fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
    let word = u64::from_le_bytes(bytes);
    let digits = word.wrapping_sub(ZEROS);
    // A byte below '0' borrows, one above '9' carries; both set the byte's highest bit.
    if (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}

/// Whether these digits fit into 64 bits.
#[cold]
fn fits(digits: &[u8]) -> bool {
    digits
        .iter()
        .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        .is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> (Vec<(String, bool)>, Option<ReadFailure>) {
        let mut lines = Lines::new(Box::new(io::Cursor::new(bytes.to_vec())));
        let mut texts = Vec::new();
        loop {
            match lines.next() {
                Ok(Some(line)) => {
                    texts.push((String::from_utf8(lines.text(&line).to_vec()).unwrap(), line.is_complete));
                }
                Ok(None) => return (texts, None),
                Err(broken) => return (texts, Some(broken)),
            }
        }
    }

    #[test]
    fn lines_end_as_files_end() {
        let texts = |bytes| read_all(bytes).0;
        assert_eq!(texts(b""), []);
        assert_eq!(texts(b"a\r\n\nb"), [("a".into(), true), (String::new(), true), ("b".into(), false)]);
        assert_eq!(texts(b"\xef\xbb\xbfa\n"), [("a".into(), true)]);
    }

    #[test]
    fn many_lines_pass_through_the_buffer() {
        let text: String = (0..100_000).map(|n| format!("{n}\n")).collect();
        let (texts, broken) = read_all(text.as_bytes());
        assert!(broken.is_none() && texts.len() == 100_000);
        assert!(texts.iter().enumerate().all(|(n, line)| line.0 == n.to_string()));
    }

    #[test]
    fn a_file_without_line_ends_is_no_trace() {
        let (texts, broken) = read_all(&vec![b'x'; 1 << 20]);
        assert!(texts.is_empty() && matches!(broken, Some(ReadFailure::Endless)));
    }

    #[test]
    fn numbers_are_whole_and_fit() {
        assert_eq!(Cursor::new(b"18446744073709551615,").number("n"), Ok(u64::MAX));
        for text in ["", "-1", "+1", "x", "18446744073709551616", "99999999999999999999999"] {
            assert_eq!(Cursor::new(text.as_bytes()).number("n"), Err(LineError::at(0, "n")), "{text}");
        }
    }

    #[test]
    fn eight_digits_are_read_at_once_and_nothing_else_is() {
        for number in [0u64, 1, 99, 12_345_678, 99_999_999, 90_000_009, 10_203_040] {
            let text = format!("{number:08}");
            assert_eq!(eight_digits(text.as_bytes().try_into().unwrap()), Some(number));
        }
        for at in 0..8 {
            for byte in (0..=255u8).filter(|byte| !byte.is_ascii_digit()) {
                for others in [b'0', b'5', b'9'] {
                    let mut bytes = [others; 8];
                    bytes[at] = byte;
                    assert_eq!(eight_digits(bytes), None, "{bytes:?}");
                }
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_number_reads_back(number: u64, zeros in 0usize..30) {
            let text = format!("{}{number},", "0".repeat(zeros));
            let mut cursor = Cursor::new(text.as_bytes());
            assert_eq!(cursor.number("n"), Ok(number));
            assert_eq!(cursor.rest(), b",");
        }
    }

    #[test]
    fn seconds_are_exact() {
        for (text, ns) in [
            ("1.5", 1_500_000_000),
            ("0.000000001", 1),
            ("3046.491242", 3_046_491_242_000),
            ("2", 2_000_000_000),
        ] {
            assert_eq!(Cursor::new(text.as_bytes()).seconds("s"), Ok(ns), "{text}");
        }
        assert_eq!(Cursor::new(b"1.0000000010000").seconds("s"), Ok(1_000_000_001));
        for text in ["", ".5", "1.", "1.0000000001", "NaN", "1e9x", "99999999999999999999", "18446744074"] {
            let mut cursor = Cursor::new(text.as_bytes());
            let read = cursor.seconds("s").and_then(|_| cursor.end());
            assert!(read.is_err(), "{text}");
        }
    }
}
