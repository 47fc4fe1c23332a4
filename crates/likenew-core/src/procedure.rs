//! The contract of a procedure: a plan, what to run next, and what the evidence says.

use serde::{Deserialize, Serialize};

use crate::drive::Identity;
use crate::findings::Findings;
use crate::probe::{Observation, Probe, ProbeResult};
use crate::segment::Segment;
use crate::target::Geometry;
use crate::units::Nanos;
use crate::wording;
use crate::workload::Workload;

/// What a procedure answers and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// As typed on the command line.
    pub name: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// What it writes and what that may destroy.
    pub writes: &'static str,
    /// Its manual page, in Markdown.
    pub manual: &'static str,
}

/// What a procedure asks for next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Run this and ask again.
    Run(Workload),
    /// Find this out and ask again.
    Probe(Probe),
    /// There is enough to judge.
    Done,
}

impl Step {
    /// Most bytes that it writes to the drive; none where only its time ends it.
    pub fn bytes_written_max(&self) -> Option<u64> {
        match self {
            Self::Run(workload) => workload.bytes_written_max(),
            Self::Probe(probe) => Some(probe.bytes_written()),
            Self::Done => Some(0),
        }
    }
}

/// How a folder is laid out as a drive before it is opened: so many files, back to back in address order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of files.
    pub files: u32,
    /// Bytes of each.
    pub file_bytes: u64,
}

/// All that is known when a procedure decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The plan.
    pub plan: Plan,
    /// The target.
    pub identity: Identity,
    /// How it is addressed.
    pub geometry: Geometry,
    /// What has been run so far, oldest first.
    pub segments: Vec<Segment>,
    /// What has been found out so far, oldest first; [`Observation::after`] says after how many segments.
    pub observations: Vec<Observation>,
}

/// Something that was done with a drive.
#[derive(Clone, Copy, Debug)]
pub enum PastStep<'a> {
    /// A workload was run.
    Segment(&'a Segment),
    /// A probe was run.
    Observation(&'a Observation),
}

impl Evidence {
    /// Of a drive of which nothing is known yet.
    pub fn new(plan: Plan, identity: Identity, geometry: Geometry) -> Self {
        Self { plan, identity, geometry, segments: Vec::new(), observations: Vec::new() }
    }

    /// Whether nothing was done yet.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.observations.is_empty()
    }

    /// What was measured under a name.
    pub fn segment_named(&self, name: &str) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.workload.name == name)
    }

    /// How much was done: workloads and probes.
    pub fn steps(&self) -> usize {
        self.segments.len() + self.observations.len()
    }

    /// Everything that was done, oldest first.
    pub fn history(&self) -> impl Iterator<Item = PastStep<'_>> {
        history(&self.segments, &self.observations)
    }
}

/// Segments and observations in the order in which they were made.
pub fn history<'a>(
    segments: &'a [Segment],
    observations: &'a [Observation],
) -> impl Iterator<Item = PastStep<'a>> {
    let mut observations = observations.iter().peekable();
    let mut segments = segments.iter().enumerate().peekable();
    std::iter::from_fn(move || {
        let run = segments.peek().map_or(usize::MAX, |(index, _)| *index);
        match observations.next_if(|observation| observation.after <= run) {
            Some(observation) => Some(PastStep::Observation(observation)),
            None => segments.next().map(|(_, segment)| PastStep::Segment(segment)),
        }
    })
}

/// Nothing more is measured: the run was stopped, or has not come further yet. What was measured until then is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

/// How much of a run was done at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Workloads.
    pub segments: usize,
    /// Probes.
    pub observations: usize,
}

/// All segments and observations of a part of a run.
#[derive(Clone, Debug, Default)]
pub struct PastSteps<'a> {
    /// Oldest first.
    pub segments: Vec<&'a Segment>,
    /// Oldest first.
    pub observations: Vec<&'a Observation>,
}

/// Makes up what was not done, in a dry run.
pub(crate) trait Assume {
    /// The result of a step that comes after so much, at this time of the drive; nothing where the dry run ends.
    fn assume(&self, step: &Step, place: Place, now: Nanos) -> Option<PastStep<'_>>;
}

/// What a procedure runs its workloads and probes with.
///
/// It is followed from its beginning each time: steps that were done before return at once, and the first that was not ends it; a
/// dry run assumes what that step would have shown, and goes on. So a procedure has no state, can be resumed, and is judged from
/// what is recorded. Steps are made by closures, as most of them were done before.
pub struct Steps<'a> {
    evidence: &'a Evidence,
    segments: std::slice::Iter<'a, Segment>,
    observations: std::slice::Iter<'a, Observation>,
    /// The first step that was not done, nor assumed.
    pub(crate) next: Option<Step>,
    /// Whether only the next step is asked for.
    is_planning: bool,
    assume: Option<&'a dyn Assume>,
    /// What was assumed, after all that was recorded.
    assumed: PastSteps<'a>,
    /// Whether what follows depends on evidence that lacks what was assumed.
    is_behind: bool,
}

