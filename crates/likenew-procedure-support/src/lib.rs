//! What all procedures share: options from plans, rows and series of findings, failed tests, device counters,
//! and common workloads.

pub mod device_counters;
pub mod options;
pub mod pattern;
pub mod precision_goal;
pub mod profile;
pub mod refusals;
pub mod rows;
pub mod series;
pub mod wording;
pub mod workloads;

/// Confidence of every reported interval, in 0..1: the usual 95%.
pub const CONFIDENCE: f64 = 0.95;
