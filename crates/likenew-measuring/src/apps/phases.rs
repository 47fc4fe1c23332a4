//! Every workload of a run in its order, with its purpose.
//!
//! The phases of a consistency test are those of PCMark 8, as KitGuru describes them (www.kitguru.net/components/ssd-drives/simon-crisp/
//! intel-optane-ssd-900p-480gb-ssd-review/13) and as UL still does in PCMark 10 (PCMark 10 technical guide,
//! Drive Performance Consistency Test, support.benchmarks.ul.com/support/solutions/articles/44002171488): two
//! sequential fills; eight times random writes for 10, 15 … 45 minutes and a test; five times random writes
//! for 45 minutes and a test; five times a rest of 5 minutes and a test; a fill with zeros.

use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Arrival, Mix, Size, Stream, Until, Workload};
use likenew_procedure_support::workloads::prepare;

use super::AppsOptions;
use super::application::Application;
use super::stage::{Amount, Stage, fit_lengths, size, with_mean};

/// A workload and its purpose.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlannedWorkload {
    pub(super) workload: Workload,
    pub(super) part: Part,
}

/// The purpose of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Writes the data to read.
    Preparation,
    /// The random writes before a phase is tested.
    Writes { phase: usize },
    /// The idle time before a phase is tested.
    Rest,
    /// An application, or its part at one queue depth. `test` counts from 0: passes, or phases by passes.
    Test { test: usize, application: usize },
    /// Overwrites everything with zeros.
    CleanUp,
}

/// The settings of a run.
pub(super) struct WorkloadPlan<'a> {
    pub(super) options: &'a AppsOptions,
    pub(super) applications: &'a [Application],
    pub(super) geometry: Geometry,
    /// Bytes of address space written for consistency.
    pub(super) writing_span: u64,
}

impl WorkloadPlan<'_> {
    /// All workloads.
    pub(super) fn planned_workloads(&self) -> Vec<PlannedWorkload> {
        if self.options.consistency { self.consistency() } else { self.passes() }
    }

    fn passes(&self) -> Vec<PlannedWorkload> {
        let AppsOptions { span, data, passes, .. } = *self.options;
        let file_bytes = self.geometry.boundary.unwrap_or(span);
        let workload = prepare(span, file_bytes, data);
        let mut planned_workloads = vec![PlannedWorkload { workload, part: Part::Preparation }];
        let applications = self.application_workloads();
        for pass in 0..passes {
            planned_workloads.extend(self.test(&applications, &format!("pass {}", pass + 1), pass as usize));
        }
        planned_workloads
    }

    fn consistency(&self) -> Vec<PlannedWorkload> {
        let AppsOptions { passes, minutes, data, .. } = *self.options;
        let sequential = |name: String, data| PlannedWorkload {
            workload: self.sequential_fill(name, data),
            part: Part::Preparation,
        };
        let mut planned_workloads: Vec<PlannedWorkload> =
            (1..=FILLS).map(|fill| sequential(format!("precondition {fill} of {}", FILLS), data)).collect();
        let applications = self.application_workloads();
        for (index, phase) in PHASES.iter().enumerate() {
            planned_workloads.push(self.preparation(index, phase, minutes));
            for pass in 0..passes {
                let test = index * passes as usize + pass as usize;
                let name =
                    if passes > 1 { format!("{} test {}", phase.name, pass + 1) } else { phase.name.into() };
                planned_workloads.extend(self.test(&applications, &name, test));
            }
        }
        let clean = self.sequential_fill("clean-up".into(), DataClass::Zero);
        planned_workloads.push(PlannedWorkload { workload: clean, part: Part::CleanUp });
        planned_workloads
    }

    /// What happens to the drive before a phase is tested.
    fn preparation(&self, index: usize, phase: &Phase, minutes: f64) -> PlannedWorkload {
        let span = phase.span(minutes);
        if phase.rests {
            let workload = Workload { name: format!("{} rest", phase.name), ..Workload::rest(span) };
            return PlannedWorkload { workload, part: Part::Rest };
        }
        let zone = AccessPattern::Random(Region::bytes(0..self.writing_span));
        let size = write_sizes(&self.geometry);
        let arrival = Arrival::Closed { depth: WRITE_DEPTH };
        let stream =
            Stream { op: Mix::Only(Op::Write), size, pattern: zone, arrival, data: self.options.data };
        let name = format!("{} writes", phase.name);
        let workload = Workload::new(name, Until::elapsed(span), vec![stream]);
        PlannedWorkload { workload, part: Part::Writes { phase: index } }
    }

    fn sequential_fill(&self, name: String, data: DataClass) -> Workload {
        let pattern = AccessPattern::Sequential(Region::bytes(0..self.writing_span));
        let (block, depth) = (FILL_BLOCK, FILL_DEPTH);
        let stream = Stream::closed(Mix::Only(Op::Write), block, pattern, depth, data);
        Workload::new(name, Until::bytes(self.writing_span), vec![stream])
    }

    /// The workloads of each application, named by their depth if it has several; every test is the same.
    fn application_workloads(&self) -> Vec<Vec<Workload>> {
        let AppsOptions { span, data, scale, time, think, .. } = *self.options;
        let stage = Stage::new(&(0..span), &self.geometry, data);
        let amount = Amount { scale, time: Some(time), thinks: think };
        self.applications.iter().map(|of| stage.workloads(of, "", amount)).collect()
    }

    /// Every application once.
    fn test(&self, applications: &[Vec<Workload>], name: &str, test: usize) -> Vec<PlannedWorkload> {
        let one = |(application, workloads): (usize, &Vec<Workload>)| {
            let application_name = &self.applications[application].name;
            let planned = |workload: &Workload| {
                let name = format!("{name}: {application_name}{}", workload.name);
                PlannedWorkload {
                    workload: Workload { name, ..workload.clone() },
                    part: Part::Test { test, application },
                }
            };
            workloads.iter().map(planned).collect::<Vec<_>>()
        };
        applications.iter().enumerate().flat_map(one).collect()
    }
}

