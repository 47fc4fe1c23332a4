//! What a verification is made of: its tasks, and on what they are done.

use std::ops::Range;

use likenew_core::io::Op;
use likenew_core::plan::Plan;

use super::VerifyOptions;

/// One task, which is one workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    /// The first address, the last, and one at each usual size of drives.
    Boundaries(Op),
    /// Random addresses.
    Scattered(Op),
    /// A round that narrows down the result of the probes.
    NarrowStep(Round, NarrowStep),
    /// Makes all writes durable.
    Flush,
    /// One part of a pass.
    Part { op: Op, pass: u32, part: u32 },
    /// Reads some of what was written, at random, up to this part.
    ReadBack { parts: u32 },
    /// Leaves the drive idle.
    Idle,
}

/// The steps of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NarrowStep {
    Write,
    /// Writes enough elsewhere to push the last writes out of a small cache.
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
    /// Blocks are written below this address to push earlier writes out of a cache; 0 for none.
    pub(super) flushed_below: u64,
}

impl Round {
    /// Its steps.
    pub(super) fn steps(&self) -> &'static [NarrowStep] {
        if self.flushed_below == 0 {
            &[NarrowStep::Write, NarrowStep::Flush, NarrowStep::Read]
        } else {
            &[NarrowStep::Write, NarrowStep::FillCache, NarrowStep::Flush, NarrowStep::Read]
        }
    }
}

/// The addresses that a verification uses.
#[derive(Clone, Debug)]
pub(super) struct VerifyLayout {
    pub(super) options: VerifyOptions,
    /// Bytes to verify.
    pub(super) span: u64,
    /// The run's key.
    pub(super) key: u64,
    /// Addresses are multiples of this; in a folder, of the block, because no I/O may cross the end of a
    /// file.
    pub(super) step: u64,
    /// Whether addresses are those of files in the free space of a folder.
    pub(super) is_folder: bool,
    pub(super) places: Vec<u64>,
}

/// Random addresses are the same for writing and reading.
const SCATTERED_SEED: usize = 1;

impl Task {
    /// The seed, if it is not the workload's own number.
    pub(super) fn seed(&self, plan: &Plan) -> Option<u64> {
        matches!(self, Self::Scattered(_)).then(|| plan.seed_of(SCATTERED_SEED))
    }

    /// Whether it is part of the search before everything is written.
    pub(super) fn is_probe(&self) -> bool {
        matches!(self, Self::Boundaries(_) | Self::Scattered(_))
    }
}

impl VerifyLayout {
    /// Parts of a pass: the number asked for, each of one block at least.
    pub(super) fn parts(&self) -> u32 {
        (self.span / self.options.block).min(u64::from(self.options.parts)) as u32
    }

    /// The addresses of a part: whole blocks, except at the end of the last one.
    pub(super) fn part(&self, part: u32) -> Range<u64> {
        let (blocks, parts) = (self.span / self.options.block, u64::from(self.parts()));
        let start = |part: u64| blocks * part / parts * self.options.block;
        let next = u64::from(part) + 1;
        start(part.into())..if next == parts { self.span } else { start(next) }
    }
}
