//! Exports a plan as a job of another program instead of running it.

use likenew_core::drive::Kind;
use likenew_core::dry_run::DryRun;
use likenew_core::procedure::Evidence;

use crate::arguments::ExportFormat;
use crate::exit::{Exit, Failure};
use crate::{output, wording};

/// Prints the job file.
pub(crate) fn export(program: ExportFormat, evidence: &Evidence, dry_run: &DryRun) -> Result<Exit, Failure> {
    let ExportFormat::Fio = program;
    let notes = notes(evidence, dry_run);
    let text = likenew_fio::export(&dry_run.workloads, &evidence.geometry, &filename(evidence), &notes);
    output::print(&text.map_err(|error| Failure::Usage(error.to_string()))?)?;
    Ok(Exit::Fine)
}

/// The file that fio opens. A folder gets one file; targets that only likenew can open are left to the user.
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
        wording::fio_title(&plan.procedure, env!("CARGO_PKG_VERSION")),
        wording::fio_cost(dry_run.bytes_moved, dry_run.bytes_written, dry_run.elapsed),
    ];
    if plan.procedure != "run" {
        notes.push(wording::FIO_LONGEST_COURSE.into());
    }
    if evidence.identity.kind == Kind::Folder {
        let boundary = evidence.geometry.boundary.unwrap_or(evidence.geometry.capacity);
        if boundary < evidence.geometry.capacity {
            notes.push(wording::FIO_ONE_FILE.into());
        }
        notes.push(wording::FIO_LEAVES_FILE.into());
    }
    notes.push(wording::FIO_PLAN.into());
    let text = toml::to_string(plan).expect("a plan is plain values");
    notes.extend(text.lines().map(|line| format!("  {line}")));
    notes
}
