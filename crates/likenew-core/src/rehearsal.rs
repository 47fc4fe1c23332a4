//! A plan rehearsed without a drive: what it would run, what that moves, and about how long it takes.

use crate::io::Op;
use crate::look::{Look, Seen, Sight};
use crate::mix::Mix;
use crate::place::Place;
use crate::procedure::{Evidence, Procedure, Step};
use crate::recorded::{Expected, Recorded};
use crate::recorder::Stop;
use crate::segment::{Segment, SegmentRecorder};
use crate::tally::Tally;
use crate::units::Nanos;
use crate::workload::{Pace, Workload};

/// The course of a plan on a drive that nobody has measured yet: one that moves 500 MB/s, as the SATA link of an SSD lets
/// pass, and answers a small I/O in 100 µs, or in 12 ms where it rotates and the I/O goes anywhere.
///
/// A plan that goes on until something is reached is rehearsed to its last resort, as nothing is ever reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// What would run, in order; at most [`Rehearsal::WORKLOADS_MAX`].
    pub workloads: Vec<Workload>,
    /// What would be found out, in order.
    pub looks: Vec<Look>,
    /// Both, in order.
    pub course: Vec<Step>,
    /// Bytes that would be written: the bounds of the workloads, or what the assumed drive writes in their time.
    pub bytes_written: u64,
    /// Bytes that would be moved in all.
    pub bytes_moved: u64,
    /// About how long it would take.
    pub elapsed: Nanos,
    /// Whether it comes to an end within that many workloads.
    pub ends: bool,
}

const BYTES_PER_S: f64 = 500e6;
const ACCESS_NS: f64 = 100_000.0;
/// A random access of a drive that rotates: seek and half a turn of a desktop disk.
const ACCESS_ROTATING_NS: f64 = 12e6;
/// By how much of that each doubling of the depth lets it choose a shorter way: about 2.5 times as many I/Os at depth 32 as at depth 1.
const GAIN_PER_DOUBLING: f64 = 0.3;

impl Rehearsal {
    /// Plans of more workloads than this are taken for endless. A procedure may look at all segments each time it is
    /// asked, so that twice as many take four times as long.
    pub const WORKLOADS_MAX: usize = 20_000;

    /// Rehearses what is left of a plan after what `evidence` holds.
    ///
    /// # Errors
    /// The procedure's, when the plan does not fit the drive.
    pub fn of(procedure: &dyn Procedure, evidence: &Evidence) -> Result<Self, String> {
        Self::at_pace(procedure, evidence, &|_| 1.0)
    }

    /// The same on a drive that takes so many times as long for the I/Os of a workload.
    ///
    /// # Errors
    /// The procedure's, when the plan does not fit the drive.
    pub fn at_pace(
        procedure: &dyn Procedure,
        evidence: &Evidence,
        times_as_long: &dyn Fn(&Workload) -> f64,
    ) -> Result<Self, String> {
        let mut evidence = evidence.clone();
        let (first, first_sight, before) = (evidence.segments.len(), evidence.sights.len(), evidence.steps());
        let rotates = evidence.identity.rotates();
        let mut ends = false;
        while evidence.steps() - before < Self::WORKLOADS_MAX {
            match procedure.next(&evidence)? {
                Step::Run(workload) => {
                    workload.check(&evidence.geometry)?;
                    let began = evidence.segments.last().map_or(Nanos::ZERO, |segment| segment.ended);
                    evidence.segments.push(assumed(&workload, began, rotates, times_as_long(&workload)));
                }
                Step::Look(look) => evidence.sights.push(unseen(look, evidence.segments.len())),
                Step::Enough => {
                    ends = true;
                    break;
                }
            }
        }
        let mut rehearsal = Self {
            workloads: Vec::new(),
            looks: Vec::new(),
            course: past(&evidence.segments[first..], &evidence.sights[first_sight..], first).collect(),
            bytes_written: 0,
            bytes_moved: 0,
            elapsed: Nanos::ZERO,
            ends,
        };
        for Sight { look, .. } in evidence.sights.drain(first_sight..) {
            rehearsal.bytes_written = rehearsal.bytes_written.saturating_add(look.bytes_written());
            rehearsal.bytes_moved = rehearsal.bytes_moved.saturating_add(look.bytes_written());
            rehearsal.elapsed = Nanos(rehearsal.elapsed.0.saturating_add(look_elapsed(&look).0));
            rehearsal.looks.push(look);
        }
        for segment in evidence.segments.drain(first..) {
            rehearsal.bytes_moved = rehearsal.bytes_moved.saturating_add(segment.total().bytes);
            if segment.workload.reaches_the_drive() {
                rehearsal.bytes_written = rehearsal.bytes_written.saturating_add(segment.bytes(Op::Write));
            }
            rehearsal.elapsed = Nanos(rehearsal.elapsed.0.saturating_add(segment.elapsed().0));
            rehearsal.workloads.push(segment.workload);
        }
        Ok(rehearsal)
    }

