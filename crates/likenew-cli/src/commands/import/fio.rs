//! `likenew import fio FILE`, and results of other programs for `likenew compare`.

use std::collections::HashSet;
use std::path::Path;

use likenew_archive::Machine;
use likenew_core::input;
use likenew_core::probe::{Observation, ProbeResult};
use likenew_core::procedure::{Evidence, Plan, Step};
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_fio::{ImportError, JOBS_JOIN, OtherText};
use likenew_procedures::all::{from_plan, judge};
use likenew_real::facts::reported::PrintedText;

use super::super::uncalibrated;
use super::ImportFio;
use crate::exit::{Exit, Failure, Result};
use crate::output::RunReport;
use crate::plan_file::{read_plan, workload_options};
use crate::printed::{display_name, read_text, texts};
use crate::{io_log, wording};

pub(super) fn run(command: &ImportFio) -> Result<Exit> {
    let imported = imported(&command.file, command.target.as_deref())?;
    let unix_ms = imported.unix_ms;
    let report = match &command.plan {
        Some(path) => report(imported, Some(read_plan(path, |_| None)?))?,
        None => report(imported, None)?,
    };
    let started_at = likenew_real::clock::date_of(unix_ms)
        .ok_or_else(|| refused(&command.file, wording::BAD_TIMESTAMP))?;
    let RunReport { evidence, findings, instrument, .. } = &report;

    let machine =
        Machine::new(started_at, evidence.identity.clone(), evidence.geometry.clone(), instrument.clone());
    let archive = command.folder.archive()?;
    let mut run = archive.create(&evidence.plan, &machine).map_err(anyhow::Error::new)?;
    for segment in &evidence.segments {
        run.push(segment).map_err(anyhow::Error::new)?;
    }
    run.conclude(findings).map_err(anyhow::Error::new)?;
    if command.output.details {
        crate::console::note(wording::run_kept(run.path()));
    }
    let failed = evidence.segments.iter().any(|segment| segment.stop.is_failure());
    let exit = if findings.found_problem() {
        Exit::Problem
    } else if failed {
        Exit::Unfinished
    } else {
        Exit::Fine
    };
    let details = wording::with_details("likenew report");
    RunReport::show(vec![report], None, &command.output, details, false)?;
    Ok(exit)
}

fn refused(file: &Path, reason: impl std::fmt::Display) -> Failure {
    Failure::Usage(wording::not_imported(&display_name(file), reason))
}

/// Reads the result that fio or another program printed to a file.
pub(in crate::commands) fn printed(file: &Path) -> Result<likenew_fio::Import> {
    let text = read_text(file, input::FIO_RESULT)?;
    if io_log::is_log(&text) {
        return Err(refused(file, wording::LOG_INSTEAD_OF_RUN));
    }
    likenew_fio::import_any(&text, &display_name(file)).map_err(|error| match error {
        _ if is_report(&text) => refused(file, wording::REPORT_INSTEAD_OF_RUN),
        ImportError::NotFio(OtherText::NoObject | OtherText::Markup | OtherText::List) => {
            refused(file, wording::NO_RESULT)
        }
        error => refused(file, error),
    })
}

/// Whether a text is a report of our own `--json`.
fn is_report(text: &str) -> bool {
    let document: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    ["procedure", "answers", "instrument"].iter().all(|key| document.get(key).is_some())
}

