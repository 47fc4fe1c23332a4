//! `likenew resume RUN`: continues an interrupted run.

use likenew_archive::Archive;
use likenew_core::drive::Kind;
use likenew_core::dry_run::DryRun;
use likenew_core::procedure::Evidence;
use likenew_procedures::all::from_plan;
use likenew_procedures::recondition::ReconditionOptions;

use crate::access::Access;
use crate::arguments::{Resume, RunArguments};
use crate::commands::recondition;
use crate::exit::{Exit, Failure};
use crate::measure::{InterruptedRun, Request, measure};
use crate::{embedding, watch_session, wording};

pub(crate) fn run(mut command: Resume) -> Result<Exit, Failure> {
    let (run, mut record) = Archive::resume(&command.run)?;
    record.notes.iter().for_each(|note| crate::standard_error::note(wording::error(note)));
    if watch_session::is_log(&record) {
        return Err(Failure::Usage(wording::watch_log_has_no_end(command.run.display())));
    }
    command.run_arguments.apply_settings(&record.header.machine.settings).map_err(Failure::Usage)?;
    let (evidence, instrument) = (record.take_evidence(), record.header.machine.instrument);
    let procedure = from_plan(&evidence.plan).map_err(Failure::Usage)?;
    let dry_run = DryRun::plan(&*procedure, &evidence).map_err(Failure::Usage)?;
    if dry_run.steps() == 0 {
        return Err(Failure::Usage(wording::run_is_complete(command.run.display())));
    }
    let typed = target(&evidence)?.to_owned();
    let step = match evidence.plan.procedure == recondition::NAME {
        true => Some(ReconditionOptions::from_table(&evidence.plan.options).map_err(Failure::Usage)?),
        false => None,
    };
    let access = step.as_ref().map_or(Access::Read, |asked| Access::Step {
        step: asked.step,
        journal: asked.journal.as_deref(),
        is_dry_run: false,
    });
    let plan = evidence.plan.clone();
    embedding::keep_drive(&plan);
    let run_arguments =
        RunArguments { estimate: command.estimate, ..RunArguments::from(command.run_arguments) };
    let request = Request {
        audited: step.is_some().then_some(wording::REST_OF_RUN),
        interrupted: Some(InterruptedRun { run, evidence, instrument, dry_run }),
        details_command: Some(wording::details_of_run(&command.run)),
        ..Request::new(vec![typed], access, &run_arguments)
    };
    measure(request, |_| Ok(Some(plan.clone())))
}

/// The path in the run itself: the one on its command line may have been relative to another folder.
fn target(evidence: &Evidence) -> Result<&str, Failure> {
    match evidence.identity.kind {
        Kind::Folder | Kind::File | Kind::Device => Ok(&evidence.identity.name),
        Kind::Simulated | Kind::Nop => {
            evidence.plan.target.as_deref().ok_or_else(|| Failure::Usage(wording::RUN_WITHOUT_DRIVE.into()))
        }
    }
}
