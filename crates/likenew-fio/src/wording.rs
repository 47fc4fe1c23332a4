//! Sentences of this crate: comments in job files, caveats of imports, and why a file or document is refused.

use std::collections::BTreeMap;

use likenew_core::measurement_error::job_reason;
use likenew_core::quantity::Size;
use serde_json::Value;

// ## On top of an exported file

pub(crate) const RUN: &str = "Run it with: fio --output-format=json+ --output=RESULT.json THIS.fio";

pub(crate) const RUN_WITH_FILE: &str = "Name what to measure: LIKENEW_FILE=/path/of/a/file fio --output-format=json+ --output=RESULT.json THIS.fio";

pub(crate) const CAUTION: &str =
    "CAUTION: these jobs write. Whatever the file or device holds is lost, and fio does not ask.";

/// Each line becomes a comment.
pub(crate) const COMPARISON: &str = "\
To compare the result with a run of the same plan by likenew: likenew compare RUN RESULT.json
(likenew report --list names the runs). To keep it as a run: likenew import fio RESULT.json --plan PLAN.toml
Numbers may differ: fio counts latency from when it prepares an I/O, and likenew from when it is submitted (or was due);
fio submits I/Os one by one, and likenew all that are ready; and fio lays out a missing or short file by writing it
before the first job.";

pub(crate) const ENGINE: &str = "libaio where the system refuses io_uring, as some containers do";

// ## On top of a job

pub(crate) const STRIDE_WRAPS: &str =
    "at the end of the zone fio continues where the next step leads, and likenew starts at its beginning";

pub(crate) const TRIMS_DEVICES: &str = "fio trims block devices only";

pub(crate) const SHARES_ROUNDED: &str = "fio knows whole percents: the shares of the lengths are rounded";

pub(crate) const ALIGNED_TO_SHORTEST: &str =
    "fio aligns every random I/O to the shortest length, and likenew aligns each I/O to its own length";

pub(crate) fn zone_rest(bytes: u64) -> String {
    format!("{bytes} bytes at the end of the zone, less than an I/O per copy, are left out")
}

pub(crate) const ZIPF: &str =
    "fio's generator only approximates Zipf's law, and puts popular addresses elsewhere";

pub(crate) const STAMPS: &str = "likenew's stamps are random data to fio, and what it reads is not checked";

/// How far the data compresses, in percent: in fio, and in the workload.
pub(crate) fn compressibility_rounded(fio: f64, workload: f64) -> String {
    format!("fio knows whole percents: the data compresses to {fio:.0}%, not {workload:.1}%")
}

pub(crate) const TIME_ONLY: &str =
    "fio cannot count parallel streams together: only the time ends this, not the amount";

pub(crate) const BOUND_ROUNDED: &str =
    "the bound does not divide by the copies: fio may do up to one I/O a copy more";

pub(crate) const LATE_IOS: &str =
    "fio counts a late I/O from when it was submitted, and likenew from when it was due";

pub(crate) const FLUSH_AMONG: &str =
    "likenew flushes when nothing else is in flight, and fio among the writes of its queue";

pub(crate) const RATE_ROUNDED: &str = "fio takes whole IOPS: the rate is rounded";

// ## Caveats of an import

/// Notes of an import, with the jobs concerned.
pub(crate) struct Notes {
    /// Number of documents in the file.
    documents: usize,
    /// The notes, most important first, with the jobs they concern.
    pub(crate) jobs_by_note: BTreeMap<Note, Vec<String>>,
}

