//! The workload of each task.

use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::stamp::Stamp;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::narrowing::{NarrowStep, Task, VerifyLayout};
use super::{VerifyOptions, wording};

/// Random reads of a spot check.
const SPOT_CHECK_READS: u64 = 32;
/// Writes that push out a small cache's content.
const CACHE_FILL_WRITES: u64 = 64;
/// Stamps of probes have pass 0, those of rounds a pass above this.
const ROUNDS: u32 = 1 << 16;

impl VerifyLayout {
    /// The stamp of a pass.
    fn stamp_class(&self, pass: u32) -> DataClass {
        DataClass::Stamped(Stamp { key: self.key, pass })
    }

    fn stream(&self, op: Op, place: AccessPattern, depth: u32, pass: u32) -> Stream {
        Stream::closed(Mix::Only(op), self.options.block as u32, place, depth, self.stamp_class(pass))
    }

    /// All blocks at these addresses at once, with a sample of each.
    fn at(&self, name: String, op: Op, places: &[u64], pass: u32) -> Workload {
        let block =
            |place: &u64| AccessPattern::Sequential(Region::bytes(*place..place + self.options.block));
        let streams: Vec<Stream> =
            places.iter().map(|place| self.stream(op, block(place), 1, pass)).collect();
        let samples = streams.len() as u32;
        Workload { samples, ..Workload::new(name, Until::ops(samples.into()), streams) }
    }

    fn flush(&self) -> Workload {
        let stream = self.stream(Op::Flush, AccessPattern::Sequential(Region::WHOLE), 1, 0);
        let stream = Stream { data: DataClass::Random, ..stream };
        Workload::new("flush", Until::ops(1), vec![stream])
    }

    /// The workload of a task.
    pub(super) fn workload(&self, task: &Task) -> Workload {
        let VerifyOptions { depth, probes, idle, .. } = self.options;
        let within = |end| AccessPattern::Random(Region::bytes(0..end));
        match task {
            Task::Boundaries(op) => self.at(wording::boundary_probes(*op), *op, &self.places, 0),
            Task::Scattered(op) => {
                let stream = self.stream(*op, within(self.span), depth, 0);
                let workload =
                    Workload::new(wording::random_probes(*op), Until::ops(probes.into()), vec![stream]);
                Workload { samples: probes, ..workload }
            }
            Task::NarrowStep(round, step) => {
                let pass = ROUNDS + round.number;
                let name = |step| wording::narrowing(round.number, step);
                match step {
                    NarrowStep::Write => self.at(name("write"), Op::Write, &round.writes, pass),
                    NarrowStep::Read => self.at(name("read"), Op::Read, &round.read, pass),
                    NarrowStep::Flush => self.flush(),
                    NarrowStep::FillCache => {
                        let end = round.flushed_below;
                        let stream = self.stream(Op::Write, within(end), depth, 0);
                        Workload::new(name("fill cache"), Until::ops(CACHE_FILL_WRITES), vec![stream])
                    }
                }
            }
            Task::Flush => self.flush(),
            Task::Part { op, pass, part } => {
                let range = self.part(*part);
                let bytes = range.end - range.start;
                let name = wording::part(*pass, self.options.passes, part + 1, *op);
                let place = AccessPattern::Sequential(Region::bytes(range));
                Workload::new(name, Until::bytes(bytes), vec![self.stream(*op, place, depth, *pass)])
            }
            Task::ReadBack { parts } => {
                let end = self.part(parts - 1).end;
                let name = wording::spot_check(end);
                Workload::new(
                    name,
                    Until::ops(SPOT_CHECK_READS),
                    vec![self.stream(Op::Read, within(end), depth, 1)],
                )
            }
            Task::Idle => Workload::rest(idle),
        }
    }
}