impl<'a> Steps<'a> {
    fn new(evidence: &'a Evidence, is_planning: bool, assume: Option<&'a dyn Assume>) -> Self {
        Self {
            evidence,
            segments: evidence.segments.iter(),
            observations: evidence.observations.iter(),
            next: None,
            is_planning,
            assume,
            assumed: PastSteps::default(),
            is_behind: false,
        }
    }

    /// Follows a procedure to the first step that was not done, and further where `assume` knows how.
    pub(crate) fn planning(evidence: &'a Evidence, assume: Option<&'a dyn Assume>) -> Self {
        Self::new(evidence, true, assume)
    }

    /// Follows a procedure as far as it was recorded.
    pub fn recorded(evidence: &'a Evidence) -> Self {
        Self::new(evidence, false, None)
    }

    /// The plan, the drive, and everything that was measured. What a dry run assumes is in [`Self::since`] alone.
    pub fn evidence(&self) -> &'a Evidence {
        self.evidence
    }

    /// Whether only the next step is asked for.
    pub fn is_planning(&self) -> bool {
        self.is_planning
    }

    /// Whether the latest step was assumed, in a dry run.
    pub fn is_assumed(&self) -> bool {
        !self.assumed.segments.is_empty() || !self.assumed.observations.is_empty()
    }

    /// How much was done before the step that comes next.
    pub fn place(&self) -> Place {
        let Evidence { segments, observations, .. } = self.evidence;
        Place {
            segments: segments.len() - self.segments.len() + self.assumed.segments.len(),
            observations: observations.len() - self.observations.len() + self.assumed.observations.len(),
        }
    }

    /// What was done between an earlier moment and the step that comes next.
    pub fn since(&self, earlier: Place) -> PastSteps<'a> {
        let Evidence { segments, observations, .. } = self.evidence;
        let segments = segments[..segments.len() - self.segments.len()].iter();
        let observations = observations[..observations.len() - self.observations.len()].iter();
        let (assumed_segments, assumed_observations) = (&self.assumed.segments, &self.assumed.observations);
        PastSteps {
            segments: segments.chain(assumed_segments.iter().copied()).skip(earlier.segments).collect(),
            observations: observations
                .chain(assumed_observations.iter().copied())
                .skip(earlier.observations)
                .collect(),
        }
    }

    /// The time of the drive after the latest workload.
    pub(crate) fn now(&self) -> Nanos {
        let last = self.assumed.segments.last().copied().or(self.evidence.segments.last());
        last.map_or(Nanos::ZERO, |segment| segment.ended_at)
    }

    /// Seed of the workload that comes after so many others.
    pub fn seed(&self, ahead: usize) -> u64 {
        self.evidence.plan.seed_of(self.place().segments + ahead)
    }

    /// Passes over everything that was done, for a procedure whose parts take turns and find what they did by themselves, in the
    /// evidence: what it runs then is new.
    pub fn skip_done(&mut self) {
        self.is_behind = self.is_assumed();
        (self.segments, self.observations, self.assume) = ([].iter(), [].iter(), None);
    }

    /// Runs a workload. What was stopped or failed comes back as well; nothing follows it.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub fn run(&mut self, workload: impl FnOnce() -> Workload) -> Result<&'a Segment, Ended> {
        let Some(segment) = self.segments.next() else {
            let PastStep::Segment(segment) = self.beyond_record(|| Step::Run(workload()))? else {
                unreachable!("a workload is assumed as a segment")
            };
            self.assumed.segments.push(segment);
            return Ok(segment);
        };
        let is_this = !self.compares(self.segments.len()) || segment.workload.name == workload().name;
        if is_this { Ok(segment) } else { Err(Ended) }
    }

    /// Runs a workload with a seed of its own: that of its place in the run.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub fn run_seeded(&mut self, workload: impl FnOnce() -> Workload) -> Result<&'a Segment, Ended> {
        let seed = self.seed(0);
        self.run(|| Workload { seed, ..workload() })
    }

    /// Leaves the drive idle, unless that is for no time.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub fn rest(&mut self, time: Nanos) -> Result<(), Ended> {
        if time > Nanos::ZERO {
            self.run_seeded(|| Workload::rest(time))?;
        }
        Ok(())
    }

    /// Finds something out.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub fn probe(&mut self, probe: impl FnOnce() -> Probe) -> Result<&'a ProbeResult, Ended> {
        let Some(observation) = self.observations.next() else {
            let PastStep::Observation(observation) = self.beyond_record(|| Step::Probe(probe()))? else {
                unreachable!("a probe is assumed as an observation")
            };
            self.assumed.observations.push(observation);
            return Ok(&observation.result);
        };
        let is_this = !self.compares(self.observations.len()) || observation.probe.name() == probe().name();
        if is_this { Ok(&observation.result) } else { Err(Ended) }
    }

    /// Whether a recorded step is compared with the one that is asked for: an earlier version of the procedure may have gone on
    /// otherwise, and its record is not taken for something else. While a run goes on each step is compared once, as the latest.
    fn compares(&self, left: usize) -> bool {
        !self.is_planning || left == 0
    }

    /// Finds out what runs of earlier versions went on without; nothing of such a run.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub fn probe_or_skip(&mut self, probe: Probe) -> Result<Option<&'a ProbeResult>, Ended> {
        let is_recorded = match self.observations.as_slice() {
            [next, ..] => next.probe == probe,
            [] => self.segments.as_slice().is_empty(),
        };
        if is_recorded { self.probe(|| probe).map(Some) } else { Ok(None) }
    }

    /// What the steps have shown; nothing where only the next step is asked for.
    pub fn conclude(&self, findings: impl FnOnce(&'a Evidence) -> Findings) -> Findings {
        if self.is_planning { Findings::default() } else { findings(self.evidence) }
    }

    /// A step that was not done: assumed in a dry run; otherwise it is the next one, and ends what is followed.
    fn beyond_record(&mut self, step: impl FnOnce() -> Step) -> Result<PastStep<'a>, Ended> {
        if self.next.is_some() || self.is_behind {
            return Err(Ended);
        }
        let step = step();
        let assumed = self.assume.and_then(|assume| assume.assume(&step, self.place(), self.now()));
        assumed.ok_or_else(|| {
            self.next = Some(step);
            Ended
        })
    }
}

