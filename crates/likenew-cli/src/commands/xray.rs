//! `likenew xray`.

use likenew_core::plan::Plan;
use likenew_procedures::xray::XrayOptions;

use crate::aim::Aim;
use crate::arguments::Xray;
use crate::exit::{Exit, Failure};
use crate::measure::{ask, options};

/// The span of a folder is a multiple of this, so that I/Os divide it.
const SPAN_STEP: u64 = 1 << 20;

/// What may only be read is only read, so nothing is refused here.
pub(crate) fn run(command: Xray) -> Result<Exit, Failure> {
    ask(&command.on, &command.how, false, |aim| plan(&command, aim))
}

fn plan(command: &Xray, aim: &Aim) -> Result<Plan, Failure> {
    let usable = aim.usable_bytes()?;
    let span = match command.span {
        None if aim.is_folder() => Some(XrayOptions::SPAN_OF_FOLDER.min(usable - usable % SPAN_STEP)),
        span => span,
    };
    let options = options(&XrayOptions { span, bytes: command.bytes, only: command.only.clone() });
    Ok(command.on.plan_of("xray", options))
}
