//! The workloads and their order.

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::plan::Plan;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Stop;
use likenew_core::region::Region;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};
use likenew_procedure_support::pattern::Pattern;
use rand::{SeedableRng as _, seq::SliceRandom as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{DataOptions, PART_MIN, Test};

const PREPARE_BLOCK: u32 = 1 << 20;
const PREPARE_DEPTH: u32 = 8;

/// All workloads of a plan, by their index.
///
/// First each step's part of the span is written once with its class of data. Then come the passes. In each
/// of them every test and operation visits all steps, in an order that is drawn for the pass: complete blocks
/// in random order (Fisher, "The Design of Experiments", 1935), so that changes over time are not taken for
/// compressibility. Every second pass reverses the order of the one before it: between the two a steady drift
/// cancels.
pub(super) struct WorkloadPlan<'a> {
    options: &'a DataOptions,
}

/// One pass of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    pass: u32,
    test: usize,
    op: usize,
    /// Position in the pass.
    turn: u32,
}

/// One pass of one step as it was measured.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    /// Counted from 1.
    pub(super) pass: u32,
    /// Its place in the order of the pass, counted from 1.
    pub(super) turn: u32,
    pub(super) step: u32,
    pub(super) bytes_per_s: f64,
}

/// Each part of the span is a multiple of this.
pub(super) fn unit(options: &DataOptions) -> u64 {
    options.tests.iter().map(|test| test.block).fold(PART_MIN, u64::max)
}

/// The class of a step: 0 is zeros, the last is random data.
pub(super) fn class(step: u32, steps: u32) -> DataClass {
    match step {
        0 => DataClass::Zero,
        last if last + 1 == steps => DataClass::Random,
        step => DataClass::Ratio(step as f32 / (steps - 1) as f32),
    }
}

impl<'a> WorkloadPlan<'a> {
    pub(super) fn new(options: &'a DataOptions) -> Self {
        Self { options }
    }

    /// Bytes of each step's part of the span.
    pub(super) fn part(&self) -> u64 {
        let (unit, each) = (unit(self.options), self.options.span / u64::from(self.options.steps));
        each - each % unit
    }

    /// How many there are.
    pub(super) fn workloads(&self) -> usize {
        let DataOptions { steps, passes, .. } = self.options;
        *steps as usize + *passes as usize * self.workloads_per_pass() * self.passes_with_idle()
    }

    /// The one at this index, if there is one.
    pub(super) fn workload(&self, plan: &Plan, index: usize) -> Option<Workload> {
        let steps = self.options.steps;
        if index >= self.workloads() {
            return None;
        }
        let workload = match index.checked_sub(steps as usize) {
            None => self.prepare(index as u32),
            Some(after) if self.is_idle(after) => Workload::rest(self.options.idle),
            Some(after) => {
                let place = self.place(after / self.passes_with_idle());
                self.measurement(place, self.order(plan, place.pass)[place.turn as usize])
            }
        };
        Some(Workload { seed: plan.seed_of(index), ..workload })
    }

    /// Complete passes of one operation of one test.
    pub(super) fn passes_of(&self, evidence: &Evidence, test: usize, op: usize) -> Vec<Pass> {
        let prepared = self.options.steps as usize;
        let mut passes = Vec::new();
        let mut order = (0, Vec::new());
        for (after, segment) in evidence.segments.iter().skip(prepared).enumerate() {
            let place = self.place(after / self.passes_with_idle());
            if self.is_idle(after) || (place.test, place.op) != (test, op) || segment.stop != Stop::Reached {
                continue;
            }
            let Some(bytes_per_s) = segment.bytes_per_s() else { continue };
            if order.0 != place.pass {
                order = (place.pass, self.order(&evidence.plan, place.pass));
            }
            let step = order.1[place.turn as usize];
            passes.push(Pass { pass: place.pass, turn: place.turn + 1, step, bytes_per_s });
        }
        passes
    }

    fn workloads_per_pass(&self) -> usize {
        self.options.tests.len() * self.options.ops.len() * self.options.steps as usize
    }

    fn passes_with_idle(&self) -> usize {
        if self.options.idle > Nanos::ZERO { 2 } else { 1 }
    }

    fn is_idle(&self, after: usize) -> bool {
        self.passes_with_idle() == 2 && after.is_multiple_of(2)
    }