    /// How much would be done: workloads and looks.
    pub fn steps(&self) -> usize {
        self.workloads.len() + self.looks.len()
    }
}

/// Workloads and looks in the order in which they came to be; `before` workloads were run before the first of them.
fn past<'a>(segments: &'a [Segment], sights: &'a [Sight], before: usize) -> impl Iterator<Item = Step> + 'a {
    let mut sights = sights.iter().peekable();
    (0..=segments.len()).flat_map(move |index| {
        let mut steps = Vec::new();
        while let Some(sight) = sights.next_if(|sight| sight.after <= before + index) {
            steps.push(Step::Look(sight.look.clone()));
        }
        steps.extend(segments.get(index).map(|segment| Step::Run(segment.workload.clone())));
        steps
    })
}

/// What a look takes on the assumed drive.
pub fn look_elapsed(look: &Look) -> Nanos {
    Nanos(look.waits().0.saturating_add((look.bytes_written() as f64 / BYTES_PER_S * 1e9) as u64))
}

/// What a workload takes on the assumed drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// Until it has issued all its I/Os, or moved all its bytes; nothing where only its time ends it.
    pub work: Option<Nanos>,
    /// Until its time is over, if it has one.
    pub time: Option<Nanos>,
    /// Whether it goes at a pace of its own rather than that of the drive.
    pub is_paced: bool,
}

/// What to expect of a workload on a drive that rotates, or one that does not.
pub fn expected(workload: &Workload, rotates: bool) -> Expectation {
    let time = workload.until.elapsed;
    if let Some(recorded) = &workload.recorded {
        return Expectation { work: Some(recording_elapsed(recorded)), time, is_paced: false };
    }
    if workload.streams.is_empty() {
        return Expectation { work: None, time: Some(time.unwrap_or_default()), is_paced: true };
    }
    let cost = Cost::of(workload, rotates);
    let ios = cost.ios_of_work(workload);
    let work = ios.is_finite().then_some(Nanos((ios * cost.each_ns) as u64));
    Expectation { work, time, is_paced: cost.is_paced }
}

/// What an I/O of a workload comes to on the assumed drive.
struct Cost {
    mean_bytes: f64,
    each_ns: f64,
    is_paced: bool,
}

impl Cost {
    fn of(workload: &Workload, rotates: bool) -> Self {
        let shares = workload.stream_shares();
        let parts = || workload.streams.iter().zip(&shares);
        let mean_bytes: f64 = parts().map(|(stream, share)| share * stream.size.mean()).sum();
        let moved = parts().filter(|(stream, _)| stream.op != Mix::Only(Op::Trim));
        let moved_ns =
            moved.map(|(stream, share)| share * stream.size.mean()).sum::<f64>() / BYTES_PER_S * 1e9;
        let depth = f64::from(workload.lanes) * f64::from(workload.depth().max(1));
        let seeks =
            rotates && workload.streams.iter().any(|stream| !matches!(stream.place, Place::Forward(_)));
        let access_ns = match seeks {
            true => ACCESS_ROTATING_NS / (1.0 + GAIN_PER_DOUBLING * depth.log2()),
            false => ACCESS_NS / depth,
        };
        let drive_ns = moved_ns.max(access_ns);
        let pace_ns = pace_ns(workload);
        Self { mean_bytes, each_ns: drive_ns.max(pace_ns), is_paced: pace_ns > drive_ns }
    }

    fn ios_of_work(&self, workload: &Workload) -> f64 {
        let by_bytes =
            workload.until.bytes.map_or(f64::INFINITY, |bytes| bytes as f64 / self.mean_bytes.max(1.0));
        by_bytes.min(workload.until.ops.map_or(f64::INFINITY, |ops| ops as f64))
    }
}

/// The time that a recording's pace, its bytes and its accesses take at least.
fn recording_elapsed(recorded: &Recorded) -> Nanos {
    let Expected { ios, read_bytes, written_bytes, elapsed, .. } = recorded.expected;
    let moved_ns = (read_bytes + written_bytes) as f64 / BYTES_PER_S * 1e9;
    let access_ns = ios as f64 * ACCESS_NS / f64::from(recorded.depth.max(1));
    elapsed.max(Nanos(moved_ns.max(access_ns) as u64))
}

