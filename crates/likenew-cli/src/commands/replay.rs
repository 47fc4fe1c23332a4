//! `likenew replay`.

use likenew_core::plan::Plan;
use likenew_core::units::Nanos;
use likenew_procedures::replay::{ReplayOptions, TraceSummary};

use crate::access::Access;
use crate::arguments::Replay;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, Target, measure, options as settings};
use crate::recordings::scan;
use crate::wording;

/// A folder's file is as long as the addresses of the trace reach, up to this.
const SPAN_OF_FOLDER: u64 = 8 << 30;
const SPAN_STEP: u64 = 1 << 20;
/// Total of pauses from which a replay on a real drive mentions them. Chosen: ten minutes of waiting.
const PAUSES_LONG: Nanos = Nanos::from_secs(600);

pub(crate) fn run(command: Replay) -> Result<Exit, Failure> {
    let access = if command.reads_only { Access::Read } else { Access::Replay };
    let request = Request {
        prints_plan: command.plan,
        ..Request::new(command.targets.clone(), access, &command.run_arguments)
    };
    let asked = options(&command);
    let mut summary = None;
    measure(request, |target| {
        // The trace is read once for all targets, and not before they are resolved.
        if summary.is_none() {
            summary = scan(&asked)?;
        }
        summary.as_ref().map(|summary| plan(&command, target, &asked, summary)).transpose()
    })
}

fn options(command: &Replay) -> ReplayOptions {
    ReplayOptions {
        format: command.format.clone(),
        volume: command.volume.clone(),
        mode: command.mode,
        speed: command.speed,
        idle_max: command.idle_max,
        depth: command.depth,
        fit: command.fit,
        span: command.span,
        reads_only: command.reads_only,
        prepare: !command.no_prepare,
        data: command.data,
        passes: command.passes,
        time: command.time,
        ..ReplayOptions::new(&command.trace)
    }
}

fn plan(
    command: &Replay,
    target: &Target,
    asked: &ReplayOptions,
    summary: &TraceSummary,
) -> Result<Plan, Failure> {
    let Target { typed, resolved: resolved_target, .. } = target;
    let mut options = ReplayOptions { summary: Some(summary.clone()), ..asked.clone() };
    if resolved_target.is_folder() && options.span.is_none() {
        let usable = resolved_target.usable_bytes()?;
        let reach = summary.extent_bytes.checked_next_multiple_of(SPAN_STEP).unwrap_or(u64::MAX);
        options.span = Some(reach.clamp(SPAN_STEP, SPAN_OF_FOLDER).min(usable - usable % SPAN_STEP));
    }
    options.prepare &= resolved_target.is_blank();
    if resolved_target.is_real() && summary.pauses(command.mode) > PAUSES_LONG {
        crate::standard_error::note(wording::long_pauses(summary.pauses(command.mode)));
    }
    Ok(Plan::new("replay", Some(typed.clone()), command.seed, settings(&options)))
}
