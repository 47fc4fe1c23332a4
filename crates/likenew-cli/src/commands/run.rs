//! `likenew run PLAN.toml`.

use std::path::Path;

use likenew_core::input;
use likenew_core::plan::Plan;
use likenew_procedures::all::from_plan;

use crate::arguments::Run;
use crate::exit::{Exit, Failure};
use crate::measure::measure;
use crate::recordings;
use crate::resolved_target::ResolvedTarget;

pub(crate) fn run(command: Run) -> Result<Exit, Failure> {
    let path = command.plan.display();
    let mut plan = read_plan(&command.plan)?;
    plan.target = command.target.or(plan.target);
    plan.seed = command.seed.unwrap_or(plan.seed);
    if plan.procedure == "replay" && !recordings::complete(&mut plan)? {
        return Ok(Exit::Interrupted);
    }
    let Some(target) = plan.target.clone() else {
        return Err(Failure::Usage(format!(
            "the plan {path} names no target: give one, likenew run {path} TARGET"
        )));
    };
    let mut resolved_target = ResolvedTarget::resolve(&target, &command.run_arguments)?;
    if !from_plan(&plan).map_err(Failure::Usage)?.only_probes() {
        resolved_target.clear_leftover(&command.run_arguments)?;
    }
    measure(plan, &resolved_target, &command.run_arguments)
}

/// Reads the file of a plan.
pub(crate) fn read_plan(path: &Path) -> Result<Plan, Failure> {
    let name = path.display();
    let text = input::read_text(path, input::PLAN)
        .map_err(|error| Failure::unreadable(&format!("the plan {name}"), error))?;
    toml::from_str(&text).map_err(|error| Failure::Usage(format!("the plan {name}: {error}")))
}