/// What a reader must know about a job's results, to be read after the names of the jobs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum Note {
    #[error("failed: {}; fio does not report which I/O", job_reason(*.0))]
    Failed(i32),
    #[error(
        "percentiles between those that fio lists are interpolated; --output-format=json+ gives them exactly"
    )]
    Interpolated,
    #[error(
        "percentiles are of fio's completion latency, which leaves out submission; lat_percentiles=1 includes it"
    )]
    CompletionOnly,
    #[error("latency is fio's completion latency, which leaves out submission (disable_lat)")]
    NoTotal,
    #[error("fio was told not to measure latency")]
    NoLatency,
    #[error("fio recorded no percentiles; only the mean latency is known")]
    MeanOnly,
    /// fio gave reads and writes as one number.
    #[error(
        "fio gave reads and writes as one number; they are divided by the job's rwmixread and share one distribution"
    )]
    Mixed,
    /// The job read back what it wrote.
    #[error(
        "what the job read, to verify what was written, is shown as a workload of its own, over its own time"
    )]
    VerifyCounts,
    /// The job read back what it wrote, beside its own reads.
    #[error(
        "fio does not tell the mix's own reads from those that verify: counts, latencies and rates are of both; \
         do_verify=0 measures the mix alone"
    )]
    VerifiedAmong,
    /// The job read back what it wrote, between its writes.
    #[error(
        "fio verified between the writes (verify_backlog) and counts their time as one: the rates are of both together"
    )]
    VerifiedBetween,
    /// The job only read back what another run wrote.
    #[error(
        "verify_only wrote nothing: the writes that fio counts are left out, and only the verification is shown"
    )]
    DryWrites,
    /// The job only read back what another run of a mix wrote.
    #[error(
        "fio counts the whole mix as done, although verify_only read only what it verified: nothing of it is shown"
    )]
    DryMix,
    /// The job read back what it wrote, and fio gave both as one number.
    #[error(
        "fio gave what was written and what was read back to verify it as one number, over the time of the longer: \
         no rate is known; leave out unified_rw_reporting"
    )]
    MixedVerify,
    #[error("took less than the millisecond that fio tells apart: no rate is known")]
    Instant,
    #[error("fio counts a late I/O from when it was submitted; likenew counts from when it was due")]
    Paced,
    #[error("write_barrier changes nothing: no engine of fio does anything with it; use fdatasync=N")]
    Barrier,
    #[error("each copy covered the whole zone of one file; likenew divides it among copies")]
    Overlapping,
    #[error("these settings of fio are not part of the workload: {0}")]
    Unmapped(String),
}

/// Name of dd's result: dd does not say whether it read or wrote.
pub(crate) const DD: &str = "dd";

/// Name of the result of `ioping -B`, which prints numbers only and not whether it read or wrote.
pub(crate) const IOPING_RAW: &str = "ioping -B";

likenew_core::sentences! {
    /// Why JSON is invalid that ends too early.
    pub(crate) fn cut_off(reason: &str) = "{reason}: the file is cut off";
    /// Name of an iozone test. It ends with the operation, so that a table need not add it.
    pub(crate) fn iozone_test(file_bytes: u64, record_bytes: u32, test: &str) =
        "{} file, {} records, {test}", Size(file_bytes), Size(record_bytes.into());
    /// A note and the jobs that it concerns.
    pub(crate) fn caveat(note: &Note, jobs: &[String]) = "{}: {note}", names(jobs);
}

/// Caveats of figures that a program printed.
pub(crate) fn printed(program: &str, unread_lines: &[usize]) -> Vec<String> {
    let no_interval =
        format!("each figure of {program} is one number: no interval, and how much passes vary is not known");
    let unsaid = match program {
        DD => Some(
            "dd does not say whether it read or wrote, or whether the page cache answered; it counts as a write",
        ),
        IOPING_RAW => Some("ioping -B does not say whether it read or wrote; it counts as a read"),
        _ => None,
    };
    let unread = unread(unread_lines, "its numbers are not below the headings");
    std::iter::once(no_interval).chain(unsaid.map(str::to_owned)).chain(unread).collect()
}

/// How many lines were left out, the number of the first, and why.
fn unread(lines: &[usize], why: &str) -> Option<String> {
    let first = lines.first()?;
    Some(match lines.len() - 1 {
        0 => format!("line {first} is left out: {why}"),
        more => format!("line {first} and {more} more are left out: {why}"),
    })
}

/// Caveats of fio's terse output.
pub(crate) fn terse(notes: &Notes) -> Vec<String> {
    let mut caveats = caveats(notes, true);
    caveats.insert(
        1,
        "fio's terse output has no settings, whole IOPS and whole microseconds; whether the system's cache answered is not \
         known"
            .to_owned(),
    );
    caveats
}

/// The kind of values in a log over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
pub(crate) enum LogKind {
    /// KiB/s.
    #[strum(serialize = "bw")]
    Bandwidth,
    /// I/Os a second.
    #[strum(serialize = "iops")]
    Iops,
    /// Submission latency in nanoseconds.
    #[strum(serialize = "slat")]
    Submission,
    /// Completion latency in nanoseconds, counted from submission.
    #[strum(serialize = "clat")]
    Completion,
    /// Total latency in nanoseconds.
    #[strum(serialize = "lat")]
    Latency,
}

