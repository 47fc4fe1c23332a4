//! `likenew sim show`: a drive's layers as boxes from top to bottom, connected where data passes, and what limits its speed.

use likenew_core::units::rate;
use likenew_sim::explain::{Ceiling, Explanation, Fact, LayerBox, Picture};
use textwrap::core::display_width;

use super::{SimShow, spec};
use crate::exit::{Exit, Result};
use crate::output;
use crate::resolved_target::read_file;
use crate::wording::sim as wording;

/// Wider lines are hard to read.
const WIDTH_MAX: usize = 100;
/// Narrower boxes cannot be drawn.
const WIDTH_MIN: usize = 40;

pub(super) fn run(command: &SimShow) -> Result<Exit> {
    let explanation = spec(&command.target)?.explain(read_file)?;
    if let Some(path) = &command.json {
        output::write_json(path, &explanation)?;
        return Ok(Exit::Fine);
    }
    let width = output::width().clamp(WIDTH_MIN, WIDTH_MAX);
    output::print(&text(&explanation, command.sources, width))?;
    Ok(Exit::Fine)
}

fn text(drive: &Explanation, sources: bool, width: usize) -> String {
    let head = [format!("{}, {}", drive.model, drive.technology), wording::simulated_drive(drive)];
    let compresses = drive.causes.contains(&"compression");
    let limits = drive.ceilings.iter().flat_map(|limit| ceiling(limit, compresses, width));
    let titled = |title: &str, lines: Vec<String>| [vec![title.to_owned()], lines].concat();
    let mut sections = vec![
        wrap_line(&head, "", width),
        draw(&drive.layers, width),
        titled(wording::SPEED_LIMITS, limits.collect()),
        titled("Times", columns(&drive.times, width)),
    ];
    if !drive.inside.is_empty() {
        sections.push(titled(wording::XRAY_SHOULD_FIND, columns(&drive.inside, width)));
    }
    sections.push(wrap_line(&[wording::causes(&drive.causes)], "", width));
    sections.push(vec![wording::parameters(drive.sources.len(), drive.parameters_assumed, sources)]);
    let mut lines = sections.join(&String::new());
    for sourced in drive.sources.iter().filter(|_| sources) {
        let range = sourced.range.as_ref().map_or_else(String::new, |range| format!(" (range: {range})"));
        lines.push(format!("  {} = {}{range}", sourced.key, sourced.value));
        lines.extend(wrap_line(std::slice::from_ref(&sourced.source), "      ", width));
    }
    lines.into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The limit of a speed, then all its bounds. The bound that sets the limit is marked.
fn ceiling(ceiling: &Ceiling, compresses: bool, width: usize) -> Vec<String> {
    let limit = ceiling.limit();
    let mut lines = wrap_line(&[wording::ceiling(ceiling, compresses)], "  ", width);
    let rows: Vec<[String; 3]> = ceiling
        .bounds
        .iter()
        .map(|bound| {
            let mark = if bound == limit { "▶" } else { " " };
            [format!("{mark} {}", bound.bottleneck), bound.value.to_string(), bound.method.clone()]
        })
        .collect();
    let table = output::table(&rows, [false, true, false]);
    lines.extend(table.into_iter().map(|line| format!("    {line}")));
    lines
}

/// Names in one column, values in another.
fn columns(facts: &[Fact], width: usize) -> Vec<String> {
    /// Width that fits most values, with the gaps before them.
    const VALUE: usize = 16;
    let widest = facts.iter().map(|fact| display_width(&fact.name)).max().unwrap_or(0);
    let name_width = widest.min(width - VALUE);
    facts.iter().map(|Fact { name, value }| format!("  {name:name_width$}  {value}")).collect()
}

fn wrap_line(texts: &[String], indent: &str, width: usize) -> Vec<String> {
    let continued = format!("{indent}  ");
    let options = textwrap::Options::new(width).initial_indent(indent).subsequent_indent(&continued);
    texts.iter().flat_map(|text| textwrap::wrap(text, &options)).map(|line| line.into_owned()).collect()
}

/// Most dies per channel that are drawn, if the channels fit a line. Otherwise only the title has the numbers.
const DIES_MAX: u32 = 8;
const CELL: usize = 4;

/// Draws the layers in boxes of this width, at least 40.
fn draw(layers: &[LayerBox], width: usize) -> Vec<String> {
    assert!(width >= 40, "a box of {width} columns has no room for its figures");
    let middle = width / 2;
    let mut lines = vec![center("host", middle)];
    for (index, layer) in layers.iter().enumerate() {
        let last = index + 1 == layers.len();
        lines.push(center("│", middle));
        lines.push(rule(&layer.name, '┌', '┐', '┴', middle, width));
        lines.extend(
            contents(layer, width - 4).into_iter().map(|line| format!("│ {} │", pad(&line, width - 4))),
        );
        lines.push(rule("", '└', '┘', if last { '─' } else { '┬' }, middle, width));
    }
    lines
}

/// The content of a box of this width.
fn contents(layer: &LayerBox, width: usize) -> Vec<String> {
    let mut lines = wrap(&layer.description, width);
    lines.extend(metrics(&layer.facts, width));
    lines.extend(layer.picture.iter().flat_map(|picture| draw_picture(picture, width)));
    lines
}

/// Puts short values in two columns and long ones on separate lines.
fn metrics(facts: &[Fact], width: usize) -> Vec<String> {
    let half = (width - 3) / 2;
    let mut lines: Vec<String> = Vec::new();
    let mut left: Option<String> = None;
    for fact in facts {
        let value = fact.value.to_string();
        let room = half.checked_sub(display_width(&fact.name) + 2);
        if room.is_none_or(|room| display_width(&value) > room) {
            lines.extend(left.take());
            lines.extend(wrap(&format!("{}: {value}", fact.name), width));
            continue;
        }
        let gap = half - display_width(&fact.name) - display_width(&value);
        let cell = format!("{}{}{value}", fact.name, " ".repeat(gap));
        match left.take() {
            None => left = Some(cell),
            Some(first) => lines.push(format!("{first}   {cell}")),
        }
    }
    lines.extend(left);
    lines
}

fn draw_picture(picture: &Picture, width: usize) -> Vec<String> {
    match picture {
        Picture::Dies { channels, dies_per_channel } => dies(*channels, *dies_per_channel, width),
        Picture::BytesPerSByAddress(rates) => vec![bars(rates, width)],
    }
}

/// Each channel as a column of dies below its bus.
fn dies(channels: u32, dies_per_channel: u32, width: usize) -> Vec<String> {
    const TITLE: &str = "channel";
    let columns = channels as usize;
    if dies_per_channel > DIES_MAX || TITLE.len() + columns * CELL > width {
        return Vec::new();
    }
    let row = |title: &str, cell: &dyn Fn(usize) -> String| {
        let cells: String = (0..columns).map(|channel| format!("{:>CELL$}", cell(channel))).collect();
        format!("{title:7}{cells}")
    };
    let mut lines = vec![row(TITLE, &|channel| channel.to_string())];
    lines.extend((0..dies_per_channel).map(|_| row("", &|_| "■".into())));
    lines
}

/// Rates as bars, the highest as a full block. If they do not fit, every n-th is shown.
fn bars(rates: &[f64], width: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = rates.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let bar = |rate: &f64| BARS[((rate / highest * 8.0).ceil() as usize).clamp(1, 8) - 1];
    let (first, last) = (rates.first().copied().unwrap_or(0.0), rates.last().copied().unwrap_or(0.0));
    let (before, after) = (format!("by address: {} ", rate(first)), format!(" {}", rate(last)));
    let room = width.saturating_sub(display_width(&before) + display_width(&after)).max(1);
    let step = rates.len().div_ceil(room).max(1);
    let shown: String = rates.iter().step_by(step).map(bar).collect();
    format!("{before}{shown}{after}")
}

/// The upper or lower edge of a box with its title, connected in the middle to its neighbor.
fn rule(title: &str, from: char, to: char, joint: char, middle: usize, width: usize) -> String {
    let title = if title.is_empty() { String::new() } else { format!(" {title} ") };
    let mut line: Vec<char> = format!("{from}─{title}").chars().collect();
    line.resize(width - 1, '─');
    line.push(to);
    // The connection does not overwrite a letter of a long title.
    if line[middle] == '─' {
        line[middle] = joint;
    }
    line.into_iter().collect()
}

fn center(text: &str, middle: usize) -> String {
    format!("{}{text}", " ".repeat(middle - display_width(text) / 2))
}

fn pad(line: &str, width: usize) -> String {
    format!("{line}{}", " ".repeat(width.saturating_sub(display_width(line))))
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    textwrap::wrap(text, width).into_iter().map(|line| line.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use likenew_sim::{Spec, catalog};

    use super::*;

    #[test]
    fn every_drive_fits_its_boxes_at_any_width() {
        for entry in catalog() {
            let drive = Spec::parse(&format!("sim:{}", entry.name)).unwrap();
            let layers = drive.explain(|_| unreachable!("no file is named")).unwrap().layers;
            for width in [40, 61, 80, 100] {
                let lines = draw(&layers, width);
                assert!(lines.iter().all(|line| display_width(line) <= width), "{}", lines.join("\n"));
                let boxed = lines.iter().filter(|line| line.starts_with(['│', '┌', '└']));
                assert!(boxed.into_iter().all(|line| display_width(line) == width), "{}", lines.join("\n"));
            }
        }
    }

    #[test]
    fn bars_stand_for_their_share_of_the_highest() {
        let rates = [80e6, 40e6, 20e6, 10e6];
        assert_eq!(bars(&rates, 60), "by address: 80.0 MB/s █▄▂▁ 10.0 MB/s");
        assert_eq!(bars(&rates, 34), "by address: 80.0 MB/s █▂ 10.0 MB/s");
    }

    #[test]
    fn dies_are_drawn_below_their_channels_unless_there_are_too_many() {
        assert_eq!(dies(2, 1, 60), ["channel   0   1", "          ■   ■"]);
        assert!(dies(64, 1, 60).is_empty() && dies(2, 64, 60).is_empty());
    }
}
