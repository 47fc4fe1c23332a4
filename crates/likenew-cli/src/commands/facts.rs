//! `likenew facts`: what the system and the drive report. Opens nothing for I/O, and creates nothing in a
//! folder.

use likenew_core::plan::Plan;

use crate::access::Access;
use crate::arguments::{ArchiveArguments, ExecutionArguments, Facts, RunArguments};
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure};
use crate::output;

pub(crate) fn run(command: Facts) -> Result<Exit, Failure> {
    let Facts { target, all, origins, plan, output, archive, no_archive } = command;
    let run_arguments = RunArguments {
        execution: ExecutionArguments::with_output(output),
        archive_arguments: ArchiveArguments { archive, no_archive },
        export: None,
        estimate: false,
    };
    // Every drive has no name that could be typed.
    let typed = target.clone().unwrap_or_default();
    let request = Request {
        prints_plan: plan,
        details_command: Some(output::same_command()),
        origins,
        ..Request::new(vec![typed], Access::Facts { of_all: all }, &run_arguments)
    };
    let options = toml::Table::new();
    let plan = Plan::new("facts", target, 0, options);
    measure(request, |_| Ok(Some(plan.clone())))
}
