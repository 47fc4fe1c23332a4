//! `likenew xray`.

use likenew_core::plan::Plan;
use likenew_procedures::xray::XrayOptions;

use crate::arguments::Xray;
use crate::exit::{Exit, Failure};
use crate::measure::{ask, options};
use crate::resolved_target::ResolvedTarget;

/// The span of a folder is a multiple of this, so that I/Os divide it.
const SPAN_STEP: u64 = 1 << 20;

/// Read-only targets are only read, so nothing is refused here.
pub(crate) fn run(command: Xray) -> Result<Exit, Failure> {
    ask(&command.target_arguments, &command.run_arguments, false, |resolved_target| {
        plan(&command, resolved_target)
    })
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
