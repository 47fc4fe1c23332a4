//! Reads fio job files as workloads, so that their jobs can be run without fio.

use std::collections::BTreeMap;

use likenew_core::workload::{Stream, Until, Workload};

use super::ImportError;
use super::options::{self, Options, bound, stream};
use crate::fio_option;
use crate::job::{Part, decode};
use crate::wording::{Note, Notes};
use crate::wording::{caveat, job_file as wording};

/// Joins the names of jobs that run side by side into the name of their workload.
pub const JOBS_JOIN: &str = " + ";

/// Why a job file cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct JobFileError {
    /// Line number, from 1.
    pub line: usize,
    /// The option at fault, if the error is about one.
    pub option: Option<String>,
    /// What is wrong, or which feature cannot be run.
    pub reason: String,
}

/// The contents of a job file.
#[derive(Debug, Clone, PartialEq)]
pub struct JobFile {
    /// The jobs' workloads, in the order in which they run.
    pub workloads: Vec<Workload>,
    /// The file, device or folder that the jobs name.
    pub target: Option<String>,
    /// The highest end of the jobs' regions, in bytes from the beginning of the target; 0 where no job gives one.
    pub bytes: u64,
    /// What runs differently than in fio, with the jobs concerned.
    pub differences: Vec<String>,
}

/// Whether a text is a job file: a job file begins with the name of a job in brackets.
pub fn is_job_file(text: &str) -> bool {
    lines(text).next().is_some_and(|(_, line)| {
        let name = line.trim_start_matches('[');
        line.starts_with('[') && !name.starts_with("options")
    })
}

/// Reads a job file. `bytes_of` receives the target's name and returns its size, or `None` if it has none, as a folder.
/// A job without an end of its own ends there. Shares of the target are taken of that size where needed.
///
/// # Errors
/// The text is no job file, or a job asks for something that cannot be run as fio runs it.
pub fn job_file(
    text: &str,
    bytes_of: impl FnOnce(Option<&str>) -> Option<u64>,
) -> Result<JobFile, JobFileError> {
    let mut jobs = jobs(text)?;
    let target = target(&jobs)?;
    let depends = |job: &Job| job.is_endless() || job.options.has_share_beside_bytes();
    if jobs.iter().any(depends)
        && let Some(bytes) = bytes_of(target.as_deref())
    {
        jobs.iter_mut().filter(|job| depends(job)).for_each(|job| job.options.cover(bytes));
    }
    let mut notes = Notes::new(1);
    let mut turns: Vec<Vec<&Job>> = Vec::new();
    for job in &jobs {
        match turns.last_mut() {
            Some(turn) if !job.options.flag("stonewall") => turn.push(job),
            _ => turns.push(vec![job]),
        }
    }
    let workloads = turns.iter().map(|turn| workload(turn, &mut notes)).collect::<Result<Vec<_>, _>>()?;
    let regions =
        workloads.iter().flat_map(|workload| &workload.streams).map(|stream| stream.pattern.region());
    let bytes = regions.filter_map(|region| region.resolve(1 << 62, 1).ok()).map(|range| range.end);
    let notes = notes.jobs_by_note.iter().filter(|(note, _)| **note != Note::Paced);
    Ok(JobFile {
        target,
        bytes: bytes.filter(|end| *end < 1 << 60).max().unwrap_or(0),
        differences: notes.map(|(note, jobs)| caveat(note, jobs)).collect(),
        workloads,
    })
}

/// Values and line numbers by option.
type NumberedOptions = BTreeMap<String, (String, usize)>;

/// A section, with the global options that precede it.
struct Job {
    name: String,
    line: usize,
    options: Options,
    lines: BTreeMap<String, usize>,
}

impl Job {
    fn until(&self) -> Until {
        bound(&self.options, self.options.copies())
    }

    fn is_endless(&self) -> bool {
        self.until() == Until::default()
    }

    /// The error that refuses the job because of this option.
    fn error(&self, option: &str, reason: impl Into<String>) -> JobFileError {
        let line = self.lines.get(option).copied().unwrap_or(self.line);
        JobFileError { line, option: Some(option.to_owned()), reason: reason.into() }
    }
}

