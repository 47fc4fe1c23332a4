//! The contract of a procedure: its plan, the next step to run, and what the evidence says.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

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
    /// Its name on the command line.
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
    /// Run this workload and ask again.
    Run(Workload),
    /// Run this probe and ask again.
    Probe(Probe),
    /// There is enough evidence to judge.
    Done,
}

impl Step {
    /// Most bytes that it writes to the drive; `None` where only its time ends it.
    pub fn bytes_written_max(&self) -> Option<u64> {
        match self {
            Self::Run(workload) => workload.bytes_written_max(),
            Self::Probe(probe) => Some(probe.bytes_written()),
            Self::Done => Some(0),
        }
    }
}

/// How a folder is laid out as a drive before it is opened: equal files, back to back in address order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of files.
    pub files: u32,
    /// Bytes of each.
    pub file_bytes: u64,
}

/// Everything known when a procedure decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The plan.
    pub plan: Plan,
    /// The target.
    pub identity: Identity,
    /// How it is addressed.
    pub geometry: Geometry,
    /// The workloads run so far, oldest first.
    pub segments: Vec<Segment>,
    /// The probes run so far, oldest first; [`Observation::after`] is the number of segments before a probe.
    pub observations: Vec<Observation>,
}

/// A step that was run.
#[derive(Clone, Copy, Debug)]
pub enum PastStep<'a> {
    /// A workload was run.
    Segment(&'a Segment),
    /// A probe was run.
    Observation(&'a Observation),
}

impl PastStep<'_> {
    /// The step that had this result.
    pub fn step(self) -> Step {
        match self {
            Self::Segment(segment) => Step::Run(segment.workload.clone()),
            Self::Observation(observation) => Step::Probe(observation.probe.clone()),
        }
    }
}

impl Evidence {
    /// The evidence of a drive about which nothing is known yet.
    pub fn new(plan: Plan, identity: Identity, geometry: Geometry) -> Self {
        Self { plan, identity, geometry, segments: Vec::new(), observations: Vec::new() }
    }

    /// Whether nothing has been run yet.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.observations.is_empty()
    }

    /// The first segment whose workload has this name.
    pub fn segment_named(&self, name: &str) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.workload.name == name)
    }

    /// The number of workloads and probes that were run.
    pub fn steps(&self) -> usize {
        self.segments.len() + self.observations.len()
    }

    /// Every step that was run, oldest first.
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

/// The end of a procedure: the run was stopped, or has not come further yet. What was measured so far is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

/// A position in a run: how many steps come before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Workloads before it.
    pub segments: usize,
    /// Probes before it.
    pub observations: usize,
}

/// The steps of a part of a run.
#[derive(Clone, Debug, Default)]
pub struct PastSteps<'a> {
    /// Segments, oldest first.
    pub segments: Vec<&'a Segment>,
    /// Observations, oldest first.
    pub observations: Vec<&'a Observation>,
}

/// Makes up the results of steps that were not run, for a dry run.
pub(crate) trait Assume {
    /// The result of `step` at `place`, at the drive's time `now`; `None` where the dry run ends.
    fn assume(&self, step: &Step, place: Place, now: Nanos) -> Option<PastStep<'_>>;
}

/// What a procedure runs its workloads and probes with.
///
/// A procedure is run from its beginning each time. Recorded steps return at once; the first step not yet run
/// ends the procedure, or, in a dry run, gets an assumed result. So a procedure has no state, can be resumed,
/// and is judged from its record. Closures make the steps, because most steps were already run.
pub struct Steps<'a> {
    evidence: &'a Evidence,
    segments: std::slice::Iter<'a, Segment>,
    observations: std::slice::Iter<'a, Observation>,
    /// The first step that was neither run nor assumed.
    pub(crate) next: Option<Step>,
    /// Whether only the next step is wanted.
    is_planning: bool,
    assume: Option<&'a dyn Assume>,
    /// Steps that were assumed, after all recorded ones.
    assumed: PastSteps<'a>,
    /// Whether the next step depends on evidence that lacks the assumed steps.
    is_behind: bool,
}

impl<'a> Steps<'a> {
    /// Runs a procedure as far as it was recorded.
    pub fn recorded(evidence: &'a Evidence) -> Self {
        Self {
            evidence,
            segments: evidence.segments.iter(),
            observations: evidence.observations.iter(),
            next: None,
            is_planning: false,
            assume: None,
            assumed: PastSteps::default(),
            is_behind: false,
        }
    }

    /// Runs a procedure up to the first step that was not run, and further as far as `assume` makes up results.
    pub(crate) fn planning(evidence: &'a Evidence, assume: Option<&'a dyn Assume>) -> Self {
        Self { is_planning: true, assume, ..Self::recorded(evidence) }
    }

