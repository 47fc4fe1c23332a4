//! What a verification is made of: its tasks, and on what they are done.

use std::ops::Range;

use likenew_core::io::Op;
use likenew_core::plan::Plan;

use super::VerifyOptions;

/// One thing to do: one workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    /// The first place, the last, and one at each size that drives are made in.
    Boundaries(Op),
    /// Random places.
    Scattered(Op),
    /// A round that narrows down what the probes have found.
    NarrowStep(Round, NarrowStep),
    /// Everything that was written is made durable.
    Flush,
    /// One part of a pass.
    Part { op: Op, pass: u32, part: u32 },
    /// Some of what was written so far, at random, up to this part.
    ReadBack { parts: u32 },
    /// The drive is left alone.
    Rest,
}

/// The steps of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NarrowStep {
    Write,
    /// Enough is written elsewhere to push out of a small cache what was just written.
    FillCache,
    Flush,
    Read,
}

/// A round of writing and reading a few blocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Round {
    /// From 1.
    pub(super) number: u32,
    pub(super) writes: Vec<u64>,
    pub(super) read: Vec<u64>,
    /// Blocks are written below this address to push what was written out of a cache; 0 for none.
    pub(super) flushed_below: u64,
}

impl Round {
    /// What it is made of.
    pub(super) fn steps(&self) -> &'static [NarrowStep] {
        if self.flushed_below == 0 {
            &[NarrowStep::Write, NarrowStep::Flush, NarrowStep::Read]
        } else {
            &[NarrowStep::Write, NarrowStep::FillCache, NarrowStep::Flush, NarrowStep::Read]
        }
    }
}

/// On what it is done.
#[derive(Clone, Debug)]
pub(super) struct VerifyLayout {
    pub(super) options: VerifyOptions,
    /// Bytes that are verified.
    pub(super) span: u64,
    /// The run's key.
    pub(super) key: u64,
    /// Addresses are multiples of this; in a folder of the block, as no I/O may cross the end of a file.
    pub(super) step: u64,
    /// Whether its addresses are those of files in the free space of a folder.
    pub(super) is_folder: bool,
    pub(super) places: Vec<u64>,
}

/// Random places are the same ones when they are written and when they are read.
const SCATTERED_SEED: usize = 1;

impl Task {
    /// The seed, where it is not the one of the workload's own number.
    pub(super) fn seed(&self, plan: &Plan) -> Option<u64> {
        matches!(self, Self::Scattered(_)).then(|| plan.seed_of(SCATTERED_SEED))
    }

    /// Whether it is part of the search that comes before everything is written.
    pub(super) fn is_probe(&self) -> bool {
        matches!(self, Self::Boundaries(_) | Self::Scattered(_))
    }
}

impl VerifyLayout {
    /// Parts of a pass: as many as were asked for, of one block at least.
    pub(super) fn parts(&self) -> u32 {
        (self.span / self.options.block).min(u64::from(self.options.parts)) as u32
    }

    /// The addresses of a part: whole blocks, but for the end of the last one.
    pub(super) fn part(&self, part: u32) -> Range<u64> {
        let (blocks, parts) = (self.span / self.options.block, u64::from(self.parts()));
        let start = |part: u64| blocks * part / parts * self.options.block;
        let next = u64::from(part) + 1;
        start(part.into())..if next == parts { self.span } else { start(next) }
    }
}