/// Reads the results of programs in the files of a folder, as one run.
pub(in crate::commands) fn printed_folder(folder: &Path) -> Result<likenew_fio::Import> {
    let texts = texts(&[folder.to_owned()])?;
    let (mut results, mut others): (Vec<(&PrintedText, likenew_fio::Import)>, Vec<&str>) = Default::default();
    for printed in &texts {
        match likenew_fio::import_any(&printed.text, &printed.name) {
            Ok(result) => results.push((printed, result)),
            Err(_) => others.push(&printed.name),
        }
    }
    let mut names = HashSet::new();
    let mut segments = results.iter().flat_map(|(_, result)| &result.segments);
    let is_unique = segments.all(|segment| names.insert(segment.workload.name.clone()));
    for (printed, result) in results.iter_mut().filter(|_| !is_unique) {
        let file = Path::new(&printed.name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for segment in &mut result.segments {
            segment.workload.name = format!("{file}: {}", segment.workload.name);
        }
    }
    let joined = results.into_iter().map(|(_, result)| result).reduce(|mut joined, next| {
        joined.segments.extend(next.segments);
        joined.geometry.writable |= next.geometry.writable;
        joined.identity.caveats.extend(next.identity.caveats);
        joined.identity.caveats.dedup();
        joined
    });
    let mut joined = joined.ok_or_else(|| refused(folder, wording::NO_RESULTS))?;
    joined.identity.name = folder.display().to_string();
    if !others.is_empty() {
        joined.identity.caveats.push(wording::no_results_in(&others));
    }
    Ok(joined)
}

/// Reads fio's result. `target`, if given, replaces the file that fio names.
fn imported(file: &Path, target: Option<&str>) -> Result<likenew_fio::Import> {
    let text = read_text(file, input::FIO_RESULT)?;
    let mut imported = likenew_fio::import(&text).map_err(|error| refused(file, error))?;
    if let Some(target) = target {
        target.clone_into(&mut imported.identity.name);
        imported.identity.kind = likenew_fio::kind_of(target);
    }
    Ok(imported)
}

/// Makes a report of a result: of `plan`, if fio ran its exported jobs, else with one workload for each job.
pub(in crate::commands) fn report(imported: likenew_fio::Import, plan: Option<Plan>) -> Result<RunReport> {
    let engine = imported.identity.engine.clone();
    // Most programs do not say when they ran.
    let started_at = (imported.unix_ms > 0).then(|| likenew_real::clock::date_of(imported.unix_ms)).flatten();
    let evidence = evidence(imported, plan)?;
    let instrument = uncalibrated(engine, None);
    let procedure = from_plan(&evidence.plan).map_err(Failure::Usage)?;
    let findings = judge(&*procedure, &evidence);
    Ok(RunReport::new(evidence, findings, instrument, started_at, None))
}

fn evidence(imported: likenew_fio::Import, plan: Option<Plan>) -> Result<Evidence> {
    let likenew_fio::Import { identity, geometry, segments, .. } = imported;
    let target = Some(identity.name.clone());
    let own =
        || Plan::new("run", None, 0, workload_options(segments.iter().map(|segment| &segment.workload)));
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

/// Follows the plan's procedure, with fio's measurements as the results of the workloads of the same names.
fn follow(evidence: &mut Evidence, segments: Vec<Segment>) -> Result<()> {
    let procedure = from_plan(&evidence.plan).map_err(Failure::Usage)?;
    let mut left = segments;
    loop {
        let workload = match procedure.next(evidence).map_err(Failure::Usage)? {
            Step::Run(workload) => workload,
            Step::Probe(probe) => {
                // fio measures only speeds and answers no probes.
                let result = ProbeResult::Unknown(wording::FIO_RAN_IT.to_owned());
                let after = evidence.segments.len();
                let at = evidence.segments.last().map_or(Nanos::ZERO, |last| last.ended_at);
                evidence.observations.push(Observation {
                    probe,
                    result,
                    after,
                    started_at: at,
                    ended_at: at,
                    after_interruption: false,
                    accounting: None,
                });
                continue;
            }
            Step::Done => break,
        };
        let Some(measured) = take(&mut left, &workload) else {
            let missing = wording::fio_ran_no(&workload.name);
            Failure::reject_if(evidence.segments.is_empty(), wording::fio_without_plan(&missing))?;
            evidence.identity.caveats.push(missing);
            break;
        };
        evidence.segments.push(Segment { workload, ..measured });
    }
    if !left.is_empty() {
        let names: Vec<String> =
            left.iter().map(|segment| format!("\"{}\"", segment.workload.name)).collect();
        evidence.identity.caveats.push(wording::fio_ran_more(&names));
    }
    Ok(())
}

/// Takes the measurement of a workload out of `left`. fio reports parallel jobs by their own names;
/// here they become streams of one workload.
fn take(left: &mut Vec<Segment>, workload: &Workload) -> Option<Segment> {
    let at = |name: &str| left.iter().position(|segment| segment.workload.name == name);
    let places = match at(&workload.name) {
        Some(at) => vec![at],
        None => workload.name.split(JOBS_JOIN).map(at).collect::<Option<Vec<_>>>()?,
    };
    let mut segments = places.iter().map(|at| left[*at].clone());
    let mut whole = segments.next()?;
    for (stream, segment) in (1..).zip(segments) {
        whole.ended_at = whole.ended_at.max(segment.ended_at);
        if segment.stop.is_failure() {
            whole.stop = segment.stop;
        }
        whole.tallies.extend(segment.tallies.into_iter().map(|tally| Tally { stream, ..tally }));
    }
    let mut index = 0..;
    left.retain(|_| index.next().is_none_or(|index| !places.contains(&index)));
    Some(whole)
}
