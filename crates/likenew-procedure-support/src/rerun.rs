//! Advises to run a procedure again with other options: the command, and its time and bytes by a dry run.

use likenew_core::drive::TargetKind;
use likenew_core::dry_run::{DryRun, assumed_elapsed_ns};
use likenew_core::findings::{Action, Findings};
use likenew_core::io::Op;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Steps};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{Stream, Workload};

use crate::estimate::is_whole;
use crate::wording;

/// Passes to advise after a single one.
pub const PASSES_FEW: u32 = 3;
/// Passes to advise after several that were not enough.
pub const PASSES_MANY: u32 = 10;

/// A run of the same procedure on the same target with other options.
#[derive(Clone, Debug, PartialEq)]
pub struct Rerun {
    /// `None` if the plan names no target.
    command: Option<String>,
    /// `None` if the dry run cannot know it.
    cost: Option<Cost>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    elapsed: Nanos,
    bytes_written: u64,
}

impl Rerun {
    /// A run with these options on the command line, which make `procedure`. Its time follows from I/Os of the same
    /// kind in `evidence`. The cost is unknown if the procedure does not fit the drive or has no end.
    pub fn new(
        evidence: &Evidence,
        options: &str,
        procedure: Result<impl Procedure, impl std::fmt::Debug>,
    ) -> Self {
        let command = wording::command(&evidence.plan, options);
        let procedure = command.as_ref().and_then(|_| procedure.ok());
        Self { command, cost: procedure.and_then(|procedure| cost(&procedure, evidence)) }
    }

    /// The run with more passes, as an action that measures how much they vary.
    pub fn more_passes(&self) -> Action {
        self.action("more_passes", wording::MEASURE_VARIATION)
    }

    /// The run as an action; `why` says what it is good for.
    pub fn action(&self, id: &str, why: &str) -> Action {
        let mut action = Action::new(id, why);
        if let Some(command) = &self.command {
            action = action.command(command);
        }
        if let Some(Cost { elapsed, bytes_written }) = self.cost {
            action = action.time(elapsed);
            // A run that only reads does not have to say so.
            action = if bytes_written > 0 { action.bytes_written(bytes_written) } else { action };
        }
        action
    }
}

fn cost(procedure: &dyn Procedure, evidence: &Evidence) -> Option<Cost> {
    let mut geometry = evidence.geometry.clone();
    // A folder's capacity is that of the last run's files; another run creates its own files.
    if evidence.identity.kind == TargetKind::Folder {
        let layout = procedure.layout();
        geometry.capacity = u64::from(layout.files).checked_mul(layout.file_bytes)?;
    }
    let new = Evidence::new(evidence.plan.clone(), evidence.identity.clone(), geometry);
    let elapsed = ElapsedByKind::new(evidence);
    let dry_run = |procedure: &dyn Procedure| {
        DryRun::with_rates(procedure, &new, &|workload| elapsed.times_as_long(workload)).ok()
    };
    let cost = |run: &DryRun| Cost { elapsed: run.elapsed, bytes_written: run.bytes_written };
    let run = dry_run(procedure)?;
    let is_known = run.is_finite && run.steps() > 0;
    let assumed_alone = |workload: &Workload| Some(cost(&dry_run(&OneWorkload(workload))?));
    is_known.then(|| with_measured_costs(cost(&run), &run.workloads, evidence, assumed_alone))
}

/// Replaces the `assumed` cost of workloads that ran before, with the same bounds, by what they took then. A queue
/// that empties after the time limit takes longer, and writes more, than the bounds say.
fn with_measured_costs(
    assumed: Cost,
    workloads: &[Workload],
    evidence: &Evidence,
    assumed_alone: impl Fn(&Workload) -> Option<Cost>,
) -> Cost {
    let mut groups: Vec<(&Workload, u64)> = Vec::new();
    for workload in workloads {
        match groups
            .iter_mut()
            .find(|(known, _)| known.until == workload.until && is_same_kind(known, workload))
        {
            Some((_, number)) => *number += 1,
            None => groups.push((workload, 1)),
        }
    }
    let mut cost = assumed;
    for (workload, number) in groups {
        let Some(measured) = measured_cost(workload, evidence) else { continue };
        let Some(alone) = assumed_alone(workload) else { continue };
        cost = cost.replaced(alone, measured, number);
    }
    cost
}

