//! What programs printed on another machine, for `--from`: facts of its drives, and their speeds.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use likenew_core::facts::Facts;
use likenew_core::input::{self, InputError};
use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_core::workload::{Access, AccessPattern, Mix};
use likenew_procedures::check::{MeasuredOption, Metric};
use likenew_real::facts::reported::{PrintedText, reported};
use walkdir::WalkDir;

use crate::exit::{Failure, Result};
use crate::{pasted, wording};

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
        pasted::text(input::read_stream(likenew_trace::decompress(stream)?.0, kind)?, kind)
    };
    text().map_err(|error: InputError| Failure::unreadable(&display_name(path), error))
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
