//! A plan for another program: what would be run, in its words, instead of running it.

use likenew_core::drive::Kind;
use likenew_core::dry_run::DryRun;
use likenew_core::procedure::Evidence;
use likenew_core::units::amount;

use crate::arguments::ExportFormat;
use crate::exit::{Exit, Failure};
use crate::output;

/// Prints the job file.
pub(crate) fn export(program: ExportFormat, evidence: &Evidence, dry_run: &DryRun) -> Result<Exit, Failure> {
    let ExportFormat::Fio = program;
    let notes = notes(evidence, dry_run);
    let text = likenew_fio::export(&dry_run.workloads, &evidence.geometry, &filename(evidence), &notes);
    output::print(&text.map_err(|error| Failure::Usage(error.to_string()))?)?;
    Ok(Exit::Fine)
}

/// What fio is to open. A folder gets one file, and what no other program can open is left to the user.
fn filename(evidence: &Evidence) -> String {
    let name = &evidence.identity.name;
    match evidence.identity.kind {
        Kind::Folder => format!("{}/likenew-fio.bin", name.trim_end_matches('/')),
        Kind::File | Kind::Device => name.clone(),
        Kind::Simulated | Kind::Nop => likenew_fio::FILENAME_LEFT_OPEN.to_owned(),
    }
}

fn notes(evidence: &Evidence, dry_run: &DryRun) -> Vec<String> {
    let plan = &evidence.plan;
    let mut notes = vec![
        format!("{} by likenew {}, as jobs of fio", plan.procedure, env!("CARGO_PKG_VERSION")),
        format!(
            "On a drive that moves 500 MB/s it moves {}, {} of that written, in {}.",
            amount(dry_run.bytes_moved),
            amount(dry_run.bytes_written),
            dry_run.elapsed
        ),
    ];
    if plan.procedure != "run" {
        notes.push(
            "Where the plan decides by what it measures, here stands the longest course it can take.".into(),
        );
    }
    if evidence.identity.kind == Kind::Folder {
        let boundary = evidence.geometry.boundary.unwrap_or(evidence.geometry.capacity);
        if boundary < evidence.geometry.capacity {
            notes.push("The files of the plan are parts of one file here.".into());
        }
        notes.push("fio leaves its file behind: remove it yourself.".into());
    }
    notes.push("The plan:".into());
    let text = toml::to_string(plan).expect("a plan is plain values");
    notes.extend(text.lines().map(|line| format!("  {line}")));
    notes
}