/// Lines with their numbers from 1, without comments and empty lines.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let uncommented = text
        .trim_start_matches('\u{feff}')
        .lines()
        .map(|line| line.split([';', '#']).next().unwrap_or_default().trim());
    (1..).zip(uncommented).filter(|(_, line)| !line.is_empty())
}

fn jobs(text: &str) -> Result<Vec<Job>, JobFileError> {
    let mut sections: Vec<(String, usize, NumberedOptions)> = Vec::new();
    let mut global = NumberedOptions::new();
    let mut is_global = false;
    for (line, text) in lines(text) {
        if let Some(name) = text.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            is_global = name == "global";
            if !is_global {
                sections.push((decode(name), line, global.clone()));
            }
            continue;
        }
        let (option, value) = text.split_once('=').unwrap_or((text, ""));
        let (option, value) = (fio_option::canonical(option.trim()).to_owned(), value.trim().to_owned());
        let error = |reason: String| JobFileError { line, option: Some(option.clone()), reason };
        if option.split_whitespace().count() > 1 {
            return Err(error(wording::NOT_AN_OPTION.into()));
        }
        match sections.last_mut() {
            _ if is_global => _ = global.insert(option, (value, line)),
            Some((.., options)) => _ = options.insert(option, (value, line)),
            None => return Err(error(wording::OUTSIDE_JOB.into())),
        }
    }
    if sections.is_empty() {
        return Err(JobFileError { line: 1, option: None, reason: wording::NO_JOB.into() });
    }
    Ok(sections.into_iter().map(job).collect())
}

fn job((name, line, options): (String, usize, NumberedOptions)) -> Job {
    let lines = options.iter().map(|(option, (_, line))| (option.clone(), *line)).collect();
    let values = options.into_iter().map(|(option, (value, _))| (option, value)).collect();
    Job { options: Options::new(values, &name), name, line, lines }
}

/// The workload of jobs that run side by side; each job is a stream.
fn workload(turn: &[&Job], notes: &mut Notes) -> Result<Workload, JobFileError> {
    let first = turn[0];
    let lanes = first.options.copies();
    let end = first.until();
    let ended_by_time = end.ops.is_none() && end.bytes.is_none();
    let rest = first.options.text("description").and_then(Part::read).filter(|part| part.stream == 0);
    if let (Some(_), Some(span)) = (rest, end.elapsed) {
        return Ok(Workload { name: first.name.clone(), ..Workload::rest(span) });
    }
    let mut streams = Vec::new();
    for (index, job) in turn.iter().enumerate() {
        let same = (job.until(), job.options.copies()) == (end, lanes);
        if index > 0 && !(ended_by_time && same) {
            return Err(job.error("time_based", wording::side_by_side(&first.name, &job.name)));
        }
        streams.push(runnable(job, notes)?);
    }
    if first.is_endless() {
        return Err(first.error("size", wording::ENDLESS));
    }
    let mut names: Vec<&str> = turn.iter().map(|job| job.name.as_str()).collect();
    names.dedup();
    Ok(options::workload(names.join(JOBS_JOIN), &first.options, streams))
}

fn runnable(job: &Job, notes: &mut Notes) -> Result<Stream, JobFileError> {
    let options = &job.options;
    if let Some((option, value)) = options.unread() {
        return Err(job.error(option, wording::not_understood(value)));
    }
    let engine = options.text("ioengine").unwrap_or("psync");
    if !fio_option::is_plain_engine(engine) {
        return Err(job.error("ioengine", wording::other_engine(engine)));
    }
    if let Some((option, reason)) = options.refusal() {
        return Err(job.error(option, reason));
    }
    if options.text("rw").is_some_and(|rw| rw.contains("trimwrite")) {
        return Err(job.error("rw", wording::TRIM_AND_WRITE));
    }
    let stream = stream(options, &job.name, notes);
    stream.map_err(|error| match error {
        ImportError::Unexpected { expected, .. } => job.error("rw", wording::expected(&expected)),
        other => job.error("rw", other.to_string()),
    })
}

