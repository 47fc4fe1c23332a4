//! Fuzzes every parser with damaged inputs: no panic, bounded time, bounded memory.
//!
//! A [`Target`] is a parser with inputs that it must accept. [`fuzz`] damages these as files, wires and people do
//! (`mutate`), and counts how many are accepted. An input that panics, or takes too much time or memory, is a
//! [`Failure`]. Random numbers come from a seed, so failures are reproducible.
//!
//! The network block device and the journal of a refresh have their own fuzzers beside their code (`tests/mutated.rs`),
//! which compare results with a second implementation of the format.

#![allow(clippy::disallowed_methods, reason = "it measures time and writes files")]

mod driver;
mod mutate;
pub mod targets;

pub use driver::{Failure, Outcome, fuzz};

/// An input: one part, or the files of a folder.
pub type Input = Vec<Vec<u8>>;

/// Whether an input is accepted.
pub type Check = dyn Fn(&[Vec<u8>]) -> bool;

/// A parser and inputs for it.
pub struct Target {
    /// Its name in the table.
    pub name: String,
    /// Inputs that the parser must accept.
    pub seeds: Vec<Input>,
    /// Parses an input and uses it as the program would; returns whether it was accepted.
    pub check: Box<Check>,
}

impl Target {
    fn new(name: impl Into<String>, seeds: Vec<Input>, check: impl Fn(&[Vec<u8>]) -> bool + 'static) -> Self {
        Self { name: name.into(), seeds, check: Box::new(check) }
    }
}
