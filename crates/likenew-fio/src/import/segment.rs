//! Workloads and their results.

use likenew_core::io::Op;
use likenew_core::segment::{Segment, Stop, Windows};
use likenew_core::tally::Tally;
use likenew_core::target::Health;
use likenew_core::units::Nanos;
use likenew_core::workload::{Mix, Stream, Until, Workload};

use super::ImportError;
use super::groups::Group;
use super::node::COUNT_MAX;
use super::notes::Notes;
use super::stream::{access, bound, stream};
use super::system::System;
use super::tallies::{JobCounts, JobTraits};
use super::wording::expected;

/// One segment for each group, in the same order.
pub(super) fn segments(groups: &[Group<'_>], notes: &mut Notes) -> Result<Vec<Segment>, ImportError> {
    let mut totals = Totals::default();
    let system = System::of(groups);
    let mut segments: Vec<Segment> = Vec::with_capacity(groups.len());
    // Jobs of one turn start together, those of the next when the last of them has ended.
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

/// What a group did: one workload, and its reads for verification as another one.
fn workloads(
    group: &Group<'_>,
    started_at: Nanos,
    system: Option<System>,
    totals: &mut Totals,
    notes: &mut Notes,
) -> Result<Vec<Segment>, ImportError> {
    let first = &group.streams[0].options;
    let lanes = first.count_or_one("numjobs");
    let (access, cold) = access(first);
    let mut workload = Workload {
        lanes,
        seed: first.text("randseed").and_then(|seed| seed.parse().ok()).unwrap_or(0),
        access,
        cold,
        flush: first.flag("end_fsync"),
        ..Workload::new(&group.name, bound(first, lanes), Vec::new())
    };
    // The reads of a rest measure nothing.
    let (mut unsaid, is_rest) = (Notes::new(1), group.is_rest());
    let notes = if is_rest { &mut unsaid } else { notes };
    let (mut parts, mut verify_counts) = (Parts::default(), Parts::default());
    let mut read_back = Vec::new();
    for (index, jobs) in group.streams.iter().enumerate() {
        let stream = stream(&jobs.options, &group.name, jobs.options.count_or_one("numjobs"), notes)?;
        let verification = jobs.options.verification(stream.op);
        // fio joins copies with group_reporting.
        let is_joined = jobs.options.count_or_one("numjobs") as usize > jobs.copies.len();
        let is_one_pass = !is_joined && jobs.options.runs_once();
        for copy in &jobs.copies {
            // Streams are counted by 16 bits throughout, and a list of jobs that long takes gigabytes.
            let index = u16::try_from(index).map_err(|_| copy.unexpected_error(expected::STREAM_COUNT))?;
            let traits = JobTraits { stream: index, op: stream.op, verification, is_one_pass, system };
            let counts = JobCounts::read(copy, traits, &group.name, notes)?;
            let read = counts.verify_counts.iter().map(|verify_counts| &verify_counts.tally);
            for tally in counts.tallies.iter().chain(read) {
                totals.add(tally).ok_or_else(|| copy.unexpected_error(expected::TOTALS))?;
            }
            verify_counts.add_verified(&counts);
            parts.add(counts);
        }
        read_back.push(Stream { op: Mix::Only(Op::Read), ..stream.clone() });
        workload.streams.push(stream);
    }
    let verify = (!verify_counts.tallies.is_empty()).then(|| {
        let name = format!("{}, verify", group.name);
        Workload { name, streams: read_back, ..workload.clone() }
    });
    if is_rest {
        let until = Until::elapsed(parts.elapsed);
        workload = Workload { lanes, seed: workload.seed, ..Workload::new(&group.name, until, Vec::new()) };
        parts.tallies.clear();
    }
    // With verify_only nothing was written.
    let first = (verify.is_none() || !parts.tallies.is_empty()).then(|| parts.segment(workload, started_at));
    let after = first.as_ref().map_or(started_at, |first| first.ended_at);
    let second = verify.map(|workload| verify_counts.segment(workload, after));
    Ok(first.into_iter().chain(second).collect())
}

/// The results of all jobs of a workload.
#[derive(Default)]
struct Parts {
    tallies: Vec<Tally>,
    elapsed: Nanos,
    /// The system's error number that a job met first, or 0.
    error: i32,
}

impl Parts {
    fn add(&mut self, counts: JobCounts) {
        self.elapsed = self.elapsed.max(counts.elapsed);
        self.fail(counts.error);
        counts.tallies.into_iter().for_each(|tally| self.count(tally));
    }

    /// What the job read to verify.
    fn add_verified(&mut self, counts: &JobCounts) {
        let Some(verify_counts) = &counts.verify_counts else { return };
        self.elapsed = self.elapsed.max(verify_counts.elapsed);
        self.fail(verify_counts.error);
        self.count(verify_counts.tally.clone());
    }

    fn fail(&mut self, error: i32) {
        if self.error == 0 {
            self.error = error;
        }
    }

    fn count(&mut self, tally: Tally) {
        let same = |known: &&mut Tally| (known.stream, known.op) == (tally.stream, tally.op);
        match self.tallies.iter_mut().find(same) {
            Some(known) => known.merge(&tally),
            None => self.tallies.push(tally),
        }
    }

    /// fio reports no course over time, no single I/Os and no health of the drive.
    fn segment(mut self, workload: Workload, started_at: Nanos) -> Segment {
        self.tallies.sort_by_key(|tally| (tally.stream, tally.op.index()));
        Segment {
            workload,
            started_at,
            ended_at: started_at + self.elapsed,
            busy: Nanos::ZERO,
            stop: if self.error == 0 { Stop::Reached } else { Stop::JobFailed { errno: self.error } },
            tallies: self.tallies,
            seconds: Windows::new(1_000_000_000),
            gigabytes: Windows::new(1 << 30),
            slowest: Vec::new(),
            samples: Vec::new(),
            refused_ios: Vec::new(),
            replay_record: None,
            health_before: Health::default(),
            health_after: Health::default(),
            accounting: None,
            device_counters: None,
            damage: None,
            after_interruption: false,
        }
    }
}

/// Everything of all jobs, so that no sum of them can overflow.
#[derive(Default)]
struct Totals {
    ios: u64,
    bytes: u64,
    latency_ns: u64,
    latency_count: u64,
}

impl Totals {
    fn add(&mut self, tally: &Tally) -> Option<()> {
        let add = |sum: &mut u64, more: u64| {
            *sum = sum.saturating_add(more);
            (*sum <= COUNT_MAX).then_some(())
        };
        add(&mut self.ios, tally.ios)?;
        add(&mut self.ios, tally.errors)?;
        add(&mut self.ios, tally.short)?;
        add(&mut self.bytes, tally.bytes)?;
        add(&mut self.latency_ns, tally.latency_ns_sum)?;
        add(&mut self.latency_count, tally.latency.count())
    }
}