    fn place(&self, index: usize) -> Slot {
        let (steps, ops) = (self.options.steps as usize, self.options.ops.len());
        let in_pass = index % self.workloads_per_pass();
        Slot {
            pass: (index / self.workloads_per_pass()) as u32 + 1,
            test: in_pass / (steps * ops),
            op: in_pass / steps % ops,
            turn: (in_pass % steps) as u32,
        }
    }

    /// The steps in the order of a pass, counted from 1.
    fn order(&self, plan: &Plan, pass: u32) -> Vec<u32> {
        let pair = (pass - 1) / 2;
        let mut order: Vec<u32> = (0..self.options.steps).collect();
        // Workloads take the seeds from the bottom, so orders take them from the top.
        let seed = plan.seed_of(usize::MAX - 1 - pair as usize);
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        if pass.is_multiple_of(2) {
            order.reverse();
        }
        order
    }

    fn region(&self, step: u32) -> Region {
        let start = u64::from(step) * self.part();
        Region::bytes(start..start + self.part())
    }

    fn prepare(&self, step: u32) -> Workload {
        let data = class(step, self.options.steps);
        let place = AccessPattern::Sequential(self.region(step));
        let stream = Stream::closed(Mix::Only(Op::Write), PREPARE_BLOCK, place, PREPARE_DEPTH, data);
        Workload::new(format!("prepare {data}"), Until::bytes(self.part()), vec![stream])
    }

    fn measurement(&self, place: Slot, step: u32) -> Workload {
        let Test { pattern, block, depth } = self.options.tests[place.test];
        let (op, data) = (self.options.ops[place.op], class(step, self.options.steps));
        let address = match pattern {
            Pattern::Sequential => AccessPattern::Sequential(self.region(step)),
            Pattern::Random => AccessPattern::Random(self.region(step)),
        };
        let block = u32::try_from(block).expect("a block is at most 64 MiB");
        let stream = Stream::closed(Mix::Only(op), block, address, depth, data);
        let until = Until { elapsed: Some(self.options.time), bytes: Some(self.part()), ops: None };
        let name = format!("{pattern} {op} {data} {}/{}", place.pass, self.options.passes);
        Workload::new(name, until, vec![stream])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(seed: u64) -> Plan {
        Plan::new("data", None, seed, toml::Table::new())
    }

    #[test]
    fn every_pass_visits_every_step_once_and_the_next_one_backwards() {
        let options = DataOptions { steps: 11, ..DataOptions::default() };
        let workload_plan = WorkloadPlan::new(&options);
        let orders: Vec<Vec<u32>> = (1..=4).map(|pass| workload_plan.order(&plan(7), pass)).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..11).collect::<Vec<_>>());
        }
        assert!(orders[0].iter().eq(orders[1].iter().rev()) && orders[2].iter().eq(orders[3].iter().rev()));
        assert_ne!(orders[0], orders[2]);
        assert_ne!(orders[0], workload_plan.order(&plan(8), 1));
    }

    #[test]
    fn each_step_stays_in_its_part_with_its_class() {
        let idle = Nanos::from_millis(1);
        let options = DataOptions { steps: 3, passes: 2, idle, ..DataOptions::default() };
        let workload_plan = WorkloadPlan::new(&options);
        let workloads: Vec<Workload> = (0..workload_plan.workloads())
            .map(|index| workload_plan.workload(&plan(0), index).unwrap())
            .collect();
        assert_eq!(workloads.len(), 3 + 2 * 2 * 2 * 3 * 2);
        assert!(workload_plan.workload(&plan(0), workloads.len()).is_none());
        let part = workload_plan.part();
        for stream in workloads.iter().flat_map(|workload| &workload.streams) {
            let range = stream.pattern.region().resolve(1 << 30, 512).unwrap();
            let step = [DataClass::Zero, DataClass::Ratio(0.5), DataClass::Random]
                .iter()
                .position(|class| *class == stream.data)
                .unwrap() as u64;
            assert_eq!(range, step * part..(step + 1) * part);
        }
        let idle = workloads.iter().filter(|workload| workload.streams.is_empty()).count();
        assert_eq!(idle, 24);
        let mut seeds: Vec<u64> = workloads.iter().map(|workload| workload.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), workloads.len());
    }
}
