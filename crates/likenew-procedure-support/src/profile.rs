//! Named sets of tests, as in CrystalDiskMark's table.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use likenew_core::units::exact_size;
use likenew_core::workload::AccessPattern;
use serde::{Deserialize, Serialize};

use crate::fit::by_name;
use crate::pattern::Pattern;

/// A named set of tests.
///
/// `default`, `nvme`, `peak` and `real` are the sets of CrystalDiskMark 8; `2009` is that of its first versions, which
/// the drive tests of that time used.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Profile {
    /// 1 MiB sequential and 4 KiB random, each with a deep and a shallow queue.
    #[default]
    Default,
    /// Also 128 KiB sequential, and as many threads as fast drives need.
    Nvme,
    /// Only the deep queues.
    Peak,
    /// Only the shallow queues, as single programs have.
    Real,
    /// Sequential, random 512 KiB, random 4 KiB, random 4 KiB deep.
    #[serde(rename = "2009")]
    #[strum(serialize = "2009")]
    Of2009,
}

/// One line of the table: pattern, block size, queue depth and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// Whether addresses are random rather than sequential.
    pub random: bool,
    /// Bytes of one I/O.
    pub block: u32,
    /// Queue depth of each thread.
    pub depth: u32,
    /// Threads.
    pub threads: u32,
}

const fn sequential(block: u32, depth: u32, threads: u32) -> Test {
    Test { random: false, block, depth, threads }
}

const fn random(block: u32, depth: u32, threads: u32) -> Test {
    Test { random: true, block, depth, threads }
}

const K: u32 = 1 << 10;
const M: u32 = 1 << 20;

const SEQ1M_Q8T1: Test = sequential(M, 8, 1);
const SEQ1M_Q1T1: Test = sequential(M, 1, 1);
const SEQ128K_Q32T1: Test = sequential(128 * K, 32, 1);
const RND4K_Q32T16: Test = random(4 * K, 32, 16);
const RND4K_Q32T1: Test = random(4 * K, 32, 1);
const RND4K_Q1T1: Test = random(4 * K, 1, 1);
const RND512K_Q1T1: Test = random(512 * K, 1, 1);

impl Profile {
    /// Its tests, in the order of the table.
    pub fn tests(self) -> &'static [Test] {
        match self {
            Self::Default => &[SEQ1M_Q8T1, SEQ1M_Q1T1, RND4K_Q32T1, RND4K_Q1T1],
            Self::Nvme => &[SEQ1M_Q8T1, SEQ128K_Q32T1, RND4K_Q32T16, RND4K_Q1T1],
            Self::Peak => &[SEQ1M_Q8T1, RND4K_Q32T1],
            Self::Real => &[SEQ1M_Q1T1, RND4K_Q1T1],
            Self::Of2009 => &[SEQ1M_Q1T1, RND512K_Q1T1, RND4K_Q1T1, RND4K_Q32T1],
        }
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        by_name(text)
    }
}

impl Test {
    /// The access pattern of its order over a range of bytes.
    pub fn over(&self, range: Range<u64>) -> AccessPattern {
        if self.random { Pattern::Random.over(range) } else { Pattern::Sequential.over(range) }
    }
}

impl fmt::Display for Test {
    /// `SEQ1M Q8T1`, `RND4K Q32T16`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = if self.random { "RND" } else { "SEQ" };
        let size = exact_size(u64::from(self.block));
        write!(f, "{pattern}{} Q{}T{}", size.trim_end_matches("iB"), self.depth, self.threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_called_what_users_call_them() {
        let names = |profile: Profile| profile.tests().iter().map(Test::to_string).collect::<Vec<_>>();
        assert_eq!(names(Profile::Default), ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"]);
        assert_eq!(names(Profile::Nvme), ["SEQ1M Q8T1", "SEQ128K Q32T1", "RND4K Q32T16", "RND4K Q1T1"]);
        assert_eq!(names(Profile::Of2009), ["SEQ1M Q1T1", "RND512K Q1T1", "RND4K Q1T1", "RND4K Q32T1"]);
    }
}