    /// The plan, the drive and everything measured. Assumed steps of a dry run are only in [`Self::since`].
    pub fn evidence(&self) -> &'a Evidence {
        self.evidence
    }

    /// Whether only the next step is wanted.
    pub fn is_planning(&self) -> bool {
        self.is_planning
    }

    /// Whether a dry run has assumed any step.
    pub fn is_assumed(&self) -> bool {
        !self.assumed.segments.is_empty() || !self.assumed.observations.is_empty()
    }

    /// The position of the next step.
    pub fn place(&self) -> Place {
        let Evidence { segments, observations, .. } = self.evidence;
        Place {
            segments: segments.len() - self.segments.len() + self.assumed.segments.len(),
            observations: observations.len() - self.observations.len() + self.assumed.observations.len(),
        }
    }

    /// The steps between an earlier position and the next step.
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

    /// The drive's time after the latest workload.
    pub(crate) fn now(&self) -> Nanos {
        let last = self.assumed.segments.last().copied().or(self.evidence.segments.last());
        last.map_or(Nanos::ZERO, |segment| segment.ended_at)
    }

    /// The seed of the workload that `ahead` others precede.
    pub fn seed(&self, ahead: usize) -> u64 {
        self.evidence.plan.seed_of(self.place().segments + ahead)
    }

    /// Skips all recorded steps, so that the next step is a new one. This is for a procedure whose parts take
    /// turns and find their earlier steps in the evidence by themselves.
    pub fn skip_done(&mut self) {
        self.is_behind = self.is_assumed();
        (self.segments, self.observations, self.assume) = ([].iter(), [].iter(), None);
    }

    /// Runs a workload. A stopped or failed workload returns its segment, too; no step follows it.
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

    /// Runs a workload with the seed of its position in the run.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub fn run_seeded(&mut self, workload: impl FnOnce() -> Workload) -> Result<&'a Segment, Ended> {
        let seed = self.seed(0);
        self.run(|| Workload { seed, ..workload() })
    }

    /// Leaves the drive idle, unless `time` is zero.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub fn rest(&mut self, time: Nanos) -> Result<(), Ended> {
        if time > Nanos::ZERO {
            self.run_seeded(|| Workload::rest(time))?;
        }
        Ok(())
    }

    /// Runs a probe.
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

    /// Whether to compare a recorded step with the requested one. An earlier version of the procedure may
    /// have taken other steps. While a run goes on, each step is compared once, as the latest.
    fn compares(&self, left: usize) -> bool {
        !self.is_planning || left == 0
    }

    /// Runs a probe that earlier versions did not have; `None` for a run by such a version.
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

    /// Concludes from the evidence; returns no findings where only the next step is wanted.
    pub fn conclude(&self, findings: impl FnOnce(&'a Evidence) -> Findings) -> Findings {
        if self.is_planning { Findings::default() } else { findings(self.evidence) }
    }

    /// Handles a step that was not run: a dry run assumes its result; otherwise it is the next step and ends the procedure.
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

/// A procedure holds only its settings. What to do next and what to conclude follow from the evidence alone,
/// so a run can be resumed and judged again from its folder.
pub trait Procedure {
    /// Its name, question and cost.
    fn descriptor(&self) -> &'static Descriptor;

    /// How a folder must be laid out for it; other targets ignore this.
    fn layout(&self) -> Layout;

    /// Whether the user must confirm its writes to a real drive, however few they are.
    fn always_confirms(&self) -> bool {
        false
    }

    /// Whether it only runs probes, so that a folder needs no files for it.
    fn only_probes(&self) -> bool {
        false
    }

    /// Most bytes that it writes after this evidence, whatever it finds, given the steps planned by a dry
    /// run. `None` where only time ends a step.
    fn bytes_written_max(&self, _evidence: &Evidence, planned: &[Step]) -> Option<u64> {
        planned.iter().try_fold(0u64, |sum, step| Some(sum.saturating_add(step.bytes_written_max()?)))
    }

    /// Runs the experiment from its first step to its conclusion. It asks for one step after another; if a
    /// step ends it, it concludes from the steps before.
    ///
    /// # Errors
    /// A sentence, when the plan does not fit this drive.
    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String>;

    /// The next step that [`Self::run`] asks for. [`crate::dry_run`] uses it to estimate a run beforehand.
    ///
    /// # Errors
    /// A sentence, when the plan does not fit this drive.
    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let mut steps = Steps::planning(evidence, None);
        self.run(&mut steps)?;
        Ok(steps.next.unwrap_or(Step::Done))
    }

    /// What [`Self::run`] concludes from the evidence, which may be incomplete.
    fn judge(&self, evidence: &Evidence) -> Findings {
        self.run(&mut Steps::recorded(evidence)).unwrap_or_else(|reason| Findings {
            summary: wording::nothing_measured(&reason),
            ..Findings::default()
        })
    }
}

/// What was asked, completely: the same plan and seed on the same drive is the same run.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this format: 1.
    #[serde(default = "schema")]
    pub schema: u32,
    /// The name of a procedure, as typed on the command line.
    pub procedure: String,
    /// The drive, as typed on the command line; a plan may leave it out.
    pub target: Option<String>,
    /// The file of the simulated drive that the target names, if a program made that drive and no folder has its file.
    pub drive: Option<String>,
    /// The seed of all randomness.
    #[serde(default)]
    pub seed: u64,
    /// The procedure's own settings.
    #[serde(default)]
    pub options: toml::Table,
}

impl Plan {
    /// A plan whose drive needs no file in it.
    pub fn new(
        procedure: impl Into<String>,
        target: Option<String>,
        seed: u64,
        options: toml::Table,
    ) -> Self {
        Self { schema: schema(), procedure: procedure.into(), target, drive: None, seed, options }
    }

    /// The seed of the run's workload with this number.
    pub fn seed_of(&self, workload: usize) -> u64 {
        // SplitMix64's increment keeps consecutive seeds apart; the generators seeded with the sum mix it
        // further.
        self.seed.wrapping_add((workload as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

fn schema() -> u32 {
    1
}
