//! Reads the fields of a line byte by byte, and knows its place when something is wrong.

use crate::error::LineError;
use crate::wording::expected;

/// A place in a line.
pub(crate) struct Cursor<'l> {
    line: &'l [u8],
    at: usize,
}

impl<'l> Cursor<'l> {
    pub(crate) fn new(line: &'l [u8]) -> Self {
        Self { line, at: 0 }
    }

    /// Bytes of the line that were read.
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

    /// Skips this byte.
    pub(crate) fn pass(&mut self, byte: u8, expected: &'static str) -> Result<(), LineError> {
        if self.take(byte) { Ok(()) } else { Err(self.line_error(expected)) }
    }

    /// Skips a comma.
    pub(crate) fn comma(&mut self) -> Result<(), LineError> {
        self.pass(b',', expected::COMMA)
    }

    /// Skips blanks; at least one.
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

    /// A whole number that fits into 64 bits.
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

    /// Seconds with up to nine decimals, as nanoseconds; further decimals may only be zeros.
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

    /// The text before the next of these bytes, or before the end; may be empty.
    pub(crate) fn until(&mut self, stop: u8) -> &'l [u8] {
        let rest = self.rest();
        let length = memchr::memchr(stop, rest).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// The text before the next blank, or before the end; may be empty.
    pub(crate) fn word(&mut self) -> &'l [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// The text from this place to here.
    pub(crate) fn slice_from(&self, from: usize) -> &'l [u8] {
        &self.line[from..self.at]
    }

    /// Skips so many bytes.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.line.len());
    }

    /// A whole number of units, as so many times as much; both fit into 64 bits.
    pub(crate) fn scale(&mut self, factor: u64, expected: &'static str) -> Result<u64, LineError> {
        let from = self.at;
        self.number(expected)?.checked_mul(factor).ok_or(LineError::at(from, expected))
    }

    /// Only blanks may follow.
    pub(crate) fn end(&mut self) -> Result<(), LineError> {
        self.skip_blanks();
        if self.rest().is_empty() { Ok(()) } else { Err(self.line_error(expected::END_OF_LINE)) }
    }
}

/// The value of eight digits at once, or none where one of them is something else.
///
/// Each step combines neighbors: eight digits become four numbers below 100, two below 10⁴, one below 10⁸.
#[inline]
fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
    let word = u64::from_le_bytes(bytes);
    let digits = word.wrapping_sub(ZEROS);
    // A byte below '0' borrows, one above '9' carries into the upper half of its byte.
    if (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}

/// Whether the digits are a number of 64 bits.
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
