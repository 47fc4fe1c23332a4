//! `likenew sim`: simulated drives explained, saved, served, and fitted to real ones.

mod calibrate;
mod image;
mod serve;
mod serve_report;
mod status;

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write as _};

use anyhow::anyhow;
use likenew_sim::Spec;
use likenew_sim::explain::{Ceiling, Explanation};
use textwrap::core::display_width;

use crate::arguments::{Sim, SimAction, SimSave, SimShow};
use crate::diagram;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::resolved_target::read_file;
use crate::wording::serve as wording;

/// Wider lines are hard to read.
const WIDTH_MAX: usize = 100;
/// Narrower boxes cannot be drawn.
const WIDTH_MIN: usize = 40;

pub(crate) fn run(command: &Sim) -> Result<Exit, Failure> {
    match &command.action {
        SimAction::Show(show) => run_show(show),
        SimAction::Save(save) => run_save(save),
        SimAction::Serve(serve) => serve::run(serve),
        SimAction::Calibrate(calibrate) => calibrate::run(calibrate),
    }
}

fn run_show(command: &SimShow) -> Result<Exit, Failure> {
    let explanation = explain(&command.target)?;
    if let Some(path) = &command.json {
        let text = serde_json::to_string_pretty(&explanation).expect("an explanation is plain values");
        output::write_to(path, &format!("{text}\n"))?;
        return Ok(Exit::Fine);
    }
    let width = output::width().clamp(WIDTH_MIN, WIDTH_MAX);
    output::print(&text(&explanation, command.sources, width))?;
    Ok(Exit::Fine)
}

/// Creates a drive and writes it to a new file.
fn run_save(command: &SimSave) -> Result<Exit, Failure> {
    let path = &command.file;
    if path.extension().is_none_or(|extension| extension != "snapshot") {
        return Err(Failure::Usage(wording::not_a_snapshot_name(path)));
    }
    let spec = spec(&command.target)?;
    let could_not = |error: &std::io::Error| wording::could_not_save(path, error);
    let file = File::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::Refused(could_not(&error)),
        _ => Failure::Other(anyhow!(could_not(&error))),
    })?;
    let made = spec.open(read_file).map_err(|error| Failure::Usage(error.to_string()));
    let saved = made.and_then(|mut drive| {
        let mut out = BufWriter::new(&file);
        drive
            .save(&mut out)
            .and_then(|()| out.flush())
            .map_err(|error| Failure::Other(anyhow!(could_not(&error))))
    });
    if let Err(failure) = saved {
        // A useless file of this process; an error in removing it would only hide the first one.
        let _ = std::fs::remove_file(path);
        return Err(failure);
    }
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    output::print(&wording::saved(&spec.text, bytes, path))?;
    Ok(Exit::Fine)
}

fn explain(target: &str) -> Result<Explanation, Failure> {
    spec(target)?.explain(read_file).map_err(|error| Failure::Usage(error.to_string()))
}

fn spec(target: &str) -> Result<Spec, Failure> {
    let text = if target.starts_with("sim:") { target.to_owned() } else { format!("sim:{target}") };
    let name = target.split_once('?').map_or(target, |(name, _)| name);
    // Other paths are refused: a device opened as a drive's file would be read to its end.
    if name.contains('/') && ![".toml", ".snapshot"].iter().any(|end| name.ends_with(end)) {
        return Err(Failure::Usage(wording::not_a_simulated_drive(target)));
    }
    Spec::parse(&text).map_err(|error| Failure::Usage(error.to_string()))
}

fn text(drive: &Explanation, sources: bool, width: usize) -> String {
    let lines = [format!("{}, {}", drive.model, drive.technology), wording::simulated_drive(drive)];
    let mut lines = wrap_line(&lines, "", width);
    lines.push(String::new());
    lines.extend(diagram::draw(&drive.layers, width));
    lines.push(String::new());
    lines.push(wording::SPEED_LIMITS.into());
    let compresses = drive.causes.contains(&"compression");
    drive.ceilings.iter().for_each(|of| lines.extend(ceiling(of, compresses, width)));
    lines.push(String::new());
    lines.push("Times".into());
    let times: Vec<_> = drive.times.iter().map(|time| (time.name.clone(), time.value.to_string())).collect();
    lines.extend(columns(&times, width));
    lines.push(String::new());
    if !drive.inside.is_empty() {
        lines.push(wording::XRAY_SHOULD_FIND.into());
        let inside: Vec<_> =
            drive.inside.iter().map(|fact| (fact.name.clone(), fact.value.to_string())).collect();
        lines.extend(columns(&inside, width));
        lines.push(String::new());
    }
    lines.extend(wrap_line(&[wording::causes(&drive.causes)], "", width));
    lines.push(String::new());
    lines.push(wording::parameters(drive.sources.len(), drive.parameters_assumed, sources));
    if sources {
        for sourced in &drive.sources {
            let range = sourced.range.as_ref().map_or_else(String::new, |range| format!(" (range: {range})"));
            lines.push(format!("  {} = {}{range}", sourced.key, sourced.value));
            lines.extend(wrap_line(std::slice::from_ref(&sourced.source), "      ", width));
        }
    }
    lines.into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The limit, then every bound, with that one marked.
fn ceiling(ceiling: &Ceiling, compresses: bool, width: usize) -> Vec<String> {
    let limit = ceiling.limit();
    let mut lines = wrap_line(&[wording::ceiling(ceiling, compresses)], "  ", width);
    let column = |texts: &dyn Fn(usize) -> usize| (0..ceiling.bounds.len()).map(texts).max().unwrap_or(0);
    let by_width = column(&|index| display_width(&ceiling.bounds[index].bottleneck));
    let value_width = column(&|index| display_width(&ceiling.bounds[index].value.to_string()));
    for bound in &ceiling.bounds {
        let mark = if bound == limit { "▶" } else { " " };
        let method = &bound.method;
        lines.push(format!(
            "    {mark} {:by_width$}  {:>value_width$}  {method}",
            bound.bottleneck, bound.value
        ));
    }
    lines
}

/// Names in one column, values in another.
fn columns(rows: &[(String, String)], width: usize) -> Vec<String> {
    /// Width that fits most values, with the gaps before them.
    const VALUE: usize = 16;
    let name_width = rows.iter().map(|(name, _)| display_width(name)).max().unwrap_or(0).min(width - VALUE);
    let row = |(name, value): &(String, String)| format!("  {name:name_width$}  {value}");
    rows.iter().map(row).collect()
}

fn wrap_line(texts: &[String], indent: &str, width: usize) -> Vec<String> {
    let continued = format!("{indent}  ");
    let options = textwrap::Options::new(width).initial_indent(indent).subsequent_indent(&continued);
    texts.iter().flat_map(|text| textwrap::wrap(text, &options)).map(|line| line.into_owned()).collect()
}
