//! `likenew run PLAN.toml`.

use likenew_procedures::all::from_plan;

use crate::arguments::Run;
use crate::exit::{Exit, Failure};
use crate::measure::measure;
use crate::plan_file::read_plan;
use crate::recordings;
use crate::resolved_target::ResolvedTarget;
use crate::wording;

pub(crate) fn run(command: Run) -> Result<Exit, Failure> {
    let path = command.plan.display();
    let mut plan = read_plan(&command.plan)?;
    plan.target = command.target.or(plan.target);
    plan.seed = command.seed.unwrap_or(plan.seed);
    if plan.procedure == "replay" && !recordings::complete(&mut plan)? {
        return Ok(Exit::Interrupted);
    }
    let Some(target) = plan.target.clone() else {
        return Err(Failure::Usage(wording::plan_without_target(path)));
    };
    let mut resolved_target = ResolvedTarget::resolve(&target, &command.run_arguments)?;
    if !from_plan(&plan).map_err(Failure::Usage)?.only_probes() {
        resolved_target.clear_leftover(&command.run_arguments)?;
    }
    measure(plan, &resolved_target, &command.run_arguments)
}