/// A look that was not taken: nobody knows what it would have found.
fn unseen(look: Look, after: usize) -> Sight {
    Sight {
        look,
        seen: Seen::Unknown("this is a rehearsal".to_owned()),
        after,
        began: Nanos::ZERO,
        ended: Nanos::ZERO,
        after_break: false,
        accounting: None,
    }
}

/// What a workload comes to on the assumed drive, or one that takes so many times as long. Latencies are left out.
fn assumed(workload: &Workload, began: Nanos, rotates: bool, times_as_long: f64) -> Segment {
    if let Some(recorded) = &workload.recorded {
        return assumed_replay(workload, recorded, began);
    }
    let mut segment = SegmentRecorder::join(vec![SegmentRecorder::default()], workload, Stop::Reached);
    let until = workload.until;
    let shares = workload.stream_shares();
    let parts = || workload.streams.iter().zip(&shares);
    let mut cost = Cost::of(workload, rotates);
    if !cost.is_paced {
        cost.each_ns *= times_as_long;
    }
    let by_time = until.elapsed.map_or(f64::INFINITY, |span| span.0 as f64 / cost.each_ns);
    let ios = by_time.min(cost.ios_of_work(workload));
    let elapsed = if workload.streams.is_empty() {
        until.elapsed.unwrap_or_default()
    } else {
        Nanos((ios * cost.each_ns) as u64)
    };
    (segment.began, segment.ended) = (began, Nanos(began.0.saturating_add(elapsed.0)));
    for (index, (stream, of_stream)) in parts().enumerate() {
        for (op, share) in stream.op.shares() {
            let mut tally = Tally::new(index as u16, op);
            tally.ios = (ios * of_stream * share) as u64;
            tally.bytes = (ios * of_stream * share * stream.size.mean()) as u64;
            segment.tallies.push(tally);
        }
    }
    segment
}

/// What its plan expects of a recording, in the time that its pace, its bytes and its accesses take at least.
fn assumed_replay(workload: &Workload, recorded: &Recorded, began: Nanos) -> Segment {
    let mut segment = SegmentRecorder::join(vec![SegmentRecorder::default()], workload, Stop::Reached);
    let Expected { ios, read_bytes, written_bytes, trims, .. } = recorded.expected;
    let elapsed = recording_elapsed(recorded);
    let elapsed = workload.until.elapsed.map_or(elapsed, |bound| elapsed.min(bound));
    (segment.began, segment.ended) = (began, Nanos(began.0.saturating_add(elapsed.0)));
    // How its I/Os divide into operations is not said: what counts are the bytes.
    let tally = |op, ios, bytes| Tally { ios, bytes, ..Tally::new(0, op) };
    segment
        .tallies
        .extend([tally(Op::Read, ios - trims.min(ios), read_bytes), tally(Op::Write, 0, written_bytes)]);
    segment.tallies.retain(|tally| tally.ios > 0 || tally.bytes > 0);
    segment
}

