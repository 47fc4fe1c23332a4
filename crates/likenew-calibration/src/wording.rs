//! Every sentence of a calibration: sources in the file that it writes, and errors.

use likenew_core::quantity::range;

use crate::estimate::{Estimate, Standing};

pub(crate) const STOPPED: &str = "the calibration was stopped; no file was written";
pub(crate) const CANDIDATE: &str = "tried";
pub(crate) const CAPACITY: &str = "the size of the drive that was measured";

/// A value as a drive's file has it.
pub(crate) fn entry(value: &str, range: Option<(f64, f64)>, source: &str) -> String {
    let source = quoted(source);
    match range {
        Some((low, high)) => format!("{{ value = {value}, range = [{low}, {high}], source = {source} }}"),
        None => format!("{{ value = {value}, source = {source} }}"),
    }
}

/// A text as TOML has it.
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

/// After the model of a drive whose parameters were fitted to measurements.
const CALIBRATED: &str = ", calibrated";

pub(crate) fn calibrated_model(model: &str) -> String {
    let model = one_line(model);
    if model.ends_with(CALIBRATED) { model } else { model + CALIBRATED }
}

/// The model that was measured, of a calibrated drive; of another drive its own.
pub fn measured_model(model: &str) -> &str {
    model.strip_suffix(CALIBRATED).unwrap_or(model)
}

/// Where a calibrated value comes from.
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

/// A name in a file is one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
