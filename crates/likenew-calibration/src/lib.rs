//! From runs of a real drive to a simulated one that does the same.
//!
//! [`calibrate`] runs the workloads of kept runs again, in their order, on candidates: a drive of the catalog with other values at
//! the keys of [`PARAMETERS`]. It compares every segment with the measured one, finds the most likely values, says how
//! well each is known, and writes them as a file that the simulator opens. Every run begins on a drive in the state of the base.
//!
//! This crate reads no clock and no file, and prints nothing.

mod base;
mod calibration;
mod combination;
mod error;
mod estimate;
mod file;
mod metric;
mod noise;
mod observer;
mod parameter;
mod prediction;
mod problem;
mod rehearsal;
mod search;
mod view;
mod wording;

pub use base::Base;
pub use calibration::{CONFIDENCE, Calibration, CalibrationOptions, RunUse, calibrate, closest};
pub use combination::Combination;
pub use error::CalibrationError;
pub use estimate::{Estimate, Standing};
pub use metric::MetricKind;
pub use noise::Noise;
pub use observer::Observer;
pub use parameter::{PARAMETERS, Parameter, Unit};
pub use prediction::{Prediction, TestPrediction};
pub use rehearsal::{Effort, MeasuredRun};
pub use wording::measured_model;
