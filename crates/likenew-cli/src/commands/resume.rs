//! `likenew run PLAN.toml`, and `resume RUN`, which runs the rest of a plan.

use std::path::PathBuf;

use clap::Args;
use likenew_archive::{Archive, Machine};
use likenew_core::drive::TargetKind;
use likenew_core::dry_run::DryRun;
use likenew_core::procedure::Evidence;
use likenew_procedures::all::from_plan;
use likenew_procedures::recondition::ReconditionOptions;

use super::{Command, recondition, watch};
use crate::arguments::{ArchiveFolder, ExecutionArguments, RUN, RunArguments, typed_target};
use crate::exit::{Exit, Failure, Result};
use crate::measure::{InterruptedRun, Request, measure};
use crate::plan_file::read_plan;
use crate::resolved_target::Access;
use crate::{embedding, recordings, wording};

/// Run any plan
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The plan, which any command prints with --plan, or a job file of fio
    plan: PathBuf,
    /// The target, if it is not the one that the plan names
    #[arg(value_parser = typed_target)]
    target: Option<String>,
    /// Random seed [default: the plan's]
    #[arg(long, value_name = "N", help_heading = RUN, hide_short_help = true)]
    seed: Option<u64>,
    #[command(flatten)]
    run_arguments: RunArguments,
}

impl Command for Run {
    fn run(self) -> Result<Exit> {
        let path = self.plan.display();
        let bytes_of = |named: Option<&str>| {
            let target = Access::Read
                .resolve(self.target.as_deref().or(named)?, &self.run_arguments.execution)
                .ok()?;
            target.usable_bytes().ok().filter(|_| !target.is_folder())
        };
        let mut plan = read_plan(&self.plan, bytes_of)?;
        if self.target.is_some() {
            (plan.target, plan.drive) = (self.target, None);
        }
        embedding::keep_drive(&plan);
        plan.seed = self.seed.unwrap_or(plan.seed);
        if plan.procedure == "replay" {
            recordings::complete(&mut plan)?;
        }
        let Some(target) = plan.target.clone() else {
            return Err(Failure::Usage(wording::plan_without_target(path)));
        };
        let request = Request {
            keeps_leftovers: from_plan(&plan).map_err(Failure::Usage)?.only_probes(),
            ..Request::new(vec![target], Access::Read, &self.run_arguments)
        };
        measure(request, |_| Ok(plan.clone()))
    }
}

/// The latest run that has no result.
fn last_unfinished(archive: &Archive) -> Result<PathBuf> {
    let folders = archive.folders().map_err(anyhow::Error::new)?;
    let is_unfinished = |path: &&PathBuf| {
        Archive::open(path).is_ok_and(|record| {
            !watch::is_log(&record) && record.findings.as_ref().is_none_or(|findings| findings.is_interrupted)
        })
    };
    let last = folders.iter().rev().take(LATEST).find(is_unfinished);
    let last = last.ok_or_else(|| Failure::Usage(wording::nothing_unfinished(archive.root(), LATEST)))?;
    crate::console::note(wording::resumes(last));
    Ok(last.clone())
}

/// Latest runs in which an interrupted one is looked for. Chosen: nobody means an older one without naming it.
const LATEST: usize = 50;

/// Continue an interrupted run
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// Folder of an unfinished run [default: the latest one that was interrupted]
    run: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) execution: ExecutionArguments,
    /// Say how long the rest takes and what it writes, and stop; with --json as JSON
    #[arg(long, help_heading = RUN, hide_short_help = true)]
    estimate: bool,
}

impl Command for Resume {
    fn run(mut self) -> Result<Exit> {
        let named = match self.run.take() {
            Some(run) => run,
            None => last_unfinished(&ArchiveFolder::default().archive()?)?,
        };
        let (run, mut record) = Archive::resume(&named)?;
        record.notes.iter().for_each(|note| crate::console::note(wording::error(note)));
        Failure::reject_if(watch::is_log(&record), wording::watch_log_has_no_end(named.display()))?;
        self.execution.apply_settings(&record.header.machine.settings).map_err(Failure::Usage)?;
        let evidence = record.take_evidence();
        let Machine { instrument, started_at, .. } = record.header.machine;
        let procedure = from_plan(&evidence.plan).map_err(Failure::Usage)?;
        let dry_run = DryRun::plan(&*procedure, &evidence).map_err(Failure::Usage)?;
        Failure::reject_if(dry_run.steps() == 0, wording::run_is_complete(named.display()))?;
        let typed = target(&evidence)?.to_owned();
        let step = if evidence.plan.procedure == recondition::NAME {
            Some(ReconditionOptions::from_table(&evidence.plan.options).map_err(Failure::Usage)?)
        } else {
            None
        };
        let access = step.as_ref().map_or(Access::Read, |settings| Access::Step {
            step: settings.step,
            journal: settings.journal.as_deref(),
            is_dry_run: false,
        });
        let plan = evidence.plan.clone();
        embedding::keep_drive(&plan);
        let Self { execution, estimate, .. } = self;
        let run_arguments = RunArguments { execution, estimate, ..RunArguments::default() };
        let request = Request {
            audited: step.is_some().then_some(wording::REST_OF_RUN),
            interrupted: Some(InterruptedRun { run, evidence, instrument, started_at, dry_run }),
            details_command: Some(wording::details_of_run(&named)),
            ..Request::new(vec![typed], access, &run_arguments)
        };
        measure(request, |_| Ok(plan.clone()))
    }
}

/// The run's target. A real target is the path that the run kept; the typed one may be relative to another folder.
fn target(evidence: &Evidence) -> Result<&str> {
    match evidence.identity.kind {
        TargetKind::Folder | TargetKind::File | TargetKind::Device => Ok(&evidence.identity.name),
        TargetKind::Simulated | TargetKind::Nop => {
            evidence.plan.target.as_deref().ok_or_else(|| Failure::Usage(wording::RUN_WITHOUT_DRIVE.into()))
        }
    }
}