/// The mean cost of segments of this kind with these bounds; `None` if none ran to its end.
fn measured_cost(workload: &Workload, evidence: &Evidence) -> Option<Cost> {
    let is_alike = |segment: &&Segment| {
        is_whole(segment)
            && segment.workload.until == workload.until
            && is_same_kind(&segment.workload, workload)
    };
    let alike: Vec<&Segment> = evidence.segments.iter().filter(is_alike).collect();
    let number = alike.len() as u64;
    // A file that somebody changed may hold any time.
    let mean = |of_segment: fn(&Segment) -> u64| {
        alike.iter().fold(0u64, |sum, segment| sum.saturating_add(of_segment(segment))) / number
    };
    (number > 0 && !workload.streams.is_empty()).then(|| Cost {
        elapsed: Nanos(mean(|segment| segment.elapsed().0)),
        bytes_written: mean(|segment| segment.bytes(Op::Write)),
    })
}

impl Cost {
    /// Replaces `number` parts that cost `part` by as many that cost `other`.
    fn replaced(self, part: Self, other: Self, number: u64) -> Self {
        let replaced = |whole: u64, part: u64, other: u64| {
            whole.saturating_add(number.saturating_mul(other)).saturating_sub(number.saturating_mul(part))
        };
        Self {
            elapsed: Nanos(replaced(self.elapsed.0, part.elapsed.0, other.elapsed.0)),
            bytes_written: replaced(self.bytes_written, part.bytes_written, other.bytes_written),
        }
    }
}

/// A procedure of a single workload, to see what a dry run assumes for it.
struct OneWorkload<'a>(&'a Workload);

static ONE_WORKLOAD: Descriptor = Descriptor { name: "workload", question: "", writes: "", manual: "" };

impl Procedure for OneWorkload<'_> {
    fn descriptor(&self) -> &'static Descriptor {
        &ONE_WORKLOAD
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: 1 }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let _ended = steps.run(|| self.0.clone());
        Ok(Findings::default())
    }
}

/// How much longer I/Os took than on the drive that a dry run assumes, by kind of I/O.
struct ElapsedByKind {
    kinds: Vec<KindElapsed>,
}

struct KindElapsed {
    workload: Workload,
    /// Time of all segments of this kind.
    elapsed_ns: f64,
    /// Their time on the assumed drive.
    assumed_ns: f64,
}

impl ElapsedByKind {
    fn new(evidence: &Evidence) -> Self {
        let rotates = evidence.identity.rotates();
        let mut kinds: Vec<KindElapsed> = Vec::new();
        let sound = evidence.segments.iter().filter(|segment| segment.measurement_error().is_none());
        for segment in sound {
            let Some(assumed_ns) = assumed_elapsed_ns(segment, rotates) else { continue };
            let (workload, elapsed_ns) = (&segment.workload, segment.elapsed().0 as f64);
            match kinds.iter_mut().find(|kind| is_same_kind(&kind.workload, workload)) {
                Some(kind) => {
                    kind.elapsed_ns += elapsed_ns;
                    kind.assumed_ns += assumed_ns;
                }
                None => kinds.push(KindElapsed { workload: workload.clone(), elapsed_ns, assumed_ns }),
            }
        }
        Self { kinds }
    }

    /// Measured over assumed time: of the same kind of I/O, else of all workloads that write or only read, else 1.
    fn times_as_long(&self, workload: &Workload) -> f64 {
        let ratio = |is_alike: &dyn Fn(&Workload) -> bool| {
            let alike = || self.kinds.iter().filter(|kind| is_alike(&kind.workload));
            let assumed_ns: f64 = alike().map(|kind| kind.assumed_ns).sum();
            (assumed_ns > 0.0).then(|| alike().map(|kind| kind.elapsed_ns).sum::<f64>() / assumed_ns)
        };
        ratio(&|other| is_same_kind(other, workload))
            .or_else(|| ratio(&|other| other.writes() == workload.writes()))
            .unwrap_or(1.0)
    }
}

/// Whether two workloads differ in nothing but their addresses, their data and their bounds.
fn is_same_kind(one: &Workload, other: &Workload) -> bool {
    let is_same = |(one, other): (&Stream, &Stream)| {
        one.op == other.op
            && one.size == other.size
            && one.arrival == other.arrival
            && std::mem::discriminant(&one.pattern) == std::mem::discriminant(&other.pattern)
    };
    one.access == other.access
        && one.lanes == other.lanes
        && one.streams.len() == other.streams.len()
        && one.streams.iter().zip(&other.streams).all(is_same)
}

#[cfg(test)]
mod tests {
    use likenew_core::drive::Identity;
    use likenew_core::procedure::Plan;
    use likenew_core::segment::{SegmentRecorder, Stop};
    use likenew_core::tally::Tally;
    use likenew_core::target::{Clock, Geometry};
    use likenew_core::workload::Until;

    use super::*;

    /// Writes 100 MiB this many times.
    struct Writes(usize);

