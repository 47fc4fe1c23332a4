//! `likenew facts`: what the system and the drive report. Opens nothing for I/O, and creates nothing in a
//! folder.

use likenew_archive::{Archive, Machine, Run};
use likenew_core::drive::Drive;
use likenew_core::instrument::Instrument;
use likenew_core::plan::Plan;
use likenew_core::procedure::Evidence;
use likenew_procedures::all::{from_plan, judge};
use likenew_real::facts_drive::FactsDrive;
use likenew_run::runner::run_procedure;
use likenew_sim::Spec;

use crate::arguments::Facts;
use crate::exit::{Exit, Failure};
use crate::factsheet;
use crate::interrupt;
use crate::measure::{archive_root, print_plan, report_end};
use crate::progress::Progress;
use crate::recordings::Recordings;
use crate::resolved_target::read_file;
use crate::run_observer::RunObserver;
use crate::wording;

pub(crate) fn run(command: Facts) -> Result<Exit, Failure> {
    let options = toml::Table::new();
    let plan =
        Plan { schema: 1, procedure: "facts".into(), target: command.target.clone(), seed: 0, options };
    if command.plan {
        return print_plan(&plan);
    }
    interrupt::listen()?;
    let mut drive = open(command.target.as_deref())?;
    let procedure = from_plan(&plan).map_err(Failure::Usage)?;
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    let instrument = instrument(&evidence);
    let mut archive = archive(&evidence, &instrument, &command);
    let mut follow = RunObserver {
        progress: Progress::new(),
        archive: archive.as_mut(),
        samples: None,
        recordings: Recordings::default(),
        segments: 0,
    };
    let end = run_procedure(&mut *drive, &*procedure, &mut evidence, &mut follow);
    follow.progress.finish();
    let findings = judge(&*procedure, &evidence);
    if let Some(run) = &archive {
        run.conclude(&findings).map_err(anyhow::Error::new)?;
        if command.output.details {
            anstream::eprintln!("{}", wording::run_kept(run.path()));
        }
    }
    let found = findings.found_problem();
    factsheet::put(&evidence, findings, instrument, command.origins, &command.output)?;
    Ok(report_end(end?, found))
}

fn open(target: Option<&str>) -> Result<Box<dyn Drive>, Failure> {
    match target {
        None => Ok(Box::new(FactsDrive::at_all())),
        Some("nop:") => Ok(Box::new(likenew_real::nop::Nop::new())),
        Some(target) if target.starts_with("sim:") => {
            let spec = Spec::parse(target).map_err(|error| Failure::Usage(error.to_string()))?;
            let drive = spec.open(read_file).map_err(|error| Failure::Usage(error.to_string()))?;
            Ok(Box::new(drive))
        }
        Some(target) => {
            // A relative path in a report would mean nothing later.
            let path = std::path::absolute(target)
                .map_err(|error| Failure::Usage(wording::not_a_path(target, error)))?;
            Ok(Box::new(FactsDrive::at(&path)?))
        }
    }
}

/// Nothing is timed, so nothing is calibrated.
fn instrument(evidence: &Evidence) -> Instrument {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let (clock, engine) = (evidence.geometry.clock, evidence.identity.engine.clone());
    Instrument { version, clock, engine, calibration: None }
}

/// Facts are shown even to a user who may not write an archive.
fn archive(evidence: &Evidence, instrument: &Instrument, command: &Facts) -> Option<Run> {
    if command.no_archive {
        return None;
    }
    let (identity, geometry) = (evidence.identity.clone(), evidence.geometry.clone());
    let machine = Machine::new(likenew_real::clock::wall_date(), identity, geometry, instrument.clone());
    let root = match archive_root(command.archive.as_deref()) {
        Ok(root) => root,
        Err(failure) => {
            anstream::eprintln!("{}", wording::run_not_kept(failure.message()));
            return None;
        }
    };
    match Archive::new(root).create(&evidence.plan, &machine) {
        Ok(run) => Some(run),
        Err(error) => {
            anstream::eprintln!("{}", wording::run_not_kept(error));
            None
        }
    }
}
