//! `likenew xray`.

use likenew_core::plan::Plan;
use likenew_procedures::xray::XrayOptions;

use crate::access::Access;
use crate::arguments::Xray;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;

/// The span of a folder is a multiple of this, so that I/Os divide it.
const SPAN_STEP: u64 = 1 << 20;

/// Read-only targets are only read, so nothing is refused here.
pub(crate) fn run(command: Xray) -> Result<Exit, Failure> {
    let request = Request::for_target(&command.target_arguments, Access::Read, &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Xray, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    let usable = resolved_target.usable_bytes()?;
    let span = match command.span {
        None if resolved_target.is_folder() => {
            Some(XrayOptions::SPAN_OF_FOLDER.min(usable - usable % SPAN_STEP))
        }
        span => span,
    };
    let options = options(&XrayOptions { span, bytes: command.bytes, only: command.only.clone() });
    Ok(command.target_arguments.plan_of("xray", options))
}