    static DESCRIPTOR: Descriptor = Descriptor { name: "writes", question: "", writes: "", manual: "" };

    impl Procedure for Writes {
        fn descriptor(&self) -> &'static Descriptor {
            &DESCRIPTOR
        }

        fn layout(&self) -> Layout {
            Layout { files: 1, file_bytes: 1 << 30 }
        }

        fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
            let _all = (0..self.0).try_for_each(|_| steps.run(|| workload("write")).map(|_| ()));
            Ok(Findings::default())
        }
    }

    fn workload(op: &str) -> Workload {
        let stream =
            format!("op = '{op}'\nsize = '1MiB'\npattern.sequential = 'whole'\narrival.closed.depth = 1");
        Workload::new("w", Until::bytes(100 << 20), vec![toml::from_str(&stream).unwrap()])
    }

    /// A drive that wrote 100 MiB in a second, a fifth of the assumed drive's speed.
    fn evidence(kind: TargetKind) -> Evidence {
        let plan = Plan::new("writes", Some("/media/My Disk".into()), 0, toml::Table::new());
        let identity = Identity {
            name: "slow".into(),
            kind,
            model: None,
            engine: "sim".into(),
            capacity_bytes: 1 << 30,
            block_bytes: 512,
            facts: Vec::new(),
            caveats: Vec::new(),
            accounting: None,
        };
        let geometry = Geometry {
            capacity: 1 << 20,
            block: 512,
            boundary: None,
            writable: true,
            trims: true,
            carries_data: false,
            clock: Clock::Virtual,
        };
        let mut evidence = Evidence::new(plan, identity, geometry);
        let recorder = vec![SegmentRecorder::default()];
        let mut segment: Segment = SegmentRecorder::join(recorder, &workload("write"), Stop::Reached);
        segment.ended_at = Nanos::from_secs(1);
        segment.tallies.push(Tally { ios: 100, bytes: 100 << 20, ..Tally::new(0, Op::Write) });
        evidence.segments.push(segment);
        evidence
    }

    #[test]
    fn costs_of_a_file_that_somebody_changed_do_not_overflow() {
        let cost = |ns: u64| Cost { elapsed: Nanos(ns), bytes_written: ns };
        assert_eq!(cost(u64::MAX).replaced(cost(1), cost(u64::MAX / 2), 3).elapsed.0, u64::MAX - 3);
    }

    #[test]
    fn an_action_says_what_a_dry_run_costs_at_the_measured_speed() {
        let evidence = evidence(TargetKind::Folder);
        let action = Rerun::new(&evidence, "--passes 3", Ok::<_, String>(Writes(3))).action("more", "Why");
        assert_eq!(action.command.as_deref(), Some("likenew writes '/media/My Disk' --passes 3"));
        assert_eq!(action.bytes_written, Some(300 << 20));
        let seconds = action.time_s.unwrap();
        assert!((seconds - 3.0).abs() < 0.01, "{seconds}");
    }

    #[test]
    fn a_queue_that_empties_after_the_time_is_over_costs_its_time_and_bytes() {
        let mut evidence = evidence(TargetKind::Device);
        evidence.geometry.capacity = 1 << 30;
        let workload = Workload { until: Until::elapsed(Nanos::from_millis(300)), ..workload("write") };
        let segment = &mut evidence.segments[0];
        // It takes a second with a limit of 0.3 s, because the queue is long.
        segment.workload = workload.clone();
        let again = Rerun::new(&evidence, "", Ok::<_, String>(TimedWrites(workload))).action("more", "Why");
        assert_eq!(again.bytes_written, Some(1000 << 20));
        assert!((again.time_s.unwrap() - 10.0).abs() < 0.01, "{again:?}");
    }

    /// Runs the same workload ten times.
    struct TimedWrites(Workload);

    impl Procedure for TimedWrites {
        fn descriptor(&self) -> &'static Descriptor {
            &DESCRIPTOR
        }

        fn layout(&self) -> Layout {
            Layout { files: 1, file_bytes: 1 << 30 }
        }

        fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
            let _all = (0..10).try_for_each(|_| steps.run(|| self.0.clone()).map(|_| ()));
            Ok(Findings::default())
        }
    }

    #[test]
    fn what_a_dry_run_cannot_know_is_left_out() {
        let refused =
            Rerun::new(&evidence(TargetKind::Device), "", Err::<Writes, _>("no")).action("more", "Why");
        assert_eq!((refused.time_s, refused.bytes_written), (None, None));
        let nothing =
            Rerun::new(&evidence(TargetKind::Device), "", Ok::<_, String>(Writes(0))).action("more", "Why");
        assert_eq!((nothing.time_s, nothing.bytes_written), (None, None));
    }
}
