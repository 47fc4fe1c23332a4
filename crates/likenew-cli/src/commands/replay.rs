//! `likenew replay`.

use likenew_core::plan::Plan;
use likenew_core::units::Nanos;
use likenew_procedures::replay::{ReplayOptions, TraceSummary};

use crate::arguments::Replay;
use crate::exit::{Exit, Failure};
use crate::measure::{measure_each, options as settings, print_plan};
use crate::recordings::scan;
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// A folder's file is as long as the addresses of the trace reach, up to this.
const SPAN_OF_FOLDER: u64 = 8 << 30;
const SPAN_STEP: u64 = 1 << 20;
/// Total of pauses from which a replay on a real drive mentions them. Chosen: ten minutes of waiting.
const PAUSES_LONG: Nanos = Nanos::from_secs(600);

pub(crate) fn run(command: Replay) -> Result<Exit, Failure> {
    let several = command.targets.len() > 1;
    if several && (command.plan || command.run_arguments.export.is_some()) {
        return Err(Failure::Usage(wording::PLAN_TAKES_ONE_TARGET.into()));
    }
    let mut resolved_targets = Vec::new();
    for target in &command.targets {
        let mut resolved_target = ResolvedTarget::resolve(target, &command.run_arguments)?;
        if !command.reads_only {
            resolved_target.ask_for_consent(&command.run_arguments)?;
            resolved_target.refuse_writing().map_err(with_reads_only_hint)?;
        }
        if !command.plan {
            resolved_target.clear_leftover(&command.run_arguments)?;
        }
        resolved_targets.push(resolved_target);
    }
    let asked = options(&command);
    let Some(summary) = scan(&asked)? else { return Ok(Exit::Interrupted) };
    let plan = |target: &String, resolved_target: &ResolvedTarget| {
        plan(&command, target, resolved_target, &asked, &summary)
    };
    if command.plan {
        return print_plan(&plan(&command.targets[0], &resolved_targets[0])?);
    }
    let plans = command.targets.iter().zip(resolved_targets);
    let plans = plans
        .map(|(target, resolved_target)| Ok((plan(target, &resolved_target)?, resolved_target)))
        .collect::<Result<_, Failure>>()?;
    measure_each(plans, &command.run_arguments)
}

fn with_reads_only_hint(failure: Failure) -> Failure {
    match failure {
        Failure::Refused(text) => Failure::Refused(wording::with_reads_only_hint(&text)),
        other => other,
    }
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
    target: &str,
    resolved_target: &ResolvedTarget,
    asked: &ReplayOptions,
    summary: &TraceSummary,
) -> Result<Plan, Failure> {
    let mut options = ReplayOptions { summary: Some(summary.clone()), ..asked.clone() };
    if resolved_target.is_folder() && options.span.is_none() {
        let usable = resolved_target.usable_bytes()?;
        let reach = summary.extent_bytes.checked_next_multiple_of(SPAN_STEP).unwrap_or(u64::MAX);
        options.span = Some(reach.clamp(SPAN_STEP, SPAN_OF_FOLDER).min(usable - usable % SPAN_STEP));
    }
    options.prepare &= resolved_target.is_blank();
    if resolved_target.is_real() && summary.pauses(command.mode) > PAUSES_LONG {
        anstream::eprintln!("{}", wording::long_pauses(summary.pauses(command.mode)));
    }
    Ok(Plan {
        schema: 1,
        procedure: "replay".into(),
        target: Some(target.to_owned()),
        seed: command.seed,
        options: settings(&options),
    })
}