/// Between the departures of an open pace.
fn pace_ns(workload: &Workload) -> f64 {
    let turns =
        workload.streams.iter().filter(|stream| matches!(stream.pace, Pace::Turns { .. })).count() as f64;
    let rates = workload.streams.iter().map(|stream| match stream.pace {
        Pace::Closed { .. } | Pace::Turns { per_second: None, .. } => f64::INFINITY,
        Pace::Open { per_second, .. } => per_second,
        Pace::Turns { per_second: Some(together), .. } => together / turns,
    });
    1e9 / (rates.sum::<f64>() * f64::from(workload.lanes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Identity, Kind};
    use crate::plan::Plan;
    use crate::procedure::{Card, Layout, Past};
    use crate::target::{Clock, Geometry};
    use crate::trim::ReadBack;
    use crate::until::Until;
    use crate::verdict::Findings;

    /// Runs one workload again and again until it has written enough.
    struct Again {
        workload: Workload,
        bytes: u64,
    }

    static CARD: Card = Card { name: "again", question: "", writes: "", manual: "" };

    impl Procedure for Again {
        fn card(&self) -> &'static Card {
            &CARD
        }

        fn layout(&self) -> Layout {
            Layout { files: 1, file_bytes: 1 }
        }

        fn next(&self, evidence: &Evidence) -> Result<Step, String> {
            let written: u64 = evidence.segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
            Ok(if written >= self.bytes { Step::Enough } else { Step::Run(self.workload.clone()) })
        }

        fn judge(&self, _: &Evidence) -> Findings {
            Findings::default()
        }
    }

    fn evidence() -> Evidence {
        Evidence::new(
            Plan { schema: 1, procedure: "again".into(), target: None, seed: 0, options: toml::Table::new() },
            Identity {
                name: "nothing".into(),
                kind: Kind::Nop,
                model: None,
                engine: "nop".into(),
                capacity_bytes: 1 << 30,
                block_bytes: 512,
                facts: Vec::new(),
                caveats: Vec::new(),
                accounting: None,
            },
            Geometry {
                capacity: 1 << 30,
                block: 512,
                boundary: None,
                writable: true,
                trims: true,
                carries_data: false,
                clock: Clock::Virtual,
            },
        )
    }

    fn again(op: &str, until: Until, bytes: u64) -> Again {
        let stream = format!("op = '{op}'\nsize = '1MiB'\nplace.forward = 'whole'\npace.closed.depth = 1");
        let streams = vec![toml::from_str(&stream).unwrap()];
        Again { workload: Workload::new("w", until, streams), bytes }
    }

    #[test]
    fn bounds_decide_what_is_moved_and_how_long_it_takes() {
        let by_bytes =
            Rehearsal::of(&again("write", Until::bytes(500 << 20), 1000 << 20), &evidence()).unwrap();
        assert_eq!((by_bytes.workloads.len(), by_bytes.bytes_written, by_bytes.ends), (2, 1000 << 20, true));
        assert!((by_bytes.elapsed.as_secs_f64() - 2.097).abs() < 0.01, "{}", by_bytes.elapsed);
        let by_time =
            Rehearsal::of(&again("mix:50", Until::elapsed(Nanos::from_secs(10)), 1), &evidence()).unwrap();
        assert_eq!((by_time.workloads.len(), by_time.elapsed), (1, Nanos::from_secs(10)));
        assert!((by_time.bytes_moved as f64 / 5e9 - 1.0).abs() < 0.01, "{}", by_time.bytes_moved);
        assert!((by_time.bytes_written as f64 / 2.5e9 - 1.0).abs() < 0.01, "{}", by_time.bytes_written);
    }

    #[test]
    fn what_was_measured_counts_and_is_not_run_again() {
        let procedure = again("write", Until::bytes(500 << 20), 1000 << 20);
        let mut evidence = evidence();
        evidence.segments.push(assumed(&procedure.workload, Nanos::ZERO, false, 1.0));
        assert_eq!(Rehearsal::of(&procedure, &evidence).unwrap().workloads.len(), 1);
    }

    /// Reads back before and after one workload.
    struct Looks(Again);

    impl Procedure for Looks {
        fn card(&self) -> &'static Card {
            &CARD
        }

        fn layout(&self) -> Layout {
            self.0.layout()
        }

        fn next(&self, evidence: &Evidence) -> Result<Step, String> {
            if evidence.sights.len() <= evidence.segments.len() && evidence.sights.len() < 2 {
                let wait = Nanos::from_secs(3);
                return Ok(Step::Look(Look::TrimReadBack(ReadBack {
                    seed: 0,
                    bytes: 1 << 20,
                    wait,
                    probes: 0,
                    raw: true,
                })));
            }
            self.0.next(evidence)
        }

        fn judge(&self, _: &Evidence) -> Findings {
            Findings::default()
        }
    }

    #[test]
    fn looks_are_rehearsed_with_what_they_write_and_wait() {
        let looks = Looks(again("write", Until::bytes(4 << 20), 4 << 20));
        let rehearsal = Rehearsal::of(&looks, &evidence()).unwrap();
        assert_eq!((rehearsal.workloads.len(), rehearsal.looks.len(), rehearsal.steps()), (1, 2, 3));
        assert_eq!((rehearsal.bytes_written, rehearsal.ends), (8 << 20, true));
        assert!(rehearsal.elapsed >= Nanos::from_secs(6), "{}", rehearsal.elapsed);
        let mut evidence = evidence();
        evidence.sights.push(unseen(rehearsal.looks[0].clone(), 0));
        let rest = Rehearsal::of(&looks, &evidence).unwrap();
        assert_eq!((rest.workloads.len(), rest.looks.len()), (1, 1), "what was seen is not looked at again");
        evidence.segments.push(assumed(&looks.0.workload, Nanos::ZERO, false, 1.0));
        evidence.sights.push(unseen(rehearsal.looks[1].clone(), 1));
        let order: Vec<bool> = evidence.past().map(|past| matches!(past, Past::Sight(_))).collect();
        assert_eq!(order, [true, false, true]);
    }

    #[test]
    fn an_endless_plan_is_seen_to_be_one() {
        let rehearsal = Rehearsal::of(&again("read", Until::bytes(1 << 20), 1), &evidence()).unwrap();
        assert_eq!((rehearsal.workloads.len(), rehearsal.ends), (Rehearsal::WORKLOADS_MAX, false));
        assert_eq!(rehearsal.bytes_written, 0);
    }
}
