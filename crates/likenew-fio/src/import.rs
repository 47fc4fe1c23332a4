//! Reads fio's JSON results as segments.

mod document;
mod job_file;
mod latency;
mod options;
mod segment;
mod tallies;

use likenew_core::drive::{Identity, TargetKind};
use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_core::target::{Clock, Geometry};
use serde_json::Value;

use crate::wording::Notes;
use crate::wording::{self, expected};
use document::Node;
pub use job_file::{JOBS_JOIN, JobFile, JobFileError, is_job_file, job_file};
pub(crate) use segment::of_tallies;
use segment::{Group, groups};

/// Why a text was not accepted as fio's results.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The text is not fio's JSON.
    #[error("it is not fio's JSON output{}; run fio with --output-format=json+", .0.in_brackets())]
    NotFio(OtherText),
    /// It is invalid JSON, or ends too early.
    #[error("line {line}, column {column}: {reason}")]
    Malformed {
        /// Line number, from 1.
        line: usize,
        /// Column number, from 1.
        column: usize,
        /// What is wrong at this position.
        reason: String,
    },
    /// A value differs from what fio writes, so its meaning would be a guess.
    #[error("{path}: expected {expected}, found {actual}")]
    Unexpected {
        /// Where the value is, such as `jobs[2].read.clat_ns`.
        path: String,
        /// What was expected there.
        expected: String,
        /// What was found there.
        actual: String,
    },
    /// A line that fio or another program printed has an unknown form.
    #[error("line {line}: {reason}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// What is wrong in this line.
        reason: &'static str,
    },
    /// The file has another name than fio gave it. Only that name tells what a log's values are.
    #[error(
        "it is a log of fio, and only the file's name says of what: keep the name that fio gave it, such as JOB_bw.1.log or \
         JOB_lat.1.log"
    )]
    UnnamedLog,
    /// A log of mean latencies gives neither a number of I/Os nor bytes.
    #[error(
        "it is a log of mean latencies, and these give no speed: compare the _bw log of the same run, or log each I/O \
         (without log_avg_msec)"
    )]
    MeanLatencies,
}

/// What kind of text was given in place of fio's JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OtherText {
    /// No text at all.
    #[error("it is empty")]
    Empty,
    /// It begins with a tag, as HTML and XML do.
    #[error("it is a page or XML")]
    Markup,
    /// It is JSON of another kind.
    #[error("it is a list, and fio writes an object that begins with \"fio version\"")]
    List,
    /// `--output-format=terse`
    #[error("it is fio's terse output")]
    Terse,
    /// `--output-format=normal`
    #[error("it is fio's output for people")]
    Normal,
    /// Anything else.
    #[error("no line begins with a brace")]
    NoObject,
}

impl OtherText {
    /// The kind of text, where naming it helps.
    fn in_brackets(&self) -> String {
        if *self == Self::NoObject { String::new() } else { format!(" ({self})") }
    }
}

/// The results of one run of fio or of another program.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The target, as far as the text names it, and the caveats of the import.
    pub identity: Identity,
    /// The target's geometry, as far as the text gives it; an unknown capacity is 0.
    pub geometry: Geometry,
    /// When fio wrote its report, in milliseconds since 1970.
    pub unix_ms: u64,
    /// The measurements, in the order of the jobs.
    pub segments: Vec<Segment>,
}

/// Reads fio's JSON (`--output-format=json` or `json+`), whatever else fio printed around it. If there are several
/// documents, as with `--status-interval`, the last one counts.
///
/// Latencies from `json+` are as exact as fio's own bins. Latencies from `json` are interpolated between the listed
/// percentiles, and a caveat says so.
///
/// # Errors
/// The text is not fio's JSON, or it holds something whose meaning would have to be guessed.
pub fn import(text: &str) -> Result<Import, ImportError> {
    let (value, count) = document::last(text)?;
    let root = Node::root(&value);
    let version = version(&root)?;
    let mut notes = Notes::new(count);
    let groups = groups(&root)?;
    let segments = segment::segments(&groups, &mut notes)?;
    let geometry = geometry(&segments);
    let identity = identity(&root, &version, &groups, &geometry, &notes)?;
    let unix_ms = match root.get("timestamp_ms") {
        Some(node) => node.count()?,
        None => root.need("timestamp", expected::UNIX_TIME)?.count()?.saturating_mul(1000),
    };
    Ok(Import { identity, geometry, unix_ms, segments })
}

/// The segments of a document in fio's form, which other code may have built.
pub(crate) fn of_jobs(document: &Value, notes: &mut Notes) -> Result<Vec<Segment>, ImportError> {
    segment::segments(&groups(&Node::root(document))?, notes)
}

