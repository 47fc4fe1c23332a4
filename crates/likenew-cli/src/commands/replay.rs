//! `likenew replay`.

use likenew_core::plan::Plan;
use likenew_core::units::Nanos;
use likenew_procedures::replay::{ReplayOptions, TraceSummary};

use crate::aim::Aim;
use crate::arguments::Replay;
use crate::exit::{Exit, Failure};
use crate::measure::{measure_each, options as settings, print_plan};
use crate::recordings::look_through;

/// A folder's file is as long as the addresses of the recording reach, up to this.
const SPAN_OF_FOLDER: u64 = 8 << 30;
const SPAN_STEP: u64 = 1 << 20;
/// Pauses that come to more than this on a real drive are worth a word.
const PAUSES_LONG: Nanos = Nanos::from_secs(600);

pub(crate) fn run(command: Replay) -> Result<Exit, Failure> {
    let several = command.targets.len() > 1;
    if several && (command.plan || command.how.export.is_some()) {
        return Err(Failure::Usage("--plan and --export take one target".into()));
    }
    let mut aims = Vec::new();
    for target in &command.targets {
        let mut aim = Aim::take(target, &command.how)?;
        if !command.reads_only {
            aim.ask_for_consent(&command.how)?;
            aim.refuse_writing().map_err(or_reads_only)?;
        }
        if !command.plan {
            aim.clear_leftover(&command.how)?;
        }
        aims.push(aim);
    }
    let asked = options(&command);
    let Some(summary) = look_through(&asked)? else { return Ok(Exit::Interrupted) };
    let plan = |target: &String, aim: &Aim| plan(&command, target, aim, &asked, &summary);
    if command.plan {
        return print_plan(&plan(&command.targets[0], &aims[0])?);
    }
    let plans = command.targets.iter().zip(aims);
    let plans = plans.map(|(target, aim)| Ok((plan(target, &aim)?, aim))).collect::<Result<_, Failure>>()?;
    measure_each(plans, &command.how)
}

fn or_reads_only(failure: Failure) -> Failure {
    match failure {
        Failure::Refused(text) => {
            Failure::Refused(format!("{text}. What the recording reads can be replayed with --reads-only"))
        }
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
    aim: &Aim,
    asked: &ReplayOptions,
    summary: &TraceSummary,
) -> Result<Plan, Failure> {
    let mut options = ReplayOptions { summary: Some(summary.clone()), ..asked.clone() };
    if aim.is_folder() && options.span.is_none() {
        let usable = aim.usable_bytes()?;
        let reach = summary.extent_bytes.checked_next_multiple_of(SPAN_STEP).unwrap_or(u64::MAX);
        options.span = Some(reach.clamp(SPAN_STEP, SPAN_OF_FOLDER).min(usable - usable % SPAN_STEP));
    }
    options.prepare &= aim.is_blank();
    if aim.is_real() && summary.pauses(command.mode) > PAUSES_LONG {
        anstream::eprintln!(
            "Most of this takes the pauses of {} in it: --idle-max 10s, say, cuts each to that.",
            summary.pauses(command.mode)
        );
    }
    Ok(Plan {
        schema: 1,
        procedure: "replay".into(),
        target: Some(target.to_owned()),
        seed: command.seed,
        options: settings(&options),
    })
}
