//! Sentences of `likenew sim calibrate`.

use std::path::Path;

use likenew_calibration::{
    Calibration, Combination, Estimate, MeasuredRun, Prediction, Standing, TestPrediction,
};
use likenew_core::quantity::{Share, range};
use likenew_core::shell::shell_quote;

pub(crate) const CHOOSING_BASE: &str = "choose a drive to begin with";
pub(crate) const FITTING: &str = "fit the drive";
pub(crate) const STOPPED: &str = "Stopped; no file was written.";
pub(crate) const NO_BASE: &str = "no drive of the catalog can run what these runs did; name one with --like";
pub(crate) const HEAD: [&str; 4] = ["parameter", "value", "90% range", "before"];

pub(crate) fn file_exists(path: &Path) -> String {
    format!("{} exists; give another --output, or --replace to overwrite it", path.display())
}

pub(crate) fn other_drive(first: &MeasuredRun, other: &MeasuredRun) -> String {
    let model = |run: &MeasuredRun| run.evidence.identity.model.clone().unwrap_or_default();
    format!(
        "{} is of \"{}\", and {} of \"{}\"; give runs of one drive",
        first.name,
        model(first),
        other.name,
        model(other)
    )
}

/// A file named after the drive.
pub(crate) fn file_name(calibration: &Calibration, runs: &[MeasuredRun]) -> String {
    let model = runs.iter().find_map(|run| run.evidence.identity.model.as_deref());
    let words: Vec<String> = model
        .unwrap_or(&calibration.base)
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    format!("{}-calibrated.toml", words.join("-"))
}

/// The first line.
pub(crate) fn answer(calibration: &Calibration) -> String {
    let of = |predictions: &[Prediction]| {
        let worst = |a: &&Prediction, b: &&Prediction| {
            a.typical_error().partial_cmp(&b.typical_error()).expect("errors are numbers")
        };
        predictions.iter().max_by(worst).cloned()
    };
    match (of(&calibration.held_out), of(&calibration.fitted)) {
        (Some(held_out), _) => held_out_answer(&held_out),
        (None, Some(fitted)) => fitted_answer(&fitted),
        (None, None) => String::new(),
    }
}

fn held_out_answer(prediction: &Prediction) -> String {
    let Some((typical, worst)) = prediction.typical_error().zip(prediction.worst()) else {
        return format!(
            "? The simulated drive cannot run the held-out run {}, so nothing tests it.",
            prediction.run
        );
    };
    let (typical, worst) = (Share(typical), worst_test(worst));
    if prediction.is_good() {
        format!(
            "✓ The simulated drive predicts the held-out run within {typical} (half of its tests; worst: {worst})."
        )
    } else {
        format!(
            "✗ The simulated drive is not to be trusted: it is off by {typical} in the held-out run (half of its tests more; worst: {worst})."
        )
    }
}

fn fitted_answer(prediction: &Prediction) -> String {
    let Some((typical, worst)) = prediction.typical_error().zip(prediction.worst()) else {
        return format!("? The simulated drive cannot run {}.", prediction.run);
    };
    format!(
        "? The simulated drive repeats its runs within {} (half of the tests; worst: {}). Give a third run to test it.",
        Share(typical),
        worst_test(worst)
    )
}

fn worst_test(test: &TestPrediction) -> String {
    format!("{} by {}", test.name, Share(test.error()))
}

pub(crate) fn row(estimate: &Estimate) -> [String; 4] {
    let text = |value: f64| estimate.unit.text(value);
    let roughly = if estimate.standing == Standing::Rough { "about " } else { "" };
    [
        estimate.name.to_owned(),
        format!("{roughly}{}", text(estimate.value)),
        range(text(estimate.low), text(estimate.high)),
        text(estimate.base),
    ]
}

pub(crate) fn combination_row(combination: &Combination) -> [String; 4] {
    let text = |value: f64| combination.unit.text(value);
    [
        combination.name.to_owned(),
        text(combination.value),
        range(text(combination.low), text(combination.high)),
        String::new(),
    ]
}

/// Parameters of which only a sum or a ratio shows.
pub(crate) fn combined(estimates: &[&Estimate]) -> Option<String> {
    let names = names(estimates)?;
    Some(format!("Only together: {names}. Their values do what was measured; others would, too."))
}

/// Parameters that nothing depends on, and what would show them.
pub(crate) fn undetermined(estimates: &[&Estimate]) -> Option<String> {
    let names = names(estimates)?;
    let mut commands: Vec<&str> = estimates.iter().map(|estimate| estimate.needs).collect();
    commands.sort_unstable();
    commands.dedup();
    Some(format!(
        "Not determined by these runs: {names} (as before). To measure them: {}.",
        commands.join(", ")
    ))
}

fn names(estimates: &[&Estimate]) -> Option<String> {
    let names: Vec<&str> = estimates.iter().map(|estimate| estimate.name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

pub(crate) fn file(path: &Path, base: &str) -> String {
    format!("Written to {}; everything else is as in {base}.", path.display())
}

pub(crate) fn try_it(path: &Path, state: &str) -> String {
    let state = if state.is_empty() { String::new() } else { format!("?{state}") };
    format!("Try it: likenew bench {}", shell_quote(&format!("sim:{}{state}", path.display())))
}
