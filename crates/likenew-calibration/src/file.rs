//! Writes the calibrated drive as a drive file.

use likenew_sim::model::Model;
use likenew_sim::{SimError, replace_entries};

use crate::base::Base;
use crate::error::CalibrationError;
use crate::parameter::{Estimate, Standing, value_of};
use crate::rehearsal::MeasuredRun;
use crate::wording;

/// The base's file with the values that were found, their 90% intervals as ranges, and the runs as sources. Other
/// values stay as they are.
pub(crate) fn write(
    base: &Base,
    estimates: &[Estimate],
    values: &[(&'static str, f64)],
    runs: &[MeasuredRun],
) -> Result<String, CalibrationError> {
    let with_ranges = text(base, estimates, values, runs, true)?;
    // An interval may exceed what a drive file permits; then the file gets no ranges.
    if Model::parse(&base.name, &with_ranges).is_ok() {
        return Ok(with_ranges);
    }
    let text = text(base, estimates, values, runs, false)?;
    Model::parse(&base.name, &text)?;
    Ok(text)
}

fn text(
    base: &Base,
    estimates: &[Estimate],
    values: &[(&'static str, f64)],
    runs: &[MeasuredRun],
    ranges: bool,
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
                continue;
            }
            Some(estimate) => {
                let (low, high) = (estimate.low.floor(), estimate.high.ceil());
                let range = (ranges && estimate.standing != Standing::Combined).then_some((low, high));
                (range, wording::source(estimate, &names, &base.name))
            }
            None if value_of(base.model(), key) == Some(*value) => continue,
            None => (None, wording::source_of_companion(&names)),
        };
        entries.push((*key, wording::entry(value, range, &source)));
    }
    let text = replace_entries(&base.name, base.text(), &entries)?;
    // The first comment describes the base.
    let body = text.split_once("kind = ").map_or(text.as_str(), |(_, body)| body);
    Ok(format!("{}\nkind = {body}", wording::heading(&model, &base.name)))
}