/// An import of a text that contains neither settings nor times, under this name.
pub(crate) fn import_of(name: &str, engine: &str, caveats: Vec<String>, segments: Vec<Segment>) -> Import {
    let writes = |segment: &Segment| segment.bytes(Op::Write) > 0;
    let geometry = geometry_of(0, SECTOR, segments.iter().any(writes));
    let identity = identity_of(name.to_owned(), engine, &geometry, Vec::new(), caveats);
    Import { identity, geometry, unix_ms: 0, segments }
}

/// The geometry of a target of which only this is known.
fn geometry_of(capacity: u64, block: u32, writable: bool) -> Geometry {
    Geometry {
        capacity,
        block,
        boundary: None,
        writable,
        trims: false,
        carries_data: true,
        clock: Clock::Wall,
    }
}

fn identity_of(
    name: String,
    engine: &str,
    geometry: &Geometry,
    facts: Vec<(String, String)>,
    caveats: Vec<String>,
) -> Identity {
    Identity {
        kind: kind_of(&name),
        name,
        model: None,
        engine: engine.to_owned(),
        capacity_bytes: geometry.capacity,
        block_bytes: geometry.block,
        facts,
        caveats,
        accounting: None,
    }
}

/// fio's version. Versions before 3 are refused: they give `io_bytes` in KiB and latencies in microseconds.
fn version(root: &Node<'_>) -> Result<String, ImportError> {
    let node = root.need("fio version", expected::VERSION)?;
    let text = node.text()?;
    let major = text.strip_prefix("fio-").and_then(|rest| rest.split(['.', '-']).next()?.parse::<u32>().ok());
    match major {
        Some(3..) => Ok(text.replacen('-', " ", 1)),
        Some(_) => Err(node.unexpected_error(expected::NEWER_VERSION)),
        None => Err(node.unexpected_error(expected::VERSION)),
    }
}

/// The geometry. The target reaches at least as far as the jobs' addresses.
fn geometry(segments: &[Segment]) -> Geometry {
    let streams = || segments.iter().flat_map(|segment| &segment.workload.streams);
    let ends = streams().filter_map(|stream| {
        // The end of a region in percent depends on the capacity, which is unknown.
        let zone = |capacity| stream.pattern.region().resolve(capacity, 1).ok();
        zone(1 << 62).filter(|range| Some(range) == zone(1 << 63).as_ref()).map(|range| range.end)
    });
    let lengths = streams().flat_map(|stream| stream.size.choices()).map(|(bytes, _)| bytes.trailing_zeros());
    let block = lengths.min().map_or(SECTOR, |zeros| 1 << zeros.min(SECTOR_LONG.trailing_zeros()));
    geometry_of(ends.max().unwrap_or(0), block, streams().any(|stream| stream.op.writes()))
}

const SECTOR: u32 = 512;
const SECTOR_LONG: u32 = 4096;

fn identity(
    root: &Node<'_>,
    version: &str,
    groups: &[Group<'_>],
    geometry: &Geometry,
    notes: &Notes,
) -> Result<Identity, ImportError> {
    let engines = distinct(groups, "ioengine");
    let files = ["filename", "directory"].map(|option| distinct(groups, option));
    let files = files.into_iter().find(|files| !files.is_empty()).unwrap_or_default();
    let mut facts = vec![("fio".to_owned(), version.trim_start_matches("fio ").to_owned())];
    if !engines.is_empty() {
        facts.push(("ioengine".to_owned(), engines.join(", ")));
    }
    let options = groups.iter().filter(|group| !group.is_rest()).flat_map(|group| &group.streams);
    let unbuffered = options.into_iter().all(|stream| stream.options.is_direct());
    facts.push(("direct".to_owned(), wording::direct(unbuffered).to_owned()));
    if let Some(time) = root.get("time") {
        facts.push(("reported".to_owned(), time.text()?.trim().to_owned()));
    }
    let name = if files.is_empty() { "fio".to_owned() } else { files.join(", ") };
    Ok(identity_of(name, version, geometry, facts, wording::caveats(notes, unbuffered)))
}

/// The likeliest kind of target for a name. fio does not say, and the drive need not be present.
pub fn kind_of(name: &str) -> TargetKind {
    let is_device = name.starts_with("/dev/") && !name.starts_with("/dev/shm/");
    if is_device { TargetKind::Device } else { TargetKind::File }
}

/// The distinct values of an option over all jobs, rests excluded.
fn distinct(groups: &[Group<'_>], option: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for group in groups.iter().filter(|group| !group.is_rest()) {
        for options in group.streams.iter().map(|stream| &stream.options) {
            if let Some(value) =
                options.text(option).filter(|value| !values.iter().any(|known| known == value))
            {
                values.push(value.replace("\\:", ":"));
            }
        }
    }
    values
}

#[cfg(test)]
mod tests;