/// Name of a log's workload. All logs share it, so that two of them can be compared.
pub(crate) const LOG: &str = "log";

/// Caveats of a log over time. `is_value_alone`: no line has the length of its I/Os.
pub(crate) fn log(kind: LogKind, is_value_alone: bool, unread_lines: &[usize]) -> Vec<String> {
    let mut caveats = vec![
        "fio's log has no settings and no errors; whether the system's cache answered is not known"
            .to_owned(),
    ];
    let of_kind = match kind {
        LogKind::Bandwidth if is_value_alone => {
            "the log has bandwidth alone: IOPS are counted as if each I/O were 1 MiB"
        }
        LogKind::Iops if is_value_alone => "the log has IOPS alone: no bandwidth is known",
        LogKind::Bandwidth | LogKind::Iops => "the log has no latencies",
        LogKind::Submission => "the log has the time to submit an I/O alone: its latency is not known",
        LogKind::Completion => {
            "latency is fio's completion latency, which leaves out submission, read as nanoseconds; fio 2 wrote microseconds"
        }
        LogKind::Latency => "latency is read as nanoseconds; fio 2 wrote microseconds",
    };
    caveats.push(of_kind.to_owned());
    caveats.extend(unread(unread_lines, "it is no line of a log, or is cut off"));
    caveats
}

pub(crate) const TERSE_FIELDS: &str =
    "expected all fields of fio's terse output, version 2 to 5; the line is cut off or of another form";

pub(crate) const LOG_GOES_BACK: &str =
    "its time is before that of the line above: jobs that share a log (per_job_logs=0) cannot be told apart";

impl Notes {
    pub(crate) fn new(documents: usize) -> Self {
        Self { documents, jobs_by_note: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, note: Note, job: &str) {
        let jobs = self.jobs_by_note.entry(note).or_default();
        if !jobs.iter().any(|known| known == job) {
            jobs.push(job.to_owned());
        }
    }
}

/// All caveats, most important first. `unbuffered`: all jobs asked for direct I/O.
pub(crate) fn caveats(notes: &Notes, unbuffered: bool) -> Vec<String> {
    let mut caveats = vec![
        "measured by fio, not by likenew: its steadiness over time and its slowest I/O are unknown"
            .to_owned(),
    ];
    if notes.documents > 1 {
        caveats.push(format!(
            "the file holds {} documents, as fio --status-interval writes them: this is the last",
            notes.documents
        ));
    }
    if !unbuffered {
        caveats.push("not every job asked for direct=1: the system's cache may have answered".to_owned());
    }
    caveats.extend(notes.jobs_by_note.iter().map(|(note, jobs)| caveat(note, jobs)));
    caveats
}

/// Names the first jobs and counts the others.
fn names(jobs: &[String]) -> String {
    const NAMED_MAX: usize = 3;
    let quoted = |jobs: &[String]| jobs.iter().map(|job| format!("\"{job}\"")).collect::<Vec<_>>().join(", ");
    match jobs.len() {
        0..=NAMED_MAX => quoted(jobs),
        count => format!("{} and {} more", quoted(&jobs[..1]), count - 1),
    }
}

/// An option as a job file has it.
pub(crate) fn option(option: &str, value: &str) -> String {
    if value.is_empty() { option.to_owned() } else { format!("{option}={value}") }
}

// ## Facts of an import

pub(crate) fn direct(unbuffered: bool) -> &'static str {
    if unbuffered { "yes" } else { "no, or not for every job" }
}

// ## What was found: "expected a list, found null"

pub(crate) const NOTHING: &str = "nothing";

likenew_core::sentences! {
    pub(crate) fn text(text: &str) = "the text {text:?}";
    /// Found in place of an object with the key that was asked for.
    pub(crate) fn value_above(value: &Value) = "{} above it", actual(value);
}

pub(crate) fn actual(value: &Value) -> String {
    const CHARS_MAX: usize = 40;
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(long) if long.chars().count() > CHARS_MAX => {
            format!("{} …", text(&long.chars().take(CHARS_MAX).collect::<String>()))
        }
        Value::String(short) => text(short),
        Value::Array(list) => format!("a list of {}", list.len()),
        Value::Object(object) => {
            let keys: Vec<&str> = object.keys().take(4).map(String::as_str).collect();
            format!("an object of {} keys ({} …)", object.len(), keys.join(", "))
        }
    }
}

