//! Finds numbers that JSON cannot hold before they turn into `null`.

use crate::document::Document;
use crate::error::ReportError;

/// # Errors
/// The first number of the document that is infinite or not a number, with its place.
pub(crate) fn check(document: &Document) -> Result<(), ReportError> {
    answers(document)?;
    for (name, series) in &document.series {
        for line in &series.lines {
            for value in line.points.iter().flatten() {
                number(*value, || format!("a point of \"{}\" in series.{name}", line.name))?;
            }
            for value in line.band.iter().flatten() {
                number(*value, || format!("the band of \"{}\" in series.{name}", line.name))?;
            }
        }
        for mark in &series.marks {
            number(mark.x, || format!("the mark \"{}\" of series.{name}", mark.label))?;
        }
    }
    if let Some(counters) = &document.target.accounting {
        number(counters.write_amplification, || "target.accounting.write_amplification".into())?;
    }
    if let Some(limits) = &document.instrument.calibration {
        number(limits.nop_iops, || "instrument.calibration.nop_iops".into())?;
        number(limits.overhead_ns_per_io, || "instrument.calibration.overhead_ns_per_io".into())?;
        number(limits.random_data_bytes_per_s, || "instrument.calibration.random_data_bytes_per_s".into())?;
        number(limits.ratio_data_bytes_per_s, || "instrument.calibration.ratio_data_bytes_per_s".into())?;
    }
    table("plan.options", &document.plan.options)
}

fn answers(document: &Document) -> Result<(), ReportError> {
    for (index, answer) in document.answers.iter().enumerate() {
        if let Some(estimate) = &answer.estimate {
            let place = |end| format!("answers[{index}].estimate.{end}");
            number(estimate.value, || place("value"))?;
            number(estimate.low, || place("low"))?;
            number(estimate.high, || place("high"))?;
        }
        for action in &answer.actions {
            let place = || format!("answers[{index}].actions.{}.time_s", action.id);
            action.time_s.map_or(Ok(()), |seconds| number(seconds, place))?;
        }
    }
    let rows = document.overview.table.iter().flat_map(|table| &table.rows).enumerate();
    for (index, row) in rows {
        let place = || format!("overview.table.rows[{index}].share");
        row.share.map_or(Ok(()), |share| number(share, place))?;
    }
    Ok(())
}

fn number(value: f64, place: impl FnOnce() -> String) -> Result<(), ReportError> {
    if value.is_finite() { Ok(()) } else { Err(ReportError::NotFinite { place: place(), value }) }
}

fn table(place: &str, options: &toml::Table) -> Result<(), ReportError> {
    options.iter().try_for_each(|(key, value)| option(&format!("{place}.{key}"), value))
}

fn option(place: &str, value: &toml::Value) -> Result<(), ReportError> {
    match value {
        toml::Value::Float(value) => number(*value, || place.to_owned()),
        toml::Value::Array(values) => values.iter().try_for_each(|value| option(place, value)),
        toml::Value::Table(options) => table(place, options),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::findings::Mark;
    use likenew_core::instrument::Calibration;

    use super::*;
    use crate::fixtures;

    #[test]
    fn every_number_that_json_cannot_hold_is_named() {
        let case = |change: &dyn Fn(&mut Document), place: &str| {
            let mut document = fixtures::bench("sim:new", 1.0);
            assert!(document.to_json().is_ok());
            change(&mut document);
            let error = document.to_json().unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
        };
        fn estimate(document: &mut Document) -> &mut likenew_core::answer::Estimate {
            document.answers[0].estimate.as_mut().unwrap()
        }
        case(&|d| estimate(d).value = f64::NAN, "answers[0].estimate.value is NaN");
        case(&|d| estimate(d).low = f64::NEG_INFINITY, "answers[0].estimate.low is -inf");
        case(&|d| estimate(d).high = f64::INFINITY, "answers[0].estimate.high is inf");
        case(
            &|d| d.series.get_mut("bandwidth").unwrap().lines[1].points[2][1] = f64::NAN,
            "a point of \"write\" in series.bandwidth",
        );
        case(
            &|d| d.series.get_mut("bandwidth").unwrap().lines[0].band = vec![[0.0, f64::NAN, 1.0]],
            "the band of \"read\" in series.bandwidth",
        );
        case(
            &|d| {
                let marks = &mut d.series.get_mut("bandwidth").unwrap().marks;
                marks.push(Mark { x: f64::NAN, label: "knee".into() });
            },
            "the mark \"knee\" of series.bandwidth",
        );
        case(
            &|d| d.target.accounting.as_mut().unwrap().write_amplification = f64::INFINITY,
            "target.accounting.write_amplification",
        );
        case(
            &|d| {
                d.instrument.calibration = Some(Calibration {
                    timer_step_ns: 1,
                    nop_iops: 1.0,
                    overhead_ns_per_io: 1.0,
                    random_data_bytes_per_s: f64::INFINITY,
                    ratio_data_bytes_per_s: 1.0,
                    added_latency: None,
                });
            },
            "instrument.calibration.random_data_bytes_per_s",
        );
        case(
            &|d| d.plan.options = toml::from_str("a = [1.0, {b = nan}]").unwrap(),
            "plan.options.a.b is NaN",
        );
    }
}
