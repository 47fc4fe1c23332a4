//! `likenew model`.

use likenew_core::io::Op;
use likenew_core::plan::Plan;
use likenew_core::units::amount;
use likenew_procedures::model::{ModelOptions, SPAN_OF_FOLDER, SPAN_STEP};

use crate::aim::Aim;
use crate::arguments::{Model, ModelOf};
use crate::doublings::values;
use crate::exit::{Exit, Failure};
use crate::measure::{ask, options};
use crate::usual;

pub(crate) fn run(command: Model) -> Result<Exit, Failure> {
    let writes = matches!(command.op, Some(ModelOf::Write | ModelOf::Both));
    ask(&command.on, &command.how, writes, |aim| plan(&command, aim))
}

fn plan(command: &Model, aim: &Aim) -> Result<Plan, Failure> {
    let preset = ModelOptions::default();
    let (read, write) = usual::advertised(aim)?;
    let options = options(&ModelOptions {
        ops: ops(command, aim),
        depths: values(&command.depth, preset.depths),
        longest: command.longest,
        span: span(command, aim)?,
        bytes: command.bytes,
        time: command.time,
        visit: command.visit,
        data: command.data,
        advertised_read_bytes_per_s: command.advertised_read.or(read),
        advertised_write_bytes_per_s: command.advertised_write.or(write),
    });
    Ok(command.on.plan_of("model", options))
}

/// As asked for; both otherwise, or only reads where nothing may be written.
fn ops(command: &Model, aim: &Aim) -> Vec<Op> {
    match command.op {
        Some(ModelOf::Read) => vec![Op::Read],
        Some(ModelOf::Write) => vec![Op::Write],
        None if !aim.is_writable() => {
            anstream::eprintln!("Only reading: this target is not ours to write to.");
            vec![Op::Read]
        }
        Some(ModelOf::Both) | None => vec![Op::Read, Op::Write],
    }
}

/// As asked for; of a folder as usual, or what there is where there is less; otherwise all.
fn span(command: &Model, aim: &Aim) -> Result<Option<u64>, Failure> {
    if command.span.is_some() || !aim.is_folder() {
        return Ok(command.span);
    }
    let usable = aim.usable_bytes()?;
    let span = SPAN_OF_FOLDER.min(usable - usable % SPAN_STEP);
    if span == 0 {
        return Err(Failure::Usage(format!(
            "{} are too little for a model: at least {} are needed, or a smaller --span",
            amount(usable),
            amount(SPAN_STEP)
        )));
    }
    Ok(Some(span))
}
