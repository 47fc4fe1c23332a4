//! `likenew import fio FILE`.

use std::path::Path;

use likenew_archive::{Archive, Machine};
use likenew_core::input;
use likenew_core::instrument::Instrument;
use likenew_core::plan::Plan;
use likenew_core::procedure::{Evidence, Step};
use likenew_core::segment::Segment;
use likenew_core::target::Clock;
use likenew_core::workload::Workload;
use likenew_procedures::all::{from_plan, judge};

use super::display_name;
use crate::arguments::ImportFio;
use crate::exit::{Exit, Failure};
use crate::measure::archive_root;
use crate::plan_file::read_plan;
use crate::run_report::RunReport;
use crate::wording;

pub(super) fn run(command: &ImportFio) -> Result<Exit, Failure> {
    let imported = imported(&command.file, command.target.as_deref())?;
    let unix_ms = imported.unix_ms;
    let report = match &command.plan {
        Some(path) => report(imported, Some(read_plan(path)?))?,
        None => report(imported, None)?,
    };
    let started_at = likenew_real::clock::date_of(unix_ms)
        .ok_or_else(|| refused(&command.file, wording::BAD_TIMESTAMP))?;
    let RunReport { evidence, findings, instrument, .. } = &report;

    let machine =
        Machine::new(started_at, evidence.identity.clone(), evidence.geometry.clone(), instrument.clone());
    let archive = Archive::new(archive_root(command.archive.as_deref())?);
    let mut run = archive.create(&evidence.plan, &machine).map_err(anyhow::Error::new)?;
    for segment in &evidence.segments {
        run.push(segment).map_err(anyhow::Error::new)?;
    }
    run.conclude(findings).map_err(anyhow::Error::new)?;
    if command.output.details {
        crate::standard_error::note(wording::run_kept(run.path()));
    }
    let failed = evidence.segments.iter().any(|segment| segment.stop.is_failure());
    let exit = match failed {
        _ if findings.found_problem() => Exit::Problem,
        true => Exit::Unfinished,
        false => Exit::Fine,
    };
    let details = wording::with_details("likenew report");
    RunReport::show(vec![report], None, &command.output, &details, false)?;
    Ok(exit)
}

fn refused(file: &Path, reason: impl std::fmt::Display) -> Failure {
    Failure::Usage(wording::not_imported(&display_name(file), reason))
}

/// What fio measured, of this target if it is not the file that fio names.
pub(in crate::commands) fn imported(
    file: &Path,
    target: Option<&str>,
) -> Result<likenew_fio::Import, Failure> {
    let text = input::text(read(file)?).map_err(|error| refused(file, error))?;
    let mut imported = likenew_fio::import(&text).map_err(|error| refused(file, error))?;
    if let Some(target) = target {
        target.clone_into(&mut imported.identity.name);
        imported.identity.kind = likenew_fio::kind_of(target);
    }
    Ok(imported)
}

/// The same as a run of a plan, which fio ran as exported jobs, or else with a workload for each job.
pub(in crate::commands) fn report(
    imported: likenew_fio::Import,
    plan: Option<Plan>,
) -> Result<RunReport, Failure> {
    let engine = imported.identity.engine.clone();
    let evidence = evidence(imported, plan)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let instrument = Instrument { version, clock: Clock::Wall, engine, calibration: None };
    let procedure = from_plan(&evidence.plan).map_err(Failure::Usage)?;
    let findings = judge(&*procedure, &evidence);
    Ok(RunReport { evidence, findings, instrument, folder: None })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = match path == Path::new("-") {
        true => input::read_stream(std::io::stdin(), input::FIO_RESULT),
        false => input::read(path, input::FIO_RESULT),
    };
    read.map_err(|error| Failure::unreadable(&display_name(path), error))
}

fn evidence(imported: likenew_fio::Import, plan: Option<Plan>) -> Result<Evidence, Failure> {
    let likenew_fio::Import { identity, geometry, segments, .. } = imported;
    let target = Some(identity.name.clone());
    let own =
        || Plan { schema: 1, procedure: "run".into(), target: None, seed: 0, options: options(&segments) };
    let follows = plan.is_some();
    let plan = Plan { target, ..plan.unwrap_or_else(own) };
    let mut evidence = Evidence::new(plan, identity, geometry);
    if follows {
        follow(&mut evidence, segments)?;
    } else {
        evidence.segments = segments;
    }
    Ok(evidence)
}

/// The settings of `likenew run` that name these workloads.
fn options(segments: &[Segment]) -> toml::Table {
    let workloads: Vec<&Workload> = segments.iter().map(|segment| &segment.workload).collect();
    let workloads = toml::Value::try_from(workloads).expect("workloads are plain values");
    toml::Table::from_iter([("workload".to_owned(), workloads)])
}

/// Runs the plan's procedure with fio's measurements as the results of its workloads, by name.
fn follow(evidence: &mut Evidence, segments: Vec<Segment>) -> Result<(), Failure> {
    let procedure = from_plan(&evidence.plan).map_err(Failure::Usage)?;
    let mut left = segments;
    while let Step::Run(workload) = procedure.next(evidence).map_err(Failure::Usage)? {
        let Some(at) = left.iter().position(|segment| segment.workload.name == workload.name) else {
            let missing = wording::fio_ran_no(&workload.name);
            if evidence.segments.is_empty() {
                return Err(Failure::Usage(wording::fio_without_plan(&missing)));
            }
            evidence.identity.caveats.push(missing);
            break;
        };
        evidence.segments.push(Segment { workload, ..left.remove(at) });
    }
    if !left.is_empty() {
        let names: Vec<String> =
            left.iter().map(|segment| format!("\"{}\"", segment.workload.name)).collect();
        evidence.identity.caveats.push(wording::fio_ran_more(&names));
    }
    Ok(())
}
