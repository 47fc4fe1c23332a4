//! What programs printed on another machine, for `--from`: facts of its drives, and their speeds.
//!
//! People pass such outputs on quoted in a mail, indented, with numbered lines, from a journal or a diff, in terminal
//! colors, or in another system's encoding. All of that is cleaned up here.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use encoding_rs::UTF_8;
use likenew_core::facts::Facts;
use likenew_core::input::{self, InputError};
use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_core::workload::{Access, AccessPattern, Mix};
use likenew_procedures::check::{MeasuredOption, Metric};
use likenew_real::facts::reported::{PrintedText, reported};
use regex::Regex;
use walkdir::WalkDir;

use crate::exit::{Failure, Result};
use crate::wording;

/// Facts of another machine, and speeds that were measured there.
#[derive(Clone, Debug)]
pub(crate) struct PrintedFacts {
    /// Names of the files they are from.
    pub(crate) name: String,
    pub(crate) facts: Facts,
    pub(crate) measured: Vec<MeasuredOption>,
}

/// Most files of a folder.
const FILES_MAX: usize = 20_000;
/// Deepest nesting of folders.
const DEPTH_MAX: usize = 16;
/// Most bytes of all texts.
const BYTES_MAX: usize = 1 << 30;

impl PrintedFacts {
    /// Reads files, folders of files, and standard input for `-`.
    ///
    /// # Errors
    /// A file cannot be read, or no file holds anything that is recognized.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self> {
        let texts = texts(paths)?;
        let mut facts = reported(&texts);
        let mut measured: Vec<MeasuredOption> = Vec::new();
        for printed in &texts {
            let metrics = speeds(printed);
            if let Some(reported) = facts.reported.as_mut().filter(|_| !metrics.is_empty()) {
                reported.unread.retain(|name| *name != printed.name);
            }
            // The last output of a metric counts.
            measured.retain(|known| metrics.iter().all(|metric| metric.metric != known.metric));
            measured.extend(metrics);
        }
        let is_any = facts.reported.as_ref().is_some_and(|reported| !reported.sources.is_empty());
        if !is_any && measured.is_empty() {
            return Err(Failure::Usage(wording::nothing_recognized(&names(paths))));
        }
        Ok(Self { name: names(paths), facts, measured })
    }
}

/// Reads files, folders of files, and standard input for `-`, as texts.
///
/// # Errors
/// A file cannot be read, or there are too many.
pub(crate) fn texts(paths: &[PathBuf]) -> Result<Vec<PrintedText>> {
    let mut texts = Texts::default();
    for path in paths {
        if path.is_dir() {
            texts.add_folder(path)?;
        } else {
            texts.add(path, read_text(path, input::OUTPUT)?)?;
        }
    }
    Ok(texts.all)
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| display_name(path)).collect::<Vec<_>>().join(", ")
}

/// A path as messages show it.
pub(crate) fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

#[derive(Default)]
struct Texts {
    all: Vec<PrintedText>,
    bytes: usize,
}

impl Texts {
    fn add(&mut self, path: &Path, text: String) -> Result<()> {
        self.bytes += text.len();
        if self.bytes > BYTES_MAX {
            return Err(Failure::Usage(wording::too_many_outputs(BYTES_MAX as u64)));
        }
        self.all.push(PrintedText { name: display_name(path), text });
        Ok(())
    }

    /// Adds all text files below a folder, but not on other file systems mounted there.
    fn add_folder(&mut self, folder: &Path) -> Result<()> {
        let entries = WalkDir::new(folder).max_depth(DEPTH_MAX).same_file_system(true).sort_by_file_name();
        for entry in entries {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(folder).display().to_string();
                let error = error.into_io_error().expect("no link is followed, so there is no circle");
                Failure::unreadable(&path, error.into())
            })?;
            if !entry.file_type().is_file() {
                continue;
            }
            if self.all.len() == FILES_MAX {
                return Err(Failure::Usage(wording::too_many_files(folder, FILES_MAX)));
            }
            // A folder may hold anything; what is not text counts as empty.
            self.add(entry.path(), read_text(entry.path(), input::OUTPUT).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// A file as the text that a program printed, unpacked.
pub(crate) fn read_text(path: &Path, kind: input::FileKind) -> Result<String> {
    let text = || {
        let stream: Box<dyn Read + Send> =
            if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(input::open(path, kind)?) };
        pasted_text(input::read_stream(likenew_trace::decompress(stream)?.0, kind)?, kind)
    };
    text().map_err(|error: InputError| Failure::unreadable(&display_name(path), error))
}

/// Turns bytes into the text that a program printed. Lines stay lines, so that their numbers are those of the file.
///
/// # Errors
/// The bytes are no text. In outputs about drives, bytes that are not UTF-8 are replaced, because a drive may have any name.
fn pasted_text(bytes: Vec<u8>, kind: input::FileKind) -> Result<String, InputError> {
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

/// Programs whose speeds are ignored: they may have measured memory, or do not say whether I/O was sequential.
const IGNORED_PROGRAMS: [&str; 6] = ["dd", "ioping", "sysbench", "iozone", "fio (terse)", "fio (log)"];

/// The drive's speeds in a text.
fn speeds(printed: &PrintedText) -> Vec<MeasuredOption> {
    let Ok(imported) = likenew_fio::import_any(&printed.text, &printed.name) else { return Vec::new() };
    if IGNORED_PROGRAMS.iter().any(|engine| imported.identity.engine.starts_with(engine)) {
        return Vec::new();
    }
    let mut speeds: Vec<MeasuredOption> = Vec::new();
    for test in imported.segments.iter().filter_map(speed) {
        match speeds.iter_mut().find(|speed| speed.metric == test.metric) {
            // Of several tests of one kind the fastest shows what the drive can do.
            Some(known) => known.per_s = known.per_s.max(test.per_s),
            None => speeds.push(test),
        }
    }
    speeds
}

/// The metric of a check that a test measures, and its value.
fn speed(segment: &Segment) -> Option<MeasuredOption> {
    /// Smallest I/O of sequential tests. Chosen: below, commands decide the speed, and not bytes.
    const LARGE: u32 = 64 << 10;
    let workload = &segment.workload;
    let [stream] = &workload.streams[..] else { return None };
    let (Mix::Only(op), [(bytes, _)]) = (stream.op, stream.size.choices()) else { return None };
    let depth = workload.lanes.saturating_mul(workload.depth());
    let is_random = matches!(stream.pattern, AccessPattern::Random(_));
    let is_cached = workload.access != Access::Direct || workload.name.contains("cached");
    let metric = match (op, is_random, *bytes, depth) {
        _ if is_cached || segment.errors() > 0 => return None,
        (Op::Read, false, LARGE.., _) => Metric::SequentialRead,
        (Op::Write, false, LARGE.., _) => Metric::SequentialWrite,
        (Op::Read, true, 4096, 1) => Metric::RandomRead,
        (Op::Write, true, 4096, 1) => Metric::RandomWrite,
        (Op::Read, true, 4096, 32..) => Metric::RandomReadQd32,
        _ => return None,
    };
    let seconds = segment.ended_at.since(segment.started_at).as_secs_f64();
    let per = if is_random { f64::from(*bytes) } else { 1.0 };
    let per_s = segment.bytes(op) as f64 / seconds / per;
    (per_s.is_finite() && per_s > 0.0).then_some(MeasuredOption { metric, per_s })
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
