//! Every workload of a run in its order, with its purpose.

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::region::Region;
use likenew_core::target::Geometry;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};

use super::AppsOptions;
use super::application::Application;
use super::consistency::{self, PHASES, Phase};
use super::stage::{Amount, Stage};
use likenew_procedure_support::workloads::prepare;

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
        let mut planned_workloads: Vec<PlannedWorkload> = (1..=consistency::FILLS)
            .map(|fill| sequential(format!("precondition {fill} of {}", consistency::FILLS), data))
            .collect();
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
        let size = consistency::write_sizes(&self.geometry);
        let arrival = likenew_core::workload::Arrival::Closed { depth: consistency::WRITE_DEPTH };
        let stream =
            Stream { op: Mix::Only(Op::Write), size, pattern: zone, arrival, data: self.options.data };
        let name = format!("{} writes", phase.name);
        let workload = Workload::new(name, Until::elapsed(span), vec![stream]);
        PlannedWorkload { workload, part: Part::Writes { phase: index } }
    }

    fn sequential_fill(&self, name: String, data: DataClass) -> Workload {
        let pattern = AccessPattern::Sequential(Region::bytes(0..self.writing_span));
        let (block, depth) = (consistency::FILL_BLOCK, consistency::FILL_DEPTH);
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