/// What an import expects of a value: "expected a list, found null".
pub(crate) mod expected {
    // ## Of any value

    pub(crate) const OBJECT: &str = "an object";
    pub(crate) const LIST: &str = "a list";
    pub(crate) const TEXT: &str = "a text";
    pub(crate) const COUNT: &str = "a whole number from 0 to 2⁶⁰";
    pub(crate) const NUMBER: &str = "a number from 0 to 2⁶⁰";
    pub(crate) const ERRNO: &str = "an error number of the system";

    // ## Of the document

    pub(crate) const UNIX_TIME: &str = "seconds since 1970 as a whole number";
    pub(crate) const VERSION: &str = "the version of fio, such as \"fio-3.33\"";
    pub(crate) const NEWER_VERSION: &str =
        "fio 3 or newer: older versions give amounts and latencies in other units";
    pub(crate) const JOBS: &str = "a list of jobs, or client_stats of fio --client";
    pub(crate) const ONE_JOB: &str = "a list of at least one job";
    pub(crate) const JOB_NAME: &str = "the name of the job";
    pub(crate) const GROUP_NUMBER: &str = "the number of its group";
    pub(crate) const STREAM_COUNT: &str = "at most 65535 streams in a workload";
    pub(crate) const TOTALS: &str = "jobs that come to less than 2⁶⁰ in all";

    // ## Of a job's options

    pub(crate) const OPTIONS: &str = "the options of the job, as fio 3 gives them";
    pub(crate) const OPERATION: &str = "read, write, trim, rw, readwrite or trimwrite, with or without rand";

    // ## Of what a job did

    pub(crate) const SIDE: &str = "an object that says what the job did";
    pub(crate) const IO_COUNT: &str = "a count of I/Os";
    pub(crate) const FLUSH_COUNT: &str = "a count of flushes";
    pub(crate) const BYTES: &str = "a number of bytes";
    pub(crate) const BYTES_OF_KIBIBYTES: &str = "bytes, 1024 times io_kbytes";
    pub(crate) const MILLISECONDS: &str = "milliseconds";
    pub(crate) const RUNTIME: &str = "milliseconds that make less than 36 years";

    // ## Of its latencies

    pub(crate) const LATENCY: &str = "an object with \"mean\" in nanoseconds, as fio 3 gives it";
    pub(crate) const MEAN: &str = "a mean in nanoseconds";
    pub(crate) const NANOSECONDS: &str = "nanoseconds";
    pub(crate) const BIN: &str = "a bin whose name is a whole number of nanoseconds";
    pub(crate) const BIN_SUM: &str = "bins that hold less than 2⁶⁰ I/Os";
    pub(crate) const PERCENTILE: &str = "a percentile whose name is a number from 0 to 100";
    pub(crate) const LATENCY_SUM: &str = "latencies that sum up to less than 36 years";
}

/// Why a job file cannot be run.
pub(crate) mod job_file {
    pub(crate) const NOT_AN_OPTION: &str =
        "expected an option of fio, such as bs=4k, or the name of a job in brackets";
    pub(crate) const OUTSIDE_JOB: &str = "an option of fio before the first [job] or [global]";
    pub(crate) const NO_JOB: &str = "the job file has no job, such as [reads]";
    pub(crate) const ENDLESS: &str = "the job has no end here: give size or io_size in bytes, or runtime";
    pub(crate) const TRIM_AND_WRITE: &str = "likenew run cannot trim each place before it writes it";
    pub(crate) const SEVERAL_TARGETS: &str =
        "the jobs are of several files; name one target: likenew run JOBS.fio TARGET";

    pub(crate) fn side_by_side(first: &str, other: &str) -> String {
        format!(
            "jobs \"{first}\" and \"{other}\" run at the same time; give both the same runtime, time_based and numjobs, \
             or the second stonewall"
        )
    }

    pub(crate) fn not_understood(value: &str) -> String {
        format!("\"{value}\" cannot be run; give a plain value")
    }

    pub(crate) fn other_engine(engine: &str) -> String {
        format!("the engine {engine} does other things than read and write; likenew run cannot do them")
    }

    pub(crate) fn expected(expected: &str) -> String {
        format!("expected {expected}")
    }
}
