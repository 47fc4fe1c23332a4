//! Reads several files as one trace in the order of time. blktrace writes one file for each processor.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::lines::{Framing, Line, Lines, ReadFailure};

/// Merges the records of several files by time.
pub(crate) struct Files {
    files: Vec<(String, Lines)>,
    framing: Framing,
    /// Files whose next record was not read yet.
    unread: Vec<usize>,
    /// The next record of each of the other files.
    next: Vec<Option<Line>>,
    /// Times of these records, and the numbers of their files.
    times: BinaryHeap<Reverse<(u64, usize)>>,
    /// The file of the latest record or error.
    current: usize,
}

impl Files {
    /// Files by their names; at least one.
    pub(crate) fn new(mut files: Vec<(String, Lines)>, framing: Framing) -> Self {
        files.iter_mut().for_each(|(_, lines)| lines.set_framing(framing));
        let unread = (0..files.len()).rev().collect();
        let next = files.iter().map(|_| None).collect();
        Self { files, framing, unread, next, times: BinaryHeap::new(), current: 0 }
    }

    /// The first bytes of each file.
    pub(crate) fn ahead(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().map(|(_, lines)| lines.ahead())
    }

    /// The next record by time, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, ReadFailure> {
        if let [(_, lines)] = &mut self.files[..] {
            return lines.next();
        }
        while let Some(file) = self.unread.pop() {
            self.current = file;
            let lines = &mut self.files[file].1;
            if let Some(record) = lines.next()? {
                self.times.push(Reverse((self.framing.time(lines.text(&record)), file)));
                self.next[file] = Some(record);
            }
        }
        let Some(Reverse((_, file))) = self.times.pop() else { return Ok(None) };
        self.current = file;
        self.unread.push(file);
        Ok(self.next[file].take())
    }

    /// Name and lines of the file with the latest record.
    pub(crate) fn current(&self) -> (&str, &Lines) {
        let (name, lines) = &self.files[self.current];
        (name, lines)
    }

    /// The error that ended reading of this file, if any.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        self.files[self.current].1.failure()
    }
}

/// Separates the drive from the processor's number in the names of blktrace's files.
const BLKTRACE: &str = ".blktrace.";

/// Endings of files with and without compression.
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

/// The files that blktrace wrote together, in the order of their processors. `path` is one of them or the common
/// beginning of their names. Empty if there are none.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn of_blktrace(path: &Path) -> io::Result<Vec<PathBuf>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = name.split_once(BLKTRACE).map_or(&*name, |(prefix, _)| prefix);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let other = entry?.file_name();
        let other = other.to_string_lossy();
        let processor = other
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_prefix(BLKTRACE))
            .and_then(|rest| PACKED.iter().find_map(|ending| rest.strip_suffix(ending)?.parse::<u32>().ok()));
        files.extend(processor.map(|processor| (processor, *other != *name, path.with_file_name(&*other))));
    }
    // A compressed file may lie beside its original. Keep one for each processor, preferably the given one.
    files.sort();
    files.dedup_by_key(|(processor, ..)| *processor);
    Ok(files.into_iter().map(|(_, _, file)| file).collect())
}
