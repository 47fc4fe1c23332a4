//! `likenew drives`: which drives can be named, simulated and real.

use likenew_core::units::amount;
use likenew_real::listing::{DriveListing, list};
use likenew_sim::catalog;
use likenew_sim::model::KINDS;
use serde::Serialize;

use crate::arguments::Drives;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wording::help as wording;

/// The JSON of `--json`.
#[derive(Serialize)]
struct DriveList {
    simulated: Vec<SimulatedDriveRow>,
    real: Vec<DriveListing>,
}

#[derive(Serialize)]
struct SimulatedDriveRow {
    target: String,
    kind: &'static str,
    model: String,
    technology: String,
    capacity_bytes: u64,
}

pub(crate) fn run(command: &Drives) -> Result<Exit, Failure> {
    let simulated = catalog().iter().map(|entry| SimulatedDriveRow {
        target: format!("sim:{}", entry.name),
        kind: entry.model.mechanism.kind(),
        model: entry.model.model.clone(),
        technology: entry.model.technology.clone(),
        capacity_bytes: entry.model.capacity_bytes,
    });
    let all = DriveList { simulated: simulated.collect(), real: list()? };
    if let Some(path) = &command.json {
        let text = serde_json::to_string_pretty(&all).expect("a list is plain values");
        output::write_to(path, &format!("{text}\n"))?;
        return Ok(Exit::Fine);
    }
    output::print(&text(&all))?;
    Ok(Exit::Fine)
}

fn text(all: &DriveList) -> String {
    let mut text = String::from(wording::SIMULATED_DRIVES);
    for kind in KINDS {
        text += &format!("  {}\n", title(kind));
        for drive in all.simulated.iter().filter(|drive| drive.kind == kind) {
            text += &row(drive);
        }
    }
    text += wording::BLOCK_DEVICES;
    for drive in &all.real {
        let model = drive.model.as_deref().unwrap_or("model unknown");
        let used = drive.used_by.as_deref().map_or(String::new(), |used| format!(", {used}"));
        text += &format!("  {:30} {:>9}  {model}{used}\n", drive.path, amount(drive.capacity_bytes));
    }
    if all.real.is_empty() {
        text += wording::NO_BLOCK_DEVICES;
    }
    text
}

/// A simulated drive, wrapped below its description.
fn row(drive: &SimulatedDriveRow) -> String {
    /// Longer lines are hard to read, and shorter ones leave no room for a description.
    const WIDTHS: std::ops::RangeInclusive<usize> = 80..=100;
    let head = format!("    {:30} {:>9}  ", drive.target, amount(drive.capacity_bytes));
    let below = " ".repeat(head.chars().count());
    let width = output::width().clamp(*WIDTHS.start(), *WIDTHS.end());
    let options = textwrap::Options::new(width).initial_indent(&head).subsequent_indent(&below);
    format!("{}\n", textwrap::fill(&format!("{}, {}", drive.model, drive.technology), options))
}

fn title(kind: &str) -> &str {
    match kind {
        "flash" => "Flash",
        "disk" => "Hard disks",
        "volume" => "Cloud volumes",
        other => other,
    }
}
