//! The text of the calibrated drive's file.

use likenew_sim::model::Model;
use likenew_sim::{SimError, replace_entries};

use crate::base::Base;
use crate::error::CalibrationError;
use crate::parameter::{Estimate, Standing, value_of};
use crate::rehearsal::MeasuredRun;
use crate::wording;

/// The base's file with the values that were found (pairs of key and value, as [`Base::values`] returns them), their 90%
/// intervals as ranges, and the runs as sources. Other values stay as they are.
///
/// # Errors
/// The base's file lacks a key, or the calibrated drive is invalid.
pub(crate) fn calibrated_file(
    base: &Base,
    estimates: &[Estimate],
    values: &[(&'static str, f64)],
    runs: &[MeasuredRun],
) -> Result<String, CalibrationError> {
    let with_ranges = with_values(base, estimates, values, runs, true)?;
    // An interval may exceed what a drive file permits; then the file gets no ranges.
    if Model::parse(&base.name, &with_ranges).is_ok() {
        return Ok(with_ranges);
    }
    let text = with_values(base, estimates, values, runs, false)?;
    Model::parse(&base.name, &text)?;
    Ok(text)
}

fn with_values(
    base: &Base,
    estimates: &[Estimate],
    values: &[(&'static str, f64)],
    runs: &[MeasuredRun],
    has_ranges: bool,
) -> Result<String, SimError> {
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let model = runs
        .iter()
        .find_map(|run| run.evidence.identity.model.clone())
        .unwrap_or_else(|| base.model().model.clone());
    let calibrated = wording::quoted(&wording::calibrated_model(&model));
    let mut entries =
        vec![("identity.model", wording::entry(calibrated, None, &wording::source_of_model(&names)))];
    for (key, value) in values {
        let estimate = estimates.iter().find(|estimate| estimate.key == *key);
        let (range, source) = match estimate {
            Some(estimate)
                if estimate.standing == Standing::Undetermined && estimate.value == estimate.base =>
            {
                // No run depends on it, so the base's entry stays.
                continue;
            }
            Some(estimate) => {
                let (low, high) = (estimate.low.floor(), estimate.high.ceil());
                // Of several that are only known together, none has a range of its own.
                let range = (has_ranges && estimate.standing != Standing::Combined).then_some((low, high));
                (range, wording::source(estimate, &names, &base.name))
            }
            None if value_of(base.model(), key) == Some(*value) => continue,
            // A value that goes with a parameter is scaled as that is.
            None => (None, wording::source_of_companion(&names)),
        };
        entries.push((*key, wording::entry(value, range, &source)));
    }
    let text = replace_entries(&base.name, base.text(), &entries)?;
    // The comment at the top describes the base; the new heading takes its place.
    let body = text.lines().skip_while(|line| line.starts_with('#') || line.is_empty());
    let body: String = body.flat_map(|line| [line, "\n"]).collect();
    Ok(format!("{}\n{body}", wording::heading(&model, &base.name)))
}
