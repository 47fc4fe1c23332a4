//! `likenew run PLAN.toml`.

use likenew_procedures::all::from_plan;

use crate::access::Access;
use crate::arguments::Run;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure};
use crate::plan_file::read_plan;
use crate::recordings;
use crate::{embedding, wording};

pub(crate) fn run(command: Run) -> Result<Exit, Failure> {
    let path = command.plan.display();
    let mut plan = read_plan(&command.plan)?;
    if command.target.is_some() {
        (plan.target, plan.drive) = (command.target, None);
    }
    embedding::keep_drive(&plan);
    plan.seed = command.seed.unwrap_or(plan.seed);
    if plan.procedure == "replay" && !recordings::complete(&mut plan)? {
        return Ok(Exit::Interrupted);
    }
    let Some(target) = plan.target.clone() else {
        return Err(Failure::Usage(wording::plan_without_target(path)));
    };
    let request = Request {
        keeps_leftovers: from_plan(&plan).map_err(Failure::Usage)?.only_probes(),
        ..Request::new(vec![target], Access::Read, &command.run_arguments)
    };
    measure(request, |_| Ok(Some(plan.clone())))
}
