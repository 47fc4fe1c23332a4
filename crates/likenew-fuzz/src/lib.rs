//! Damaged inputs for every parser: no panic, bounded time, bounded memory.
//!
//! A [`Target`] is a parser with inputs that it has to accept. [`fuzz`] damages these as files, wires and people do (`mutate`), and counts what is
//! accepted and refused. What panics, or takes too long or too much memory, is a [`Failure`] with the input that did it. Randomness comes from a
//! seed, so a failure comes again.
//!
//! The network block device and the journal of a refresh have fuzzers of their own beside their code (`tests/mutated.rs`), which hold what is
//! written against a second reading of the format.

mod driver;
mod mutate;
pub mod targets;

pub use driver::{Failure, Outcome, fuzz};

/// An input: one part, or the files of a folder.
pub type Input = Vec<Vec<u8>>;

/// A parser, and what it accepts.
pub struct Target {
    /// As the table calls it.
    pub name: &'static str,
    /// Inputs that it accepts.
    pub seeds: Vec<Input>,
    /// Parses an input, and does with it what the program would; whether it was accepted.
    pub check: fn(&[Vec<u8>]) -> bool,
}
