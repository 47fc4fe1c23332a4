//! Sentences of a calibration: sources in the drive file, and errors.

use std::fmt::Display;

use likenew_core::quantity::range;

use crate::parameter::{Estimate, Standing};

pub(crate) const STOPPED: &str = "the calibration was stopped; no file was written";
pub(crate) const CANDIDATE: &str = "tried";
pub(crate) const CAPACITY: &str = "the size of the drive that was measured";

/// A value as an entry of a drive file.
pub(crate) fn entry(value: impl Display, range: Option<(f64, f64)>, source: &str) -> String {
    let source = quoted(source);
    match range {
        Some((low, high)) => format!("{{ value = {value}, range = [{low}, {high}], source = {source} }}"),
        None => format!("{{ value = {value}, source = {source} }}"),
    }
}

/// The text as a TOML string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is plain data")
}

likenew_core::sentences! {
    pub(crate) fn scaled(base: &str) = "as much for each byte as {base} has";
    pub(crate) fn heading(model: &str, base: &str) =
        "# {}, calibrated to kept runs; values without a run in their source are those of {base}.",
        one_line(model);
    pub(crate) fn source_of_model(runs: &[&str]) = "calibrated to {}", runs.join(", ");
    pub(crate) fn source_of_companion(runs: &[&str]) =
        "calibrated to {}, in the proportion that the base has", runs.join(", ");
    pub(crate) fn nothing_measured(runs: &[String]) =
        "nothing in {} can be simulated; use runs of `likenew sweep`, `bench` and `fill`", runs.join(", ");
    pub(crate) fn base_does_not_fit(base: &str, run: &str) =
        "{base} cannot run what {run} did; name another drive with --like";
}

/// Suffix for the model of a calibrated drive.
const CALIBRATED: &str = ", calibrated";

pub(crate) fn calibrated_model(model: &str) -> String {
    let model = one_line(model);
    if model.ends_with(CALIBRATED) { model } else { model + CALIBRATED }
}

/// The model of the measured drive, or that of a drive without calibration.
pub fn measured_model(model: &str) -> &str {
    model.strip_suffix(CALIBRATED).unwrap_or(model)
}

/// The source of a calibrated value.
pub(crate) fn source(estimate: &Estimate, runs: &[&str], base: &str) -> String {
    let runs = runs.join(", ");
    let text = |value: f64| estimate.unit.text(value);
    match estimate.standing {
        Standing::Determined | Standing::Rough => {
            format!("calibrated to {runs}: 90% range {}", range(text(estimate.low), text(estimate.high)))
        }
        Standing::Combined => {
            format!("calibrated to {runs} together with others; the runs do not determine it alone")
        }
        Standing::Undetermined => format!("assumed: as {base}; {runs} do not determine it"),
    }
}

/// The name on one line, as a drive file requires.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