/// Fills before the first phase.
pub(super) const FILLS: u32 = 2;
/// Bytes of one I/O of a fill: 256 sectors of 512 bytes.
pub(super) const FILL_BLOCK: u32 = 128 << 10;
/// I/Os of a fill in flight (assumed).
pub(super) const FILL_DEPTH: u32 = 4;
/// Random writes in flight (assumed).
pub(super) const WRITE_DEPTH: u32 = 4;

/// What happens before a test: minutes of writes, or of idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    minutes: u32,
    pub(super) rests: bool,
}

/// The part of the test that a phase belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Degrade,
    Steady,
    Recover,
}

const fn phase(name: &'static str, kind: Kind, minutes: u32) -> Phase {
    Phase { name, kind, minutes, rests: matches!(kind, Kind::Recover) }
}

/// The eighteen phases that are tested.
pub(super) const PHASES: [Phase; 18] = [
    phase("degrade 1", Kind::Degrade, 10),
    phase("degrade 2", Kind::Degrade, 15),
    phase("degrade 3", Kind::Degrade, 20),
    phase("degrade 4", Kind::Degrade, 25),
    phase("degrade 5", Kind::Degrade, 30),
    phase("degrade 6", Kind::Degrade, 35),
    phase("degrade 7", Kind::Degrade, 40),
    phase("degrade 8", Kind::Degrade, 45),
    phase("steady 1", Kind::Steady, 45),
    phase("steady 2", Kind::Steady, 45),
    phase("steady 3", Kind::Steady, 45),
    phase("steady 4", Kind::Steady, 45),
    phase("steady 5", Kind::Steady, 45),
    phase("recover 1", Kind::Recover, 5),
    phase("recover 2", Kind::Recover, 5),
    phase("recover 3", Kind::Recover, 5),
    phase("recover 4", Kind::Recover, 5),
    phase("recover 5", Kind::Recover, 5),
];

impl Phase {
    /// Time of its writes or its rest, for minutes of this length.
    pub(super) fn span(&self, minutes: f64) -> Nanos {
        Nanos::from_secs_f64(f64::from(self.minutes) * 60.0 * minutes)
    }
}

/// Lengths of the random writes. PCMark draws them evenly from 8 to 2048 sectors of 512 bytes, at any sector.
/// Here they are powers of two at multiples of themselves, so that they fit into files: weighted by the
/// sectors that each stands for, and adjusted so that the mean is the same.
pub(super) fn write_sizes(geometry: &Geometry) -> Size {
    const LENGTHS: &str =
        "4KiB:8,8KiB:12,16KiB:24,32KiB:48,64KiB:96,128KiB:192,256KiB:384,512KiB:768,1MiB:512";
    let lengths = with_mean(&LENGTHS.parse().expect("well spelled"), MEAN_BYTES);
    let longest = geometry.boundary.map_or(1 << 20, |bytes| 1 << bytes.trailing_zeros().min(20));
    size(&fit_lengths(&lengths, longest, geometry.block).0)
}

/// (8 + 2048) / 2 sectors of 512 bytes.
const MEAN_BYTES: f64 = 1028.0 * 512.0;

#[cfg(test)]
mod tests {
    use likenew_core::target::Clock;

    use super::*;

    #[test]
    fn eight_degrade_five_are_steady_and_five_recover() {
        let count = |kind| PHASES.iter().filter(|phase| phase.kind == kind).count();
        assert_eq!([Kind::Degrade, Kind::Steady, Kind::Recover].map(count), [8, 5, 5]);
        let minutes: u32 = PHASES.iter().filter(|phase| !phase.rests).map(|phase| phase.minutes).sum();
        assert_eq!(minutes, 220 + 225);
        assert_eq!(PHASES[0].span(0.001), Nanos::from_millis(600));
        assert_eq!(PHASES[17].span(1.0), Nanos::from_secs(300));
    }

    #[test]
    fn writes_are_as_long_on_average_as_pcmarks() {
        let geometry = |boundary| Geometry {
            capacity: 1 << 30,
            block: 512,
            boundary,
            writable: true,
            trims: true,
            carries_data: false,
            clock: Clock::Virtual,
        };
        let sizes = write_sizes(&geometry(None));
        assert!((sizes.mean() - MEAN_BYTES).abs() < 5.0, "{sizes}");
        assert_eq!(sizes.max(), 1 << 20);
        assert_eq!(
            write_sizes(&geometry(Some(3 << 18))).max(),
            1 << 18,
            "files of 768 KiB hold no longer ones"
        );
    }
}
