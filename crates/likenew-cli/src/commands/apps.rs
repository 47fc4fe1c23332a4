//! `likenew apps`.

use likenew_core::plan::Plan;
use likenew_procedures::apps::application::Application;
use likenew_procedures::apps::library::by_name;
use likenew_procedures::apps::{AppsOptions, SPAN_STEP};

use crate::access::Access;
use crate::applications::applications;
use crate::arguments::Apps;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;
use crate::wording;

const SPAN_USUAL: u64 = 4 << 30;
/// The span is one part in this many of the space.
const SPAN_PART: u64 = 4;
const PASSES_USUAL: u32 = 3;
/// Approximate number of files that fill a folder, all of which are open.
const FILES_USUAL: u64 = 1000;
const FILE_STEP: u64 = 1 << 20;

pub(crate) fn run(command: Apps) -> Result<Exit, Failure> {
    let request = Request::for_target(&command.target_arguments, Access::Write, &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Apps, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    let usable = resolved_target.usable_bytes()?;
    let defaults = AppsOptions::default();
    let (writing_span, file_size) = if command.consistency && resolved_target.is_folder() {
        let writing_span = command.writing_span.unwrap_or(usable);
        let each = writing_span / FILES_USUAL;
        let file_size = (each - each % FILE_STEP).max(FILE_STEP);
        (Some(writing_span - writing_span % file_size), file_size)
    } else {
        (command.writing_span, defaults.file_size)
    };
    let there = writing_span.unwrap_or(usable);
    let (applications, custom) = applications(&command.app)?;
    let passes = command.passes.unwrap_or(if command.consistency { 1 } else { PASSES_USUAL });
    let options = options(&AppsOptions {
        passes,
        scale: match command.scale {
            Some(scale) => scale,
            None => scale(&applications, &custom, there)?,
        },
        applications,
        span: span(command.span, there)?,
        time: command.time,
        think: command.think,
        data: command.data,
        consistency: command.consistency,
        minutes: command.minutes,
        writing_span,
        file_size,
        custom,
    });
    Ok(command.target_arguments.plan_of("apps", options))
}

/// All of their I/Os, or as many as move no more in a pass than there is, with two digits.
fn scale(names: &[String], custom: &[Application], there: u64) -> Result<f64, Failure> {
    let mut bytes: u64 = custom.iter().map(Application::bytes).sum();
    for name in names {
        bytes +=
            by_name(name).map_err(Failure::Usage)?.iter().map(|entry| entry.application.bytes()).sum::<u64>();
    }
    let scale = there as f64 / bytes.max(1) as f64;
    if scale >= 1.0 {
        return Ok(1.0);
    }
    // Formatted as a decimal, so that a plan shows 0.087 without further digits.
    let text = format!("{scale:.1e}");
    Ok(text.parse().expect("a number reads back"))
}

/// The span on the command line; the default otherwise, or a part of the space.
fn span(asked: Option<u64>, there: u64) -> Result<u64, Failure> {
    if let Some(span) = asked {
        return Ok(span);
    }
    let most = there / SPAN_PART;
    match SPAN_USUAL.min(most - most % SPAN_STEP) {
        0 => Err(Failure::Usage(wording::too_small_for("applications", there, SPAN_STEP * SPAN_PART))),
        span => Ok(span),
    }
}