/// A procedure holds its settings and nothing else: what to do next and what to conclude follow from the
/// evidence alone, so a run can be resumed and judged again from its folder.
pub trait Procedure {
    /// Its question and its cost.
    fn descriptor(&self) -> &'static Descriptor;

    /// How a folder has to be laid out for it; other targets ignore this.
    fn layout(&self) -> Layout;

    /// Whether its writes need agreement on a real drive, however few they are.
    fn always_confirms(&self) -> bool {
        false
    }

    /// Whether it only probes and does no I/O, so that no file of a folder has to be made for it.
    fn only_probes(&self) -> bool {
        false
    }

    /// Most bytes that it writes from this evidence on, whatever it finds, where a dry run plans these steps; none where only time
    /// ends one of them.
    fn bytes_written_max(&self, _evidence: &Evidence, planned: &[Step]) -> Option<u64> {
        planned.iter().try_fold(0u64, |sum, step| Some(sum.saturating_add(step.bytes_written_max()?)))
    }

    /// The experiment from its first step to what it concludes: it asks for one step after another; where one ends it, it concludes
    /// from those before.
    ///
    /// # Errors
    /// A sentence, when the plan does not fit this drive.
    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String>;

    /// What to run next, as [`Self::run`] asks for it; [`crate::dry_run`] estimates it beforehand.
    ///
    /// # Errors
    /// A sentence, when the plan does not fit this drive.
    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let mut steps = Steps::planning(evidence, None);
        self.run(&mut steps)?;
        Ok(steps.next.unwrap_or(Step::Done))
    }

    /// What the evidence says, as [`Self::run`] concludes; it may be incomplete.
    fn judge(&self, evidence: &Evidence) -> Findings {
        self.run(&mut Steps::recorded(evidence)).unwrap_or_else(|reason| Findings {
            summary: wording::nothing_measured(&reason),
            ..Findings::default()
        })
    }
}

/// What was asked, completely: the same plan and seed on the same drive is the same run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this form: 1.
    #[serde(default = "schema")]
    pub schema: u32,
    /// The name of a procedure, as typed on the command line.
    pub procedure: String,
    /// The drive, as typed on the command line. A plan may leave it open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The file of the simulated drive that the target names, if a program made that drive and no folder has its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<String>,
    /// The seed of all randomness.
    #[serde(default)]
    pub seed: u64,
    /// The procedure's own settings.
    #[serde(default)]
    pub options: toml::Table,
}

impl Plan {
    /// A plan for a drive that needs no file from it.
    pub fn new(
        procedure: impl Into<String>,
        target: Option<String>,
        seed: u64,
        options: toml::Table,
    ) -> Self {
        Self { schema: schema(), procedure: procedure.into(), target, drive: None, seed, options }
    }

    /// The seed of each of a run's workloads.
    pub fn seed_of(&self, workload: usize) -> u64 {
        // SplitMix64's increment keeps consecutive seeds apart; the generators that are seeded with this mix
        // it further.
        self.seed.wrapping_add((workload as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

fn schema() -> u32 {
    1
}
