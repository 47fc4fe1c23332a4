//! A plan rehearsed without a drive: what it would run, what that moves, and about how long it takes.

use crate::io::Op;
use crate::look::{Look, Seen, Sight};
use crate::mix::Mix;
use crate::procedure::{Evidence, Procedure, Step};
use crate::recorded::{Expected, Recorded};
use crate::recorder::Stop;
use crate::segment::{Segment, SegmentRecorder};
use crate::tally::Tally;
use crate::units::Nanos;
use crate::workload::{Pace, Workload};

/// The course of a plan on a drive that nobody has measured yet: one that moves 500 MB/s, as the SATA link of an SSD lets
/// pass, and answers a small I/O in 100 µs.
///
/// A plan that goes on until something is reached is rehearsed to its last resort, as nothing is ever reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// What would run, in order; at most [`Rehearsal::WORKLOADS_MAX`].
    pub workloads: Vec<Workload>,
    /// What would be found out, in order.
    pub looks: Vec<Look>,
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

impl Rehearsal {
    /// Plans of more workloads than this are taken for endless. A procedure may look at all segments each time it is
    /// asked, so that twice as many take four times as long.
    pub const WORKLOADS_MAX: usize = 20_000;

    /// Rehearses what is left of a plan after what `evidence` holds.
    ///
    /// # Errors
    /// The procedure's, when the plan does not fit the drive.
    pub fn of(procedure: &dyn Procedure, evidence: &Evidence) -> Result<Self, String> {
        let mut evidence = evidence.clone();
        let (first, first_sight, before) = (evidence.segments.len(), evidence.sights.len(), evidence.steps());
        let mut ends = false;
        while evidence.steps() - before < Self::WORKLOADS_MAX {
            match procedure.next(&evidence)? {
                Step::Run(workload) => {
                    let began = evidence.segments.last().map_or(Nanos::ZERO, |segment| segment.ended);
                    evidence.segments.push(assumed(&workload, began));
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
            bytes_written: 0,
            bytes_moved: 0,
            elapsed: Nanos::ZERO,
            ends,
        };
        for Sight { look, .. } in evidence.sights.drain(first_sight..) {
            rehearsal.bytes_written = rehearsal.bytes_written.saturating_add(look.bytes_written());
            rehearsal.bytes_moved = rehearsal.bytes_moved.saturating_add(look.bytes_written());
            rehearsal.elapsed = Nanos(rehearsal.elapsed.0.saturating_add(look.waits().0));
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

/// What a workload comes to on the assumed drive. Latencies are left out.
fn assumed(workload: &Workload, began: Nanos) -> Segment {
    if let Some(recorded) = &workload.recorded {
        return assumed_replay(workload, recorded, began);
    }
    let mut segment = SegmentRecorder::join(vec![SegmentRecorder::default()], workload, Stop::Reached);
    let until = workload.until;
    let shares = workload.stream_shares();
    let parts = || workload.streams.iter().zip(&shares);
    let mean: f64 = parts().map(|(stream, share)| share * stream.size.mean()).sum();
    let moved = parts().filter(|(stream, _)| stream.op != Mix::Only(Op::Trim));
    let moved_ns = moved.map(|(stream, share)| share * stream.size.mean()).sum::<f64>() / BYTES_PER_S * 1e9;
    let depth = f64::from(workload.lanes) * f64::from(workload.depth().max(1));
    let each_ns = moved_ns.max(ACCESS_NS / depth).max(pace_ns(workload));
    let by_time = until.elapsed.map_or(f64::INFINITY, |span| span.0 as f64 / each_ns);
    let by_bytes = until.bytes.map_or(f64::INFINITY, |bytes| bytes as f64 / mean.max(1.0));
    let by_ops = until.ops.map_or(f64::INFINITY, |ops| ops as f64);
    let ios = by_time.min(by_bytes).min(by_ops);
    let elapsed = if workload.streams.is_empty() {
        until.elapsed.unwrap_or_default()
    } else {
        Nanos((ios * each_ns) as u64)
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
    let Expected { ios, read_bytes, written_bytes, trims, elapsed } = recorded.expected;
    let moved_ns = (read_bytes + written_bytes) as f64 / BYTES_PER_S * 1e9;
    let access_ns = ios as f64 * ACCESS_NS / f64::from(recorded.depth.max(1));
    let elapsed = elapsed.max(Nanos(moved_ns.max(access_ns) as u64));
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
        evidence.segments.push(assumed(&procedure.workload, Nanos::ZERO));
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
        evidence.segments.push(assumed(&looks.0.workload, Nanos::ZERO));
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
