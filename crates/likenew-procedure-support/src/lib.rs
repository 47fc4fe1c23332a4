//! What every procedure uses: options, estimates from passes, tables and charts, failed tests, device counters, what
//! running it again costs, and common workloads.

pub mod device_counters;
pub mod estimate;
pub mod failures;
pub mod fit;
pub mod options;
pub mod overview;
pub mod pattern;
pub mod precision_goal;
pub mod profile;
pub mod rerun;
pub mod rows;
pub mod series;
pub mod wording;
pub mod workloads;
