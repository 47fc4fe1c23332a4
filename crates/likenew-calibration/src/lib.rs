//! Finds a simulated drive that behaves like a real one, from runs of the real drive.
//!
//! [`calibrate`] repeats the workloads of kept runs, in their order, on candidates. A candidate is a catalog drive with
//! other values at the keys of [`PARAMETERS`]. Every segment is compared with the measured one. The results are the
//! most likely values, how well each is known, and a drive file. Every run begins in the state of the base.
//!
//! This crate reads no clock and no file, and prints nothing.

mod base;
mod calibration;
mod combination;
mod error;
mod file;
mod metric;
mod noise;
mod parameter;
mod prediction;
mod problem;
mod rehearsal;
mod search;
mod wording;

pub use base::Base;
pub use calibration::{CONFIDENCE, Calibration, CalibrationOptions, RunUse, calibrate, closest};
pub use combination::Combination;
pub use error::CalibrationError;
pub use metric::MetricKind;
pub use noise::Noise;
pub use parameter::{Estimate, PARAMETERS, Parameter, Standing, Unit};
pub use prediction::{Prediction, TestPrediction};
pub use problem::Observer;
pub use rehearsal::{Effort, MeasuredRun};
pub use wording::measured_model;
