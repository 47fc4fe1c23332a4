//! Groups fio's jobs into workloads and makes their segments. Copies of one job, and jobs exported from one workload,
//! belong together.

use likenew_core::io::Op;
use likenew_core::segment::{Segment, Stop};
use likenew_core::tally::Tally;
use likenew_core::units::Nanos;
use likenew_core::workload::{Mix, Stream, Until, Workload};

use super::ImportError;
use super::document::{COUNT_MAX, Node};
use super::options::{self, Options, stream};
use super::tallies::{Counts, JobCounts, JobTraits, System};
use crate::job::{Part, decode};
use crate::wording::Notes;
use crate::wording::expected;

/// One segment for each group, and another where a job verified; in the order of the groups.
pub(super) fn segments(groups: &[Group<'_>], notes: &mut Notes) -> Result<Vec<Segment>, ImportError> {
    let mut totals = Totals::default();
    let options: Vec<_> =
        groups.iter().flat_map(|group| &group.streams).map(|stream| &stream.options).collect();
    let system = System::of(&options);
    let mut segments: Vec<Segment> = Vec::with_capacity(groups.len());
    // Jobs of one turn start together. The next turn starts when the last of them has ended.
    let (mut started_at, mut ended) = (Nanos::ZERO, Nanos::ZERO);
    for (index, group) in groups.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &groups[before].turn);
        if before.is_some_and(|before| before.0 != group.turn.0) {
            (started_at, ended) = (Nanos::ZERO, Nanos::ZERO);
        } else if before.is_some_and(|before| before.1 != group.turn.1) {
            started_at = ended;
        }
        for segment in workloads(group, started_at, system, &mut totals, notes)? {
            ended = ended.max(segment.ended_at);
            segments.push(segment);
        }
    }
    Ok(segments)
}

/// The segments of a group: its workload, and its verifying reads as another one.
fn workloads(
    group: &Group<'_>,
    started_at: Nanos,
    system: Option<System>,
    totals: &mut Totals,
    notes: &mut Notes,
) -> Result<Vec<Segment>, ImportError> {
    let first = &group.streams[0].options;
    let mut workload = options::workload(&group.name, first, Vec::new());
    // Notes about a rest are dropped, since its reads measure nothing.
    let (mut unsaid, is_rest) = (Notes::new(1), group.is_rest());
    let notes = if is_rest { &mut unsaid } else { notes };
    let (mut own, mut verified) = (Counts::default(), Counts::default());
    let mut read_back = Vec::new();
    for (index, jobs) in group.streams.iter().enumerate() {
        let stream = stream(&jobs.options, &group.name, notes)?;
        let verification = jobs.options.verification(stream.op);
        // With `group_reporting`, fio joins the copies into one result.
        let is_joined = jobs.options.copies() as usize > jobs.copies.len();
        let is_one_pass = !is_joined && jobs.options.runs_once();
        for copy in &jobs.copies {
            // A stream's number has 16 bits; a list of more jobs would be gigabytes of JSON.
            let index = u16::try_from(index).map_err(|_| copy.unexpected_error(expected::STREAM_COUNT))?;
            let (name, op) = (&*group.name, stream.op);
            let traits = JobTraits { name, stream: index, op, verification, is_one_pass, system };
            let counts = JobCounts::read(copy, traits, notes)?;
            for tally in counts.own.tallies.iter().chain(&counts.verified.tallies) {
                totals.add(tally).ok_or_else(|| copy.unexpected_error(expected::TOTALS))?;
            }
            own.add(counts.own);
            verified.add(counts.verified);
        }
        let Stream { size, pattern, arrival, data, .. } = stream.clone();
        read_back.push(Stream::new(Mix::Only(Op::Read), size, pattern, arrival, data));
        workload.streams.push(stream);
    }
    let verify = (!verified.tallies.is_empty()).then(|| {
        let name = format!("{}, verify", group.name);
        Workload { name, streams: read_back, ..workload.clone() }
    });
    if is_rest {
        let until = Until::elapsed(own.elapsed);
        workload = Workload {
            lanes: workload.lanes,
            seed: workload.seed,
            ..Workload::new(&group.name, until, Vec::new())
        };
        own.tallies.clear();
    }
    // With `verify_only`, fio wrote nothing.
    let first = (verify.is_none() || !own.tallies.is_empty()).then(|| own.segment(workload, started_at));
    let after = first.as_ref().map_or(started_at, |first| first.ended_at);
    let second = verify.map(|workload| verified.segment(workload, after));
    Ok(first.into_iter().chain(second).collect())
}

impl Counts {
    /// Adds those of another job of the workload.
    fn add(&mut self, other: Self) {
        self.elapsed = self.elapsed.max(other.elapsed);
        if self.error == 0 {
            self.error = other.error;
        }
        for tally in other.tallies {
            let same = |known: &&mut Tally| (known.stream, known.op) == (tally.stream, tally.op);
            match self.tallies.iter_mut().find(same) {
                Some(known) => known.merge(&tally),
                None => self.tallies.push(tally),
            }
        }
    }

