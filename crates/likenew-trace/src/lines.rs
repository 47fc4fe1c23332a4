//! Lines out of a stream of bytes, in a buffer that never grows.

use std::io::{self, Read};

/// Limit of a line's length. Chosen: no format has such lines, and a file without line ends must not fill the
/// memory.
pub(crate) const LINE_MAX: usize = 64 << 10;

const BUFFER: usize = 256 << 10;

/// The place of a line in the buffer of its [`Lines`].
pub(crate) struct Line {
    /// First byte of it.
    from: usize,
    /// Behind its last byte, the line end left out.
    to: usize,
    /// Whether a line end follows.
    pub(crate) is_complete: bool,
}

/// Why there is no next line.
#[derive(Debug)]
pub(crate) enum ReadFailure {
    /// It is longer than [`LINE_MAX`].
    Endless,
    /// The stream cannot be read further.
    Stream(io::Error),
}

/// Lines out of a stream of bytes.
pub(crate) struct Lines {
    stream: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    /// Bytes read and not yet returned.
    from: usize,
    to: usize,
    at_end: bool,
    /// What ended the stream early; returned after the lines before it.
    failure: Option<io::Error>,
    number: u64,
}

impl Lines {
    pub(crate) fn new(stream: Box<dyn Read + Send>) -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        let mut lines = Self { stream, buffer, from: 0, to: 0, at_end: false, failure: None, number: 0 };
        lines.fill();
        // Some editors begin a file with a byte order mark.
        if lines.buffer[..lines.to].starts_with(b"\xef\xbb\xbf") {
            lines.from = 3;
        }
        lines
    }

    /// The first bytes of the stream, as many as the buffer holds.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.buffer[self.from..self.to]
    }

    /// The error that ended reading, if any.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// The number of the last line returned, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn text(&self, line: &Line) -> &[u8] {
        &self.buffer[line.from..line.to]
    }

    /// The next line, or none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, ReadFailure> {
        loop {
            if let Some(length) = memchr::memchr(b'\n', &self.buffer[self.from..self.to]) {
                return self.hand_out(length, true).map(Some);
            }
            if self.at_end {
                break;
            }
            if self.to - self.from > LINE_MAX {
                self.number += 1;
                return Err(ReadFailure::Endless);
            }
            self.fill();
        }
        if self.from < self.to {
            return self.hand_out(self.to - self.from, false).map(Some);
        }
        self.failure.take().map_or(Ok(None), |error| Err(ReadFailure::Stream(error)))
    }

    fn hand_out(&mut self, length: usize, is_complete: bool) -> Result<Line, ReadFailure> {
        let from = self.from;
        self.from = (from + length + 1).min(self.to);
        self.number += 1;
        if length > LINE_MAX {
            return Err(ReadFailure::Endless);
        }
        let returns = self.buffer[from..from + length].ends_with(b"\r");
        Ok(Line { from, to: from + length - usize::from(returns), is_complete })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> (Vec<(String, bool)>, Option<ReadFailure>) {
        let mut lines = Lines::new(Box::new(io::Cursor::new(bytes.to_vec())));
        let mut found = Vec::new();
        loop {
            match lines.next() {
                Ok(Some(line)) => {
                    found.push((String::from_utf8(lines.text(&line).to_vec()).unwrap(), line.is_complete));
                }
                Ok(None) => return (found, None),
                Err(broken) => return (found, Some(broken)),
            }
        }
    }

    #[test]
    fn lines_end_as_files_end() {
        let texts = |bytes| all(bytes).0;
        assert_eq!(texts(b""), []);
        assert_eq!(texts(b"a\r\n\nb"), [("a".into(), true), (String::new(), true), ("b".into(), false)]);
        assert_eq!(texts(b"\xef\xbb\xbfa\n"), [("a".into(), true)]);
    }

    #[test]
    fn many_lines_pass_through_the_buffer() {
        let text: String = (0..100_000).map(|n| format!("{n}\n")).collect();
        let (found, broken) = all(text.as_bytes());
        assert!(broken.is_none() && found.len() == 100_000);
        assert!(found.iter().enumerate().all(|(n, line)| line.0 == n.to_string()));
    }

    #[test]
    fn a_file_without_line_ends_is_no_trace() {
        let (found, broken) = all(&vec![b'x'; 1 << 20]);
        assert!(found.is_empty() && matches!(broken, Some(ReadFailure::Endless)));
    }
}
