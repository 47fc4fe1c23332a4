//! `likenew bench`.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::plan::Plan;
use likenew_core::units::amount;
use likenew_procedures::bench::{BenchOptions, SPAN_MIN};

use crate::aim::Aim;
use crate::arguments::Bench;
use crate::exit::{Exit, Failure};
use crate::measure::{measure, options, print_plan};

const SPAN_USUAL: u64 = 1 << 30;

pub(crate) fn run(command: Bench) -> Result<Exit, Failure> {
    let mut aim = Aim::take(&command.on.target, &command.how)?;
    aim.clear_leftover(&command.how)?;
    let plan = plan(&command, &aim)?;
    if command.on.plan {
        return print_plan(&plan);
    }
    measure(plan, &aim, &command.how)
}

fn plan(command: &Bench, aim: &Aim) -> Result<Plan, Failure> {
    let options = options(&BenchOptions {
        profile: command.profile,
        ops: ops(&command.op, aim)?,
        span: span(command.span, aim)?,
        passes: command.passes,
        precise: command.precise,
        passes_max: command.passes_max,
        time: command.time,
        interval: command.interval,
        data: command.data,
    });
    let target = Some(command.on.target.clone());
    Ok(Plan { schema: 1, procedure: "bench".into(), target, seed: command.on.seed, options })
}

/// What was asked for; reads and writes otherwise, or only reads where nothing may be written.
fn ops(asked: &[Mix], aim: &Aim) -> Result<Vec<Mix>, Failure> {
    if asked.iter().any(|op| op.writes()) {
        aim.refuse_writing()?;
    }
    Ok(match asked {
        [] if aim.is_writable() => vec![Mix::Only(Op::Read), Mix::Only(Op::Write)],
        [] => {
            anstream::eprintln!("Only reading: this target is not ours to write to.");
            vec![Mix::Only(Op::Read)]
        }
        asked => asked.to_vec(),
    })
}

/// What was asked for; as usual otherwise, or what there is where there is less.
fn span(asked: Option<u64>, aim: &Aim) -> Result<u64, Failure> {
    if let Some(span) = asked {
        return Ok(span);
    }
    let usable = aim.usable_bytes()?;
    let span = SPAN_USUAL.min(usable - usable % SPAN_MIN);
    if span == 0 {
        let (there, least) = (amount(usable), amount(SPAN_MIN));
        return Err(Failure::Usage(format!(
            "{there} are too little to measure: at least {least} are needed"
        )));
    }
    Ok(span)
}