/// The common target of all jobs. fio splits names at colons without a backslash before them.
fn target(jobs: &[Job]) -> Result<Option<String>, JobFileError> {
    let mut target: Option<String> = None;
    for job in jobs {
        let file = job.options.text("filename").filter(|name| !name.contains('$'));
        let folder = job.options.text("directory");
        let (option, name) = match (file, folder) {
            (Some(file), Some(folder)) if !file.starts_with('/') => ("filename", format!("{folder}/{file}")),
            (Some(file), _) => ("filename", file.to_owned()),
            (None, Some(folder)) => ("directory", folder.to_owned()),
            (None, None) => continue,
        };
        let name = name.replace("\\:", "\0");
        if name.contains(':') || target.as_ref().is_some_and(|known| known.replace(':', "\0") != name) {
            return Err(job.error(option, wording::SEVERAL_TARGETS));
        }
        target = Some(name.replace('\0', ":"));
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use likenew_core::units::Nanos;
    use likenew_core::workload::{Access, Mix};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sections_are_workloads_and_jobs_side_by_side_their_streams() {
        let text = "; a comment\n[global]\nfilename=/dev/nothing\ndirect=1\nruntime=2m ; and more\ntime_based\n\
                    [log]\nrw=write\nblocksize=16k\n[data]\nrw=randrw\nrwmixread=70\nbs=8k\niodepth=16\ncpus_allowed=1\n\
                    [global]\ntime_based=0\n[last]\nstonewall\nsize=1m\nnumjobs=2\ndirect=0\nruntime=0\n";
        let JobFile { workloads, target, bytes, differences } = job_file(text, |_| None).unwrap();
        let [both, last] = &workloads[..] else { panic!("{workloads:?}") };
        assert_eq!((both.name.as_str(), both.access, both.streams.len()), ("log + data", Access::Direct, 2));
        assert_eq!(both.until, Until::elapsed(Nanos::from_secs(120)));
        assert_eq!((both.streams[1].op, both.streams[1].arrival.depth()), (Mix::Reads(70), 16));
        assert_eq!((last.lanes, last.access, last.cold), (2, Access::Buffered, true));
        assert_eq!((last.until, bytes), (Until::bytes(2 << 20), 1 << 20));
        assert_eq!(target.as_deref(), Some("/dev/nothing"));
        let [overlapping, unmapped] = &differences[..] else { panic!("{differences:?}") };
        assert!(overlapping.starts_with("\"last\": each copy covered the whole zone"), "{overlapping}");
        assert_eq!(unmapped, "\"data\": these settings of fio are not part of the workload: cpus_allowed=1");
    }

    #[test]
    fn a_job_without_a_size_covers_its_target() {
        let text = "[global]\nfilename=/dev/x\nbs=1m\n[fill]\nrw=write\n[half]\nstonewall\nrw=randwrite\nnumjobs=2\nsize=50%\noffset=25%\n\
                    [timed]\nstonewall\nruntime=5\ntime_based\n[part]\nstonewall\nsize=3m\n";
        let bytes_of = |target: Option<&str>| {
            assert_eq!(target, Some("/dev/x"));
            Some(1_000_001_024)
        };
        let JobFile { workloads, bytes, .. } = job_file(text, bytes_of).unwrap();
        let half = 500_000_512 / 4096 * 4096;
        let until: Vec<Until> = workloads.iter().map(|workload| workload.until).collect();
        let timed = Until::elapsed(Nanos::from_secs(5));
        assert_eq!(
            until,
            [Until::bytes(1_000_001_024), Until::bytes(2 * half), timed, Until::bytes(3 << 20)]
        );
        let quarter = 250_000_256 / 4096 * 4096;
        let region = workloads[1].streams[0].pattern.region().resolve(1 << 40, 1).unwrap();
        assert_eq!((region, bytes), (quarter..quarter + half, 1_000_001_024));
        assert_eq!(job_file("[a]\nsize=50%\n", |_| None).unwrap_err().reason, wording::ENDLESS);
    }

    #[test]
    fn a_share_beside_bytes_is_one_of_the_target() {
        let text = "[a]\nfilename=/dev/x\nrw=randread\nbs=4k\noffset=25%\nsize=16m\n";
        let region = |bytes| {
            let file = job_file(text, |_| bytes).unwrap();
            (file.workloads[0].streams[0].pattern.region().resolve(1 << 40, 1).unwrap(), file.differences)
        };
        let (start, end) = (1 << 28, (1 << 28) + (16 << 20));
        assert_eq!(region(Some(1 << 30)), (start..end, Vec::new()));
        let (region, differences) = region(None);
        assert_eq!(region, 0..16 << 20, "the file in a folder is as long as the job");
        assert!(differences[0].ends_with("offset=25%"), "{differences:?}");
    }

    #[test]
    fn what_cannot_be_run_is_named_by_line_and_option() {
        for (text, line, option, words) in [
            ("bs=4k\n", 1, Some("bs"), "before the first [job]"),
            ("[a]\nwhat is this\n", 2, Some("what is this"), "expected an option"),
            ("[global]\nbs=4k\n", 1, None, "no job"),
            ("[a]\nrw=read\n", 1, Some("size"), "no end"),
            ("[a]\nsize=1m\n\niodepth=$DEPTH\n", 4, Some("iodepth"), "plain value"),
            ("[a]\nsize=1m\nreadwrite=seek\n", 3, Some("rw"), "expected read, write"),
            ("[a]\nsize=1m\nrw=randtrimwrite\n", 3, Some("rw"), "trim each place"),
            ("[a]\nsize=1m\nioengine=net\n", 3, Some("ioengine"), "the engine net"),
            ("[a]\nread_iolog=x\nruntime=1\ntime_based\n", 2, Some("read_iolog"), "likenew replay"),
            ("[a]\nsize=1m\n[b]\nsize=1m\n", 3, Some("time_based"), "run at the same time"),
            ("[a]\nsize=1m\nfilename=x:y\n", 3, Some("filename"), "several files"),
            (
                "[a]\nsize=1m\nfilename=x\n[b]\nstonewall\nsize=1m\nfilename=y\n",
                7,
                Some("filename"),
                "several files",
            ),
        ] {
            let error = job_file(text, |_| None).unwrap_err();
            assert_eq!((error.line, error.option.as_deref()), (line, option), "{text}: {error}");
            assert!(error.reason.contains(words), "{error}");
        }
    }

    #[test]
    fn only_what_begins_with_a_job_is_a_job_file() {
        for (text, is_one) in [
            ("# jobs\n\n[global]\n", true),
            ("\u{feff}[a b]\n", true),
            ("", false),
            ("procedure = 'run'\n[options]\n", false),
            ("[[options.workload]]\n", false),
            ("[options]\n", false),
        ] {
            assert_eq!(is_job_file(text), is_one, "{text}");
        }
    }

    /// An exported job file is read back as the same workloads.
    #[test]
    fn exported_jobs_are_read_back() {
        let stream =
            "[[stream]]\nop = 'write'\nsize = '4KiB'\npattern.random = '0..8MiB'\narrival.closed.depth = 4\n";
        let workloads = [
            format!(
                "name = 'a #1'\nlanes = 2\nseed = 7\nuntil = {{ bytes = '8MiB' }}\nflush = true\n{stream}"
            ),
            "name = 'rest'\nuntil = { elapsed = '5s' }\n".to_owned(),
            format!("name = 'both'\naccess = 'buffered'\nuntil = {{ elapsed = '1s' }}\n{stream}{stream}"),
        ]
        .map(|text| toml::from_str::<Workload>(&text).unwrap());
        let geometry = super::super::geometry(&[]);
        let geometry = likenew_core::target::Geometry { capacity: 8 << 20, writable: true, ..geometry };
        let text = crate::export(&workloads, &geometry, crate::FILENAME_LEFT_OPEN, &[]).unwrap();
        assert!(is_job_file(&text));
        let JobFile { workloads: again, target, differences, .. } = job_file(&text, |_| None).unwrap();
        assert_eq!((&again[..], target, differences), (&workloads[..], None, Vec::new()));
    }

    proptest! {
        #[test]
        fn no_job_file_panics(text in "(\\[[a-z# ]{0,6}\\]\n|(rw|bs|size|numjobs|runtime|offset|filename)=[0-9a-z%:,/.]{0,8}\n|.{0,9}\n){0,12}") {
            let _ = (is_job_file(&text), job_file(&text, |_| None));
        }
    }
}