    fn segment(mut self, workload: Workload, started_at: Nanos) -> Segment {
        self.tallies.sort_by_key(|tally| (tally.stream, tally.op.index()));
        let stop = if self.error == 0 { Stop::Reached } else { Stop::JobFailed { errno: self.error } };
        of_tallies(workload, started_at, self.elapsed, stop, self.tallies)
    }
}

/// A segment of another program's totals, without a series over time, single I/Os and drive health.
pub(crate) fn of_tallies(
    workload: Workload,
    started_at: Nanos,
    elapsed: Nanos,
    stop: Stop,
    tallies: Vec<Tally>,
) -> Segment {
    Segment { started_at, ended_at: started_at + elapsed, tallies, ..Segment::empty(workload, stop) }
}

/// Totals over all jobs, which make sure that no sum overflows: I/Os, bytes, latencies in nanoseconds, and how many
/// latencies there are.
#[derive(Default)]
struct Totals([u64; 4]);

impl Totals {
    /// Adds a tally; `None` once a total is too large.
    fn add(&mut self, tally: &Tally) -> Option<()> {
        let ios = tally.ios.saturating_add(tally.errors).saturating_add(tally.short);
        let more = [ios, tally.bytes, tally.latency_ns_sum, tally.latency.count()];
        for (sum, more) in self.0.iter_mut().zip(more) {
            *sum = sum.saturating_add(more);
        }
        self.0.iter().all(|sum| *sum <= COUNT_MAX).then_some(())
    }
}

/// The jobs of one workload.
pub(super) struct Group<'a> {
    /// Its name.
    pub(super) name: String,
    /// Streams that ran side by side.
    pub(super) streams: Vec<Jobs<'a>>,
    /// Host and group number. Jobs of one group run side by side, those of the next group after them.
    pub(super) turn: (String, u64),
    part: Option<Part>,
}

/// All copies of one job.
pub(super) struct Jobs<'a> {
    /// One for each copy, or a single one if fio joined them.
    pub(super) copies: Vec<Node<'a>>,
    /// The options of these jobs.
    pub(super) options: Options,
}

impl Group<'_> {
    /// Whether this is a rest from an exported job file.
    pub(super) fn is_rest(&self) -> bool {
        self.part.is_some_and(|part| part.stream == 0)
    }
}

/// The jobs of a document, grouped by workload in the order of the document.
pub(super) fn groups<'a>(root: &Node<'a>) -> Result<Vec<Group<'a>>, ImportError> {
    let jobs = match (root.get("jobs"), root.get("client_stats")) {
        (Some(jobs), _) => jobs,
        (None, Some(clients)) => clients,
        (None, None) => root.need("jobs", expected::JOBS)?,
    };
    let mut groups: Vec<Group<'a>> = Vec::new();
    for job in jobs.list()? {
        let name = job.need("jobname", expected::JOB_NAME)?.text()?;
        let host = job.get("hostname").map(|host| host.text().map(str::to_owned)).transpose()?;
        // This entry is the sum of all clients; each client has its own entry, too.
        if host.is_some() && name == "All clients" {
            continue;
        }
        let options = Options::from_job(root, &job)?;
        let turn = (host.clone().unwrap_or_default(), job.need("groupid", expected::GROUP_NUMBER)?.count()?);
        let part = options.text("description").and_then(Part::read);
        let name = part.map_or_else(|| name.to_owned(), |_| decode(name));
        let name = host.map_or(name.clone(), |host| format!("{name} on {host}"));
        add(&mut groups, name, turn, part, Jobs { copies: vec![job], options });
    }
    if groups.is_empty() {
        return Err(jobs.unexpected_error(expected::ONE_JOB));
    }
    tell_apart(&mut groups);
    Ok(groups)
}

fn add<'a>(
    groups: &mut Vec<Group<'a>>,
    name: String,
    turn: (String, u64),
    part: Option<Part>,
    jobs: Jobs<'a>,
) {
    if let Some(last) = groups.last_mut().filter(|last| last.name == name && last.turn == turn) {
        let stream = last.streams.last_mut().expect("a group has a job");
        if stream.options.repeats(&jobs.options, stream.copies.len()) {
            stream.copies.extend(jobs.copies);
            return;
        }
        let same_workload = |a: Part, b: Part| a.workload == b.workload;
        if last.part.zip(part).is_some_and(|(a, b)| same_workload(a, b)) {
            last.streams.push(jobs);
            return;
        }
    }
    groups.push(Group { name, streams: vec![jobs], turn, part });
}

/// Gives each group a unique name, since the name identifies a row of a table.
fn tell_apart(groups: &mut [Group<'_>]) {
    for index in 1..groups.len() {
        let (before, group) = groups.split_at_mut(index);
        let (base, mut number) = (group[0].name.clone(), 1);
        while !group[0].is_rest() && before.iter().any(|other| other.name == group[0].name) {
            number += 1;
            group[0].name = format!("{base} ({number})");
        }
    }
}
