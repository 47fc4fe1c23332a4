//! What every procedure uses: settings from plans, rows and series of findings, tests that could not be measured,
//! device counters, what running it again costs, and workloads that several procedures run.

pub mod device_counters;
pub mod estimate;
pub mod failures;
pub mod fit;
pub mod options;
pub mod pattern;
pub mod precision_goal;
pub mod profile;
pub mod rerun;
pub mod rows;
pub mod series;
pub mod wording;
pub mod workloads;
